//! Lists that are tables: a column for each field, a row for each item.

use std::borrow::Cow;
use std::ops::Range;

use super::labels::is_label;
use super::read::{Reader, small};
use crate::defined::definition::{Field, Kind, Layout, ListType, RecordType};
use crate::defined::judge::{Wrong, shown};
use crate::text::{is_none, lines_in, quote};
use crate::tree::{Entry, Node, Value};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Severity;

/// A line of a table.
struct Row {
    range: Range<usize>,
    cells: Vec<Range<usize>>,
}

impl<'a> Reader<'a, '_> {
    /// Reads a list that should be a table.
    pub fn table_or_list(&mut self, list: &'a ListType, range: Range<usize>, level: usize) -> Node<'a> {
        match self.table(list, &range) {
            Some(table) => table,
            None => self.list(list, range, level),
        }
    }

    /// Reads the table in a range; none where there is no table.
    fn table(&mut self, list: &'a ListType, range: &Range<usize>) -> Option<Node<'a>> {
        let record = list.of.record()?;
        let mut rows = self.rows(range);
        let at = small(rows.first()?.range.start);
        let end = rows.last()?.range.end;
        let (count, width) = (rows.len(), rows.first()?.cells.len());
        let cut = rows.pop_if(|row| self.is_cut(row, count, width));
        let is_table = rows.get(1).is_some_and(|row| row.cells.iter().all(|cell| self.is_rule(cell)));
        let columns = match rows.first().filter(|_| is_table) {
            Some(head) => self.columns(record, head),
            None if cut.is_some() => None,
            None => {
                let hint = "write a line `| ID | … |` with the columns, below it `|---|---|`, then the rows";
                self.found.error(Code::FIELD_FORM, at, "this table has no line of columns".to_owned(), hint);
                None
            }
        };
        if let Some(cut) = &cut {
            let message = "the document is cut off here, in a row of a table".to_owned();
            self.found.error(Code::REPORT_CUT_OFF, small(cut.range.end), message, "print the whole document again");
            self.found.tear(vec![at]);
        }
        let Some(columns) = columns else {
            self.found.tear(vec![at]);
            return Some(Node { value: Value::List(Vec::new()), at });
        };
        self.stray(end..range.end);
        let items = rows.iter().skip(2).map(|row| self.row(record, &columns, row)).collect();
        Some(Node { value: Value::List(items), at })
    }

    /// The lines of the first table in a range, without what is opaque.
    fn rows(&self, range: &Range<usize>) -> Vec<Row> {
        let lines = lines_in(self.text, range).map(|(at, line)| (at, line.trim_end()));
        let is_row = |(at, line): &(usize, &str)| line.trim_start().starts_with('|') && !self.outline.is_opaque(*at);
        let rows = lines.skip_while(|line| !is_row(line)).take_while(is_row);
        rows.map(|(at, line)| {
            let start = at + line.len() - line.trim_start().len();
            let range = start..at + line.len();
            Row { cells: cells(self.text, &range), range }
        })
        .collect()
    }

    /// Whether the text ends in the last row of a table with so many lines and columns.
    fn is_cut(&self, last: &Row, lines: usize, columns: usize) -> bool {
        let after = &self.text[last.range.end..];
        let is_whole = self.text[last.range.clone()].ends_with('|') && last.cells.len() == columns;
        after.trim().is_empty() && (lines < 2 || !is_whole && !after.contains('\n'))
    }

    fn is_rule(&self, cell: &Range<usize>) -> bool {
        let cell = self.text[cell.clone()].trim().trim_matches(':');
        !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
    }

    /// The field of each column; none where one is missing that every row needs.
    fn columns(&mut self, record: &RecordType, head: &Row) -> Option<Vec<Option<usize>>> {
        let mut columns: Vec<Option<usize>> = Vec::new();
        for cell in &head.cells {
            let title = self.text[cell.clone()].trim();
            let field = is_label(record, title);
            if field.is_some() && columns.contains(&field) {
                let message = format!("the column {} is there twice", quote(title));
                self.found.error(Code::KEY_TWICE, small(cell.start), message, "keep one of the two");
            } else if field.is_none() {
                let message = format!("the column {} is not part of this contract", quote(title));
                let hint = "nothing is decided by it";
                self.found.push(Wrong::new(Code::FIELD_UNKNOWN, Severity::Warning, small(cell.start), message, hint));
            }
            columns.push(field);
        }
        let is_missing = |(at, field): &(usize, &Field)| !field.optional && !columns.contains(&Some(*at));
        let Some((_, missing)) = record.fields.iter().enumerate().find(is_missing) else { return Some(columns) };
        let message = format!("the table has no column {}", shown(missing));
        self.found.error(Code::FIELD_MISSING, small(head.range.start), message, "add the column to every row");
        None
    }

    fn row(&mut self, record: &'a RecordType, columns: &[Option<usize>], row: &Row) -> Node<'a> {
        let at = small(row.range.start);
        if row.cells.len() != columns.len() {
            let message = format!("this row has {} cells, and the table {} columns", row.cells.len(), columns.len());
            self.found.error(Code::FIELD_FORM, at, message, "write a `|` between two cells, and `\\|` inside of one");
            self.found.tear(vec![at]);
            return Node { value: Value::Map(Vec::new()), at };
        }
        let mut entries = Vec::with_capacity(columns.len());
        for (cell, field) in row.cells.iter().zip(columns) {
            let Some(field) = field.map(|field| &record.fields[field]) else { continue };
            let node = self.cell(field, cell.clone());
            if !node.is_blank() || node.list().is_some() && !self.text[cell.clone()].trim().is_empty() {
                entries.push(Entry { key: Cow::Borrowed(&*field.name), at: node.at, node });
            }
        }
        Node { value: Value::Map(entries), at }
    }

    /// A cell of a list has its items between commas.
    fn cell(&mut self, field: &'a Field, range: Range<usize>) -> Node<'a> {
        let of = match &field.of.kind {
            Kind::List(list) => &list.of,
            _ => return unescaped(self.value(&field.of, range, 0, 0)),
        };
        let at = small(range.start);
        let (mut items, mut start) = (Vec::new(), range.start);
        if !is_none(self.text[range.clone()].trim()) {
            for part in self.text[range.clone()].split(',') {
                items.push(unescaped(self.value(of, start..start + part.len(), 0, 0)));
                start += part.len() + 1;
            }
        }
        items.retain(|item| !item.is_blank());
        Node { value: Value::List(items), at }
    }
}

/// The cells of a line, without the signs between them.
fn cells(text: &str, line: &Range<usize>) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = line.start + 1;
    for (at, _) in text[line.clone()].match_indices('|').map(|(at, sign)| (line.start + at, sign)).skip(1) {
        if !text[..at].ends_with('\\') {
            cells.push(start..at);
            start = at + 1;
        }
    }
    if start < line.end {
        cells.push(start..line.end);
    }
    cells
}

fn unescaped(node: Node<'_>) -> Node<'_> {
    match &node.value {
        Value::Text(said) if said.contains("\\|") => {
            Node { value: Value::Text(said.replace("\\|", "|").into()), at: node.at }
        }
        _ => node,
    }
}

/// Writes a list as a table.
pub fn write(list: &ListType, items: &[Node<'_>]) -> String {
    let fields = list.of.record().map(|record| &record.fields[..]).unwrap_or_default();
    let labels = fields.iter().map(|field| match &field.layout {
        Layout::Label(label) => label.to_string(),
        _ => field.name.to_string(),
    });
    let text = |node: &Node<'_>| node.word().unwrap_or_default().replace('|', "\\|").replace('\n', " ");
    let cell = |item: &Node<'_>, field: &Field| match item.get(&field.name).map(|node| (node, node.list())) {
        Some((_, Some([]))) => "None".to_owned(),
        Some((_, Some(items))) => items.iter().map(text).collect::<Vec<_>>().join(", "),
        Some((node, None)) => text(node),
        None => String::new(),
    };
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let rows = items.iter().map(|item| line(fields.iter().map(|field| cell(item, field)).collect()));
    format!("{}|{}\n{}", line(labels.collect()), "---|".repeat(fields.len()), rows.collect::<String>())
}
