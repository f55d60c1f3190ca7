//! From the outline of a text to the parts of one status block, each with its place.

use std::ops::Range;

use super::document::{CoverageRow, FileEntry, Finding, Note, Status, Word};
use super::draft::{Draft, Located, Present};
use super::entry::coverage_row;
use super::files::{self, Goes, Named};
use super::finding;
use super::heading::Heading;
use crate::code::Code;
use crate::contract::layout::doubted;
use crate::contract::markdown::{BlockKind, Section, heading_words, item_text};
use crate::contract::rows::unmarked;
use crate::contract::sink::Sink;
use crate::contract::text::{Source, clean, is_placeholder, is_respelling, lines, quote, says_none};
use crate::diagnostic::{Diagnostic, Mend, Place};
use crate::id::FindingId;

/// Whether a line is a rule between sections.
fn is_rule(line: &str) -> bool {
    let sign = line.as_bytes().first().filter(|sign| matches!(sign, b'-' | b'*' | b'_'));
    line.len() >= 3 && sign.is_some_and(|sign| line.bytes().all(|byte| byte == *sign))
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
        let found = Heading::find(title);
        let name = found.map_or(title.len(), |(_, name)| name);
        // Behind the words of the heading may stand signs that close it.
        let start = if title[name..].trim().is_empty() { section.body.start } else { section.title.start + name };
        let content = start..section.body.end;
        let mut reader = Reader { source, section, content: content.clone(), place, last, sink };
        let meant = reader.announced(found.map(|(heading, _)| heading));
        let Some((heading, _)) = found else {
            let text = plain(&source.text()[section.body.clone()]);
            if last && text.is_empty() && Heading::is_cut(title) {
                cut_off(place, sink);
            } else if let Some(meant) = Heading::meant(title).or_else(|| reader.in_other_words(title)) {
                misplaced(title, meant, place, sink);
                draft.meant.push(meant);
            } else {
                let doubted = doubted(title, &source.text()[section.body.clone()]);
                let value = doubted.unwrap_or(title).to_owned();
                draft.unknown.push((Located { value, place }, doubted.is_some()));
            }
            draft.other.push(Note { title: clean(title).into_owned(), text });
            continue;
        };
        if let Some(first) = draft.find(heading) {
            let message = format!("`## {}` is there twice", heading.title());
            sink.push(
                Diagnostic::error(Code::SECTION_TWICE, place, message).other(first.place).hint("keep one of the two"),
            );
            continue;
        }
        let bytes = source.text()[content].trim().len() as u64;
        draft.present.push(Present { heading, place, bytes });
        let before = reader.sink.errors();
        let swallows = !meant.is_empty();
        draft.meant.extend(meant);
        if swallows {
            // What stands below the other heading is wrong here because of it.
            Reader { sink: &mut Sink::default(), ..reader }.read(heading, &mut draft);
            draft.unclear.push(heading);
        } else {
            reader.read(heading, &mut draft);
        }
        if sink.errors() > before {
            draft.unclear.push(heading);
        }
    }
    draft
}

/// The known word that is meant by one in another spelling.
fn respelt(said: &str, known: impl IntoIterator<Item = &'static str>) -> Option<Mend> {
    let meant = known.into_iter().find(|word| is_respelling(word, said))?;
    Some(Mend::Word { said: said.to_owned(), with: meant.to_owned() })
}

fn cut_off(place: Place, sink: &mut Sink) {
    sink.error(Code::REPORT_CUT_OFF, place, "the report is cut off", "print the whole report again");
}

/// A heading that a person takes for a section's and that begins none.
fn misplaced(words: &str, meant: Heading, place: Place, sink: &mut Sink) {
    let mend = words.starts_with('#').then_some(Mend::Level(2)).filter(|_| heading_words(words).is_some());
    let title = meant.title();
    let message = format!("{} reads like the section `## {title}` and begins none", quote(words));
    let hint = format!("begin that section with a line `## {title}`; what is only quoted goes into a code fence");
    sink.push(Diagnostic::error(Code::SECTION_MISPLACED, place, message).hint(hint).mend(mend));
}

fn check_end(source: &Source<'_>, section: &Section, sink: &mut Sink) {
    let open = section.blocks.iter().find(|block| matches!(block.kind, BlockKind::Fence { closed: false, .. }));
    if let Some(block) = open {
        let message = "the report is cut off: this code fence is never closed";
        sink.error(Code::REPORT_CUT_OFF, source.place(block.range.start), message, "print the whole report again");
    }
}

/// A text as it is kept: without white space around it and without what a terminal would obey.
pub(super) fn plain(text: &str) -> String {
    clean(text).trim().to_owned()
}

/// One section under reading.
pub(super) struct Reader<'a, 's> {
    pub source: &'a Source<'a>,
    pub section: &'a Section,
    /// What the section says, from the value in its heading on.
    pub content: Range<usize>,
    pub place: Place,
    /// Whether the report ends with it.
    pub last: bool,
    pub sink: &'s mut Sink,
}

impl<'a> Reader<'a, '_> {
    fn read(mut self, heading: Heading, draft: &mut Draft) {
        let text = plain(&self.source.text()[self.content.clone()]);
        match heading {
            Heading::Status => draft.status = self.status(),
            Heading::StatusReason => draft.reason = self.reason(),
            Heading::Abstract => self.index(draft),
            Heading::Iteration => draft.iteration = self.iteration(),
            Heading::FilesCreated => draft.created = self.files(heading, &mut draft.goes_on),
            Heading::FilesModified => draft.modified = self.files(heading, &mut draft.goes_on),
            Heading::FilesDeleted => draft.deleted = self.files(heading, &mut draft.goes_on),
            Heading::Coverage => draft.coverage = self.coverage(),
            Heading::Verdict => draft.verdict = self.verdict(),
            Heading::VerifiedRows => draft.verified = self.strings(heading),
            Heading::Gaps => draft.gaps = self.strings(heading),
            Heading::Findings => draft.findings = self.findings(heading),
            Heading::ChangeRequests => draft.change_requests = self.findings(heading),
            Heading::AddressedFindings => draft.addressed = Some(self.addressed()),
            Heading::OpenQuestions => draft.questions = self.strings(heading),
            Heading::QualityGates
            | Heading::ReadingScope
            | Heading::ReReviewMode
            | Heading::KeyDecisions
            | Heading::NextAgent
            | Heading::LessonsLearned => {
                if is_placeholder(&text) {
                    self.placeholder(&text, self.place);
                }
            }
        }
        draft.texts.insert(heading, text);
    }

    /// Complains about what only repeats the template.
    pub(super) fn placeholder(&mut self, said: &str, place: Place) {
        let message = format!("{} is still the placeholder of the template", quote(said));
        self.sink.error(Code::ENTRY_UNREADABLE, place, message, "say what is meant here, or leave it out");
    }

    /// The lines of a range that say something, with their offsets; a rule between sections says nothing.
    pub(super) fn lines(&self, range: &Range<usize>) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let start = range.start;
        lines(&self.source.text()[range.clone()]).filter_map(move |(at, line)| {
            let bare = line.trim_start();
            let trimmed = bare.trim_end();
            let says = !trimmed.is_empty() && !is_rule(trimmed);
            says.then(|| (start + at + line.len() - bare.len(), trimmed))
        })
    }

    /// The lines of the whole content without its comments.
    pub(super) fn said(&self) -> Vec<(usize, &'a str)> {
        self.outside(|kind| *kind == BlockKind::Comment).collect()
    }

    /// The lines of the content that are in no block of some kinds.
    fn outside<K: Fn(&BlockKind) -> bool>(&self, skipped: K) -> impl Iterator<Item = (usize, &'a str)> + use<'a, K> {
        let blocks = self.section.blocks.iter().filter(move |block| skipped(&block.kind)).map(|block| &block.range);
        let mut blocks = blocks.peekable();
        self.lines(&self.content).filter(move |(at, _)| {
            while blocks.next_if(|block| block.end <= *at).is_some() {}
            blocks.peek().is_none_or(|block| block.start > *at)
        })
    }

    /// The section that this one is by its heading's words and by what it lists.
    fn in_other_words(&self, title: &str) -> Option<Heading> {
        let text = self.source.text();
        let says = |range: &Range<usize>| !says_none(&item_text(text, range).0);
        let lists = self.section.blocks.iter().any(|block| block.kind == BlockKind::Item && says(&block.range));
        let asks = || text[self.section.body.clone()].contains('?');
        let alike = Heading::alike(title).filter(|meant| lists || (*meant == Heading::OpenQuestions && asks()));
        // In whatever language the heading is: what lists findings is the section of findings.
        let finds = |range: &Range<usize>| finding::begins(&item_text(text, range).0);
        let found = || self.section.blocks.iter().any(|block| block.kind == BlockKind::Item && finds(&block.range));
        alike.or_else(|| found().then_some(Heading::Findings))
    }

    /// Complains about what a person takes for the heading of another section: what stands below it would count for this one.
    fn announced(&mut self, within: Option<Heading>) -> Vec<Heading> {
        let mut told = Vec::new();
        let in_list = within.is_some_and(Heading::lists);
        // A section that holds nothing but its entries holds no other section, whatever is decided by that.
        let closed = in_list || within == Some(Heading::Abstract);
        let named = |line: &str| Heading::named(line).filter(|_| closed);
        let source = self.source;
        let quoted = |kind: &BlockKind| matches!(kind, BlockKind::Comment | BlockKind::Fence { .. });
        let lines = self.outside(quoted);
        let lines = lines.map(|(at, line)| (at, Heading::announced(line, in_list).or_else(|| named(line))));
        let section = self.section;
        let underlined = section.blocks.iter().filter_map(|block| {
            let BlockKind::Underlined(words) = &block.kind else { return None };
            let named = Heading::announced(&format!("#{}", &source.text()[words.clone()]), in_list);
            Some((block.range.start, named))
        });
        for (at, meant) in lines.chain(underlined).filter_map(|(at, meant)| Some((at, meant?))) {
            if !self.sink.takes_errors() {
                return told;
            }
            let line = source.text()[at..].lines().next().unwrap_or_default();
            misplaced(line, meant, source.place(at), self.sink);
            told.push(meant);
        }
        told
    }

    /// The one word a section consists of; complains when it is not there or not alone.
    fn word(&mut self, code: Code, values: &str) -> Option<(Place, String)> {
        let lines = self.said();
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
            let mend = respelt(&word, Status::ALL.map(Status::word));
            let hint = format!("write one of {VALUES}, spelt exactly so");
            self.sink.push(Diagnostic::error(Code::STATUS_UNKNOWN, place, message).hint(hint).mend(mend));
        }
        found.map(|value| Located { value, place })
    }

    fn verdict(&mut self) -> Option<Located<Word>> {
        const VALUES: &str = "`APPROVED`, `BLOCKED`";
        let (place, word) = self.word(Code::VERDICT_WORD, VALUES)?;
        let found = Word::parse(&word);
        if found.is_none() {
            let message = format!("{} is not a verdict", quote(&word));
            let mend = respelt(&word, Word::ALL.map(Word::word));
            let hint = format!("write one of {VALUES}, spelt exactly so");
            self.sink.push(Diagnostic::error(Code::VERDICT_WORD, place, message).hint(hint).mend(mend));
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
        if is_placeholder(first) {
            self.placeholder(first, self.source.place(at));
        }
        Some(Located { value: plain(first), place: self.source.place(at) })
    }

    fn iteration(&mut self) -> Option<u32> {
        let lines = self.said();
        let (_, text) = *lines.first()?;
        let more = lines.get(1).map(|(at, line)| (self.source.place(*at), quote(line)));
        let bare = text.trim_start_matches(|c: char| c.is_alphabetic() || c == '.').trim();
        let number = bare.parse().ok();
        if number.is_none() && !says_none(text) {
            let message = format!("{} is no iteration", quote(text));
            self.sink.warning(Code::ENTRY_UNREADABLE, self.place, message, "write `iter N`");
        }
        if let Some((place, line)) = more {
            let message = format!("{line} is not part of the iteration and decides nothing");
            self.sink.warning(Code::ENTRY_UNREADABLE, place, message, "write `iter N` and nothing else");
        }
        number
    }

    fn files(&mut self, heading: Heading, goes_on: &mut Vec<Heading>) -> Vec<Located<FileEntry>> {
        let mut files = Vec::new();
        for entry in self.entries(heading) {
            let below = || entry.text.lines().skip(1);
            let parts: Vec<&str> = match below().any(files::is_entry) {
                true if files::is_group(&entry.text) => below().map(unmarked).filter(|line| !line.is_empty()).collect(),
                true => {
                    self.of_its_own(&entry, files::is_entry);
                    entry.text.lines().take(1).collect()
                }
                false => vec![&entry.text],
            };
            // Items below one may be files of their own.
            goes_on.extend(below().any(|line| unmarked(line).len() < line.trim_start().len()).then_some(heading));
            for part in parts {
                let hint = "write one item per file: - `path` — note";
                match files::named(part) {
                    Named::Files(named, goes) => {
                        files.extend(named.into_iter().map(|value| Located { value, place: entry.place }));
                        goes_on.extend((goes == Goes::On).then_some(heading));
                    }
                    Named::Apart(one, other) => {
                        let message =
                            format!("{} and {} stand in one entry, and not in a row", quote(&one), quote(&other));
                        self.sink.error(Code::ENTRY_UNREADABLE, entry.place, message, hint);
                    }
                    Named::Nothing => {
                        let message = format!("{} names no file", quote(part));
                        self.sink.error(Code::ENTRY_UNREADABLE, entry.place, message, hint);
                    }
                }
            }
        }
        files
    }

    fn coverage(&mut self) -> Vec<Located<CoverageRow>> {
        let mut rows = Vec::new();
        for entry in self.entries(Heading::Coverage) {
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

    fn findings(&mut self, heading: Heading) -> Vec<Located<Finding>> {
        let mut findings = Vec::new();
        for entry in self.entries(heading) {
            self.of_its_own(&entry, finding::begins);
            match finding::read(&entry.text, entry.under) {
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
                    let hint = "write - [critical|major|minor] path:line (RULE) — what is wrong; where nothing is, `None` alone";
                    self.sink.error(Code::FINDING_UNREADABLE, entry.place, why, hint);
                }
            }
        }
        findings
    }

    fn addressed(&mut self) -> Vec<FindingId> {
        let mut ids = Vec::new();
        for entry in self.entries(Heading::AddressedFindings) {
            self.of_its_own(&entry, |line| line.starts_with("fnd_"));
            let words = entry
                .text
                .split([',', ' ', '\n'])
                .filter(|word| !matches!(*word, "" | "and" | "&"))
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
}
