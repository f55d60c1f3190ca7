//! From the outline of a text to the parts of one status block, each with its place.

use std::collections::BTreeMap;
use std::ops::Range;

use super::document::{Abstract, CoverageRow, Document, FileCounts, FileEntry, Finding, Mark, Note, Status, Word};
use super::finding;
use super::heading::Heading;
use crate::code::Code;
use crate::contract::markdown::{BlockKind, Section, item_text};
use crate::contract::sink::Sink;
use crate::contract::text::{Source, clean, quote, says_none};
use crate::diagnostic::{Diagnostic, Place};
use crate::id::FindingId;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
}

/// A section that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Present {
    /// Which one.
    pub heading: Heading,
    /// Where its heading is.
    pub place: Place,
    /// How many bytes its content has.
    pub bytes: u64,
}

/// A status block as far as it could be read.
#[derive(Debug, Default)]
pub struct Draft {
    pub present: Vec<Present>,
    pub status: Option<Located<Status>>,
    pub reason: Option<Located<String>>,
    pub outcome: Option<Located<String>>,
    pub index_verdict: Option<Located<Word>>,
    pub files: Option<Located<FileCounts>>,
    pub next_phase: Option<Located<String>>,
    pub question_count: Option<Located<u32>>,
    pub iteration: Option<u32>,
    pub created: Vec<Located<FileEntry>>,
    pub modified: Vec<Located<FileEntry>>,
    pub deleted: Vec<Located<FileEntry>>,
    pub coverage: Vec<Located<CoverageRow>>,
    pub verdict: Option<Located<Word>>,
    pub verified: Vec<Located<String>>,
    pub gaps: Vec<Located<String>>,
    pub findings: Vec<Located<Finding>>,
    pub change_requests: Vec<Located<Finding>>,
    pub addressed: Option<Vec<FindingId>>,
    pub questions: Vec<Located<String>>,
    pub texts: BTreeMap<Heading, String>,
    pub other: Vec<Note>,
}

impl Draft {
    /// The section, if it is there.
    pub fn find(&self, heading: Heading) -> Option<&Present> {
        self.present.iter().find(|present| present.heading == heading)
    }

    /// The whole document, when every part that cannot be left out could be read.
    pub fn document(&self) -> Option<Document> {
        fn values<T: Clone>(list: &[Located<T>]) -> Vec<T> {
            list.iter().map(|located| located.value.clone()).collect()
        }
        let text = |heading| self.texts.get(&heading).cloned().unwrap_or_default();
        let mut findings = values(&self.findings);
        findings.extend(values(&self.change_requests));
        Some(Document {
            status: self.status.as_ref()?.value,
            status_reason: self.reason.as_ref().map(|reason| reason.value.clone()).unwrap_or_default(),
            index: Abstract {
                outcome: self.outcome.as_ref()?.value.clone(),
                verdict: self.index_verdict.as_ref()?.value,
                files: Some(self.files.as_ref()?.value),
                next_phase: self.next_phase.as_ref()?.value.clone(),
                open_questions: Some(self.question_count.as_ref()?.value),
            },
            iteration: self.iteration,
            files_created: values(&self.created),
            files_modified: values(&self.modified),
            files_deleted: values(&self.deleted),
            quality_gate_results: text(Heading::QualityGates),
            dod_coverage: values(&self.coverage),
            verdict: self.verdict.as_ref().map(|verdict| verdict.value),
            verified_rows: values(&self.verified),
            gaps: values(&self.gaps),
            reading_scope_used: text(Heading::ReadingScope),
            findings,
            re_review_mode: text(Heading::ReReviewMode),
            addressed_findings: self.addressed.clone(),
            key_decisions: text(Heading::KeyDecisions),
            for_the_next_agent: text(Heading::NextAgent),
            lessons_learned: text(Heading::LessonsLearned),
            open_questions: values(&self.questions),
            other: self.other.clone(),
        })
    }
}

/// One entry of a section that lists things.
pub(super) struct Entry {
    pub text: String,
    pub place: Place,
    /// The sub-heading it stands under.
    pub under: Option<String>,
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
            Heading::VerifiedRows => draft.verified = self.strings(),
            Heading::Gaps => draft.gaps = self.strings(),
            Heading::Findings => draft.findings = self.findings(),
            Heading::ChangeRequests => draft.change_requests = self.findings(),
            Heading::AddressedFindings => draft.addressed = Some(self.addressed()),
            Heading::OpenQuestions => draft.questions = self.strings(),
            Heading::QualityGates
            | Heading::ReadingScope
            | Heading::ReReviewMode
            | Heading::KeyDecisions
            | Heading::NextAgent
            | Heading::LessonsLearned => {}
        }
        draft.texts.insert(heading, text);
    }

    /// The lines of the content that say something, with their offsets.
    fn lines(&self, range: &Range<usize>) -> Vec<(usize, &str)> {
        let mut offset = range.start;
        let mut lines = Vec::new();
        for line in self.source.text()[range.clone()].split_inclusive('\n') {
            let trimmed = line.trim();
            if !trimmed.is_empty() {
                lines.push((offset + line.len() - line.trim_start().len(), trimmed));
            }
            offset += line.len();
        }
        lines
    }

    /// The one word a section consists of; complains when it is not there or not alone.
    fn word(&mut self, code: Code, values: &str) -> Option<(Place, String)> {
        let lines: Vec<_> = self.lines(&self.content).into_iter().map(|(at, line)| (at, line.to_owned())).collect();
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
        let (place, word) = self.word(Code::REPORT_VERDICT_UNKNOWN, VALUES)?;
        let found = Word::parse(&word);
        if found.is_none() {
            let message = format!("{} is not a verdict", quote(&word));
            self.sink.error(
                Code::REPORT_VERDICT_UNKNOWN,
                place,
                message,
                format!("write one of {VALUES}, spelt exactly so"),
            );
        }
        found.map(|value| Located { value, place })
    }

    fn reason(&mut self) -> Option<Located<String>> {
        let lines = self.lines(&self.content);
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
        let text = self.source.text()[self.content.clone()].trim();
        let bare = text.trim_start_matches(|c: char| c.is_alphabetic() || c == '.').trim();
        let number = bare.parse().ok();
        if number.is_none() && !says_none(text) {
            let message = format!("{} is no iteration", quote(text));
            self.sink.warning(Code::ENTRY_UNREADABLE, self.place, message, "write `iter N`");
        }
        number
    }

    /// The entries of a section that lists things: its list items, or its paragraphs when it has no list.
    fn entries(&self) -> Vec<Entry> {
        let inline = self.source.text()[self.content.start..self.section.body.start.max(self.content.start)].trim();
        let text = self.source.text();
        let (mut items, mut paragraphs) = (Vec::new(), Vec::new());
        let mut under = None;
        if !inline.is_empty() {
            paragraphs.push(Entry { text: plain(inline), place: self.place, under: None });
        }
        for block in &self.section.blocks {
            match &block.kind {
                BlockKind::Heading(title) => under = Some(text[title.clone()].to_owned()),
                BlockKind::Item => {
                    let (item, start) = item_text(text, &block.range);
                    let entry = Entry { text: plain(&item), place: self.source.place(start), under: under.clone() };
                    items.push(entry);
                }
                BlockKind::Paragraph | BlockKind::Fence { .. } => {
                    let paragraph = plain(&text[block.range.clone()]);
                    let place = self.source.place(block.range.start);
                    paragraphs.push(Entry { text: paragraph, place, under: under.clone() });
                }
                BlockKind::Html => {}
            }
        }
        let mut entries = if items.is_empty() { paragraphs } else { items };
        entries.retain(|entry| !entry.text.is_empty());
        if entries.first().is_some_and(|entry| says_none(&entry.text)) { Vec::new() } else { entries }
    }

    fn strings(&self) -> Vec<Located<String>> {
        self.entries().into_iter().map(|entry| Located { value: entry.text, place: entry.place }).collect()
    }

    fn files(&mut self) -> Vec<Located<FileEntry>> {
        let mut files = Vec::new();
        for entry in self.entries() {
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
        for entry in self.entries() {
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
        for entry in self.entries() {
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
        for entry in self.entries() {
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
        let range = fence.unwrap_or_else(|| self.content.clone());
        let lines: Vec<_> = self.lines(&range).into_iter().map(|(at, line)| (at, line.to_owned())).collect();
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
