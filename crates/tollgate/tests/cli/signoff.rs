//! The sign-off, answers in advance, and who may answer.

use tollgate_core::run::Event;

use crate::play::{Play, TASK, script};

const STANDARD: [&str; 2] = ["--input", "complexity=standard"];

#[test]
fn nothing_starts_before_the_plan_is_signed_off_and_revise_closes_the_run() {
    let mut play = Play::new(TASK, &script(&[]));
    let said = play.start(&STANDARD).exits(4);
    assert_eq!(play.dispatched("developer"), 0);
    let shown = play.events().into_iter().find_map(|event| match event.event {
        Event::DecisionAsked(asked) => Some(asked.asked.shows),
        _ => None,
    });
    let task = tollgate_core::digest::Digest::of(TASK.as_bytes());
    assert_eq!(shown, Some(vec![task]), "the question is bound to the task file");
    insta::assert_snapshot!("sign-off-asked", play.told(&said));
    play.decide(&["dec_1"]).says("dec_1 is answered with an option: `approve`, `revise`");
    let said = play.decide(&["dec_1", "revise"]).exits(1);
    insta::assert_snapshot!("sign-off-revised", play.told(&said));
    assert_eq!((play.dispatched("developer"), play.changed_branch()), (0, false));
    play.holds();
    play.tollgate(&["resume", "RUN"]).exits(1).says("closed without success");
    play.tollgate(&["retry", "RUN"]).exits(1).says("TG0301");
}

#[test]
fn a_wrong_answer_in_advance_is_refused_and_there_is_no_answer_to_everything() {
    let mut play = Play::new(TASK, &script(&[]));
    for (answer, code) in [
        ("nowhere=approve", "TG0315"),
        ("sign-off=yes", "TG0315"),
        ("sign-off", "TG0601"),
        ("*=approve", "TG0315"),
        ("build=accept", "TG0315"),
        ("gaps=by-hand", "TG0315"),
        ("open-ends=by-hand", "TG0315"),
    ] {
        let words = [&STANDARD[..], &["--answer", answer]].concat();
        let said = play.start(&words).exits(2).says(code);
        insta::assert_snapshot!(format!("advance-{}", answer.replace('*', "all").replace('=', "-")), play.told(&said));
    }
    play.start(&[&STANDARD[..], &["--yes"]].concat()).exits(2).says("--yes");
    assert_eq!(play.run, "", "nothing was opened");
}

#[test]
fn an_answer_twice_happens_once_and_another_one_is_refused_and_recorded() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&STANDARD).exits(4);
    play.decide(&["dec_1", "maybe"]).exits(2).says("TG0305");
    play.decide(&["dec_9", "approve"]).exits(1).says("TG0303");
    play.decide(&["approve"]).exits(2).says("TG0601");
    // The only run that asks it need not be named.
    play.tollgate(&["decide", "dec_1", "approve", "--no-resume"]).exits(0);
    assert_eq!(play.dispatched("developer"), 0, "nobody drives");
    let before = play.events().len();
    let said = play.decide(&["dec_1", "approve", "--no-resume"]).exits(0);
    assert_eq!(play.events().len(), before, "nothing happened a second time");
    insta::assert_snapshot!("answered-twice", play.told(&said));
    play.tollgate(&["decide", "dec_1", "approve", "--no-resume"]).exits(0).says("already answered like this");
    let said = play.decide(&["dec_1", "revise"]).exits(1).says("TG0304");
    insta::assert_snapshot!("answered-otherwise", play.told(&said));
    assert_eq!(play.count(|event| matches!(event, Event::DecisionRefused(_))), 1);
    // Any unique beginning of an id will do.
    let start: String = play.run.trim_start_matches("run_").chars().take(5).collect();
    play.tollgate(&["resume", &start]).exits(0).says("succeeded");
    assert_eq!(play.dispatched("developer"), 1);
    play.tollgate(&["decide", "nonsense"]).exits(2).says("TG0601");
    play.tollgate(&["decide", "run_zzzzzzzz", "dec_1", "approve"]).exits(1).says("TG0317");
    play.tollgate(&["decide", "dec_1", "approve"]).exits(1).says("TG0303");
    // Also when the run is over.
    let before = play.events().len();
    play.decide(&["dec_1", "approve"]).exits(0).says("already answered like this");
    assert_eq!(play.events().len(), before, "nothing happened a second time");
    play.decide(&["dec_1", "revise"]).exits(1).says("TG0304");
    assert_eq!(play.count(|event| matches!(event, Event::DecisionRefused(_))), 2);
    play.holds();
}

/// What will never happen is not announced.
#[test]
fn a_run_that_was_cancelled_has_given_up_what_it_was_about_to_do() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "complexity=standard", "--no-wait"]).exits(4);
    play.decide(&["dec_1", "approve", "--no-resume"]).exits(0);
    assert!(play.tollgate(&["show", "RUN"]).out.contains("about to start"));
    play.tollgate(&["cancel", "RUN"]).exits(0);
    let shown = play.tollgate(&["show", "RUN"]).out;
    assert!(shown.contains("given up") && !shown.contains("about to start"), "{shown}");
    play.holds();
}
