//! YAML 1.2 as a small tree in which every node knows its place.
//!
//! Only what Tollgate's own files need: one document of maps, lists and scalars. `on` is a string; anchors, aliases and
//! tags are refused, so a file is read as it looks and cannot grow when it is read.

mod fields;
mod json;
mod tree;

pub use fields::{Fields, Problems, nearest, suggest, suggest_word};
pub use tree::{Parsed, parse, parse_as_far};

use crate::Name;
use crate::diagnostic::Place;

/// Bytes a file may have.
pub const BYTES_MAX: usize = 1 << 20;
/// Levels of nesting a file may have.
pub const DEPTH_MAX: usize = 64;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub value: Content,
    pub place: Place,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The text as it was written, escapes resolved; an empty one that is not quoted is null.
    Scalar {
        text: Name,
        quoted: bool,
    },
    Seq(Vec<Node>),
    /// In the order of the file; no key stands twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a map and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub text: Name,
    pub place: Place,
}

impl Node {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Content::Scalar { text, quoted: false } if text.is_empty() => "nothing",
            Content::Scalar { .. } => "a plain value",
            Content::Seq(_) => "a list",
            Content::Map(_) => "a map",
        }
    }

    /// The text of a scalar; null has none.
    pub fn text(&self) -> Option<&Name> {
        let Content::Scalar { text, quoted } = &self.value else { return None };
        if *quoted || !text.is_empty() { Some(text) } else { None }
    }

    /// The text of a scalar that is not quoted.
    pub fn plain(&self) -> Option<&str> {
        let Content::Scalar { text, quoted: false } = &self.value else { return None };
        if text.is_empty() { None } else { Some(text) }
    }

    /// The entries of a map.
    pub fn map(&self) -> Option<&[(Key, Node)]> {
        if let Content::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.map()?.iter().find(|(k, _)| &*k.text == key).map(|(_, node)| node)
    }
}
