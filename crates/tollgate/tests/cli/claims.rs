//! What a success may rest on: every row, the tree that is handed over, the newest words, and nobody's claim alone.

use crate::play::{APPROVED, BUILT, CHANGES, COVERED, GAP, Play, TASK, TESTED, at, else_, script};

const STANDARD: [&str; 4] = ["--input", "complexity=standard", "--answer", "sign-off=approve"];

/// A worker writes a name as it is, in git's quotes or from where every path begins; git, and so the measurement, has its own way.
#[test]
fn a_name_may_be_reported_as_it_is_quoted_or_from_the_root() {
    let odd = TESTED
        .replace("write: {", r#"write: {'tests/a\b.sh': "a\n", 'tests/c\d.sh': "c\n", "#)
        .replace("[tests/greet.test.sh]", r#"['tests/a\b.sh', '"tests/c\\d.sh"', ./tests/greet.test.sh]"#);
    let (play, said) = Play::standard(&[("tester", &[else_(&odd)])]);
    said.exits(0).silent_on("did not change").silent_on("does not name it");
    assert_eq!(play.file(r"tests/a\b.sh").as_deref(), Some("a\n"));
    assert_eq!(play.file(r"tests/c\d.sh").as_deref(), Some("c\n"));
}

/// Who takes the failing test away and names another one is not believed until it names the one that is gone.
#[test]
fn deletions_are_held_against_the_files_that_are_gone() {
    let names = |path: &str| TESTED.replace("report: {", &format!("report: {{files_deleted: [{path}], "));
    let hides = names("tests/other.sh").replace("write: {", "delete: [tests/old.sh], write: {");
    let testers = [at(1, &hides), else_(&names("tests/old.sh"))];
    let mut play = Play::new(TASK, &script(&[("tester", &testers)]));
    play.world.write("tests/old.sh", "exit 1\n");
    play.world.commit("a test that fails");
    play.start(&STANDARD)
        .exits(0)
        .says("tester left no valid report")
        .says("tests/old.sh changed, but the report does not name it, and 1 more");
    assert_eq!(play.dispatched("tester"), 2);
    let brief = play.brief("tester", 2);
    assert!(brief.contains("the report names tests/other.sh as changed, but it did not change"), "{brief}");
}

/// What moved counts under both names, and what is gone was changed.
#[test]
fn a_file_that_is_gone_or_moved_is_named_once() {
    let moves = BUILT.replace("write: {", "delete: [hello.sh], write: {");
    let clears = TESTED
        .replace("report: {", "report: {files_modified: [tests/old.sh], ")
        .replace("write: {", "delete: [tests/old.sh], write: {");
    let roles = [("developer", [else_(&moves)]), ("tester", [else_(&clears)])];
    let roles: Vec<(&str, &[String])> = roles.iter().map(|(role, entries)| (*role, &entries[..])).collect();
    let mut play = Play::new(TASK, &script(&roles));
    play.world.write("hello.sh", "echo Hello\n");
    play.world.write("tests/old.sh", "exit 1\n");
    play.world.commit("a greeting under another name, and a test that fails");
    play.start(&STANDARD).exits(0).silent_on("does not name it").silent_on("left no valid report");
    assert_eq!((play.dispatched("developer"), play.dispatched("tester")), (1, 1));
    assert_eq!((play.file("hello.sh"), play.file("tests/old.sh")), (None, None));
}

#[test]
fn the_commands_of_rows_hold_on_the_tree_that_is_handed_over() {
    let task = TASK.replace(
        "- greet.sh greets",
        "- no test fails `cmd: sh -c 'for t in tests/*.sh; do [ ! -e $t ] || sh $t || exit 1; done'`",
    );
    let breaks = TESTED.replace(r"sh greet.sh\n", r"exit 1\n");
    let mends = TESTED.replace("sh greet.sh", "true");
    let testers = [at(1, &breaks.replace("greet.test.sh", "a.sh")), else_(&mends.replace("greet.test.sh", "a.sh"))];
    let mut play = Play::new(&task, &script(&[("tester", &testers)]));
    // It held before the tester came; what the tester added makes it fail, and that is nobody's word.
    play.world.write("tests/.keep", "");
    play.world.commit("tests");
    let said = play.start(&STANDARD);
    said.says("opened: the command of DoD-1 fails").says("backend  needs a new check");
}

#[test]
fn the_newest_words_of_a_finding_reach_who_mends_it() {
    let gap = |number: u32| GAP.replace("greet.sh does not greet", &format!("GAP-{number}"));
    let checks = [at(1, &gap(1)), at(2, &gap(2)), else_(COVERED)];
    let worse = CHANGES.replace(
        "severity: major, path: greet.sh, line: 1, text: the name is not quoted",
        "severity: critical, path: b.sh, line: 9, repeats: fnd_2, text: it deletes data",
    );
    let reviews = [at(1, CHANGES), at(2, &worse), else_(APPROVED)];
    let (play, said) = Play::standard(&[("dod-checker", &checks), ("reviewer", &reviews)]);
    said.exits(0).says("fnd_1 now says: GAP-2");
    let brief = play.brief("developer", 3);
    assert!(brief.contains("GAP-2") && !brief.contains("GAP-1"), "{brief}");
    let brief = play.brief("developer", 5);
    assert!(brief.contains("critical") && brief.contains("`b.sh:9`") && brief.contains("it deletes data"), "{brief}");
    assert!(!brief.contains("fnd_1"), "what is fixed is not asked for again: {brief}");
}

#[test]
fn what_an_unfinished_judge_says_is_shown_to_who_decides() {
    let unfinished = r#"report: {status: incomplete, status_reason: out of turns, abstract: {outcome: half, next_phase: n/a}, dod_coverage: [{mark: "✗", row: "DoD-1: greet.sh is wrong"}, {mark: "✓", row: "DoD-2: a test"}]}"#;
    let (_, said) = Play::standard(&[("tester", &[else_(unfinished)])]);
    said.exits(4).says("it says that DoD-1 does not hold: ").says("greet.sh is wrong");
    let unfinished = r#"report: {status: incomplete, status_reason: out of turns, abstract: {outcome: half, verdict: n/a, next_phase: n/a}, findings: [{severity: critical, path: greet.sh, line: 1, text: it deletes data}]}"#;
    let (play, said) = Play::standard(&[("reviewer", &[else_(unfinished)])]);
    let dec = "dec_2";
    said.exits(4)
        .says("it found in greet.sh: ")
        .says("it deletes data")
        .says("accept")
        .says("waives the judgement of reviewer");
    // Accept with the gaps: the person's own judgement stands for the one that is missing, by name.
    play.decide(&[dec, "accept"]).exits(0).says("ada waived the judgement of reviewer").says("a person waived");
}
