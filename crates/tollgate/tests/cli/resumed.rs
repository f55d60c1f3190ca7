//! An agent whose driver is gone: its session is gone on with, where it left its work.

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::run::Event;

use crate::budget::{NOTHING, ROW, agent, calls, done, play};
use crate::play::Play;
use crate::quota::refused;

/// What an agent does that is cut off.
const HANGS: &str = "touch \"$HOME/.claude/begun-$n\"; sleep 600";
/// The same of one that told nothing, also not its session.
const SILENT: &str = "touch \"$HOME/.claude/silent-$n\"; sleep 600";
/// Where a call leaves what it saw.
const SAW: &str = "ls > \"$HOME/.claude/call-$n/saw\";";

/// The report of one who did this to these files.
fn made(created: &[&str], modified: &[&str], deleted: &[&str]) -> String {
    let count = format!("{} created, {} modified, {} deleted", created.len(), modified.len(), deleted.len());
    let mut report = NOTHING.replace("0 created, 0 modified, 0 deleted", &count);
    for (kind, files) in [("Created", created), ("Modified", modified), ("Deleted", deleted)] {
        if !files.is_empty() {
            let names: String = files.iter().map(|file| format!("- {file}\\\\n")).collect();
            report += &format!("\\\\n## Files {kind}\\\\n{names}");
        }
    }
    done(&report)
}

/// Every role has a session of its own, by its name.
fn own_sessions(script: &str) -> String {
    script.replace("s-1", "s-'\"$TOLLGATE_ROLE\"'")
}

fn playing(protocol: &str, act: &str) -> Play {
    let play = play(protocol, "[roles]\n\"*\" = \"claude\"\n", "");
    play.world.agent("claude", &own_sessions(&agent(act)));
    play
}

fn said(play: &Play, call: u32) -> String {
    std::fs::read_to_string(play.world.path(&format!("home/.claude/call-{call}/said"))).unwrap_or_default()
}

/// Drives until a call hangs, and ends the driver.
fn cut_off(play: &mut Play, words: &[&str], call: u32, signal: Signal) {
    let mut driver = play.program(words);
    if play.run.is_empty() {
        play.find_run(&mut driver);
    }
    let begun = play.world.path(&format!("home/.claude/begun-{call}"));
    let silent = play.world.path(&format!("home/.claude/silent-{call}"));
    // What it told was heard, too: a driver on a busy machine may be behind.
    let noted = play.world.path(&format!("state/runs/{}/logs/att_{call}.session", play.run));
    play.until("half of the work is there", |_| {
        let heard = || std::fs::read(&noted).is_ok_and(|text| text.ends_with(b"\n"));
        (silent.exists() || (begun.exists() && heard())).then_some(())
    });
    kill_process(Pid::from_child(&driver), signal).unwrap();
    driver.wait().unwrap();
}

#[track_caller]
fn goes_on(play: &Play, call: u32, session: &str, words: &str) {
    let said = said(play, call);
    assert!(
        said.contains(&format!("--resume {session}\n")) || said.contains(&format!("--resume {session} ")),
        "{said}"
    );
    assert!(said.contains(words), "{words}: {said}");
}

const THERE: &str =
    "You were cut off. Go on where you were: what you changed is still there, but for files that git ignores.";
const PUT_BACK: &str = "You were cut off. Go on where you were. The files were put back to what is on record";
const COPY: &str = "You were cut off. Go on where you were, in a fresh copy of what you look at. This was your brief";

#[test]
fn an_agent_goes_on_in_its_session_and_with_its_work_after_its_driver_was_ended() {
    for signal in [Signal::KILL, Signal::TERM] {
        // It commits, writes on, and lays a hook that nobody is to start.
        let begins = format!(
            "echo half > half.txt; git add -A; git commit -qm half; echo more >> README.md; touch .git/left; {HANGS}"
        );
        let goes = format!(
            "cat half.txt; test ! -e .git/left && git status --porcelain >&2; {}",
            made(&["half.txt"], &["README.md"], &[])
        );
        let act = format!("case $n in 1) {begins} ;; 2) {goes} ;; 3) {HANGS} ;; *) {} ;; esac", done(NOTHING));
        let mut play = playing(ROW, &act);
        cut_off(&mut play, &["run", "../row.yaml"], 1, signal);
        // What the agent told of its session before it was cut off is there; one that judges has it, too.
        cut_off(&mut play, &["resume", "RUN"], 3, signal);
        play.tollgate(&["resume", "RUN"]).exits(0);
        goes_on(&play, 2, "s-maker", THERE);
        goes_on(&play, 4, "s-reader", COPY);
        assert!(!said(&play, 1).contains("--resume") && !said(&play, 3).contains("--resume"));
        assert_eq!(play.file("half.txt").as_deref(), Some("half\n"));
        assert!(play.file("README.md").unwrap().ends_with("more\n"));
        assert_eq!(play.count(|event| matches!(event, Event::AttemptLost(_))), 2);
        assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 2);
        play.holds();
    }
}

/// One that a limit had cut off before, and one that was cut off again before it could say anything.
#[test]
fn an_agent_that_was_cut_off_twice_goes_on_with_all_of_its_work() {
    let act = format!(
        "case $n in 1) echo 1 > one; {} ;; 2) echo 2 > two; {HANGS} ;; 3) {SAW} {} ;; *) {} ;; esac",
        refused(2),
        made(&["one", "two"], &[], &[]),
        done(NOTHING)
    );
    let mut play = playing(ROW, &act);
    cut_off(&mut play, &["run", "../row.yaml"], 2, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(0);
    goes_on(&play, 3, "s-maker", THERE);
    assert_eq!((play.file("one").is_some(), play.file("two").is_some()), (true, true));
    let act = format!(
        "case $n in 1) echo half > half; {HANGS} ;; 3) {SAW} {} ;; *) {} ;; esac",
        made(&["half"], &[], &[]),
        done(NOTHING)
    );
    let mut play = playing(ROW, &act);
    let hangs = format!("[ $n = 2 ] && {{ {SILENT}; }}\necho '{{\"type\":\"system\"");
    let silent = agent(&act).replace("echo '{\"type\":\"system\"", &hangs);
    play.world.agent("claude", &own_sessions(&silent));
    cut_off(&mut play, &["run", "../row.yaml"], 1, Signal::KILL);
    cut_off(&mut play, &["resume", "RUN"], 2, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(0);
    for call in [2, 3] {
        goes_on(&play, call, "s-maker", THERE);
    }
    assert_eq!(play.file("half").as_deref(), Some("half\n"));
    play.holds();
}

/// Whoever goes on is told what of its work is there: what it left cannot be kept, or is a tree that the run has had before.
#[test]
fn who_goes_on_is_told_what_it_finds() {
    let act = format!(
        "case $n in 1) echo half > half; git init -q n; echo 1 > n/f; {HANGS} ;; *) {SAW} {} ;; esac",
        done(NOTHING)
    );
    let mut play = playing(ROW, &act);
    cut_off(&mut play, &["run", "../row.yaml"], 1, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(4);
    goes_on(&play, 2, "s-maker", PUT_BACK);
    let saw = |play: &Play, call: u32| {
        std::fs::read_to_string(play.world.path(&format!("home/.claude/call-{call}/saw"))).unwrap()
    };
    assert!(!saw(&play, 2).contains("half"));
    let undo = ROW
        .replace("roles:\n", "roles:\n  undo: {contract: status-block, writes: [code], sees: full}\n")
        .replace("{ok: read}}", "{ok: undo}}\n    - {id: undo, dispatch: undo, on: {ok: read}}");
    let act = format!(
        "case $n in 1) echo half > half; {} ;; 2) rm half; {HANGS} ;; 3) {SAW} {} ;; *) {} ;; esac",
        made(&["half"], &[], &[]),
        made(&[], &[], &["half"]),
        done(NOTHING)
    );
    let mut play = playing(&undo, &act);
    cut_off(&mut play, &["run", "../row.yaml"], 2, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(4);
    goes_on(&play, 3, "s-undo", THERE);
    assert!(!saw(&play, 3).contains("half") && play.file("half").is_none());
    play.holds();
}

/// What an agent runs can print its lines: only the first session that the agent tells itself counts, and never another's.
#[test]
fn no_line_of_another_names_the_session_to_go_on_in() {
    let line = |id: &str| format!("echo '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{id}\"}}'");
    let evil = format!("{}; {} >&2; {} >&2;", line("s-maker"), line("s-maker"), line("s-evil"));
    let act = format!("case $n in 2) {evil} {HANGS} ;; *) {} ;; esac", done(NOTHING));
    let mut play = playing(ROW, &act);
    cut_off(&mut play, &["run", "../row.yaml"], 2, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(4);
    goes_on(&play, 3, "s-reader", COPY);
    // All of them tell the same: nobody goes on in what was another's.
    let act = format!("case $n in 2) {HANGS} ;; *) {} ;; esac", done(NOTHING));
    let mut play = playing(ROW, &act);
    play.world.agent("claude", &agent(&act));
    cut_off(&mut play, &["run", "../row.yaml"], 2, Signal::KILL);
    play.tollgate(&["resume", "RUN"]).exits(4);
    assert_eq!(calls(&play), 3);
    assert!(!said(&play, 3).contains("--resume") && !said(&play, 3).contains("cut off"));
    play.holds();
}
