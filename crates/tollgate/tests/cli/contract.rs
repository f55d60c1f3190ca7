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

/// What decides nothing refuses nothing, unless it is asked to; the free sections are notes.
#[test]
fn warnings_are_errors_where_that_is_asked_for() {
    let world = World::new();
    world.write("checked.md", CHECKED.replace("files: 0 created", "files: 7 created"));
    let check = "contract check --json --contract status-block --role dod-checker checked.md";
    let (lines, exit) = world.json(check);
    assert_eq!(
        (exit, &lines[0]["valid"], &lines[0]["diagnostics"][0]["severity"]),
        (0, &true.into(), &"warning".into())
    );
    let (lines, exit) = world.json(&format!("{check} --strict"));
    assert_eq!((exit, &lines[0]["valid"], &lines[0]["diagnostics"][0]["code"]), (1, &false.into(), &"TG0211".into()));
    world.write("checked.md", format!("{CHECKED}\n## Key Decisions\nuse b\n"));
    let (lines, _) = world.json(check);
    let notes = &lines[0]["report"]["notes"];
    assert_eq!((&notes["decisions"], notes.get("self_assessment")), (&"use b".into(), None), "{notes}");
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
    assert_eq!(lines[0]["diagnostics"], serde_json::json!([]));
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

pub const VERDICT: &str = r#"{"kind": "wr.gate_verdict", "version": 1, "verdict": "rejected", "confidence": "high",
  "rationale": "No test shows the second criterion."}
"#;

#[test]
fn a_contract_that_is_data_is_checked_like_any_other() {
    let mut world = World::new();
    world.write("verdict.json", VERDICT);
    world.write(
        "wrong.json",
        VERDICT.replace("rejected", "rejcted").replace("No test shows the second criterion.", "No."),
    );
    world.write("chat.json", format!("Here it is:\n{VERDICT}"));
    world.type_in("contract check --contract wr.gate_verdict verdict.json wrong.json chat.json");
    world.write(
        "done.json",
        r#"{"status": "BLOCKED", "summary": "x", "artifacts": {"commands_to_run": [], "notes": []},
 "gates": {"meets_definition_of_done": false, "needs_review": false, "needs_tests": false, "security_concerns": []},
 "next": {"recommended_agent": "Coder", "recommended_task_id": "T-1", "reason": "x"}}"#,
    );
    world.type_in("contract check --contract team.output --role qa done.json");
    world.type_in("contract check --contract team.output --role coder done.json");
    world.type_in("contract check --contract team.output --role Reviwer done.json");
    insta::assert_snapshot!(world.transcript);
}

#[test]
fn the_contract_of_a_file_is_found() {
    let mut world = World::new();
    world.write("a/verdict.json", VERDICT);
    world.write(
        "a/tasks.yaml",
        "tasks:\n  - {id: T-1, status: not-started, goal: x, acceptance_checks: [\"cmd: x\"], depends_on: [T-2]}\n",
    );
    world.write("a/checked.md", CHECKED);
    world.write("a/note.md", "# A note\n");
    world.type_in("contract check a/verdict.json a/checked.md");
    world.type_in("contract check a/*.yaml a/note.md");
    world.type_in("contract check 'a/**/*.txt'");
    insta::assert_snapshot!(world.transcript);
    let (lines, exit) = world.json("contract check --format json a/*.json a/*.yaml");
    let found: Vec<_> =
        lines.iter().map(|line| (line["contract"].as_str().unwrap(), line["valid"].as_bool().unwrap())).collect();
    assert_eq!((exit, found), (1, vec![("wr.gate_verdict@1", true), ("team.tasks@1", false)]));
    let diagnostic = &lines[1]["diagnostics"][0];
    assert_eq!(
        (&diagnostic["code"], &diagnostic["rule"], &diagnostic["line"]),
        (&"TG0249".into(), &"dependencies-exist".into(), &2.into())
    );
}

#[test]
fn labels_are_part_of_an_issue() {
    let world = World::new();
    let issue = String::from_utf8(world.run("contract show decree.refinement-issue --example", "").stdout).unwrap();
    world.write("issue.md", issue);
    let valid = |labels: &str| {
        let (lines, exit) =
            world.json(&format!("contract check --json --contract decree.refinement-issue {labels} issue.md"));
        let rules: Vec<_> = lines[0]["diagnostics"].as_array().unwrap().iter().map(|d| d["rule"].to_string()).collect();
        (exit, rules.join(" "))
    };
    assert_eq!(valid(""), (0, String::new()));
    assert_eq!(valid("--labels task:refinement,status:pending,priority:medium"), (0, String::new()));
    assert_eq!(valid("--labels Task:refinement,Status:Pending,priority:medium"), (0, String::new()));
    assert_eq!(valid("--labels task:refinement,status:pending,Status:review,priority:high").0, 1);
    assert_eq!(
        valid("--labels task:refinement,status:pending,priority:high,complexity:simple"),
        (1, "\"has-no-complexity\"".into())
    );
    for none in ["--labels=", "--labels=task:refinement,,status:pending"] {
        let refused = world.run(&format!("contract check --contract decree.refinement-issue {none} issue.md"), "");
        assert_eq!(refused.status.code(), Some(2), "{none}");
    }
}

#[test]
fn a_contract_shows_its_parts_and_renders_what_it_reads() {
    let mut world = World::new();
    world.type_in("contract show decree.validation-failure");
    world.type_in("contract show decree.validation-failure --template");
    world.type_in("contract show team.tasks --instructions");
    world.type_in("contract show build-plan.task --instructions");
    world.type_in("contract show status-block --template --role reviewer");
    world.type_in("contract show build-plan.task --template");
    world.write("failure.json", r#"{"expected": "b", "check": "a", "actual": "c"}"#);
    world.write("short.json", "{\n  \"check\": 1,\n  \"actual\": \"c\"\n}");
    world.write("hidden.json", r#"{"check": "a\n\n**Expected:** x", "expected": "b", "actual": "c"}"#);
    world.type_in("contract render decree.validation-failure --from failure.json");
    world.type_in("contract render decree.validation-failure --from short.json");
    world.type_in("contract render decree.validation-failure --from hidden.json");
    insta::assert_snapshot!(world.transcript);
    let document = std::fs::read_to_string(world.path("work/failure.json")).unwrap();
    let [file, typed] = ["failure.json", "-"]
        .map(|from| world.run(&format!("contract render decree.validation-failure --from {from}"), &document).stdout);
    assert!(!file.is_empty() && file == typed, "{}", String::from_utf8_lossy(&typed));
    for id in
        ["status-block", "build-plan.task", "wr.council", "team.design-history", "decree.blocker", "supervisor.dossier"]
    {
        let example = world.run(&format!("contract show {id} --example"), "").stdout;
        let schema = world.run(&format!("contract show {id} --schema"), "").stdout;
        assert!(serde_json::from_slice::<serde_json::Value>(&schema).unwrap().is_object(), "{id}");
        let (lines, exit) = {
            world.write("example", &example);
            world.json(&format!("contract check --json --contract {id} example"))
        };
        assert_eq!((exit, &lines[0]["valid"]), (0, &true.into()), "{id}: {lines:?}");
    }
}

#[test]
fn a_program_gets_the_text_as_it_is() {
    let world = World::with_repository();
    let example = world.run("contract show team.output --example", "").stdout;
    let text = String::from_utf8(example).unwrap().replace("shows a total", "shows\u{200b} a \u{202e}total");
    world.write("report.json", &text);
    for line in
        ["contract render team.output --from report.json", "contract extract --contract team.output --text report.json"]
    {
        let output = world.run(line, "");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            said.contains("shows\u{200b} a \u{202e}total"),
            "{line}: {said}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// A file holds one document: whatever else is in it, neither of two is the one that counts.
#[test]
fn a_second_document_in_a_file_is_an_error() {
    let mut world = World::with_repository();
    let example = |contract: &str| {
        String::from_utf8(world.run(&format!("contract show {contract} --example"), "").stdout).unwrap()
    };
    let (approval, rejection) = (example("decree.review-approval"), example("decree.review-rejection"));
    let gate = example("wr.gate_verdict");
    let approval = approval.replace("All 4", "All 5");
    world.write("both.md", format!("{approval}\n{rejection}"));
    world.write("before.md", format!("{rejection}\n{approval}"));
    world.write("twice.md", format!("{approval}\n{approval}"));
    world.write("status.md", format!("{approval}\n{CHECKED}"));
    world.write("quoted.md", format!("{approval}\n```\n{rejection}```\n\n## Notes\n\nNone.\n"));
    world.write("both.json", format!("{gate}{{\"kind\": \"wr.loop_control\"}}\n"));
    world.write("apart.json", format!("{gate}\nAnd this:\n\n{gate}"));
    world.write("both.yaml", "tasks: []\n---\ntasks: []\n");
    world.write("issue.md", format!("{}\n{approval}", example("decree.task-issue")));
    for line in ["both.md before.md twice.md status.md quoted.md", "--json both.md"] {
        world.type_in(&format!("contract check --contract decree.review-approval {line}"));
    }
    world.type_in("contract check --contract wr.gate_verdict both.json apart.json");
    world.type_in("contract check --contract team.tasks both.yaml");
    world.type_in("contract check --contract decree.task-issue issue.md");
    // What is left for the author is not deleted, and a transcript has its own rule.
    let json = std::fs::read_to_string(world.path("work/both.json")).unwrap();
    world.type_in("contract fix --contract wr.gate_verdict both.json");
    assert_eq!(std::fs::read_to_string(world.path("work/both.json")).unwrap(), json);
    world.type_in("contract extract --contract decree.review-approval twice.md");
    insta::assert_snapshot!(world.transcript);
}

/// A syntax error is one error, and what else is wrong is told with it.
#[test]
fn what_is_no_json_or_yaml_hides_nothing() {
    let mut world = World::new();
    let task = "  - id: T-2\n    status: not-started\n    goal: x\n    acceptance_checks: [\"cmd: x\"]\n";
    world.write("comma.json", "{\"kind\": \"wr.gate_verdict\", \"version\": 1,\n \"verdict\": \"perhaps\", \"confidence\": \"high\", \"rationale\": \"\",}\n");
    world.write("around.json", "Here:\n\n```json\n{\"kind\": \"wr.gate_verdict\", \"version\": 1,\n \"verdict\": \"perhaps\", \"confidence\": \"high\", \"rationale\": \"No.\"}\n```\n");
    world.write("cut.json", "{\"kind\": \"wr.gate_verdict\", \"version\": 2,\n \"verdict\": \"rejec");
    world.write("lines.jsonl", "{\"ts\": 1,}\n");
    world.write("twice.yaml", format!("tasks:\n  - id: T-1\n    status: done\n    id: T-9\n    goal: x\n    acceptance_checks: [\"cmd: x\"]\n{task}"));
    world.write(
        "torn.yaml",
        format!(
            "tasks:\n{}{task}  - id: T-3\n    goal: [a\n",
            task.replace("not-started", "begun").replace("T-2", "T-1")
        ),
    );
    world.type_in("contract check --contract wr.gate_verdict comma.json around.json cut.json");
    world.type_in("contract check --contract team.design-history lines.jsonl");
    world.type_in("contract check --contract team.tasks twice.yaml torn.yaml");
    insta::assert_snapshot!(world.transcript);
}

/// A template has words for every value, and says nothing.
#[test]
fn a_template_is_never_valid() {
    let world = World::new();
    let list = String::from_utf8(world.run("contract list --json", "").stdout).unwrap();
    let contracts = list.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let ids: Vec<String> = contracts.map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.len() > 30, "{ids:?}");
    for id in ids {
        let template = String::from_utf8(world.run(&format!("contract show {id} --template"), "").stdout).unwrap();
        let check = world.run(&format!("contract check --contract {id} -"), &template);
        assert_eq!(check.status.code(), Some(1), "{id}: {}", String::from_utf8_lossy(&check.stdout));
    }
}
