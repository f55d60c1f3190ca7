//! Disks that are full, and disks that cannot be written: real ones, in a mount namespace of our own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tollgate_engine::verify::state_directory::{RunProof, Selection, prove};
use tollgate_store::chain::rows as read_rows;
use tollgate_store::{Journal, Options, SqliteJournal};

use super::files::{append_again, lease_all};
use super::{Came, Specimen, Tally, copy, guarded};

/// The least that the disk has more each time: what a file system gives at once.
const STEP_KIB: u64 = 4;
/// A disk on which everything has room.
const ROOMY: &str = "size=64m";

/// What came of asking for disks of our own.
#[derive(Debug)]
pub enum Disk {
    /// They were had.
    Done(Tally),
    /// The machine does not allow it, and why.
    NotPossible(String),
}

/// Starts a program of ours with mounts of its own; it must call [`inside`] and print what that says.
pub fn full_disk(program: &mut Command) -> Disk {
    let mut command = Command::new("unshare");
    command.args(["-rm", "--"]).arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let allowed = Command::new("unshare").args(["-rm", "true"]).output();
    match allowed {
        Ok(output) if output.status.success() => {}
        Ok(output) => return Disk::NotPossible(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => return Disk::NotPossible(error.to_string()),
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut tally = Tally::default();
    for line in text.lines() {
        let Some((class, rest)) = line.strip_prefix("@ ").and_then(|line| line.split_once(' ')) else { continue };
        let class = if class == "full" { "full" } else { "read-only" };
        let Some((came, what)) = rest.split_once(' ') else { continue };
        let came = match came {
            "named" => Came::Named("TG0411"),
            "healed" => Came::Healed,
            "silent" => Came::Silent(what.to_owned()),
            _ => Came::Panicked(what.to_owned()),
        };
        tally.add(class, what, &came);
    }
    let [named, ..] = tally.sums();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && named > 0, "{}: {said}{text}", output.status);
    Disk::Done(tally)
}

fn mount(words: &[&str]) {
    let output = Command::new("mount").args(words).output().unwrap();
    assert!(output.status.success(), "mount {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Fills disks of every size, and takes the right to write away; each line says what came of one. Every one in so many sizes.
pub fn inside(specimen: &Specimen, dir: &Path, every: u64) {
    let disk = dir.join("disk");
    fs::create_dir_all(&disk).unwrap();
    let path = disk.display().to_string();
    let say = |class: &str, what: &str, came: Came| match came {
        Came::Named(code) => println!("@ {class} named {code} {what}"),
        Came::Healed => println!("@ {class} healed {what}"),
        Came::Silent(why) => println!("@ {class} silent {what}: {why}"),
        Came::Panicked(why) => println!("@ {class} panicked {what}: {why}"),
    };
    let mut kib = STEP_KIB;
    loop {
        mount(&["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs", &path]);
        let came = guarded(|| fill(specimen, &disk, || mount(&["-o", &format!("remount,{ROOMY}"), &path])));
        let all_fits = came == Came::Healed;
        say("full", &format!("a disk of {kib} KiB"), came);
        let output = Command::new("umount").arg(&path).output().unwrap();
        assert!(output.status.success());
        if all_fits || kib > 65_536 {
            break;
        }
        kib += STEP_KIB * every;
    }
    mount(&["-t", "tmpfs", "-o", ROOMY, "tmpfs", &path]);
    copy(&specimen.dir, &disk);
    mount(&["-o", "remount,ro", &path]);
    say("read-only", "a disk that cannot be written", guarded(|| specimen.look(&disk)));
}

/// Appends until the disk is full, makes room, and proves: what was acknowledged is there, and the rest can follow.
fn fill(specimen: &Specimen, disk: &Path, make_room: impl FnOnce()) -> Came {
    let mut acknowledged = 0;
    let filled = || -> Result<(), &'static str> {
        let journal = SqliteJournal::open(disk, Options::default()).map_err(|error| error.code().as_str())?;
        lease_all(specimen, &journal).map_err(|error| error.code().as_str())?;
        append_again(specimen, &journal, 0, |_| acknowledged += 1).map_err(|error| error.code().as_str())
    };
    let mut filled = filled;
    let refused = filled().err();
    make_room();
    if !matches!(refused, None | Some("TG0411")) {
        return Came::Silent(format!("a full disk was called {}", refused.unwrap_or_default()));
    }
    let journal = match SqliteJournal::open(disk, Options::default()) {
        Ok(journal) => journal,
        Err(error) => return Came::Silent(format!("with room again it cannot be opened: {error}")),
    };
    let there: usize =
        specimen.runs.iter().map(|run| read_rows(&journal, run.run, 0).map(Result::unwrap).count()).sum();
    if there != acknowledged && there != acknowledged + 1 {
        return Came::Silent(format!("{acknowledged} appends were acknowledged, {there} are there"));
    }
    lease_all(specimen, &journal).unwrap();
    if let Err(error) = append_again(specimen, &journal, there, |_| ()) {
        return Came::Silent(format!("with room again it does not go on: {error}"));
    }
    let proved = prove(&journal, &Selection::All).unwrap();
    if let Some(breach) = proved.iter().find_map(RunProof::first) {
        return Came::Silent(format!("with room again it does not hold: {}", breach.what));
    }
    if journal.place().unwrap() == 0 {
        return Came::Silent("nothing is there".to_owned());
    }
    match (specimen.differs(&journal), refused) {
        (Some(why), _) => Came::Silent(why),
        (None, Some(code)) => Came::Named(code),
        (None, None) => Came::Healed,
    }
}
