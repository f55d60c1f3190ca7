//! A document with what people decided of its requirements, in the fields that its contract has for that.

use crate::defined::definition::{DecidedMap, IdMap, RequirementMap};
use crate::defined::items::items;
use crate::tree::{Entry, Node, Value};
use tollgate_core::Name;
use tollgate_core::run::state::RequirementDecision;

/// Writes decisions into a document; none where none is about it.
pub fn decided<'a>(map: &RequirementMap, mut root: Node<'a>, decisions: &[RequirementDecision]) -> Option<Node<'a>> {
    let (IdMap::Field(id), Some(fields)) = (&map.item.id, &map.decided) else { return None };
    let found = items(&root, map.item.each.as_ref());
    let found = found.iter().map(|item| decisions.iter().find(|decided| *decided.requirement == *item.said(id)));
    let found: Vec<Option<&RequirementDecision>> = found.collect();
    let steps = map.item.each.as_ref().map(|path| &path.steps[..]).unwrap_or_default();
    let mut rest = found.iter();
    for_each(&mut root, steps, &mut |item| {
        if let Some(Some(decided)) = rest.next() {
            write(item, fields, decided);
        }
    });
    found.iter().any(Option::is_some).then_some(root)
}

/// The items in the order in which [`items`] finds them.
fn for_each<'a>(node: &mut Node<'a>, steps: &[Name], edit: &mut dyn FnMut(&mut Node<'a>)) {
    if let Value::List(items) = &mut node.value {
        return items.iter_mut().for_each(|item| for_each(item, steps, edit));
    }
    let Some((step, rest)) = steps.split_first() else { return edit(node) };
    if let Value::Map(entries) = &mut node.value {
        let entries = entries.iter_mut().filter(|entry| &**step == "*" || entry.key == **step);
        entries.for_each(|entry| for_each(&mut entry.node, rest, edit));
    }
}

fn write(item: &mut Node<'_>, fields: &DecidedMap, decided: &RequirementDecision) {
    let Some((_, word)) = fields.words.iter().find(|(known, _)| *known == decided.disposition) else { return };
    set(item, &fields.field, word.to_string());
    if let Some(by) = &fields.by {
        set(item, by, decided.source());
    }
}

fn set(item: &mut Node<'_>, field: &Name, text: String) {
    let Value::Map(entries) = &mut item.value else { return };
    let value = Node::new(Value::Text(text.into()));
    match entries.iter_mut().find(|entry| entry.key == **field) {
        Some(entry) => entry.node = value,
        None => entries.push(Entry { key: field.to_string().into(), at: 0, node: value }),
    }
}
