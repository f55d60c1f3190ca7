//! What a success rests on: no more waivers than were shown.

use crate::play::{Play, Said};

pub const SIDES: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                     - web/a is there\n- web/b is there\n";

pub fn wrote(path: &str, text: &str, how: &str) -> String {
    format!(
        r#"{{write: {{{path}: "{text}"}}, report: {{status: complete, abstract: {{outcome: written, next_phase: n/a}}, files_{how}: [{path}]}}}}"#
    )
}

pub fn play(task: &str, protocol: &str, script: &str, words: &[&str]) -> (Play, Said) {
    let mut play = Play::new(task, script);
    std::fs::write(play.world.path("own.yaml"), protocol).unwrap();
    let run = ["run", "../own.yaml", "--give", "task=../task.md", "--script", "../script.yaml", "--no-wait"];
    let said = play.tollgate(&run.into_iter().chain(words.iter().copied()).collect::<Vec<_>>());
    play.named_by(&said);
    (play, said)
}

pub fn said_of(unit: &str, nth: u32, verdict: &str, rows: &str) -> String {
    format!(
        "{{unit: {unit}, iteration: {nth}, report: {{status: complete, abstract: {{outcome: looked, verdict: {verdict}, next_phase: n/a}}, \
         verdict: {verdict}, {rows}}}}}"
    )
}

/// Two sides that land before they are judged.
const EARLY: &str = r#"protocol: early
version: 1
areas: {docs: ["**/docs/**"], code: ["**"]}
artifacts: {task: {schema: build-plan.task, given: input}}
roles:
  developer: {contract: status-block, writes: [docs, code], sees: full}
  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}
gates:
  judged: {holds: {judged: dod-checker}, bound_to: [code], mandatory: {unit: true}}
  covered: {holds: {every: criterion, is: [passed, waived]}, bound_to: tree, mandatory: {run: true}}
  closing: {holds: {every: unit, is: [accepted, new, held, lapsed]}, bound_to: [units], mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, inconclusive: hold, out_of_scope: hold, refused: hold}
flows:
  main:
    - id: sides
      each: {over: [backend, frontend], flow: side, at_once: 2, trees: own, makes: accepted}
      on: {all: look, some: hold, none: hold}
    - {id: look, check: [closing, covered], on: {pass: done, fail: hold, stale: hold}}
  side:
    - {id: build, dispatch: developer, on: {ok: join}}
    - {id: join, land: run, on: {landed: check, conflict: hold}}
    - {id: check, dispatch: dod-checker, ensures: [judged], on: {accept: sure, reject: mine}}
    - {id: sure, check: [covered], on: {pass: done, fail: hold, stale: hold}}
    - id: mine
      ask: {class: choice, question: "All the same?", options: {accept: Take it, stop: Give it up}}
      on: {accept: {to: done, ensures: [judged, covered]}, stop: dropped, cancelled: hold}
"#;

#[test]
fn an_answer_waives_what_its_question_showed_and_nothing_else() {
    let built = |unit: &str, files: &str, names: &str| {
        format!(
            "{{unit: {unit}, write: {{{files}}}, report: {{status: complete, abstract: {{outcome: built, next_phase: n/a}}, \
             files_created: [{names}]}}}}"
        )
    };
    // While the question waits, the other side lands in the tree that is asked about.
    let script = format!(
        "script: 1\nroles:\n  developer: [{}, {}]\n  dod-checker: [{}, {}]\n",
        built("backend, delay_ms: 1500", r#"api/a: "x\n""#, "api/a"),
        built("frontend", r#"web/a: "x\n", web/b: "x\n""#, "web/a, web/b"),
        said_of("backend", 1, "APPROVED", "verified_rows: [\"DoD-1: there\"]"),
        said_of("frontend", 1, "BLOCKED", "verified_rows: [\"DoD-2: there\"], gaps: [\"DoD-3: not there\"]"),
    );
    let (play, said) = play(SIDES, EARLY, &script, &[]);
    said.exits(4).says("dec_1").says("waives DoD-3 and fnd_1");
    let said = play.decide(&["dec_1", "accept"]);
    said.exits(1)
        .says("TG0337")
        .says("would waive more than was shown when it was asked: `DoD-2`")
        .says("tollgate inbox");
    let inbox = play.tollgate(&["inbox"]).exits(0).out;
    assert!(inbox.contains("dec_2") && inbox.contains("waives DoD-2, DoD-3 and fnd_1"), "{inbox}");
    // Who has seen only the first asking does not answer the second.
    play.decide(&["dec_1", "accept"]).exits(1).says("TG0304").says("has ended without an answer");
    play.decide(&["dec_2", "accept"]).says("ada waived DoD-2, DoD-3 and fnd_1");
    play.holds();
}
