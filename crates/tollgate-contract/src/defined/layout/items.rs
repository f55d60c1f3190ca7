//! What is written beside the items of a list, or before the fields of a record, and belongs to no field: reported, never lost.

use std::ops::Range;

use super::labels::is_unchecked;
use super::outline::Item;
use super::read::{Reader, small};
use crate::defined::definition::{Field, Items, Kind, Layout, ListType, RecordType};
use crate::defined::judge::{Wrong, shown};
use crate::text::{is_none, quote};
use crate::tree::{Entry, Node, Value};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;

impl<'a> Reader<'a, '_> {
    /// Reports the boxes of a field that are not checked, where all of them must be.
    pub fn boxes(&mut self, field: &Field, range: &Range<usize>) {
        let outline = self.outline;
        for item in outline.items_from(range).iter().filter(|_| field.checked) {
            let words = self.unmarked(&item.range);
            if is_unchecked(words) && !outline.is_opaque(item.range.start) {
                let message = format!("a box in {} is not checked: {}", shown(field), quote(words.trim_start()));
                let hint = "check it with `[x]` once it is done";
                self.found.error(Code::FIELD_FORM, small(item.range.start), message, hint);
            }
        }
    }

    /// Items that share the labels of one item are one mistake.
    pub fn joined(&mut self, record: &RecordType, nodes: Vec<Node<'a>>) -> Vec<Node<'a>> {
        let mut joined: Vec<Node<'a>> = Vec::with_capacity(nodes.len());
        let mut nodes = nodes.into_iter().peekable();
        while let Some(mut node) = nodes.next() {
            let mut count = 1;
            if let Value::Map(entries) = &mut node.value {
                let adds = |next: &Node<'a>, entries: &[Entry<'a>]| {
                    let more = next.map().unwrap_or_default();
                    !more.is_empty() && more.iter().all(|one| entries.iter().all(|own| own.key != one.key))
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
                let message = format!("{labels} are spread over {count} items");
                self.found.error(Code::FIELD_FORM, node.at, message, "write them in one item, one after the other");
            }
            joined.push(node);
        }
        joined
    }

    /// Reports text after the first item of a list, where it may be an item that is not read. Before it, text introduces the list, unless it
    /// has the labels of an item. A heading before the boxes of a checklist names a group of them.
    pub fn beside(&mut self, list: &ListType, items: &[&Item], range: &Range<usize>) {
        let mut end = range.start;
        for (at, item) in items.iter().enumerate() {
            let between = end.min(item.range.start)..item.range.start;
            let is_group = || list.items == Items::Checks && self.is_heading(&between);
            let is_lost = match at {
                0 => list.of.record().is_some_and(|record| self.has_label(record, &between)),
                _ => !is_group(),
            };
            if is_lost {
                self.stray(between);
            }
            end = end.max(item.range.end);
        }
        self.stray(end.min(range.end)..range.end);
    }

    /// Reports an item before the first of the headings that are items: it belongs to none of them.
    pub fn before_sections(&mut self, list: &ListType, range: Range<usize>) {
        let holds = list.of.record().is_some_and(|record| self.holds_item(record, &range));
        if holds || !self.outline.items_in(&range).is_empty() {
            self.stray(range);
        }
    }

    /// Whether a part of the text is one heading and nothing else.
    fn is_heading(&self, range: &Range<usize>) -> bool {
        let words = self.text[range.clone()].trim();
        matches!(self.outline.heads_in(range), [head] if self.text[head.range.clone()].trim() == words)
    }

    pub(super) fn stray(&mut self, range: Range<usize>) {
        let Some((node, said)) = self.words_in(range) else { return };
        let message = format!("{} is beside the list and is no item of it", quote(&said));
        let hint = "make it an item, indent it below its item, or leave it out";
        self.found.error(Code::LIST_STRAY, node.at, message, hint);
    }

    /// Reports what comes before the labels or sections of a record that has no place for it. A document without a heading of its own
    /// begins anywhere.
    pub fn unnamed(&mut self, record: &RecordType, before: &Range<usize>, level: usize) {
        let has_place = |layout: &Layout| matches!(layout, Layout::Head | Layout::Body);
        if level < 2 || record.open || record.fields.iter().any(|field| has_place(&field.layout)) {
            return;
        }
        let Some((node, said)) = self.words_in(before.clone()) else { return };
        if self.holds_item(record, before) {
            let message = format!("{} is an item of a section, and comes before all of them", quote(&said));
            self.found.error(Code::LIST_STRAY, node.at, message, "write it in its section");
        } else {
            self.nowhere(&node, &said);
        }
    }

    /// Reports headings that are underlined: they begin no section of a record. A rule right below `None` or a label makes none.
    pub fn underlined(&mut self, record: &RecordType, from: usize) {
        for head in self.outline.underlined.iter().filter(|head| head.range.start >= from && !record.open) {
            if !is_none(&self.text[head.title.clone()]) && !self.has_label(record, &head.range) {
                self.unknown(head, "underlined, and not part of this contract");
            }
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

    /// Takes out the words that were read as the head of a record whose head is elsewhere.
    pub fn drop_head(&mut self, record: &RecordType, entries: &mut Vec<Entry<'a>>, name: &str) {
        let Some(at) = entries.iter().position(|entry| *entry.key == *name) else { return };
        let node = entries.remove(at).node;
        let read = record.open || record.fields.iter().any(|field| field.layout == Layout::Body);
        if let Some(said) = node.text().filter(|said| !read && has_words(said)) {
            self.nowhere(&node, said);
        }
    }

    /// The words of a range outside of code, quotes and comments, where there are some.
    fn words_in(&self, range: Range<usize>) -> Option<(Node<'a>, String)> {
        let node = self.plain(range);
        let said = node.text().filter(|said| has_words(said)).map(str::to_owned)?;
        Some((node, said))
    }

    fn nowhere(&mut self, node: &Node<'_>, said: &str) {
        let (message, hint) = (format!("{} belongs to no field", quote(said)), "nothing is decided by it");
        self.found.push(Wrong::new(Code::LIST_STRAY, Severity::Warning, node.at, message, hint));
    }
}

fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}
