//! An export on a machine that has nothing but the file: no home, no state, no repository, no git, nowhere to write.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::golden::{file, rows, with_other_time};
use crate::world::{TOLLGATE, World};

/// Two exports, one with a byte of an event changed; what must be said of each.
fn two_files(to: &Path) -> [String; 2] {
    let good = file("standard.tar");
    let rows = rows(&good).1;
    let (last, middle) = (rows[rows.len() - 1].last, &rows[rows.len() / 2]);
    std::fs::write(to.join("good.tar"), &good).unwrap();
    std::fs::write(to.join("bad.tar"), with_other_time(&good, middle.last)).unwrap();
    [format!("holds: {last} events"), format!("chain does not hold at event {} [TG0420]", middle.first)]
}

/// Everything below a folder, with its times.
fn everything(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime, u64)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((path, about.modified().unwrap(), about.len()));
    }
    found.sort();
    found
}

fn verify(folder: &Path, file: &str, home: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.current_dir(folder).env_clear().env("PATH", "/nonexistent").args(["verify", file]);
    command.envs(home.map(|home| ("HOME", home))).stdin(Stdio::null());
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_bundle_proves_where_there_is_nothing_else() {
    let world = World::new();
    let place = world.path("place");
    let home = world.path("place/home");
    std::fs::create_dir_all(&home).unwrap();
    let [holds, named] = two_files(&place);
    let modes = |mode| {
        for folder in [&home, &place] {
            std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
    };
    modes(0o555);
    let before = everything(&world.path(""));
    for home in [Some(&*home), None] {
        let good = verify(&place, "good.tar", home);
        assert_eq!(good.status.code(), Some(0), "{}", said(&good));
        assert!(said(&good).contains(&holds), "{}", said(&good));
        let bad = verify(&place, "bad.tar", home);
        assert_eq!(bad.status.code(), Some(1), "{}", said(&bad));
        assert!(said(&bad).contains(&named), "{}", said(&bad));
        let here = ["tollgate repair", "state directory"].iter().any(|word| said(&bad).contains(word));
        assert!(!here, "there is nothing here to repair or to copy: {}", said(&bad));
    }
    assert_eq!(everything(&world.path("")), before, "something was written");
    modes(0o755);
}

/// Root may write where others may not; on a disk that cannot be written nobody may.
#[test]
fn a_bundle_proves_where_nothing_can_be_written() {
    let world = World::new();
    let [holds, named] = two_files(&world.path(""));
    // Every mount becomes read-only, as far as the machine lets us; the folder of this test must.
    let script = format!(
        "cut -d' ' -f5 /proc/self/mountinfo | while read -r at; do mount -o remount,bind,ro \"$at\" 2>&1; done > /dev/null || true
         mount --bind {root} {root}; mount -o remount,bind,ro {root}; cd {root}
         if touch here 2> /dev/null; then echo WRITABLE; fi
         export HOME={root}/home PATH=/nonexistent; unset TOLLGATE_STATE
         {TOLLGATE} verify good.tar; code=0; {TOLLGATE} verify bad.tar || code=$?; echo \"exit $code\"",
        root = world.path("").display(),
    );
    let Some(output) = world.shell_with_mounts(&script) else { return };
    let said = said(&output);
    assert!(output.status.success() && !said.contains("WRITABLE"), "{said}");
    assert!(said.contains(&holds) && said.contains("exit 1") && said.contains(&named), "{said}");
}
