//! A document that ends before it is over: one mistake, however much of it is missing.

use super::outline::{Head, Outline};
use super::read::is_section;
use crate::defined::definition::{Field, Kind, Layout, RecordType, Type};
use crate::defined::judge::{Found, shown};
use crate::markdown::swallowed;
use crate::text::{is_same_name, lines};
use crate::tree::{Entry, Node, Value};
use tollgate_core::code::Code;

const UNCLOSED: &str = "this code fence or HTML never ends: what follows it is no part of the document";
const UNCLOSED_HINT: &str = "end a fence with a line of the same signs, HTML with its end and an empty line";

/// Looks whether code or HTML that never ends has swallowed a heading of some words; says so.
pub fn swallows(text: &str, outline: &Outline, is: impl Fn(&str) -> bool, found: &mut Found) -> bool {
    let Some(open) = swallowed(text, outline.unclosed.first().copied(), is) else { return false };
    let at = u32::try_from(open).unwrap_or(u32::MAX);
    found.error(Code::REPORT_CUT_OFF, at, UNCLOSED.to_owned(), UNCLOSED_HINT);
    true
}

/// Looks whether a document under a heading of a level is cut off, says so, and notes what could not be read to its end.
pub fn check(
    record: &RecordType,
    entries: &[Entry<'_>],
    (root, level): (u32, usize),
    text: &str,
    outline: &Outline,
    found: &mut Found,
) {
    let there = |field: &Field| entries.iter().find(|entry| *entry.key == *field.name);
    let is_part = |title: &str| record.fields.iter().any(|field| is_section(field, title));
    if swallows(text, outline, is_part, found) {
        let within = entries.iter().max_by_key(|entry| entry.node.at).map(|entry| entry.node.at);
        found.tear([root].into_iter().chain(within).collect());
        return;
    }
    // What it begins with may be the end of one around the document.
    let begun = |open: &usize| text[*open..].lines().skip(1).any(|line| !line.trim().is_empty());
    if let Some(open) = outline.unclosed.iter().copied().find(begun) {
        let message = "this code fence or HTML never ends: the document is cut off in it".to_owned();
        found.error(Code::REPORT_CUT_OFF, u32::try_from(open).unwrap_or(u32::MAX), message, UNCLOSED_HINT);
    }
    let last = record.fields.iter().rposition(|field| there(field).is_some());
    let missing: Vec<&Field> =
        record.fields.iter().filter(|field| is_needed(field) && there(field).is_none()).collect();
    let behind = record.fields[last.map_or(0, |last| last + 1)..].iter().filter(|field| is_needed(field)).count();
    let Some(next) = missing.first().filter(|_| missing.len() == behind) else { return };
    let torn = last.and_then(|at| Some((&record.fields[at].of, &there(&record.fields[at])?.node)));
    // A heading that stands last and is the beginning of the one that should come.
    let stump = outline.heads.last().filter(|head| {
        let title = &text[head.title.clone()];
        text[head.range.end..].trim().is_empty() && begins(next, title)
    });
    // What goes on with other headings is not cut off: it says something else.
    let read = torn.map_or(root, |(_, node)| node.at) as usize;
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last_said = lines(text).filter(|(_, line)| says(line)).last().map_or(0, |(at, _)| at);
    let is_other = |head: &Head| {
        head.range.start > read
            && head.level == level + 1
            && head.range.end <= last_said
            && !is_part(&text[head.title.clone()])
    };
    if stump.is_none() && outline.heads.iter().any(is_other) {
        return;
    }
    let open = stump.is_some() || torn.is_some_and(|(of, node)| is_open(of, node));
    // One part that is missing is just that, unless the text ends in the middle of a line.
    if missing.len() < 2 && !open && text.ends_with(['\n', '\r']) {
        return;
    }
    if let Some(stump) = stump {
        found.retain(|wrong| wrong.at as usize != stump.range.start);
    }
    // What is left of the next label stands beside what came before it.
    found.retain(|wrong| wrong.code != Code::LIST_STRAY || (wrong.at as usize) < last_said);
    let mut broken = vec![root];
    torn.into_iter().for_each(|(of, node)| tear(of, node, &mut broken));
    found.tear(broken);
    let more = match missing.len() {
        1 => String::new(),
        some => format!(" and {} more", some - 1),
    };
    let at = u32::try_from(text.trim_end().len()).unwrap_or(u32::MAX);
    // A row that is cut off says so itself.
    found.retain(|wrong| wrong.code != Code::REPORT_CUT_OFF || wrong.at != at);
    let message = format!("the document is cut off here, before {}{more}", shown(next));
    found.error(Code::REPORT_CUT_OFF, at, message, "print the whole document again");
}

fn is_needed(field: &Field) -> bool {
    !field.optional && field.layout != Layout::Given
}

fn begins(field: &Field, title: &str) -> bool {
    let Layout::Section(titles) = &field.layout else { return false };
    titles.iter().any(|known| known.get(..title.len()).is_some_and(|begin| is_same_name(begin, title)))
}

/// Whether a value lacks its end: nothing is there, or not what comes last.
fn is_open(of: &Type, node: &Node<'_>) -> bool {
    match (&of.kind, &node.value) {
        (Kind::Record(record), Value::Map(entries)) => {
            let last = record.fields.iter().rev().find(|field| is_needed(field));
            last.is_some_and(|last| {
                entries.iter().find(|entry| *entry.key == *last.name).is_none_or(|entry| is_open(&last.of, &entry.node))
            })
        }
        (Kind::List(list), Value::List(items)) => {
            items.last().map_or(!list.range.counts(0), |item| is_open(&list.of, item))
        }
        _ => node.is_blank(),
    }
}

/// Notes the values that end with the text.
fn tear(of: &Type, node: &Node<'_>, broken: &mut Vec<u32>) {
    broken.push(node.at);
    match (&of.kind, &node.value) {
        (Kind::Record(record), Value::Map(entries)) => {
            let there = |field: &&Field| entries.iter().any(|entry| *entry.key == *field.name);
            let last = record.fields.iter().rev().find(there);
            let entry = last.and_then(|last| Some((last, entries.iter().find(|entry| *entry.key == *last.name)?)));
            entry.into_iter().for_each(|(field, entry)| tear(&field.of, &entry.node, broken));
        }
        (Kind::List(list), Value::List(items)) => {
            items.last().into_iter().for_each(|item| tear(&list.of, item, broken));
        }
        _ => {}
    }
}
