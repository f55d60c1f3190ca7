//! `--json`: every line is an event of the wire, and a refusal is a document.

use serde_json::Value;
use tollgate_core::digest::Digest;

use crate::play::{BLOCKED, BUILT, Play, TASK, at, else_, script};

pub fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The keys that a schema requires and allows, on the first level.
pub fn conforms(schema: &str, value: &Value) {
    let path = format!("{}/../../docs/schemas/wire/{schema}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let known = schema["properties"].as_object().unwrap();
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    for name in schema["required"].as_array().unwrap() {
        assert!(object.contains_key(name.as_str().unwrap()), "{name} is missing in {value}");
    }
    assert!(object.keys().all(|key| known.contains_key(key)), "a key too many in {value}");
}

#[test]
fn a_run_prints_each_event_once_in_order() {
    let mut play = Play::new(TASK, &script(&[("developer", &[at(1, BLOCKED), else_(BUILT)])]));
    let said = play.start(&["--input", "complexity=standard", "--answer", "sign-off=approve", "--json"]).exits(4);
    let mut events = lines(&said.out);
    events[0]["run"].as_str().unwrap().clone_into(&mut play.run);
    let said = play.decide(&["dec_2", "--answer", "1=Hello", "--answer", "2=No", "--json"]).exits(0);
    events.extend(lines(&said.out));
    events.iter().for_each(|event| conforms("event", event));
    let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(numbers.len(), play.events().len());
    assert_eq!(events.last().unwrap()["type"], "run.published");
    play.holds();
}

#[test]
fn a_refusal_is_a_document() {
    let mut play = Play::new(TASK, &script(&[]));
    for (words, exit, code) in [
        (&["resume", "nonsense", "--json"][..], 1, "TG0317"),
        (&["run", "build-plan", "--task", "../task.md", "--input", "complexity=standard", "--json"], 1, "TG0510"),
        (&["decide", "--json"], 2, "TG0601"),
    ] {
        let said = play.tollgate(words).exits(exit);
        let documents = lines(&said.out);
        assert_eq!(documents.len(), 1, "{}", said.out);
        conforms("error", &documents[0]);
        assert_eq!(documents[0]["error"]["code"], code, "{}", said.out);
        assert!(!documents[0]["error"]["hints"].as_array().unwrap().is_empty());
    }
    play.start(&["--input", "complexity=standard", "--json"]).exits(4);
}

/// `--json` is everywhere: each command prints documents of a committed schema, one a line, and nothing else.
#[test]
fn every_command_prints_documents_of_the_wire() {
    // A worker that says something has a log.
    let (play, said) = Play::standard(&[("developer", &[else_(&format!("misbehave: decide, {BUILT}"))])]);
    said.exits(0);
    std::fs::write(play.world.path("report.md"), "no report").unwrap();
    let scope = play.tollgate(&["contract", "show", "decree.task-issue", "--example"]).exits(0).out;
    std::fs::write(play.world.path("scope.md"), scope).unwrap();
    let task = Digest::of(TASK.as_bytes()).to_string();
    for (schema, words, exit) in [
        ("run", &["ls"][..], 0),
        ("run-detail", &["show", "RUN"], 0),
        ("run-detail", &["show", "RUN", "--reads"], 0),
        ("diff-part", &["diff", "RUN"], 0),
        ("evidence", &["evidence", &task], 0),
        ("event", &["logs", "RUN"], 0),
        ("log-line", &["logs", "RUN", "att_1"], 0),
        ("verify-result", &["verify", "RUN"], 0),
        ("verify-result", &["verify", "--all"], 0),
        ("export-result", &["export", "RUN", "-o", "../run.tar"], 0),
        ("doctor", &["doctor"], 0),
        ("doctor", &["doctor", "build-plan"], 0),
        ("protocol", &["protocol", "list"], 0),
        ("protocol-detail", &["protocol", "show", "build-plan"], 0),
        ("protocol-check", &["protocol", "check", "build-plan"], 0),
        ("contract", &["contract", "list"], 0),
        ("contract", &["contract", "show", "status-block"], 0),
        ("contract-check", &["contract", "check", "--contract", "status-block", "../report.md"], 1),
        ("scope-check", &["scope", "check", "--task", "../scope.md", "--base", "HEAD"], 0),
        ("code", &["explain"], 0),
        ("code", &["explain", "TG0309"], 0),
        ("completions", &["completions", "bash"], 0),
        ("trust", &["trust", "--list"], 0),
        ("worker", &["worker", "list"], 0),
        ("worker", &["worker", "doctor"], 0),
        ("written", &["init"], 0),
        ("error", &["retry", "RUN"], 1),
        ("error", &["nonsense"], 2),
    ] {
        let said = play.tollgate(&[words, &["--json"]].concat()).exits(exit);
        let documents = lines(&said.out);
        assert!(!documents.is_empty(), "{words:?}");
        documents.iter().for_each(|document| conforms(schema, document));
    }
}

#[test]
fn what_a_person_says_prints_its_events() {
    let mut play = Play::new(TASK, &script(&[("developer", &[else_("text: nothing")])]));
    play.start(&["--input", "complexity=standard"]).exits(4);
    for (words, first, exit) in [
        (&["decide", "RUN", "dec_1", "approve", "--no-resume"][..], "decision.ended", 0),
        (&["resume", "RUN"], "driver.took_over", 1),
        (&["retry", "RUN", "--no-resume"], "run.retried", 0),
        (&["cancel", "RUN"], "run.closed", 0),
    ] {
        let events = lines(&play.tollgate(&[words, &["--json"]].concat()).exits(exit).out);
        events.iter().for_each(|event| conforms("event", event));
        assert!(events.iter().any(|event| event["type"] == first), "{words:?}: {events:?}");
    }
}

#[test]
fn a_protocol_as_data_says_what_its_table_says() {
    let play = Play::new(TASK, &script(&[]));
    let said = play.tollgate(&["protocol", "show", "build-plan", "--format", "json"]).exits(0);
    let detail = &lines(&said.out)[0];
    assert_eq!(detail["text"], include_str!("../../../../protocols/build-plan.yaml"));
    let stages = detail["stages"].as_array().unwrap();
    let review = stages.iter().find(|stage| stage["flow"] == "side" && stage["stage"] == "review").unwrap();
    let reject = review["outcomes"].as_array().unwrap().iter().find(|row| row["outcome"] == "reject").unwrap();
    assert_eq!((&reject["to"], &reject["limit"], &reject["rule"]), (&"build".into(), &2.into(), &"stage".into()));
    assert!(stages.iter().any(|stage| stage["flow"].is_null() && stage["stage"] == "waive"));
}
