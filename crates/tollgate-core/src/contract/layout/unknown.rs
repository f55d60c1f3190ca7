//! Sections that the contract does not have: told, and doubted where they may ask for a change.

use std::borrow::Cow;
use std::ops::Range;

use super::neutral::doubted;
use super::outline::Head;
use super::read::{Reader, Section, is_section, small};
use crate::code::Code;
use crate::contract::definition::{Definition, Heading, Layout, RecordType};
use crate::contract::grave::demand;
use crate::contract::judge::Wrong;
use crate::contract::text::quote;
use crate::contract::tree::{Node, Value};
use crate::diagnostic::Severity;

impl Reader<'_, '_> {
    /// Tells of a section that no field has.
    pub fn unknown(&mut self, head: &Head, body: Range<usize>, of: &str) {
        let title = &self.text[head.title.clone()];
        let at = small(head.range.start);
        let doubted = doubted(title, self.text.get(body).unwrap_or_default());
        self.found.doubted.extend(doubted.map(|_| at));
        let message = format!("the section {} is not part of {of}", quote(doubted.unwrap_or(title)));
        self.found.push(Wrong::new(Code::SECTION_UNKNOWN, Severity::Warning, at, message, "nothing is decided by it"));
    }

    /// Whether a section that no field has is a part of the one before it, which that lacks so far: it stands a level too high.
    pub fn takes(&self, record: &RecordType, outer: &mut Section, title: &str) -> bool {
        let Some(inner) = record.fields[outer.field].of.record() else { return false };
        let part = |title: &str| inner.fields.iter().position(|field| is_section(field, title));
        let Some(field) = part(title) else { return false };
        let heads = self.outline.heads_in(&outer.body);
        let there = || heads.iter().filter_map(|head| part(&self.text[head.title.clone()])).collect();
        let parts = outer.parts.get_or_insert_with(there);
        let lacks = !parts.contains(&field);
        parts.extend(lacks.then_some(field));
        lacks
    }

    /// Tells of the sections behind a document, which ends with the first of them.
    pub fn behind(&mut self, heading: &Heading, from: usize) {
        let (text, outline) = (self.text, self.outline);
        let high = outline.heads_in(&(from..text.len())).iter().filter(|head| head.level <= heading.level);
        let high: Vec<&Head> = high.collect();
        let ends = high.iter().skip(1).map(|next| next.range.start).chain([text.len()]);
        for (head, end) in high.iter().zip(ends) {
            // The document a second time has been told.
            if !heading.begins(&text[head.title.clone()]) {
                self.unknown(head, head.range.end..end, "this document, which ends before it");
            }
        }
    }
}

/// Where the words of a section ask for a change as those of no contract do. What is read as something else than words is judged by itself.
pub fn demanded(definition: &Definition, root: &Node<'_>, text: &str) -> Option<u32> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let fields = definition.root.record().map(|record| &record.fields[..]).unwrap_or_default();
    let is_section =
        |key: &str| fields.iter().any(|field| *field.name == *key && matches!(field.layout, Layout::Section(_)));
    let said = root.map().unwrap_or_default().iter().filter(|entry| is_section(&entry.key));
    said.filter_map(|entry| match &entry.node.value {
        Value::Text(Cow::Borrowed(said)) => Some(entry.node.at + small(demand(said)?)),
        // Where words were left out, the line is looked for in the text as it is.
        Value::Text(Cow::Owned(said)) => {
            let line = said[demand(said)?..].lines().next().unwrap_or_default();
            let below = text.get(entry.node.at as usize..).unwrap_or_default();
            Some(entry.node.at + below.find(line.trim()).map_or(0, small))
        }
        _ => None,
    })
    .next()
}

/// Where that belongs which a report that accepts the work says in a section of its own.
pub fn where_to(definition: &Definition) -> String {
    let fields = definition.root.record().map(|record| &record.fields[..]).unwrap_or_default();
    let titles = fields.iter().filter(|field| !field.unasked).filter_map(|field| match &field.layout {
        Layout::Section(titles) => titles.first().map(|title| format!("`{title}`")),
        _ => None,
    });
    let titles = titles.collect::<Vec<_>>().join(" or ");
    let place = if titles.is_empty() { "a field of the contract".to_owned() } else { titles };
    format!("reject the work if this must change; what may stay as it is goes into {place}")
}
