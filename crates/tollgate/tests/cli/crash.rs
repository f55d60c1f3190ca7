//! The driver dies, is stopped, or is not alone.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::{APPROVED, BUILT, COVERED, Play, Said, TASK, TESTED, at, else_, script};

/// Every role takes so long that the driver can be caught at it.
fn slow(role: &str, body: &str) -> (String, Vec<String>) {
    (role.to_owned(), vec![at(1, &format!("delay_ms: 400, {body}")), else_(body)])
}

fn begin(roles: &[(String, Vec<String>)]) -> (Play, Child) {
    begin_with(TASK, roles)
}

fn begin_with(task: &str, roles: &[(String, Vec<String>)]) -> (Play, Child) {
    let roles: Vec<(&str, &[String])> = roles.iter().map(|(role, acts)| (role.as_str(), &acts[..])).collect();
    let mut play = Play::new(task, &script(&roles));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--input"];
    let mut child = play.program(&[&words[..], &["complexity=standard", "--answer", "sign-off=approve"]].concat());
    play.find_run(&mut child);
    (play, child)
}

fn starts(role: &'static str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::AttemptStarted(started) if matches!(&started.work, Work::Dispatch { role: at, .. } if &**at == role))
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn killed_at_any_moment_the_run_goes_on_to_the_same_end() {
    let bodies = [("developer", BUILT), ("dod-checker", COVERED), ("reviewer", APPROVED), ("tester", TESTED)];
    let (play, mut child) = begin(&bodies.map(|(role, body)| slow(role, body)));
    for (role, _) in bodies {
        play.until_event(role, starts(role));
        play.until_worker();
        child.kill().unwrap();
        child.wait().unwrap();
        child = play.program(&["resume", "RUN"]);
    }
    let said = Said::of(child.wait_with_output().unwrap()).exits(0);
    let said = said.says("the process that drove the run is gone").says("repeated after a crash");
    assert_eq!(play.changed(), "A\tgreet.sh\nA\ttests/greet.test.sh\n");
    assert_eq!(play.count(|event| matches!(event, Event::AttemptLost(_))), bodies.len());
    for (role, _) in bodies {
        let iterations = play.events().into_iter().filter_map(|event| match event.event {
            Event::AttemptStarted(started) => match started.work {
                Work::Dispatch { role: at, iteration, .. } if &*at == role => Some(iteration),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(iterations.collect::<Vec<_>>(), [1, 1], "{role}: repeats keep their number\n{}", said.err);
    }
    play.holds();
}

#[test]
fn a_signal_detaches_and_resume_goes_on() {
    let (play, mut child) = begin(&[slow("developer", BUILT)]);
    for sent in [Signal::INT, Signal::TERM, Signal::HUP] {
        play.until_worker();
        signal(&child, sent);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("tollgate resume {}", play.run)), "{said}");
        assert_eq!(output.status.code(), Some(3), "nobody is waited for: {said}");
        assert_eq!(play.workers(), Vec::<String>::new(), "no worker outlives its driver");
        play.tollgate(&["retry", "RUN"]).exits(1).says(&format!("tollgate resume {}", play.run));
        child = play.program(&["resume", "RUN"]);
    }
    Said::of(child.wait_with_output().unwrap()).exits(0);
    play.holds();
}

#[test]
fn of_two_drivers_one_is_refused_with_a_clear_word() {
    let slow = at(1, &format!("delay_ms: 800, {BUILT}"));
    let (play, child) = begin(&[("developer".to_owned(), vec![slow, else_(BUILT)])]);
    play.until_event("developer", starts("developer"));
    let said = play.tollgate(&["resume", "RUN"]).exits(1).says("TG0327");
    assert!(
        said.err.contains(&format!("another tollgate is running {}: process {}", play.run, child.id())),
        "{}",
        said.err
    );
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(play.dispatched("developer"), 1);
    play.holds();
}

#[test]
fn an_interrupt_ends_a_command_that_the_engine_runs() {
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: test -e done || exec sleep 1000`");
    let (play, child) = begin_with(&task, &[]);
    play.until("the command runs", |play| play.workers().iter().any(|line| line.contains("1000")).then_some(()));
    signal(&child, Signal::TERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(play.workers(), Vec::<String>::new());
    play.tollgate(&["cancel", "RUN"]).exits(0);
    play.holds();
}

#[test]
fn the_same_answer_from_two_processes_happens_once() {
    let (play, said) = Play::standard(&[("developer", &[at(1, crate::play::BLOCKED), else_(BUILT)])]);
    said.exits(4);
    let one = play.program(&["decide", "RUN", "dec_2", "--answer", "1=Hello", "--answer", "2=No"]);
    let two = play.program(&["decide", "RUN", "dec_2", "--answer", "1=Hello", "--answer", "2=No"]);
    let codes = [one, two].map(|child| child.wait_with_output().unwrap());
    for output in &codes {
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    play.tollgate(&["resume", "RUN"]).exits(0);
    assert_eq!(play.dispatched("developer"), 2, "the effect of the answer happened once");
    play.holds();
}

#[test]
fn cancel_ends_the_workers_of_another_process_and_its_driver_leaves() {
    let slow = at(1, &format!("write: {{half.txt: \"half\\n\"}}, misbehave: hang, {}", "text: never"));
    let (play, child) = begin(&[("developer".to_owned(), vec![slow])]);
    play.until_event("developer", starts("developer"));
    play.until_worker();
    let said = play.tollgate(&["cancel", "RUN", "--why", "not needed any more"]).exits(0);
    let output = child.wait_with_output().unwrap();
    let driver = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{driver}");
    assert!(driver.contains("not needed any more"), "{driver}");
    // What a worker left that was ended is said in plain words.
    assert!(!driver.contains("lease") && !driver.contains("token"), "{driver}");
    insta::assert_snapshot!(play.told(&said));
    play.holds();
    assert!(play.world.path(&format!("state/trees/{}/backend", play.run)).exists(), "its trees are kept");
    play.tollgate(&["cancel", "RUN"]).exits(1).says("TG0301");
    play.tollgate(&["decide", "RUN", "dec_1", "revise"]).exits(1);
    play.tollgate(&["retry", "RUN"]).exits(1).says("TG0301");
    play.tollgate(&["resume", "RUN"]).exits(1).says("not needed any more");
}

#[test]
fn a_cancelled_run_whose_driver_is_dead_leaves_no_worker() {
    let (play, mut child) = begin(&[("developer".to_owned(), vec![at(1, "misbehave: hang")])]);
    play.until_event("developer", starts("developer"));
    play.until_worker();
    child.kill().unwrap();
    child.wait().unwrap();
    play.tollgate(&["cancel", "RUN"]).exits(0);
    play.holds();
}

#[test]
fn any_number_of_processes_may_be_the_first() {
    for _ in 0..5 {
        let play = Play::new(TASK, &script(&[]));
        let children: Vec<Child> = (0..6).map(|_| play.program(&["resume", "nothing"])).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains("TG0317"), "{said}");
        }
    }
}

#[test]
fn a_start_that_is_killed_early_leaves_nothing_once_another_command_has_run() {
    let play = Play::new(TASK, &script(&[]));
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--input"];
    let words = [&words[..], &["complexity=standard", "--no-wait"]].concat();
    let ours = |play: &Play| play.world.git(&["for-each-ref", "--format=%(refname)", "refs/tollgate"]);
    let count = |path: &str| std::fs::read_dir(play.world.path(path)).into_iter().flatten().count();
    // Killed as soon as the base is pinned, which is before the run is in the journal; a slow machine needs another try.
    let (mut killed_early, mut tries) = (0, 0);
    while killed_early < 3 && tries < 20 {
        tries += 1;
        let mut child = play.program(&words);
        let before = ours(&play);
        play.until("the base is pinned", |play| (ours(play) != before).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        killed_early += u32::from(count("state/scratch") > 0);
    }
    assert!(killed_early > 0, "no start was caught in the middle");
    play.tollgate(&words).exits(4);
    let said = play.tollgate(&["ls", "--json"]);
    let runs: Vec<&str> = said.out.lines().collect();
    assert_eq!(ours(&play).lines().count(), runs.len(), "a pin for each run, and no other\n{}", said.out);
    assert_eq!((count("state/scratch"), count("state/runs")), (0, runs.len()));
}

#[test]
fn a_run_that_is_over_keeps_no_pin_and_a_refused_start_leaves_nothing() {
    let (play, said) = Play::standard(&[]);
    said.exits(0);
    assert_eq!(play.world.git(&["for-each-ref", "--format=%(refname)", "refs/tollgate"]), "");
    let said = play.tollgate(&[
        "run",
        "build-plan",
        "--task",
        "../task.md",
        "--script",
        "../script.yaml",
        "--input",
        "complexity=odd",
    ]);
    assert_ne!(said.code, Some(0));
    assert_eq!(play.world.git(&["for-each-ref", "--format=%(refname)", "refs/tollgate"]), "");
    assert_eq!(std::fs::read_dir(play.world.path("state/runs")).unwrap().count(), 1);
    play.holds();
}

/// Where a program is.
fn which(name: &str) -> String {
    let output = std::process::Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_git_that_outlives_its_driver_is_ended_before_the_next_begins() {
    let roles = [slow("developer", BUILT)];
    let roles: Vec<(&str, &[String])> = roles.iter().map(|(role, acts)| (role.as_str(), &acts[..])).collect();
    let mut play = Play::new(TASK, &script(&roles));
    // A git of the engine that hangs once, and notes when another one works beside it.
    let text = format!(
        "#!/bin/sh
case $TOLLGATE_ATTEMPT in
  */engine)
    if read -r pid < {root}/hung && read -r stat < /proc/$pid/stat; then
      case $stat in *') Z '*) ;; *) echo beside >> {root}/beside ;; esac
    fi 2> /dev/null
    if {rm} {root}/hang 2> /dev/null; then echo $$ > {root}/hung.new; {mv} {root}/hung.new {root}/hung; exec {sleep} 600; fi ;;
esac
exec {git} \"$@\"
",
        root = play.world.path("").display(),
        rm = which("rm"),
        mv = which("mv"),
        sleep = which("sleep"),
        git = which("git"),
    );
    play.world.agent("git", &text);
    let words = ["run", "build-plan", "--task", "../task.md", "--script", "../script.yaml", "--input"];
    let mut child = play.program(&[&words[..], &["complexity=standard", "--answer", "sign-off=approve"]].concat());
    play.find_run(&mut child);
    play.until_worker();
    std::fs::write(play.world.path("hang"), "").unwrap();
    let hung: u32 = play.until("git hangs", |play| {
        std::fs::read_to_string(play.world.path("hung")).ok().map(|pid| pid.trim().parse().unwrap())
    });
    // One that ended and was not waited for is not alive.
    let alive = || std::fs::read_to_string(format!("/proc/{hung}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(alive(), "it was to outlive its driver");
    play.tollgate(&["resume", "RUN"]).exits(0);
    assert!(!play.world.path("beside").exists(), "a git of the next driver began beside it");
    assert!(!alive());
    assert_eq!(play.changed(), "A\tgreet.sh\nA\ttests/greet.test.sh\n");
    play.holds();
}
