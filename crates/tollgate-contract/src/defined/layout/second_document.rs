//! A file holds one document: where a second one begins in it, by the heading of another contract.

use super::outline::{Head, Outline};
use crate::defined::built_in::all_defined;
use crate::defined::definition::Definition;
use crate::markdown::Heading;
use crate::text::{Source, quote};
use crate::{Context, markdown};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Diagnostic;

/// Says where a text that is a document holds a second one. A second one of the same contract is found while reading.
pub fn second(definition: &Definition, text: &str, context: &Context) -> Option<Diagnostic> {
    let source = Source::new(text);
    let text = source.text();
    let own = definition.heading.as_ref();
    let may_hold_any = own.is_none() && definition.root.record().is_none_or(|record| record.open);
    if may_hold_any || markdown::refused(text).is_some() {
        return None;
    }
    // Headings below the document's own are its sections.
    let level = own.map_or(2, |heading| heading.level);
    let heads = Outline::of(text).heads;
    let first = heads.iter().find(|head| own.is_none_or(|own| own.is(head.level, &text[head.title.clone()])))?;
    let title = |head: &Head| &text[head.title.clone()];
    let is_own = |head: &Head| own.is_some_and(|own| own.begins(title(head)));
    let mut beside = heads.iter().filter(|head| head.level <= level && !is_own(head)).peekable();
    // The other contracts are read only where a heading could be one of theirs.
    beside.peek()?;
    let known = all_defined().filter(|other| other.definition.name != definition.name);
    let known: Vec<&Heading> =
        known.filter_map(|other| other.definition.heading.as_ref()).chain(&context.beside).collect();
    let other = beside.find(|head| known.iter().any(|heading| heading.begins(title(head))))?;
    let (first, second) = if other.range.start < first.range.start { (other, first) } else { (first, other) };
    let message = format!("a second document begins here: {}", quote(title(second)));
    let place = source.place(first.range.start);
    let hint =
        format!("put one document into a file; the first begins at line {} with {}", place.line, quote(title(first)));
    Some(Diagnostic::error(Code::SECOND_DOCUMENT, source.place(second.range.start), message).other(place).hint(hint))
}
