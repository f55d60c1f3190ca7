//! What the data flow tells apart: modes, strategies, skipped stages, flows that are run in place, siblings.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::protocol::{self, Dialects};

const DIALECT: &str = "\
d: {verdicts: [accept, reject], healths: [failed, malformed], sections: {done: claim}, brings: [units]}
p: {document: true, brings: [units], attrs: [touches]}
";
const HEAD: &str = "\
protocol: paths
version: 1
areas: {tests: [\"tests/**\"], code: [\"**\"]}
otherwise: {failed: hold, malformed: hold, inconclusive: hold, cancelled: hold, unobservable: hold, out_of_scope: hold, refused: hold}
";
const CODER: &str = "  coder: {contract: d, writes: [code], sees: full}\n";
const JUDGE: &str = "  judge: {contract: d, verdicts: [accept, reject], writes: none, sees: {all_but: [\"*.done\"]}}\n";

/// Checks a protocol made of the head, roles and the rest; compares `CODE message-part`, one line each.
fn check(roles: &[&str], rest: &str, expected: &[(&str, &str)]) {
    let text = format!("{HEAD}roles:\n{}{rest}", roles.concat());
    let (dialects, _) = Dialects::read(DIALECT);
    let (protocol, problems) = protocol::read(&text);
    let protocol = protocol.unwrap_or_else(|| panic!("{problems:#?}\n{text}"));
    let found = protocol::check(&protocol, &dialects);
    let told: Vec<String> = found.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(told.len(), expected.len(), "{told:#?}\n{text}");
    for (code, part) in expected {
        assert!(told.iter().any(|line| line.starts_with(code) && line.contains(part)), "{code} {part}: {told:#?}");
    }
}

/// Each strategy leaves out another review: only with valuations is neither a false alarm.
#[test]
fn a_strategy_is_exact() {
    let rest = |last: &str| {
        format!(
            "\
vars: {{strategy: {{one_of: [each-time, once]}}}}
gates: {{good: {{holds: {{judged: judge}}, bound_to: [code], mandatory: {{run: true}}}}}}
flows:
  main:
    - {{id: choose, ask: {{class: choice, question: When?, options: {{each-time: E, once: O}}}}, gives: [strategy], on: {{each-time: code, once: code}}}}
    - {{id: code, dispatch: coder, on: {{ok: early}}}}
    - {{id: early, when: {{strategy: each-time}}, dispatch: judge, ensures: [good], on: {{accept: late, reject: hold, skipped: late}}}}
    - {{id: late, when: {{strategy: {last}}}, dispatch: judge, ensures: [good], on: {{accept: done, reject: hold, skipped: done}}}}
"
        )
    };
    check(&[CODER, JUDGE], &rest("once"), &[]);
    let missing = "(when strategy is once)";
    check(&[CODER, JUDGE], &rest("each-time"), &[("TG0140", missing)]);
}

/// A stage that is skipped because its gate holds leaves the gate holding.
#[test]
fn skipping_for_a_gate_adds_it() {
    let rest = |when: &str| {
        let units = if when.contains("it.") { "units: {attrs: {touches: {set_of: [input, network]}}}\n" } else { "" };
        format!(
            "\
{units}artifacts: {{plan: {{schema: p, given: input}}}}
gates: {{good: {{holds: {{judged: judge}}, bound_to: [code], mandatory: {{run: true}}}}}}
flows:
  main:
    - {{id: code, dispatch: coder, on: {{ok: judge}}}}
    - {{id: judge, when: {when}, dispatch: judge, ensures: [good], on: {{accept: done, reject: hold, skipped: done}}}}
"
        )
    };
    let gate = "{not: {holds: good}}";
    let attr = "{it.touches: input}";
    check(&[CODER, JUDGE], &rest(gate), &[]);
    check(&[CODER, JUDGE], &rest(&format!("{{any: [{gate}, {attr}]}}")), &[]);
    check(&[CODER, JUDGE], &rest(&format!("{{all: [{gate}, {attr}]}}")), &[("TG0140", "on `skipped`")]);
    check(&[CODER, JUDGE], &rest(attr), &[("TG0140", "on `skipped`")]);
}

/// A flow that is run for the same subject works on the caller's gates, and its ends are the caller's outcomes.
#[test]
fn a_flow_in_place_carries_gates_both_ways() {
    let rest = |accept: &str, all: &str| {
        format!(
            "\
gates: {{good: {{holds: {{judged: judge}}, bound_to: [code], mandatory: {{run: true}}}}}}
flows:
  main:
    - {{id: code, dispatch: coder, on: {{ok: verify}}}}
    - {{id: verify, each: {{over: it, flow: verify}}, on: {{all: {all}, none: dropped}}}}
    - {{id: more, dispatch: coder, on: {{ok: done}}}}
  verify:
    - {{id: judge, dispatch: judge, ensures: [good], on: {{accept: {accept}, reject: dropped}}}}
    - {{id: touch, dispatch: coder, on: {{ok: done}}}}
"
        )
    };
    check(&[CODER, JUDGE], &rest("done", "done"), &[("TG0122", "`touch`"), ("TG0122", "`more`")]);
    check(&[CODER, JUDGE], &rest("touch", "done"), &[("TG0122", "`more`"), ("TG0140", "`verify` ends the run")]);
    check(&[CODER, JUDGE], &rest("done", "more"), &[("TG0122", "`touch`"), ("TG0140", "`more` ends the run")]);
}

/// What was run on a unit's own tree says nothing about the tree it lands on; what was read still holds.
#[test]
fn landing_undoes_what_was_bound_to_the_tree() {
    let rest = |bound: &str| {
        format!(
            "\
gates: {{good: {{holds: {{judged: judge}}, bound_to: {bound}, mandatory: {{unit: true}}}}}}
flows:
  main:
    - {{id: all, each: {{over: [a, b], flow: unit, at_once: 2, trees: own}}, on: {{all: done, some: hold, none: hold}}}}
  unit:
    - {{id: code, dispatch: coder, on: {{ok: judge}}}}
    - {{id: judge, dispatch: judge, ensures: [good], on: {{accept: land, reject: hold}}}}
    - {{id: land, land: run, on: {{landed: done, conflict: hold}}}}
"
        )
    };
    check(&[CODER, JUDGE], &rest("[code]"), &[]);
    check(&[CODER, JUDGE], &rest("tree"), &[("TG0140", "`land` ends the unit")]);
}

/// After a conflict the work stands on another tree: what was judged before is to be judged again.
#[test]
fn a_conflict_undoes_what_was_judged() {
    let rest = |conflict: &str| {
        format!(
            "\
gates: {{good: {{holds: {{judged: judge}}, bound_to: [code], mandatory: {{unit: true}}}}}}
flows:
  main:
    - {{id: all, each: {{over: [a, b], flow: unit, at_once: 2, trees: own}}, on: {{all: done, some: hold, none: hold}}}}
  unit:
    - {{id: code, dispatch: coder, on: {{ok: judge}}}}
    - {{id: judge, dispatch: judge, ensures: [good], on: {{accept: land, reject: hold}}}}
    - {{id: land, land: run, on: {{landed: done, conflict: {{to: {conflict}, limit: 1, then: hold}}}}}}
"
        )
    };
    check(&[CODER, JUDGE], &rest("judge"), &[]);
    check(&[CODER, JUDGE], &rest("land"), &[("TG0140", "`land` ends the unit")]);
}

/// An artifact that is an input in one mode is there in that mode only.
#[test]
fn an_artifact_is_given_under_a_condition() {
    let rest = |mode: &str| {
        format!(
            "\
inputs: {{mode: {{one_of: [full, short], required: true}}}}
artifacts: {{pitch: {{schema: p, given: {{mode: short}}}}}}
flows:
  main:
    - {{id: shape, when: {{mode: {mode}}}, dispatch: coder, gives: [pitch], on: {{ok: code, skipped: code}}}}
    - {{id: code, dispatch: coder, requires: [pitch], on: {{ok: done}}}}
"
        )
    };
    check(&[CODER], &rest("full"), &[]);
    check(&[CODER], &rest("short"), &[("TG0142", "(when mode is full)")]);
}

/// An input that a stage changes is still counted by what it was at the start.
#[test]
fn a_changed_input_is_counted_by_its_start() {
    let rest = "\
inputs: {end: {one_of: [keep, ask], required: true}}
flows:
  main:
    - {id: choose, when: {end: ask}, ask: {class: disposition, question: Q, options: {keep: K}}, gives: [end], on: {keep: last, skipped: last}}
    - {id: last, check: [kept], on: {pass: done, fail: hold}}
gates: {kept: {holds: {end: keep}}}
";
    check(&[CODER], &format!("{rest}vars: {{}}\n"), &[("TG0126", "the role `coder`")]);
    let stuck = rest.replace("{keep: last, skipped", "{keep: dropped, skipped");
    check(&[CODER], &stuck, &[("TG0126", "the role `coder`"), ("TG0124", "when end is ask")]);
}

/// In main nobody has written before the first stage; in a unit's flow a sibling or an earlier pass may have.
#[test]
fn a_judge_at_the_head_of_a_flow_judges_siblings() {
    let open = "  judge: {contract: d, verdicts: [accept, reject], writes: none, sees: full}\n";
    let gates = "gates: {good: {holds: {judged: judge}, bound_to: [code]}}\n";
    let stages = "    - {id: judge, dispatch: judge, ensures: [good], on: {accept: code, reject: hold}}\n    - {id: code, requires: [good], dispatch: coder, on: {ok: done}}\n";
    check(&[CODER, open], &format!("{gates}flows:\n  main:\n{stages}"), &[]);
    let main = "    - {id: all, each: {over: [a, b], flow: unit}, on: {all: done, some: hold, none: hold}}\n";
    check(&[CODER, open], &format!("{gates}flows:\n  main:\n{main}  unit:\n{stages}"), &[("TG0160", "coder.done")]);
}

/// A raise that only a person causes bounds the loop it turns; one that a worker causes does not.
#[test]
fn a_raise_is_bounded_by_who_causes_it() {
    let rest = |failed: &str| {
        format!(
            "\
flows:
  main:
    - {{id: all, each: {{over: [a], flow: unit}}, on: {{all: done, some: hold, none: hold, raise back: all}}}}
  unit:
    - {{id: code, dispatch: coder, on: {{ok: ask, failed: {failed}}}}}
    - {{id: ask, ask: {{class: choice, question: Q, options: {{go: G, back: B}}}}, on: {{go: done, back: raise back}}}}
"
        )
    };
    check(&[CODER], &rest("hold"), &[]);
    check(&[CODER], &rest("raise back"), &[("TG0130", "all → all")]);
}

/// An attribute that is asked for in two ways has no impossible answers: one of few is one of more.
#[test]
fn attributes_have_consistent_answers() {
    let rest = "\
units: {attrs: {touches: {set_of: [input, network]}}}
artifacts: {plan: {schema: p, given: input}}
gates: {good: {holds: {judged: judge}, bound_to: [code], mandatory: {run: {it.touches: input}}}}
flows:
  main:
    - {id: code, dispatch: coder, on: {ok: judge}}
    - {id: judge, when: {it.touches: [input, network]}, dispatch: judge, ensures: [good], on: {accept: done, reject: hold, skipped: done}}
";
    check(&[CODER, JUDGE], rest, &[]);
    check(
        &[CODER, JUDGE],
        &rest.replace("[input, network]}, dispatch", "network}, dispatch"),
        &[("TG0140", "on `skipped`")],
    );
}

/// A gate over units holds while there are none: a path around their `each` is refused, with the path in the message.
#[test]
fn a_path_around_an_each_is_refused() {
    let rest = |ok: &str, whole: &str, mandatory: &str| {
        format!(
            "\
inputs: {{mode: {{one_of: [full, lean], required: true}}}}
gates:
  every: {{holds: {{every: unit, is: accepted}}, bound_to: tree}}
  whole: {{holds: {whole}, bound_to: tree, mandatory: {{run: {mandatory}}}}}
flows:
  main:
    - {{id: prepare, when: {{mode: full}}, dispatch: coder, on: {{ok: {ok}, skipped: lanes}}}}
    - {{id: lanes, each: {{over: [a, b], flow: unit, trees: own}}, on: {{all: close, some: hold, none: hold}}}}
    - {{id: close, check: [whole], on: {{pass: done, fail: {{to: lanes, limit: 2, then: hold}}, stale: hold}}}}
  unit:
    - {{id: code, dispatch: coder, on: {{ok: land}}}}
    - {{id: land, land: run, on: {{landed: done, conflict: hold}}}}
"
        )
    };
    let every = "{holds: every}";
    check(&[CODER], &rest("lanes", every, "true"), &[]);
    let around = "`close` ends the run on `pass` without entering `lanes`, and the mandatory gate `whole` then holds over no unit \
        (when mode is full): prepare → close → done";
    check(&[CODER], &rest("close", every, "true"), &[("TG0140", around)]);
    // What the `each` skips by its own `when` was decided there; a path that does not come by is refused all the same.
    let skips = |ok: &str| {
        let text = rest(ok, every, "true").replace("{id: lanes,", "{id: lanes, when: {mode: lean},");
        text.replace("none: hold}", "none: hold, skipped: close}")
    };
    check(&[CODER], &skips("lanes"), &[]);
    check(&[CODER], &skips("close"), &[("TG0140", around)]);
    // Unless it reads the units, of which there are none.
    for when in ["{not: {holds: every}}", "{some: unit, is: new}"] {
        let text = rest("lanes", every, "true").replace("{id: lanes,", &format!("{{id: lanes, when: {when},"));
        let text = text.replace("none: hold}", "none: hold, skipped: close}");
        check(&[CODER], &text, &[("TG0140", "without entering `lanes`")]);
    }
    // Only where the gate is mandatory.
    check(&[CODER], &rest("close", every, "{mode: full}"), &[("TG0140", around)]);
    check(&[CODER], &rest("close", every, "{mode: lean}"), &[]);
    // A gate that accepts units on which nobody has begun asks for no work.
    for asks_for_none in ["{every: unit, is: [accepted, new]}", "{none: unit, is: held}"] {
        check(&[CODER], &rest("close", every, "true").replace("{every: unit, is: accepted}", asks_for_none), &[]);
    }
    let none_new = rest("close", every, "true").replace("{every: unit, is: accepted}", "{none: unit, is: new}");
    check(&[CODER], &none_new, &[("TG0140", around)]);
    // Where an input decides the gate, it reads no unit.
    check(&[CODER], &rest("close", "{any: [{mode: full}, {holds: every}]}", "true"), &[]);
    check(&[CODER], &rest("close", "{any: [{mode: lean}, {holds: every}]}", "true"), &[("TG0140", around)]);
}

/// One of several stages over the same units is enough, and a flow in place enters for its caller.
#[test]
fn the_same_units_are_entered_once() {
    let rest = |first: &str, last: &str| {
        format!(
            "\
inputs: {{mode: {{one_of: [full, lean], required: true}}}}
gates:
  full: {{holds: {{mode: full}}}}
  whole: {{holds: {{every: unit, is: produced}}, bound_to: tree, mandatory: {{run: true}}}}
flows:
  main:
    - {{id: plan, dispatch: coder, gives: [units], on: {{ok: fork}}}}
    - {{id: fork, check: [full], on: {{pass: {first}, fail: inner}}}}
    - {{id: one, each: {{over: units, flow: unit, trees: own, makes: produced}}, on: {{all: close, some: hold, none: hold}}}}
    - {{id: inner, each: {{over: it, flow: sub}}, on: {{all: close, none: dropped}}}}
    - {{id: close, check: [whole], on: {{pass: done, fail: {{to: one, limit: 2, then: hold}}, stale: hold}}}}
  sub:
    - {{id: two, check: [full], on: {{pass: dropped, fail: {last}}}}}
    - {{id: three, each: {{over: units, flow: unit, trees: own, makes: produced}}, on: {{all: done, some: hold, none: dropped}}}}
  unit:
    - {{id: code, dispatch: coder, on: {{ok: land}}}}
    - {{id: land, land: run, on: {{landed: done, conflict: hold}}}}
"
        )
    };
    check(&[CODER], &rest("one", "three"), &[]);
    let outside = "without entering `one` or `three`, and the mandatory gate `whole` then holds over no unit (when mode is full): plan → fork → close → done";
    check(&[CODER], &rest("close", "three"), &[("TG0140", outside)]);
    let inside = "(when mode is lean): plan → fork → inner → two → close → done";
    check(&[CODER], &rest("one", "done"), &[("TG0140", inside), ("TG0122", "`three`")]);
}
