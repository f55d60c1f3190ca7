//! One tree for every form: a value and where it stands, read from JSON, JSON lines, YAML or Markdown.
//!
//! Everything after reading (types, rules, the mapping, rendering) knows this tree alone.

pub mod json;
mod write;
mod yaml;

pub use write::{json_line, json_pretty, yaml_text};
pub use yaml::{convert_yaml, read as read_yaml};

use std::borrow::Cow;
use std::cell::OnceCell;

use crate::text::{Source, is_blank};
use tollgate_core::diagnostic::Place;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    pub value: Value<'a>,
    /// What [`Places`] turns into a line and a column.
    pub at: u32,
}

/// What a node holds.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    /// As it was written.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    /// In the order of the text; no key stands twice.
    Map(Vec<Entry<'a>>),
}

/// A key, where it stands, and its value.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub key: Cow<'a, str>,
    pub at: u32,
    pub node: Node<'a>,
}

impl<'a> Node<'a> {
    /// A node without a place of its own.
    pub fn new(value: Value<'a>) -> Self {
        Self { value, at: 0 }
    }

    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The text of a text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text, number or truth value as a word.
    pub fn word(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) | Value::Number(text) => Some(text),
            Value::Bool(true) => Some("true"),
            Value::Bool(false) => Some("false"),
            Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The items of a list.
    pub fn list(&self) -> Option<&[Node<'a>]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries of a map.
    pub fn map(&self) -> Option<&[Entry<'a>]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&Entry<'a>> {
        self.map()?.iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// Whether it says nothing: null, nothing to be seen, a list or map in which nothing says something.
    pub fn is_blank(&self) -> bool {
        match &self.value {
            Value::Null => true,
            Value::Bool(_) | Value::Number(_) => false,
            Value::Text(text) => is_blank(text),
            Value::List(items) => items.iter().all(Node::is_blank),
            Value::Map(entries) => entries.iter().all(|entry| entry.node.is_blank()),
        }
    }

    /// Whether two trees say the same, wherever they stand and in whatever order their keys are.
    pub fn same(&self, other: &Node<'_>) -> bool {
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b || number(a) == number(b),
            (Value::Text(a), Value::Text(b)) => a == b,
            (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len()
                    && a.iter().zip(b).all(|(x, y)| match x.key == y.key {
                        true => x.node.same(&y.node),
                        false => other.get(&x.key).is_some_and(|node| x.node.same(node)),
                    })
            }
            _ => false,
        }
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> Node<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        let value = match self.value {
            Value::Null => Value::Null,
            Value::Bool(is) => Value::Bool(is),
            Value::Number(text) => Value::Number(own(text)),
            Value::Text(text) => Value::Text(own(text)),
            Value::List(items) => Value::List(items.into_iter().map(Node::into_owned).collect()),
            Value::Map(entries) => Value::Map(
                entries
                    .into_iter()
                    .map(|entry| Entry { key: own(entry.key), at: entry.at, node: entry.node.into_owned() })
                    .collect(),
            ),
        };
        Node { value, at: self.at }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// From the place of a node to its line and column. Lines are counted when the first place is asked for: a good text has none.
#[derive(Debug)]
pub enum Places<'a> {
    /// Nodes stand at byte offsets of a text, after its byte order mark.
    Text(&'a str, OnceCell<Source<'a>>),
    /// Nodes stand at places that were noted while reading.
    Noted(Vec<Place>),
}

impl<'a> Places<'a> {
    /// Places in a text.
    pub fn of(text: &'a str) -> Self {
        Self::Text(text, OnceCell::new())
    }

    /// The line and the column.
    pub fn place(&self, at: u32) -> Place {
        match self {
            Self::Text(text, lines) => lines.get_or_init(|| Source::new(text)).place(at as usize),
            Self::Noted(places) => places.get(at as usize).copied().unwrap_or_default(),
        }
    }
}

/// A document given as JSON, in the tree.
pub fn from_json(value: &serde_json::Value) -> Node<'static> {
    let value = match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(is) => Value::Bool(*is),
        serde_json::Value::Number(number) => Value::Number(number.to_string().into()),
        serde_json::Value::String(text) => Value::Text(text.clone().into()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(from_json).collect()),
        serde_json::Value::Object(entries) => Value::Map(
            entries.iter().map(|(key, node)| Entry { key: key.clone().into(), at: 0, node: from_json(node) }).collect(),
        ),
    };
    Node::new(value)
}
