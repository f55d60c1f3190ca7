//! How a worker's run went: malformed, blocked, incomplete, failed. None of it advances a run.

use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::{BLOCKED, BUILT, COVERED, Play, at, else_};

fn text(text: &str) -> String {
    format!("text: {}", serde_json::to_string(text).unwrap())
}

#[test]
fn a_report_that_cannot_be_used_halts_the_run_and_retry_dispatches_again() {
    let absent = text("I am done, everything works.");
    let unknown = text(
        "## Status\nfinished\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 0 created, 0 modified, 0 deleted\nnext_phase: dod-checker\nopen_questions: 0\n",
    );
    // Both places of a contradiction are shown.
    let contradicts = text(
        "## Status\ncomplete\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 2 created, 0 modified, 0 deleted\nnext_phase: dod-checker\nopen_questions: 1\n\n## Files Created\n- `greet.sh`\n\n## Open Questions\nNone\n",
    );
    let split = COVERED.replace("verdict: APPROVED, verified", "verdict: BLOCKED, verified");
    let none = COVERED.replace("verdict: APPROVED, verified", "verified");
    let (play, said) = Play::standard(&[
        ("developer", &[at(1, &absent), at(2, &unknown), at(3, &contradicts), else_(BUILT)]),
        ("dod-checker", &[at(1, &split), at(2, &none), at(3, &split), else_(COVERED)]),
    ]);
    let said = said.exits(1);
    insta::assert_snapshot!("absent", play.told(&said));
    play.holds();
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (3, 0), "asked again twice");
    // Resume renews nothing.
    play.tollgate(&["resume", "RUN"]).exits(1).says("halted");
    assert_eq!(play.dispatched("developer"), 3);
    play.tollgate(&["retry", "RUN", "nobody"]).exits(1);
    // A verdict that contradicts its section, or is missing, never counts.
    let said = play.tollgate(&["retry", "RUN", "backend"]).exits(1);
    said.says("TG0213").says("`## Verdict` is missing");
    assert_eq!(play.dispatched("reviewer"), 0);
    play.tollgate(&["retry", "RUN"]).exits(0).says("succeeded");
    play.holds();
}

#[test]
fn blocked_asks_word_for_word_and_nobody_starts_before_the_answer() {
    let (play, said) = Play::standard(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]);
    let said = said.exits(4);
    insta::assert_snapshot!(play.told(&said));
    assert_eq!(play.count(|event| matches!(event, Event::DecisionAsked(_))), 2, "the sign-off and one decision");
    play.tollgate(&["resume", "RUN"]).exits(4).says("Also in French?");
    assert_eq!(play.dispatched("developer"), 1);
    play.decide(&["dec_2"]).exits(2).says("TG0306");
    play.decide(&["dec_2", "--text", "Good day, and no French"])
        .exits(2)
        .says("TG0306")
        .says("--answer 1='ANSWER' --answer 2='ANSWER'");
    play.decide(&["dec_2", "--answer", "2=No French", "--no-resume"]).exits(0);
    play.decide(&["dec_2", "--text", "Good day"]).exits(2).says("dec_2 --answer 1='ANSWER'`");
    play.decide(&["dec_2", "--answer", "1=Good day"]).exits(0);
    let brief = play.brief("developer", 2);
    assert!(brief.contains("Good day") && brief.contains("No French") && brief.contains("Also in French?"), "{brief}");
    play.holds();
}

#[test]
fn incomplete_asks_and_what_was_written_is_there_for_who_goes_on() {
    let incomplete = r#"write: {half.sh: "echo\n"}, report: {status: incomplete, status_reason: out of budget, abstract: {outcome: half of it, next_phase: n/a}, files_created: [half.sh]}"#;
    let (play, said) = Play::standard(&[("developer", &[at(1, incomplete), else_(BUILT)])]);
    let said = said.exits(4);
    insta::assert_snapshot!("incomplete", play.told(&said));
    // Going on waives nothing: the checker looks at what is there.
    play.decide(&["dec_2", "accept"]).exits(0).silent_on("waived");
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (1, 1));
    assert_eq!(play.changed(), "A\thalf.sh\nA\ttests/greet.test.sh\n");
    play.holds();
}

#[test]
fn a_worker_that_fails_or_exits_badly_halts_the_run_whatever_it_reported() {
    let failed = r#"report: {status: failed, status_reason: the compiler is missing, abstract: {outcome: nothing, next_phase: n/a}}"#;
    let exits = format!("exit: 7, {BUILT}");
    let (play, said) = Play::standard(&[("developer", &[at(1, &exits), at(2, failed), else_(BUILT)])]);
    let said = said.exits(1).says("its program exited with 7");
    insta::assert_snapshot!(play.told(&said));
    play.tollgate(&["retry", "RUN"]).exits(1).says("the compiler is missing");
    play.tollgate(&["retry", "RUN"]).exits(0);
    play.holds();
    // What the failed attempt wrote was measured and is built upon.
    let leases = play.count(
        |event| matches!(event, Event::AttemptStarted(started) if matches!(started.work, Work::Dispatch { .. })),
    );
    assert_eq!(leases, 6);
}
