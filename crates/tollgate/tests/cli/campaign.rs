//! The campaign of damage, as far as there is time for it before every merge: a few of every kind on real runs. `cargo xtask
//! damage` does them all.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use tollgate_testkit::damage::{Damage, Disk, Specimen, campaign, full_disk, inside};

use crate::look::world_with_question;
use crate::play::{BLOCKED, BUILT, Play, TASK, at, else_};
use crate::world::{full, some_of};

/// About how many damages of each kind are tried, and with `cargo xtask test --full`; `cargo xtask damage` tries them all.
const OF_EACH: [usize; 2] = [4, 24];
/// Names the folder to a process that was started with mounts of its own.
const INSIDE: &str = "TOLLGATE_TEST_INSIDE";

/// Two real runs: one that succeeded after a question, and one that waits, with an object too large for the database.
fn two_runs() -> Play {
    let (mut play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    said.exits(4);
    play.decide(&["dec_2", "--answer", "1=Hello", "--answer", "2=No"]).exits(0);
    let long = TASK.replacen("\n## ", &format!("\n{}\n## ", "A long description. ".repeat(4_000)), 1);
    std::fs::write(play.world.path("task.md"), long).unwrap();
    play.run.clear();
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--no-wait"]).exits(4);
    play
}

/// As many of each kind, evenly over all there are.
fn some_of_each(damages: Vec<Damage>) -> Vec<Damage> {
    let mut kinds: BTreeMap<&'static str, Vec<Damage>> = BTreeMap::new();
    damages.into_iter().for_each(|damage| kinds.entry(damage.class).or_default().push(damage));
    let few = |all: Vec<Damage>| {
        let step = all.len().div_ceil(OF_EACH[usize::from(full())]);
        all.into_iter().step_by(step).collect::<Vec<_>>()
    };
    kinds.into_values().flat_map(few).collect()
}

#[test]
fn damage_of_every_kind_is_named_or_healed_and_what_verified_stays() {
    let play = two_runs();
    let specimen = Specimen::of(&play.world.path("state"), &play.world.path("specimen"));
    let damages = some_of_each(specimen.damages(7));
    let tally = campaign(&specimen, &damages, 4, 2);
    assert_eq!(tally.failures, Vec::<String>::new());
    let [named, healed, silent, panics] = tally.sums();
    assert_eq!((named + healed, silent, panics), (damages.len() as u64, 0, 0), "{tally:?}");
    assert!(tally.classes.len() >= 13 && named > healed && tally.repairs.0 > 20, "{tally:?}");
}

#[test]
fn disks_that_are_full_or_cannot_be_written_lose_nothing() {
    if let Some(dir) = std::env::var_os(INSIDE) {
        let dir = Path::new(&dir);
        println!();
        return inside(&Specimen::of(&dir.join("specimen"), &dir.join("copy")), dir, 16);
    }
    let play = two_runs();
    let dir = play.world.path("disks");
    Specimen::of(&play.world.path("state"), &dir.join("specimen"));
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "campaign::disks_that_are_full_or_cannot_be_written_lose_nothing", "--nocapture"]);
    match full_disk(again.env(INSIDE, &dir)) {
        Disk::Done(tally) => {
            assert_eq!(tally.failures, Vec::<String>::new());
            assert!(tally.classes["full"][0] >= 3 && tally.classes["read-only"] == [0, 1, 0, 0], "{tally:?}");
        }
        Disk::NotPossible(why) => {
            assert!(
                std::env::var_os("CI").is_none(),
                "`unshare -rm` is not allowed here, and nothing is skipped under CI"
            );
            println!("SKIPPED: `unshare -rm` is not allowed here: {why}");
        }
    }
}

/// The whole program on a disk that fills up under it: the journal, the trees, the bundles and the logs.
#[test]
fn a_disk_that_fills_up_stops_a_run_and_room_lets_it_go_on() {
    let (world, run) = world_with_question();
    let disk = world.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let (state, disk) = (world.path("state").display().to_string(), disk.display().to_string());
    for free in some_of([0, 8, 24, 64, 160, 400], 2) {
        let script = format!(
            "mount -t tmpfs -o size=64m tmpfs {disk}; cp -a {state}/. {disk}; export TOLLGATE_STATE={disk}
             head -c 64m /dev/zero > {disk}/filler 2>/dev/null || true; truncate -s -{free}k {disk}/filler
             git update-ref -d refs/heads/tollgate/{run}
             code=0; tollgate decide {run} dec_2 --text Hello --no-wait >&2 || code=$?
             rm {disk}/filler; echo \"decide $code\"
             tollgate verify --all >&2; echo verified
             tollgate retry {run} --no-wait >&2 || tollgate resume {run} --no-wait >&2 || tollgate decide {run} dec_2 --text Hello --no-wait >&2
             tollgate verify --all >&2; tollgate show {run}"
        );
        let Some(output) = world.shell_with_mounts(&script) else { return };
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{free} KiB: {out}{err}");
        assert!(out.contains("succeeded"), "{free} KiB: {out}{err}");
        assert!(!out.contains("decide 70") && !err.contains("panic"), "{free} KiB: {out}{err}");
    }
}
