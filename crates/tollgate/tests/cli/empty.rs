//! An empty change: it is asked about before it counts, and nothing of it is handed over.

use tollgate_core::run::Event;

use crate::happy::{SOLO, SOLO_COVERED};
use crate::play::{Play, TASK, else_};

const SIMPLE: [&str; 4] = ["--input", "complexity=simple", "--answer", "sign-off=approve"];

/// A developer finds nothing to do, and the check accepts.
fn play() -> Play {
    let idle = SOLO.split_once("report: ").unwrap().1.replace("files_created: [greet.sh, tests/greet.test.sh], ", "");
    let script = format!(
        "script: 1\nroles:\n  dev-tester: [{}]\n  dod-checker: [{}]\n",
        else_(&format!("report: {idle}")),
        else_(SOLO_COVERED)
    );
    Play::new(TASK, &script)
}

#[test]
fn a_run_that_changed_nothing_is_asked_about_and_hands_nothing_over() {
    let mut play = play();
    play.start(&[&SIMPLE[..], &["--answer", "@empty=accept"]].concat()).exits(2).says("TG0315");
    let said = play.start(&SIMPLE).exits(4);
    said.says("The whole change of this run is empty. Was there nothing to change?");
    let inbox = play.tollgate(&["inbox"]).exits(0).out;
    assert!(inbox.contains("Was there nothing to change?"), "{inbox}");
    let said = play.decide(&["dec_2", "accept"]).exits(0);
    assert!(!said.err.contains("tollgate land") && !said.err.contains("git log"), "{}", said.err);
    play.holds();
    assert_eq!(play.count(|event| matches!(event, Event::RunPublished(_))), 0);
    assert_eq!(play.world.git(&["branch", "--list", "tollgate/*"]), "");
    play.tollgate(&["land", "RUN", "--as", "merge"]).exits(1).says("error[TG0345]: the run changed nothing");
    let listed = play.tollgate(&["ls"]).exits(0).out;
    assert!(listed.contains("succeeded") && !listed.contains("tollgate land"), "{listed}");
    play.tollgate(&["explain", "TG0345"]).exits(0);
}

#[test]
fn who_says_that_something_is_missing_has_the_writer_start_again() {
    let mut play = play();
    play.start(&SIMPLE).exits(4);
    play.decide(&["dec_2", "hold", "--text", "greet.sh is still missing"]).exits(1).says("nothing was changed");
    play.tollgate(&["retry", "RUN"]).exits(4).says("The whole change of this run is empty");
    assert_eq!(play.dispatched("dev-tester"), 2);
    assert!(play.brief("dev-tester", 2).contains("greet.sh is still missing"));
    play.holds();
}
