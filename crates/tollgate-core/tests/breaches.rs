//! Each property, by small protocols: what is refused, with which code, at which line and column.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use tollgate_core::diagnostic::Diagnostic;
use tollgate_core::protocol::{self, Dialects};

const BASE: &str = "\
protocol: small
version: 1
inputs: {mode: {one_of: [full, lean], required: true}}
vars: {size: {one_of: [small, large]}}
# Units have no attributes here.
areas: {tests: [\"tests/**\"], code: [\"**\"]}
artifacts: {plan: {sections: [A]}, task: {schema: t, given: input}}
roles:
  planner: {contract: d, writes: none, sees: full}
  coder: {contract: d, writes: [code], sees: full}
  judge: {contract: d, verdicts: [accept, reject], writes: none, sees: {all_but: [\"*.done\"]}}
gates:
  good: {holds: {judged: judge}, bound_to: [code], mandatory: {unit: true}}
  green: {holds: {command: ci}, bound_to: tree, mandatory: {run: {mode: full}}}
  shown: {holds: {every: criterion, is: passed}, bound_to: [code], mandatory: {run: {all: [{mode: full}, {not: {mode: full}}]}}}
asks:
  stuck:
    ask: {class: choice, question: How on?, options: {retry: Again, accept: As it is, stop: Stop}}
    on: {retry: back, accept: {to: as accept, ensures: origin}, stop: dropped, cancelled: hold}
otherwise: {failed: hold, malformed: hold, inconclusive: stuck, cancelled: hold, unobservable: stuck}
flows:
  main:
    - {id: plan, dispatch: planner, gives: [plan, units, size], on: {ok: sign}}
    - id: sign
      ask: {class: choice, question: Go?, options: {go: Go on, stop: Stop}}
      on: {go: build, stop: dropped}
    - id: build
      each: {over: units, flow: unit, at_once: 2, trees: own, makes: accepted}
      requires: [plan]
      on: {all: check, some: hold, none: hold}
    - id: check
      when: {size: large}
      check: [green]
      on: {pass: done, fail: {to: build, limit: 2, then: stuck}, stale: hold, skipped: short}
    - {id: short, check: [green], on: {pass: done, fail: hold, stale: hold}}
  unit:
    - {id: code, dispatch: coder, on: {ok: judge}}
    - id: judge
      dispatch: judge
      ensures: [good]
      on: {accept: land, reject: {to: code, limit: 3, then: stuck}}
    - {id: land, land: run, on: {landed: done, conflict: {to: code, limit: 1, then: hold}, out_of_scope: hold, refused: hold}}
";
const DIALECT: &str = "\
d: {verdicts: [accept, reject], healths: [failed, malformed], sections: {done: claim, next: note}, gives: {size: [small, large]}, brings: [units, criteria], words: {severity: [major, minor]}}
e: {healths: [failed, malformed], reads_part: true}
w: {healths: [failed, malformed], brings: [notices], notices: [risk], words: {severity: []}}
t: {document: true, fields: {status: [draft, approved]}}
o: {healths: [failed, malformed], gives: {size: [small, large]}, brings: [units]}
c: {document: true, brings: [criteria]}
r: {document: true, brings: [requirements]}
n: {verdicts: [accept, accept_with_notes, reject], healths: [failed, malformed], sections: {done: claim}, rows: silent}
p: {document: true, brings: [units, criteria], attrs: [touches]}
u: {document: true, brings: [units, criteria], attrs: [touches], attr_words: {touches: [input]}, unit_parts: [scope, criteria]}
s: {document: true, brings: [units, criteria], unit_parts: [scope]}
g: {document: true, brings: [criteria], words: {group: [dod, tester]}}
";

/// A gate over rows that is due in no mode: the plan brings rows, and what a case says of them is its own.
const ROWS: (&str, &str) = (
    "  shown: {holds: {every: criterion, is: passed}, bound_to: [code], mandatory: {run: {all: [{mode: full}, {not: {mode: full}}]}}}\n",
    "",
);

/// The plan brings units alone.
const UNITS: (&str, &str) = ("planner: {contract: d,", "planner: {contract: o,");

/// Who codes leaves things open.
const NOTICED: (&str, &str) = ("coder: {contract: d,", "coder: {contract: w,");

/// The judge is not shown that.
const UNNOTICED: (&str, &str) = ("[\"*.done\"]}}", "[\"*.done\", notices]}}");

/// Two named units instead of those of a plan.
const LANES: (&str, &str) = ("over: units", "over: [north, south]");

/// The task is a plan with units.
const PLANNED: (&str, &str) = ("task: {schema: t,", "task: {schema: p,");

/// The plan is a file of the tree.
const PATH: (&str, &str) = ("{sections: [A]}", "{path: plan.md}");

/// Who plans may write it.
const WRITES: (&str, &str) = ("planner: {contract: d, writes: none", "planner: {contract: d, writes: [code]");

/// Units have an attribute.
const ATTRS: (&str, &str) =
    ("# Units have no attributes here.", "units: {attrs: {touches: {set_of: [input, network]}}}");

fn found(text: &str) -> Vec<Diagnostic> {
    let (dialects, problems) = Dialects::read(DIALECT);
    assert!(problems.is_empty(), "{problems:?}");
    let (protocol, mut found) = protocol::read(text);
    found.extend(protocol.map(|protocol| protocol::check(&protocol, &dialects)).unwrap_or_default());
    found
}

type Case<'a> = (&'a [(&'a str, &'a str)], &'a str);

/// Makes the changes of each case to the base and compares what is found with `CODE@line:column …`.
fn check(cases: &[Case<'_>]) {
    let mut wrong = Vec::new();
    for (changes, expected) in cases {
        let mut text = BASE.to_owned();
        for (from, to) in *changes {
            assert!(text.contains(from), "the base has no `{from}`");
            text = text.replacen(from, to, 1);
        }
        let list = found(&text);
        let said = list.iter().map(|d| format!("{}@{}:{}", d.code, d.place.line, d.place.column));
        let said = said.collect::<Vec<_>>().join(" ");
        if said != *expected {
            let told: Vec<&str> = list.iter().map(|d| &*d.message).collect();
            wrong.push(format!("{changes:?}\n  found    {said}\n  expected {expected}\n  {told:#?}"));
        }
        assert!(list.iter().all(|d| d.hint.is_some() && !d.message.is_empty()), "{list:#?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn total() {
    check(&[
        (&[], ""),
        (&[("some: hold, ", "")], "TG0110@27:11"),
        (&[("inconclusive: stuck, ", "")], "TG0110@38:11"),
        (&[("on: {ok: sign}", "on: {ok: sign, accept: sign}")], "TG0111@23:80"),
        (&[("otherwise: {", "otherwise: {partiel: hold, ")], "TG0111@20:13"),
        (&[("planner: {contract: d,", "planner: {contract: f,")], "TG0113@9:3"),
        (&[("[accept, reject]", "[accept, accept_with_notes, reject]")], "TG0114@11:3 TG0110@38:11"),
        // A pattern that meets no code, and a skipped ask whose origin has no such way on.
        (&[("on: {ok: judge}", "on: {ok: judge, \"failed.x*\": hold}")], "TG0111@37:51"),
        (
            &[
                ("  stuck:\n", "  stuck:\n    when: {mode: full}\n"),
                ("stop: dropped, cancelled: hold}", "stop: dropped, cancelled: hold, skipped: as conflict}"),
            ],
            "TG0112@20:97 TG0112@20:97 TG0112@20:97",
        ),
    ]);
}

#[test]
fn connected() {
    check(&[
        (&[("{go: build,", "{go: bild,")], "TG0120@26:16"),
        (&[("dispatch: planner", "dispatch: plannar")], "TG0120@23:28"),
        (&[("[code], mandatory", "[cod], mandatory")], "TG0120@13:45"),
        (&[("[\"*.done\"]}", "[\"*.done\", \"*.doing\"]}")], "TG0120@11:3"),
        (&[("{to: as accept,", "{to: as acept,")], "TG0120@19:23"),
        (&[("at_once: 2", "at_once: size")], "TG0120@27:11"),
        (&[("over: units", "over: mode")], "TG0120@27:11"),
        (
            &[(
                "{ok: judge}}\n",
                "{ok: more}}\n    - {id: more, each: {over: it, flow: unit}, on: {all: judge, none: hold}}\n",
            )],
            "TG0121@38:12",
        ),
        (&[("holds: {command: ci}", "holds: {holds: green}")], "TG0121@14:3"),
        (
            &[(
                "stale: hold}}\n",
                "stale: hold}}\n    - {id: lost, check: [green], on: {pass: done, fail: hold, stale: hold}}\n",
            )],
            "TG0122@36:12",
        ),
        // A condition that no path meets keeps a stage out as well as a missing route does.
        (
            &[
                ("gates:\n", "gates:\n  big: {holds: {size: large}}\n"),
                ("skipped: short}", "skipped: fork}"),
                (
                    "    - {id: short,",
                    "    - {id: fork, check: [big], on: {pass: deep, fail: short}}\n    - {id: deep, dispatch: planner, on: {ok: hold}}\n    - {id: short,",
                ),
            ],
            "TG0122@37:12",
        ),
        (
            &[
                ("pass: done, fail: {to", "pass: hold, fail: {to"),
                ("{pass: done, fail: hold", "{pass: hold, fail: hold"),
            ],
            "TG0124@22:3",
        ),
        // An input with one value switches a stage off.
        (
            &[
                ("[full, lean], required", "[full], required"),
                (
                    "{id: plan, dispatch",
                    "{id: look, when: {not: {mode: full}}, dispatch: planner, on: {ok: plan, skipped: plan}}\n    - {id: plan, dispatch",
                ),
                ("{ok: plan, skipped", "{ok: more, skipped"),
                (
                    "    - {id: plan, dispatch",
                    "    - {id: more, dispatch: planner, on: {ok: plan}}\n    - {id: plan, dispatch",
                ),
            ],
            "",
        ),
        // Lanes are never none: `all` and `some` come only with inputs with which their flow ends in `done`.
        (
            &[
                LANES,
                (
                    "{id: code, dispatch: coder, on: {ok: judge}}",
                    "{id: code, when: {mode: full}, dispatch: coder, on: {ok: judge, skipped: dropped}}",
                ),
            ],
            "TG0124@22:3",
        ),
        // A list may hold nothing, but a run that has something to do comes by here neither.
        (&[("landed: done", "landed: dropped")], "TG0124@22:3 TG0122@31:11 TG0122@35:12"),
        (&[("  unit:\n", "  idle:\n    - {id: a, dispatch: coder, on: {ok: done}}\n  unit:\n")], "TG0126@36:3"),
        (&[("stop: dropped, cancelled", "stop: raise lost, cancelled")], "TG0125@19:65 TG0125@19:65 TG0125@27:11"),
        (&[("roles:\n", "roles:\n  idle: {contract: d, writes: none, sees: full}\n")], "TG0126@9:3"),
        (&[("asks:\n", "asks:\n  idle: {ask: {class: choice, from: report}, on: {answered: back}}\n")], "TG0126@17:3"),
        (&[("vars: {", "vars: {idle: {one_of: [a, b]}, ")], "TG0126@4:8"),
        (&[("gives: [plan, units, size]", "gives: [units, size]")], "TG0127@7:13 TG0142@27:11"),
        // From an ask that only leads to itself no end is reached.
        (
            &[
                ("{go: build, stop: dropped}", "{go: build, stop: turn}"),
                (
                    "    - id: build\n",
                    "    - {id: turn, ask: {class: choice, question: Q, options: {a: A}}, on: {a: turn, cancelled: turn}}\n    - id: build\n",
                ),
            ],
            "TG0123@27:12 TG0130@27:84",
        ),
    ]);
}

#[test]
fn bounded() {
    let timer = ("stop: Stop}}\n      on", "stop: Stop}, default: {answer: stop, after: 1h}}\n      on");
    check(&[
        (&[("{to: code, limit: 3, then: stuck}", "code")], "TG0130@41:26"),
        (&[("{to: code, limit: 3, then: stuck}", "{to: code, limit: 3}")], "TG0131@41:26"),
        (&[("{to: code, limit: 3, then: stuck}", "{to: code, same: 3, then: stuck}")], "TG0130@41:26 TG0131@41:26"),
        (&[("limit: 3", "limit: 0")], "TG0131@41:26"),
        (&[("limit: 3", "limit: 21")], "TG0132@41:26"),
        // A person in the loop bounds it; a timer does not.
        (&[("stop: dropped}\n    - id: build", "stop: plan}\n    - id: build")], ""),
        (&[timer, ("stop: dropped}\n    - id: build", "stop: plan}\n    - id: build")], "TG0130@26:23"),
        // A shared ask that is skipped goes on by itself.
        (
            &[
                ("  stuck:\n", "  stuck:\n    when: {mode: full}\n"),
                ("stop: dropped, cancelled: hold}", "stop: dropped, cancelled: hold, skipped: back}"),
            ],
            "TG0130@20:97 TG0130@20:97 TG0130@20:97 TG0130@20:97 TG0130@20:97",
        ),
    ]);
}

#[test]
fn gated() {
    check(&[
        // What was established of all units is not so after some of them were not accepted.
        (
            &[
                (
                    "gates:\n",
                    "gates:\n  whole: {holds: {every: unit, is: accepted}, bound_to: tree, mandatory: {run: true}}\n",
                ),
                ("{all: check, some: hold", "{all: see, some: hold"),
                (
                    "    - id: check\n",
                    "    - {id: see, check: [whole], on: {pass: more, fail: hold, stale: hold}}\n    - {id: more, each: {over: [north], flow: last}, on: {all: check, some: check, none: hold}}\n    - id: check\n",
                ),
                (
                    "  unit:\n",
                    "  last:\n    - {id: once, dispatch: judge, ensures: [good], on: {accept: done, reject: hold}}\n  unit:\n",
                ),
            ],
            "TG0140@20:23 TG0140@37:12 TG0140@38:40",
        ),
        // `all` of nothing comes at once, also where nothing that is there is ever done.
        (
            &[
                ("landed: done", "landed: raise through"),
                ("{all: check, some", "{all: done, raise through: check, some"),
            ],
            "TG0140@30:12",
        ),
        (&[("      ensures: [good]\n", "")], "TG0140@41:34"),
        (&[("skipped: short}", "skipped: done}")], "TG0140@34:79 TG0122@35:12"),
        // What is mandatory in one mode only is due in that mode only.
        (&[("{run: {mode: full}}", "{run: {size: large}}"), ("skipped: short}", "skipped: done}")], "TG0122@35:12"),
        // The tester's tests do not undo the review, the coder's code does.
        (
            &[
                ("  judge: {contract", "  tester: {contract: d, writes: [tests], sees: full}\n  judge: {contract"),
                ("{accept: land,", "{accept: test,"),
                ("    - {id: land,", "    - {id: test, dispatch: tester, on: {ok: land}}\n    - {id: land,"),
            ],
            "",
        ),
        (
            &[
                ("{accept: land,", "{accept: test,"),
                ("    - {id: land,", "    - {id: test, dispatch: coder, on: {ok: land}}\n    - {id: land,"),
            ],
            "TG0140@43:34",
        ),
        (&[("{accept: land,", "{accept: done,")], "TG0141@19:23 TG0141@41:12 TG0122@42:12"),
        (&[("requires: [plan]", "requires: [plan, green]")], "TG0142@27:11"),
        (&[("      requires: [plan]\n", "      requires: [plan, good]\n")], "TG0142@27:11"),
        (&[(", mandatory: {run: {mode: full}}", "")], "TG0143@14:3"),
        (&[("bound_to: tree, ", "")], "TG0144@14:3"),
        (&[("gives: [plan, units, size],", "gives: [plan, units, size], ensures: [good],")], "TG0144@23:12"),
        (
            &[(
                "ask: {class: choice, question: Go?, options: {go: Go on, stop: Stop}}",
                "ask: {class: approval, question: Go?, options: {go: Go on, stop: Stop}, default: {answer: go, after: 1h}}",
            )],
            "TG0145@24:11",
        ),
        // Units that are missing at the end, or lapse before it, are read by a gate of the run.
        (&[("on: {all: check, some: hold,", "on: {all: check, some: check,")], "TG0140@30:24"),
        (&[("none: hold}", "none: check}")], "TG0140@30:36"),
        (
            &[
                ("{all: check,", "{all: polish,"),
                ("    - id: check\n", "    - {id: polish, dispatch: coder, on: {ok: check}}\n    - id: check\n"),
            ],
            "TG0140@31:12",
        ),
        (&[("makes: accepted", "makes: produced")], "TG0143@13:3"),
        (
            &[
                ("on: {all: check, some: hold,", "on: {all: check, some: check,"),
                ("holds: {command: ci}", "holds: {all: [{command: ci}, {every: unit, is: accepted}]}"),
            ],
            "",
        ),
        // A timer has changed nothing that its route could take over.
        (
            &[
                (
                    "accept: As it is, stop: Stop}}",
                    "accept: As it is, stop: Stop}, default: {answer: stop, after: 1h}}",
                ),
                ("stop: dropped, cancelled: hold}", "stop: {to: dropped, amends: [scope]}, cancelled: hold}"),
            ],
            "TG0145@17:3",
        ),
        // An answer that amends what a gate rests on does not establish it.
        (
            &[(
                "on: {go: build, stop: dropped}",
                "on: {go: {to: build, amends: [code], ensures: [green]}, stop: dropped}",
            )],
            "TG0144@26:12",
        ),
        (
            &[(
                "on: {go: build, stop: dropped}",
                "on: {go: {to: build, amends: [tests], ensures: [good]}, stop: dropped}",
            )],
            "",
        ),
    ]);
}

#[test]
fn gated_by_answers() {
    check(&[
        // A question that is cancelled or skipped establishes nothing.
        (&[("{go: build, stop: dropped}", "{go: {to: build, ensures: [good]}, stop: dropped, cancelled: hold}")], ""),
        (
            &[("{go: build, stop: dropped}", "{go: build, stop: dropped, cancelled: {to: build, ensures: [good]}}")],
            "TG0144@26:38",
        ),
        (
            &[("stop: dropped, cancelled: hold}", "stop: dropped, cancelled: {to: as accept, ensures: origin}}")],
            "TG0144@19:80",
        ),
        // An answer that amends the code undoes what was judged of it.
        (
            &[
                ("{accept: land,", "{accept: ask,"),
                (
                    "    - {id: land,",
                    "    - {id: ask, ask: {class: choice, question: Q, options: {a: A}}, on: {a: {to: land, amends: [code]}}}\n    - {id: land,",
                ),
            ],
            "TG0140@43:34",
        ),
    ]);
}

#[test]
fn gated_by_units_that_were_entered() {
    check(&[
        // A gate of units is empty on a path that never enters their `each`.
        (
            &[
                ("holds: {command: ci}", "holds: {all: [{command: ci}, {every: unit, is: accepted}]}"),
                ("stop: dropped}\n    - id: build", "stop: check}\n    - id: build"),
            ],
            "TG0140@19:23 TG0140@34:12 TG0140@35:40",
        ),
        (
            &[
                (
                    "holds: {command: ci}, bound_to: tree, mandatory: {run: {mode: full}}",
                    "holds: {every: unit, is: accepted}, bound_to: tree, mandatory: {run: {size: large}}",
                ),
                ("stop: dropped}\n    - id: build", "stop: short}\n    - id: build"),
            ],
            "TG0140@19:23 TG0140@35:40",
        ),
    ]);
}

/// An `each` that its `when` skips is no way around the work.
#[test]
fn gated_by_units_that_were_not_skipped() {
    let whole = (
        "{command: ci}, bound_to: tree, mandatory: {run: {mode: full}}",
        "{every: unit, is: accepted}, bound_to: tree, mandatory: {run: true}",
    );
    let skipped = ("hold, none: hold}\n    - id: check", "hold, none: hold, skipped: check}\n    - id: check");
    let by_input = ("    - id: build\n", "    - id: build\n      when: {mode: full}\n");
    let by_var = ("    - id: build\n", "    - id: build\n      when: {size: large}\n");
    let by_way = ("    - id: build\n", "    - id: build\n      when: {way: long}\n");
    let way = ("inputs: {", "inputs: {way: {one_of: [long, short], required: true}, ");
    let in_full = ("mandatory: {unit: true}}", "mandatory: {unit: {mode: full}}}");
    let in_large = ("mandatory: {unit: true}}", "mandatory: {unit: {size: large}}}");
    let to_more = (
        "hold, none: hold}\n    - id: check\n",
        "hold, none: hold, skipped: more}\n    - {id: more, each: {over: units, flow: unit, trees: own}, on: {all: check, some: hold, none: hold}}\n    - id: check\n",
    );
    check(&[
        (&[whole, skipped, by_input], "TG0140@19:23 TG0140@35:12 TG0140@36:40"),
        // The gates of units say that there is no work for them in the other mode.
        (&[whole, skipped, by_input, in_full], ""),
        // A stage gives the variable, so a worker would decide it.
        (&[whole, skipped, by_var, in_large], "TG0140@19:23 TG0140@36:40"),
        (&[way, whole, skipped, by_way, in_full], "TG0140@19:23 TG0140@35:12 TG0140@36:40"),
        (&[whole, to_more, by_input], ""),
    ]);
}

#[test]
fn each_runs_over_something() {
    let over = ("over: units", "over: deep");
    check(&[
        (&[("over: units", "over: []")], "TG0105@28:20"),
        (&[("inputs: {", "inputs: {deep: {list_of: [a, b], default: []}, "), over], "TG0105@3:43"),
        (&[("inputs: {", "inputs: {deep: {list_of: [a, b]}, "), over], "TG0150@27:11"),
        (&[("inputs: {", "inputs: {deep: {list_of: [a, b], default: [a]}, "), over], ""),
    ]);
}

#[test]
fn declared() {
    check(&[
        (&[("gives: [plan, units, size]", "gives: [plan, units]")], "TG0150@31:11"),
        (
            &[
                ("{id: plan, dispatch", "{id: plan, when: {size: small}, dispatch"),
                ("{ok: sign}", "{ok: sign, skipped: hold}"),
            ],
            "TG0150@23:12",
        ),
        (&[("{size: large}", "{size: huge}")], "TG0151@32:20"),
        (&[("{size: large}", "{it.weight: huge}")], "TG0151@32:14"),
        (&[("{size: large}", "{some: unit, is: ripe}")], "TG0151@32:30"),
        (&[("gives: [plan, units, size]", "gives: [plan, size]")], "TG0152@27:11"),
        (&[("{command: ci}", "{every: requirement, is: met}")], "TG0152@17:3 TG0152@31:11 TG0152@35:12"),
        // A plan that is an input has given its units before the first stage.
        (&[PLANNED, ("gives: [plan, units, size]", "gives: [plan, size]")], ""),
        (
            &[PLANNED, ("schema: p,", "schema: p, brings: [],"), ("gives: [plan, units, size]", "gives: [plan, size]")],
            "TG0152@27:11",
        ),
        (&[("stop: Stop}}\n      on", "stop: Stop}}\n      gives: [size]\n      on")], "TG0153@24:11"),
        (
            &[
                (
                    "options: {go: Go on, stop: Stop}}\n",
                    "options: {small: Go on, large: Stop}}\n      gives: [size, mass]\n",
                ),
                ("{go: build, stop: dropped}", "{small: build, large: dropped}"),
                ("vars: {", "vars: {mass: {one_of: [small, large]}, "),
                ("{size: large}", "{all: [{size: large}, {mass: large}]}"),
            ],
            "TG0153@24:11 TG0153@24:11",
        ),
        (&[("given: input", "given: {size: small}")], "TG0150@7:36"),
    ]);
}

/// What stages and documents are said to bring, their contracts can bring.
#[test]
fn documents() {
    let reads = |field: &'static str| ("{command: ci}", field);
    check(&[
        (&[("schema: t", "schema: tt")], "TG0113@7:36"),
        (&[("schema: t", "schema: d")], "TG0113@7:36"),
        // Units, requirements and variables come with a report or a document.
        (&[("planner: {contract: d,", "planner: {contract: e,")], "TG0153@23:12 TG0153@23:12"),
        (
            &[
                PLANNED,
                ("planner: {contract: d,", "planner: {contract: e,"),
                ("[plan, units, size]", "[plan]"),
                ("{size: large}", "{mode: lean}"),
                ("vars: {size: {one_of: [small, large]}}\n", ""),
            ],
            "",
        ),
        (&[("gives: [plan, units, size]", "gives: [plan, units, requirements, size]")], "TG0153@23:12"),
        (&[("schema: t,", "schema: p, brings: [units],")], ""),
        (&[("schema: t,", "schema: t, brings: [requirements],")], "TG0153@7:36"),
        (&[("schema: t,", "brings: [criteria],")], "TG0153@7:36"),
        (
            &[("vars: {", "vars: {fate: {one_of: [keep]}, "), ("[plan, units, size]", "[plan, units, size, fate]")],
            "TG0126@4:8 TG0153@23:12",
        ),
        // A report that is the document is in the contract of the document.
        (&[("{sections: [A]}", "{schema: d, from: report}")], ""),
        (&[("{sections: [A]}", "{schema: d@1, from: report}")], ""),
        (&[("{sections: [A]}", "{schema: t, from: report}")], "TG0153@23:12"),
        (&[("{sections: [A]}", "{schema: d, from: report, given: input}")], "TG0113@7:13"),
        (&[("{schema: t, given: input}", "{schema: t, from: report, given: input}")], "TG0128@7:36"),
        // A file of the tree is given by who may write it.
        (&[PATH], "TG0153@23:12"),
        (&[PATH, WRITES], ""),
        (&[PATH, ("planner: {contract: d, writes: none", "planner: {contract: d, writes: [tests]")], "TG0153@23:12"),
        (&[WRITES, ("sections: [A]", "path: \"tests/{mode}.md\"")], "TG0153@23:12"),
        (&[WRITES, ("[\"**\"]", "[\"src/**\"]"), PATH], "TG0153@23:12"),
        // One document of a run would be overwritten by each unit.
        (
            &[
                ("task: {schema", "note: {sections: [B]}, task: {schema"),
                ("dispatch: coder, on", "dispatch: coder, gives: [note], on"),
            ],
            "TG0153@37:12",
        ),
        // A variable as well; one of the run is given where there is one of it.
        (&[("dispatch: coder, on", "dispatch: coder, gives: [size], on")], "TG0153@37:12"),
        // Each document has a place of its own for people.
        (&[("[A]", "[A], shown_at: plan.md"), ("given: input", "given: input, shown_at: task.md")], ""),
        (&[("[A]", "[A], shown_at: plan.md"), ("given: input", "given: input, shown_at: ./plan.md")], "TG0106@7:55"),
        (
            &[("[A]", "[A], many: true, shown_at: all"), ("given: input", "given: input, shown_at: all/task.md")],
            "TG0106@7:63",
        ),
        // Paths and projections.
        (&[WRITES, ("sections: [A]", "path: \"{run}/{mode}.md\"")], ""),
        (&[WRITES, ("sections: [A]", "path: \"{session}/plan.md\"")], "TG0120@7:13"),
        (&[("given: input", "given: input, shown_at: \"{mode}/task.md\"")], "TG0120@7:36"),
        (&[("asks:\n", "projections: {\"{run}/{unit}-{role}.md\": status-block.handoff}\nasks:\n")], ""),
        (&[("asks:\n", "projections: {\"{run}/{side}.md\": status-block.handoff}\nasks:\n")], "TG0120@16:15"),
        (&[("asks:\n", "projections: {status.json: d.status}\nasks:\n")], "TG0120@16:15"),
        (&[("{sections: [A]}", "{path: a.md, from: report}")], "TG0105@7:38"),
        (&[("{sections: [A]}", "{path: a.md, many: true}")], "TG0105@7:38"),
        (&[("{sections: [A]}", "{from: report, many: true}")], "TG0105@7:40"),
        // What a path is filled in with has a value when it is needed.
        (
            &[WRITES, ("inputs: {", "inputs: {place: {text: true}, "), ("sections: [A]", "path: \"{place}.md\"")],
            "TG0150@7:13",
        ),
        (
            &[
                WRITES,
                ("inputs: {", "inputs: {place: {text: true, default: a}, "),
                ("sections: [A]", "path: \"{place}.md\""),
            ],
            "",
        ),
        (&[WRITES, ("sections: [A]", "path: \"{size}.md\"")], "TG0150@23:12"),
        // A variable that only a path reads is used.
        (
            &[
                WRITES,
                ("sections: [A]", "path: \"{size}.md\""),
                ("gives: [plan, units, size]", "gives: [plan, units]"),
                ("{size: large}", "{mode: full}"),
                (
                    "{id: plan, dispatch",
                    "{id: pick, ask: {class: choice, question: Q, options: {small: S, large: L}}, gives: [size], on: {small: plan, large: plan}}\n    - {id: plan, dispatch",
                ),
            ],
            "",
        ),
        // Fields of a document.
        (&[reads("{artifact: task, with: {status: approved}}")], ""),
        (&[reads("{artifact: task, with: {status: perfect}}")], "TG0151@14:3"),
        (&[reads("{artifact: task, with: {mood: good}}")], "TG0120@14:3"),
        (&[reads("{artifact: plan, with: {status: approved}}")], "TG0120@14:3"),
        // Attributes of units.
        (&[ATTRS, reads("{it.touches: input}")], "TG0153@14:3"),
        (&[ATTRS, PLANNED, reads("{it.touches: input}")], ""),
        (&[reads("{every: unit, has: labels}")], "TG0153@14:3"),
        (&[PLANNED, reads("{every: unit, has: labels}")], ""),
        (&[ATTRS, reads("{every: unit, where: {touches: input}, is: accepted}")], "TG0153@14:3"),
        (&[ATTRS, PLANNED, reads("{every: unit, where: {touches: input}, is: accepted}")], ""),
        (&[PLANNED, reads("{every: unit, where: {colour: red}, is: accepted}")], "TG0105@14:40"),
        (&[ATTRS], "TG0126@5:17"),
    ]);
}

/// Conditions ask for what the contracts of the protocol can bring.
#[test]
fn brought() {
    let reads = |condition: &'static str| ("{command: ci}", condition);
    let planned = ("task: {schema: t,", "task: {schema: u,");
    let alone = ("gives: [plan, units, size]", "gives: [plan, size]");
    check(&[
        // Parts of units.
        (&[planned, alone, reads("{every: unit, has: scope}")], ""),
        (&[planned, alone, reads("{every: unit, has: reference}")], "TG0153@14:3"),
        (&[planned, alone, reads("{every: unit, has: [scope, criteria]}")], ""),
        (
            &[("schema: t,", "schema: s,"), alone, reads("{every: unit, has: [scope, criteria]}")],
            "TG0153@14:3 TG0153@27:11",
        ),
        (&[planned, alone, reads("{none: unit, has: objective}")], "TG0153@14:3"),
        // A report whose contract does not say what its units have may bring any of it.
        (&[planned, reads("{every: unit, has: reference}")], ""),
        // Units that exist by name may be given a scope.
        (
            &[
                LANES,
                ("gives: [plan, units, size]", "gives: [plan, size]"),
                reads("{every: unit, has: [objective, scope]}"),
            ],
            "",
        ),
        (
            &[LANES, ("gives: [plan, units, size]", "gives: [plan, size]"), reads("{every: unit, has: reference}")],
            "TG0153@14:3",
        ),
        // Values of attributes.
        (&[ATTRS, planned, alone, reads("{it.touches: input}")], ""),
        (&[ATTRS, planned, alone, reads("{it.touches: [input, network]}")], "TG0153@14:3"),
        (&[ATTRS, planned, alone, reads("{every: unit, where: {touches: network}, is: accepted}")], "TG0153@14:3"),
        // Words of rows and findings.
        (
            &[
                UNITS,
                ("schema: t,", "schema: g,"),
                reads("{all: [{every: criterion, is: passed}, {some: criterion, where: {group: dod}, is: passed}]}"),
            ],
            "",
        ),
        (
            &[
                UNITS,
                ("schema: t,", "schema: g,"),
                reads("{all: [{every: criterion, is: passed}, {some: criterion, where: {group: doc}, is: passed}]}"),
            ],
            "TG0153@14:3",
        ),
        (
            &[
                UNITS,
                ("schema: t,", "schema: c,"),
                reads("{all: [{every: criterion, is: passed}, {some: criterion, where: {group: doc}, is: passed}]}"),
            ],
            "",
        ),
        (&[reads("{none: finding, where: {severity: major}, is: open}")], ""),
        (&[reads("{none: finding, where: {severity: [major, fatal]}, is: open}")], "TG0153@14:3"),
        (&[reads("{none: finding, where: {category: style}, is: open}")], ""),
        // Notices.
        (&[reads("{none: notice, is: open}")], "TG0153@14:3"),
        (&[NOTICED, UNNOTICED, reads("{none: notice, is: open}")], ""),
        (&[NOTICED, UNNOTICED, reads("{none: notice, where: {kind: risk}, is: open}")], ""),
        (&[NOTICED, UNNOTICED, reads("{none: notice, where: {kind: [risk, debt]}, is: open}")], "TG0153@14:3"),
    ]);
}

/// What no run can do yet is refused where inputs lead to it.
#[test]
fn later() {
    check(&[
        (&[("land: run", "land: base")], "TG0129@42:12"),
        (&[("land: run", "land: pull-request")], "TG0129@42:12 TG0141@42:43"),
        (
            &[
                (
                    "{id: code, dispatch: coder, on: {ok: judge}}",
                    "{id: code, each: {over: [a, b], flow: part, makes: produced}, on: {all: judge, some: hold, none: hold}}",
                ),
                ("  unit:\n", "  part:\n    - {id: piece, dispatch: coder, on: {ok: done}}\n  unit:\n"),
            ],
            "TG0129@39:12",
        ),
        // An input with one value leads around it.
        (
            &[
                ("[full, lean], required", "[full], required"),
                ("{accept: land,", "{accept: fork,"),
                (
                    "    - {id: land,",
                    "    - {id: fork, when: {not: {mode: full}}, land: base, on: {landed: done, conflict: hold, out_of_scope: hold, refused: hold, skipped: land}}\n    - {id: land,",
                ),
            ],
            "",
        ),
    ]);
}

/// A run that comes to `done` is not refused for what no gate reads, and what judges are to establish they can.
#[test]
fn owed() {
    let rows = ("{command: ci}", "{all: [{command: ci}, {every: criterion, is: passed}]}");
    let met = ("{command: ci}", "{all: [{command: ci}, {every: requirement, is: met}]}");
    let judged = ("{judged: judge}", "{all: [{judged: judge}, {every: criterion, is: passed}]}");
    let notes = (
        "judge: {contract: d, verdicts: [accept, reject]",
        "judge: {contract: n, verdicts: [accept, accept_with_notes, reject]",
    );
    let found = ("{command: ci}", "{all: [{command: ci}, {none: finding, is: [open, addressed]}]}");
    let to = |target: &'static str| ("{accept: land,", target);
    let reads = |condition: &'static str| ("{command: ci}", condition);
    check(&[
        (&[ROWS, UNITS, ("schema: t,", "schema: c,")], "TG0140@7:36"),
        (&[ROWS, UNITS, ("schema: t,", "schema: c,"), rows], ""),
        (&[("schema: t,", "schema: r,")], "TG0140@7:36"),
        (&[("schema: t,", "schema: r,"), met], ""),
        // A gate that lets rows through which the close refuses is none.
        (
            &[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{every: criterion, is: [passed, failed]}")],
            "TG0140@7:36",
        ),
        (&[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{some: criterion, is: passed}")], "TG0140@7:36"),
        (&[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{not: {every: criterion, is: passed}}")], "TG0140@7:36"),
        (&[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{every: command, is: passed}")], "TG0140@7:36"),
        (
            &[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{every: criterion, where: {group: dod}, is: passed}")],
            "TG0140@7:36",
        ),
        (
            &[ROWS, UNITS, ("schema: t,", "schema: c,"), reads("{none: criterion, is: [open, failed, unobservable]}")],
            "",
        ),
        (
            &[
                ROWS,
                UNITS,
                ("schema: t,", "schema: c,"),
                reads("{any: [{every: criterion, is: passed}, {judged: judge}]}"),
            ],
            "TG0140@7:36",
        ),
        (
            &[
                ROWS,
                UNITS,
                ("schema: t,", "schema: c,"),
                reads("{any: [{every: criterion, is: passed}, {mode: lean}]}"),
            ],
            "",
        ),
        // Gates that each ask for a group cover all of them where the contract has no other.
        (
            &[ROWS, UNITS, ("schema: t,", "schema: g,"), reads("{every: criterion, where: {group: dod}, is: passed}")],
            "TG0140@7:36",
        ),
        (
            &[
                ROWS,
                UNITS,
                ("schema: t,", "schema: g,"),
                reads("{every: criterion, where: {group: [dod, tester]}, is: passed}"),
            ],
            "",
        ),
        // A gate that only steers has to hold nowhere.
        (
            &[
                ROWS,
                UNITS,
                ("schema: t,", "schema: c,"),
                ("gates:\n", "gates:\n  shown: {holds: {every: criterion, is: passed}, bound_to: tree}\n"),
                ("when: {size: large}", "when: {all: [{size: large}, {not: {holds: shown}}]}"),
            ],
            "TG0140@7:36",
        ),
        (&[("schema: t,", "schema: r,"), reads("{every: requirement, is: [in_scope, met]}")], "TG0140@7:36"),
        (&[("schema: t,", "schema: r,"), reads("{every: requirement, where: {by: person}, is: met}")], "TG0140@7:36"),
        (&[("schema: t,", "schema: r,"), reads("{every: requirement, where: {disposition: in_scope}, has: unit}")], ""),
        (&[notes, to("{accept: land, accept_with_notes: land,")], "TG0140@41:26"),
        (&[notes, to("{accept: land, accept_with_notes: land,"), found], ""),
        (&[notes, to("{accept: land, accept_with_notes: land,"), reads("{none: finding, is: open}")], "TG0140@41:26"),
        (
            &[
                notes,
                to("{accept: land, accept_with_notes: land,"),
                reads("{every: finding, where: {severity: major}, is: [fixed, waived]}"),
            ],
            "TG0140@41:26",
        ),
        (&[notes, to("{accept: land, accept_with_notes: stuck,")], ""),
        // A judge of criteria is shown them, and its contract can speak of them.
        (&[judged], ""),
        (&[judged, ("sees: {all_but: [\"*.done\"]}", "sees: {only: [change]}")], "TG0144@38:11"),
        (&[judged, notes, to("{accept: land, accept_with_notes: stuck,")], "TG0144@38:11"),
    ]);
}

#[test]
fn owed_by_planned_units() {
    check(&[
        // A planned unit is accepted by criteria of its own.
        (&[UNITS], "TG0153@27:11"),
        (&[UNITS, LANES], ""),
        (
            &[
                UNITS,
                ("makes: accepted", "makes: produced"),
                ("mandatory: {unit: true}", "mandatory: {run: true}"),
                ("{all: check,", "{all: look,"),
                (
                    "    - id: check\n",
                    "    - {id: look, dispatch: judge, ensures: [good], on: {accept: check, reject: hold}}\n    - id: check\n",
                ),
            ],
            "",
        ),
        (&[UNITS, ("schema: t,", "schema: c,")], ""),
        (&[UNITS, ("schema: t,", "schema: s,")], "TG0153@27:11"),
        (&[UNITS, ("schema: t,", "schema: u,")], ""),
        // A run ends as reported in main alone.
        (
            &[
                ("{pass: done, fail: {to", "{pass: reported, fail: {to"),
                ("{pass: done, fail: hold", "{pass: reported, fail: hold"),
            ],
            "",
        ),
        (&[("{landed: done", "{landed: reported")], "TG0105@42:42"),
    ]);
}

/// A default may hang on other inputs, which are known before the run.
#[test]
fn defaults() {
    let input = |text: &'static str| ("inputs: {", text);
    let used = ("{run: {mode: full}}", "{run: {deep: a}}");
    check(&[
        (&[input("inputs: {deep: {one_of: [a, b], default: [{when: {mode: full}, is: a}, {is: b}]}, "), used], ""),
        (
            &[input("inputs: {deep: {one_of: [a, b], default: [{when: {mode: full}, is: c}, {is: b}]}, "), used],
            "TG0151@3:68",
        ),
        (
            &[input("inputs: {deep: {one_of: [a, b], default: [{is: a}, {when: {mode: full}, is: b}]}, "), used],
            "TG0105@3:43",
        ),
        (
            &[input("inputs: {deep: {one_of: [a, b], default: [{when: {command: ci}, is: a}, {is: b}]}, "), used],
            "TG0150@3:10",
        ),
        (
            &[
                input(
                    "inputs: {wide: {one_of: [c, d], default: [{when: {mode: full}, is: c}]}, deep: {one_of: [a, b], default: [{when: {wide: c}, is: a}, {is: b}]}, ",
                ),
                used,
            ],
            "TG0150@3:74",
        ),
        // Where no condition holds, it has no value.
        (
            &[
                input("inputs: {deep: {one_of: [a, b], default: [{when: {mode: full}, is: a}]}, "),
                ("{size: large}", "{all: [{size: large}, {deep: a}]}"),
            ],
            "TG0150@31:11",
        ),
    ]);
}

/// What nothing heeds is no rule.
#[test]
fn without_effect() {
    check(&[
        (&[("[\"*.done\"]}}", "[\"*.done\"]}, session: planner}")], "TG0128@11:3"),
        (&[("[\"*.done\"]}}", "[\"*.done\"]}, scope: advisory}")], "TG0128@11:3"),
        (&[("[\"*.done\"]}", "[\"*.done\", notes]}")], "TG0128@11:3"),
        (&[("sees: {all_but: [\"*.done\"]}", "sees: {only: [change, requirements]}")], "TG0128@11:3"),
        (&[("{id: code,", "{id: code, label: CODE,")], "TG0128@37:12"),
        (&[("class: choice, question: Go?", "class: intake, question: Go?")], "TG0128@24:11"),
        (&[("question: Go?", "question: Go?, shows: [plan]")], ""),
        (&[("question: Go?", "question: Go?, shows: [change]")], "TG0128@24:11"),
        (&[("[small, large]", "[small, large], default: small")], "TG0128@4:8"),
        (&[("[full, lean], required: true", "[full, lean], required: true, default: full")], "TG0128@3:10"),
        (&[("{sections: [A]}", "{from: report, sections: [Goals]}")], "TG0128@7:13"),
        (&[("  stuck:\n", "  stuck:\n    label: STUCK\n")], "TG0128@17:3"),
        // A person brings no units, rows and findings with an answer, and no document that lies in no tree.
        (&[("{go: build,", "{go: {to: build, amends: [findings]},")], "TG0128@26:12"),
        (&[("{go: build,", "{go: {to: build, amends: [units, criteria]},")], "TG0128@26:12 TG0128@26:12"),
        (&[("{go: build,", "{go: {to: build, amends: [plan]},")], "TG0128@26:12"),
        (&[PATH, WRITES, ("{go: build,", "{go: {to: build, amends: [plan]},")], ""),
        (&[("{go: build,", "{go: {to: build, amends: [requirements, scope, tree]},")], ""),
        // Claims that are shown are claims, and shown.
        (&[("[\"*.done\"]}}", "[\"*.done\"]}, shown_claims: [coder.done]}")], "TG0128@11:3"),
        (&[("sees: {all_but: [\"*.done\"]}", "sees: full, shown_claims: [coder.done, coder.next]")], "TG0128@11:3"),
        (&[("sees: {all_but: [\"*.done\"]}", "sees: full, shown_claims: [\"*.done\", plan]")], "TG0128@11:3"),
        (&[("[\"*.done\"]}}", "[\"*.done\"]}, shown_claims: [notices]}")], "TG0128@11:3"),
        (&[NOTICED, ("[\"*.done\"]}}", "[\"*.done\", notices]}, shown_claims: [notices]}")], "TG0128@11:3"),
        (&[("reject], writes: none", "reject], writes: [tests], self_check: true")], "TG0128@11:3"),
        (&[("coder: {contract: d,", "coder: {contract: d, self_check: true,")], "TG0128@10:3"),
        (&[("coder: {contract: d,", "coder: {contract: d, part: developer,")], "TG0128@10:3"),
        (&[("coder: {contract: d,", "coder: {contract: e, part: developer,")], ""),
    ]);
}

#[test]
fn isolated() {
    check(&[
        (&[("sees: {all_but: [\"*.done\"]}", "sees: full")], "TG0160@38:11"),
        (&[("sees: {all_but: [\"*.done\"]}", "sees: full, shown_claims: [coder.done]")], ""),
        (&[("sees: {all_but: [\"*.done\"]}", "sees: {only: [change, coder.done]}")], "TG0160@38:11"),
        // What a report leaves open is its author's word, too.
        (&[NOTICED], "TG0160@38:11"),
        (&[NOTICED, UNNOTICED], ""),
        (&[NOTICED, ("[\"*.done\"]}}", "[\"*.done\"]}, shown_claims: [notices]}")], ""),
        (&[("reject], writes: none", "reject], writes: [code]")], "TG0162@38:11"),
        (&[("reject], writes: none", "reject], writes: [code], self_check: true")], ""),
        (&[("reject], writes: none", "reject], writes: [tests]")], ""),
        // A report that is handed on as a document has the claims of its author.
        (&[("{sections: [A]}", "{from: report}"), WRITES], "TG0160@38:11"),
        (&[("{sections: [A]}", "{from: report}"), WRITES, ("[\"*.done\"]", "[\"*.done\", plan]")], ""),
        (
            &[
                ("{sections: [A]}", "{from: report}"),
                WRITES,
                ("[\"*.done\"]}}", "[\"*.done\"]}, shown_claims: [plan]}"),
            ],
            "",
        ),
        (&[("{sections: [A]}", "{from: report}")], ""),
        (&[("trees: own", "trees: shared")], "TG0163@27:11"),
        (&[("trees: own", "trees: shared"), ("at_once: 2", "at_once: 1")], ""),
    ]);
}

/// What the reader finds has its place too, and several things are found at once.
#[test]
fn reading() {
    check(&[
        (&[("version: 1", "version: one")], "TG0105@2:10"),
        (&[("version: 1\n", "")], "TG0104@1:1"),
        (&[("version: 1\n", "version: 1\nhooks: {}\n"), ("class: choice", "class: choise")], "TG0103@3:1 TG0105@19:18"),
        (&[("version: 1\n", "version: 1\nversion: 2\n")], "TG0102@3:1"),
        // After no invalid answer the question would be cancelled before it is asked.
        (&[("class: choice", "class: choice, tries: 0")], "TG0105@18:33"),
        (&[("class: choice", "class: choice, tries: 1")], ""),
        (&[("vars: {size", "vars: &v {size")], "TG0101@4:7"),
        (&[("vars: {size", "vars: [size")], "TG0100@6:1"),
        (&[("vars: {size:", "vars: {all:")], "TG0106@4:8 TG0120@23:58 TG0120@32:14"),
        (
            &[("vars: {size:", "vars: {mode: {one_of: [a]}, size:")],
            "TG0106@4:8 TG0151@14:73 TG0151@15:99 TG0151@15:119",
        ),
        (&[("{id: short,", "{id: hold,")], "TG0120@34:88 TG0106@35:12"),
        (&[("{id: short,", "{id: check,")], "TG0120@34:88 TG0106@35:12"),
        (&[("sections: [A]", "path: ../plan.md")], "TG0105@7:26"),
        (&[("[\"tests/**\"]", "[]")], "TG0105@6:16"),
        (&[("[\"**\"]", "\"**\"")], "TG0105@6:36"),
        (&[("{retry: back,", "{retry: done,")], "TG0105@19:17"),
        (&[("{go: build,", "{go: back,")], "TG0105@26:16"),
        (&[("{ok: sign}", "{ok: {to: sign, ensures: [good]}}")], "TG0105@23:94"),
        (&[("over: units", "over: it")], "TG0105@28:45"),
        (&[("on: {landed", "gives: [plan], on: {landed")], "TG0105@42:12"),
        (&[("check: [green]\n", "check: [green]\n      land: base\n")], "TG0105@31:7"),
        (&[("sees: full}", "sees: most}")], "TG0105@9:46"),
        (&[("[accept, reject]", "[accept]")], "TG0105@11:34"),
        (&[("{judged: judge}", "{judged: judge, command: ci}")], "TG0105@13:33"),
        (&[("{command: ci}", "{command: ci, repeat: 1}")], "TG0105@14:40"),
        (&[("{command: ci}", "{command: ci, repeat: 101}")], "TG0105@14:40"),
        (&[("{command: ci}", "{command: ci, repeat: often}")], "TG0105@14:40"),
        (&[("{mode: full}", "true"), ("{size: large}", "{}")], "TG0105@32:13"),
    ]);
}
