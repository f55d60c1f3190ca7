//! From the tree to the text, in the order of the definition.

use super::tables;
use crate::defined::definition::{Definition, Field, Items, Kind, Labels, Layout, ListType, RecordType};
use crate::tree::{Node, Value};

/// Writes a document.
pub fn write(definition: &Definition, document: &Node<'_>) -> String {
    let Some(record) = definition.root.record() else { return String::new() };
    let mut out = String::new();
    let level = match &definition.heading {
        Some(heading) => {
            let hole = heading.hole.as_ref().and_then(|hole| document.get(hole)).and_then(Node::text);
            let space = if hole.is_some() { " " } else { "" };
            out.push_str(&format!("{} {}{space}{}\n\n", "#".repeat(heading.level), heading.words, hole.unwrap_or("")));
            heading.level
        }
        None => 1,
    };
    fields(record, document, level, definition.heading.as_ref().and_then(|heading| heading.hole.as_deref()), &mut out);
    match &definition.closing {
        Some(closing) => format!("{}\n\n{closing}\n", out.trim_end()),
        None => format!("{}\n", out.trim_end()),
    }
}

/// The part of a document that stands in its text.
pub fn in_text<'a>(definition: &Definition, document: &Node<'a>) -> Node<'a> {
    let record = definition.root.record();
    let given = |key: &str| {
        record.is_some_and(|record| {
            record.fields.iter().any(|field| *field.name == *key && field.layout == Layout::Given)
        })
    };
    match &document.value {
        Value::Map(entries) => {
            let kept = entries.iter().filter(|entry| !given(&entry.key)).cloned().collect();
            Node { value: Value::Map(kept), at: document.at }
        }
        _ => document.clone(),
    }
}

/// The fields of a record under a heading of a level.
fn fields(record: &RecordType, node: &Node<'_>, level: usize, skip: Option<&str>, out: &mut String) {
    let present = record.fields.iter().filter(|field| skip != Some(&*field.name));
    let present: Vec<(&Field, &Node<'_>)> = present.filter_map(|field| Some((field, node.get(&field.name)?))).collect();
    let labelled = present.iter().filter(|(field, _)| matches!(field.layout, Layout::Label(_)));
    let mut any = false;
    for (at, (field, value)) in labelled.enumerate() {
        any = true;
        let Layout::Label(label) = &field.layout else { continue };
        match record.labels {
            Labels::Lines | Labels::Plain => out.push_str(&format!("**{label}:**")),
            Labels::Bullets => out.push_str(&format!("- {label}:")),
            Labels::BoldBullets => out.push_str(&format!("- **{label}:**")),
            Labels::Inline => out.push_str(&format!("{}**{label}:**", if at > 0 { " " } else { "" })),
        }
        let inner = body(&field.of.kind, value, level);
        out.push_str(if matches!(value.value, Value::List(_) | Value::Map(_)) && inner != "None\n" {
            "\n\n"
        } else {
            " "
        });
        let indent = matches!(record.labels, Labels::Bullets | Labels::BoldBullets);
        out.push_str(&if indent { indented(inner.trim_end(), 2) } else { inner.trim_end().to_owned() });
        match record.labels {
            Labels::Lines | Labels::Plain => out.push_str("\n\n"),
            Labels::Bullets | Labels::BoldBullets => out.push('\n'),
            Labels::Inline => {}
        }
    }
    if any && record.labels != Labels::Lines {
        out.push_str("\n\n");
    }
    for (field, value) in present {
        match &field.layout {
            Layout::Section(titles) => {
                let title = titles.first().map_or("", |title| title);
                out.push_str(&format!(
                    "{} {title}\n\n{}\n\n",
                    "#".repeat(level + 1),
                    body(&field.of.kind, value, level + 1).trim_end()
                ));
            }
            Layout::Body => out.push_str(&format!("{}\n\n", body(&field.of.kind, value, level).trim_end())),
            Layout::Label(_) | Layout::Head | Layout::Given => {}
        }
    }
}

/// A value as the text under its heading or behind its label.
fn body(kind: &Kind, node: &Node<'_>, level: usize) -> String {
    match (kind, &node.value) {
        (Kind::List(_), Value::List(items)) if items.is_empty() => "None\n".to_owned(),
        (Kind::List(list), Value::List(items)) => self::list(list, items, level),
        (Kind::Record(record), Value::Map(_)) => {
            let mut out = String::new();
            fields(record, node, level, None, &mut out);
            format!("{}\n", out.trim_end())
        }
        _ => format!("{}\n", node.word().unwrap_or_default()),
    }
}

fn list(list: &ListType, items: &[Node<'_>], level: usize) -> String {
    if list.items == Items::Table {
        return tables::write(list, items);
    }
    let mut out = String::new();
    for (at, item) in items.iter().enumerate() {
        if list.items == Items::Sections {
            let record = list.of.record();
            let head = record.and_then(|record| record.fields.iter().find(|field| field.layout == Layout::Head));
            let title = head.and_then(|field| item.get(&field.name)).and_then(Node::text).unwrap_or_default();
            out.push_str(&format!(
                "{} {title}\n\n{}\n\n",
                "#".repeat(level + 1),
                body(&list.of.kind, item, level + 1).trim_end()
            ));
            continue;
        }
        let mark = match list.items {
            Items::Bullets | Items::Sections | Items::Table => "- ".to_owned(),
            Items::Numbers => format!("{}. ", at + 1),
            Items::Checks => "- [ ] ".to_owned(),
        };
        let indent = if list.items == Items::Checks { 2 } else { mark.len() };
        out.push_str(&format!("{mark}{}\n", indented(self::item(&list.of.kind, item, level).trim_end(), indent)));
    }
    out
}

/// An item: its head in bold, then its labels.
fn item(kind: &Kind, node: &Node<'_>, level: usize) -> String {
    let Kind::Record(record) = kind else { return body(kind, node, level) };
    let head = record.fields.iter().find(|field| field.layout == Layout::Head);
    let head = head.and_then(|field| node.get(&field.name)).and_then(Node::text);
    let rest = body(kind, node, level);
    match head {
        Some(head) => format!("**{head}**\n{rest}"),
        None => rest,
    }
}

fn indented(text: &str, by: usize) -> String {
    let spaces = " ".repeat(by);
    let lines = text.lines().enumerate();
    let lines =
        lines.map(|(at, line)| if at == 0 || line.is_empty() { line.to_owned() } else { format!("{spaces}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}
