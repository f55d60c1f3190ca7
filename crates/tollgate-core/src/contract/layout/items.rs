//! The items of a list, and what stands beside them: text that belongs to no field is told, never lost.

use std::ops::Range;

use super::label::without_box;
use super::outline::Item;
use super::read::{Reader, small};
use crate::code::Code;
use crate::contract::definition::{Kind, Layout, RecordType};
use crate::contract::judge::{Wrong, shown};
use crate::contract::parts::is_table;
use crate::contract::struck;
use crate::contract::text::{lines_in, quote, says_none};
use crate::contract::tree::{Entry, Node, Value};
use crate::diagnostic::Severity;

/// How long a line may be that says no more than that there is nothing.
const NONE_MAX: usize = 64;

impl<'a> Reader<'a, '_> {
    /// The items without those that were taken out, unless all were: that is no list.
    pub fn standing<'o>(&self, items: Vec<&'o Item>) -> Vec<&'o Item> {
        if self.lacks.strikes {
            return items;
        }
        let is_out = |item: &&Item| {
            let words = self.unmarked(&item.range);
            let labels = || struck::unstruck(words).contains("**");
            struck::is_struck(words) || (struck::begins_struck(words) && !labels())
        };
        if items.iter().all(is_out) { items } else { items.into_iter().filter(|item| !is_out(item)).collect() }
    }

    /// Complains about an item that is struck through: somebody took it out, and it would count.
    pub fn stands(&mut self, range: &Range<usize>) {
        let words = self.unmarked(range);
        if !self.lacks.strikes && (struck::is_struck(words) || struck::begins_struck(words)) {
            let message = format!("an item is struck through: {}", quote(without_box(words)));
            self.found.error(Code::FIELD_FORM, small(range.start), message, "take the strike out, or the item");
        }
    }

    /// Items that have the labels of one between them are one, and one mistake.
    pub fn joined(&mut self, record: &RecordType, nodes: Vec<Node<'a>>) -> Vec<Node<'a>> {
        let mut joined: Vec<Node<'a>> = Vec::with_capacity(nodes.len());
        let mut nodes = nodes.into_iter().peekable();
        while let Some(mut node) = nodes.next() {
            let mut count = 1;
            if let Value::Map(entries) = &mut node.value {
                let adds = |next: &Node<'a>, entries: &[Entry<'a>]| match &next.value {
                    Value::Map(more) => {
                        !more.is_empty() && more.iter().all(|one| entries.iter().all(|own| own.key != one.key))
                    }
                    _ => false,
                };
                while !entries.is_empty() && entries.len() < record.fields.len() {
                    let Some(next) = nodes.next_if(|next| adds(next, entries)) else { break };
                    let Value::Map(more) = next.value else { break };
                    entries.extend(more);
                    count += 1;
                }
            }
            if count > 1 {
                let labels = record.fields.iter().map(shown).collect::<Vec<_>>().join(", ");
                let message = format!("{labels} stand in {count} items");
                let hint = "write them in one item, one behind the other";
                self.found.error(Code::FIELD_FORM, node.at, message, hint);
            }
            joined.push(node);
        }
        joined
    }

    /// Complains about text between the items of a list and behind them: it is no item, and nobody would read it. Before them it may announce the list.
    /// A heading before the boxes of a checklist names a group of them.
    pub fn beside(&mut self, items: &[&Item], range: &Range<usize>, checks: bool) {
        let mut end = range.start;
        for (at, item) in items.iter().enumerate() {
            let between = end.min(item.range.start)..item.range.start;
            let is_lost = at > 0 && !(checks && self.is_heading(&between));
            self.stray(between, is_lost);
            end = end.max(item.range.end);
        }
        self.stray(end.min(range.end)..range.end, true);
    }

    /// The same of what stands before the first of the headings that are items. An item of a list or a row of a table is one of theirs.
    pub fn before_sections(&mut self, range: Range<usize>) {
        let outline = self.outline;
        let holds = !outline.items_from(&range).is_empty() || is_table(&self.text[range.clone()]);
        self.stray(range, holds);
    }

    /// Whether nothing but a heading stands in a part of the text.
    fn is_heading(&self, range: &Range<usize>) -> bool {
        let outline = self.outline;
        let words = self.text[range.clone()].trim();
        matches!(outline.heads_in(range), [head] if self.text[head.range.clone()].trim() == words)
    }

    fn stray(&mut self, range: Range<usize>, is_lost: bool) {
        // Between most items there is nothing.
        if self.text[range.clone()].trim_start().is_empty() {
            return;
        }
        // Labels or a table before the items say what an item says.
        let is_lost = is_lost || is_table(&self.text[range.clone()]) || self.text[range.clone()].contains(":** ");
        let node = self.said(range, 0);
        let Some(said) = node.text().filter(|said| says(said)) else { return };
        if is_lost {
            let message = format!("{} stands beside the list and is no item of it", quote(said));
            let hint = "make it an item, indent it below its item, or leave it out";
            self.found.error(Code::LIST_STRAY, node.at, message, hint);
        } else if !said.trim_end_matches(['*', '_']).ends_with(':') {
            self.nowhere(&node, said);
        }
    }

    /// Tells of what stands before the labels or sections of a record that has no place for it. A document without a heading of its own begins anywhere.
    pub fn unnamed(&mut self, record: &RecordType, before: &Range<usize>, level: usize) {
        let has_place = |layout: &Layout| matches!(layout, Layout::Head | Layout::Body);
        if level < 2 || record.open || record.fields.iter().any(|field| has_place(&field.layout)) {
            return;
        }
        let node = self.said(before.clone(), 0);
        let Some(said) = node.text().filter(|said| says(said)) else { return };
        if self.holds_item(record, before) {
            let message = format!("{} stands before the sections, and is an item of one", quote(said));
            self.found.error(Code::LIST_STRAY, node.at, message, "write it in its section");
        } else {
            self.nowhere(&node, said);
        }
    }

    /// Whether a part of the text has labels of the items that the lists of a record have.
    pub fn holds_item(&self, record: &RecordType, range: &Range<usize>) -> bool {
        let lists = record.fields.iter().filter_map(|field| match &field.of.kind {
            Kind::List(list) => list.of.record(),
            _ => None,
        });
        lists.into_iter().any(|item| self.has_label(item, range) || self.holds_item(item, range))
    }

    /// Complains about a title behind `None`: a section that has nothing in it has no part of its own.
    pub fn behind_none(&mut self, body: &Range<usize>) {
        let outline = self.outline;
        let mut said = lines_in(self.text, body).filter(|(_, line)| !line.trim().is_empty());
        // Nearly no section begins so, and none with a long line.
        if !said.next().is_some_and(|(_, first)| first.len() <= NONE_MAX && says_none(first.trim())) {
            return;
        }
        let is_underline = |line: &str| line.len() > 2 && line.bytes().all(|byte| matches!(byte, b'-' | b'='));
        let is_bold =
            |line: &str| line.len() > 4 && line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
        let mut before: Option<(usize, &str)> = None;
        for (at, line) in said.filter(|(at, _)| !outline.is_code(*at)) {
            let line = line.trim();
            let underlined = before.filter(|(from, above)| is_underline(line) && from + above.len() + 1 >= at);
            if let Some((at, title)) = underlined.or((line.starts_with('#') || is_bold(line)).then_some((at, line))) {
                let message = format!("{} stands behind `None`, which says that there is nothing", quote(title));
                let hint = "leave `None` out, or write this where it belongs";
                self.found.error(Code::LIST_STRAY, small(at), message, hint);
                return;
            }
            before = Some((at, line));
        }
    }

    /// Takes out the words that were read as the head of a record which has its head elsewhere.
    pub fn drop_head(&mut self, record: &RecordType, entries: &mut Vec<Entry<'a>>, name: &str) {
        let Some(at) = entries.iter().position(|entry| *entry.key == *name) else { return };
        let node = entries.remove(at).node;
        let read = record.open || record.fields.iter().any(|field| field.layout == Layout::Body);
        if let Some(said) = node.text().filter(|said| !read && says(said)) {
            self.nowhere(&node, said);
        }
    }

    fn nowhere(&mut self, node: &Node<'_>, said: &str) {
        // A quote is somebody else's.
        if !self.outline.is_code(node.at as usize) {
            let (message, hint) = (format!("{} belongs to no field", quote(said)), "nothing is decided by it");
            self.found.push(Wrong::new(Code::LIST_STRAY, Severity::Warning, node.at, message, hint));
        }
    }
}

/// Whether a text has words, outside of its tags.
fn says(text: &str) -> bool {
    match text.contains('<') {
        false => text.contains(char::is_alphanumeric),
        true => {
            let outside = text.split('<').enumerate();
            let outside =
                outside.map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or(part, |it| it.1) });
            outside.into_iter().any(|part| part.contains(char::is_alphanumeric))
        }
    }
}

/// A text without the line that announces what follows: `Files that are excluded:`.
pub fn without_intro(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.trim_end().ends_with(':') && !rest.trim().is_empty() => rest.trim_start(),
        _ => text,
    }
}
