//! A template that nobody filled in: it has the form of a document and says nothing.

use memchr::memmem;

use super::definition::{Condition, Definition, Kind, Mapping, Path, Test, Type};
use super::text::is_placeholder;
use super::tree::{Node, Value};

/// What is left open in a document, and what is said.
#[derive(Debug, Default)]
struct Count {
    open: usize,
    said: usize,
}

/// Whether a document is a template: the word is not chosen that decides what it means (`PASS | FAIL`), whatever else is filled in; where no word does,
/// none of its closed words is chosen, or where it has none, none of its texts is written.
pub fn is_unfilled(definition: &Definition, document: &Node<'_>) -> bool {
    let (mut words, mut texts) = (Count::default(), Count::default());
    for path in definition.report.as_ref().map(deciding).unwrap_or_default() {
        let of = path.steps.iter().try_fold(&definition.root, |of, step| Some(of.step(step)?.0));
        let node = path.steps.iter().try_fold(document, |node, step| node.get(step));
        of.zip(node).into_iter().for_each(|(of, node)| count(of, node, &mut words, &mut texts));
    }
    if words.open + words.said == 0 {
        count(&definition.root, document, &mut words, &mut texts);
    }
    let decides = if words.open + words.said > 0 { words } else { texts };
    decides.open > 0 && decides.said == 0
}

/// The words that every case of a mapping asks for.
pub fn deciding(mapping: &Mapping) -> Vec<&Path> {
    let asked = mapping.cases.iter().map(|case| case.when.as_ref().map(asked).unwrap_or_default());
    let both = |all: Vec<_>, next: Vec<&Path>| {
        all.into_iter().filter(|path: &&Path| next.iter().any(|other| other.steps == path.steps)).collect()
    };
    asked.reduce(both).unwrap_or_default()
}

fn asked(condition: &Condition) -> Vec<&Path> {
    match condition {
        Condition::All(all) => all.iter().flat_map(asked).collect(),
        Condition::Test(path, Test::Is(_)) => vec![path],
        _ => Vec::new(),
    }
}

/// Whether a text may hold what a template has, by its signs: most do not.
pub fn may_be_unfilled(text: &str) -> bool {
    // Many bytes at a time: this is asked of every whole text.
    let bytes = text.as_bytes();
    memchr::memchr2(b'|', b'<', bytes).is_some()
        || ["...", "…"].iter().any(|sign| memmem::find(bytes, sign.as_bytes()).is_some())
}

fn count(of: &Type, node: &Node<'_>, words: &mut Count, texts: &mut Count) {
    match (&of.kind, &node.value) {
        (Kind::OneOf(known), Value::Text(said)) => {
            let known: Vec<&str> = known.iter().map(|word| &**word).collect();
            add(words, is_placeholder(said) || is_choice(said, &known));
        }
        (Kind::Text(_) | Kind::Any, Value::Text(said)) => add(texts, is_open(said)),
        (Kind::Union(types), Value::Text(said)) => {
            let known: Vec<&str> = types.iter().filter_map(one_of).flatten().map(|word| &**word).collect();
            add(texts, is_open(said) || is_choice(said, &known));
        }
        (Kind::List(list), Value::List(items)) => items.iter().for_each(|item| count(&list.of, item, words, texts)),
        (Kind::Map(map), Value::Map(entries)) => {
            entries.iter().for_each(|entry| count(&map.of, &entry.node, words, texts));
        }
        (Kind::Record(record), Value::Map(_)) => {
            let there = record.fields.iter().filter_map(|field| Some((field, node.get(&field.name)?)));
            there.for_each(|(field, inner)| count(&field.of, inner, words, texts));
        }
        (Kind::Union(types), Value::Map(_) | Value::List(_)) => {
            types.iter().for_each(|of| count(of, node, words, texts));
        }
        _ => {}
    }
}

fn one_of(of: &Type) -> Option<&[crate::Name]> {
    match &of.kind {
        Kind::OneOf(words) => Some(words),
        _ => None,
    }
}

fn add(count: &mut Count, open: bool) {
    if open {
        count.open += 1;
    } else {
        count.said += 1;
    }
}

fn is_open(said: &str) -> bool {
    is_placeholder(said) || said.trim().trim_matches(['.', '…']).is_empty()
}

/// Whether a text names several words to choose from: `approved | rejected`, `<PASS|FAIL>`.
pub fn is_choice(said: &str, known: &[&str]) -> bool {
    let bare = said.trim().trim_matches(['<', '>', '[', ']', '{', '}', '`', '"']);
    let parts = || bare.split('|').map(|part| part.trim().trim_matches(['`', '"']));
    parts().nth(1).is_some() && parts().all(|part| known.iter().any(|word| word.eq_ignore_ascii_case(part)))
}
