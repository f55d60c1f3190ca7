//! What people and models are told of a contract: template, instructions, example and the page in docs/contracts/.

mod page;
mod phrases;
mod plan;

pub use page::page;

use crate::defined::definition::text_pattern::Like;
use crate::defined::definition::{Condition, Definition, Field, Form, Kind, LINES, Layout, Type};
use crate::defined::layout;
use crate::text::is_same_name;
use crate::tree::{Entry, Node, Value, json_line, json_pretty, yaml_text};
use tollgate_core::Name;

/// A document with a word for every value.
pub fn template(definition: &Definition) -> String {
    write(definition, &blank(&definition.root, ""))
}

/// The contract's example, written in its form.
pub fn example(definition: &Definition) -> String {
    write(definition, &definition.example)
}

/// Writes a document that need not be complete.
fn write(definition: &Definition, document: &Node<'_>) -> String {
    let ordered = crate::defined::render::ordered(&definition.root, document);
    match definition.forms.first() {
        Some(Form::Yaml) => yaml_text(&ordered),
        Some(Form::Markdown) => layout::write(definition, &ordered),
        Some(Form::JsonLines) => {
            let lines = ordered.get(LINES).and_then(Node::list).unwrap_or_default();
            lines.iter().map(|line| json_line(line) + "\n").collect()
        }
        Some(Form::Json) | None => json_pretty(&ordered),
    }
}

/// The name of the language that a code fence is marked with.
fn language(definition: &Definition) -> &'static str {
    match definition.forms.first() {
        Some(Form::Yaml) => "yaml",
        Some(Form::Markdown) => "markdown",
        Some(Form::JsonLines) => "jsonl",
        Some(Form::Json) | None => "json",
    }
}

/// Tells a worker in a role how to report.
pub fn instructions(definition: &Definition, role: Option<&Name>) -> String {
    let verb = if definition.report.is_some() { "Report as" } else { "Write" };
    let mut out = format!("{verb} `{}`. {}\n\n", definition.id, definition.purpose);
    out.push_str(match definition.forms.first() {
        Some(Form::Markdown) => "Write Markdown with exactly these headings and labels:\n\n",
        Some(Form::Yaml) => "Write one YAML document and nothing else:\n\n",
        Some(Form::JsonLines) => "Write one JSON object a line and nothing else:\n\n",
        Some(Form::Json) | None => {
            "Print one JSON object and nothing else: no words before or after it, no code fence.\n\n"
        }
    });
    let template = template(definition);
    out.push_str(&fenced(language(definition), &template));
    let optional = optional_fields(&definition.root);
    if !optional.is_empty() {
        out.push_str(&format!("\nMay be left out: {}.\n", optional.join(", ")));
    }
    let planned = plan::lines(definition);
    if !planned.is_empty() {
        out.push_str(&format!("\nWhat it plans:\n\n{planned}"));
    }
    let rules: Vec<String> = definition
        .rules
        .iter()
        .filter(|rule| rule.when.as_ref().is_none_or(|when| may_concern(when, role)))
        .map(|rule| format!("- {}: {}.\n", phrases::sentence(&rule.says), rule.fix.trim_end_matches('.')))
        .collect();
    if !rules.is_empty() {
        out.push_str(&format!("\nThese are refused:\n\n{}", rules.concat()));
    }
    if !definition.instructions.is_empty() {
        out.push_str(&format!("\n{}\n", definition.instructions.trim()));
    }
    out
}

/// Whether a condition may hold when this role reports.
fn may_concern(condition: &Condition, role: Option<&Name>) -> bool {
    let Some(role) = role else { return true };
    match condition {
        Condition::All(all) => all.iter().all(|inner| may_concern(inner, Some(role))),
        Condition::By(roles) => roles.iter().any(|known| is_same_name(known, role)),
        Condition::Not(inner) => match &**inner {
            Condition::By(roles) => !roles.iter().any(|known| is_same_name(known, role)),
            _ => true,
        },
        _ => true,
    }
}

fn optional_fields(of: &Type) -> Vec<String> {
    let fields = of.record().map(|record| &record.fields[..]).unwrap_or_default();
    let mut names = Vec::new();
    for field in fields.iter().filter(|field| field.layout != Layout::Given && !field.unasked) {
        if field.optional {
            names.push(format!("`{}`", field.name));
        }
        let (inner, sign) = match &field.of.kind {
            Kind::List(list) => (&list.of, "[]"),
            Kind::Map(map) => (&map.of, ".*"),
            _ => (&field.of, ""),
        };
        let inner = optional_fields(inner).into_iter();
        names.extend(inner.map(|inner| format!("`{}{sign}.{}`", field.name, inner.trim_matches('`'))));
    }
    names
}

fn fenced(language: &str, text: &str) -> String {
    let longest =
        text.lines().map(|line| line.trim_start().bytes().take_while(|b| *b == b'`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// What the template writes for a key of a map.
pub const KEY_PLACEHOLDER: &str = "<key>";

/// What the template writes where a text is asked for.
pub fn placeholder(of: &Type, doc: &str) -> Option<String> {
    match &of.kind {
        Kind::Any => Some(format!("<{}>", if doc.is_empty() { "anything" } else { doc })),
        Kind::Text(like) if like.like.is_empty() => {
            Some(format!("<{}>", if doc.is_empty() { "text" } else { doc.trim_end_matches('.') }))
        }
        Kind::Text(like) => {
            let forms: Vec<String> = like.like.iter().map(ToString::to_string).collect();
            Some(forms.join(" | ").replace('{', "<").replace('}', ">"))
        }
        _ => None,
    }
}

/// A value that shows what belongs in its place.
fn blank(of: &Type, doc: &str) -> Node<'static> {
    let text = |text: String| Value::Text(text.into());
    let value = match &of.kind {
        Kind::Any | Kind::Text(_) => text(placeholder(of, doc).unwrap_or_default()),
        Kind::Bool => Value::Bool(true),
        Kind::Const(word, true) => Value::Number(word.to_string().into()),
        Kind::Const(word, false) => text(word.to_string()),
        Kind::OneOf(words) => text(words.join(" | ")),
        Kind::Int(range) | Kind::Number(range) => Value::Number(range.min.unwrap_or(0).to_string().into()),
        Kind::List(list) => Value::List(vec![blank(&list.of, doc)]),
        Kind::Map(map) => {
            let key = map.keys.first().map_or_else(|| KEY_PLACEHOLDER.to_owned(), Like::sample);
            Value::Map(vec![Entry { key: key.into(), at: 0, node: blank(&map.of, doc) }])
        }
        Kind::Record(record) => {
            let entry =
                |field: &Field| Entry { key: field.name.to_string().into(), at: 0, node: blank(&field.of, &field.doc) };
            Value::Map(record.fields.iter().filter(|field| !field.unasked).map(entry).collect())
        }
        Kind::Union(types) => return types.last().map_or_else(|| Node::new(Value::Null), |of| blank(of, doc)),
    };
    Node::new(value)
}
