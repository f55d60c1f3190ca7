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
        said.exits(1).says("fnd_1 fixed: reviewer accepts").says("fnd_1 is open: it leaks").silent_on("succeeded");
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
    assert!(at("fnd_1 fixed in the run's tree") < at("landed in the run's tree"), "{}", said.err);
    assert!(at("landed in the run's tree") < at("fnd_1 fixed: reviewer accepts"), "{}", said.err);
    run.holds();
}

pub const BOTH: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- README.md is there `cmd: test -f README.md`\n\n\
                    ### Frontend\nScope: `web/**`\n- README.md is there too `cmd: test -f README.md`\n";
pub const BACKEND: &str = "unit: backend, ";
pub const FRONTEND: &str = "unit: frontend, ";
pub const FIRST: &str = "unit: backend, iteration: 1, ";
const SECOND: &str = "unit: backend, iteration: 2, ";
pub const JOIN: &str = "    - {id: join, land: run, on: {landed: done, conflict: hold}}\n";
const LOOK: &str = "    - {id: look, dispatch: dod-checker, ensures: [covered], on: {accept: close, reject: hold}}\n    \
                    - {id: close, check: [covered, standing], on: {pass: done, fail: hold, stale: hold}}\n";

/// A script of one's own: who says what, the most exact first.
fn told(flows: &str, roles: &[(&str, &[String])]) -> (Play, Said) {
    told_of(BOTH, "{unit: true, run: true}", flows, roles)
}

/// The same of a task, where the rows are mandatory for some only.
pub fn told_of(task: &str, mandatory: &str, flows: &str, roles: &[(&str, &[String])]) -> (Play, Said) {
    let protocol = format!(
        r#"protocol: apart
{ROLES}  polisher: {{contract: status-block, writes: [code], sees: full}}
gates:
  covered: {{holds: {{every: criterion, is: [passed, waived]}}, bound_to: [code], mandatory: {mandatory}}}
  standing: {{holds: {{every: unit, is: [accepted, held, new]}}, bound_to: tree, mandatory: {{run: true}}}}
{HOLDS}flows:
{flows}"#
    );
    let said = roles.iter().map(|(role, said)| format!("  {role}: [{}]\n", said.join(", ")));
    play(task, &protocol, &format!("script: 1\nroles:\n{}", said.collect::<String>()), &[])
}

fn leaks(of: &str) -> String {
    said(of, "REQUEST_CHANGES", "findings: [{severity: critical, path: api/a, text: it leaks}]")
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
pub fn then_fine(first: impl IntoIterator<Item = String>) -> Vec<String> {
    first.into_iter().chain([fine(BACKEND), fine(FRONTEND), fine("")]).collect()
}

fn not_so(of: &str) -> String {
    said(of, "BLOCKED", "gaps: [\"DoD-1: not so\"]")
}

pub fn by(of: &str, path: &str, text: &str, how: &str) -> String {
    wrote(path, text, how).replacen('{', &format!("{{{of}"), 1)
}

pub fn crashes(of: &str) -> String {
    format!("{{{of}misbehave: crash, report: {{status: complete, abstract: {{outcome: said, next_phase: n/a}}}}}}")
}

/// A unit that is held beside one that raises keeps its tree, and what was found in it; who judges the run's has not seen it.
#[test]
fn what_was_found_in_a_unit_that_is_held_beside_a_raise_is_not_settled_without_it() {
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: hold, raise out: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: {{to: sides, limit: 1, then: hold}}, reject: hold}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: polish, reject: check}}}}
    - {{id: polish, dispatch: polisher, on: {{ok: check, failed: raise out}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let built = "{report: {status: complete, abstract: {outcome: said, next_phase: n/a}}}".to_owned();
    let (run, told) = told(
        &flows,
        &[
            ("developer", &[by(BACKEND, "api/a", "leaks", "created"), by(FRONTEND, "web/a", "fine", "created")]),
            ("polisher", &[crashes("unit: frontend, iteration: 1, "), built]),
            ("reviewer", &then_fine([leaks(BACKEND)])),
            ("dod-checker", &then_fine([not_so(FIRST)])),
        ],
    );
    told.exits(1).says("fnd_1 fixed in the run's tree").says("fnd_1 is open against it").silent_on("succeeded");
    run.holds();
}

/// What a unit mended in its own tree, and was judged there, lands with it, whoever raised beside it meanwhile.
#[test]
fn a_unit_that_is_held_beside_a_raise_lands_what_it_mended() {
    let flows = format!(
        "  main:
    - {{id: make, dispatch: polisher, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: look, reject: sides}}}}
    - {{id: sides, each: {{over: [backend, frontend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: hold, raise out: {{to: sides, limit: 1, then: hold}}}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell, failed: raise out}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "api/a", "leaks", "created")]),
            (
                "developer",
                &[
                    by(BACKEND, "api/a", "mended", "modified"),
                    crashes("unit: frontend, iteration: 1, "),
                    by(FRONTEND, "web/a", "fine", "created"),
                ],
            ),
            ("reviewer", &[fine(BACKEND), fine(FRONTEND), leaks("")]),
            ("dod-checker", &then_fine([not_so(FIRST)])),
        ],
    );
    told.exits(0).says("fnd_1 fixed: reviewer accepts").says("succeeded");
    run.holds();
}

/// A raise above the unit's own `each` loses its tree as one of its own does, also what an earlier rejection had found.
#[test]
fn what_was_settled_in_a_tree_below_a_sub_flow_that_raises_is_not() {
    let flows = format!(
        "  main:
    - {{id: make, dispatch: polisher, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: look, reject: more}}}}
    - {{id: more, dispatch: dod-checker, on: {{accept: {{to: review, limit: 1, then: phase}}, reject: hold}}}}
    - {{id: phase, each: {{over: it, flow: phase}}, on: {{all: look, none: hold, raise out: look}}}}
{LOOK}  phase:
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: done, some: raise out, none: raise out}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let slow = said("", "REQUEST_CHANGES", "findings: [{severity: critical, path: web/a, text: it is slow}]");
    let both = wrote("api/a", "leaks", "created").replace("api/a: \"leaks\"", "api/a: \"leaks\", web/a: \"slow\"");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[both.replace("[api/a]", "[api/a, web/a]")]),
            ("developer", &[by(BACKEND, "api/a", "mended", "modified"), by(FRONTEND, "web/a", "quick", "modified")]),
            ("reviewer", &[fine(BACKEND), fine(FRONTEND), leaks("iteration: 1, "), slow]),
            ("dod-checker", &[not_so(BACKEND), fine(FRONTEND), fine("")]),
        ],
    );
    told.exits(1).says("fnd_1 fixed: reviewer accepts").says("fnd_1 is open: it leaks").silent_on("succeeded");
    run.holds();
}

/// What a judge of a unit found may lie in what was there before: mended in a tree that is lost, it is not mended.
#[test]
fn what_a_unit_found_in_the_work_of_the_run_and_took_with_it_stands() {
    let flows = format!(
        "  main:
    - {{id: make, dispatch: polisher, on: {{ok: sides}}}}
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: hold, raise out: look}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: {{to: build, limit: 1, then: hold}}}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: raise out}}}}
{JOIN}"
    );
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "api/a", "leaks", "created")]),
            (
                "developer",
                &[
                    by(FRONTEND, "web/a", "fine", "created"),
                    by(FIRST, "api/b", "b", "created"),
                    by(BACKEND, "api/a", "mended", "modified"),
                ],
            ),
            ("reviewer", &then_fine([leaks(FIRST)])),
            ("dod-checker", &[not_so(BACKEND), fine(FRONTEND), fine("")]),
        ],
    );
    told.exits(1).says("fnd_1 fixed: reviewer accepts").says("fnd_1 is open: it leaks").silent_on("succeeded");
    run.holds();
}

/// Somebody who works in the run's tree mends nothing in a unit's own; a judge's silence there confirms nothing.
#[test]
fn who_works_in_the_run_s_tree_mends_nothing_in_a_unit_s_own() {
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: mend, none: mend}}}}
    - {{id: mend, dispatch: polisher, on: {{ok: {{to: sides, limit: 2, then: hold}}}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: {{to: pause, limit: 1, then: hold}}}}}}
    - {{id: pause, dispatch: dod-checker, on: {{accept: tell, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let typo = said(BACKEND, "REQUEST_CHANGES", "findings: [{severity: minor, path: api/a, text: a typo}]");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "notes.md", "looked", "created")]),
            ("developer", &[by(FRONTEND, "web/a", "fine", "created"), by(BACKEND, "api/a", "leaks", "created")]),
            ("reviewer", &[leaks(FIRST), typo, fine(FRONTEND)]),
            ("dod-checker", &then_fine([not_so(FIRST)])),
        ],
    );
    told.exits(1).says("fnd_1 and fnd_2 addressed in the run's tree").silent_on("fnd_1 fixed").silent_on("succeeded");
    run.holds();
}

/// What is found in the run's tree while a unit has one from before is settled by nothing that is said of the unit's.
#[test]
fn what_was_found_in_the_run_s_tree_is_not_settled_in_an_older_one() {
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: mend, none: hold}}}}
    - {{id: mend, dispatch: polisher, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: hold, reject: {{to: sides, limit: 1, then: hold}}}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell, failed: hold}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
{JOIN}"
    );
    let found =
        said("", "REQUEST_CHANGES", "findings: [{severity: critical, path: api/x, text: passwords are logged}]");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "api/x", "logs passwords", "created")]),
            (
                "developer",
                &[crashes(FIRST), by(BACKEND, "api/a", "fine", "created"), by(FRONTEND, "web/a", "fine", "created")],
            ),
            ("reviewer", &[fine(BACKEND), fine(FRONTEND), found]),
            ("dod-checker", &then_fine([])),
        ],
    );
    told.exits(1).says("fnd_1 fixed: reviewer accepts").says("fnd_1 is open against it").silent_on("succeeded");
    run.holds();
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

/// Who brings both sides together sees what was found in the run's, and it is settled where that is judged.
#[test]
fn what_was_found_in_the_run_s_tree_is_settled_where_both_came_together() {
    let flows = format!(
        "  main:
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: mend, none: hold}}}}
    - {{id: mend, dispatch: polisher, on: {{ok: review}}}}
    - {{id: review, dispatch: reviewer, on: {{accept: hold, reject: {{to: sides, limit: 1, then: hold}}}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell, failed: hold}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: {{to: build, limit: 1, then: hold}}}}}}
"
    );
    let found =
        said("", "REQUEST_CHANGES", "findings: [{severity: critical, path: api/x, text: passwords are logged}]");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "api/x", "logs passwords", "created")]),
            (
                "developer",
                &[
                    crashes(FIRST),
                    by(SECOND, "api/x", "mine", "created"),
                    by(BACKEND, "api/x", "both, mended", "modified"),
                    by(FRONTEND, "web/a", "fine", "created"),
                ],
            ),
            ("reviewer", &[fine(BACKEND), fine(FRONTEND), found]),
            ("dod-checker", &then_fine([])),
        ],
    );
    told.exits(0).says("did not land").says("fnd_1 fixed: reviewer accepts").says("succeeded");
    run.holds();
}

/// A file that was written in a tree that is lost is no proof of a claim in the next.
#[test]
fn what_was_written_in_a_tree_that_is_lost_covers_no_claim_in_the_next() {
    let flows = format!(
        "  main:
    - {{id: make, dispatch: polisher, on: {{ok: sides}}}}
    - {{id: sides, each: {{over: [frontend, backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: hold, raise out: {{to: sides, limit: 1, then: hold}}}}}}
{LOOK}  side:
    - {{id: build, dispatch: developer, on: {{ok: tell}}}}
    - {{id: tell, dispatch: reviewer, on: {{accept: check, reject: hold}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: raise out}}}}
{JOIN}"
    );
    let claims =
        by(BACKEND, "api/b", "x", "created").replace("files_created: [api/b]", "files_created: [api/b, api/a]");
    let (run, told) = told(
        &flows,
        &[
            ("polisher", &[by("", "notes.md", "looked", "created")]),
            ("reviewer", &then_fine([])),
            ("developer", &[by(FIRST, "api/a", "a", "created"), claims, by(FRONTEND, "web/a", "fine", "created")]),
            ("dod-checker", &then_fine([not_so(FIRST)])),
        ],
    );
    told.exits(0)
        .says("the report names api/a as changed, but it did not change")
        .says("fnd_2 refuted: dismissed by reviewer");
    run.holds();
}
