//! The grammar: from the sections of a text to the values of one status block, each with its place.
//!
//! Code blocks, quotes and comments are opaque: they are shown to people and never read.

use std::ops::Range;

use super::document::{CoverageRow, FileEntry, Finding, Mark, Note, Status, Word};
use super::finding;
use super::heading::Heading;
use super::sections::{Draft, Located, Present};
use crate::diagnostics::Sink;
use crate::markdown::{Block, BlockKind, Section, is_unclosed, item_text};
use crate::rows::{names, split};
use crate::text::{Source, clean, is_respelling, lines, quote};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::{Diagnostic, Fix, Place};
use tollgate_core::id::FindingId;

/// Reads the sections of one report; every error is one of its form.
pub fn parse(source: &Source<'_>, sections: &[Section], sink: &mut Sink) -> Draft {
    let mut draft = Draft::default();
    let text = source.text();
    for (at, section) in sections.iter().enumerate() {
        let title = &text[section.title.clone()];
        let place = source.place(section.start);
        let Some((heading, value)) = Heading::find(title) else {
            let title = clean(title).into_owned();
            draft.other.push(Note { title: title.clone(), text: plain(&text[section.body.clone()]) });
            draft.unknown.push(Located { value: title, place });
            continue;
        };
        if let Some(first) = draft.find(heading) {
            let message = format!("`## {}` is there twice", heading.title());
            let error = Diagnostic::error(Code::SECTION_TWICE, place, message).other(first.place);
            sink.push(error.hint("keep one of the two"));
            continue;
        }
        let value = value.map(|at| section.title.start + at..section.title.end);
        let start = value.as_ref().map_or(section.body.start, |value| value.start);
        let content = plain(&text[start..section.body.end]);
        draft.present.push(Present { heading, place, bytes: text[start..section.body.end].trim().len() as u64 });
        let last = at + 1 == sections.len();
        Reader { source, section, value, place, last, sink }.read(heading, &mut draft);
        draft.texts.insert(heading, content);
    }
    whole(source, sections, &draft, sink);
    draft
}

/// Checks what every report has: `## Status` first, an Abstract, and an end.
fn whole(source: &Source<'_>, sections: &[Section], draft: &Draft, sink: &mut Sink) {
    let start = sections.first().map_or(Place::START, |section| source.place(section.start));
    for heading in [Heading::Status, Heading::Abstract] {
        let blocks = sections.iter().flat_map(|section| &section.blocks);
        let misplaced = |block: &Block| named(source.text(), block) == Some(heading);
        if draft.find(heading).is_none() && !blocks.into_iter().any(misplaced) {
            let message = format!("`## {}` is missing", heading.title());
            sink.error(Code::SECTION_MISSING, start, message, "add the section");
        }
    }
    if let Some(status) = draft.find(Heading::Status).filter(|status| status.place != start) {
        let error = Diagnostic::error(Code::SECTION_ORDER, status.place, "`## Status` is not the first section");
        sink.push(error.other(start).hint("begin the report with `## Status`"));
    }
    let is_open = |block: &&Block| match block.kind {
        BlockKind::Fence { closed, .. } => !closed,
        BlockKind::Html => is_unclosed(&source.text()[block.range.clone()]),
        _ => false,
    };
    if let Some(open) = sections.iter().flat_map(|section| &section.blocks).find(is_open) {
        let message = "the report is cut off: this code fence or HTML is never closed";
        sink.error(Code::REPORT_CUT_OFF, source.place(open.range.start), message, "print the whole report again");
    }
}

/// A text as it is kept: without white space around it and without what a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    clean(text).trim().to_owned()
}

/// Whether a text is the word that says that a list is empty.
fn is_none(text: &str) -> bool {
    let word = text.trim().trim_matches(['*', '_', '`']);
    word.strip_suffix('.').unwrap_or(word).eq_ignore_ascii_case("none")
}

/// The section that a heading on another level names.
fn named(text: &str, block: &Block) -> Option<Heading> {
    match &block.kind {
        BlockKind::Heading(_, words) | BlockKind::Underlined(words) => {
            Heading::find(&text[words.clone()]).map(|(heading, _)| heading)
        }
        BlockKind::Item
        | BlockKind::Fence { .. }
        | BlockKind::Indented
        | BlockKind::Quote
        | BlockKind::Paragraph
        | BlockKind::Html
        | BlockKind::Comment => None,
    }
}

/// Whether a block is shown and never read: code, a quote or a comment.
fn is_opaque(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Fence { .. } | BlockKind::Indented | BlockKind::Quote | BlockKind::Comment)
}

/// The known word that is meant by one in another spelling.
pub(super) fn respelt(said: &str, known: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    known.into_iter().find(|word| is_respelling(word, said))
}

/// One section under reading.
pub(super) struct Reader<'a, 's> {
    pub source: &'a Source<'a>,
    pub section: &'a Section,
    /// The value that its heading carries.
    value: Option<Range<usize>>,
    pub place: Place,
    /// Whether the report ends with it.
    last: bool,
    pub sink: &'s mut Sink,
}

impl<'a> Reader<'a, '_> {
    fn read(mut self, heading: Heading, draft: &mut Draft) {
        self.misplaced(heading);
        draft.unknown.extend(self.unmarked_sections(heading));
        match heading {
            Heading::Status => draft.status = self.status(),
            Heading::StatusReason => draft.reason = self.reason(),
            Heading::Abstract => self.index(draft),
            Heading::Iteration => draft.iteration = self.iteration(),
            Heading::FilesCreated => draft.created = self.files(draft),
            Heading::FilesModified => draft.modified = self.files(draft),
            Heading::FilesDeleted => draft.deleted = self.files(draft),
            Heading::Coverage => draft.coverage = self.coverage(draft),
            Heading::Verdict => draft.verdict = self.verdict(),
            Heading::VerifiedRows => draft.verified = self.items(draft),
            Heading::Gaps => draft.gaps = self.items(draft),
            Heading::Findings => draft.findings = self.findings(draft),
            Heading::ChangeRequests => draft.change_requests = self.findings(draft),
            Heading::AddressedFindings => draft.addressed = Some(self.addressed(draft)),
            Heading::OpenQuestions => draft.questions = self.items(draft),
            Heading::QualityGates
            | Heading::ReadingScope
            | Heading::ReReviewMode
            | Heading::KeyDecisions
            | Heading::NextAgent
            | Heading::LessonsLearned => {}
        }
    }

    /// Complains about headings of sections on another level: what follows them counts for this section, or for none.
    fn misplaced(&mut self, heading: Heading) {
        let text = self.source.text();
        for block in self.section.blocks.iter().filter(|block| named(text, block).is_some()) {
            let line = quote(&text[block.range.clone()]);
            let place = self.source.place(block.range.start);
            let message = format!("{line} names a section and does not begin one");
            let is_lower = matches!(block.kind, BlockKind::Heading(2.., _));
            let told = match heading.is_free() && is_lower {
                true => Diagnostic::warning(Code::SECTION_MISPLACED, place, message),
                false => Diagnostic::error(Code::SECTION_MISPLACED, place, message),
            };
            self.sink.push(told.hint("begin a section with `## `").fix(Some(Fix::Level(2))));
        }
    }

    /// The headings of a section's level or above that are not written with `## `. A value with a rule right below it is none.
    fn unmarked_sections(&self, heading: Heading) -> Vec<Located<String>> {
        let text = self.source.text();
        let value = self.blocks().first().filter(|_| !heading.is_free()).map(|(block, _)| *block);
        let other = self.section.blocks.iter().filter(|block| named(text, block).is_none());
        let titles = other.filter_map(|block| match &block.kind {
            BlockKind::Heading(1, words) => Some(words),
            BlockKind::Underlined(words) if value != Some(block) => Some(words),
            _ => None,
        });
        titles
            .map(|words| Located { value: plain(&text[words.clone()]), place: self.source.place(words.start) })
            .collect()
    }

    /// The blocks that are read, each with the range of its words.
    fn blocks(&self) -> Vec<(&'a Block, Range<usize>)> {
        let own = self.section.blocks.iter().take_while(|block| named(self.source.text(), block).is_none());
        let blocks = own.filter(|block| !is_opaque(block));
        let words = |block: &'a Block| match &block.kind {
            // A rule right below a line makes a heading of that line.
            BlockKind::Underlined(words) => (block, words.clone()),
            _ => (block, block.range.clone()),
        };
        blocks.map(words).collect()
    }

    /// The lines of some ranges that are not empty, with their offsets.
    pub(super) fn lines(&self, ranges: impl Iterator<Item = Range<usize>>) -> Vec<(usize, &'a str)> {
        let text = self.source.text();
        let all = ranges.flat_map(|range| lines(&text[range.clone()]).map(move |(at, line)| (range.start + at, line)));
        all.map(|(at, line)| (at + line.len() - line.trim_start().len(), line.trim()))
            .filter(|(_, line)| !line.is_empty())
            .collect()
    }

    /// Every line that is read, the value in the heading first.
    pub(super) fn all_lines(&self) -> Vec<(usize, &'a str)> {
        self.lines(self.value.clone().into_iter().chain(self.blocks().into_iter().map(|(_, range)| range)))
    }

    /// The one word a section consists of; complains when it is not there or not alone.
    fn word(&mut self, code: Code, values: &str) -> Option<(Place, String)> {
        let lines = self.all_lines();
        let hint = format!("write one of {values}, alone in its section");
        let (at, word) = match lines[..] {
            [] => {
                self.sink.error(code, self.place, "the section is empty", hint);
                return None;
            }
            [only] => only,
            [_, (extra, text), ..] => {
                let message = format!("this section is one word; there is also {}", quote(text));
                self.sink.error(code, self.source.place(extra), message, hint);
                return None;
            }
        };
        Some((self.source.place(at), word.trim_matches(['*', '`']).to_owned()))
    }

    fn unknown_word(&mut self, code: Code, place: Place, word: &str, what: &str, known: &[&'static str]) {
        let values: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
        let message = format!("{} is not a {what}; expected one of: {}", quote(word), values.join(", "));
        let fix = respelt(word, known.iter().copied())
            .map(|meant| Fix::Word { said: word.to_owned(), with: meant.to_owned() });
        self.sink.push(Diagnostic::error(code, place, message).hint("spell it exactly so").fix(fix));
    }

    fn status(&mut self) -> Option<Located<Status>> {
        let (place, word) = self.word(Code::STATUS_UNKNOWN, "`complete`, `blocked`, `failed`, `incomplete`")?;
        let found = Status::parse(&word).map(|value| Located { value, place });
        if found.is_none() {
            self.unknown_word(Code::STATUS_UNKNOWN, place, &word, "status", &Status::ALL.map(Status::word));
        }
        found
    }

    fn verdict(&mut self) -> Option<Located<Word>> {
        let (place, word) = self.word(Code::VERDICT_WORD, "`APPROVED`, `BLOCKED`")?;
        let found = Word::parse(&word).map(|value| Located { value, place });
        if found.is_none() {
            self.unknown_word(Code::VERDICT_WORD, place, &word, "verdict", &Word::ALL.map(Word::word));
        }
        found
    }

    fn reason(&self) -> Option<Located<String>> {
        let lines = self.all_lines();
        let (at, _) = *lines.first()?;
        let value = lines.iter().map(|(_, line)| plain(line)).collect::<Vec<_>>().join(" ");
        (!is_none(&value)).then(|| Located { value, place: self.source.place(at) })
    }

    fn iteration(&mut self) -> Option<u32> {
        let lines = self.all_lines();
        let number = |line: &str| line.strip_prefix("iter").unwrap_or(line).trim().parse().ok();
        let found = match lines[..] {
            [] => return None,
            [(_, line)] => number(line),
            _ => None,
        };
        if found.is_none() {
            let hint = "write `iter N`; nothing is decided by it";
            self.sink.warning(Code::ENTRY_UNREADABLE, self.place, "the iteration cannot be read", hint);
        }
        found
    }

    /// The items of a list; none where it is the word `None`.
    fn items(&mut self, draft: &mut Draft) -> Vec<Located<String>> {
        let text = self.source.text();
        let (mut items, mut none): (Vec<Located<String>>, Option<Place>) = (Vec::new(), None);
        for (block, range) in self.blocks() {
            let said = plain(&text[range.clone()]);
            let place = self.source.place(range.start);
            match &block.kind {
                BlockKind::Item => {
                    let (words, at) = item_text(text, &range);
                    let item = Located { value: words.into_owned(), place: self.source.place(at) };
                    if !item.value.is_empty() {
                        items.push(item);
                    }
                }
                BlockKind::Paragraph | BlockKind::Underlined(_) if is_none(&said) && none.is_none() => {
                    none = Some(place);
                }
                BlockKind::Paragraph | BlockKind::Underlined(_) | BlockKind::Html
                    if self.last && (none.is_some() || !items.is_empty()) =>
                {
                    draft.trailing.get_or_insert(Located { value: said, place });
                }
                _ => {
                    let message = format!("{} is not an item of the list", quote(&said));
                    let hint = "a list has one `- ` item per thing, or the single word `None`, and nothing else";
                    self.sink.error(Code::LIST_STRAY, place, message, hint);
                }
            }
        }
        let some = items.iter().find(|item| !is_none(&item.value)).map(|item| (item.place, item.value.clone()));
        let none = none.or_else(|| items.iter().find(|item| is_none(&item.value)).map(|item| item.place));
        if let (Some(none), Some((place, said))) = (none, some) {
            let message = format!("the list is `None` and has the item {}", quote(&said));
            let error = Diagnostic::error(Code::LIST_STRAY, place, message).other(none);
            self.sink.push(error.hint("list the items, or write `None` alone"));
        }
        items.retain(|item| !is_none(&item.value));
        items
    }

    /// The items of a list, each read as what it must be.
    fn entries<T>(
        &mut self,
        draft: &mut Draft,
        (code, hint): (Code, &str),
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<Located<T>> {
        let mut entries = Vec::new();
        for item in self.items(draft) {
            match read(&item.value) {
                Ok(value) => entries.push(Located { value, place: item.place }),
                Err(why) => self.sink.error(code, item.place, why, hint),
            }
        }
        entries
    }

    fn files(&mut self, draft: &mut Draft) -> Vec<Located<FileEntry>> {
        let hint = "write one item per file: - `path` — note";
        let read = |item: &str| file(item).ok_or_else(|| format!("{} does not begin with a path", quote(item)));
        self.entries(draft, (Code::ENTRY_UNREADABLE, hint), read)
    }

    fn coverage(&mut self, draft: &mut Draft) -> Vec<Located<CoverageRow>> {
        self.entries(draft, (Code::ENTRY_UNREADABLE, "begin the row with ✓, ✗ or ⚠️"), |item| {
            match marked(item) {
                (Some(mark), row) => Ok(CoverageRow { mark, row: row.to_owned() }),
                (None, _) => Err(format!("the row {} has no mark", quote(item))),
            }
        })
    }

    fn findings(&mut self, draft: &mut Draft) -> Vec<Located<Finding>> {
        let hint = "write - [critical|major|minor] path:line (RULE) — what is wrong";
        let findings = self.entries(draft, (Code::FINDING_UNREADABLE, hint), finding::read);
        for one in findings.iter().filter(|one| one.value.path.is_none()) {
            let hint = "write - [major] path:line — what is wrong";
            self.sink.warning(Code::FINDING_UNREADABLE, one.place, "the finding names no file", hint);
        }
        findings
    }

    fn addressed(&mut self, draft: &mut Draft) -> Vec<FindingId> {
        let found = self.entries(draft, (Code::ENTRY_UNREADABLE, "write - fnd_7"), |item| {
            let ids: Option<Vec<FindingId>> = names(split(item).0).map(|name| name.parse().ok()).collect();
            let ids = ids.filter(|ids| !ids.is_empty());
            ids.ok_or_else(|| format!("{} does not begin with the id of a finding", quote(item)))
        });
        found.into_iter().flat_map(|one| one.value).collect()
    }
}

/// The mark that an item begins with, and the rest of it.
pub(super) fn marked(item: &str) -> (Option<Mark>, &str) {
    let bare = item.trim_start_matches(['*', '[', '(']);
    let Some((mark, sign)) = bare.chars().next().and_then(|sign| Some((Mark::of(sign)?, sign))) else {
        return (None, item);
    };
    (Some(mark), bare[sign.len_utf8()..].trim_start_matches(['\u{fe0f}', ']', ')', '*', ' ', '\t']))
}

/// The file of an item: its path, or its old and its new one with an arrow between them, and what is said of it after a separator.
fn file(item: &str) -> Option<FileEntry> {
    let (path, rest) = path(item)?;
    let moved = rest.trim_start().strip_prefix("->").and_then(|rest| self::path(rest.trim_start()));
    match moved.and_then(|(new, rest)| entry(format!("{} -> {}", path.trim(), new.trim()), rest)) {
        Some(moved) => Some(moved),
        None => entry(path.trim().to_owned(), rest),
    }
}

/// A path in code quotes, in git's quotes or bare, and the rest of its item.
fn path(item: &str) -> Option<(&str, &str)> {
    Some(match item.as_bytes().first()? {
        b'`' => item[1..].split_once('`')?,
        b'"' => {
            let end = item[1..].find('"')? + 2;
            item.split_at(end)
        }
        b'[' | b'*' | b'<' => return None,
        _ => {
            let word = item.split(char::is_whitespace).next()?;
            item.split_at(word.trim_end_matches([':', ',', ';']).len())
        }
    })
}

/// A file by its path, where what follows says nothing or begins with a separator.
fn entry(path: String, rest: &str) -> Option<FileEntry> {
    let rest = rest.trim_start();
    let separated = rest.is_empty() || rest.starts_with(['—', '–', '-', ':', '(']);
    let note = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '—' | '–' | '-' | ':'));
    let entry = FileEntry { path, note: note.to_owned() };
    (separated && !entry.path.is_empty() && !entry.path.contains('\n')).then_some(entry)
}
