//! Documents made from a definition: what is written is read as it was, and written again the same.

use super::*;
use crate::defined::definition::text_pattern::Like;
use crate::defined::definition::{Field, Form, Kind, Layout, Type};
use crate::fuzz::change::Dice;
use crate::tree::Entry;
use tollgate_core::code::Code;

const WORDS: [&str; 16] = [
    "total",
    "é€😀",
    "a\u{301}",
    "`code`",
    "*star*",
    "#7",
    "src/a.rs:1",
    "\"quoted\"",
    "x | y",
    "—",
    "1.",
    "(a)",
    "[b](c)",
    "50%",
    "a_b",
    "<p>",
];

fn words(dice: &mut Dice, max: usize) -> String {
    let mut text = String::from("w");
    for _ in 0..dice.below(6) {
        let word = WORDS[dice.below(WORDS.len())];
        if text.chars().count() + word.chars().count() + 1 > max {
            break;
        }
        text.push(' ');
        text.push_str(word);
    }
    text
}

fn value(of: &Type, dice: &mut Dice, lines: bool) -> Node<'static> {
    if of.nullable && dice.below(4) == 0 {
        return Node::new(Value::Null);
    }
    let text = |text: String| Value::Text(text.into());
    Node::new(match &of.kind {
        Kind::Any => text(words(dice, 99)),
        Kind::Bool => Value::Bool(dice.below(2) == 0),
        Kind::Const(word, true) => Value::Number(word.to_string().into()),
        Kind::Const(word, false) => text(word.to_string()),
        Kind::OneOf(all) => text(all[dice.below(all.len())].to_string()),
        Kind::Int(range) | Kind::Number(range) => {
            let (min, max) = (range.min.unwrap_or(-9), range.max.unwrap_or(1_000_000));
            Value::Number(
                (min + i64::try_from(dice.below(usize::try_from((max - min).min(99)).unwrap())).unwrap())
                    .to_string()
                    .into(),
            )
        }
        Kind::Text(own) => match &own.like[..] {
            [] => {
                let max = usize::try_from(own.range.max.unwrap_or(200)).unwrap();
                let mut said = words(dice, max);
                while said.chars().count() < usize::try_from(own.range.min.unwrap_or(0)).unwrap() {
                    said.push_str(" more");
                }
                if lines && own.range.max.is_none() && dice.below(3) == 0 {
                    said.push_str("\nsecond line\n\nthird line");
                }
                text(said)
            }
            likes => text(likes[dice.below(likes.len())].sample()),
        },
        Kind::List(list) => {
            let min = usize::try_from(list.range.min.unwrap_or(0)).unwrap();
            let max = usize::try_from(list.range.max.unwrap_or(4)).unwrap();
            let count = (min + dice.below(3)).min(max);
            let mut items: Vec<Node<'static>> = Vec::new();
            for _ in 0..count {
                let item = value(&list.of, dice, false);
                let same = |known: &Node<'_>| match &list.unique {
                    Some(Some(by)) => known.get(by).zip(item.get(by)).is_some_and(|(a, b)| a.same(b)),
                    Some(None) => known.same(&item),
                    None => false,
                };
                if !items.iter().any(same) {
                    items.push(item);
                }
            }
            Value::List(items)
        }
        Kind::Map(map) => {
            let key = map.keys.first().map_or_else(|| words(dice, 20), Like::sample);
            Value::Map(vec![Entry { key: key.into(), at: 0, node: value(&map.of, dice, false) }])
        }
        Kind::Record(record) => {
            let mut entries: Vec<Entry<'static>> = Vec::new();
            for field in &record.fields {
                if (field.optional && dice.below(2) == 0) || field.layout == Layout::Given {
                    continue;
                }
                let node = value(&field.of, dice, lines && may_have_lines(field));
                entries.push(Entry { key: field.name.to_string().into(), at: 0, node });
            }
            if dice.below(2) == 0 {
                entries.reverse();
            }
            Value::Map(entries)
        }
        Kind::Union(types) => return value(&types[dice.below(types.len())], dice, false),
    })
}

fn may_have_lines(field: &Field) -> bool {
    matches!(field.layout, Layout::Section(_))
}

#[test]
fn what_is_written_is_read_as_it_was() {
    for own in registry::all_defined() {
        let markdown = own.definition.forms[0] == Form::Markdown;
        for seed in 0..u64::from(crate::proptest_cases::few(50).cases) {
            let document = value(&own.definition.root, &mut Dice::new(seed), markdown);
            let text = own
                .write(&document)
                .unwrap_or_else(|why| panic!("{} seed {seed}: {why}\n{document:?}", own.definition.id));
            let judged = own.judge(&text, &Context::default());
            // Random words are no paths.
            let is_wrong = |d: &&Diagnostic| d.severity == Severity::Error && d.code != Code::TASK_SCOPE;
            let errors: Vec<_> = judged.diagnostics.iter().filter(is_wrong).filter(|d| d.rule.is_none()).collect();
            assert!(errors.is_empty(), "{} seed {seed}: {errors:?}\n{text}", own.definition.id);
            let root = judged.root.expect("a document");
            assert!(root.same(&document), "{} seed {seed}\n{text}\n{root:?}\n{document:?}", own.definition.id);
            assert_eq!(own.write(&root).as_deref(), Ok(text.as_str()), "{} seed {seed}", own.definition.id);
        }
    }
}
