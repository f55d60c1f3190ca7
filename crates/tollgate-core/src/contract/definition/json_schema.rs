//! Fields given as JSON Schema: the part of it that says what the types of this language say. A keyword outside of it is an error,
//! not passed over: a limit that nobody checks is worse than none.

use super::types::{between, distinct, said};
use super::{Field, Items, Kind, Labels, Layout, ListType, MapType, RecordType, Type};
use crate::Name;
use crate::yaml::{Fields, Node, Problems};

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
    let kinds = fields.take("type").map(|n| problems.one_or_more(n, "`type`")).unwrap_or_default();
    let nullable = kinds.iter().any(|(kind, _)| &**kind == "null");
    let kinds: Vec<Name> = kinds.into_iter().map(|(kind, _)| kind).filter(|kind| &**kind != "null").collect();
    let words = fields.take("enum").map(|n| problems.texts(n, "`enum`"));
    distinct(words.as_deref().unwrap_or_default(), problems);
    let constant = fields.take("const");
    let any = fields.take("anyOf").or(fields.take("oneOf"));
    let kind = match (words, constant, any, &kinds[..]) {
        (Some(words), None, None, _) => Some(Kind::OneOf(words.into_iter().map(|(word, _)| word).collect())),
        (None, Some(node), None, _) => problems.text(node, "`const`").map(|word| {
            let number = node.plain().is_some_and(|plain| plain.parse::<f64>().is_ok());
            Kind::Const(word, number)
        }),
        (None, None, Some(any), []) => return finish(fields, either(any, depth, problems), problems),
        (None, None, None, []) => Some(Kind::Any),
        (None, None, None, [kind]) => plain(kind, &mut fields, depth, problems),
        _ => {
            let hint = "one of `type` (with `null` beside it), `enum`, `const`, `anyOf`";
            problems.value(fields.place, "the schema says in several ways what the value is", hint);
            None
        }
    };
    finish(fields, kind.map(|kind| Type { kind, nullable }), problems)
}

fn finish(fields: Fields<'_>, of: Option<Type>, problems: &mut Problems) -> Option<Type> {
    fields.close(problems);
    of
}

fn plain(kind: &str, fields: &mut Fields<'_>, depth: usize, problems: &mut Problems) -> Option<Kind> {
    Some(match kind {
        "boolean" => Kind::Bool,
        "integer" => Kind::Int(between(fields, ["minimum", "maximum"], problems)),
        "number" => Kind::Number(between(fields, ["minimum", "maximum"], problems)),
        "string" => {
            let mut text = said();
            text.range = between(fields, ["minLength", "maxLength"], problems);
            Kind::Text(text)
        }
        "array" => {
            let range = between(fields, ["minItems", "maxItems"], problems);
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
    let range = between(fields, ["minProperties", "maxProperties"], problems);
    let properties = fields.take("properties");
    let required = fields.take("required").map(|n| problems.texts(n, "`required`")).unwrap_or_default();
    let others = fields.take("additionalProperties");
    let Some(properties) = properties else {
        let of = match others.filter(|node| node.map().is_some()) {
            Some(node) => of(node, depth + 1, problems)?,
            None => Type::of(Kind::Any),
        };
        return Some(Kind::Map(Box::new(MapType { keys: Vec::new(), of, range })));
    };
    let open = others.is_none_or(|node| node.plain() != Some("false"));
    let mut own = Vec::new();
    for (key, node) in problems.entries(properties, "`properties`") {
        let optional = !required.iter().any(|(name, _)| *name == key.text);
        let doc = node.get("description").and_then(Node::text).map(ToString::to_string).unwrap_or_default();
        let of = of(node, depth + 1, problems).unwrap_or(Type::of(Kind::Any));
        let layout = Layout::Label(key.text.clone());
        own.push(Field { name: key.text.clone(), of, optional, unasked: false, checked: false, doc, layout });
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
    for one in problems.list(node, "`anyOf`") {
        if one.get("type").and_then(Node::text).is_some_and(|word| &**word == "null") || is_null_word(one) {
            nullable = true;
        } else {
            types.push(of(one, depth + 1, problems)?);
        }
    }
    let kind =
        if types.len() == 1 { types.pop().map(|of| of.kind) } else { super::types::union(types, node, problems) };
    kind.map(|kind| Type { kind, nullable })
}

/// `type: null` without quotes is nothing in YAML.
fn is_null_word(node: &Node) -> bool {
    node.map()
        .is_some_and(|entries| matches!(entries, [(key, value)] if &*key.text == "type" && value.text().is_none()))
}
