//! The user's repository, disturbed while a run is on: by locks that a killed git left, and by who moves it away.

use std::path::PathBuf;
use std::process::Command;

use crate::play::{Play, Said, TASK, script};

const WORDS: [&str; 3] = ["--input", "complexity=standard", "--no-wait"];

/// A run that waits for its sign-off.
fn asked() -> Play {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&WORDS).exits(4);
    play
}

/// Types a command about the run in another folder than the repository.
fn typed_in(play: &Play, folder: &str, words: &[&str]) -> Said {
    let mut command: Command = play.world.program(words);
    command.current_dir(play.world.path(folder)).stdin(std::process::Stdio::null());
    Said::of(command.output().unwrap())
}

fn lock(play: &Play, name: &str) -> PathBuf {
    let path = play.world.path(&format!("work/.git/{}.lock", name.replace("RUN", &play.run)));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "").unwrap();
    path
}

#[test]
fn a_lock_that_a_killed_git_left_on_a_ref_of_the_run_is_no_end_of_it() {
    let play = asked();
    let locks =
        ["refs/heads/tollgate/RUN", "refs/tollgate/RUN/handed", "refs/tollgate/RUN/base"].map(|name| lock(&play, name));
    let others = ["refs/heads/main", "refs/heads/tollgate/run_other"].map(|name| lock(&play, name));
    play.decide(&["dec_1", "approve", "--no-wait"]).exits(0);
    assert!(play.changed_branch() && locks.iter().all(|lock| !lock.exists()));
    assert!(others.iter().all(|lock| lock.exists()), "they may be in use");
    others.iter().for_each(|lock| std::fs::remove_file(lock).unwrap());
    play.holds();
}

#[test]
fn a_lock_in_a_linked_checkout_is_found_where_its_refs_are() {
    let mut play = Play::new(TASK, &script(&[]));
    play.world.git(&["worktree", "add", "-q", "--detach", "../linked"]);
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml"];
    let said = typed_in(&play, "linked", &[&words[..], &WORDS].concat()).exits(4);
    play.named_by(&said);
    let lock = lock(&play, "refs/heads/tollgate/RUN");
    typed_in(&play, "linked", &["decide", &play.run, "dec_1", "approve", "--no-wait"]).exits(0);
    assert!(play.changed_branch() && !lock.exists());
}

/// A link would have us remove a file of somebody else.
#[test]
fn a_lock_behind_a_link_is_left_alone() {
    let play = asked();
    let (folder, aside) = (play.world.path("work/.git/refs/tollgate"), play.world.path("aside"));
    std::fs::rename(&folder, &aside).unwrap();
    std::os::unix::fs::symlink(&aside, &folder).unwrap();
    let lock = lock(&play, "refs/tollgate/RUN/base");
    play.decide(&["dec_1", "approve", "--no-wait"]).exits(3).says("TG0505").says("base.lock': File exists");
    assert!(lock.exists());
}

/// It may belong to a git that is at work: its owner is told, and what was done is not lost.
#[test]
fn a_lock_of_the_users_own_is_named_and_left() {
    let play = asked();
    let lock = lock(&play, "packed-refs");
    let told = play.decide(&["dec_1", "approve", "--no-wait"]).exits(3).says("TG0505");
    told.says("packed-refs.lock': File exists").says("remove the file that is named, then `tollgate resume run_");
    assert!(lock.exists());
    std::fs::remove_file(lock).unwrap();
    play.tollgate(&["resume", "RUN"]).exits(0);
    play.holds();
}

#[test]
fn a_repository_that_was_moved_away_is_named_and_the_run_goes_on_when_it_is_back() {
    let play = asked();
    let (work, moved) = (play.world.path("work"), play.world.path("moved"));
    std::fs::rename(&work, &moved).unwrap();
    let (run, gone) = (play.run.as_str(), format!("there is no folder {}", work.display()));
    typed_in(&play, "moved", &["decide", run, "dec_1", "approve", "--no-wait"]).exits(3).says("TG0509").says(&gone);
    let told = typed_in(&play, "moved", &["resume", run, "--no-wait"]).exits(3).says("TG0509").says(&gone);
    let told = told.says("move it back to where it was, then `tollgate resume run_").silent_on("was lost");
    told.says("`tollgate cancel run_");
    std::fs::rename(&moved, &work).unwrap();
    play.tollgate(&["resume", "RUN", "--no-wait"]).exits(0);
    play.holds();
}

#[test]
fn a_run_whose_repository_is_gone_for_good_can_be_given_up() {
    let play = asked();
    std::fs::rename(play.world.path("work"), play.world.path("moved")).unwrap();
    typed_in(&play, "moved", &["cancel", &play.run]).exits(0);
    let shown = typed_in(&play, "moved", &["show", &play.run]).exits(0);
    assert!(shown.out.contains("cancelled"), "{}", shown.out);
}

/// A process that cannot be written down would be found by nobody after a crash.
#[test]
fn a_command_that_cannot_be_recorded_counts_for_nothing() {
    // Whether it is recorded itself or not, the first leaves nowhere to record the next.
    let swap = "w=\"$HOME/../state/workers\"; until test -f \"$w\"; do rm -rf \"$w\"; touch \"$w\"; done";
    let row = format!("- greet.sh greets `cmd: {swap}`\n- it is still there `cmd: touch \"$HOME/ran\"; sleep 60`\n");
    let mut play = Play::new(&TASK.replace("- greet.sh greets\n", &row), &script(&[]));
    // In a sandbox it could not reach the state directory.
    play.world.set("TOLLGATE_SANDBOX", "off");
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--no-wait"]);
    let notes: Vec<String> = play
        .events()
        .into_iter()
        .filter_map(|event| match event.event {
            tollgate_core::run::Event::CommandsRan(ran) => Some(ran.results),
            _ => None,
        })
        .flatten()
        .map(|result| format!("{:?} {}", result.result, result.note))
        .collect();
    assert!(notes.len() >= 2, "{notes:?}");
    let unrecorded = |note: &String| note.starts_with("Unobservable a process of the run cannot be recorded");
    assert!(notes[1..].iter().all(unrecorded), "{notes:?}");
}
