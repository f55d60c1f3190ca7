//! A run of `team` in which a real agent plays every role, from the goal to the branch.

use serde_json::json;
use tollgate_testkit::model::{Asked, Step};

use super::agents::Agent;
use super::scenarios::place_of;
use super::stage::{Guard, Stage};

const SPEC: &str = "# Spec\n\n## Goals\n\nA greeting.\n\n## Acceptance Criteria\n\n- AC-001\n\n## Definition of Done\n\nAll of it holds.\n";
const ACCEPTANCE: &str =
    r#"{"acceptance_criteria": [{"id": "AC-001", "description": "It greets.", "verify": ["cmd: sh greet.sh"]}]}"#;
const TASKS: &str = "tasks:\n  - {id: T-001, status: not-started, type: chore, title: Greet, goal: It greets., files_expected: [greet.sh], acceptance_checks: ['manual: read it']}\n";

/// What each role of the lean way does; whoever it is, is said by its brief.
fn answer(agent: &Agent, asked: Asked<'_>, path: &dyn Fn(&str) -> String) -> Step {
    let is = |role: &str| asked.body.contains(&format!("Brief: {role}, "));
    let document = |name: &str, text: &str| {
        place_of(name, asked.body).map_or_else(|| said(asked, &[]), |place| (agent.write)(&place, text))
    };
    match asked.results {
        0 if is("spec-agent") => document("spec", SPEC),
        1 if is("spec-agent") => document("acceptance", ACCEPTANCE),
        2 if is("spec-agent") => document("tasks", TASKS),
        0 if is("coder") => (agent.write)(&path("greet.sh"), "echo Hello\n"),
        _ if is("coder") => said(asked, &["greet.sh"]),
        _ => said(asked, &[]),
    }
}

/// A report that all is well: by the tool that the agent is forced to use, where there is one.
fn said(asked: Asked<'_>, changed: &[&str]) -> Step {
    let report = json!({
        "status": "OK",
        "summary": "It is done.",
        "artifacts": {"files_changed": changed, "commands_to_run": [], "notes": []},
        "gates": {"meets_definition_of_done": true, "needs_review": false, "needs_tests": false, "security_concerns": []},
        "next": {"recommended_agent": "Orchestrator", "recommended_task_id": "meta", "reason": "It follows."},
    });
    if asked.body.contains("\"StructuredOutput\"") {
        Step::Tool("StructuredOutput", report)
    } else {
        Step::Say(report.to_string())
    }
}

/// Three documents that are no files of the tree, a script that its own row runs, a review, and the end.
pub fn plays_lean(agent: &'static Agent) {
    let mut stage = Stage::new(agent, Guard::Own, None, move |asked, path| answer(agent, asked, path));
    let said =
        stage.play.tollgate(&["run", "team", "--goal", "Greet people", "--input", "mode=lean", "--worker", "real"]);
    stage.play.named_by(&said);
    assert_eq!(said.code, Some(0), "{}", stage.seen(&said));
    said.says("succeeded").says("1 of 2 criteria by commands");
    assert_eq!(stage.play.changed(), "A\tgreet.sh\n");
    assert_eq!(["spec-agent", "coder", "reviewer"].map(|role| stage.play.dispatched(role)), [1, 1, 1]);
    stage.play.holds();
}
