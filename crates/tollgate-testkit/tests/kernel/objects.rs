//! Every object that an event names is in the table of events: what is not there is neither proved nor exported.

use std::collections::BTreeSet;

use serde_json::Value;
use tollgate_core::digest::Digest;
use tollgate_core::run::Event;

use super::scripts;

/// Digests that name no object: of the parts of a tree, of what is open, of the journal itself.
const NO_OBJECTS: [&str; 6] = ["areas", "scoped", "nobodys", "documents", "open_set", "head"];

/// Every digest in an event, as it is written.
fn digests(value: &Value, found: &mut BTreeSet<Digest>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => found.extend(text.parse::<Digest>().ok()),
        Value::Array(items) => items.iter().for_each(|item| digests(item, found)),
        Value::Object(entries) => {
            let named = entries.iter().filter(|(key, _)| !NO_OBJECTS.contains(&key.as_str()));
            named.for_each(|(_, value)| digests(value, found));
        }
    }
}

#[test]
fn the_table_of_events_names_every_object() {
    let mut seen = BTreeSet::new();
    for script in scripts() {
        let (Some(play), _) = script.play(&script.steps) else { continue };
        for recorded in &play.events {
            let written: Value = serde_json::from_slice(&recorded.to_bytes().unwrap()).unwrap();
            let mut found = BTreeSet::new();
            digests(&written["data"], &mut found);
            let named: BTreeSet<Digest> = recorded.event.objects().into_iter().collect();
            assert_eq!(named, found, "{written}");
            seen.insert(recorded.event.kind());
        }
    }
    let unseen: Vec<&str> = Event::KINDS.iter().copied().filter(|kind| !seen.contains(kind)).collect();
    assert_eq!(unseen, [""; 0], "a script for each kind of event");
}
