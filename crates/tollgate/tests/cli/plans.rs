//! Plans, however they come: given with the run, as the report itself, or handed over; what they bring is worked on, shown and listed.

use crate::given::{CHECKER, HOLDS};
use crate::play::{Play, Said};
use tollgate_api::RunDetail;

/// A contract of the repository that plans units, requirements and rows; a contract of reports with `report`.
const PLAN: &str = r#"contract: my.plan
version: 1
purpose: Parts of a work, what they are for, and how each is shown.
form: json
fields:
  goals:
    doc: What must be true of the whole.
    list: {of: {record: {id: {text: {}, doc: Its name.}, text: {text: {}, doc: What must be true.}, fate: {one_of: [now, later], doc: What is proposed.}}}, min: 1}
  parts:
    doc: The parts.
    list: {of: {record: {id: {text: {}, doc: Its name.}, text: {text: {}, doc: What it is.}, serves: {list: text, doc: The goals.}}}, min: 1}
  checks:
    doc: What shows a part.
    list: {of: {record: {id: {text: {}, doc: Its name.}, text: {text: {}, doc: How.}, part: {text: {}, doc: The part.}, goal: {text: {}, doc: The goal.}}}, min: 1}
plan:
  units: {each: parts, id: id, text: text, requirements: serves}
  requirements: {each: goals, id: id, text: text, proposed: fate, words: {now: in_scope, later: deferred}}
  criteria: {each: checks, id: id, text: text, unit: part, requirement: goal, command: text}
REPORT
example:
  goals: [{id: G-1, text: It greets., fate: now}]
  parts: [{id: P-1, text: A greeting., serves: [G-1]}]
  checks: [{id: C-1, text: "cmd: true", part: P-1, goal: G-1}]
"#;

const ROLES: &str = "  maker: {contract: status-block, writes: [code], sees: full}\n";
const GATES: &str = r#"gates:
  covered: {holds: {every: criterion, is: [passed]}, bound_to: [code], mandatory: {unit: true}}
  standing: {holds: {every: unit, is: accepted}, bound_to: tree, mandatory: {run: true}}
"#;
const UNIT: &str = r#"    - {id: work, each: {over: units, flow: unit, at_once: 1, trees: own, makes: accepted}, on: {all: close, some: hold, none: hold}}
    - {id: close, check: [standing], on: {pass: done, fail: hold, stale: hold}}
  unit:
    - {id: build, dispatch: maker, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: hold}}
    - {id: join, land: run, on: {landed: done, conflict: hold}}
"#;

fn made(unit: &str, file: &str) -> String {
    format!(
        "{{unit: {unit}, write: {{{file}: \"x\\n\"}}, report: {{status: complete, abstract: {{outcome: made, next_phase: dod-checker}}, files_created: [{file}]}}}}"
    )
}

fn checked(unit: &str, row: &str) -> String {
    format!(
        "{{unit: {unit}, report: {{status: complete, abstract: {{outcome: fine, verdict: APPROVED, next_phase: n/a}}, verdict: APPROVED, verified_rows: [\"{row}: there\"]}}}}"
    )
}

fn run(protocol: &str, script: &str, contract: Option<&str>, words: &[&str]) -> (Play, Said) {
    let mut play = Play::new("# T\n", script);
    if let Some(text) = contract {
        play.world.write(".tollgate/contracts/my.plan.yaml", text);
        play.world.write(".tollgate/protocols/own.yaml", protocol);
        play.world.commit("A plan of our own");
        play.tollgate(&["trust"]).exits(0);
    }
    std::fs::write(play.world.path("own.yaml"), protocol).unwrap();
    let named = if contract.is_some() { "own" } else { "../own.yaml" };
    play.tollgate(&["protocol", "check", named]).exits(0);
    let said = play.tollgate(&[&["run", named, "--script", "../script.yaml", "--no-wait"], words].concat());
    play.named_by(&said);
    (play, said)
}

fn detail(play: &Play) -> RunDetail {
    let (lines, exit) = play.world.json(&format!("show {} --matrix --json", play.run));
    assert_eq!(exit, 0);
    serde_json::from_value(lines[0].clone()).unwrap()
}

/// A plan that a person gives is worked on like one that a stage gives, in its order.
#[test]
fn a_plan_that_is_given_with_the_run_is_worked_on() {
    let protocol = format!(
        "protocol: own\nversion: 1\nareas: {{code: [\"**\"]}}\nartifacts: {{tasks: {{schema: team.tasks, given: input, brings: [units, criteria]}}}}\n\
         roles:\n{ROLES}{}{GATES}{HOLDS}flows:\n  main:\n{UNIT}",
        CHECKER.replace("[task, ", "[tasks, ")
    );
    let (makes, checks) = (
        [made("T-001", "one.txt"), made("T-002", "two.txt")],
        [checked("T-001", "T-001.1"), checked("T-002", "T-002.1")],
    );
    let script =
        format!("script: 1\nroles:\n  maker: [{}]\n  dod-checker: [{}]\n", makes.join(", "), checks.join(", "));
    let tasks = r#"tasks:
  - {id: T-002, status: not-started, title: Two, depends_on: [T-001], goal: There are two., files_expected: [two.txt], acceptance_checks: ["cmd: test -f one.txt && test -f two.txt"]}
  - {id: T-001, status: not-started, title: One, goal: There is one., files_expected: [one.txt], acceptance_checks: ["manual: look at one.txt"]}
"#;
    let root = std::env::temp_dir().join(format!("tollgate-tasks-{}.yaml", std::process::id()));
    std::fs::write(&root, tasks).unwrap();
    let given = format!("tasks={}", root.display());
    let (play, said) = run(&protocol, &script, None, &["--give", &given]);
    said.exits(0).says("succeeded");
    let detail = detail(&play);
    let order: Vec<&str> = detail.attempts.iter().filter_map(|it| it.unit.as_deref()).collect();
    assert!(
        order.iter().position(|unit| *unit == "T-002") > order.iter().rposition(|unit| *unit == "T-001"),
        "{order:?}"
    );
    let row = |row: &str| detail.matrix.iter().find(|it| it.criterion.as_deref() == Some(row)).unwrap();
    let (one, two) = (row("T-001.1"), row("T-002.1"));
    assert_eq!(
        (one.by.as_deref(), two.unit.as_deref(), two.status.as_deref()),
        (Some("dod-checker"), Some("T-002"), Some("passed"))
    );
    // Without requirements, people see units and rows.
    let shown = play.tollgate(&["show", "RUN", "--matrix"]).exits(0).out;
    assert!(shown.starts_with("unit   row      status  shown by") && shown.contains("fresh    tollgate"), "{shown}");
    // A plan that does not keep its contract is refused before there is a run.
    std::fs::write(&root, tasks.replace("depends_on: [T-001]", "depends_on: [T-009]")).unwrap();
    play.tollgate(&["run", "../own.yaml", "--script", "../script.yaml", "--no-wait", "--give", &given])
        .exits(1)
        .says("a task depends on a task that is not there");
    std::fs::remove_file(root).unwrap();
    play.holds();
}

/// One contract serves as report and as document: what the report plans enters the ledger, and a judge that may is shown it.
#[test]
fn a_report_can_be_the_plan_and_the_document() {
    let report = "report: {cases: [{health: ok}]}";
    planned_by_a_worker(&PLAN.replace("REPORT", report), "plan: {schema: my.plan, from: report}", "my.plan", |plan| {
        format!("{{report: {plan}}}")
    });
}

/// A document that is handed over brings all three parts of the ledger.
#[test]
fn a_document_that_is_handed_over_brings_units_requirements_and_rows() {
    planned_by_a_worker(
        &PLAN.replace("REPORT\n", ""),
        "plan: {schema: my.plan, brings: [units, requirements, criteria]}",
        "status-block",
        |plan| {
            let text = plan.replace('"', "\\\"");
            format!(
                "{{hand_over: {{plan: \"{text}\"}}, report: {{status: complete, abstract: {{outcome: planned, next_phase: n/a}}}}}}"
            )
        },
    );
}

/// The same with a contract of reports, in which nobody reports here.
#[test]
fn a_contract_of_reports_can_be_that_of_a_document() {
    planned_by_a_worker(
        &PLAN.replace("REPORT", "report: {cases: [{health: ok}]}"),
        "plan: {schema: my.plan}",
        "status-block",
        |plan| {
            let text = plan.replace('"', "\\\"");
            format!(
                "{{hand_over: {{plan: \"{text}\"}}, report: {{status: complete, abstract: {{outcome: planned, next_phase: n/a}}}}}}"
            )
        },
    );
}

/// Where requirements are planned, a gate asks whether they are met.
const MET: &str = "  met: {holds: {every: requirement, where: {disposition: in_scope}, is: [met, waived]}, bound_to: [code, requirements], mandatory: {run: true}}\n";

fn planned_by_a_worker(contract: &str, artifact: &str, reports_in: &str, says: impl Fn(&str) -> String) {
    let protocol = format!(
        "protocol: own\nversion: 1\nareas: {{code: [\"**\"]}}\nartifacts: {{{artifact}}}\nroles:\n  planner: {{contract: {reports_in}, writes: none, sees: full}}\n\
         {ROLES}{}{GATES}{MET}{HOLDS}flows:\n  main:\n    - {{id: plan, dispatch: planner, gives: [plan, units, requirements], on: {{ok: work}}}}\n{}",
        CHECKER.replace("[task, ", "[plan, "),
        UNIT.replace("check: [standing]", "check: [standing, met]")
    );
    let plan = r#"{"goals": [{"id": "G-1", "text": "It greets.", "fate": "now"}], "parts": [{"id": "P-1", "text": "A greeting.", "serves": ["G-1"]}], "checks": [{"id": "C-1", "text": "cmd: test -f a.txt", "part": "P-1", "goal": "G-1"}]}"#;
    let script = format!(
        "script: 1\nroles:\n  planner: [{}]\n  maker: [{}]\n  dod-checker: [{}]\n",
        says(plan),
        made("P-1", "a.txt"),
        checked("P-1", "C-1")
    );
    let (play, said) = run(&protocol, &script, Some(contract), &[]);
    said.exits(0).says("succeeded");
    assert!(play.brief("dod-checker", 1).contains("It greets."), "{}", play.brief("dod-checker", 1));
    let detail = detail(&play);
    let shown: Vec<[Option<&str>; 6]> = detail
        .matrix
        .iter()
        .map(|row| {
            [&row.requirement, &row.disposition, &row.unit, &row.criterion, &row.status, &row.by].map(Option::as_deref)
        })
        .collect();
    let row = |by| ["G-1", "met", "P-1", "C-1", "passed", by].map(Some);
    assert!(shown.contains(&row("tollgate")) && shown.contains(&row("dod-checker")), "{shown:?}");
    let table = play.tollgate(&["show", "RUN", "--matrix"]).exits(0).out;
    assert!(
        table.lines().all(|line| line.chars().count() <= 120) && table.contains("G-1 (met)    P-1   C-1  passed"),
        "{table}"
    );
    play.holds_but_for_the_head();
}

/// What a set of documents plans is one plan: units need those of other files, and ids by position are each file's own.
#[test]
fn a_set_of_documents_is_one_plan() {
    let contract = r#"contract: my.plan
version: 1
purpose: A part of a work, and what shows it.
form: json
fields:
  part: {text: {}, doc: Its name.}
  text: {text: {}, doc: What it is.}
  file: {text: {}, doc: The file that it changes.}
  needs: {list: text, optional: true, doc: The parts that come before it.}
  checks: {list: {of: text, min: 1}, doc: What shows it.}
  dropped: {optional: true, doc: Parts that are not needed., list: {of: {record: {id: {text: {}, doc: Its name.}, why: {text: {}, doc: Why.}}}}}
plan:
  units: {id: part, text: text, needs: needs, scope: file}
  criteria: {each: checks, id: {position: C}, text: it, unit: ^part, command: it}
  retires: {each: dropped, id: id, why: why}
example: {part: P-1, text: A greeting., file: greet.sh, checks: ["cmd: true"]}
"#;
    let protocol = format!(
        "protocol: own\nversion: 1\nareas: {{code: [\"**\"]}}\nartifacts: {{plans: {{schema: my.plan, many: true}}}}\n\
         roles:\n  planner: {{contract: status-block, writes: none, sees: full}}\n{ROLES}{}{GATES}{HOLDS}flows:\n  main:\n    \
         - {{id: plan, dispatch: planner, gives: [plans, units], on: {{ok: work, malformed: {{to: again, limit: 2, then: hold}}}}}}\n{UNIT}",
        CHECKER.replace("[task, ", "[plans, ")
    );
    let part = |name: &str, needs: &str, more: &str| {
        let file = format!("{name}.txt");
        format!(
            r#"{{\"part\": \"{name}\", \"text\": \"It is there.\", \"file\": \"{file}\", \"needs\": [{needs}], \"checks\": [\"cmd: test -f {file}\"]{more}}}"#
        )
    };
    let planned = |iteration: u32, one: &str, two: &str| {
        format!(
            "{{iteration: {iteration}, hand_over: {{plans/one.json: \"{one}\", plans/two.json: \"{two}\"}}, \
             report: {{status: complete, abstract: {{outcome: planned, next_phase: n/a}}}}}}"
        )
    };
    let (one, two) = (r#"\"P-2\""#, r#"\"P-1\""#);
    let script = format!(
        "script: 1\nroles:\n  planner: [{}, {}, {}]\n  maker: [{}, {}]\n  dod-checker: [{}, {}]\n",
        planned(1, &part("P-1", one, ""), &part("P-2", two, "")),
        planned(
            2,
            &part("P-1", one, ""),
            &part("P-2", "", r#", \"dropped\": [{\"id\": \"P-9\", \"why\": \"large\"}]"#)
        ),
        planned(3, &part("P-1", one, ""), &part("P-2", "", "")),
        made("P-1", "P-1.txt"),
        made("P-2", "P-2.txt"),
        checked("P-1", "one.C-1"),
        checked("P-2", "two.C-1"),
    );
    let (play, said) = run(&protocol, &script, Some(contract), &[]);
    said.exits(0)
        .says("unit `P-1` needs itself, by way of what it needs")
        .says("it retires `P-9`, which no plan has")
        .says("succeeded");
    let detail = detail(&play);
    let order: Vec<&str> = detail.attempts.iter().filter_map(|it| it.unit.as_deref()).collect();
    assert!(order.iter().position(|unit| *unit == "P-1") > order.iter().rposition(|unit| *unit == "P-2"), "{order:?}");
    let mut rows: Vec<_> =
        detail.matrix.iter().filter_map(|it| Some((it.criterion.as_deref()?, it.unit.as_deref()?))).collect();
    rows.sort_unstable();
    rows.dedup();
    assert_eq!(rows, [("one.C-1", "P-1"), ("two.C-1", "P-2")]);
    play.holds_but_for_the_head();
}
