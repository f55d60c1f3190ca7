//! An agent whose driver is gone: its session is gone on with, where it left its work.

use rustix::process::{Pid, Signal, kill_process};
use tollgate_core::run::Event;

use crate::budget::{NOTHING, ROW, calls, done, play};

const MADE: &str = "## Status\\\\ncomplete\\\\n\\\\n## Abstract\\\\noutcome: made\\\\nverdict: n/a\\\\nfiles: 1 created, 1 modified, 0 deleted\\\\nnext_phase: n/a\\\\nopen_questions: 0\\\\n\\\\n## Files Created\\\\n- half.txt\\\\n\\\\n## Files Modified\\\\n- README.md\\\\n";

#[test]
fn an_agent_goes_on_in_its_session_and_with_its_work_after_its_driver_was_ended() {
    for signal in [Signal::KILL, Signal::TERM] {
        // It commits, writes on, and lays a hook that nobody is to start.
        let begins = "echo half > half.txt; git add -A; git commit -qm half; echo more >> README.md; touch .git/left; touch \"$HOME/.claude/begun\"; sleep 600";
        let goes_on = format!("cat half.txt; test ! -e .git/left && git status --porcelain >&2; {}", done(MADE));
        let act = format!("case $n in 1) {begins} ;; 2) {goes_on} ;; 3) sleep 600 ;; *) {} ;; esac", done(NOTHING));
        let mut play = play(ROW, "", &act);
        let mut driver = play.program(&["run", "../row.yaml"]);
        play.find_run(&mut driver);
        play.until("half of the work is there", |play| play.world.path("home/.claude/begun").exists().then_some(()));
        kill_process(Pid::from_child(&driver), signal).unwrap();
        driver.wait().unwrap();
        let mut driver = play.program(&["resume", "RUN"]);
        play.until("the reader is called", |play| (calls(play) == 3).then_some(()));
        let said = |call: u32| {
            std::fs::read_to_string(play.world.path(&format!("home/.claude/call-{call}/said"))).unwrap_or_default()
        };
        play.until("it was asked", |_| said(3).contains("ARGS").then_some(()));
        // What the agent told of its session before it was cut off is there; one that judges has it, too.
        play.until("it told its session", |play| play.log("reader", 1).contains("s-1").then_some(()));
        kill_process(Pid::from_child(&driver), signal).unwrap();
        driver.wait().unwrap();
        play.tollgate(&["resume", "RUN"]).exits(0);
        for call in [2, 4] {
            let said = said(call);
            assert!(said.contains("--resume s-1") && said.contains("You were cut off. Go on where you were"), "{said}");
        }
        assert!(!said(1).contains("--resume") && !said(3).contains("--resume"));
        assert_eq!(play.file("half.txt").as_deref(), Some("half\n"));
        assert!(play.file("README.md").unwrap().ends_with("more\n"));
        assert_eq!(play.count(|event| matches!(event, Event::AttemptLost(_))), 2);
        assert_eq!(play.count(|event| matches!(event, Event::AttemptReported(_))), 2);
        play.holds();
    }
}
