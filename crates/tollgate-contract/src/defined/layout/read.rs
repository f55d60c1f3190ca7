//! From the outline of a text to the tree.

use std::borrow::Cow;
use std::ops::Range;

use super::labels::{is_label, unmarked, without_box};
use super::outline::{Head, Item, Outline};
use super::truncated;
use crate::Context;
use crate::defined::definition::{Definition, Field, Items, Kind, Labels, Layout, ListType, RecordType, Type};
use crate::defined::judge::{Found, Wrong};
use crate::markdown::Heading;
use crate::markdown::{self, BYTES_MAX, Refused, SHOW_NOT, SHOWN, heading_words};
use crate::text::{Source, clean, is_none, is_title, lines, quote};
use crate::tree::{Entry, Node, Value};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Fix, Severity};

/// Reads a document; without its heading there is none.
pub fn read<'a>(definition: &'a Definition, text: &'a str, context: &Context, found: &mut Found) -> Option<Node<'a>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match markdown::refused(text) {
        Some(Refused::TooLong) => {
            let message = format!("the text is longer than {BYTES_MAX} bytes");
            found.error(Code::TEXT_REFUSED, 0, message, "give the document alone");
            return None;
        }
        Some(Refused::TooDeep(at)) => {
            let message = "this line nests lists or quotes too deeply".to_owned();
            found.error(Code::TEXT_REFUSED, small(at), message, "write it flatter");
            return None;
        }
        None => {}
    }
    let record = definition.root.record()?;
    let outline = Outline::of(text);
    let mut reader = Reader { text, outline: &outline, found };
    let mut behind = None;
    let (region, level, title) = match &definition.heading {
        None => (0..text.len(), 1, None),
        Some(heading) => {
            let head = reader.document(heading)?;
            // A section of the document that is a level too high is one all the same.
            let is_other = |next: &&Head| {
                let title = &text[next.title.clone()];
                next.level <= head.level && !record.fields.iter().any(|field| is_section(field, title))
            };
            let end = outline.heads_in(&(head.range.end..text.len())).iter().find(is_other);
            let end = end.map_or(text.len(), |next| next.range.start);
            // A document that is no report may stand in a larger text.
            behind = Some((heading, end)).filter(|_| end < text.len() && definition.report.is_some());
            (head.range.end..end, head.level, Some(head.title.clone()))
        }
    };
    let closed = definition.closing.as_ref().and_then(|closing| outline.closed_by(text, &region, closing));
    let region = region.start..closed.unwrap_or(region.end);
    let at = title.as_ref().map_or(region.start, |title| title.start);
    let mut entries = reader.record(record, region, level, 0);
    behind.into_iter().for_each(|(heading, from)| reader.after(heading, from));
    if definition.report.is_some() {
        reader.underlined(record, at);
    }
    if let (Some(heading), Some(title)) = (&definition.heading, title)
        && let Some(hole) = &heading.hole
    {
        let rest = title.start + heading.words.len()..title.end;
        reader.drop_head(record, &mut entries, hole);
        entries.insert(0, Entry { key: Cow::Borrowed(&**hole), at: small(rest.start), node: reader.said(rest, 0) });
    }
    truncated::check(record, &entries, (small(at), level), text, &outline, found);
    entries.extend(given(record, context));
    Some(Node { value: Value::Map(entries), at: small(at) })
}

/// Fields that are given beside the text.
fn given<'a>(record: &'a RecordType, context: &Context) -> Option<Entry<'a>> {
    let field = record.fields.iter().find(|field| field.layout == Layout::Given)?;
    let labels = context.labels.as_ref()?;
    let items = labels.iter().map(|label| Node::new(Value::Text(Cow::Owned(label.to_string())))).collect();
    Some(Entry { key: Cow::Borrowed(&*field.name), at: 0, node: Node::new(Value::List(items)) })
}

pub(super) fn small(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A section of a text: which field, where its heading begins, what stands below it.
pub(super) struct Section {
    pub field: usize,
    start: usize,
    pub body: Range<usize>,
    /// The fields of its record that have a heading in it, once they were looked for.
    pub parts: Option<Vec<usize>>,
}

pub(super) struct Reader<'a, 'r> {
    pub text: &'a str,
    pub outline: &'r Outline,
    pub found: &'r mut Found,
}

impl<'a> Reader<'a, '_> {
    /// The heading that the document stands under; the last of several counts.
    fn document(&mut self, heading: &Heading) -> Option<&'_ Head> {
        let outline = self.outline;
        let begins = |head: &&Head| heading.begins(&self.text[head.title.clone()]);
        let all: Vec<&Head> = outline.heads.iter().filter(begins).collect();
        let mut right = all.iter().copied().filter(|head| head.level == heading.level);
        let wanted = format!("{} {}", "#".repeat(heading.level), heading.words);
        let Some(first) = right.next() else {
            let begins = |title: &str| heading.begins(title);
            if all.is_empty() && truncated::swallows(self.text, outline, begins, self.found) {
                return None;
            }
            let (at, code) = match all.first() {
                Some(head) => (head.range.start, Code::SECTION_MISPLACED),
                None => (0, Code::SECTION_MISSING),
            };
            let is_shown = |line: &str| line.contains('#') && heading_words(line).is_some_and(begins);
            if let Some((at, _)) = lines(self.text).find(|(_, line)| all.is_empty() && is_shown(line)) {
                let message = format!("there is no heading `{wanted}`: this one {SHOWN}");
                self.found.error(code, small(at), message, SHOW_NOT);
                return None;
            }
            let message = format!("there is no heading `{wanted}`");
            self.found.error(code, small(at), message, format!("begin the document with `{wanted}`"));
            self.found.fix((all.len() == 1).then_some(Fix::Level(heading.level)));
            return None;
        };
        if let Some(second) = right.next() {
            let message = format!("`{wanted}` is there twice");
            let (at, first) = (small(second.range.start), small(first.range.start));
            self.found.twice(Code::SECTION_TWICE, at, first, message, "give one document");
        }
        Some(first)
    }

    /// Reads the fields of a record from a range that stands under a heading of a level and in so many items.
    fn record(&mut self, record: &'a RecordType, region: Range<usize>, level: usize, depth: usize) -> Vec<Entry<'a>> {
        let outline = self.outline;
        let heads = outline.heads_in(&region);
        let is_section = |head: &&Head| is_label(record, &self.text[head.title.clone()]).is_none();
        let intro = region.start..heads.iter().find(is_section).map_or(region.end, |head| head.range.start);
        // A heading parts nothing in a record that has no sections: its labels go on behind it.
        let parts = record.fields.iter().any(|field| matches!(field.layout, Layout::Section(_)));
        let goes_on = !parts && intro.end < region.end && self.has_label(record, &(intro.end..region.end));
        let intro = if goes_on { region.clone() } else { intro };
        let labels = self.labels(record, &intro, depth);
        let before = intro.start..labels.first().map_or(intro.end, |label| label.start);
        // Where nothing comes behind it, other words are missing, and that is told.
        if before.end < region.end {
            self.unnamed(record, &before, level);
        }
        let sections = self.sections(record, heads, &region, level);
        let mut entries = Vec::with_capacity(record.fields.len());
        for (at, field) in record.fields.iter().enumerate() {
            let node = match &field.layout {
                Layout::Section(_) => sections.iter().find(|section| section.field == at).map(|section| {
                    self.boxes(field, &section.body);
                    self.placed(&field.of, section.start, section.body.clone(), level + 1, depth)
                }),
                Layout::Label(_) => labels.iter().position(|label| label.field == at).map(|index| {
                    let end = labels.get(index + 1).map_or(intro.end, |next| next.start);
                    self.boxes(field, &(labels[index].start..end));
                    self.placed(&field.of, labels[index].start, labels[index].value..end, level, depth)
                }),
                Layout::Head => Some(self.head(before.clone())).filter(|node| !node.is_blank()),
                Layout::Body => Some(self.value(&field.of, region.clone(), level, depth)),
                Layout::Given => None,
            };
            if let Some(node) = node {
                entries.push(Entry { key: Cow::Borrowed(&*field.name), at: node.at, node });
            }
        }
        entries
    }

    /// The words before the first label, without the signs that make them bold.
    fn head(&mut self, range: Range<usize>) -> Node<'a> {
        let mut node = self.plain(range);
        if let Value::Text(text) = &node.value {
            let bare =
                text.strip_prefix("**").and_then(|text| text.strip_suffix("**")).filter(|text| !text.contains("**"));
            if let Some(bare) = bare.map(|text| text.trim().to_owned()) {
                node.value = Value::Text(Cow::Owned(bare));
            }
        }
        node
    }

    /// The sections of a record's fields, each up to the next heading of its level.
    fn sections(
        &mut self,
        record: &'a RecordType,
        heads: &[Head],
        region: &Range<usize>,
        level: usize,
    ) -> Vec<Section> {
        let mut found: Vec<Section> = Vec::new();
        let by_sections = record.fields.iter().any(|field| matches!(field.layout, Layout::Section(_)));
        let (mut furthest, mut begun) = (0, false);
        for (at, head) in heads.iter().enumerate().filter(|_| by_sections) {
            let title = &self.text[head.title.clone()];
            // A lower heading before all sections stands in none of them.
            let own = head.level == level + 1 || !begun;
            begun |= head.level <= level + 1;
            let named = record.fields.iter().position(|field| is_section(field, title));
            let named = named.filter(|field| head.level == level + 1 || !found.iter().any(|one| one.field == *field));
            let Some(field) = named else {
                let end = heads[at + 1..].iter().find(|next| next.level <= head.level);
                let body = head.range.end..end.map_or(region.end, |next| next.range.start);
                if head.level == level + 1 && found.last_mut().is_some_and(|outer| self.takes(record, outer, title)) {
                    // That it stands a level too high is told where it is read.
                    found.last_mut().into_iter().for_each(|outer| outer.body.end = body.end);
                } else if head.level == level + 1 && self.is_item(record, found.last(), &body) {
                    found.last_mut().into_iter().for_each(|list| list.body.end = body.end);
                    self.misplaced(head, level + 2);
                } else if own && !record.open && !(found.is_empty() && is_label(record, title).is_some()) {
                    self.unknown(head, "not part of this contract");
                }
                continue;
            };
            if head.level != level + 1 {
                self.misplaced(head, level + 1);
            }
            if let Some(first) = found.iter().find(|one| one.field == field) {
                let (at, first) = (small(head.range.start), small(first.start));
                let message = format!("the section {} is there twice", quote(title));
                self.found.twice(Code::SECTION_TWICE, at, first, message, "keep one of the two");
                continue;
            }
            if field < furthest {
                let message = format!("the section {} is out of order", quote(title));
                self.warn(Code::SECTION_ORDER, head, message, "keep the order of the template");
            }
            furthest = furthest.max(field);
            let end = heads[at + 1..].iter().find(|next| next.level <= head.level);
            let body = head.range.end..end.map_or(region.end, |next| next.range.start);
            found.push(Section { field, start: head.range.start, body, parts: None });
        }
        self.in_order(&found, region.end);
        found
    }

    /// Whether a section that no field has is an item of the list of sections before it, a level too high.
    fn is_item(&self, record: &RecordType, before: Option<&Section>, body: &Range<usize>) -> bool {
        let list = before.and_then(|section| match &record.fields[section.field].of.kind {
            Kind::List(list) if list.items == Items::Sections => list.of.record(),
            _ => None,
        });
        list.is_some_and(|item| self.has_label(item, body) || self.holds_item(item, body))
    }

    fn misplaced(&mut self, head: &Head, level: usize) {
        let title = &self.text[head.title.clone()];
        let message = format!("{} is a heading of level {}", quote(title), head.level);
        let hint = format!("write `{} {title}`", "#".repeat(level));
        self.found.error(Code::SECTION_MISPLACED, small(head.range.start), message, hint);
        self.found.fix(Some(Fix::Level(level)));
    }

    /// Says how sections that stand in another order are put in theirs.
    fn in_order(&mut self, sections: &[Section], end: usize) {
        if sections.is_sorted_by_key(|section| section.field) {
            return;
        }
        let mut starts: Vec<(usize, usize)> = sections.iter().map(|section| (section.field, section.start)).collect();
        starts.sort_unstable();
        let place = |at: usize| Source::bare(self.text).place(at);
        let order = starts.iter().map(|(_, start)| place(*start)).collect();
        let end = (end < self.text.len()).then(|| place(end));
        let last = self.found.wrong.iter_mut().rev().find(|wrong| wrong.code == Code::SECTION_ORDER);
        if let Some(wrong) = last {
            wrong.fix = Some(Fix::Order(order, end));
        }
    }

    fn warn(&mut self, code: Code, head: &Head, message: String, hint: &str) {
        self.found.push(Wrong::new(code, Severity::Warning, small(head.range.start), message, hint));
    }

    /// What stands in a range; where nothing does, it stands where it was announced.
    fn placed(&mut self, of: &'a Type, start: usize, range: Range<usize>, level: usize, depth: usize) -> Node<'a> {
        let blank = self.text[range.clone()].trim_start().is_empty();
        let node = self.value(of, range, level, depth);
        // The very first byte is the place of what stands nowhere.
        if blank { Node { at: small(start.max(1)), ..node } } else { node }
    }

    pub(super) fn value(&mut self, of: &'a Type, range: Range<usize>, level: usize, depth: usize) -> Node<'a> {
        match &of.kind {
            Kind::List(list) if list.items == Items::Table => self.table_or_list(list, range, level),
            Kind::List(list) => self.list(list, range, level),
            Kind::Record(record) => {
                let at = small(self.trimmed(&range).start);
                Node { value: Value::Map(self.record(record, range, level, depth)), at }
            }
            Kind::Int(_) | Kind::Number(_) => {
                let node = self.plain(range);
                let number = node.text().filter(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
                let number = number.map(|number| Value::Number(Cow::Owned(number.to_owned())));
                Node { value: number.unwrap_or(node.value), at: node.at }
            }
            Kind::OneOf(_) | Kind::Const(..) => {
                let node = self.plain(range);
                let said = node.text().unwrap_or_default();
                let bare = said.trim_matches(['`', '*']);
                // With a sign on one side alone they belong to what is said: `` `done`. ``
                let whole = said.starts_with(['`', '*']) != said.ends_with(['`', '*']);
                let said = if whole { said } else { bare }.to_owned();
                Node { value: Value::Text(Cow::Owned(said)), at: node.at }
            }
            Kind::Text(text) if !text.like.is_empty() => self.plain(range),
            // Code beside the word `None` says no more than it.
            Kind::Text(_) => match self.plain(range.clone()) {
                none if none.text().is_some_and(is_none) => none,
                _ => self.said(range, depth),
            },
            Kind::Any | Kind::Bool | Kind::Map(_) | Kind::Union(_) => self.said(range, depth),
        }
    }

    pub(super) fn list(&mut self, list: &'a ListType, range: Range<usize>, level: usize) -> Node<'a> {
        let at = small(self.trimmed(&range).start);
        let outline = self.outline;
        if list.items == Items::Sections {
            // One of the list's own level is in its range where it was reported as too high.
            let is_own = |head: &&Head| head.level == level || head.level == level + 1;
            let heads: Vec<&Head> = outline.heads_in(&range).iter().filter(is_own).collect();
            let mut items = Vec::new();
            for (index, head) in heads.iter().enumerate() {
                let end = heads.get(index + 1).map_or(range.end, |next| next.range.start);
                items.push(self.titled(&list.of, head, head.range.end..end, level + 1));
            }
            if let Some(first) = heads.first() {
                self.before_sections(list, range.start..first.range.start);
                return Node { value: Value::List(items), at };
            }
        }
        let items = if list.items == Items::Sections { Vec::new() } else { outline.items_in(&range) };
        let heads = outline.heads_in(&range);
        let titled = list.of.record().is_some_and(|of| of.fields.iter().any(|field| field.layout == Layout::Head));
        if let Some(first) = heads.first().filter(|first| {
            titled && list.items != Items::Sections && items.iter().all(|item| item.range.start > first.range.start)
        }) {
            let message = format!("{} is a heading here, not an item", quote(&self.text[first.title.clone()]));
            let hint = "write it as an item of a list, in bold, and the others so too";
            self.found.error(Code::FIELD_FORM, small(first.range.start), message, hint);
            let ends = heads.iter().skip(1).map(|next| next.range.start).chain([range.end]);
            let items =
                heads.iter().zip(ends).map(|(head, end)| self.titled(&list.of, head, head.range.end..end, level));
            return Node { value: Value::List(items.collect()), at };
        }
        let is_one_none = matches!(&items[..], [only] if is_none(self.item_text(&only.range)));
        if items.is_empty() || is_one_none {
            let said = self.plain(range);
            let none = is_one_none || said.text().is_some_and(ends_with_none);
            return if none { Node { value: Value::List(Vec::new()), at: said.at } } else { said };
        }
        self.beside(list, &items, &range);
        let read = |item: &&Item| {
            let inside = self.inside(item.range.start..item.range.end.min(range.end));
            self.placed(&list.of, item.range.start, inside, level, item.depth)
        };
        let nodes: Vec<Node<'a>> = items.iter().map(read).collect();
        let nodes = match list.of.record() {
            Some(record) if record.labels == Labels::Inline => self.joined(record, nodes),
            Some(_) | None => nodes,
        };
        Node { value: Value::List(nodes), at }
    }

    /// A record whose head is the words of its heading.
    fn titled(&mut self, of: &'a Type, head: &Head, body: Range<usize>, level: usize) -> Node<'a> {
        let at = small(head.title.start);
        let Some(record) = of.record() else { return self.value(of, body, level, 0) };
        let mut entries = self.record(record, body, level, 0);
        let named = record.fields.iter().find(|field| field.layout == Layout::Head);
        if let Some(field) = named {
            self.drop_head(record, &mut entries, &field.name);
            let node = self.said(head.title.clone(), 0);
            entries.insert(0, Entry { key: Cow::Borrowed(&*field.name), at, node });
        }
        Node { value: Value::Map(entries), at }
    }

    /// An item without its mark and its check box.
    fn inside(&self, range: Range<usize>) -> Range<usize> {
        range.end - without_box(self.unmarked(&range)).len()..range.end
    }

    /// An item without its mark.
    pub(super) fn unmarked(&self, range: &Range<usize>) -> &'a str {
        unmarked(&self.text[range.clone()])
    }

    /// A range without white space around it.
    fn trimmed(&self, range: &Range<usize>) -> Range<usize> {
        let text = self.text[range.clone()].trim_start();
        let start = range.end - text.len();
        start..start + text.trim_end().len()
    }

    /// The words of an item, without its mark and its check box.
    fn item_text(&self, range: &Range<usize>) -> &'a str {
        without_box(self.unmarked(range)).trim()
    }

    /// The text of a range, as people read it: without comments and the indentation of its item.
    pub(super) fn said(&self, range: Range<usize>, depth: usize) -> Node<'a> {
        let range = self.trimmed(&range);
        // The indentation of a code block is part of it.
        let before = &self.text[..range.start];
        let indent = match self.outline.is_opaque(range.start) {
            true => &before[before.trim_end_matches([' ', '\t']).len()..],
            false => "",
        };
        let node = self.cut_out(range.clone(), self.outline.comments_in(&range), depth);
        let said = node.text().filter(|_| !indent.is_empty()).map(|said| format!("{indent}{said}"));
        Node { value: said.map_or(node.value, |said| Value::Text(said.into())), at: node.at }
    }

    /// The text of a range that is structure: without comments, code blocks and quotes.
    pub(super) fn plain(&self, range: Range<usize>) -> Node<'a> {
        let mut range = self.trimmed(&range);
        let unread = self.outline.unread_in(&range);
        // The first words that are read are the place of all of them.
        for one in &unread {
            if one.contains(&range.start) {
                range = self.trimmed(&(one.end.min(range.end)..range.end));
            }
        }
        self.cut_out(range, &unread, 1)
    }

    fn cut_out(&self, range: Range<usize>, cuts: &[Range<usize>], depth: usize) -> Node<'a> {
        let at = small(range.start);
        let mut kept = String::new();
        let mut from = range.start;
        for cut in cuts {
            kept.push_str(self.text.get(from..cut.start.min(range.end)).unwrap_or_default());
            from = cut.end.clamp(from, range.end);
        }
        kept.push_str(&self.text[from..range.end]);
        let mut kept = clean(&kept).into_owned();
        if depth > 0 {
            let indent = kept.lines().skip(1).filter(|line| !line.trim().is_empty());
            let indent = indent.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0);
            let lines = kept
                .lines()
                .enumerate()
                .map(|(at, line)| if at == 0 { line } else { line.get(indent..).unwrap_or("") });
            kept = lines.collect::<Vec<_>>().join("\n");
        }
        Node { value: Value::Text(Cow::Owned(kept.trim().to_owned())), at }
    }

    /// Reports a section that no field has; whether that is an error depends on what the document means.
    pub(super) fn unknown(&mut self, head: &Head, what: &str) {
        let at = small(head.range.start);
        self.found.unknown.insert(at);
        let message = format!("the section {} is {what}", quote(&self.text[head.title.clone()]));
        self.found.push(Wrong::new(Code::SECTION_UNKNOWN, Severity::Warning, at, message, "nothing is decided by it"));
    }

    /// Reports the first section after a document, which ends with it.
    fn after(&mut self, heading: &Heading, from: usize) {
        let outline = self.outline;
        let mut high = outline.heads_in(&(from..self.text.len())).iter().filter(|head| head.level <= heading.level);
        // The document a second time has an error of its own.
        if let Some(head) = high.find(|head| !heading.begins(&self.text[head.title.clone()])) {
            self.unknown(head, "after the end of this document");
        }
    }

    /// Whether a section that no field has is a missing part of the section before it, a level too high.
    fn takes(&self, record: &RecordType, outer: &mut Section, title: &str) -> bool {
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
}

/// Whether the last block of a text is the word `None`: what comes before it introduces the list.
fn ends_with_none(text: &str) -> bool {
    text.is_empty() || is_none(text.rsplit("\n\n").next().unwrap_or(text))
}

/// Whether the words of a heading name the section of a field.
pub fn is_section(field: &Field, title: &str) -> bool {
    let Layout::Section(titles) = &field.layout else { return false };
    titles.iter().any(|known| is_title(known, title))
}
