//! Approvals are given to content: a repair after one voids it, and exactly what rests on what changed is checked again.

use std::collections::BTreeMap;

use tollgate_core::id::FindingId;
use tollgate_core::run::Event;
use tollgate_core::run::event::{FindingStatus, Work};

use crate::play::{BUILT, CHANGES, Play, Said, TASK, at, else_, script as plan};

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

/// A developer that writes this into a file.
fn writes(path: &str, text: &str, kind: &str) -> String {
    format!(
        r#"write: {{{path}: "{text}\n"}}, report: {{status: complete, abstract: {{outcome: done, next_phase: reviewer}}, {kind}: [{path}]}}"#
    )
}

fn both(text: &str) -> String {
    format!(
        r#"write: {{src/a.txt: "{text}\n", docs/a.md: "{text}\n"}}, report: {{status: complete, abstract: {{outcome: done, next_phase: reviewer}}, files_created: [src/a.txt, docs/a.md]}}"#
    )
}

/// A run under the protocol, whose `ci` looks for a word in a file.
fn start(mender: &[String], reviewer: &[String], looks: &str) -> (Play, Said) {
    let mut script = "script: 1\nroles:\n".to_owned();
    let made = [else_(&both("bad"))];
    let proofreader = [else_(VERDICT)];
    for (role, entries) in
        [("developer", &made[..]), ("mender", mender), ("reviewer", reviewer), ("proofreader", &proofreader)]
    {
        script += &format!("  {role}:\n");
        entries.iter().for_each(|entry| script += &format!("    - {entry}\n"));
    }
    let mut play = Play::new(TASK, &script);
    std::fs::write(play.world.path("approved.yaml"), PROTOCOL).unwrap();
    std::fs::create_dir_all(play.world.path("home/.config/tollgate")).unwrap();
    let config = format!("[commands]\nci = [\"sh\", \"-c\", '{looks}']\n");
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
    let mender = [else_(&writes("src/a.txt", "good", "files_modified"))];
    let (play, said) = start(&mender, &[else_(APPROVED)], "grep good src/a.txt");
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

#[test]
fn a_repair_of_the_documents_leaves_the_approval_of_the_code_as_it_is() {
    let mender = [else_(&writes("docs/a.md", "good", "files_modified"))];
    let (play, said) = start(&mender, &[else_(APPROVED)], "grep good docs/a.md");
    said.exits(4);
    // Neither the reviewer nor the person is asked again: what they said was of the code.
    play.decide(&["dec_1", "approve"]).exits(0);
    let expected = ["developer", "reviewer", "proofreader", "approve", "ci", "mender", "proofreader", "ci"];
    assert_eq!(done(&play), expected);
    play.holds();
}

/// A reviewer that rejects with these findings.
fn finds(findings: &str) -> String {
    format!(
        "report: {{status: complete, abstract: {{outcome: mend this, verdict: REQUEST_CHANGES, next_phase: mender}}, findings: [{findings}]}}"
    )
}

/// What became of findings, in order.
fn stories(play: &Play) -> (Vec<FindingId>, Vec<(Vec<FindingId>, FindingStatus)>) {
    let (mut opened, mut changed) = (Vec::new(), Vec::new());
    for recorded in play.events() {
        match recorded.event {
            Event::FindingOpened(one) => opened.push(one.finding),
            Event::FindingChanged(one) => changed.push((one.findings, one.status)),
            _ => {}
        }
    }
    (opened, changed)
}

#[test]
fn findings_keep_their_ids_and_a_repair_names_what_it_addresses() {
    const NAME: &str = "{severity: major, path: src/a.txt, line: 1, text: the name is not quoted}";
    const EMPTY: &str = "{severity: minor, path: src/a.txt, line: 2, text: nothing is checked}";
    let mends = |text: &str, ids: &str| {
        let kind = format!("addressed_findings: [{ids}], files_modified");
        writes("src/a.txt", text, &kind)
    };
    let mender = [at(1, &mends("two", "fnd_1")), else_(&mends("three", "fnd_2"))];
    let reviewer = [at(1, &finds(&format!("{NAME}, {EMPTY}"))), at(2, &finds(EMPTY)), else_(APPROVED)];
    let (play, said) = start(&mender, &reviewer, "true");
    said.exits(4);
    let [one, two] = [FindingId(1), FindingId(2)];
    let (opened, changed) = stories(&play);
    assert_eq!(opened, [one, two], "the second review names no new one");
    assert_eq!(
        changed,
        [
            (vec![one], FindingStatus::Addressed),
            (vec![one], FindingStatus::Fixed),
            (vec![two], FindingStatus::Addressed),
            (vec![two], FindingStatus::Fixed),
        ]
    );
    assert!(play.brief("mender", 2).contains("fnd_2") && !play.brief("mender", 2).contains("fnd_1"));
    play.decide(&["dec_1", "approve"]).exits(0);
    play.holds();
}

#[test]
fn a_loop_that_leaves_the_same_open_takes_its_way_out_before_its_limit() {
    const SAME: &str = "{severity: major, path: src/a.txt, line: 1, text: the name is not quoted}";
    const OTHER: &str = "{severity: major, path: src/a.txt, line: 9, text: it is too slow}";
    let idle = "report: {status: complete, abstract: {outcome: nothing, next_phase: reviewer}}";
    // Something new each time is no standstill; the same twice in a row is.
    let reviewer = [at(1, &finds(SAME)), at(2, &finds(OTHER)), else_(&finds(OTHER))];
    let (play, said) = start(&[else_(idle)], &reviewer, "true");
    said.exits(4).says("The same is found again.");
    assert_eq!((play.dispatched("reviewer"), play.dispatched("mender")), (3, 2));
    let left = play.events().into_iter().find_map(|recorded| match recorded.event {
        Event::FlowMoved(moved) if moved.cut_off => Some((moved.stage.to_string(), moved.outcome.to_string())),
        _ => None,
    });
    assert_eq!(left, Some(("review".to_owned(), "reject".to_owned())), "its limit is six");
    play.holds();
}

/// The matrix says of each row what shows it, what that covers and whether it still counts, on any screen.
#[test]
fn what_was_shown_before_a_repair_stands_in_the_matrix_as_stale() {
    let half = r#"write: {greet.sh: "echo Hi\n"}, report: {status: incomplete, status_reason: half of it is open, abstract: {outcome: half, next_phase: dod-checker}, files_modified: [greet.sh], dod_coverage: [{mark: "✓", row: DoD-1}]}"#;
    let developer = [at(1, BUILT), else_(half)];
    let task = TASK.replace("greet.sh greets", "greet.sh greets `cmd: grep -q echo greet.sh`");
    let mut play = Play::new(&task, &plan(&[("developer", &developer), ("reviewer", &[else_(CHANGES)])]));
    play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--no-wait"]).exits(4);
    for columns in ["80", "140"] {
        play.world.set("COLUMNS", columns);
        let shown = play.tollgate(&["show", "RUN", "--evidence"]).exits(0).out;
        let words: Vec<Vec<&str>> = shown.lines().map(|line| line.split_whitespace().collect()).collect();
        let row = |by: &str| words.iter().find(|words| words.contains(&by)).unwrap_or_else(|| panic!("{shown}"));
        for by in ["dod-checker", "command"] {
            assert!(row(by).windows(4).any(|words| words == ["pass", "code", "infra", "stale"]), "{shown}");
        }
        assert!(shown.contains("DoD-2") && shown.contains("nothing yet"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= columns.parse().unwrap()), "{shown}");
    }
    play.holds();
}
