//! `contract`.

use crate::world::World;

const CHECKED: &str = "I looked at everything.

## Status
complete

## Status reason

## Abstract
outcome: one row is missing
verdict: BLOCKED
files: 0 created, 0 modified, 0 deleted
next_phase: n/a
open_questions: 0

## Verdict
BLOCKED

## Verified rows
- DoD-1 — seen in src/main.rs:1

## Gaps
- DoD-2 — no test names it

## Reading scope used
src

## Files Created
None

## Files Modified
None

## Open Questions
None
";

#[test]
fn a_report_is_checked_by_its_contract() {
    let mut world = World::new();
    world.write("checked.md", CHECKED);
    world.write("contradiction.md", CHECKED.replace("verdict: BLOCKED", "verdict: APPROVED"));
    world.write("silent.md", "All done, everything works!\n");
    world.type_in("contract check --contract status-block --role dod-checker checked.md");
    world.type_in("contract check --contract status-block --role dod-checker contradiction.md silent.md");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn with_json_each_file_is_one_line() {
    let world = World::new();
    world.write("checked.md", CHECKED);
    world.write("silent.md", "All done!\u{1b}[2J\n");
    let (lines, exit) =
        world.json("contract check --json --contract status-block@1 --role dod-checker checked.md silent.md");
    assert_eq!((lines.len(), exit), (2, 1));
    assert_eq!(
        (&lines[0]["file"], &lines[0]["contract"], &lines[0]["valid"]),
        (&"checked.md".into(), &"status-block@1".into(), &true.into())
    );
    assert_eq!((&lines[0]["report"]["health"], &lines[0]["report"]["verdict"]), (&"ok".into(), &"reject".into()));
    assert_eq!(lines[0]["diagnostics"], serde_json::json!([]));
    assert_eq!((&lines[1]["valid"], &lines[1]["report"]["health"]), (&false.into(), &"malformed".into()));
    let diagnostic = &lines[1]["diagnostics"][0];
    for key in ["code", "severity", "message", "line", "column", "hint"] {
        assert!(diagnostic.get(key).is_some(), "{key}: {diagnostic}");
    }
}

#[test]
fn what_cannot_be_read_is_not_what_is_wrong() {
    let mut world = World::new();
    world.write("checked.md", CHECKED);
    world.write("latin1.md", b"## Status\ncompl\xe8te\n");
    world.type_in("contract check --contract status-block absent.md checked.md");
    world.type_in("contract check --contract status-block .");
    world.type_in("contract check --contract status-block latin1.md");
    world.type_with("contract check --contract status-block --json -", "");
    world.type_in("contract check --contract status-block --role devloper checked.md");
    world.type_in("contract check --contract build-plan.task --role developer checked.md");
    world.type_in("contract check --contract status-blok checked.md").type_in("contract check --contract status-block");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn a_report_at_the_end_of_a_long_transcript_counts() {
    let world = World::new();
    let noise = "running the tests again\n".repeat(100_000);
    world.write("long.md", format!("{noise}{CHECKED}"));
    let (lines, exit) = world.json("contract check --json --contract status-block --role dod-checker long.md");
    assert_eq!((exit, &lines[0]["report"]["verdict"]), (0, &"reject".into()));
    let warning = &lines[0]["diagnostics"][0];
    assert_eq!((&warning["code"], &warning["line"]), (&"TG0200".into(), &100_003.into()));
}

#[test]
fn a_task_file_is_a_document() {
    let mut world = World::new();
    world.write("task.md", "# Greet\n\n## Definition of Done\n\n- It greets `cmd: make greet`\n- It is documented\n");
    world.write("empty.md", "# Greet\n");
    world
        .type_in("contract check --contract build-plan.task task.md")
        .type_in("contract check --contract build-plan.task --json task.md empty.md");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn contracts_are_listed_and_shown() {
    let mut world = World::new();
    world.type_in("contract list").type_in("contract show nonsense");
    insta::assert_snapshot!(world.transcript);
    let (shown, exit) = world.json("contract show status-block --role tester --json");
    assert_eq!((exit, &shown[0]["id"], &shown[0]["kind"]), (0, &"status-block@1".into(), &"report".into()));
    assert!(shown[0]["instructions"].as_str().unwrap().contains("## Status"));
    assert_eq!(shown[0]["schema"]["type"], "object");
}
