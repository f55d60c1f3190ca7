//! The labels of a record in a text, and the other forms that people and agents give them.

use std::ops::Range;

use super::label::{Labelled, is_label, labels_of, next_line};
use super::read::{Reader, small};
use crate::code::Code;
use crate::contract::definition::{Field, Labels, Layout, RecordType};
use crate::contract::judge::shown;
use crate::contract::parts::is_table;
use crate::contract::text::{lines_in, quote};

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
        let mut found: Vec<Labelled> = Vec::new();
        if names.is_empty() {
            return found;
        }
        self.each_label(record, range, depth, &names, record.labels, &mut found);
        // Labels that nobody made bold are one mistake, however many there are.
        if found.is_empty() && matches!(record.labels, Labels::Lines | Labels::Inline) {
            self.each_label(record, range, depth, &names, Labels::Plain, &mut found);
            let name = found.first().and_then(|label| record.fields.get(label.field)).map(shown);
            if let (Some(first), Some(name)) = (found.first(), name) {
                let message = format!("{name} is not bold, so that it is no label");
                let hint = format!("write `**{}**`, and the others so too", name.trim_matches('`'));
                self.found.error(Code::FIELD_FORM, small(first.start), message, hint);
            }
        }
        self.headings(record, range, &mut found);
        if found.is_empty() && depth == 0 {
            self.dashes(range, &names, &mut found);
        }
        if found.is_empty() && depth == 0 {
            self.table(range, &names);
        }
        found
    }

    /// Whether a line of a range has a label of a record.
    pub fn has_label(&self, record: &RecordType, range: &Range<usize>) -> bool {
        let names = labelled(record);
        let mut found = false;
        let mut rest = range.clone();
        while let Some((start, line)) = next_line(self.text, &rest, record.labels).filter(|_| !found) {
            rest.start = start + line.len();
            labels_of(line, start, &names, record.labels, &mut |label| found |= !self.outline.is_code(label.start));
        }
        found
    }

    /// Labels that were made headings: one mistake, however many there are.
    fn headings(&mut self, record: &'a RecordType, range: &Range<usize>, found: &mut Vec<Labelled>) {
        let mut told = false;
        for head in self.outline.heads_in(range) {
            let Some(field) = is_label(record, &self.text[head.title.clone()]) else { continue };
            let (start, value) = (head.range.start, head.range.end);
            if let (false, Some(name)) = (told, record.fields.get(field).map(shown)) {
                let message = format!("{name} is a heading here, not a label");
                let hint = format!("write `**{}**`, and the others so too", name.trim_matches('`'));
                self.found.error(Code::FIELD_FORM, small(start), message, hint);
                told = true;
            }
            if !found.iter().any(|known| known.field == field) {
                found.push(Labelled { field, start, value });
            }
        }
        found.sort_by_key(|label| label.start);
    }

    /// Labels with a dash in the place of their colon: one mistake, however many there are.
    fn dashes(&mut self, range: &Range<usize>, names: &[(usize, &str)], found: &mut Vec<Labelled>) {
        let label = |line: &str| {
            let item = line.trim_start().trim_start_matches(['-', '*', '+', ' ']);
            let (name, rest) = item.split_once("**")?;
            let value = rest.trim_start().strip_prefix(['—', '–', '-'])?;
            let (field, name) = names.iter().find(|(_, known)| known.eq_ignore_ascii_case(name.trim()))?;
            Some((*field, *name, value.len()))
        };
        for (start, line) in lines_in(self.text, range) {
            let Some((field, name, left)) = label(line).filter(|_| !self.outline.is_code(start)) else { continue };
            if found.is_empty() {
                let message = format!("`{name}` has a dash behind it, so that it is no label");
                let hint = format!("write `**{name}:** …`, and the others so too");
                self.found.error(Code::FIELD_FORM, small(start), message, hint);
            }
            if !found.iter().any(|known| known.field == field) {
                found.push(Labelled { field, start, value: start + line.len() - left });
            }
        }
    }

    /// Complains about a table where every line is to hold: nobody reads what its rows say.
    pub fn rows(&mut self, field: &Field, range: &Range<usize>) {
        // Most texts have no sign of one.
        if memchr::memchr2(b'|', b'<', &self.text.as_bytes()[range.clone()]).is_none() {
            return;
        }
        // Labels in a table are told where they are looked for.
        let labels =
            |record: &RecordType| !self.has_label(record, range) && self.in_table(range, &labelled(record)).is_some();
        if field.of.record().is_some_and(labels) {
            return;
        }
        let row = lines_in(self.text, range).find(|(start, line)| is_table(line) && !self.outline.is_code(*start));
        if let Some((start, line)) = row {
            let message = format!("a table stands in {}: {}", shown(field), quote(line));
            let hint = "say it in the lines of the list, or leave it out";
            self.found.error(Code::FIELD_FORM, small(start), message, hint);
        }
    }

    /// The first label that stands in a row of a table, and where the row begins.
    fn in_table<'n>(&self, range: &Range<usize>, names: &[(usize, &'n str)]) -> Option<(usize, &'n str)> {
        let row = |line: &str| {
            let first = line.trim().strip_prefix('|')?.split('|').next()?;
            let bare = first.trim().trim_matches(['*', '`', ':']).trim_end_matches(':');
            names.iter().find(|(_, name)| name.eq_ignore_ascii_case(bare)).map(|(_, name)| *name)
        };
        let first = lines_in(self.text, range).find_map(|(start, line)| Some((start, row(line)?)));
        first.filter(|(start, _)| !self.outline.is_code(*start))
    }

    /// Labels that stand in the rows of a table: one mistake, and nothing in it is read.
    fn table(&mut self, range: &Range<usize>, names: &[(usize, &str)]) {
        if let Some((start, name)) = self.in_table(range, names) {
            let message = format!("`{name}` stands in a table, where no label is read");
            let hint = format!("write `**{name}:** …` in a line of its own, and the others so too");
            self.found.error(Code::FIELD_FORM, small(start), message, hint);
            self.unread = true;
        }
    }

    fn each_label(
        &mut self,
        record: &'a RecordType,
        range: &Range<usize>,
        depth: usize,
        names: &[(usize, &str)],
        style: Labels,
        found: &mut Vec<Labelled>,
    ) {
        let mut firsts = vec![None; record.fields.len()];
        let (text, outline, mut rest) = (self.text, self.outline, range.clone());
        while let Some((start, line)) = next_line(text, &rest, style) {
            rest.start = start + line.len();
            let first = start + line.len() - line.trim_start().len();
            // Few lines have a label, and only of those it matters where they stand.
            let mut read = None;
            labels_of(line, start, names, style, &mut |label| {
                let stands = || outline.depth_at(text, first) <= depth + 1 && !outline.is_code(first);
                if *read.get_or_insert_with(stands) && !outline.is_comment(label.start) {
                    self.add_label(label, record, &mut firsts, found);
                }
            });
        }
    }

    fn add_label(
        &mut self,
        label: Labelled,
        record: &'a RecordType,
        firsts: &mut [Option<usize>],
        found: &mut Vec<Labelled>,
    ) {
        let Some(first) = firsts[label.field] else {
            firsts[label.field] = Some(label.start);
            found.push(label);
            return;
        };
        let Some(Field { layout: Layout::Label(name), .. }) = record.fields.get(label.field) else { return };
        let message = format!("`{name}:` is there twice");
        self.found.twice(Code::KEY_TWICE, small(label.start), small(first), message, "keep one of the two");
        // What stands behind the second belongs to it, not to what comes before.
        found.push(label);
    }
}
