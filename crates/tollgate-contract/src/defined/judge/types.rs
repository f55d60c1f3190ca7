//! Each value by its type.

use std::borrow::Cow;
use std::num::IntErrorKind;

use super::Found;
use super::hints::{like, numbered, parted};
use crate::defined::definition::{
    Definition, Field, Form, Kind, Layout, ListType, MapType, RecordType, TextType, Type,
};
use crate::defined::guide::{KEY_PLACEHOLDER, placeholder};
use crate::text::{is_blank, is_respelling, is_same_name, quote, repeated};
use crate::tree::{Entry, Node, Value, json, json_line};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Fix;
use tollgate_core::yaml::{suggest, suggest_word};

/// How many unknown keys are compared with a field that is missing.
const UNKNOWN_MAX: usize = 64;

/// Checks the whole document.
pub fn check(definition: &Definition, root: &Node<'_>, found: &mut Found) {
    let markdown = definition.forms.first() == Some(&Form::Markdown);
    Kinds { found, markdown, path: Vec::new() }.value(&definition.root, root);
}

/// Where in the document a value is.
enum Step<'d, 'n> {
    Field(&'d Field),
    Key(&'n str),
    Item(usize),
}

struct Kinds<'d, 'n, 'f> {
    found: &'f mut Found,
    markdown: bool,
    path: Vec<Step<'d, 'n>>,
}

impl<'d, 'n> Kinds<'d, 'n, '_> {
    fn value(&mut self, of: &'d Type, node: &'n Node<'_>) {
        let container = matches!(node.value, Value::List(_) | Value::Map(_));
        if self.found.is_full()
            || (of.nullable && matches!(node.value, Value::Null))
            || (!container && self.is_torn(node))
        {
            return;
        }
        match (&of.kind, &node.value) {
            (Kind::Any | Kind::Text(_), Value::Text(said)) if self.is_placeholder(of, said) => {
                let message = format!("{} must not be a placeholder ({})", self.name(), quote(said));
                self.wrong(Code::FIELD_FORM, node, message, "replace it with what is asked for");
            }
            (Kind::Any, _) | (Kind::Bool, Value::Bool(_)) => {}
            (Kind::Const(word, number), Value::Text(_) | Value::Number(_)) => self.constant(word, *number, node),
            (Kind::Text(text), Value::Text(said)) => self.text(text, said, node),
            (Kind::OneOf(words), Value::Text(said)) => {
                if !words.iter().any(|word| **word == **said) {
                    let known: Vec<&str> = words.iter().map(|word| &**word).collect();
                    self.word(said, &known, node);
                }
            }
            (Kind::Int(range), Value::Number(number)) => match number.parse::<i64>() {
                Ok(whole) if range.min.is_none_or(|min| whole >= min) && range.max.is_none_or(|max| whole <= max) => {}
                Ok(_) => self.bounded(*range, number, node),
                Err(error) if matches!(error.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => {
                    let message = format!("{} is a number with too many digits", self.name());
                    self.wrong(Code::FIELD_LENGTH, node, message, format!("it is at most {}", i64::MAX));
                }
                Err(_) => self.kind(of, node),
            },
            (Kind::Number(range), Value::Number(number)) => self.bounded(*range, number, node),
            (Kind::List(list), Value::List(items)) => self.list(list, items, node),
            (Kind::Map(map), Value::Map(_)) => self.map(map, node),
            (Kind::Record(record), Value::Map(_)) => self.record(record, node),
            (Kind::Union(types), _) => {
                let fits = |of: &&Type| of.nullable && matches!(node.value, Value::Null) || fits(&of.kind, &node.value);
                match types.iter().find(fits) {
                    Some(of) => self.value(of, node),
                    None => self.kind(of, node),
                }
            }
            _ => self.kind(of, node),
        }
    }

    fn kind(&mut self, of: &Type, node: &Node<'_>) {
        if self.is_torn(node) {
            return;
        }
        let (message, hint) = match (&of.kind, &node.value) {
            (Kind::List(_), Value::Text(_)) if self.markdown => {
                (format!("there is no list in {}", self.name()), "begin each item with `- `".to_owned())
            }
            _ => (
                format!("{} is {}, not {}", self.name(), node.kind(), of.describe()),
                parted(of, node).unwrap_or_else(|| format!("write {}", of.describe())),
            ),
        };
        self.wrong(Code::FIELD_KIND, node, message, hint);
        let said = node.word().unwrap_or_default().to_owned();
        self.found.fix(match (&of.kind, &node.value) {
            (Kind::Int(_) | Kind::Number(_), Value::Text(_)) if is_number(&said) => Some(Fix::Bare { said }),
            (Kind::Bool, Value::Text(_)) if matches!(&*said, "true" | "false") => Some(Fix::Bare { said }),
            (Kind::Text(text), Value::Number(_))
                if text.like.is_empty() || text.like.iter().any(|l| l.matches(&said)) =>
            {
                Some(Fix::Quoted { said })
            }
            _ => None,
        });
    }

    fn constant(&mut self, word: &str, number: bool, node: &Node<'_>) {
        let said = node.word().unwrap_or_default();
        let right = said == word && matches!(node.value, Value::Number(_)) == number;
        if !right {
            let written = if number || self.markdown { word.to_owned() } else { format!("\"{word}\"") };
            let (message, hint) = match (said == word, number) {
                (true, true) => (format!("the text \"{word}\", not the number {word}"), " without quotes"),
                (true, false) => (format!("the number {word}, not the text \"{word}\""), " with its quotes"),
                // Blanks around a word are what is wrong with it.
                (false, false) if said.trim() == word => {
                    (format!("{}, not `{written}`", quote(&format!("\"{said}\""))), "")
                }
                (false, _) => (format!("{}, not `{written}`", quote(said)), ""),
            };
            let message = format!("{} is {message}", self.name());
            self.wrong(Code::FIELD_WORD, node, message, format!("write `{written}`{hint}"));
            self.found.fix(match (said == word, number) {
                (true, true) => Some(Fix::Bare { said: said.to_owned() }),
                (true, false) => Some(Fix::Quoted { said: said.to_owned() }),
                (false, false) => respelt(said, &[word]),
                (false, true) => None,
            });
        }
    }

    fn word(&mut self, said: &str, known: &[&str], node: &Node<'_>) {
        let folded = known.iter().find(|word| word.eq_ignore_ascii_case(said.trim()));
        let hint = match folded {
            Some(word) => format!("write `{word}`"),
            None => suggest_word(said, known),
        };
        let (read, elsewhere) = in_full(said);
        let message = format!("{} is {read}, which is not one of its values", self.name());
        self.wrong(Code::FIELD_WORD, node, message, format!("{hint}{elsewhere}"));
        self.found.fix(respelt(said, known));
    }

    fn text(&mut self, text: &TextType, said: &str, node: &Node<'_>) {
        if text.range.min.is_some_and(|min| min > 0) && is_blank(said) {
            let message = format!("{} is empty", self.name());
            let hint = match self.path.last() {
                Some(Step::Field(field)) if field.of.nullable => "fill it in, or write null",
                Some(Step::Field(field)) if field.optional => "fill it in, or leave the field out",
                _ => "fill it in",
            };
            self.wrong(Code::FIELD_LENGTH, node, message, hint);
            return;
        }
        let count = said.chars().count();
        if !text.range.counts(count) {
            let range = text.range.described("characters").unwrap_or_default();
            let message = format!("{} has {count} characters", self.name());
            self.wrong(Code::FIELD_LENGTH, node, message, format!("it has {range}"));
            return;
        }
        if !text.like.is_empty() && !text.like.iter().any(|like| like.matches(said)) {
            let (read, elsewhere) = in_full(said);
            let message = format!("{} is {read}", self.name());
            let number = numbered(&text.like, said).filter(|_| elsewhere.is_empty());
            let hint = number.unwrap_or_else(|| format!("{}{elsewhere}", like(&text.like)));
            self.wrong(Code::FIELD_FORM, node, message, hint);
            return;
        }
        if text.never.iter().any(|word| word.eq_ignore_ascii_case(said.trim())) {
            let message = format!("{} must not be {}", self.name(), quote(said));
            self.wrong(Code::FIELD_FORM, node, message, "replace it with what is asked for");
        }
    }

    /// Whether a text is what the template of the contract writes in its place.
    fn is_placeholder(&self, of: &Type, said: &str) -> bool {
        let doc = self.path.iter().rev().find_map(|step| match step {
            Step::Field(field) => Some(&*field.doc),
            Step::Key(_) | Step::Item(_) => None,
        });
        said.contains('<') && placeholder(of, doc.unwrap_or_default()).is_some_and(|hole| hole == said.trim())
    }

    fn bounded(&mut self, range: crate::defined::definition::Range, number: &str, node: &Node<'_>) {
        if !number.parse::<f64>().is_ok_and(|number| range.holds(number)) {
            let message = format!("{} is {number}", self.name());
            let hint = format!("it is {}", range.described("").unwrap_or_default().trim_end());
            self.wrong(Code::FIELD_LENGTH, node, message, hint);
        }
    }

    /// Whether a value could not be read, or not to its end.
    fn is_torn(&self, node: &Node<'_>) -> bool {
        !self.found.torn.is_empty() && self.found.torn.contains(&node.at)
    }

    fn size(&mut self, range: crate::defined::definition::Range, size: usize, unit: &str, node: &Node<'_>) {
        if !range.counts(size) && !self.is_torn(node) {
            let range = range.described("items").unwrap_or_default();
            let message = match size {
                0 => format!("{} is empty", self.name()),
                _ => format!("{} has {size} {unit}", self.name()),
            };
            self.wrong(Code::FIELD_LENGTH, node, message, format!("it has {}", range.replace("items", unit)));
        }
    }

    fn list(&mut self, list: &'d ListType, items: &'n [Node<'_>], node: &Node<'_>) {
        self.size(list.range, items.len(), "items", node);
        for (at, item) in items.iter().enumerate() {
            if self.found.is_full() {
                return;
            }
            self.path.push(Step::Item(at));
            self.value(&list.of, item);
            self.path.pop();
        }
        if let Some(by) = list.unique.as_ref().filter(|_| items.len() > 1) {
            self.twice(by.as_deref(), items);
        }
    }

    /// Finds items that have the same name, or say the same.
    fn twice(&mut self, by: Option<&str>, items: &[Node<'_>]) {
        let named: Vec<(Cow<'_, str>, usize)> =
            items.iter().enumerate().filter_map(|(at, item)| Some((told_apart(by, item)?, at))).collect();
        for (at, first) in repeated(named.iter().map(|(name, _)| &**name)) {
            let (at, first) = (named[at].1, named[first].1);
            if self.found.is_full() {
                return;
            }
            let place = |at: usize| by.and_then(|field| items[at].get(field)).unwrap_or(&items[at]);
            // What is wrong by itself has to be changed anyway.
            if self.found.broken.contains(&place(at).at) {
                continue;
            }
            self.path.push(Step::Item(at));
            let message = format!("{} names {} a second time", self.name(), quote(&json_line(place(at))));
            self.wrong(Code::ITEM_TWICE, place(at), message, "keep one of the two");
            self.path.pop();
            if let Some(wrong) = self.found.wrong.last_mut() {
                wrong.other = Some(place(first).at);
            }
        }
    }

    fn map(&mut self, map: &'d MapType, node: &'n Node<'_>) {
        let entries = node.map().unwrap_or_default();
        self.size(map.range, entries.len(), "entries", node);
        for entry in entries {
            if self.found.is_full() {
                return;
            }
            if *entry.key == *KEY_PLACEHOLDER {
                let message = format!("a key of {} must not be a placeholder ({})", self.name(), quote(&entry.key));
                self.found.broken.insert(node.at);
                self.found.error(Code::FIELD_FORM, entry.at, message, "replace it with what is asked for");
            } else if !map.keys.is_empty() && !map.keys.iter().any(|like| like.matches(&entry.key)) {
                let message = format!("a key of {} is {}", self.name(), quote(&entry.key));
                // Which key was meant is unknown, so that nothing can be missed among them.
                self.found.broken.insert(node.at);
                self.found.error(Code::FIELD_FORM, entry.at, message, like(&map.keys));
            }
            self.path.push(Step::Key(&entry.key));
            self.value(&map.of, &entry.node);
            self.path.pop();
        }
    }

    fn record(&mut self, record: &'d RecordType, node: &'n Node<'_>) {
        let entries = node.map().unwrap_or_default();
        if entries.is_empty() && self.markdown && self.unlabelled(record, node) {
            return;
        }
        let known = |entry: &&Entry<'_>| record.fields.iter().any(|field| *field.name == *entry.key);
        let mut present = 0;
        for field in &record.fields {
            match node.entry(&field.name) {
                Some(entry) => {
                    present += 1;
                    if field.optional
                        && !field.of.nullable
                        && matches!(entry.node.value, Value::Null)
                        && !matches!(field.of.kind, Kind::Any)
                        && !self.is_torn(&entry.node)
                    {
                        let message = format!("{} is null", self.field_name(field));
                        self.wrong(Code::FIELD_KIND, &entry.node, message, "leave the field out instead");
                        continue;
                    }
                    self.path.push(Step::Field(field));
                    self.value(&field.of, &entry.node);
                    self.path.pop();
                }
                None if field.optional || self.is_torn(node) => {}
                // A key that is misspelt is told as that.
                None if !record.open && is_misspelt(field, record, entries) => {}
                None => self.missing(field, node),
            }
        }
        if record.open || present == entries.len() {
            return;
        }
        let unknown = entries.iter().filter(|entry| !known(entry));
        let known: Vec<&str> = record.fields.iter().map(|field| &*field.name).collect();
        let free: Vec<&str> = known.iter().copied().filter(|name| node.entry(name).is_none()).collect();
        for entry in unknown {
            if self.found.is_full() {
                return;
            }
            let hint = suggest(&entry.key, &known).unwrap_or_else(|| format!("fields: {}", known.join(", ")));
            let place = if self.path.is_empty() { String::new() } else { format!(" of {}", self.name()) };
            let message = format!("{}{place} is no field of this contract", quote(&entry.key));
            self.found.error(Code::FIELD_UNKNOWN, entry.at, message, hint);
            let alike = |other: &&Entry<'_>| is_same_name(&other.key, &entry.key);
            let fix = respelt(&entry.key, &free).filter(|_| entries.iter().filter(alike).count() == 1);
            self.found.fix(fix);
        }
    }

    /// An item without any of its labels is one mistake; whether it is one.
    fn unlabelled(&mut self, record: &RecordType, node: &Node<'_>) -> bool {
        let needed = record.fields.iter().filter(|field| !field.optional);
        let labels: Vec<String> = needed.clone().map(shown).collect();
        let item = matches!(self.path.last(), Some(Step::Item(_)));
        if !item
            || self.is_torn(node)
            || labels.len() < 2
            || !needed.clone().all(|field| matches!(field.layout, Layout::Label(_)))
        {
            return false;
        }
        let message = format!("{} has none of {}", self.name(), labels.join(", "));
        self.wrong(Code::FIELD_MISSING, node, message, "write each of them");
        true
    }

    fn missing(&mut self, field: &Field, node: &Node<'_>) {
        let code = match &field.layout {
            Layout::Section(_) if self.markdown => Code::SECTION_MISSING,
            _ => Code::FIELD_MISSING,
        };
        let message = format!("{} is missing", self.field_name(field));
        self.found.error(code, node.at, message, format!("add it: {}", field.of.describe()));
    }

    fn wrong(&mut self, code: Code, node: &Node<'_>, message: String, hint: impl Into<String>) {
        self.found.broken.insert(node.at);
        self.found.error(code, node.at, message, hint);
    }

    /// The field that is read, as the writer of the document knows it.
    fn name(&self) -> String {
        if self.markdown {
            let named = self.path.iter().rev().find_map(|step| match step {
                Step::Field(field) => Some(shown(field)),
                Step::Key(_) | Step::Item(_) => None,
            });
            let item = match self.path.last() {
                Some(Step::Item(at)) => format!("item {} of ", at + 1),
                _ => String::new(),
            };
            return format!("{item}{}", named.unwrap_or_else(|| "the document".to_owned()));
        }
        let mut name = String::new();
        for step in &self.path {
            match step {
                Step::Field(field) => {
                    name.push_str(if name.is_empty() { "" } else { "." });
                    name.push_str(&field.name);
                }
                Step::Key(key) => {
                    name.push('.');
                    name.push_str(key);
                }
                Step::Item(at) => name.push_str(&format!("[{at}]")),
            }
        }
        if name.is_empty() { "the document".to_owned() } else { quote(&name) }
    }

    fn field_name(&self, field: &Field) -> String {
        if self.markdown {
            return shown(field);
        }
        let outer = self.name();
        match self.path.is_empty() {
            true => format!("`{}`", field.name),
            false => format!("{}.{}`", outer.trim_end_matches('`'), field.name),
        }
    }
}

/// Whether a field is there under a name that is nearly its own and nobody else's.
fn is_misspelt(field: &Field, record: &RecordType, entries: &[Entry<'_>]) -> bool {
    let known = |key: &str| record.fields.iter().any(|field| *field.name == *key);
    let mut unknown = entries.iter().filter(|entry| !known(&entry.key)).take(UNKNOWN_MAX);
    unknown.any(|entry| suggest(&entry.key, &[&*field.name]).is_some())
}

/// The one of several words that is meant by a word in another case, with other signs between its parts.
fn respelt(said: &str, known: &[&str]) -> Option<Fix> {
    let mut meant = known.iter().filter(|word| is_respelling(word, said));
    let word = meant.next().filter(|_| meant.next().is_none())?;
    Some(Fix::Word { said: said.to_owned(), with: (*word).to_owned() })
}

/// What was read of a value, and what to do with what follows its first line: only a value of one line has a form or is a word.
fn in_full(said: &str) -> (String, &'static str) {
    match said.trim().split_once(['\n', '\r']) {
        Some((first, rest)) => {
            let read = format!("{}, followed by {}", quote(first), quote(rest));
            (
                read,
                "; what follows it is not part of it: a label that the contract does not have, or text of another section",
            )
        }
        None => (quote(said), ""),
    }
}

fn is_number(said: &str) -> bool {
    matches!(json::read(said), Ok(Node { value: Value::Number(_), .. })) && said == said.trim()
}

/// What an item is told apart by: its name, or all that it says.
fn told_apart<'x>(by: Option<&str>, item: &'x Node<'_>) -> Option<Cow<'x, str>> {
    let named = by.map_or(Some(item), |field| item.get(field))?;
    Some(match &named.value {
        // A list is of one kind, so that a number is never taken for the text of its digits.
        Value::Text(word) | Value::Number(word) => Cow::Borrowed(&**word),
        _ => Cow::Owned(json_line(named)),
    })
}

/// A field of a Markdown document by its heading or label.
pub fn shown(field: &Field) -> String {
    match &field.layout {
        Layout::Section(titles) => format!("the section `{}`", titles.first().map_or("", |title| title)),
        Layout::Label(label) => format!("`{label}:`"),
        Layout::Head | Layout::Body | Layout::Given => format!("the {}", field.name),
    }
}

/// Whether a value is of the kind, before it is looked at.
fn fits(kind: &Kind, value: &Value<'_>) -> bool {
    match kind {
        Kind::Any => true,
        Kind::Union(types) => types.iter().any(|of| fits(&of.kind, value)),
        Kind::Bool => matches!(value, Value::Bool(_)),
        Kind::Const(_, number) => {
            matches!(value, Value::Number(_)) == *number && matches!(value, Value::Text(_) | Value::Number(_))
        }
        Kind::Text(_) | Kind::OneOf(_) => matches!(value, Value::Text(_)),
        Kind::Int(_) | Kind::Number(_) => matches!(value, Value::Number(_)),
        Kind::List(_) => matches!(value, Value::List(_)),
        Kind::Map(_) | Kind::Record(_) => matches!(value, Value::Map(_)),
    }
}
