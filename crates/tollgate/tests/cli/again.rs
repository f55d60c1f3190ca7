//! Work that begins again or is left: what it made is kept, and who was at it is stopped.

use crate::given::{CHECKER, HOLDS};
use crate::rests::{play, said_of};

const TWO: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                   - web/a is there\n";

/// Both rows hold on the tree of the run.
const FINE: &str = r#"{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}}"#;

fn built(unit: &str, iteration: u32, files: &str, names: &str) -> String {
    format!(
        "{{unit: {unit}, iteration: {iteration}, write: {{{files}}}, report: {{status: complete, abstract: {{outcome: built, \
         next_phase: n/a}}, files_created: [{names}]}}}}"
    )
}

/// The two sides, their rows judged one by one and then together.
fn sides(main: &str, side: &str) -> String {
    format!(
        r#"protocol: two
version: 1
areas: {{code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}}}
roles:
  developer: {{contract: status-block, writes: [code], sees: full}}
{CHECKER}gates:
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: [code], mandatory: {{unit: true, run: true}}}}
{HOLDS}flows:
  main:
{main}    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: done, reject: hold}}}}
  side:
{side}    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    )
}

/// A unit whose flow was left starts again from the run's tree; what it had made is put aside, not lost.
#[test]
fn what_a_unit_had_made_before_it_starts_again_is_kept() {
    let main = r#"    - id: sides
      each: {over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}
      on: {all: look, some: hold, none: hold, raise again: {to: sides, limit: 1, then: hold}}
"#;
    let side = r#"    - {id: build, dispatch: developer, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: stuck}}
    - id: stuck
      ask: {class: choice, question: "It is not there.", options: {again: All again, stop: Stop}}
      on: {again: raise again, stop: dropped, cancelled: hold}
"#;
    let script = format!(
        "script: 1\nroles:\n  developer: [{}, {}, {}]\n  dod-checker: [{}, {}, {}, {}]\n",
        built("backend", 1, r#"api/first: "x\n""#, "api/first"),
        built("backend", 2, r#"api/a: "x\n""#, "api/a"),
        built("frontend", 1, r#"web/a: "x\n""#, "web/a"),
        said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not there\"]"),
        said_of("backend", 2, "APPROVED", "verified_rows: [\"DoD-1: there\"]"),
        said_of("frontend", 1, "APPROVED", "verified_rows: [\"DoD-2: there\"]"),
        FINE,
    );
    let (play, said) = play(TWO, &sides(main, side), &script, &[]);
    said.exits(4).says("It is not there.");
    play.decide(&["dec_1", "again"]).exits(0).says("succeeded");
    assert_eq!(play.file("api/first"), None);
    let shown = play.tollgate(&["show", "RUN"]).out;
    let (_, aside) = shown.split_once("Put aside").unwrap_or_else(|| panic!("nothing is put aside in {shown}"));
    let look = aside.lines().nth(1).unwrap_or_default();
    assert!(look.trim_start().starts_with("backend") && look.contains("git"), "{aside}");
    play.holds();
}

/// A side that cannot be made is left for another way, and with it the one that it stopped in the middle of its work; what they
/// were to show is shown by the run.
#[test]
fn what_a_raise_leaves_is_stopped_and_not_waited_for() {
    let main = "    - id: sides
      each: {over: [backend, frontend], flow: side, at_once: 2, trees: own, makes: accepted}
      on: {all: look, some: hold, none: hold, raise outgrown: solo}
    - {id: solo, dispatch: developer, on: {ok: look}}
";
    let side = "    - {id: build, dispatch: developer, on: {ok: check, failed: raise outgrown}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: hold}}
";
    let slow = built("frontend", 1, r#"web/a: "x\n""#, "web/a").replace("iteration: 1,", "delay_ms: 20000,");
    let script = format!(
        "script: 1\nroles:\n  developer: [{}, {slow}, {}]\n  dod-checker: [{FINE}]\n",
        "{unit: backend, misbehave: crash, report: {status: complete, abstract: {outcome: built, next_phase: n/a}}}",
        built("x", 1, r#"api/a: "x\n", web/a: "x\n""#, "api/a, web/a").replace("unit: x, ", ""),
    );
    let standing =
        "gates:\n  standing: {holds: {every: unit, is: [accepted, new]}, bound_to: tree, mandatory: {run: true}}\n";
    let stand = "accept: stand, reject: hold}}\n    - {id: stand, check: [standing], on: {pass: done, fail: hold, stale: hold}}\n  side:\n";
    let protocol =
        sides(main, side).replace("gates:\n", standing).replace("accept: done, reject: hold}}\n  side:\n", stand);
    let (play, said) = play(TWO, &protocol, &script, &[]);
    said.exits(0).says("succeeded").says("without backend, frontend");
    play.holds();
}
