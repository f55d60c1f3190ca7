//! From the YAML tree to the tree of contracts: plain scalars get the types of the core schema.

use std::borrow::Cow;

use super::{Entry, Node, Value};
use crate::diagnostic::{Diagnostic, Place};
use crate::yaml::{self, Content};

/// Reads one YAML document.
pub fn read(text: &str) -> Result<(Node<'static>, Vec<Place>), Diagnostic> {
    let tree = yaml::parse(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let mut places = Vec::new();
    let node = convert(tree, &mut places);
    Ok((node, places))
}

/// A value of a definition, whose place is not needed.
pub fn convert_yaml(node: &yaml::Node) -> Node<'static> {
    convert(node.clone(), &mut Vec::new())
}

/// Gives each node a number and keeps the place under it.
fn convert(node: yaml::Node, places: &mut Vec<Place>) -> Node<'static> {
    let note = |place: Place, places: &mut Vec<Place>| {
        places.push(place);
        u32::try_from(places.len() - 1).unwrap_or(u32::MAX)
    };
    let at = note(node.place, places);
    let value = match node.value {
        Content::Scalar { text, quoted: true } => Value::Text(Cow::Owned(text.to_string())),
        Content::Scalar { text, quoted: false } => plain(&text),
        Content::Seq(items) => Value::List(items.into_iter().map(|item| convert(item, places)).collect()),
        Content::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let at = note(key.place, places);
                    Entry { key: Cow::Owned(key.text.to_string()), at, node: convert(value, places) }
                })
                .collect(),
        ),
    };
    Node { value, at }
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
        let (node, places) = read("a: 1\nb: [x, \"1\", ~, true, 007, 2026-01-02]\n").unwrap();
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
        let (again, _) = read(&yaml_text(&node)).unwrap();
        assert!(node.same(&again), "{}\n{again:?}", yaml_text(&node));
        assert!(json::read(&super::super::json_pretty(&node)).unwrap().same(&node));
        assert!(json::read(&super::super::json_line(&node)).unwrap().same(&node));
    }
}
