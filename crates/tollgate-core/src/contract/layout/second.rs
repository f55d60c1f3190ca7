//! A file holds one document: where a second one begins in it, of another contract. One of the same is seen while reading.

use super::outline::heads;
use crate::code::Code;
use crate::contract::definition::{Definition, Heading};
use crate::contract::text::{Source, lines, quote};
use crate::contract::{Context, markdown, registry, status_block};
use crate::diagnostic::Diagnostic;

/// A heading: its level, its words, and where it stands.
type Head<'t> = (usize, &'t str, usize);

/// Says where a text that is a document holds a second one that is no part of it.
pub fn second(definition: &Definition, text: &str, context: &Context) -> Option<Diagnostic> {
    // A document without a heading of its own that may have any section has those of other contracts too.
    let level = match (&definition.heading, definition.root.record()) {
        (Some(heading), _) => heading.level,
        (None, Some(record)) if !record.open => 2,
        (None, _) => return None,
    };
    let source = Source::new(text);
    let text = source.text();
    // Headings below the document's own are its sections; most documents have no other heading at all.
    let is_high =
        |line: &str| (1..=level).contains(&line.trim_start().bytes().take_while(|byte| *byte == b'#').count());
    if lines(text).filter(|(_, line)| is_high(line)).nth(usize::from(definition.heading.is_some())).is_none()
        || markdown::refused(text).is_some()
    {
        return None;
    }
    let heads: Vec<Head<'_>> =
        heads(text).into_iter().map(|(level, title, range)| (level, &text[title], range.start)).collect();
    let own = |head: &&Head<'_>| definition.heading.as_ref().is_none_or(|heading| heading.is(head.0, head.1));
    let first = heads.iter().find(own)?;
    let known = registry::all_defined().filter(|other| other.definition.name != definition.name);
    let known: Vec<&Heading> =
        known.filter_map(|other| other.definition.heading.as_ref()).chain(&context.beside).collect();
    let is_high = |head: &&Head<'_>| {
        head.0 <= level && !definition.heading.as_ref().is_some_and(|heading| heading.begins(head.1))
    };
    let defined = heads.iter().filter(is_high).find(|head| known.iter().any(|heading| heading.begins(head.1)));
    let report = status_block::beginnings(&heads).find(is_high);
    let other = defined.into_iter().chain(report).min_by_key(|head| head.2)?;
    let (first, second) = if other.2 < first.2 { (other, first) } else { (first, other) };
    let message = format!("a second document begins here: {}", quote(second.1));
    let place = source.place(first.2);
    let hint = format!("give one document a file; the first begins at line {} with {}", place.line, quote(first.1));
    Some(Diagnostic::error(Code::SECOND_DOCUMENT, source.place(second.2), message).other(place).hint(hint))
}
