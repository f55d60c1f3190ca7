//! One mistake in a good document gives one error, in every field of every contract.

use super::*;
use crate::defined::definition::{Form, Items, Kind, Layout, ListType, Type};
use crate::tree::Entry;
use tollgate_core::code::Code;

/// What was done to a document, and what must be said.
pub(super) struct Mistake {
    pub what: String,
    /// Where something was put, or taken away.
    pub path: Vec<String>,
    pub value: Option<Value<'static>>,
    pub document: Node<'static>,
    pub code: Code,
}

/// Every mistake that the types of a contract can name and its form can hold.
pub(super) fn all(own: &Defined) -> Vec<Mistake> {
    let mut all = Vec::new();
    mistakes(&own.definition.root, &mut Vec::new(), &own.definition.example, &mut all);
    all.retain(|mistake| match own.definition.forms[0] {
        // In Markdown everything is text, nothing is unknown, and labels stand elsewhere.
        Form::Markdown => {
            let is_text = mistake.code == Code::FIELD_UNKNOWN || mistake.what.ends_with("is a number");
            !is_text && !mistake.what.starts_with("labels")
        }
        // The list of lines is the file.
        Form::JsonLines => mistake.what.starts_with("lines."),
        Form::Json | Form::Yaml => true,
    });
    all
}

/// A document as it would be written, whatever is wrong with it; nothing where there is no such text.
pub(super) fn text_with(own: &Defined, document: &Node<'static>) -> Option<String> {
    use crate::tree::{json_pretty, yaml_text};
    Some(match own.definition.forms[0] {
        Form::Json => json_pretty(document),
        Form::Yaml => yaml_text(document),
        Form::Markdown => crate::defined::layout::write(&own.definition, document),
        Form::JsonLines => {
            let lines = document.get("lines").and_then(Node::list).filter(|lines| !lines.is_empty())?;
            lines.iter().map(|line| json_line(line) + "\n").collect()
        }
    })
}

/// Every mistake that the types of a value can name, made in a copy of the whole document.
fn mistakes(of: &Type, path: &mut Vec<String>, whole: &Node<'static>, out: &mut Vec<Mistake>) {
    let Some(here) = at(whole, path) else { return };
    let mut make = |what: &str, value: Option<Value<'static>>, code: Code| {
        let mut document = whole.clone();
        if put(&mut document, path, value.clone()) {
            let what = format!("{} {what}", path.join("."));
            out.push(Mistake { what, path: path.clone(), value, document, code });
        }
    };
    let text = |text: String| Some(Value::Text(text.into()));
    match &of.kind {
        Kind::OneOf(_) => make("is another word", text("another-word".into()), Code::FIELD_WORD),
        Kind::Const(_, false) => make("is another word", text("another-word".into()), Code::FIELD_WORD),
        Kind::Const(_, true) => make("is another number", Some(Value::Number("99".into())), Code::FIELD_WORD),
        Kind::Bool => make("is a text", text("yes".into()), Code::FIELD_KIND),
        Kind::Int(range) | Kind::Number(range) => {
            make("is a text", text("one".into()), Code::FIELD_KIND);
            if let Some(min) = range.min {
                make("is too small", Some(Value::Number((min - 1).to_string().into())), Code::FIELD_LENGTH);
            }
        }
        Kind::Text(own) => {
            make("is a number", Some(Value::Number("7".into())), Code::FIELD_KIND);
            if let Some(max) = own.range.max {
                make("is too long", text("é".repeat(usize::try_from(max).unwrap() + 1)), Code::FIELD_LENGTH);
            }
            if own.range.min.is_some_and(|min| min > 0) {
                make("is blank", text("  ".into()), Code::FIELD_LENGTH);
            }
            if !own.like.is_empty() {
                make("has another form", text("~~ of no form ~~".into()), Code::FIELD_FORM);
            }
            for word in &own.never {
                make(&format!("says `{word}`"), text(word.to_uppercase()), Code::FIELD_FORM);
            }
        }
        Kind::List(list) => {
            make("is a text", text("one".into()), Code::FIELD_KIND);
            if let Some(max) = list.range.max
                && list.unique.is_none()
                && let Some(item) = here.list().and_then(<[_]>::first)
            {
                let many = vec![item.clone(); usize::try_from(max).unwrap() + 1];
                make("has too many", Some(Value::List(many)), Code::FIELD_LENGTH);
            }
            if list.range.min.is_some_and(|min| min > 0) {
                make("is empty", Some(Value::List(Vec::new())), Code::FIELD_LENGTH);
            }
            if list.unique.is_some()
                && let Some(items) = here.list().filter(|items| items.len() == 1 && list.range.max != Some(1))
            {
                make("names one twice", Some(Value::List(vec![items[0].clone(), items[0].clone()])), Code::ITEM_TWICE);
            }
            let from = out.len();
            for index in 0..here.list().map_or(0, <[_]>::len) {
                path.push(index.to_string());
                mistakes(&list.of, path, whole, out);
                path.pop();
            }
            if list.items == Items::Table {
                keep_cells(list, path.len(), from, out);
            }
        }
        Kind::Map(map) => {
            make("is a text", text("one".into()), Code::FIELD_KIND);
            if let Some(first) = here.map().and_then(<[_]>::first) {
                let hole = Entry { key: "<key>".into(), ..first.clone() };
                make("has a placeholder for a key", Some(Value::Map(vec![hole])), Code::FIELD_FORM);
            }
            for entry in here.map().unwrap_or_default() {
                path.push(entry.key.to_string());
                mistakes(&map.of, path, whole, out);
                path.pop();
            }
        }
        Kind::Record(record) => {
            for field in record.fields.iter().filter(|field| field.layout != Layout::Given) {
                path.push(field.name.to_string());
                if !field.optional && here.get(&field.name).is_some() {
                    let mut document = whole.clone();
                    if put(&mut document, path, None) {
                        let what = format!("{} is missing", path.join("."));
                        out.push(Mistake {
                            what,
                            path: path.clone(),
                            value: None,
                            document,
                            code: Code::FIELD_MISSING,
                        });
                    }
                }
                mistakes(&field.of, path, whole, out);
                path.pop();
            }
            if !record.open {
                let mut document = whole.clone();
                path.push("surplus_field".to_owned());
                let value = Some(Value::Null);
                if put(&mut document, path, value.clone()) {
                    let (what, code) = (path.join("."), Code::FIELD_UNKNOWN);
                    out.push(Mistake { what, path: path.clone(), value, document, code });
                }
                path.pop();
            }
        }
        Kind::Union(types) => {
            if let Some(of) = types.iter().find(|of| of.record().is_some()).filter(|_| here.map().is_some()) {
                mistakes(of, path, whole, out);
            }
        }
        Kind::Any => {}
    }
}

/// Drops what is no mistake in a table, of those from some number on: an empty cell is no value, and one of a list is its items.
fn keep_cells(list: &ListType, depth: usize, from: usize, out: &mut Vec<Mistake>) {
    let inside = out.split_off(from);
    let fields = || list.of.record().into_iter().flat_map(|record| &record.fields);
    let is_none = |one: &Mistake| {
        let name = one.path.get(depth + 1);
        let field = fields().find(|field| name.is_some_and(|name| **name == *field.name));
        field.is_some_and(|field| {
            let is_list = matches!(field.of.kind, Kind::List(_));
            field.optional && one.what.ends_with("is blank") || is_list && one.what.ends_with("is a text")
        })
    };
    out.extend(inside.into_iter().filter(|one| !is_none(one)));
}

fn at<'n>(node: &'n Node<'static>, path: &[String]) -> Option<&'n Node<'static>> {
    path.iter().try_fold(node, |node, step| match &node.value {
        Value::List(items) => items.get(step.parse::<usize>().ok()?),
        _ => node.get(step),
    })
}

/// Puts a value at a path, or takes it away; false where there is no such place.
pub(super) fn put(node: &mut Node<'static>, path: &[String], value: Option<Value<'static>>) -> bool {
    let Some((step, rest)) = path.split_first() else {
        if let Some(value) = value {
            node.value = value;
            return true;
        }
        return false;
    };
    match &mut node.value {
        Value::List(items) => {
            step.parse::<usize>().ok().and_then(|at| items.get_mut(at)).is_some_and(|item| put(item, rest, value))
        }
        Value::Map(entries) => {
            if rest.is_empty() && value.is_none() {
                entries.retain(|entry| *entry.key != **step);
                return true;
            }
            if rest.is_empty() && !entries.iter().any(|entry| *entry.key == **step) {
                let node = Node::new(Value::Null);
                entries.push(Entry { key: step.clone().into(), at: 0, node });
            }
            entries.iter_mut().find(|entry| *entry.key == **step).is_some_and(|entry| put(&mut entry.node, rest, value))
        }
        _ => false,
    }
}

#[test]
fn one_mistake_gives_one_error() {
    let (mut count, mut in_markdown) = (0, 0);
    for own in registry::all_defined() {
        let is_markdown = own.definition.forms[0] == Form::Markdown;
        for mistake in all(own) {
            let Some(text) = text_with(own, &mistake.document) else { continue };
            let judged = own.judge(&text, &Context::default());
            let errors: Vec<_> = judged.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
            let what = || format!("{}: {}: {:?}\n{text}", own.definition.id, mistake.what, told(&judged.diagnostics));
            assert_eq!(errors.len(), 1, "{}", what());
            // In Markdown what is empty is not there.
            let missing = [Code::SECTION_MISSING, Code::FIELD_MISSING, Code::FIELD_LENGTH];
            let is_missing = is_markdown && missing.contains(&errors[0].code) && missing.contains(&mistake.code);
            assert!(errors[0].code == mistake.code || is_missing, "{}", what());
            assert!(errors[0].place.line > 0 && errors[0].place.column > 0, "{}", what());
            count += 1;
            in_markdown += usize::from(is_markdown);
        }
    }
    assert!(count > 380 && in_markdown > 80, "{count} {in_markdown}");
}

#[test]
fn what_is_left_out_is_said() {
    let own = registry::defined("wr.coding_handoff").expect("a contract");
    let many = vec!["7"; 80].join(", ");
    let text = crate::tree::json_pretty(&own.definition.example);
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["filesChanged"] = serde_json::from_str(&format!("[{many}]")).unwrap();
    let told = own.judge(&document.to_string(), &Context::default()).diagnostics;
    assert!(told.last().unwrap().hint.as_ref().unwrap().contains("there may be more errors"), "{:?}", told.last());
}
