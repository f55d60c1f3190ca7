//! `build-plan` when all goes well, and what the run leaves behind.

use tollgate_core::run::Event;

use crate::play::{APPROVED, Play, TASK, else_, script};
use crate::world::TOLLGATE;

/// In `simple` one agent writes code and tests, and the checker looks at every row.
pub const SOLO: &str = r#"write: {greet.sh: "echo Hello\n", tests/greet.test.sh: "sh greet.sh\n"}, report: {status: complete, abstract: {outcome: built and tested, next_phase: dod-checker}, files_created: [greet.sh, tests/greet.test.sh], dod_coverage: [{mark: "✓", row: DoD-1}, {mark: "✓", row: DoD-2}]}"#;
pub const SOLO_COVERED: &str = r#"report: {status: complete, abstract: {outcome: every row holds, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}"#;

#[test]
fn standard_ends_with_exactly_the_workers_tree_on_a_branch() {
    let mut play = Play::new(TASK, &script(&[]));
    let path = std::env::var_os("PATH").unwrap();
    let git = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|path| path.exists()).unwrap();
    let calls = play.world.path("calls");
    play.world.agent("git", &format!("#!/bin/sh\necho x >> {}\nexec {} \"$@\"\n", calls.display(), git.display()));
    let said = play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve"]).exits(0);
    // Starting git is most of what a small run waits for.
    let count = std::fs::read_to_string(calls).unwrap().lines().count();
    assert!((1..=40).contains(&count), "git was started {count} times");
    assert_eq!(play.changed(), "A\tgreet.sh\nA\ttests/greet.test.sh\n");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hello\n"));
    assert_eq!(play.file("tests/greet.test.sh").as_deref(), Some("sh greet.sh\n"));
    for role in ["developer", "dod-checker", "reviewer", "tester"] {
        assert_eq!(play.dispatched(role), 1, "{role}");
    }
    assert_eq!(play.count(|event| matches!(event, Event::FindingOpened(_))), 0);
    play.holds();
    insta::assert_snapshot!(play.told(&said));
}

#[test]
fn an_open_question_brings_the_reviewer_and_the_end_waits_for_its_answer() {
    let asking = SOLO.replace("report: {", "report: {open_questions: [\"Is French wanted later?\"], ");
    let review = APPROVED.replace("next_phase: tester", "next_phase: n/a");
    let (play, said) = Play::simple(&[
        ("dev-tester", &[else_(&asking)]),
        ("dod-checker", &[else_(SOLO_COVERED)]),
        ("reviewer", &[else_(&review)]),
    ]);
    let said = said.exits(4).says("Is French wanted later?");
    assert_eq!(play.dispatched("reviewer"), 1);
    assert_eq!(play.count(|event| matches!(event, Event::RunClosed(_))), 0);
    play.decide(&["dec_2", "--text", "no"]).exits(0).says("succeeded");
    assert_eq!((play.dispatched("dev-tester"), play.dispatched("reviewer")), (1, 1));
    assert_eq!(play.changed(), "A\tgreet.sh\nA\ttests/greet.test.sh\n");
    play.holds();
    insta::assert_snapshot!(play.told(&said));
}

#[test]
fn a_command_worker_gets_its_brief_and_a_byte_that_is_no_text_does_not_take_its_report() {
    let mut play = Play::new(TASK, &script(&[]));
    let report = "## Status\ncomplete\n\n## Abstract\noutcome: built\nverdict: n/a\nfiles: 1 created, 0 modified, 0 deleted\nnext_phase: dod-checker\nopen_questions: 0\n\n## Files Created\n- `greet.sh`\n\n## DoD coverage\n- ✓ DoD-1\n";
    let agent = format!(
        "#!/bin/sh\ncat > /dev/null\n[ \"$1\" = 'two words' ] || exit 8\ntest -s \"$TOLLGATE_BUNDLE/brief.md\" || exit 9\n\
         printf 'caf\\351 is built\\n\\n'\necho 'echo Hi' > greet.sh\ncat <<'END'\n{report}END\n"
    );
    play.world.agent("agent", &agent);
    let worker = "developer=command:agent 'two words'";
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve", "--worker", worker];
    play.start(&words).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hi\n"));
    assert_eq!(play.dispatched("tester"), 1, "the script acts for the other roles");
    play.tollgate(&["show", "RUN"]).exits(0);
    play.holds();
}

/// A script reports by the command instead of writing Markdown; so does one that judges.
#[test]
fn a_script_reports_by_the_command() {
    let mut play = Play::new(TASK, &script(&[]));
    let built = format!("{TOLLGATE} report complete --file greet.sh --row DoD-1=pass:greet.sh");
    play.world.agent("builds", &format!("#!/bin/sh\ncat > /dev/null\necho 'echo Hi' > greet.sh\n{built}\n"));
    // The first verdict contradicts its row: nothing is written, and the worker is asked again.
    let judged = format!(
        "[ \"$TOLLGATE_ITERATION\" != 1 ] || {{ {TOLLGATE} report complete --verdict accept --row DoD-1=fail:x; echo; exit 0; }}\n\
         {TOLLGATE} report complete --verdict accept --row DoD-1=pass:seen"
    );
    play.world.agent("checks", &format!("#!/bin/sh\ncat > /dev/null\n{judged}\n"));
    let words = ["--input", "complexity=standard", "--answer", "sign-off=approve"];
    let workers = ["--worker", "developer=command:builds", "--worker", "dod-checker=command:checks"];
    play.start(&[&words[..], &workers[..]].concat()).exits(0).silent_on("did not change");
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo Hi\n"));
    assert_eq!((play.dispatched("developer"), play.dispatched("dod-checker")), (1, 2));
    play.holds();
}

#[test]
fn a_branch_that_somebody_else_put_there_is_theirs() {
    let mut play = Play::new(TASK, &script(&[]));
    play.start(&["--input", "complexity=standard"]).exits(4);
    let branch = format!("tollgate/{}", play.run);
    play.world.git(&["branch", &branch, "main"]);
    play.decide(&["dec_1", "approve"]).exits(3).says("TG0508");
    play.tollgate(&["resume", "RUN"]).exits(3).says("TG0508");
    assert_eq!(play.changed(), "", "it is as it was");
    play.world.git(&["branch", "-D", &branch]);
    play.tollgate(&["resume", "RUN"]).exits(0).says("the tree is on branch");
    assert_eq!(play.changed(), "A\tgreet.sh\nA\ttests/greet.test.sh\n");
    assert_eq!(play.count(|event| matches!(event, Event::RunPublished(_))), 1);
    play.holds();
}
