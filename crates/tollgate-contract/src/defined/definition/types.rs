//! Reading the types of fields.

use std::collections::BTreeMap;

use super::text_pattern::Like;
use super::{Field, Items, Kind, Labels, Layout, ListType, MapType, Range, RecordType, TextType, Type};
use crate::text::quote;
use crate::tree::{Value, convert_yaml};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Place};
use tollgate_core::yaml::{Fields, Node, Problems, suggest};

/// How deep types may nest; a document cannot be deeper.
const DEPTH_MAX: usize = 16;

/// The greatest bound: up to it, a number with a fraction is told from the whole ones beside it.
const BOUND_MAX: i64 = 1 << 51;

const PLAIN: [&str; 5] = ["any", "bool", "text", "int", "number"];
const ITEMS: [(&str, Items); 5] = [
    ("bullets", Items::Bullets),
    ("numbers", Items::Numbers),
    ("checks", Items::Checks),
    ("sections", Items::Sections),
    ("table", Items::Table),
];
pub const LABELS: [(&str, Labels); 4] = [
    ("lines", Labels::Lines),
    ("bullets", Labels::Bullets),
    ("bold-bullets", Labels::BoldBullets),
    ("inline", Labels::Inline),
];

/// What is read so far: the named types.
pub struct Types {
    pub named: BTreeMap<Name, Type>,
}

impl Types {
    /// The fields of a record.
    pub fn fields(&self, node: &Node, depth: usize, problems: &mut Problems) -> Vec<Field> {
        let entries = problems.entries(node, "the fields");
        entries.iter().filter_map(|(key, value)| self.field(&key.text, value, depth, problems)).collect()
    }

    fn field(&self, name: &Name, node: &Node, depth: usize, problems: &mut Problems) -> Option<Field> {
        if node.text().is_some() {
            let of = self.of(node, depth, problems)?;
            return Some(Field::new(name, of));
        }
        let mut fields = Fields::open(node, format!("the field `{name}`"), problems);
        let of = self.kind(&mut fields, depth, problems);
        let optional = fields.take("optional").and_then(|n| problems.bool(n, "`optional`")).unwrap_or(false);
        let unasked = fields.take("unasked").and_then(|n| problems.bool(n, "`unasked`")).unwrap_or(false);
        let checked = fields.take("checked").and_then(|n| problems.bool(n, "`checked`")).unwrap_or(false);
        let doc = fields.take("doc").and_then(|n| problems.text(n, "`doc`"));
        let section = fields.take("section").map(|n| problems.some(n, "`section`"));
        let label = fields.take("label").and_then(|n| problems.text(n, "`label`"));
        let head = fields.take("head").and_then(|n| problems.bool(n, "`head`")).unwrap_or(false);
        let body = fields.take("body").and_then(|n| problems.bool(n, "`body`")).unwrap_or(false);
        let given = fields.take("given").and_then(|n| problems.bool(n, "`given`")).unwrap_or(false);
        fields.close(problems);
        if [section.is_some(), label.is_some(), head, body, given].iter().filter(|said| **said).count() > 1 {
            let hint = "keep one of `section`, `label`, `head`, `body` and `given`";
            problems.value(node.place, format!("the field `{name}` is in more than one place"), hint);
        }
        for (title, place) in section.iter().flatten() {
            if title.trim().is_empty() {
                problems.value(*place, "a section has a name", "write the words of its heading");
            } else if title.starts_with('#') || title.contains('\n') {
                let hint = "write the words of its heading alone: its level is that of the document and one more";
                problems.value(*place, format!("{} is no name of a section", quote(title)), hint);
            }
        }
        if let Some(label) = label.as_ref().filter(|label| label.ends_with(':') || label.contains(['*', '`', '\n'])) {
            let hint = "write its words alone: bold and colon are put around them";
            problems.value(node.place, format!("{} is no label", quote(label)), hint);
        }
        let layout = match section {
            Some(titles) if !titles.is_empty() => Layout::Section(titles.into_iter().map(|(title, _)| title).collect()),
            _ if head => Layout::Head,
            _ if body => Layout::Body,
            _ if given => Layout::Given,
            _ => Layout::Label(label.unwrap_or_else(|| name.clone())),
        };
        let doc = doc.map(|doc| doc.to_string()).unwrap_or_default();
        // A field whose type is wrong is still there: what reads it is not wrong too.
        let of = of.unwrap_or(Type::of(Kind::Any));
        Some(Field { name: name.clone(), of, optional: optional || unasked, unasked, checked, doc, layout })
    }

    /// A type where one is asked for: a name, or a map with one kind.
    pub fn of(&self, node: &Node, depth: usize, problems: &mut Problems) -> Option<Type> {
        if depth > DEPTH_MAX {
            problems.value(node.place, format!("types nest deeper than {DEPTH_MAX} levels"), "write it flatter");
            return None;
        }
        if let Some(name) = node.text() {
            return self.name(name, node, problems);
        }
        let mut fields = Fields::open(node, "the type", problems);
        let of = self.kind(&mut fields, depth, problems);
        fields.close(problems);
        of
    }

    fn name(&self, name: &Name, node: &Node, problems: &mut Problems) -> Option<Type> {
        let plain = match &**name {
            "any" => Some(Kind::Any),
            "bool" => Some(Kind::Bool),
            "text" => Some(Kind::Text(said())),
            "int" => Some(Kind::Int(Range::default())),
            "number" => Some(Kind::Number(Range::default())),
            _ => None,
        };
        if let Some(kind) = plain {
            return Some(Type::of(kind));
        }
        let found = self.named.get(name).cloned();
        if found.is_none() {
            let known: Vec<&str> = self.named.keys().map(|k| &**k).chain(PLAIN).collect();
            let hint = suggest(name, &known).unwrap_or_else(|| format!("known: {}", known.join(", ")));
            let message = format!("there is no type `{name}`");
            problems.add(Diagnostic::error(Code::CONTRACT_NAME, node.place, message).hint(hint));
        }
        found
    }

    fn kind(&self, fields: &mut Fields<'_>, depth: usize, problems: &mut Problems) -> Option<Type> {
        let place = fields.place;
        let nullable = fields.take("nullable").and_then(|n| problems.bool(n, "`nullable`")).unwrap_or(false);
        let mut kinds: Vec<Option<Kind>> = Vec::new();
        if let Some(node) = fields.take("type") {
            let of = self.of(node, depth, problems);
            kinds.push(of.map(|of| if of.nullable && !nullable { Kind::Union(vec![of]) } else { of.kind }));
        }
        if let Some(node) = fields.take("const") {
            kinds.push(constant(node, problems));
        }
        if let Some(node) = fields.take("text") {
            kinds.push(text(node, problems).map(Kind::Text));
        }
        if let Some(node) = fields.take("int") {
            kinds.push(Some(Kind::Int(bounds(node, "`int`", problems))));
        }
        if let Some(node) = fields.take("number") {
            kinds.push(Some(Kind::Number(bounds(node, "`number`", problems))));
        }
        if fields.take("bool").is_some() {
            kinds.push(Some(Kind::Bool));
        }
        if fields.take("any").is_some() {
            kinds.push(Some(Kind::Any));
        }
        if let Some(node) = fields.take("one_of") {
            let words = problems.filled(node, "`one_of`");
            let words: Vec<(Name, Place)> =
                words.iter().filter_map(|node| Some((problems.text(node, "`one_of`")?, node.place))).collect();
            distinct(&words, problems);
            kinds.push(Some(Kind::OneOf(words.into_iter().map(|(word, _)| word).collect())));
        }
        if let Some(node) = fields.take("list") {
            kinds.push(self.list(node, depth, problems).map(|list| Kind::List(Box::new(list))));
        }
        if let Some(node) = fields.take("map") {
            kinds.push(self.map(node, depth, problems).map(|map| Kind::Map(Box::new(map))));
        }
        if let Some(node) = fields.take("either") {
            kinds.push(self.either(node, depth, problems));
        }
        let open = fields.take("open").and_then(|n| problems.bool(n, "`open`")).unwrap_or(false);
        let labels = fields.take("labels").and_then(|n| problems.word(n, "a way to write labels", &LABELS));
        if let Some(node) = fields.take("record") {
            let own = self.fields(node, depth + 1, problems);
            kinds.push(Some(Kind::Record(RecordType { fields: own, open, labels: labels.unwrap_or(Labels::Lines) })));
        }
        if kinds.len() != 1 {
            let hint = "one of: text, int, number, bool, one_of, const, list, map, record, either, any, type";
            problems.value(place, "a field has exactly one type", hint);
            return None;
        }
        kinds.pop().flatten().map(|kind| Type { kind, nullable })
    }

    fn list(&self, node: &Node, depth: usize, problems: &mut Problems) -> Option<ListType> {
        if node.text().is_some() {
            let of = self.of(node, depth + 1, problems)?;
            return Some(ListType { of, range: Range::default(), unique: None, items: Items::Bullets });
        }
        let mut fields = Fields::open(node, "the list", problems);
        let of = fields.need("of", problems);
        let range = range(&mut fields, problems);
        let unique = fields.take("unique").and_then(|n| match n.plain() {
            Some("true") => Some(None),
            Some("false") => None,
            _ => problems.text(n, "`unique`").map(Some),
        });
        let items = fields.take("items").and_then(|n| problems.word(n, "a way to write items", &ITEMS));
        fields.close(problems);
        let of = self.of(of?, depth + 1, problems)?;
        if let Some(Some(field)) = &unique
            && of.step(field).is_none()
        {
            let message = format!("`unique` names `{field}`, which the items do not have");
            problems.add(Diagnostic::error(Code::CONTRACT_NAME, node.place, message).hint("name a field of the items"));
        }
        if items == Some(Items::Table) && !of.record().is_some_and(is_row) {
            let hint = "its items are records of texts, words, numbers and lists of texts, each with a label";
            problems.value(node.place, "this list cannot be written as a table", hint);
        }
        Some(ListType { of, range, unique, items: items.unwrap_or(Items::Bullets) })
    }

    fn map(&self, node: &Node, depth: usize, problems: &mut Problems) -> Option<MapType> {
        let mut fields = Fields::open(node, "the map", problems);
        let of = fields.need("of", problems);
        let range = range(&mut fields, problems);
        let keys = fields.take("keys").map(|n| likes(n, problems)).unwrap_or_default();
        fields.close(problems);
        Some(MapType { keys, of: self.of(of?, depth + 1, problems)?, range })
    }

    fn either(&self, node: &Node, depth: usize, problems: &mut Problems) -> Option<Kind> {
        let nodes = problems.filled(node, "`either`");
        if let [one] = nodes {
            problems.value(one.place, "`either` names one type", "name two or more, or write the type itself");
            return None;
        }
        let types: Vec<Type> = nodes.iter().filter_map(|n| self.of(n, depth + 1, problems)).collect();
        union(types, node, problems)
    }
}

/// Finds words that nobody can tell apart, also when only their case differs.
pub fn distinct(words: &[(Name, Place)], problems: &mut Problems) {
    for (at, (word, place)) in words.iter().enumerate() {
        if let Some((first, _)) = words[..at].iter().find(|(known, _)| known.eq_ignore_ascii_case(word)) {
            let message = match first == word {
                true => format!("the word `{word}` is named twice"),
                false => format!("the words `{first}` and `{word}` differ only in their case"),
            };
            problems.value(*place, message, "name each word once");
        }
    }
}

/// Alternatives that are told apart by their kind.
pub fn union(types: Vec<Type>, node: &Node, problems: &mut Problems) -> Option<Kind> {
    let mut seen = Vec::new();
    for of in &types {
        let shape = shape(&of.kind);
        if shape.is_none() || seen.contains(&shape) {
            let hint = "so that a mistake in one is not reported as a mistake in all";
            problems.value(node.place, "alternatives must be of different kinds", hint);
            return None;
        }
        seen.push(shape);
    }
    (types.len() > 1).then_some(Kind::Union(types))
}

/// What a value of the kind looks like: alternatives must differ in it.
pub fn shape(kind: &Kind) -> Option<u8> {
    match kind {
        Kind::Any | Kind::Union(_) => None,
        Kind::Bool => Some(0),
        Kind::Const(_, false) | Kind::Text(_) | Kind::OneOf(_) => Some(1),
        Kind::Const(_, true) | Kind::Int(_) | Kind::Number(_) => Some(2),
        Kind::List(_) => Some(3),
        Kind::Map(_) | Kind::Record(_) => Some(4),
    }
}

/// One value and no other: a text or a number.
pub fn constant(node: &Node, problems: &mut Problems) -> Option<Kind> {
    let word = problems.text(node, "`const`")?;
    match convert_yaml(node).value {
        Value::Bool(_) => {
            let message = format!("`const` is {word}, and what is only {word} says nothing");
            problems.value(
                node.place,
                message,
                format!("let it be true or false, or write the text \"{word}\" in quotes"),
            );
            None
        }
        value => Some(Kind::Const(word, matches!(value, Value::Number(_)))),
    }
}

/// A text that says something.
pub fn said() -> TextType {
    TextType { range: Range { min: Some(1), max: None }, like: Vec::new(), never: Vec::new() }
}

fn text(node: &Node, problems: &mut Problems) -> Option<TextType> {
    let mut fields = Fields::open(node, "the text", problems);
    let mut range = range(&mut fields, problems);
    range.min = range.min.or(Some(1));
    if range.max == Some(0) && range.min == Some(1) {
        problems.value(node.place, "a text that says something has a character at least", "let `max` be 1 or more");
    }
    let like = fields.take("like").map(|n| likes(n, problems)).unwrap_or_default();
    if let Some(max) = range.max
        && !like.is_empty()
        && like.iter().all(|like| i64::try_from(like.least()).is_ok_and(|least| least > max))
    {
        let message = format!("no text of this form has at most {max} characters");
        problems.value(node.place, message, "let `max` be more, or the form shorter");
    }
    let never = fields.take("never").map(|n| problems.texts(n, "`never`")).unwrap_or_default();
    fields.close(problems);
    Some(TextType { range, like, never: never.into_iter().map(|(word, _)| word).collect() })
}

fn bounds(node: &Node, what: &str, problems: &mut Problems) -> Range {
    let mut fields = Fields::open(node, what, problems);
    let range = numbers(&mut fields, ["min", "max"], problems).unwrap_or_default();
    fields.close(problems);
    range
}

fn range(fields: &mut Fields<'_>, problems: &mut Problems) -> Range {
    sizes(fields, ["min", "max"], problems)
}

/// The bounds of a size under two keys.
pub fn sizes(fields: &mut Fields<'_>, keys: [&'static str; 2], problems: &mut Problems) -> Range {
    between(fields, keys, 0, problems).unwrap_or_default()
}

/// The bounds of a number under two keys; none where one of them is wrong.
pub fn numbers(fields: &mut Fields<'_>, keys: [&'static str; 2], problems: &mut Problems) -> Option<Range> {
    between(fields, keys, -BOUND_MAX, problems)
}

/// The bounds under two keys: one that nothing can keep together with the other is a mistake.
fn between(fields: &mut Fields<'_>, keys: [&'static str; 2], least: i64, problems: &mut Problems) -> Option<Range> {
    let [min, max] = keys.map(|key| match fields.take(key) {
        Some(node) => bound(node, least, problems).map(Some),
        None => Some(None),
    });
    let (min, max) = (min?, max?);
    if let (Some(least), Some(most)) = (min, max)
        && least > most
    {
        let message = format!("nothing has at least {least} and at most {most}");
        problems.value(fields.place, message, format!("let `{}` be `{}` or more", keys[1], keys[0]));
    }
    Some(Range { min, max })
}

fn bound(node: &Node, least: i64, problems: &mut Problems) -> Option<i64> {
    let whole = node.plain().filter(|text| !text.starts_with('+')).and_then(|text| text.parse::<i64>().ok());
    if let Some(small) = whole.filter(|whole| *whole < least && least == 0) {
        problems.value(node.place, format!("the bound is {small}, and no size is below 0"), "write 0 or more");
        return None;
    }
    let fits = whole.filter(|whole| (least..=BOUND_MAX).contains(whole));
    if fits.is_none() {
        let hint = "bounds are whole numbers, in plain digits: `3`; of a number also `-3`";
        problems.value(node.place, "the bound is not a whole number that fits", hint);
    }
    fits
}

fn likes(node: &Node, problems: &mut Problems) -> Vec<Like> {
    let mut likes = Vec::new();
    for (written, place) in problems.some(node, "`like`") {
        match Like::parse(&written) {
            Ok(like) => likes.push(like),
            Err(why) => {
                problems.value(place, format!("`{written}` is no form: {why}"), "write words and holes: `T-{number}`")
            }
        }
    }
    likes
}

/// Whether each field of a record fits into a cell of a table.
fn is_row(record: &RecordType) -> bool {
    let fits =
        |of: &Type| matches!(of.kind, Kind::Text(_) | Kind::OneOf(_) | Kind::Const(..) | Kind::Int(_)) && !of.nullable;
    record.fields.iter().all(|field| matches!(field.layout, Layout::Label(_)) && fits(field.of.item()))
}
