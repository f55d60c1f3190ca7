//! What is settled in one tree is not settled in another: what a unit mended in its own and took with it, and what it has yet to land.

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
const TASK: &str =
    "# One\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- README.md is there `cmd: test -f README.md`\n";

/// The run's reviewer finds something, a side mends it in its own tree, and the side's reviewer sees that; then the side goes.
fn start(leaves: &str, caught: &str) -> (Play, Said) {
    let protocol = format!(
        r#"protocol: apart
{ROLES}  polisher: {{contract: status-block, writes: [code], sees: full}}
gates:
  covered: {{holds: {{every: criterion, is: [passed, waived]}}, bound_to: [code], mandatory: {{unit: true, run: true}}}}
  standing: {{holds: {{every: unit, is: [accepted, new, dropped]}}, bound_to: tree, mandatory: {{run: true}}}}
asks:
  without:
    ask: {{class: choice, question: "Go on without it?", options: {{without: Go on without, stay: Stay}}}}
    on: {{without: dropped, stay: {{to: hold}}, cancelled: hold}}
{HOLDS}flows:
  main:
    - {{id: make, dispatch: polisher, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: look, reject: sides}}}}
    - {{id: sides, each: {{over: [backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: look{caught}}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: close, reject: hold}}}}
    - {{id: close, check: [covered, standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: tell, failed: without}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: {leaves}}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    );
    let whole = |said: String| said.replace("unit: backend, iteration: 1, ", "");
    let script = format!(
        "script: 1\nroles:\n  polisher: [{}]\n  developer: [{}]\n  reviewer: [{}, {}]\n  dod-checker: [{}, {}]\n",
        wrote("notes.md", "it leaks\\n", "created"),
        wrote("api/a", "mended\\n", "created"),
        said_of("backend", 1, "APPROVED", "verified_rows: []"),
        whole(said_of("backend", 1, "REQUEST_CHANGES", "findings: [{severity: critical, text: it leaks}]")),
        said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not so\"]"),
        whole(said_of("backend", 1, "APPROVED", "verified_rows: [\"DoD-1: there\"]")),
    );
    play(TASK, &protocol, &script, &[])
}

/// What is mended in a tree that does not land is not mended.
#[test]
fn what_was_settled_in_a_tree_that_is_lost_stands_again() {
    for (leaves, caught) in [("raise out", ", raise out: look"), ("dropped", "")] {
        let (run, said) = start(leaves, caught);
        said.exits(1)
            .says("fnd_1 fixed: reviewer accepts")
            .says("fnd_1 open: the tree of backend, in which it was settled, does not land")
            .silent_on("succeeded");
        run.holds();
    }
}

/// Whoever gives the unit up is shown it, and waives it by name.
#[test]
fn who_gives_the_unit_up_answers_for_what_was_mended_in_it_alone() {
    let (run, said) = start("without", "");
    said.exits(4).says("Go on without it?").says("fnd_1");
    run.decide(&["dec_1", "without"]).exits(0).says("waived fnd_1").silent_on("fnd_1 open").says("succeeded");
    run.holds();
}

/// A side is rejected and held; whoever judges the run's tree meanwhile has not seen its work.
#[test]
fn who_judges_the_run_settles_nothing_that_is_yet_to_land() {
    let protocol = format!(
        r#"protocol: apart
{ROLES}gates:
  covered: {{holds: {{every: criterion, is: [passed, waived]}}, bound_to: [code], mandatory: {{unit: true, run: true}}}}
  standing: {{holds: {{every: unit, is: accepted}}, bound_to: tree, mandatory: {{run: true}}}}
{HOLDS}flows:
  main:
    - {{id: sides, each: {{over: [backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: review, none: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: {{to: sides, limit: 1, then: hold}}, reject: hold}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: close, reject: hold}}}}
    - {{id: close, check: [covered, standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: check}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    );
    let (first, rest) = ("iteration: 1, ", "verified_rows: [\"DoD-1: there\"]");
    let script = format!(
        "script: 1\nroles:\n  developer: [{}]\n  reviewer: [{}, {}]\n  dod-checker: [{}, {}]\n",
        wrote("api/a", "it leaks\\n", "created"),
        said_of("backend", 1, "REQUEST_CHANGES", "findings: [{severity: critical, path: api/a, text: it leaks}]"),
        said_of("backend", 1, "APPROVED", "verified_rows: []").replace("unit: backend, iteration: 1, ", ""),
        said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not yet\"]"),
        said_of("backend", 1, "APPROVED", rest).replace("unit: backend, ", "").replace(first, ""),
    );
    let (run, said) = play(TASK, &protocol, &script, &[]);
    let said = said.exits(1).says("fnd_1 is open against it").silent_on("succeeded");
    let at = |text: &str| said.err.find(text).unwrap_or_else(|| panic!("`{text}` is not in:\n{}", said.err));
    assert!(at("landed in the run's tree") < at("fnd_1 fixed"), "{}", said.err);
    run.holds();
}
