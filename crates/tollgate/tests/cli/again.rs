//! Work that begins again: what it left is kept, and what it needs is established first.

use crate::given::{CHECKER, HOLDS};
use crate::rests::{play, said_of};

const TWO: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                   - web/a is there\n";

fn built(unit: &str, iteration: u32, files: &str, names: &str) -> String {
    format!(
        "{{unit: {unit}, iteration: {iteration}, write: {{{files}}}, report: {{status: complete, abstract: {{outcome: built, \
         next_phase: n/a}}, files_created: [{names}]}}}}"
    )
}

/// The two sides, their rows judged one by one and then together.
fn sides(asks: &str, gates: &str, main: &str, side: &str) -> String {
    format!(
        r#"protocol: two
version: 1
areas: {{code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}}}
roles:
  developer: {{contract: status-block, writes: [code], sees: full}}
{CHECKER}gates:
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: [code], mandatory: {{unit: true, run: true}}}}
{gates}{HOLDS}{asks}flows:
  main:
{main}    - {{id: look, dispatch: dod-checker, ensures: [covered], on: {{accept: done, reject: hold}}}}
  side:
{side}    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#
    )
}

/// A gate that lapsed is established again, by the stage that does so, before what needs it is entered.
#[test]
fn what_a_stage_needs_is_established_on_a_persons_retry() {
    let asks = r#"asks:
  beside:
    ask: {class: scope, question: "Outside.", from: measure, options: {extend: Widen, undo: Take it out}}
    on: {extend: {to: back, amends: [scope]}, undo: as conflict, cancelled: hold}
"#;
    let main = "    - id: sides
      each: {over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}
      on: {all: look, some: hold, none: hold}
";
    let side = r#"    - id: sign
      ask: {class: approval, question: "These scopes?", shows: [task], options: {approve: Go, no: Stop}}
      on: {approve: {to: build, ensures: [signed]}, no: dropped}
    - {id: build, dispatch: developer, requires: [signed], on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: hold}}
"#;
    let gates = "  signed: {holds: {answer: sign, is: approve}, bound_to: [scope]}\n";
    let script = format!(
        "script: 1\nroles:\n  developer: [{{unit: backend, iteration: 1, text: nonsense}}, {}, {}]\n  dod-checker: [{}, {}, {}]\n",
        built("backend", 2, r#"api/a: "x\n""#, "api/a"),
        built("frontend", 1, r#"web/a: "x\n", conf/x: "y\n""#, "web/a, conf/x"),
        said_of("backend", 1, "APPROVED", "verified_rows: [\"DoD-1: there\"]"),
        said_of("frontend", 1, "APPROVED", "verified_rows: [\"DoD-2: there\"]"),
        r#"{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}}"#,
    );
    let protocol = sides(asks, gates, main, side);
    let protocol = protocol.replace("landed: done, conflict", "landed: done, out_of_scope: beside, conflict");
    let (play, said) = play(TWO, &protocol, &script, &[]);
    said.exits(4).says("These scopes?");
    play.decide(&["dec_1", "approve"]).exits(4);
    play.decide(&["dec_2", "approve"]).exits(4).says("Outside.");
    play.decide(&["dec_3", "extend"]).exits(1);
    // The scope was widened after backend's was signed: its developer is not asked again before that is.
    play.tollgate(&["retry", "RUN", "--no-wait"])
        .exits(1)
        .says("`build` needs `signed`, which `sign` establishes")
        .silent_on("succeeded");
    play.tollgate(&["retry", "RUN", "--no-wait"]).exits(4).says("These scopes?");
    play.decide(&["dec_4", "approve"]).exits(0).says("succeeded");
    assert_eq!(play.dispatched("developer"), 3);
    play.holds();
}

/// The second unit's work undoes what the first was accepted on: a person's retry takes up the first, not the last stage, also where
/// the stage would be passed over by now. What that stage requires, it requires still.
#[test]
fn a_unit_that_lapsed_is_taken_up_again_where_it_was_made() {
    let main = "    - id: sides
      each: {over: [backend, frontend], flow: side, at_once: 1, trees: shared, makes: accepted}
      on: {all: look, some: hold, none: hold}
";
    let quiet = "  quiet: {holds: {every: criterion, is: [passed, waived]}, bound_to: tree}\n";
    let passed_over = main.replace("      on: {", "      when: {not: {holds: quiet}}\n      on: {skipped: look, ");
    let side = "    - {id: build, dispatch: developer, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: done, reject: hold}}
";
    let join = "    - {id: join, land: run, on: {landed: done, conflict: hold}}\n";
    let script = format!(
        "script: 1\nroles:\n  developer: [{}, {}, {}]\n  dod-checker: [{}, {}, {}]\n",
        built("backend", 1, r#"api/a: "x\n""#, "api/a"),
        built("frontend", 1, r#"web/a: "x\n""#, "web/a"),
        "{report: {status: complete, abstract: {outcome: nothing to do, next_phase: n/a}}}",
        said_of("backend", 1, "APPROVED", "verified_rows: [\"DoD-1: there\"]").replace("iteration: 1, ", ""),
        said_of("frontend", 1, "APPROVED", "verified_rows: [\"DoD-2: there\"]").replace("iteration: 1, ", ""),
        r#"{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}}"#,
    );
    let start = |main: &str, gates: &str| {
        let protocol = sides("", gates, main, side).replace(join, "").replace("bound_to: [code]", "bound_to: tree");
        play(TWO, &protocol, &script, &[])
    };
    for (main, gates) in [(main, ""), (&passed_over, quiet)] {
        let (play, said) = start(main, gates);
        said.exits(1).says("`backend` is no longer accepted").silent_on("succeeded");
        play.tollgate(&["retry", "RUN", "--no-wait"]).exits(0).says("succeeded");
        assert_eq!(play.dispatched("developer"), 3);
        play.holds();
    }
    let signed = r#"    - id: sign
      ask: {class: approval, question: "Go on?", options: {approve: "Yes", no: "No"}}
      on: {approve: {to: sides, ensures: [signed]}, no: dropped}
"#;
    let main = format!("{signed}{}", passed_over.replace("      on: {", "      requires: [signed]\n      on: {"));
    let gates = format!("{quiet}  signed: {{holds: {{answer: sign, is: approve}}, bound_to: tree}}\n");
    let (play, said) = start(&main, &gates);
    said.exits(4).says("Go on?");
    play.decide(&["dec_1", "approve"]).exits(1).says("`backend` is no longer accepted");
    let retry = || play.tollgate(&["retry", "RUN", "--no-wait"]);
    retry().exits(1).says("`sides` needs `signed`, which `sign` establishes");
    assert_eq!(play.dispatched("developer"), 2);
    retry().exits(4).says("Go on?");
    play.holds();
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
        r#"{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: ["DoD-1: there", "DoD-2: there"]}}"#,
    );
    let (play, said) = play(TWO, &sides("", "", main, side), &script, &[]);
    said.exits(4).says("It is not there.");
    play.decide(&["dec_1", "again"]).exits(0).says("succeeded");
    assert_eq!(play.file("api/first"), None);
    let shown = play.tollgate(&["show", "RUN"]).out;
    let (_, aside) = shown.split_once("Put aside").unwrap_or_else(|| panic!("nothing is put aside in {shown}"));
    let look = aside.lines().nth(1).unwrap_or_default();
    assert!(look.trim_start().starts_with("backend") && look.contains("git"), "{aside}");
    play.holds();
}

/// Both sides are built and judged, then looked at together: what the developer and the checker do before that and between.
fn script(developer: &str, judges: &str, looks: &str) -> String {
    let there = |unit: &str, row: &str| {
        said_of(unit, 1, "APPROVED", &format!("verified_rows: [\"{row}: there\"]")).replace("iteration: 1, ", "")
    };
    format!(
        "script: 1\nroles:\n  developer: [{developer}{}, {}, {{report: {{status: complete, abstract: {{outcome: idle, next_phase: n/a}}}}}}]\n  \
         dod-checker: [{judges}{}, {}, {looks}{{report: {{status: complete, abstract: {{outcome: fine, verdict: APPROVED, next_phase: n/a}}, \
         verdict: APPROVED, verified_rows: [\"DoD-1: there\", \"DoD-2: there\"]}}}}]\n",
        built("backend", 1, r#"api/a: "x\n""#, "api/a"),
        built("frontend", 1, r#"web/a: "x\n""#, "web/a"),
        there("backend", "DoD-1"),
        there("frontend", "DoD-2"),
    )
}

const SIDE: &str = "    - {id: build, dispatch: developer, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: join, reject: hold}}
";
const EACH: &str = "each: {over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}";

/// A judge that rejects backend at first, and the two words with which a person has it taken up.
fn rejected() -> (String, [&'static [&'static str]; 2]) {
    let judges = format!("{}, ", said_of("backend", 1, "BLOCKED", "gaps: [\"DoD-1: not there\"]"));
    (script("", &judges, ""), [&["retry", "RUN", "--no-wait"], &["retry", "RUN", "backend", "--no-wait"]])
}

/// The stage that runs the units would be passed over by now; the one that is held is taken up all the same.
#[test]
fn a_held_unit_is_taken_up_though_its_stage_would_be_passed_over() {
    let main = format!(
        "    - {{id: sides, when: {{not: {{holds: one}}}}, {EACH}, on: {{all: look, some: hold, none: hold, skipped: look}}}}\n"
    );
    let one = "  one: {holds: {some: unit, is: accepted}, bound_to: [units]}\n";
    let (script, words) = rejected();
    for words in words {
        let (play, said) = play(TWO, &sides("", one, &main, SIDE), &script, &[]);
        said.exits(1).says("dod-checker rejects at `check`").silent_on("succeeded");
        play.tollgate(words).exits(0).says("succeeded");
        play.holds();
    }
}

/// What a stage of a called flow needs may be established by the caller: that is taken up, not the stage for ever.
#[test]
fn what_a_called_flow_needs_is_established_by_its_caller() {
    let main = r#"    - id: sign
      ask: {class: approval, question: "Go on?", options: {approve: "Yes", no: "No"}}
      on: {approve: {to: call, ensures: [signed]}, no: dropped}
    - {id: call, each: {over: it, flow: mid}, on: {all: look, none: hold}}
"#;
    let mid = format!(
        "  mid:\n    - {{id: sides, requires: [signed], {EACH}, on: {{all: done, some: hold, none: hold}}}}\n  side:\n"
    );
    let signed = "  signed: {holds: {answer: sign, is: approve}, bound_to: tree}\n";
    let protocol = sides("", signed, main, SIDE).replace("  side:\n", &mid);
    let (script, words) = rejected();
    for words in words {
        let (play, said) = play(TWO, &protocol, &script, &[]);
        said.exits(4).says("Go on?");
        play.decide(&["dec_1", "approve"]).exits(1).says("dod-checker rejects at `check`");
        play.tollgate(words).exits(1).says("`sides` needs `signed`, which `sign` establishes");
        assert_eq!(play.dispatched("dod-checker"), 2);
        // What stands below and waits for this is not what the run does.
        play.tollgate(&["retry", "RUN", "--no-wait"]).exits(4).says("Go on?");
        play.decide(&["dec_2", "approve"]).exits(0).says("succeeded");
        play.holds();
    }
}

/// One `each` makes the work, a later one judges it: what is made anew is judged anew.
#[test]
fn what_is_made_again_is_judged_again() {
    let each = |flow: &str, makes: &str| {
        format!("each: {{over: [backend, frontend], flow: {flow}, at_once: 1, trees: shared, makes: {makes}}}")
    };
    let main = format!(
        "    - {{id: make, {}, on: {{all: sides, some: hold, none: hold}}}}\n    - {{id: sides, {}, on: {{all: look, some: hold, none: hold}}}}\n",
        each("made", "produced"),
        each("side", "accepted"),
    );
    let side = "    - {id: check, dispatch: dod-checker, ensures: [covered], on: {accept: done, reject: hold}}\n";
    let protocol = sides("", STANDING, &main, side)
        .replace("    - {id: join, land: run, on: {landed: done, conflict: hold}}\n", "")
        .replace("change]}", "change, findings]}")
        .replace("reject: hold}}\n  side:\n", "reject: {to: make, limit: 2, then: hold}}}\n  side:\n")
        .replace("on: {accept: done, reject: {to", "on: {accept: stand, reject: {to")
        .replace(
            "  side:\n",
            &format!("{STAND}  made:\n    - {{id: build, dispatch: developer, on: {{ok: done}}}}\n  side:\n"),
        )
        .replace("accepted, new]", "accepted]");
    let gaps = said_of("x", 1, "BLOCKED", "gaps: [\"DoD-1: not as it was meant\"]").replace("unit: x, ", "");
    let again = built("backend", 2, r#"api/a: "y\n""#, "api/a").replace("files_created", "files_modified");
    let (play, said) = play(TWO, &protocol, &script(&format!("{again}, "), "", &format!("{gaps}, ")), &[]);
    said.exits(0).says("succeeded");
    // Backend was judged again, and both were looked at together again.
    assert_eq!(play.dispatched("dod-checker"), 5);
    play.holds();
}

const STANDING: &str =
    "  standing: {holds: {every: unit, is: [accepted, new]}, bound_to: tree, mandatory: {run: true}}\n";
const STAND: &str = "    - {id: stand, check: [standing], on: {pass: done, fail: hold, stale: hold}}\n";

/// A side that cannot be made is left for another way, and with it the one that it stopped or that never began; what they were to
/// show is shown by the run.
#[test]
fn what_a_raise_leaves_is_not_waited_for() {
    let outgrown = "{unit: backend, iteration: 1, misbehave: crash, report: {status: complete, abstract: {outcome: built, next_phase: n/a}}}";
    let slow =
        built("frontend", 1, r#"web/a: "x\n""#, "web/a").replace("iteration: 1,", "iteration: 1, delay_ms: 20000,");
    let alone = built("x", 1, r#"api/a: "x\n", web/a: "x\n""#, "api/a, web/a").replace("unit: x, ", "");
    let script = script(&format!("{outgrown}, {slow}, {alone}, "), "", "");
    let side = SIDE.replace("on: {ok: check}", "on: {ok: check, failed: raise outgrown}");
    for at_once in ["at_once: 1", "at_once: 2"] {
        let main = format!(
            "    - {{id: sides, {}, on: {{all: look, some: hold, none: hold, raise outgrown: solo}}}}\n    - {{id: solo, dispatch: developer, on: {{ok: look}}}}\n",
            EACH.replace("at_once: 1", at_once)
        );
        let protocol = sides("", STANDING, &main, &side).replace(
            "accept: done, reject: hold}}\n  side:\n",
            &format!("accept: stand, reject: hold}}}}\n{STAND}  side:\n"),
        );
        let (play, said) = play(TWO, &protocol, &script, &[]);
        said.exits(0).says("succeeded").says("without backend, frontend");
        play.holds();
    }
}
