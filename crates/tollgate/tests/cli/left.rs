//! A unit that was left for another way: what was said of it is not said of the run.

use crate::given::HOLDS;
use crate::rests::{play, said_of, wrote};

const TASK: &str =
    "# One\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there `cmd: test -f api/a`\n";

/// A side that may leave, then all of it in one piece: reviewed, looked at and run.
fn protocol() -> String {
    format!(
        r#"protocol: outgrown
version: 1
areas: {{code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}}}
roles:
  developer: {{contract: status-block, writes: [code], sees: full}}
  reviewer: {{contract: status-block, verdicts: [accept, reject], writes: none, sees: {{only: [task, change, findings]}}}}
  dod-checker: {{contract: status-block, verdicts: [accept, reject], writes: none, sees: {{only: [task, criteria, change]}}}}
gates:
  covered: {{holds: {{every: criterion, is: [passed, waived]}}, bound_to: [code], mandatory: {{run: true}}}}
  ran: {{holds: {{every: command, is: [passed, waived]}}, bound_to: tree, mandatory: {{run: true}}}}
  heard: {{holds: {{judged: reviewer}}, bound_to: [code], mandatory: {{unit: true}}}}
  standing: {{holds: {{every: unit, is: [accepted, new, dropped]}}, bound_to: tree, mandatory: {{run: true}}}}
asks:
  gaps:
    ask: {{class: choice, question: "It is not there.", options: {{accept: Go on without, stop: Stop}}}}
    on: {{accept: {{to: as accept, ensures: origin}}, stop: dropped, cancelled: hold}}
{HOLDS}flows:
  main:
    - id: sides
      each: {{over: [backend], flow: side, at_once: 1, trees: own, makes: accepted}}
      on: {{all: review, some: hold, none: hold, raise outgrown: whole}}
    - {{id: whole, dispatch: developer, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: look, reject: look}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: close, reject: close}}}}
    - {{id: close, check: [covered, ran, standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: check, failed: raise outgrown}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: tell, reject: gaps}}}}
    - {{id: tell, dispatch: reviewer, ensures: [heard], on: {{accept: join, reject: raise outgrown}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    )
}

/// The waiver that was given to a unit's tree is none of the run's, and what `show` says is of the run's tree.
#[test]
fn a_unit_that_was_left_is_no_part_of_what_is_shown() {
    let there = "{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: [\"DoD-1: there\"]}}";
    let fine = "{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED}}";
    let built = r#"{unit: backend, write: {api/b: "x\n"}, report: {status: complete, abstract: {outcome: built, next_phase: n/a}, files_created: [api/b]}}"#;
    let script = format!(
        "script: 1\nroles:\n  developer: [{built}, {}]\n  dod-checker: [{}, {there}]\n  reviewer: [{}, {fine}]\n",
        wrote("api/a", "x\\n", "created"),
        said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not there\"]"),
        said_of("backend", 1, "REQUEST_CHANGES", "findings: [{severity: critical, text: it leaks}]"),
    );
    let (run, said) = play(TASK, &protocol(), &script, &[]);
    said.exits(4).says("It is not there.");
    run.decide(&["dec_1", "accept"]).exits(0).says("succeeded").says("without backend").silent_on("waived DoD-1,");
    let shown = run.tollgate(&["show", "RUN"]).out;
    assert!(shown.contains("1 of 1 passed") && !shown.contains("heard (backend)"), "{shown}");
    run.holds();
}
