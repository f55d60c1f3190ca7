//! What is said of one tree is not said of another. The kernel's `lost.txt` has what does not depend on a worker's words.

use crate::given::HOLDS;
use crate::play::{Play, Said};
use crate::rests::{play, said_of, wrote};

const ROLES: &str = r#"version: 1
areas: {code: ["**"]}
artifacts: {task: {schema: build-plan.task, given: input}}
roles:
  developer: {contract: status-block, writes: [code], sees: full}
  reviewer: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, change, findings]}}
  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}
"#;

const BOTH: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- README.md is there `cmd: test -f README.md`\n\n\
                    ### Frontend\nScope: `web/**`\n- README.md is there too `cmd: test -f README.md`\n";
const BACKEND: &str = "unit: backend, ";
const FRONTEND: &str = "unit: frontend, ";
const FIRST: &str = "unit: backend, iteration: 1, ";
const SECOND: &str = "unit: backend, iteration: 2, ";
const JOIN: &str = "    - {id: join, land: run, on: {landed: done, conflict: hold}}\n";

/// A script of one's own: who says what, the most exact first.
fn told(flows: &str, roles: &[(&str, &[String])]) -> (Play, Said) {
    let protocol = format!(
        r#"protocol: apart
{ROLES}  polisher: {{contract: status-block, writes: [code], sees: full}}
gates:
  covered: {{holds: {{every: criterion, is: [passed, waived]}}, bound_to: [code], mandatory: {{unit: true, run: true}}}}
  standing: {{holds: {{every: unit, is: [accepted, held, new]}}, bound_to: tree, mandatory: {{run: true}}}}
{HOLDS}flows:
{flows}"#
    );
    let said = roles.iter().map(|(role, said)| format!("  {role}: [{}]\n", said.join(", ")));
    play(BOTH, &protocol, &format!("script: 1\nroles:\n{}", said.collect::<String>()), &[])
}

/// What is said of a unit (`unit: backend, `), of an iteration of it, or of anything.
fn said(of: &str, verdict: &str, rows: &str) -> String {
    said_of("backend", 1, verdict, rows).replace(FIRST, of)
}

/// An acceptance of the rows that belong to who it is of.
fn fine(of: &str) -> String {
    let rows = match of {
        BACKEND => "\"DoD-1: there\"",
        FRONTEND => "\"DoD-2: there\"",
        _ => "\"DoD-1: there\", \"DoD-2: there\"",
    };
    said(of, "APPROVED", &format!("verified_rows: [{rows}]"))
}

/// What is said first, and then an acceptance of everything.
fn then_fine(first: impl IntoIterator<Item = String>) -> Vec<String> {
    first.into_iter().chain([fine(BACKEND), fine(FRONTEND), fine("")]).collect()
}

fn by(of: &str, path: &str, text: &str, how: &str) -> String {
    wrote(path, text, how).replacen('{', &format!("{{{of}"), 1)
}

fn crashes(of: &str) -> String {
    format!("{{{of}misbehave: crash, report: {{status: complete, abstract: {{outcome: said, next_phase: n/a}}}}}}")
}

/// Other words of the same row, said of an older tree, are of another gap: what was said of the run's tree is still to be read.
#[test]
fn what_was_said_of_the_run_s_tree_is_not_said_anew_of_an_older_one() {
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: close, some: mend, none: hold}}}}
    - {{id: mend, dispatch: polisher, on: {{ok: look}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: close, reject: {{to: sides, limit: 1, then: hold}}}}}}
    - {{id: close, check: [covered, standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: tell, failed: hold}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: {{to: build, limit: 1, then: hold}}}}}}
{JOIN}"
    );
    let gap = |of: &str, words: &str| said(of, "BLOCKED", &format!("gaps: [\"DoD-1: {words}\"]"));
    let mends = by(BACKEND, "api/a", "fine", "modified");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "lib/x", "logs passwords", "created")]),
            (
                "developer",
                &[
                    crashes(FIRST),
                    by(SECOND, "api/a", "fien", "created"),
                    mends,
                    by(FRONTEND, "web/a", "fine", "created"),
                ],
            ),
            ("reviewer", &then_fine([])),
            ("dod-checker", &[gap(FIRST, "a typo"), fine(BACKEND), fine(FRONTEND), gap("", "passwords are logged")]),
        ],
    );
    told.exits(1).says("fnd_2 fixed").says("fnd_1 is open").silent_on("fnd_1 now says").silent_on("succeeded");
    run.holds();
}
