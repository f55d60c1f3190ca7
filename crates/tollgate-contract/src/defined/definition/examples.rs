//! The documents that a definition shows: its example, and for each rule a good and a bad one.

use super::{Definition, Example};
use crate::tree::{Entry, Node, Value};
use tollgate_core::Name;
use tollgate_core::diagnostic::Place;

/// A document of a definition's own.
#[derive(Debug)]
pub struct Sample<'d> {
    /// What it is, for messages.
    pub what: String,
    pub place: Place,
    /// The role that says it.
    pub by: Option<Name>,
    pub document: Node<'static>,
    /// The rule it breaks, and no other.
    pub breaks: Option<&'d Name>,
    /// The rule it shows, also when it keeps it.
    pub shows: Option<&'d Name>,
}

/// Everything that a definition shows.
pub fn samples(definition: &Definition) -> Vec<Sample<'_>> {
    let whole = Sample {
        what: "the example".to_owned(),
        place: definition.example_place,
        by: None,
        document: definition.example.clone(),
        breaks: None,
        shows: None,
    };
    let mut all = vec![whole];
    for rule in &definition.rules {
        let good = changed(&definition.example, &rule.good);
        let bad = changed(&good, &rule.bad);
        let by = rule.good.by.clone();
        all.push(Sample {
            what: format!("the good example of `{}`", rule.id),
            place: rule.good.place,
            by: by.clone(),
            document: good,
            breaks: None,
            shows: Some(&rule.id),
        });
        all.push(Sample {
            what: format!("the bad example of `{}`", rule.id),
            place: rule.bad.place,
            by: rule.bad.by.clone().or(by),
            document: bad,
            breaks: Some(&rule.id),
            shows: Some(&rule.id),
        });
    }
    all
}

/// A document with some values changed.
pub fn changed(document: &Node<'static>, example: &Example) -> Node<'static> {
    let mut changed = document.clone();
    for (path, value) in &example.set {
        put(&mut changed, &path.steps, Some(value));
    }
    for path in &example.without {
        put(&mut changed, &path.steps, None);
    }
    changed
}

/// Puts a value at a path, or takes it away.
pub fn put(node: &mut Node<'static>, steps: &[Name], value: Option<&Node<'static>>) {
    let Some((step, rest)) = steps.split_first() else {
        if let Some(value) = value {
            *node = value.clone();
        }
        return;
    };
    let index = step.parse::<usize>().ok();
    match &mut node.value {
        Value::List(items) => {
            let Some(index) = index else { return };
            if rest.is_empty() && value.is_none() {
                if index < items.len() {
                    items.remove(index);
                }
                return;
            }
            if index == items.len() {
                items.push(Node::new(Value::Null));
            }
            if let Some(item) = items.get_mut(index) {
                put(item, rest, value);
            }
        }
        Value::Map(entries) => {
            if rest.is_empty() && value.is_none() {
                entries.retain(|entry| *entry.key != **step);
                return;
            }
            if !entries.iter().any(|entry| *entry.key == **step) {
                entries.push(Entry { key: step.to_string().into(), at: 0, node: Node::new(Value::Map(Vec::new())) });
            }
            if let Some(entry) = entries.iter_mut().find(|entry| *entry.key == **step) {
                put(&mut entry.node, rest, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
            *node = Node::new(Value::Map(Vec::new()));
            put(node, steps, value);
        }
    }
}
