//! `--json`: every line is an event of the wire, and a refusal is a document.

use serde_json::Value;

use crate::play::{BLOCKED, BUILT, Play, TASK, at, else_, script};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// The keys that a schema requires and allows, on the first level.
fn conforms(schema: &str, value: &Value) {
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
    let said = play.decide(&["dec_2", "--text", "Hello", "--json"]).exits(0);
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
