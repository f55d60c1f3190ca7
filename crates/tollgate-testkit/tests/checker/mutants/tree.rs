//! Changing a protocol's tree: small edits at a place.

use tollgate_core::diagnostic::Place;
use tollgate_core::yaml::{Content, Key, Node, parse};

/// A piece of YAML as a tree.
pub fn yaml(text: &str) -> Node {
    parse(text).unwrap()
}

pub fn key(text: &str) -> Key {
    Key { text: text.into(), place: Place::default() }
}

pub fn entries(node: &Node) -> &[(Key, Node)] {
    node.map().unwrap_or_default()
}

pub fn items(node: Option<&Node>) -> &[Node] {
    match node.map(|node| &node.value) {
        Some(Content::Seq(items)) => items,
        _ => &[],
    }
}

pub fn words(node: Option<&Node>) -> Vec<String> {
    items(node).iter().filter_map(|item| item.text().map(std::string::ToString::to_string)).collect()
}

pub fn get<'a>(node: &'a mut Node, name: &str) -> &'a mut Node {
    match &mut node.value {
        Content::Map(entries) => &mut entries.iter_mut().find(|(k, _)| &*k.text == name).expect("the key").1,
        _ => panic!("a map with `{name}`"),
    }
}

pub fn item(node: &mut Node, index: usize) -> &mut Node {
    match &mut node.value {
        Content::Seq(items) => &mut items[index],
        _ => panic!("a list"),
    }
}

pub fn put(node: &mut Node, name: &str, value: Node) {
    let Content::Map(entries) = &mut node.value else { panic!("a map") };
    match entries.iter_mut().find(|(k, _)| &*k.text == name) {
        Some((_, old)) => *old = value,
        None => entries.push((key(name), value)),
    }
}

/// Removes a key; a map that was left out altogether has none.
pub fn drop_key(node: &mut Node, name: &str) {
    if let Content::Map(entries) = &mut node.value {
        entries.retain(|(k, _)| &*k.text != name);
    }
}

pub fn push(node: &mut Node, value: Node) {
    let Content::Seq(items) = &mut node.value else { panic!("a list") };
    items.push(value);
}

/// Removes a word from a list.
pub fn drop_word(node: &mut Node, word: &str) {
    if let Content::Seq(items) = &mut node.value {
        items.retain(|item| item.text().is_none_or(|text| &**text != word));
    }
}

/// Every stage of every flow: flow, index, id, the stage.
pub fn stages(root: &Node) -> Vec<(String, usize, String, &Node)> {
    let mut list = Vec::new();
    for (flow, stages) in entries(root.get("flows").unwrap()) {
        for (i, stage) in items(Some(stages)).iter().enumerate() {
            let id = stage.get("id").and_then(Node::text).unwrap().to_string();
            list.push((flow.text.to_string(), i, id, stage));
        }
    }
    list
}

pub fn stage<'a>(root: &'a mut Node, flow: &str, index: usize) -> &'a mut Node {
    item(get(get(root, "flows"), flow), index)
}

/// Replaces the target of every route of a stage.
pub fn retarget(stage: &mut Node, from: &str, to: &str) {
    let Content::Map(routes) = &mut get(stage, "on").value else { panic!("routes") };
    for (_, route) in routes {
        let is = |node: &Node| node.text().is_some_and(|text| &**text == from);
        if is(route) {
            *route = yaml(to);
        } else if route.map().is_some() {
            for part in ["to", "then"] {
                if route.get(part).is_some_and(is) {
                    put(route, part, yaml(to));
                }
            }
        }
    }
}
