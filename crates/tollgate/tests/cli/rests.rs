//! What a success rests on: all that any gate says of a row, documents that lie in the tree, and no more waivers than were shown.

use crate::play::{Play, Said};

const TASK: &str = "# A page\n\n## Definition of Done\n\n- the page is there\n";

const SIDES: &str = "# Two\n\n## Definition of Done\n\n### Backend\nScope: `api/**`\n- api/a is there\n\n### Frontend\nScope: `web/**`\n\
                     - web/a is there\n- web/b is there\n";

/// A page is written, checked and polished.
const PAPER: &str = r#"protocol: paper
version: 1
areas: {docs: ["docs/**"], code: ["**"]}
artifacts: {task: {schema: build-plan.task, given: input}, page: {path: docs/page.md, sections: [Goals]}}
roles:
  author: {contract: status-block, writes: [docs, code], sees: full}
  polisher: {contract: status-block, writes: [docs], sees: full}
  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}
gates:
  agreed: {holds: {judged: dod-checker}, bound_to: [BOUND], mandatory: {run: true}}
  covered: {holds: {every: criterion, is: [passed]}, bound_to: [code], mandatory: {run: true}}
  shown: {holds: SHOWN, bound_to: [ALSO]}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, inconclusive: hold, out_of_scope: hold, refused: hold}
flows:
  main:
    - {id: write, dispatch: author, gives: [page], on: {ok: check}}
    - {id: check, dispatch: dod-checker, requires: [page], ensures: [agreed, covered, shown], on: {accept: polish, reject: hold}}
    - {id: polish, dispatch: polisher, requires: [shown], on: {ok: look}}
    - {id: look, check: [LOOK], on: {pass: done, fail: hold, stale: hold}}
"#;

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

/// The page is checked, and the polisher writes it anew, or another one beside it.
fn paper(words: [(&str, &str); 4], polishes: &str) -> Said {
    let protocol = words.into_iter().fold(PAPER.to_owned(), |text, (from, to)| text.replace(from, to));
    let page = "# Page\\n\\n## Goals\\n\\n- one\\n";
    let how = if polishes == "docs/page.md" { "modified" } else { "created" };
    let script = format!(
        "script: 1\nroles:\n  author: [{}]\n  polisher: [{}]\n  dod-checker: [{{report: {{status: complete, abstract: {{outcome: fine, \
         verdict: APPROVED, next_phase: n/a}}, verdict: APPROVED, verified_rows: [\"DoD-1: there\"]}}}}]\n",
        wrote("docs/page.md", page, "created"),
        wrote(polishes, &page.replace("one", "two"), how),
    );
    let (play, said) = play(TASK, &protocol, &script, &[]);
    play.holds();
    said
}

#[test]
fn a_document_in_the_tree_is_what_stands_there() {
    let of_page =
        [("BOUND", "page"), ("SHOWN", "{every: criterion, is: [passed]}"), ("ALSO", "code"), ("LOOK", "agreed")];
    paper(of_page, "docs/other.md").exits(0).says("succeeded");
    paper(of_page, "docs/page.md").exits(1).says("`look` rests on other content").silent_on("succeeded");
    // Also where a gate only asks whether it is there.
    let there = [("BOUND", "code"), ("SHOWN", "{artifact: page}"), ("ALSO", "page"), ("LOOK", "shown")];
    paper(there, "docs/other.md").exits(0).says("succeeded");
    paper(there, "docs/page.md").exits(1).says("`look` rests on other content").silent_on("succeeded");
}

#[test]
fn a_row_rests_on_what_every_gate_says_that_reads_it() {
    let words =
        [("BOUND", "code"), ("SHOWN", "{every: criterion, is: [passed]}"), ("ALSO", "docs"), ("LOOK", "agreed")];
    paper(words, "docs/other.md").exits(1).says("files that DoD-1 was checked on have changed").silent_on("succeeded");
}

#[test]
fn what_was_shown_of_other_content_is_not_known_of_this() {
    let none = "{none: criterion, is: [failed, open]}";
    let some = "{not: {some: criterion, is: [failed, open]}}";
    for shown in [none, some] {
        let words = [("BOUND", "code"), ("SHOWN", shown), ("ALSO", "docs"), ("LOOK", "shown")];
        paper(words, "docs/other.md").exits(1).says("`look` rests on other content").silent_on("succeeded");
    }
}

/// Two sides; what becomes of one that is held is asked.
const TWO: &str = r#"protocol: two
version: 1
inputs: {sides: {list_of: [backend, frontend], default: [backend, frontend]}}
areas: {docs: ["**/docs/**"], code: ["**"]}
artifacts: {task: {schema: build-plan.task, given: input}}
roles:
  developer: {contract: status-block, writes: [docs, code], sees: full}
  polisher: {contract: status-block, writes: [docs], sees: full}
  dod-checker: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [task, criteria, change]}}
gates:
  judged: {holds: {judged: dod-checker}, bound_to: [code], mandatory: {unit: true}}
  covered: {holds: {every: criterion, is: [passed, waived]}, bound_to: [docs, code]}
  closing: {holds: {every: unit, is: [accepted, new, held, lapsed]}, bound_to: [units], mandatory: {run: true}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, cancelled: hold, unobservable: hold, inconclusive: hold, out_of_scope: hold, refused: hold}
flows:
  main:
    - id: sides
      each: {over: sides, flow: side, at_once: 2, trees: own, makes: accepted}
      on: {all: polish, some: rest, none: rest}
    - id: rest
      ask: {class: choice, question: "Not all of it is done.", options: {accept: Take what is there, stop: Give it up}}
      on: {accept: {to: polish, ensures: [closing]}, stop: dropped, cancelled: hold}
    - {id: polish, dispatch: polisher, on: {ok: look}}
    - {id: look, check: [closing], on: {pass: done, fail: hold, stale: hold}}
  side:
    - {id: build, dispatch: developer, on: {ok: check}}
    - {id: check, dispatch: dod-checker, ensures: [judged], on: {accept: sure, reject: hold}}
    - {id: sure, check: [covered], on: {pass: join, fail: hold, stale: hold}}
    - {id: join, land: run, requires: [covered], on: {landed: done, conflict: hold}}
"#;

pub fn said_of(unit: &str, nth: u32, verdict: &str, rows: &str) -> String {
    format!(
        "{{unit: {unit}, iteration: {nth}, report: {{status: complete, abstract: {{outcome: looked, verdict: {verdict}, next_phase: n/a}}, \
         verdict: {verdict}, {rows}}}}}"
    )
}

fn two(protocol: &str, polisher: &str, frontend: &[String], words: &[&str]) -> (Play, Said) {
    let built = |unit: &str, paths: &[&str]| {
        let files: Vec<String> = paths.iter().map(|path| format!("{path}: \"x\\n\"")).collect();
        format!(
            "{{unit: {unit}, iteration: 1, write: {{{}}}, report: {{status: complete, abstract: {{outcome: built, next_phase: n/a}}, files_created: [{}]}}}}",
            files.join(", "),
            paths.join(", ")
        )
    };
    let idle = "{report: {status: complete, abstract: {outcome: idle, next_phase: n/a}}}";
    let script = format!(
        "script: 1\nroles:\n  developer: [{}, {}, {idle}]\n  polisher: [{polisher}{idle}]\n  dod-checker: [{}, {}]\n",
        built("backend", &["api/a", "api/docs/a"]).replace("{unit: backend,", "{unit: backend, delay_ms: 1500,"),
        built("frontend", &["web/a", "web/b"]),
        said_of("backend", 1, "APPROVED", "verified_rows: [\"DoD-1: there\"]"),
        frontend.join(", "),
    );
    play(SIDES, protocol, &script, words)
}

#[test]
fn a_row_of_a_unit_rests_on_what_the_gate_says_that_reads_it() {
    let fine = [said_of("frontend", 1, "APPROVED", "verified_rows: [\"DoD-2: there\", \"DoD-3: there\"]")];
    let (play, said) = two(TWO, "", &fine, &[]);
    said.exits(0).says("succeeded");
    play.holds();
    let rewrites = format!("{}, ", wrote("api/docs/a", "y\\n", "modified"));
    let (play, said) = two(TWO, &rewrites, &fine, &[]);
    said.exits(1).says("is halted").silent_on("succeeded");
    assert!(play.tollgate(&["show", &play.run]).out.contains("lapsed"), "the gate that is mandatory is not about docs");
    play.holds();
}

#[test]
fn an_answer_waives_what_its_question_showed_and_nothing_else() {
    let half = [said_of("frontend", 1, "BLOCKED", "verified_rows: [\"DoD-2: there\"], gaps: [\"DoD-3: not there\"]")];
    let mine = "    - id: mine\n      ask: {class: choice, question: \"All the same?\", options: {accept: Take it, stop: Give it up}}\n      \
                on: {accept: {to: done, ensures: [judged, covered]}, stop: dropped, cancelled: hold}\n";
    let side = TWO.split("  side:\n").nth(1).unwrap();
    let early = format!(
        "    - {{id: build, dispatch: developer, on: {{ok: join}}}}\n    - {{id: join, land: run, on: {{landed: check, conflict: hold}}}}\n    \
         - {{id: check, dispatch: dod-checker, ensures: [judged], on: {{accept: sure, reject: mine}}}}\n    \
         - {{id: sure, check: [covered], on: {{pass: done, fail: hold, stale: hold}}}}\n{mine}"
    );
    let early = TWO.replace(side, &early).replace("bound_to: [docs, code]}", "bound_to: tree, mandatory: {run: true}}");
    let early = early.replace("check: [closing]", "check: [closing, covered]");
    // While the question waits, the other side lands in the tree that is asked about.
    let (play, said) = two(&early, "", &half, &[]);
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

/// What the run has gone on without is not begun beside it.
#[test]
fn a_unit_that_was_left_behind_is_not_taken_up() {
    let half =
        [said_of("frontend", 1, "BLOCKED", "verified_rows: [], gaps: [\"DoD-2: not there\", \"DoD-3: not there\"]")];
    let (play, said) = two(TWO, "", &half, &[]);
    said.exits(4).says("Not all of it is done.");
    let said = play.tollgate(&["retry", "RUN", "frontend", "--no-wait"]).exits(1);
    said.says("`frontend` is held, but the run has gone on without it").says("tollgate show");
    play.holds();
}

#[test]
fn an_answer_in_advance_waives_nothing_by_any_way() {
    let fine = [said_of("frontend", 1, "APPROVED", "verified_rows: [\"DoD-2: there\", \"DoD-3: there\"]")];
    let waives = "`accept` waives what has not been shown yet";
    // What the gate reads through another one.
    let units = "{every: unit, is: [accepted, new, held, lapsed]}";
    let nested = TWO.replace(units, &format!("{{all: [{units}, {{holds: covered}}]}}"));
    let (_, said) = two(&nested, "", &fine, &["--answer", "rest=accept"]);
    said.exits(2).says("TG0315").says(waives);
    // An ask of the same name in another flow.
    let first = "  main:\n    - id: rest\n      ask: {class: choice, question: \"Begin?\", options: {accept: Begin, stop: Give it up}}\n      \
                 on: {accept: sides, stop: dropped, cancelled: hold}\n";
    let again = "    - {id: sure, check: [covered], on: {pass: join, fail: rest, stale: hold}}\n    - id: rest\n      \
                 ask: {class: choice, question: \"All the same?\", options: {accept: Take it, stop: Give it up}}\n      \
                 on: {accept: {to: join, ensures: [covered]}, stop: dropped, cancelled: hold}\n";
    let main = "    - id: rest\n      ask: {class: choice, question: \"Not all of it is done.\", options: {accept: Take what is there, stop: Give it up}}\n      \
                on: {accept: {to: polish, ensures: [closing]}, stop: dropped, cancelled: hold}\n";
    let sure = "    - {id: sure, check: [covered], on: {pass: join, fail: hold, stale: hold}}\n";
    assert!(TWO.contains(main) && TWO.contains(sure));
    let protocol =
        TWO.replace(main, "").replace("  main:\n", first).replace("some: rest, none: rest", "some: hold, none: hold");
    let (play, said) = two(&protocol, "", &fine, &["--answer", "rest=accept"]);
    said.exits(0).says("succeeded");
    play.holds();
    let (_, said) = two(&protocol.replace(sure, again), "", &fine, &["--answer", "rest=accept"]);
    said.exits(1).says("there is another ask `rest`, and answers go by the name");
}
