//! From the outline of a text to the parts of one status block, each with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use super::document::{CoverageRow, FileCounts, FileEntry, Finding, Mark, Note, Status, Word};
use super::draft::{Draft, Located, Present};
use super::finding;
use super::heading::Heading;
use crate::code::Code;
use crate::contract::markdown::{BlockKind, Section, item_text};
use crate::contract::sink::Sink;
use crate::contract::text::{Source, clean, quote, says_none};
use crate::diagnostic::{Diagnostic, Place};
use crate::id::FindingId;

/// One entry of a section that lists things.
pub(super) struct Entry {
    pub text: String,
    pub place: Place,
    /// The sub-heading it stands under.
    pub under: Option<String>,
}

/// What counts as an entry in a section without a list.
#[derive(Debug, Clone, Copy)]
enum Bare {
    /// Each line: paths, rows.
    Lines,
    /// Each paragraph: questions and findings may be long.
    Paragraphs,
}

/// Whether a line is a rule between sections.
fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ['-', '*', '_'].iter().any(|sign| line.chars().all(|c| c == *sign))
}

/// Reads the sections of one report.
pub fn parse(source: &Source<'_>, sections: &[Section], sink: &mut Sink) -> Draft {
    let mut draft = Draft::default();
    for (at, section) in sections.iter().enumerate() {
        let title = &source.text()[section.title.clone()];
        let place = source.place(section.start);
        let last = at + 1 == sections.len();
        if last {
            check_end(source, section, sink);
        }
        let Some((heading, name)) = Heading::find(title) else {
            let text = plain(&source.text()[section.body.clone()]);
            if last && text.is_empty() && Heading::is_cut(title) {
                cut_off(place, sink);
            } else {
                let message = format!("the section {} is not part of a status block", quote(title));
                sink.warning(Code::SECTION_UNKNOWN, place, message, "it is kept as a note; nothing is decided by it");
            }
            draft.other.push(Note { title: clean(title), text });
            continue;
        };
        if let Some(first) = draft.find(heading) {
            let message = format!("`## {}` is there twice", heading.title());
            sink.push(
                Diagnostic::error(Code::SECTION_TWICE, place, message).other(first.place).hint("keep one of the two"),
            );
            continue;
        }
        let content = section.title.start + name..section.body.end;
        let bytes = source.text()[content.clone()].trim().len() as u64;
        draft.present.push(Present { heading, place, bytes });
        Reader { source, section, content, place, sink }.read(heading, &mut draft);
    }
    draft
}

fn cut_off(place: Place, sink: &mut Sink) {
    sink.error(Code::REPORT_CUT_OFF, place, "the report is cut off", "print the whole report again");
}

fn check_end(source: &Source<'_>, section: &Section, sink: &mut Sink) {
    let open = section.blocks.iter().find(|block| matches!(block.kind, BlockKind::Fence { closed: false, .. }));
    if let Some(block) = open {
        let message = "the report is cut off: this code fence is never closed";
        sink.error(Code::REPORT_CUT_OFF, source.place(block.range.start), message, "print the whole report again");
    }
}

/// A text as it is kept: without white space around it and without what a terminal would obey.
fn plain(text: &str) -> String {
    clean(text).trim().to_owned()
}

/// One section under reading.
struct Reader<'a, 's> {
    source: &'a Source<'a>,
    section: &'a Section,
    /// What the section says, from the value in its heading on.
    content: Range<usize>,
    place: Place,
    sink: &'s mut Sink,
}

impl Reader<'_, '_> {
    fn read(mut self, heading: Heading, draft: &mut Draft) {
        let text = plain(&self.source.text()[self.content.clone()]);
        match heading {
            Heading::Status => draft.status = self.status(),
            Heading::StatusReason => draft.reason = self.reason(),
            Heading::Abstract => self.index(draft),
            Heading::Iteration => draft.iteration = self.iteration(),
            Heading::FilesCreated => draft.created = self.files(),
            Heading::FilesModified => draft.modified = self.files(),
            Heading::FilesDeleted => draft.deleted = self.files(),
            Heading::Coverage => draft.coverage = self.coverage(),
            Heading::Verdict => draft.verdict = self.verdict(),
            Heading::VerifiedRows => draft.verified = self.strings(Bare::Lines),
            Heading::Gaps => draft.gaps = self.strings(Bare::Lines),
            Heading::Findings => draft.findings = self.findings(),
            Heading::ChangeRequests => draft.change_requests = self.findings(),
            Heading::AddressedFindings => draft.addressed = Some(self.addressed()),
            Heading::OpenQuestions => draft.questions = self.strings(Bare::Paragraphs),
            Heading::QualityGates
            | Heading::ReadingScope
            | Heading::ReReviewMode
            | Heading::KeyDecisions
            | Heading::NextAgent
            | Heading::LessonsLearned => {}
        }
        draft.texts.insert(heading, text);
    }

    /// The lines of a range that say something, with their offsets; a rule between sections says nothing.
    fn lines(&self, range: &Range<usize>) -> Vec<(usize, &str)> {
        let mut offset = range.start;
        let mut lines = Vec::new();
        for line in self.source.text()[range.clone()].split_inclusive(['\n', '\r']) {
            let trimmed = line.trim();
            if !trimmed.is_empty() && !is_rule(trimmed) {
                lines.push((offset + line.len() - line.trim_start().len(), trimmed));
            }
            offset += line.len();
        }
        lines
    }

    /// The lines of the whole content without its comments.
    fn said(&self) -> Vec<(usize, &str)> {
        let comments =
            self.section.blocks.iter().filter(|block| block.kind == BlockKind::Html).map(|block| &block.range);
        let mut comments = comments.peekable();
        let mut lines = self.lines(&self.content);
        lines.retain(|(at, _)| {
            while comments.next_if(|comment| comment.end <= *at).is_some() {}
            comments.peek().is_none_or(|comment| comment.start > *at)
        });
        lines
    }

    /// The one word a section consists of; complains when it is not there or not alone.
    fn word(&mut self, code: Code, values: &str) -> Option<(Place, String)> {
        let lines: Vec<_> = self.said().into_iter().map(|(at, line)| (at, line.to_owned())).collect();
        let hint = format!("write one of {values}, alone in its section");
        let Some((at, word)) = lines.first() else {
            self.sink.error(code, self.place, "the section is empty", hint);
            return None;
        };
        if let Some((extra, text)) = lines.get(1) {
            let message = format!("this section is one word; there is also {}", quote(text));
            self.sink.error(code, self.source.place(*extra), message, hint);
            return None;
        }
        Some((self.source.place(*at), word.trim_matches(['*', '`']).to_owned()))
    }

    fn status(&mut self) -> Option<Located<Status>> {
        const VALUES: &str = "`complete`, `blocked`, `failed`, `incomplete`";
        let (place, word) = self.word(Code::STATUS_UNKNOWN, VALUES)?;
        let found = Status::parse(&word);
        if found.is_none() {
            let message = format!("{} is not a status", quote(&word));
            self.sink.error(Code::STATUS_UNKNOWN, place, message, format!("write one of {VALUES}, spelt exactly so"));
        }
        found.map(|value| Located { value, place })
    }

    fn verdict(&mut self) -> Option<Located<Word>> {
        const VALUES: &str = "`APPROVED`, `BLOCKED`";
        let (place, word) = self.word(Code::VERDICT_WORD, VALUES)?;
        let found = Word::parse(&word);
        if found.is_none() {
            let message = format!("{} is not a verdict", quote(&word));
            self.sink.error(Code::VERDICT_WORD, place, message, format!("write one of {VALUES}, spelt exactly so"));
        }
        found.map(|value| Located { value, place })
    }

    fn reason(&mut self) -> Option<Located<String>> {
        let lines = self.said();
        let (at, first) = *lines.first()?;
        if lines.len() == 1 && says_none(first) {
            return None;
        }
        if let Some((extra, _)) = lines.get(1) {
            let place = self.source.place(*extra);
            self.sink.error(
                Code::STATUS_REASON,
                place,
                "the status reason is more than one line",
                "say it in one line",
            );
            return None;
        }
        Some(Located { value: plain(first), place: self.source.place(at) })
    }

    fn iteration(&mut self) -> Option<u32> {
        let (_, text) = *self.said().first()?;
        let bare = text.trim_start_matches(|c: char| c.is_alphabetic() || c == '.').trim();
        let number = bare.parse().ok();
        if number.is_none() && !says_none(text) {
            let message = format!("{} is no iteration", quote(text));
            self.sink.warning(Code::ENTRY_UNREADABLE, self.place, message, "write `iter N`");
        }
        number
    }

    /// The entries of a section that lists things: its list items, or without a list its paragraphs or lines.
    fn entries(&self, bare: Bare) -> Vec<Entry> {
        let text = self.source.text();
        let inline = self.content.start..self.section.body.start.max(self.content.start);
        let (mut items, mut others) = (Vec::new(), Vec::new());
        let mut under = None;
        self.bare_entries(&inline, bare, None, &mut others);
        for block in &self.section.blocks {
            match &block.kind {
                BlockKind::Heading(title) => under = Some(text[title.clone()].to_owned()),
                BlockKind::Item => {
                    let (item, start) = item_text(text, &block.range);
                    items.push(Entry { text: item, place: self.source.place(start), under: under.clone() });
                }
                BlockKind::Paragraph => self.bare_entries(&block.range, bare, under.as_ref(), &mut others),
                BlockKind::Fence { content, .. } => self.bare_entries(content, bare, under.as_ref(), &mut others),
                BlockKind::Html => {}
            }
        }
        let mut entries = if items.is_empty() { others } else { items };
        entries.retain(|entry| !entry.text.is_empty());
        if entries.first().is_some_and(|entry| says_none(&entry.text)) { Vec::new() } else { entries }
    }

    /// Entries that are no list items.
    fn bare_entries(&self, range: &Range<usize>, bare: Bare, under: Option<&String>, entries: &mut Vec<Entry>) {
        let lines = self.lines(range);
        let Some((first, _)) = lines.first() else { return };
        let entry =
            |text: &str, at: usize| Entry { text: plain(text), place: self.source.place(at), under: under.cloned() };
        match bare {
            Bare::Lines => entries.extend(lines.iter().map(|(at, line)| entry(line, *at))),
            Bare::Paragraphs => {
                let whole: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
                entries.push(entry(&whole.join("\n"), *first));
            }
        }
    }

    fn strings(&self, bare: Bare) -> Vec<Located<String>> {
        self.entries(bare).into_iter().map(|entry| Located { value: entry.text, place: entry.place }).collect()
    }

    fn files(&mut self) -> Vec<Located<FileEntry>> {
        let mut files = Vec::new();
        for entry in self.entries(Bare::Lines) {
            match file_entry(&entry.text) {
                Some(value) => files.push(Located { value, place: entry.place }),
                None => {
                    let message = format!("{} names no file", quote(&entry.text));
                    self.sink.error(
                        Code::ENTRY_UNREADABLE,
                        entry.place,
                        message,
                        "write one item per file: - `path` — note",
                    );
                }
            }
        }
        files
    }

    fn coverage(&mut self) -> Vec<Located<CoverageRow>> {
        let mut rows = Vec::new();
        for entry in self.entries(Bare::Lines) {
            match coverage_row(&entry.text) {
                Some(value) => rows.push(Located { value, place: entry.place }),
                None => {
                    let message = format!("the row {} has no mark", quote(&entry.text));
                    let hint = "begin the row with ✓, ✗ or ⚠️ and a reason";
                    self.sink.error(Code::ENTRY_UNREADABLE, entry.place, message, hint);
                }
            }
        }
        rows
    }

    fn findings(&mut self) -> Vec<Located<Finding>> {
        let mut findings = Vec::new();
        for entry in self.entries(Bare::Paragraphs) {
            match finding::read(&entry.text, entry.under.as_deref()) {
                Ok(value) => {
                    if value.path.is_none() {
                        let message = "the finding names no file and line";
                        self.sink.warning(
                            Code::FINDING_UNREADABLE,
                            entry.place,
                            message,
                            "write - [major] path:line — what is wrong",
                        );
                    }
                    findings.push(Located { value, place: entry.place });
                }
                Err(why) => {
                    let hint = "write - [critical|major|minor] path:line (RULE) — what is wrong";
                    self.sink.error(Code::FINDING_UNREADABLE, entry.place, why, hint);
                }
            }
        }
        findings
    }

    fn addressed(&mut self) -> Vec<FindingId> {
        let mut ids = Vec::new();
        for entry in self.entries(Bare::Lines) {
            let words = entry
                .text
                .split([',', ' ', '\n'])
                .filter(|word| !word.is_empty())
                .map(|word| word.trim_matches(['`', '*', ':', '.', '[', ']']));
            let mut found = words.map_while(|word| word.parse::<FindingId>().ok()).peekable();
            if found.peek().is_none() {
                let message = format!("{} names no finding", quote(&entry.text));
                self.sink.error(
                    Code::ENTRY_UNREADABLE,
                    entry.place,
                    message,
                    "begin the item with the finding's id: - fnd_7",
                );
            }
            ids.extend(found);
        }
        ids
    }

    /// The Abstract: `field: value` lines, plain or in a fence.
    fn index(&mut self, draft: &mut Draft) {
        let fence = self.section.blocks.iter().find_map(|block| match &block.kind {
            BlockKind::Fence { content, .. } => Some(content.clone()),
            _ => None,
        });
        let lines = fence.map_or_else(|| self.said(), |range| self.lines(&range));
        let lines: Vec<_> = lines.into_iter().map(|(at, line)| (at, line.to_owned())).collect();
        let mut seen: BTreeMap<&'static str, Place> = BTreeMap::new();
        for (at, line) in lines {
            let place = self.source.place(at);
            let field = line.split_once(':').map(|(name, value)| (name.trim_matches(['*', '`', '-', ' ']), value));
            let known = field
                .and_then(|(name, value)| FIELDS.iter().find(|known| **known == name).map(|known| (*known, value)));
            let Some((name, value)) = known else {
                let message = format!("{} is no field of the Abstract", quote(&line));
                self.sink.error(
                    Code::ABSTRACT_FIELD,
                    place,
                    message,
                    format!("its fields are {}, a line each", FIELDS.join(", ")),
                );
                continue;
            };
            if let Some(first) = seen.insert(name, place) {
                let message = format!("the Abstract has `{name}` twice");
                self.sink.push(
                    Diagnostic::error(Code::ABSTRACT_FIELD, place, message).other(first).hint("keep one of the two"),
                );
                continue;
            }
            self.field(name, unquoted(value.trim().trim_start_matches("**").trim()), place, draft);
        }
        for name in FIELDS.iter().filter(|name| !seen.contains_key(**name)) {
            let message = format!("the Abstract has no `{name}`");
            self.sink.error(Code::ABSTRACT_FIELD, self.place, message, format!("add a line `{name}: …`"));
        }
    }

    fn field(&mut self, name: &str, value: String, place: Place, draft: &mut Draft) {
        let expected = match name {
            "outcome" if !value.is_empty() => {
                draft.outcome = Some(Located { value, place });
                return;
            }
            "next_phase" if !value.is_empty() => {
                draft.next_phase = Some(Located { value, place });
                return;
            }
            "verdict" => {
                draft.index_verdict = Word::parse(&value).map(|value| Located { value, place });
                if draft.index_verdict.is_some() {
                    return;
                }
                "`APPROVED`, `REQUEST_CHANGES`, `BLOCKED` or `n/a`, spelt exactly so"
            }
            "files" => {
                draft.files = file_counts(&value).map(|value| Located { value, place });
                if draft.files.is_some() {
                    return;
                }
                "`N created, M modified, K deleted`"
            }
            "open_questions" => {
                draft.question_count = value.parse().ok().map(|value| Located { value, place });
                if draft.question_count.is_some() {
                    return;
                }
                "a number"
            }
            _ => "a line of text",
        };
        let message = format!("{} is no value for `{name}`", quote(&value));
        self.sink.error(Code::ABSTRACT_FIELD, place, message, format!("write {expected}"));
    }
}

const FIELDS: [&str; 5] = ["outcome", "verdict", "files", "next_phase", "open_questions"];

/// A value without the quotes that YAML would take off.
fn unquoted(value: &str) -> String {
    let inside = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    if value.starts_with('"')
        && let Ok(text) = serde_json::from_str::<String>(value)
    {
        return plain(&text);
    }
    plain(inside('\'').map_or_else(|| value.to_owned(), |text| text.replace("''", "'")).as_str())
}

fn file_counts(value: &str) -> Option<FileCounts> {
    let (mut created, mut modified, mut deleted) = (None, None, None);
    for part in value.split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let slot = match what.trim() {
            "created" => &mut created,
            "modified" => &mut modified,
            "deleted" => &mut deleted,
            _ => return None,
        };
        if slot.replace(number.parse().ok()?).is_some() {
            return None;
        }
    }
    Some(FileCounts { created: created?, modified: modified?, deleted: deleted.unwrap_or(0) })
}

/// What may stand between a name and the words about it.
pub(super) fn after_separator(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':' | '·' | ','))
}

fn file_entry(text: &str) -> Option<FileEntry> {
    let (path, rest) = match text.strip_prefix('`') {
        Some(quoted) => quoted.split_once('`')?,
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    };
    let path = if text.starts_with('`') { path } else { path.trim_end_matches(':') };
    let single = !path.trim().is_empty() && !path.contains('\n');
    single.then(|| FileEntry { path: path.to_owned(), note: after_separator(rest).trim().to_owned() })
}

fn coverage_row(text: &str) -> Option<CoverageRow> {
    let (at, sign, mark) = text.char_indices().find_map(|(at, c)| Mark::of(c).map(|mark| (at, c, mark)))?;
    let before = text[..at].trim_end();
    let after = text[at + sign.len_utf8()..].trim_start_matches('\u{fe0f}').trim();
    let joined = if before.is_empty() || after.is_empty() { "" } else { " " };
    Some(CoverageRow { mark, row: format!("{before}{joined}{after}") })
}
