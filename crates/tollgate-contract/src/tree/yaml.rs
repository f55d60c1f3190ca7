//! From the YAML tree to the tree of contracts: plain scalars get the types of the core schema.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Entry, Node, Value};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::yaml::{self, Content};

/// A YAML text as far as it could be read.
#[derive(Debug, Default)]
pub struct Yaml {
    pub node: Option<Node<'static>>,
    /// The place of each node.
    pub places: Vec<Place>,
    /// What is wrong, in the order of the text.
    pub problems: Vec<Diagnostic>,
    /// The values that could not be read, or not to their end.
    pub broken: Vec<u32>,
}

/// Reads one YAML document as far as it goes.
pub fn read(text: &str) -> Yaml {
    let parsed = yaml::parse_as_far(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut read = Yaml { problems: parsed.problems, ..Yaml::default() };
    read.node = parsed.node.map(|node| read.convert(node, &parsed.broken));
    if read.problems.iter().any(|problem| problem.code == Code::YAML_SYNTAX) {
        // What the text ended in may have been meant to go on.
        let mut last = read.node.as_ref();
        while let Some(node) = last {
            last = match &node.value {
                Value::Map(entries) => entries.last().map(|entry| &entry.node),
                Value::List(items) => items.last(),
                _ => break,
            };
            read.broken.push(node.at);
        }
    }
    read
}

/// A value of a definition, whose place is not needed.
pub fn convert_yaml(node: &yaml::Node) -> Node<'static> {
    Yaml::default().convert(node.clone(), &BTreeSet::new())
}

impl Yaml {
    /// Gives a place a number.
    pub fn note(&mut self, place: Place) -> u32 {
        self.places.push(place);
        u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
    }

    /// Gives each node a number and keeps the place under it.
    fn convert(&mut self, node: yaml::Node, broken: &BTreeSet<Place>) -> Node<'static> {
        let at = self.note(node.place);
        if !broken.is_empty() && broken.contains(&node.place) && node.text().is_none() {
            self.broken.push(at);
        }
        let value = match node.value {
            Content::Scalar { text, quoted: true } => Value::Text(Cow::Owned(text.to_string())),
            Content::Scalar { text, quoted: false } => plain(&text),
            Content::Seq(items) => Value::List(items.into_iter().map(|item| self.convert(item, broken)).collect()),
            Content::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        let at = self.note(key.place);
                        Entry { key: Cow::Owned(key.text.to_string()), at, node: self.convert(value, broken) }
                    })
                    .collect(),
            ),
        };
        Node { value, at }
    }
}

/// What a plain scalar means: nothing, a truth value, a number as JSON writes it, else text.
fn plain(text: &str) -> Value<'static> {
    match text {
        "" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match super::json::read(text) {
            Ok(Node { value: Value::Number(_), .. }) => Value::Number(Cow::Owned(text.to_owned())),
            _ => Value::Text(Cow::Owned(text.to_owned())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{json, yaml_text};
    use super::*;

    #[test]
    fn plain_scalars_have_types_and_everything_a_place() {
        let Yaml { node, places, .. } = read("a: 1\nb: [x, \"1\", ~, true, 007, 2026-01-02]\n");
        let node = node.unwrap();
        let expected = json::read(r#"{"a": 1, "b": ["x", "1", null, true, "007", "2026-01-02"]}"#).unwrap();
        assert!(node.same(&expected), "{node:?}");
        let list = node.get("b").unwrap().list().unwrap();
        assert_eq!(places[list[1].at as usize], Place { line: 2, column: 8 });
        assert_eq!(places[node.entry("b").unwrap().at as usize], Place { line: 2, column: 1 });
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = r#"{"a b": [], "c": {}, "d": [[1, "x\ny"], {"e": null, "f": ["- g", "true", "\u0085\u2028"]}], "null": "~", "": "é"}"#;
        let node = json::read(text).unwrap();
        let again = read(&yaml_text(&node)).node.unwrap();
        assert!(node.same(&again), "{}\n{again:?}", yaml_text(&node));
        assert!(json::read(&super::super::json_pretty(&node)).unwrap().same(&node));
        assert!(json::read(&super::super::json_line(&node)).unwrap().same(&node));
    }
}
