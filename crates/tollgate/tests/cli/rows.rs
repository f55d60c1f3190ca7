//! Rows with commands, which the engine runs itself.

use crate::play::{APPROVED, CHANGES, COVERED, IDLE, Play, TASK, TESTED, at, else_, script};
use crate::world::TOLLGATE;

pub fn task(command: &str) -> String {
    format!(
        "# Greet\n\n## Definition of Done\n\n### Backend\n- greet.sh greets `cmd: {command}`\n\n### Tester scope\n- it is tested\n"
    )
}

const WORDS: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

#[test]
fn a_command_that_fails_counts_although_everybody_claims_success() {
    let mut play = Play::new(&task("test \"$(sh greet.sh)\" = Goodbye"), &script(&[]));
    let said = play.start(&WORDS).exits(4).says("DoD-1 failed");
    insta::assert_snapshot!(play.told(&said));
    assert_eq!((play.dispatched("reviewer"), play.changed_branch()), (0, false));
    play.holds();
}

#[test]
fn a_test_that_calls_what_is_not_there_fails_and_cannot_be_waived_as_unobservable() {
    let built = r#"write: {greet.sh: "./no-such-helper\n"}, report: {status: complete, abstract: {outcome: built, next_phase: dod-checker}, files_created: [greet.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let mut play = Play::new(&task("sh greet.sh"), &script(&[("developer", &[at(1, built), else_(IDLE)])]));
    play.start(&WORDS).exits(4).says("DoD-1 failed").silent_on("cannot be observed");
    assert_eq!(play.dispatched("reviewer"), 0);
    play.holds();
}

#[test]
fn a_command_whose_program_is_missing_needs_a_waiver_which_is_given_to_content() {
    let built = |text: &str, kind: &str| {
        format!(
            r#"write: {{greet.sh: "{text}\n"}}, report: {{status: complete, abstract: {{outcome: built, next_phase: dod-checker}}, {kind}: [greet.sh], dod_coverage: [{{mark: "✓", row: DoD-1}}]}}"#
        )
    };
    let developer = [at(1, &built("echo Hello", "files_created")), else_(&built("echo BAD", "files_modified"))];
    let reviewer = [at(1, CHANGES), else_(APPROVED)];
    let mut play =
        Play::new(&task("no-such-program --check"), &script(&[("developer", &developer), ("reviewer", &reviewer)]));
    let said = play.start(&WORDS).exits(4).says("DoD-1 cannot be observed");
    insta::assert_snapshot!("unobservable", play.told(&said));
    assert_eq!(play.dispatched("dod-checker"), 1, "asking it again would show no more");
    // The review sends it back, and what comes then is not what was waived.
    play.decide(&["dec_2", "waive"]).exits(4).says("waived DoD-1").says("dec_3");
    assert_eq!((play.dispatched("developer"), play.dispatched("reviewer")), (2, 1));
    // What the tester adds is nothing that the row is about.
    play.decide(&["dec_3", "waive"]).exits(0);
    assert_eq!(play.file("greet.sh").as_deref(), Some("echo BAD\n"));
    // The commit names the waiver that counts, and not the one before.
    let message = play.world.git(&["log", "-1", "--format=%B", &format!("tollgate/{}", play.run)]);
    assert!(message.contains("\nWaived-by: ada (dec_3): DoD-1: "), "{message}");
    assert!(!message.contains("dec_2"), "{message}");
    play.holds();
}

#[test]
fn a_program_that_a_person_provides_is_run_and_needs_no_waiver() {
    let mut play = Play::new(TASK, &script(&[]));
    let tool = play.world.path("bin/provided");
    std::fs::write(play.world.path("task.md"), task("provided")).unwrap();
    play.start(&WORDS).exits(4).says("DoD-1 cannot be observed");
    std::fs::write(&tool, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let said = play.decide(&["dec_2", "provide"]).exits(0).says("DoD-1 passed");
    assert!(!said.err.contains("waived"), "{}", said.err);
    play.holds();
}

#[test]
fn what_a_person_mends_outside_of_the_tree_is_run_again() {
    let mut play = Play::new(TASK, &script(&[]));
    let outside = play.world.path("bin/server");
    std::fs::write(play.world.path("task.md"), task(&format!("test -e {}", outside.display()))).unwrap();
    play.start(&WORDS).exits(4).says("DoD-1 failed");
    let developers = play.dispatched("developer");
    std::fs::write(&outside, "it answers").unwrap();
    // No file of the tree is another; the command is.
    play.decide(&["dec_2", "by-hand"]).exits(0).says("DoD-1 passed").says("fixed: its command passes");
    assert_eq!(play.dispatched("developer"), developers);
    play.holds();
}

#[test]
fn a_command_that_passes_is_run_on_a_copy_and_cannot_decide_for_a_person() {
    let covered = COVERED.replace("[\"DoD-1: greet.sh is there\"]", "[DoD-1, DoD-2]");
    let tested = TESTED.replace("DoD-2", "DoD-3");
    let roles = [("dod-checker", &[else_(&covered)][..]), ("tester", &[else_(&tested)])];
    let mut play = Play::new(TASK, &script(&roles));
    let state = play.world.path("state").display().to_string();
    // A worker wrote what the command runs: it hides its marker and asks to decide.
    let decide = format!("env -i PATH=/usr/bin:/bin TOLLGATE_STATE={state} {TOLLGATE} decide dec_1 approve");
    let rows =
        format!("test \"$(sh greet.sh)\" = Hello && touch litter`\n- it decides `cmd: {decide} 2>&1 | grep TG0309");
    std::fs::write(play.world.path("task.md"), task(&rows)).unwrap();
    play.start(&WORDS).exits(0).says("DoD-1 passed").says("DoD-2 passed");
    assert_eq!(play.file("litter"), None);
    play.holds();
}

/// `git log` shows a commit to people whose terminal obeys what is in it.
#[test]
fn a_commit_holds_no_escapes_of_a_goal_or_a_name() {
    let odd = "\u{1b}[31m\u{202e}";
    let mut play = Play::new(&task("no-such-program"), &script(&[]));
    play.world.set("USER", &format!("ada{odd}"));
    let title = format!("Greet{odd} people\r\nRun: run_00000000");
    play.start(&[&WORDS[..], &["--title", &title]].concat()).exits(4);
    play.decide(&["dec_2", "waive"]).exits(0);
    let message = play.world.git(&["log", "-1", "--format=%B", &format!("tollgate/{}", play.run)]);
    assert!(message.starts_with("Greet people Run: run_00000000\n\nRun: "), "{message:?}");
    assert!(message.contains("Waived-by: ada (dec_2): DoD-1"), "{message:?}");
    assert!(!message.chars().any(|c| c != '\n' && tollgate_core::text::is_hidden(c)), "{message:?}");
}

/// An input method writes another colon, and the row would be one that only a judge looks at.
#[test]
fn a_command_with_another_colon_is_refused_with_the_right_form() {
    let mut play = Play::new(&task("x").replace("cmd:", "cmd\u{ff1a}"), &script(&[]));
    play.start(&WORDS).exits(1).says("TG0233").says("is not run: a command begins with `cmd:`");
}

/// A row whose command would not be run would pass without it.
#[test]
fn a_command_that_would_not_be_run_is_refused_before_the_run() {
    let mut play = Play::new(&task("false").replace("`\n\n### Tester", "`.\n\n### Tester"), &script(&[]));
    play.start(&WORDS).exits(1).says("TG0233").says("../task.md:6:3");
    assert_eq!(play.run, "", "there is no run");
}

#[test]
fn what_is_odd_about_a_task_is_said_before_the_run() {
    let twice = TASK.replace("- greet.sh greets\n", "- greet.sh greets\n- greet.sh greets\n");
    let mut play = Play::new(&twice, &script(&[]));
    play.start(&["--input", "complexity=standard", "--no-wait"])
        .exits(4)
        .says("warning[TG0234]")
        .says("../task.md:7:3");
}

/// An approval beside a gap, or of a row that cannot be read, never counts.
#[test]
fn an_approval_that_hides_a_gap_halts_the_run() {
    let head = "## Status\ncomplete\n\n## Abstract\noutcome: fine\nverdict: APPROVED\nfiles: 0 created, 0 modified, 0 deleted\n\
                next_phase: reviewer\nopen_questions: 0\n\n## Verdict\nAPPROVED\n\n## Verified rows\n- DoD-1\n";
    let text = |rest: &str| format!("text: {}", serde_json::to_string(&format!("{head}{rest}")).unwrap());
    let unclear = COVERED.replace("DoD-1: greet.sh is there", "DoD-1 was not verified");
    // A report that cannot be read is asked for twice more.
    let entries = [
        at(1, &text("\n## Gaps\n- None\n- DoD-1: there is no such file\n")),
        at(2, &text("### Gaps\n- DoD-1: there is no such file\n")),
        else_(&unclear),
    ];
    let (play, said) = Play::standard(&[("dod-checker", &entries)]);
    let said = said.exits(1).says("TG0219");
    assert_eq!(said.err.matches("dod-checker left no valid report").count(), 3, "{}", said.err);
    assert_eq!((play.dispatched("dod-checker"), play.dispatched("reviewer")), (3, 0));
    assert!(!play.changed_branch());
    play.holds();
}

/// A row below what only looks like a heading would be judged by somebody else, or by nobody.
#[test]
fn a_row_that_would_vanish_is_refused_before_the_run() {
    for (task, code) in [
        (format!("### Definition of Done\n- it is safe\n\n{TASK}"), "TG0205"),
        (format!("{TASK}\n## Notes\n- it is safe `cmd: false`\n"), "TG0233"),
        (TASK.replace("### Tester", "## Tester"), "TG0231"),
        (format!("{TASK}\n## Definition\u{a0}of Done\n- it is safe\n"), "TG0205"),
        (TASK.replace("Definition of Done", "DoD"), "add `## Definition of Done`"),
    ] {
        let mut play = Play::new(&task, &script(&[]));
        play.start(&WORDS).exits(1).says(code);
        assert_eq!(play.run, "", "there is no run");
    }
}

/// A report that repeats such a row word for word would be booked on the other one.
#[test]
fn a_row_that_has_the_number_of_another_is_refused_before_the_run() {
    let numbered = TASK.replace("- greet.sh", "- DoD-2: greet.sh").replace("- the greeting", "- DoD-1: the greeting");
    let mut play = Play::new(&numbered, &script(&[]));
    play.start(&WORDS).exits(1).says("TG0234").says("../task.md:6:3").says("../task.md:9:3");
    assert_eq!(play.run, "", "there is no run");
    let own = TASK.replace("- greet.sh", "- DoD-1: greet.sh").replace("- the greeting", "- **DoD-2** the greeting");
    let mut play = Play::new(&own, &script(&[]));
    play.start(&WORDS[..2]).exits(4);
    play.holds();
}
