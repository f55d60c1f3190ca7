//! Writing a document in its contract's form, fields in the order of the definition.

use crate::Context;
use crate::defined::definition::{Definition, Form, Kind, LINES, Type};
use crate::defined::judge::{Found, judge_tree};
use crate::defined::layout;
use crate::tree::{Entry, Node, Value, json_line, json_pretty, yaml_text};
use tollgate_core::diagnostic::Severity;

/// Writes a document that meets its types; what is wrong with it otherwise.
pub fn render(definition: &Definition, document: &Node<'_>) -> Result<String, String> {
    let wrong = judge_tree(definition, document, None);
    let errors = wrong.iter().filter(|diagnostic| diagnostic.severity == Severity::Error && diagnostic.rule.is_none());
    let messages: Vec<&str> = errors.map(|diagnostic| diagnostic.message.as_str()).collect();
    if !messages.is_empty() {
        return Err(messages.join("; "));
    }
    let ordered = ordered(&definition.root, document);
    match definition.forms.first() {
        Some(Form::Yaml) => Ok(yaml_text(&ordered)),
        Some(Form::JsonLines) => {
            let lines = ordered.get(LINES).and_then(Node::list).unwrap_or_default();
            Ok(lines.iter().map(|line| json_line(line) + "\n").collect())
        }
        Some(Form::Markdown) => markdown(definition, &ordered),
        Some(Form::Json) | None => Ok(json_pretty(&ordered)),
    }
}

/// Markdown has no quotes: what would be read as something else is refused, not written.
fn markdown(definition: &Definition, document: &Node<'_>) -> Result<String, String> {
    let text = layout::write(definition, document);
    let mut found = Found::default();
    let again = layout::read(definition, &text, &Context::default(), &mut found);
    let written = layout::in_text(definition, document);
    let wrong = found.wrong.iter().find(|wrong| wrong.severity == Severity::Error);
    match (again, wrong) {
        (Some(again), None) if again.same(&written) => Ok(text),
        (_, Some(wrong)) => Err(format!("written as Markdown it would be read as something else: {}", wrong.message)),
        _ => Err("a text of this document would be read as a heading, a label or an item of its own".to_owned()),
    }
}

/// The same document with its fields in the order of the definition; others follow.
pub fn ordered<'a>(of: &Type, node: &Node<'a>) -> Node<'a> {
    let value = match (&of.kind, &node.value) {
        (Kind::Record(record), Value::Map(entries)) => {
            let known = record.fields.iter().filter_map(|field| {
                let entry = node.entry(&field.name)?;
                Some(Entry { key: entry.key.clone(), at: entry.at, node: ordered(&field.of, &entry.node) })
            });
            let others = entries.iter().filter(|entry| !record.fields.iter().any(|field| *field.name == *entry.key));
            Value::Map(known.chain(others.cloned()).collect())
        }
        (Kind::List(list), Value::List(items)) => {
            Value::List(items.iter().map(|item| ordered(&list.of, item)).collect())
        }
        (Kind::Map(map), Value::Map(entries)) => Value::Map(
            entries
                .iter()
                .map(|entry| Entry { key: entry.key.clone(), at: entry.at, node: ordered(&map.of, &entry.node) })
                .collect(),
        ),
        (Kind::Union(types), _) => match types.iter().find_map(Type::record).filter(|_| node.map().is_some()) {
            Some(record) => return ordered(&Type::of(Kind::Record(record.clone())), node),
            None => node.value.clone(),
        },
        _ => node.value.clone(),
    };
    Node { value, at: node.at }
}
