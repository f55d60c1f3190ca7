//! A driver is stopped at a named point, another takes over, and the first wakes up; or it dies there. Debug builds alone have
//! the points.

use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::run::Event;

use crate::budget::{ROW, calls, play};
use crate::play::{BUILT, Play, TASK, at, else_, script};
use crate::quota;
use crate::world::TOLLGATE;

/// Leases and waits that pass while one looks.
const SHORT: [(&str, &str); 2] = [("TOLLGATE_LEASE_MS", "600"), ("TOLLGATE_HOLD_MS", "1500")];

fn driver(play: &Play, words: &[&str], fail_at: Option<&str>) -> Child {
    let words: Vec<&str> = words.iter().map(|word| if *word == "RUN" { play.run.as_str() } else { word }).collect();
    let mut command = play.world.program(&words);
    command.stdin(Stdio::null()).envs(SHORT).envs(fail_at.map(|point| ("TOLLGATE_FAIL_AT", point)));
    command.spawn().unwrap()
}

fn is_stopped(child: &Child) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('T'))
}

/// Whether somebody is in the middle of a write.
fn is_written(play: &Play) -> bool {
    let journal = rusqlite::Connection::open(play.world.path("state/journal.db")).unwrap();
    journal.busy_timeout(std::time::Duration::ZERO).unwrap();
    journal.execute_batch("BEGIN IMMEDIATE; ROLLBACK").is_err()
}

/// A run whose developer takes its time, and a first driver that is stopped at a point, but not while another of its threads
/// writes: a lock that is held by a stopped process keeps everybody out, and these tests are about leases.
fn stopped_at(point: &str) -> (Play, Child) {
    for _ in 0..20 {
        let (play, mut first) = stopped_anywhere_at(point);
        if !is_written(&play) {
            return (play, first);
        }
        first.kill().unwrap();
        first.wait().unwrap();
    }
    panic!("it writes whenever it is stopped");
}

fn stopped_anywhere_at(point: &str) -> (Play, Child) {
    let slow = at(1, &format!("delay_ms: 1500, {BUILT}"));
    let mut play = Play::new(TASK, &script(&[("developer", &[slow, else_(BUILT)])]));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--input"];
    let words = [&words[..], &["complexity=standard", "--answer", "sign-off=approve"]].concat();
    let mut first = driver(&play, &words, Some(&format!("{point}:stop")));
    play.find_run(&mut first);
    play.until("the first is stopped", |_| is_stopped(&first).then_some(()));
    (play, first)
}

/// Another driver that has taken the run over; tried until the lease of the first has passed.
fn take_over(play: &Play) -> Child {
    play.until("another takes over", |play| {
        let mut second = driver(play, &["resume", "RUN"], None);
        let taken = play.until("it is refused or takes over", |play| {
            let epoch = play.events().last().map_or(0, |event| event.epoch);
            (epoch > 1 || second.try_wait().unwrap().is_some()).then_some(epoch > 1)
        });
        taken.then_some(second)
    })
}

fn wake(child: Child) -> (Option<i32>, String) {
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn one_that_slept_since_it_took_the_run_ends_no_worker_of_whoever_took_it_then() {
    let (play, first) = stopped_at("lease-taken:1");
    let second = take_over(&play);
    play.until_worker();
    let (code, said) = wake(first);
    assert!(code == Some(1) && said.contains("TG0322"), "{code:?} {said}");
    let output = second.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(play.dispatched("developer"), 1);
    play.holds();
}

#[test]
fn one_that_is_stopped_with_the_trees_in_its_hands_is_named_and_waited_for() {
    let (play, first) = stopped_at("before-spawn:1");
    // Until the lease of the first has passed, the second hears that the run is driven.
    let said = play.until("the run is free", |play| {
        let second = driver(play, &["resume", "RUN"], None).wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&second.stderr).into_owned();
        (!said.contains("TG0327")).then_some((second.status.code(), said))
    });
    let (code, said) = said;
    assert!(code == Some(3) && said.contains("TG0517"), "{code:?} {said}");
    assert!(said.contains(&format!("process {}", first.id())), "{said}");
    let (code, said) = wake(first);
    // It learns it from its lease or from the journal, whichever it looks at first.
    assert!(code == Some(1) && (said.contains("TG0404") || said.contains("TG0322")), "{code:?} {said}");
    play.tollgate(&["resume", "RUN"]).exits(0);
    play.holds();
}

/// The names beside the work trees of a run, and what is kept of them.
fn trees_and_kept(play: &Play) -> (Vec<String>, usize) {
    let folder = play.world.path(&format!("state/trees/{}", play.run));
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let git = format!("--git-dir={}", play.world.path(&format!("state/runs/{}/git", play.run)).display());
    (names, play.world.git(&[&git, "for-each-ref", "refs/kept"]).lines().count())
}

#[test]
fn one_that_dies_while_it_puts_a_tree_back_leaves_no_second_tree() {
    for point in ["tree-aside:1", "tree-put:1"] {
        let mut play = Play::new(TASK, &script(&[("developer", &[else_(BUILT)])]));
        // The worker keeps its count where no sandbox would let it.
        play.world.set("TOLLGATE_SANDBOX", "off");
        // The first developer leaves half of its work and does not end by itself.
        let acts = format!("exec {TOLLGATE} worker-script --script {}", play.world.path("script.yaml").display());
        let once = play.world.path("once").display().to_string();
        let text =
            format!("#!/bin/sh\nif [ -e {once} ]; then {acts}; fi\n: > {once}\necho half > half\nexec sleep 600\n");
        play.world.agent("hangs", &text);
        let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--input"];
        let more = ["complexity=standard", "--answer", "sign-off=approve", "--worker", "developer=command:hangs"];
        let mut first = driver(&play, &[&words[..], &more].concat(), None);
        play.find_run(&mut first);
        let half = play.world.path(&format!("state/trees/{}/backend/half", play.run));
        play.until("half of the work is there", |_| half.exists().then_some(()));
        first.kill().unwrap();
        first.wait().unwrap();
        let second = driver(&play, &["resume", "RUN"], Some(point)).wait_with_output().unwrap();
        assert_eq!(second.status.code(), None, "{point}: {}", String::from_utf8_lossy(&second.stderr));
        let (trees, kept) = trees_and_kept(&play);
        assert!(trees.iter().any(|name| name.contains("@kept-")) && kept == 1, "{point}: {trees:?}, {kept} kept");
        play.tollgate(&["resume", "RUN"]).exits(0);
        assert_eq!(trees_and_kept(&play), (vec!["@run".to_owned(), "backend".to_owned()], 1), "{point}");
        assert!(!half.exists() && play.file("half").is_none());
        play.holds();
    }
}

/// Two runs whose pool may be called again: one has found it free, and before it can say so, the other one tries it.
#[test]
fn of_two_that_wake_together_one_calls_and_the_other_learns_of_it() {
    let act = format!("case $n in 1) {} ;; *) {} ;; esac", quota::refused(4), quota::refused(3600));
    let mut play = play(ROW, "", &act);
    quota::run(&mut play, &["--no-wait"]).exits(5);
    let first = play.run.clone();
    quota::run(&mut play, &["--no-wait"]).exits(5);
    let second = std::mem::replace(&mut play.run, first.clone());
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(calls(&play), 1);
    let mut slow = driver(&play, &["resume", "RUN"], Some("before-started:stop"));
    play.until("it is stopped", |_| is_stopped(&slow).then_some(()));
    play.run = second;
    play.tollgate(&["resume", "RUN", "--no-wait"]).exits(5);
    assert_eq!(calls(&play), 2, "the other one tries it");
    play.run = first;
    let parked = |play: &Play| play.count(|event| matches!(event, Event::PoolParked(_)));
    let before = parked(&play);
    kill_process(Pid::from_child(&slow), Signal::CONT).unwrap();
    play.until("it is told no, by the agent or by the other run", |play| (parked(play) > before).then_some(()));
    slow.kill().unwrap();
    slow.wait().unwrap();
    assert_eq!(calls(&play), 2, "and nobody else");
    play.tollgate(&["verify", "--all"]).exits(0);
}
