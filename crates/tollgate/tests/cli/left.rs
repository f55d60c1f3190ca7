//! Units that were left for another way or given up: what was said of them is not said of the run.

use crate::given::HOLDS;
use crate::rests::{play, said_of, wrote};

const TASK: &str =
    "# One\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there `cmd: test -f api/a`\n";
const THERE: &str = "{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: [\"DoD-1: there\"]}}";
const FINE: &str =
    "{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED}}";

/// A side that may leave, then all of it in one piece: reviewed, looked at and run.
fn protocol(leaves: &str, caught: &str) -> String {
    format!(
        r#"protocol: outgrown
version: 1
areas: {{code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}}}
roles:
  developer: {{contract: status-block, writes: [code], sees: full}}
  reviewer: {{contract: status-block, verdicts: [accept, reject], writes: none, sees: {{only: [task, change]}}}}
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
      on: {{all: review, some: hold, none: hold, {caught}}}
    - {{id: whole, dispatch: developer, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: look, reject: look}}}}
    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: close, reject: close}}}}
    - {{id: close, check: [covered, ran, standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: check, failed: {leaves}}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: tell, reject: gaps}}}}
    - {{id: tell, dispatch: reviewer, ensures: [heard], on: {{accept: join, reject: {leaves}}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    )
}

/// What the side's developer does, then the one who makes all of it, or nothing.
fn script(developer: &str, whole: bool, checker: &str, reviewer: &str) -> String {
    let idle = || "{report: {status: complete, abstract: {outcome: idle, next_phase: n/a}}}".to_owned();
    let whole = if whole { wrote("api/a", "x\\n", "created") } else { idle() };
    format!(
        "script: 1\nroles:\n  developer: [{developer}, {whole}]\n  dod-checker: [{checker}]\n  reviewer: [{reviewer}]\n"
    )
}

const CRASHES: &str =
    "{unit: backend, misbehave: crash, report: {status: complete, abstract: {outcome: built, next_phase: n/a}}}";
const RAISED: (&str, &str) = ("raise outgrown", "raise outgrown: whole");

fn rejects(unit: &str, path: &str) -> String {
    let found = format!("findings: [{{severity: critical, text: it leaks{path}}}]");
    let said = said_of("backend", 1, "REQUEST_CHANGES", &found).replace("iteration: 1, ", "");
    if unit.is_empty() { said.replace("unit: backend, ", "") } else { said }
}

/// What the run's own judge found is open, whatever became of the unit in whose scope it lies.
#[test]
fn what_is_found_in_the_run_does_not_go_with_a_unit() {
    let given_up = ("dropped", "none: whole");
    for (leaves, caught) in [RAISED, given_up] {
        for path in ["", ", path: api/a"] {
            let protocol = protocol(leaves, caught).replace("none: hold, none: whole", "none: whole");
            let (run, said) = play(TASK, &protocol, &script(CRASHES, true, THERE, &rejects("", path)), &[]);
            said.exits(1).says("fnd_1 is open: it leaks").silent_on("succeeded");
            run.holds();
        }
    }
}

/// What a unit's judge found stays open when the unit is given up, until somebody judges it or the person who gives it up, and is
/// shown it, answers for it. Found again in the run, it is open again.
#[test]
fn what_is_found_in_a_unit_is_somebodys_to_settle() {
    let without = |protocol: &str, stages: &[&str]| {
        let kept = protocol.lines().filter(|line| !stages.iter().any(|id| line.contains(&format!("id: {id},"))));
        kept.fold(String::new(), |all, line| all + line + "\n")
    };
    let leave = "asks:\n  leave:\n    ask: {class: choice, question: \"It is rejected.\", options: {out: Leave it out, stop: Stop}}\n    on: {out: dropped, stop: hold, cancelled: hold}\n";
    let given_up = |leaves: &str, then: &str| {
        let protocol = protocol(leaves, "none: whole").replace("none: hold, none: whole", &format!("none: {then}"));
        let protocol = without(&protocol, if then == "look" { &["whole", "review"] } else { &["whole"] });
        let protocol = if then == "look" { protocol.replace("all: review", "all: look") } else { protocol };
        if leaves == "leave" { protocol.replace("asks:\n", leave) } else { protocol }
    };
    let task = TASK.replace("api/a", "README.md");
    let start = |protocol: &str| {
        let reviewer = format!("{}, {}", rejects("backend", ""), rejects("", ""));
        play(&task, protocol, &script(&built(), false, THERE, &reviewer), &[])
    };
    let (run, said) = start(&given_up("dropped", "look"));
    said.exits(1).says("fnd_1 is open: it leaks").silent_on("succeeded");
    run.holds();
    let (run, said) = start(&given_up("leave", "look"));
    said.exits(4).says("Leave it out (waives fnd_1)");
    run.decide(&["dec_1", "out"]).exits(0).says("succeeded").says("a person waived fnd_1; without backend");
    run.holds();
    let (run, said) = start(&given_up("leave", "review"));
    said.exits(4);
    run.decide(&["dec_1", "out"]).exits(1).says("is open: it leaks").silent_on("succeeded");
    run.holds();
}

fn built() -> String {
    r#"{unit: backend, write: {api/b: "x\n"}, report: {status: complete, abstract: {outcome: built, next_phase: n/a}, files_created: [api/b]}}"#.to_owned()
}

/// A waiver that was given to a unit's tree is none of the run's; what passes in the run's tree passes there.
#[test]
fn a_waiver_stays_with_the_tree_it_was_given_to() {
    let gap = said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not there\"]").replace("iteration: 1, ", "");
    let reviewer = format!("{}, {FINE}", rejects("backend", ""));
    let start = |whole: bool| {
        let protocol = protocol(RAISED.0, RAISED.1).replace("[task, change]", "[task, change, findings]");
        play(TASK, &protocol, &script(&built(), whole, &format!("{gap}, {THERE}"), &reviewer), &[])
    };
    let (run, said) = start(false);
    said.exits(4).says("It is not there.");
    run.decide(&["dec_1", "accept"]).exits(1).silent_on("succeeded");
    run.holds();
    let (run, said) = start(true);
    said.exits(4).says("It is not there.");
    run.decide(&["dec_1", "accept"]).exits(0).says("succeeded").says("without backend").silent_on("waived DoD-1,");
    let shown = run.tollgate(&["show", "RUN"]).out;
    assert!(shown.contains("1 of 1 passed") && !shown.contains("heard (backend)"), "{shown}");
    run.holds();
}

/// A unit whose work is in the tree is not left: a person's retry takes it up where it was to be accepted.
#[test]
fn what_landed_before_its_unit_left_is_taken_up_again() {
    let side = protocol(RAISED.0, RAISED.1);
    let protocol = side
        .replace("accept: tell, reject: gaps", "accept: join, reject: gaps")
        .replace("accept: join, reject: raise outgrown", "accept: done, reject: raise outgrown")
        .replace("landed: done", "landed: tell")
        .replace("[task, change]", "[task, change, findings]");
    let built = built().replace("api/b", "api/a");
    let reviewer =
        format!("{}, {FINE}", rejects("backend", "").replace("unit: backend", "unit: backend, iteration: 1"));
    let (run, said) = play(TASK, &protocol, &script(&built, false, THERE, &reviewer), &[]);
    said.exits(1).says("`backend` is not accepted").silent_on("succeeded");
    run.tollgate(&["retry", "RUN", "--no-wait"]).exits(0).says("backend  reviewer accepts").says("succeeded");
    run.holds();
}

/// A false word that somebody called harmless is found again when it is said again, of other work.
#[test]
fn a_false_word_is_found_each_time_it_is_said() {
    let protocol = protocol("hold", "").replace("none: hold, }", "none: hold}").replace("all: review", "all: whole");
    let protocol =
        protocol.replace("on: {ok: review}", "on: {ok: look}").replace("[task, change]", "[task, change, findings]");
    let kept = protocol.lines().filter(|line| !line.contains("id: review,"));
    let protocol = kept.fold(String::new(), |all, line| all + line + "\n");
    let ghost = built().replace("api/b", "api/a").replace("[api/a]", "[api/a, api/ghost]");
    let again =
        ghost.replace("unit: backend, write: {api/a: \"x\\n\"}, ", "").replace("[api/a, api/ghost]", "[api/ghost]");
    let script = script(&format!("{ghost}, {again}"), false, THERE, FINE);
    let (run, said) = play(TASK, &protocol, &script, &[]);
    said.exits(1)
        .says("fnd_1 refuted: dismissed by reviewer, who saw it and accepts")
        .says("fnd_1 open: still true after")
        .silent_on("succeeded");
    run.holds();
}
