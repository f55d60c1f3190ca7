//! Fields given as JSON Schema: the part of it that says what the types of this language say. A keyword outside of it is an error,
//! not passed over: a limit that nobody checks is worse than none.

use super::types::{distinct, numbers, said, sizes};
use super::{Field, Items, Kind, Labels, ListType, MapType, RecordType, Type};
use crate::tree::{Value, convert_yaml};
use tollgate_core::Name;
use tollgate_core::diagnostic::Place;
use tollgate_core::yaml::{Fields, Node, Problems};

/// How deep schemas may nest.
const DEPTH_MAX: usize = 16;
/// Keywords that say something to people only.
const SAYINGS: [&str; 6] = ["$schema", "$id", "title", "$comment", "examples", "default"];

/// Reads a schema of an object as the fields of a record, and whether others may be there.
pub fn root(node: &Node, problems: &mut Problems) -> Option<(Vec<Field>, bool)> {
    match of(node, 0, problems)?.kind {
        Kind::Record(record) => Some((record.fields, record.open)),
        _ => {
            problems.value(
                node.place,
                "the schema of a document describes an object",
                "write `type: object` and `properties`",
            );
            None
        }
    }
}

fn of(node: &Node, depth: usize, problems: &mut Problems) -> Option<Type> {
    if depth > DEPTH_MAX {
        problems.value(node.place, format!("schemas nest deeper than {DEPTH_MAX} levels"), "write it flatter");
        return None;
    }
    let mut fields = Fields::open(node, "the schema", problems);
    for word in SAYINGS {
        fields.take(word);
    }
    fields.take("description");
    let kinds = fields.take("type").map(|n| problems.some(n, "`type`"));
    let typed = kinds.is_some();
    let kinds: Vec<Name> = kinds.unwrap_or_default().into_iter().map(|(kind, _)| kind).collect();
    let mut nullable = kinds.iter().any(|kind| &**kind == "null");
    let kinds: Vec<Name> = kinds.into_iter().filter(|kind| &**kind != "null").collect();
    let words = fields.take("enum");
    let constant = fields.take("const");
    let [any, one] = ["anyOf", "oneOf"].map(|key| fields.take(key));
    let ways = [words, constant, any, one].into_iter().flatten().count();
    let kind = match (words, constant, any.or(one), &kinds[..]) {
        (Some(node), ..) if ways == 1 => {
            let (kind, has_null) = closed(node, problems);
            nullable = has_null && (nullable || !typed);
            kind.filter(|kind| is_of(kind, &kinds, typed, node, problems))
        }
        (_, Some(node), ..) if ways == 1 => {
            let kind = super::types::constant(node, problems);
            nullable = false;
            kind.filter(|kind| is_of(kind, &kinds, typed, node, problems))
        }
        (_, _, Some(any), []) if ways == 1 && !typed => return finish(fields, either(any, depth, problems), problems),
        (_, _, _, []) if ways == 0 && !typed => Some(Kind::Any),
        (_, _, _, [kind]) if ways == 0 => plain(kind, &mut fields, depth, problems),
        // That it names no type is said.
        (_, _, _, []) if ways == 0 && !nullable => None,
        (_, _, _, []) if ways == 0 => {
            problems.value(fields.place, "what is always null says nothing", "name another `type` beside it");
            None
        }
        _ => {
            let hint = "one of `type` (with `null` beside it), `enum`, `const`, `anyOf`";
            problems.value(fields.place, "the schema says in several ways what the value is", hint);
            None
        }
    };
    finish(fields, kind.map(|kind| Type { kind, nullable }), problems)
}

/// The values of an `enum`, each of the kind that it has there; and whether null is one of them.
fn closed(node: &Node, problems: &mut Problems) -> (Option<Kind>, bool) {
    let (mut words, mut numbers, mut truths, mut has_null) = (Vec::new(), Vec::new(), Vec::new(), false);
    for node in problems.filled(node, "`enum`") {
        match (convert_yaml(node).value, node.text()) {
            (Value::Text(_), Some(word)) => words.push((word.clone(), node.place)),
            (Value::Number(_), Some(word)) => numbers.push((word.clone(), node.place)),
            (Value::Bool(_), Some(word)) => truths.push((word.clone(), node.place)),
            (Value::Null, _) => has_null = true,
            _ => drop(problems.text(node, "a value of `enum`")),
        }
    }
    for said in [&words, &numbers, &truths] {
        distinct(said, problems);
    }
    if let [_, (_, place), ..] = &numbers[..] {
        let hint = "write `type: integer` with `minimum` and `maximum`, or the values as texts, in quotes";
        problems.value(*place, "of numbers an `enum` may have one", hint);
    }
    if let [(word, place)] = &truths[..] {
        let hint = "write `type: boolean`, or the value as a text, in quotes";
        problems.value(*place, format!("of true and false `enum` has only {word}"), hint);
    }
    let only = |said: Vec<(Name, Place)>| said.into_iter().map(|(word, _)| word);
    let mut kinds = Vec::new();
    kinds.extend((!truths.is_empty()).then_some(Kind::Bool));
    kinds.extend(only(numbers).next().map(|number| Kind::Const(number, true)));
    kinds.extend((!words.is_empty()).then(|| Kind::OneOf(only(words).collect())));
    let kind = match kinds.len() {
        0 | 1 => kinds.pop(),
        _ => Some(Kind::Union(kinds.into_iter().map(Type::of).collect())),
    };
    if kind.is_none() && has_null {
        problems.value(node.place, "what is always null says nothing", "name another value beside it");
    }
    (kind, has_null)
}

/// Whether closed values are of the type that stands beside them.
fn is_of(kind: &Kind, types: &[Name], typed: bool, node: &Node, problems: &mut Problems) -> bool {
    let fits = |of: &Kind| {
        let known: &[&str] = match of {
            Kind::Bool => &["boolean"],
            Kind::Const(word, true) if word.parse::<i64>().is_ok() => &["integer", "number"],
            Kind::Const(_, true) => &["number"],
            _ => &["string"],
        };
        types.iter().any(|word| known.contains(&&**word))
    };
    let right = !typed
        || match kind {
            Kind::Union(kinds) => kinds.iter().all(|of| fits(&of.kind)),
            kind => fits(kind),
        };
    if !right {
        problems.value(node.place, "the values are of another kind than `type` says", "let both say the same");
    }
    right
}

fn finish(fields: Fields<'_>, of: Option<Type>, problems: &mut Problems) -> Option<Type> {
    fields.close(problems);
    of
}

fn plain(kind: &str, fields: &mut Fields<'_>, depth: usize, problems: &mut Problems) -> Option<Kind> {
    Some(match kind {
        "boolean" => Kind::Bool,
        "integer" => Kind::Int(numbers(fields, ["minimum", "maximum"], problems).unwrap_or_default()),
        "number" => Kind::Number(numbers(fields, ["minimum", "maximum"], problems).unwrap_or_default()),
        "string" => {
            let mut text = said();
            text.range = sizes(fields, ["minLength", "maxLength"], problems);
            Kind::Text(text)
        }
        "array" => {
            let range = sizes(fields, ["minItems", "maxItems"], problems);
            let unique = fields.take("uniqueItems").and_then(|n| problems.bool(n, "`uniqueItems`")).unwrap_or(false);
            let items = fields.take("items");
            let of = match items {
                Some(node) => of(node, depth + 1, problems)?,
                None => Type::of(Kind::Any),
            };
            Kind::List(Box::new(ListType { of, range, unique: unique.then_some(None), items: Items::Bullets }))
        }
        "object" => object(fields, depth, problems)?,
        other => {
            let hint = "one of: string, integer, number, boolean, array, object, null";
            problems.value(fields.place, format!("`{other}` is no type of JSON Schema"), hint);
            return None;
        }
    })
}

fn object(fields: &mut Fields<'_>, depth: usize, problems: &mut Problems) -> Option<Kind> {
    let properties = fields.take("properties");
    let required = fields.take("required").map(|n| problems.texts(n, "`required`")).unwrap_or_default();
    let others = fields.take("additionalProperties");
    let closed = others.is_some_and(|node| node.plain() == Some("false"));
    // Nothing is asked of what else may be there.
    let open = others.is_none_or(|node| node.plain() == Some("true") || node.map().is_some_and(<[_]>::is_empty));
    if properties.is_none() && required.is_empty() && !closed {
        let range = sizes(fields, ["minProperties", "maxProperties"], problems);
        let of = match others.filter(|_| !open) {
            Some(node) => of(node, depth + 1, problems)?,
            None => Type::of(Kind::Any),
        };
        return Some(Kind::Map(Box::new(MapType { keys: Vec::new(), of, range })));
    }
    for key in ["minProperties", "maxProperties"] {
        if let Some(node) = fields.take(key) {
            let hint = "take it away, and let `required` say which are needed";
            problems.value(node.place, format!("`{key}` is not checked beside named properties"), hint);
        }
    }
    if let Some(node) = others.filter(|_| !open && !closed) {
        let hint = "write `true` or `false`, or describe each in `properties`";
        problems.value(node.place, "what properties without a name are is not checked beside named ones", hint);
    }
    let mut own = Vec::new();
    let properties = properties.map(|node| problems.entries(node, "`properties`")).unwrap_or_default();
    for (key, node) in properties {
        let optional = !required.iter().any(|(name, _)| *name == key.text);
        let doc = node.get("description").and_then(Node::text).map(ToString::to_string).unwrap_or_default();
        let of = of(node, depth + 1, problems).unwrap_or(Type::of(Kind::Any));
        own.push(Field { optional, doc, ..Field::new(&key.text, of) });
    }
    for (name, place) in required.iter().filter(|(name, _)| !own.iter().any(|field| field.name == *name)) {
        problems.value(*place, format!("`{name}` is required and has no property"), "describe it in `properties`");
    }
    Some(Kind::Record(RecordType { fields: own, open, labels: Labels::Lines }))
}

/// Alternatives, one of which may be null.
fn either(node: &Node, depth: usize, problems: &mut Problems) -> Option<Type> {
    let mut nullable = false;
    let mut types = Vec::new();
    for one in problems.filled(node, "`anyOf`") {
        if one.get("type").and_then(Node::text).is_some_and(|word| &**word == "null") || is_null_word(one) {
            nullable = true;
        } else {
            types.push(of(one, depth + 1, problems)?);
        }
    }
    if types.is_empty() && nullable {
        problems.value(node.place, "what is always null says nothing", "name another schema beside it");
    }
    let kind = match &types[..] {
        [_] => types.pop().map(|of| {
            nullable |= of.nullable;
            of.kind
        }),
        _ => super::types::union(types, node, problems),
    };
    kind.map(|kind| Type { kind, nullable })
}

/// `type: null` without quotes is nothing in YAML.
fn is_null_word(node: &Node) -> bool {
    node.map()
        .is_some_and(|entries| matches!(entries, [(key, value)] if &*key.text == "type" && value.text().is_none()))
}
