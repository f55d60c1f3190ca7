//! The labels of a record in a text: `**Task:** #7`, `- Task: #7`.

use std::ops::Range;

use super::read::{Reader, small};
use crate::defined::definition::{Labels, Layout, RecordType};
use crate::defined::judge::shown;
use crate::text::{is_title, lines_in};
use tollgate_core::code::Code;

/// A label in a text: its field, where it begins, and where its value begins.
#[derive(Debug, Clone, Copy)]
pub struct Labelled {
    pub field: usize,
    pub start: usize,
    pub value: usize,
}

/// The fields of a record that have a label.
fn labelled(record: &RecordType) -> Vec<(usize, &str)> {
    let labels = record.fields.iter().enumerate().filter_map(|(at, field)| match &field.layout {
        Layout::Label(label) => Some((at, &**label)),
        _ => None,
    });
    labels.collect()
}

impl<'a> Reader<'a, '_> {
    /// The labels of a record's fields in a range, in the order of the text.
    pub fn labels(&mut self, record: &'a RecordType, range: &Range<usize>, depth: usize) -> Vec<Labelled> {
        let names = labelled(record);
        if names.is_empty() {
            return Vec::new();
        }
        let mut found = self.labels_in(range, Some(depth), &names, record.labels);
        if found.is_empty() && matches!(record.labels, Labels::Lines | Labels::Inline) {
            found = self.labels_in(range, Some(depth), &names, Labels::Plain);
            // One mistake, however many labels there are.
            if let Some(first) = found.first() {
                let name = shown(&record.fields[first.field]);
                let message = format!("the label {name} is not bold");
                let hint = format!("write `**{}**`, and the other labels the same way", name.trim_matches('`'));
                self.found.error(Code::FIELD_FORM, small(first.start), message, hint);
            }
        }
        self.headings(record, range, &mut found);
        self.twice(record, &found);
        found
    }

    /// Whether a range has a label of a record.
    pub fn has_label(&self, record: &RecordType, range: &Range<usize>) -> bool {
        !self.labels_in(range, None, &labelled(record), record.labels).is_empty()
    }

    /// Every label of some names in a range; at a depth of list items, where that is known.
    fn labels_in(
        &self,
        range: &Range<usize>,
        depth: Option<usize>,
        names: &[(usize, &str)],
        style: Labels,
    ) -> Vec<Labelled> {
        let mut found = Vec::new();
        for (start, line) in lines_in(self.text, range) {
            let first = start + line.len() - line.trim_start().len();
            let at_depth = || depth.is_none_or(|depth| self.outline.depth_at(self.text, first) <= depth + 1);
            let in_line = labels_of(line, start, names, style);
            if in_line.is_empty() || self.outline.is_opaque(first) || !at_depth() {
                continue;
            }
            found.extend(
                in_line.into_iter().filter(|label| !self.outline.is_hidden(label.sign)).map(|label| label.label),
            );
        }
        found
    }

    /// Labels that were written as headings: one mistake, however many there are.
    fn headings(&mut self, record: &'a RecordType, range: &Range<usize>, found: &mut Vec<Labelled>) {
        let outline = self.outline;
        let mut first = true;
        for head in outline.heads_in(range) {
            let Some(field) = is_label(record, &self.text[head.title.clone()]) else { continue };
            if std::mem::take(&mut first) {
                let name = shown(&record.fields[field]);
                let message = format!("{name} is a heading here, not a label");
                let hint = format!("write `**{}**`, and the other labels the same way", name.trim_matches('`'));
                self.found.error(Code::FIELD_FORM, small(head.range.start), message, hint);
            }
            if !found.iter().any(|known| known.field == field) {
                found.push(Labelled { field, start: head.range.start, value: head.range.end });
            }
        }
        found.sort_by_key(|label| label.start);
    }

    /// Reports labels that are there twice. What follows the second belongs to it, not to the label before.
    fn twice(&mut self, record: &RecordType, found: &[Labelled]) {
        let mut firsts: Vec<Option<usize>> = vec![None; record.fields.len()];
        for label in found {
            let first = *firsts[label.field].get_or_insert(label.start);
            if first == label.start {
                continue;
            }
            let message = format!("{} is there twice", shown(&record.fields[label.field]));
            self.found.twice(Code::KEY_TWICE, small(label.start), small(first), message, "keep one of the two");
        }
    }
}

/// The field of a record whose label the words of a heading are.
pub fn is_label(record: &RecordType, title: &str) -> Option<usize> {
    record.fields.iter().position(|field| matches!(&field.layout, Layout::Label(name) if is_title(name, title)))
}

/// A label with the place of its own signs, after the mark of its item.
struct Signed {
    label: Labelled,
    sign: usize,
}

/// The labels in one line: bold ones anywhere, others at the start of an item or of the line.
fn labels_of(line: &str, start: usize, names: &[(usize, &str)], style: Labels) -> Vec<Signed> {
    let bare = line.trim_start();
    let lead = line.len() - bare.len();
    let marked = ["- ", "* ", "+ "].iter().find_map(|mark| bare.strip_prefix(mark));
    let plain = match style {
        Labels::Bullets | Labels::BoldBullets => marked.map(without_box),
        Labels::Plain => Some(without_box(marked.unwrap_or(bare))),
        Labels::Lines | Labels::Inline => None,
    };
    if let Some((field, after)) = plain.and_then(|item| named(item, names)) {
        let label = Labelled { field, start: start + lead, value: start + line.len() - after.len() };
        return vec![Signed { label, sign: label.start }];
    }
    let mut found = Vec::new();
    let mut rest = if style == Labels::Plain { "" } else { line };
    while let Some(at) = rest.find("**") {
        let inner = &rest[at + 2..];
        rest = inner;
        let Some((field, after)) = bold(inner, names) else { continue };
        let sign = line.len() - inner.len() - 2;
        // The mark of an item before its label, and its check box, belong to the label.
        let before = line.get(lead..sign).unwrap_or_default().trim_end();
        let is_mark = ["-", "*", "+"].iter().any(|mark| before.strip_prefix(mark).is_some_and(is_only_box));
        let begins = if before.is_empty() || is_mark { lead } else { sign };
        let label = Labelled { field, start: start + begins, value: start + line.len() - after.len() };
        found.push(Signed { label, sign: start + sign });
        rest = after;
    }
    found
}

fn is_only_box(item: &str) -> bool {
    without_box(item).is_empty()
}

const BOXES: [&str; 3] = ["[ ]", "[x]", "[X]"];

/// The text of an item without its mark.
pub fn unmarked(item: &str) -> &str {
    let item = item.trim_start();
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    item.get(digits + 1..).unwrap_or_default()
}

/// The text of an item without its check box.
pub fn without_box(item: &str) -> &str {
    let item = item.trim_start();
    BOXES.iter().find_map(|sign| item.strip_prefix(sign)).unwrap_or(item).trim_start()
}

/// Whether the text of an item begins with a check box that is not checked.
pub fn is_unchecked(item: &str) -> bool {
    item.trim_start().starts_with(BOXES[0])
}

/// A label and its colon at the start of a text, and what follows.
fn named<'t>(text: &'t str, names: &[(usize, &str)]) -> Option<(usize, &'t str)> {
    names.iter().find_map(|(field, name)| {
        let after = text[spelt(text, name)?..].strip_prefix(':')?;
        Some((*field, after))
    })
}

/// The same in bold, the colon inside or outside of the asterisks.
fn bold<'t>(text: &'t str, names: &[(usize, &str)]) -> Option<(usize, &'t str)> {
    names.iter().find_map(|(field, name)| {
        let after = &text[spelt(text, name)?..];
        Some((*field, after.strip_prefix(":**").or_else(|| after.strip_prefix("**:"))?))
    })
}

/// How many bytes of a text a name takes at its start, in any case and with either apostrophe.
fn spelt(text: &str, name: &str) -> Option<usize> {
    let plain = |c: char| if c == '’' { '\'' } else { c.to_ascii_lowercase() };
    let mut rest = text.char_indices();
    name.chars().all(|c| rest.next().is_some_and(|(_, own)| plain(own) == plain(c))).then(|| rest.offset())
}
