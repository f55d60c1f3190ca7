//! Approvals are given to content: a repair after one voids it, and exactly what rests on what changed is checked again.

use std::collections::BTreeMap;

use tollgate_core::run::Event;
use tollgate_core::run::event::Work;

use crate::play::{Play, Said, TASK, else_};

const PROTOCOL: &str = "\
protocol: approved
version: 1
areas: {docs: [\"docs/**\"], code: [\"**\"]}
roles:
  developer: {contract: status-block, writes: [code, docs], sees: full}
  mender: {contract: status-block, writes: [code, docs], sees: full}
  reviewer: {contract: status-block, verdicts: [accept, reject], writes: none, sees: {only: [change, findings]}}
  proofreader: {contract: wr.gate_verdict, verdicts: [accept, reject], writes: none, sees: {only: [change]}}
gates:
  reviewed: {holds: {judged: reviewer}, bound_to: [code], mandatory: {run: true}}
  proofread: {holds: {judged: proofreader}, bound_to: [docs], mandatory: {run: true}}
  approved: {holds: {answer: approve, is: approve}, bound_to: [code], mandatory: {run: true}}
  green: {holds: {command: ci}, bound_to: [tree], mandatory: {run: true}}
asks:
  stuck: {ask: {class: choice, question: The same is found again., options: {retry: Repair once more, abort: Give up}}, on: {retry: back, abort: dropped, cancelled: hold}}
otherwise: {needs_input: hold, exhausted: hold, failed: hold, malformed: hold, inconclusive: hold}
flows:
  main:
    - {id: make, dispatch: developer, on: {ok: review}}
    - {id: review, when: {not: {holds: reviewed}}, dispatch: reviewer, ensures: [reviewed], on: {accept: proof, skipped: proof, reject: {to: repair, limit: 6, same: 2, then: stuck}}}
    - {id: proof, when: {not: {holds: proofread}}, dispatch: proofreader, ensures: [proofread], on: {accept: approve, skipped: approve, reject: hold}}
    - id: approve
      when: {not: {holds: approved}}
      ask: {class: approval, question: Is this what is wanted?, options: {approve: It is checked and closed, change: It is repaired}}
      on: {approve: {to: weigh, ensures: [approved]}, skipped: weigh, change: repair, cancelled: hold}
    - {id: weigh, check: [reviewed, proofread, approved, green], on: {pass: done, fail: {to: repair, limit: 4, then: hold}, stale: {to: review, limit: 4, then: hold}, unobservable: hold}}
    - {id: repair, dispatch: mender, on: {ok: review}}
";

const VERDICT: &str = r#"text: '{"kind":"wr.gate_verdict","version":1,"verdict":"approved","confidence":"high","rationale":"Every item of the list is shown by a test."}'"#;
const APPROVED: &str = "report: {status: complete, abstract: {outcome: fine, verdict: APPROVED, next_phase: n/a}}";

const MADE: &str = r#"write: {src/a.txt: "bad\n", docs/a.md: "bad\n"}, report: {status: complete, abstract: {outcome: done, next_phase: reviewer}, files_created: [src/a.txt, docs/a.md]}"#;
const MENDED: &str = r#"write: {src/a.txt: "good\n"}, report: {status: complete, abstract: {outcome: done, next_phase: reviewer}, files_modified: [src/a.txt]}"#;

/// A run under the protocol, whose `ci` looks for a word in a file that only the repair has.
fn start() -> (Play, Said) {
    let roles = [("developer", MADE), ("mender", MENDED), ("reviewer", APPROVED), ("proofreader", VERDICT)];
    let entries = roles.map(|(role, entry)| format!("  {role}:\n    - {}\n", else_(entry)));
    let mut play = Play::new(TASK, &format!("script: 1\nroles:\n{}", entries.concat()));
    std::fs::write(play.world.path("approved.yaml"), PROTOCOL).unwrap();
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    let config = "[commands]\nci = [\"sh\", \"-c\", 'grep good src/a.txt']\n";
    std::fs::write(play.world.path("home/.config/tollgate/config.toml"), config).unwrap();
    let said = play.tollgate(&["run", "../approved.yaml", "--script", "../script.yaml", "--no-wait"]);
    play.named_by(&said);
    (play, said)
}

/// Who worked and what was run and asked, in order, after an event.
fn done(play: &Play) -> Vec<String> {
    let what = |event| match event {
        Event::AttemptStarted(started) => match started.work {
            Work::Dispatch { role, .. } => Some(role.to_string()),
            Work::Commands { commands } => Some(commands.iter().map(|one| one.name().to_string()).collect()),
            Work::Land { .. } => None,
        },
        Event::DecisionAsked(asked) => Some(asked.asked.ask.to_string()),
        _ => None,
    };
    play.events().into_iter().filter_map(|recorded| what(recorded.event)).collect()
}

/// How the gates of the run stand.
fn gates(play: &Play) -> BTreeMap<String, String> {
    let (details, _) = play.world.json(&format!("show {} --json", play.run));
    let gates = details[0]["gates"].as_array().unwrap().iter();
    let text = |gate: &serde_json::Value, key: &str| gate[key].as_str().unwrap().to_owned();
    gates.map(|gate| (text(gate, "gate"), text(gate, "status"))).collect()
}

#[test]
fn a_repair_of_the_code_voids_its_approval_and_review_and_nothing_else() {
    let (play, said) = start();
    said.exits(4);
    let first = ["developer", "reviewer", "proofreader", "approve"];
    assert_eq!(done(&play), first);
    // What is approved does not pass its check; the repair changes the code, and the approval is asked for again.
    play.decide(&["dec_1", "approve"]).exits(4).says("dec_2");
    let again = ["ci", "mender", "reviewer", "approve"];
    assert_eq!(done(&play), [&first[..], &again].concat(), "the proof of the documents stands");
    let stand = gates(&play);
    let status = |gate: &str| stand[gate].as_str();
    assert_eq!((status("approved"), status("reviewed"), status("proofread")), ("stale", "holds", "holds"));
    let shown = play.tollgate(&["show", "RUN"]).exits(0).out;
    assert!(shown.contains("`approve` was answered for other content"), "{shown}");
    play.decide(&["dec_2", "approve"]).exits(0);
    assert_eq!(done(&play), [&first[..], &again, &["ci"]].concat());
    assert!(gates(&play).values().all(|status| status == "holds"));
    play.holds();
}
