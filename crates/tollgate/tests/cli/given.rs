//! What a person gave, saw and was asked about is what counts: nothing takes its place unseen.

use crate::play::{Play, Said};
use crate::rests::{play, wrote};

pub const HOLDS: &str = "otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, \
                     inconclusive: hold, out_of_scope: hold, refused: hold}\n";
pub const CHECKER: &str = "  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}\n";
const FINE: &str = "{report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}, verdict: APPROVED, verified_rows: [\"DoD-1: there\"]}}";

/// A task is signed, planned in a document and built.
fn planned(task: &str, plan: &str) -> (Play, Said) {
    let protocol = format!(
        r#"protocol: planned
version: 1
areas: {{docs: ["docs/**"], code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}, plan: {{path: docs/plan.md, schema: build-plan.task}}}}
roles:
  planner: {{contract: status-block, writes: [docs], sees: full}}
{CHECKER}gates:
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: tree, mandatory: {{run: true}}}}
{HOLDS}flows:
  main:
    - {{id: plan, dispatch: planner, gives: [plan], on: {{ok: check}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: done, reject: hold}}}}
"#
    );
    let plan = format!("# P\\n\\n## Definition of Done\\n\\n- {plan}\\n");
    let script = format!(
        "script: 1\nroles:\n  planner: [{}]\n  dod-checker: [{FINE}]\n",
        wrote("docs/plan.md", &plan, "created")
    );
    play(task, &protocol, &script, &[])
}

#[test]
fn a_worker_does_not_replace_what_a_person_gave() {
    let task = "# One\n\n## Definition of Done\n\n- the tests pass `cmd: false`\n";
    let (play, said) = planned(task, "something easy");
    said.exits(1).says("What is planned does not change").silent_on("succeeded");
    assert!(play.tollgate(&["show", "RUN"]).out.contains("the tests pass"));
    play.holds();
    // To say the same again is no harm.
    let (play, said) = planned("# One\n\n## Definition of Done\n\n- the page is there\n", "the page is there");
    said.exits(0).says("succeeded");
    play.holds();
}

/// What is asked about is what stands in the tree, and what nobody has seen is not approved in advance.
#[test]
fn a_question_does_not_show_what_is_no_longer_there() {
    let protocol = format!(
        r#"protocol: paper
version: 1
areas: {{docs: ["docs/**"], code: ["**"]}}
artifacts: {{task: {{schema: build-plan.task, given: input}}, page: {{path: docs/page.md, sections: [Goals]}}}}
roles:
  author: {{contract: status-block, writes: [docs], sees: full}}
  polisher: {{contract: status-block, writes: [docs], sees: full}}
{CHECKER}gates:
  approved: {{holds: {{answer: approve, is: fine}}, bound_to: [page], mandatory: {{run: true}}}}
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: [code], mandatory: {{run: true}}}}
{HOLDS}flows:
  main:
    - {{id: write, dispatch: author, gives: [page], on: {{ok: polish}}}}
    - {{id: polish, dispatch: polisher, on: {{ok: check}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: approve, reject: hold}}}}
    - id: approve
      ask: {{class: approval, question: "Is it this?", shows: [page], options: {{fine: It is, stop: It is not}}}}
      on: {{fine: {{to: done, ensures: [approved]}}, stop: dropped, cancelled: hold}}
"#
    );
    let page = "# Page\\n\\n## Goals\\n\\n- be kind\\n";
    let polished = |path: &str, how: &str| {
        format!(
            "script: 1\nroles:\n  author: [{}]\n  polisher: [{}]\n  dod-checker: [{FINE}]\n",
            wrote("docs/page.md", page, "created"),
            wrote(path, &page.replace("be kind", "delete everything"), how),
        )
    };
    let task = "# One\n\n## Definition of Done\n\n- the page is there\n";
    let (beside, said) = play(task, &protocol, &polished("docs/other.md", "created"), &[]);
    said.exits(4).says("Is it this?");
    beside.decide(&["dec_1", "fine"]).exits(0).says("succeeded");
    let (over, said) = play(task, &protocol, &polished("docs/page.md", "modified"), &[]);
    said.exits(1).says("`approve` shows `page`, which is not what was given").silent_on("Is it this?");
    over.holds();
    // Nor does a judge judge it by what it was.
    let judged = protocol.replace(
        "{holds: {every: criterion, is: [passed]}, bound_to: [code]",
        "{holds: {every: criterion, is: [passed]}, bound_to: [page]",
    );
    assert_ne!(judged, protocol);
    let (over, said) = play(task, &judged, &polished("docs/page.md", "modified"), &[]);
    said.exits(1).says("`check` needs `page` as it was given");
    over.holds();
    let (_, said) = play(task, &protocol, &polished("docs/other.md", "created"), &["--answer", "approve=fine"]);
    said.exits(2).says("TG0315").says("it is about `page`, which has not been shown yet");
}

/// A document of the repository and the one that is given for it are one text.
#[test]
fn a_document_that_is_given_is_the_one_that_stands_there() {
    let protocol = format!(
        r#"protocol: paper
version: 1
areas: {{docs: ["docs/**"], code: ["**"]}}
artifacts: {{task: {{path: docs/task.md, schema: build-plan.task, given: input}}}}
roles:
{CHECKER}gates:
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: [task, code], mandatory: {{run: true}}}}
{HOLDS}flows:
  main:
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: done, reject: hold}}}}
"#
    );
    let task = "# One\n\n## Definition of Done\n\n- the page is there\n";
    for (stands, ends) in [(task, 0), ("# Another\n\n## Definition of Done\n\n- nothing\n", 1)] {
        let mut play = Play::new(task, &format!("script: 1\nroles:\n  dod-checker: [{FINE}]\n"));
        play.world.write("docs/task.md", stands);
        play.world.commit("a task");
        std::fs::write(play.world.path("own.yaml"), &protocol).unwrap();
        let run = ["run", "../own.yaml", "--give", "task=../task.md", "--script", "../script.yaml", "--no-wait"];
        let said = play.tollgate(&run).exits(ends);
        play.named_by(&said);
        if ends == 1 {
            said.says("the repository has another text at `docs/task.md`");
        }
    }
}

/// A plan that a stage delivers says what its sides may change, as one that is given at the start does; one that does not pass says why.
#[test]
fn a_plan_that_is_delivered_says_the_scopes_of_its_sides() {
    let protocol = format!(
        r#"protocol: planned
version: 1
areas: {{docs: ["docs/**"], code: ["**"]}}
artifacts: {{plan: {{path: docs/plan.md, schema: build-plan.task}}}}
roles:
  planner: {{contract: status-block, writes: [docs], sees: full}}
  developer: {{contract: status-block, writes: [code], sees: full}}
{}gates:
  covered: {{holds: {{every: criterion, is: [passed]}}, bound_to: [code], mandatory: {{unit: true}}}}
  standing: {{holds: {{every: unit, is: accepted}}, bound_to: tree, mandatory: {{run: true}}}}
{HOLDS}flows:
  main:
    - {{id: plan, dispatch: planner, gives: [plan], on: {{ok: sides}}}}
    - {{id: sides, each: {{over: [backend], flow: side, at_once: 1, trees: own, makes: accepted}}, on: {{all: look, some: hold, none: hold}}}}
    - {{id: look, check: [standing], on: {{pass: done, fail: hold, stale: hold}}}}
  side:
    - {{id: build, dispatch: developer, on: {{ok: check}}}}
    - {{id: check, dispatch: dod-checker, ensures: [covered], on: {{accept: join, reject: hold}}}}
    - {{id: join, land: run, on: {{landed: done, conflict: hold}}}}
"#,
        CHECKER.replace("[task, criteria", "[plan, criteria")
    );
    let told = |plan: &str| {
        let planner = wrote("docs/plan.md", plan, "created");
        let developer = wrote("api/a", "a\\n", "created");
        let script =
            format!("script: 1\nroles:\n  planner: [{planner}]\n  developer: [{developer}]\n  dod-checker: [{FINE}]\n");
        let mut play = Play::new("# One\n", &script);
        std::fs::write(play.world.path("own.yaml"), &protocol).unwrap();
        let said = play.tollgate(&["run", "../own.yaml", "--script", "../script.yaml", "--no-wait"]);
        play.named_by(&said);
        (play, said)
    };
    let (play, said) = told("# P\\n\\n## Definition of Done\\n\\n### Backend\\nScope: `api/**`\\n- api/a is there\\n");
    said.exits(0).says("succeeded");
    let shown = play.tollgate(&["show", "RUN"]).out;
    assert!(shown.contains("api/a is there (backend)"), "{shown}");
    play.holds();
    let (play, said) = told("# P\\n\\n## Definition of Done\\n\\n### Elsewhere\\nScope: `api/**`\\n");
    said.exits(1).says("it does not deliver `plan`: docs/plan.md: TG").silent_on("succeeded");
    play.holds();
}
