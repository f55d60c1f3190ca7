//! The items that a mapping speaks of, and the values at their fields.

use crate::defined::definition::{Path, Said};
use crate::tree::{Node, Value, json_line};

/// An item of a list, or the document, with what it is inside of.
#[derive(Debug)]
pub struct Item<'x, 'a> {
    /// What each step of the way led to: the document first, the item last.
    around: Vec<&'x Node<'a>>,
    node: &'x Node<'a>,
}

/// The items of a list; the document itself without one.
pub fn items<'x, 'a>(root: &'x Node<'a>, each: Option<&Path>) -> Vec<Item<'x, 'a>> {
    Item::document(root).inside(each)
}

impl<'x, 'a> Item<'x, 'a> {
    /// The document.
    pub fn document(root: &'x Node<'a>) -> Self {
        Self { around: vec![root], node: root }
    }

    /// The items of a list of it; itself without one.
    pub fn inside(&self, each: Option<&Path>) -> Vec<Self> {
        let mut found = vec![Self { around: self.around.clone(), node: self.node }];
        for step in each.map(|path| &path.steps[..]).unwrap_or_default() {
            let enter = |item: Self| {
                let nodes = into(item.node, step).into_iter().flat_map(spread);
                let entered = nodes.map(move |node| {
                    let around = item.around.iter().copied().chain([node]).collect();
                    Self { around, node }
                });
                entered.collect::<Vec<_>>()
            };
            found = found.into_iter().flat_map(enter).collect();
        }
        found
    }

    /// Where it stands.
    pub fn at(&self) -> u32 {
        self.node.at
    }

    /// Every value at a path from it, or from an item around it.
    pub fn values(&self, path: &Path) -> Vec<&'x Node<'a>> {
        let from = path.outer.and_then(|steps| self.around.get(steps).copied()).unwrap_or(self.node);
        nodes(from, path).into_iter().flat_map(spread).filter(|node| !node.is_blank()).collect()
    }

    /// The values at every one of these paths.
    pub fn all(&self, from: &Said) -> Vec<&'x Node<'a>> {
        from.iter().flat_map(|path| self.values(path)).collect()
    }

    /// The values at the first path that says something.
    pub fn first(&self, from: &Said) -> Vec<&'x Node<'a>> {
        from.iter().map(|path| self.values(path)).find(|values| !values.is_empty()).unwrap_or_default()
    }

    /// Every text at a path.
    pub fn texts(&self, path: &Path) -> Vec<String> {
        self.values(path).into_iter().map(text).collect()
    }

    /// The text at the first path that says something.
    pub fn said(&self, from: &Said) -> String {
        self.first(from).into_iter().map(text).collect::<Vec<_>>().join("; ")
    }
}

/// The text of a value; what is no text as JSON.
pub fn text(node: &Node<'_>) -> String {
    node.word().map_or_else(|| json_line(node), str::to_owned)
}

fn spread<'x, 'a>(node: &'x Node<'a>) -> Vec<&'x Node<'a>> {
    match &node.value {
        Value::List(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        _ => vec![node],
    }
}

fn into<'x, 'a>(node: &'x Node<'a>, step: &str) -> Vec<&'x Node<'a>> {
    match (&node.value, step) {
        (Value::Map(entries), "*") => entries.iter().map(|entry| &entry.node).collect(),
        _ => node.get(step).into_iter().collect(),
    }
}

/// What a path leads to, through the items of lists.
pub fn nodes<'x, 'a>(root: &'x Node<'a>, path: &Path) -> Vec<&'x Node<'a>> {
    let mut nodes = vec![root];
    for step in &path.steps {
        nodes = nodes.into_iter().flat_map(spread).flat_map(|node| into(node, step)).collect();
    }
    nodes
}
