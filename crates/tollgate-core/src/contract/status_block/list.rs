//! Sections that list things: their entries, and nothing beside them. What is no entry is told, never lost.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::document::Severity;
use super::draft::Located;
use super::finding;
use super::heading::Heading;
use super::parse::{Reader, plain};
use crate::code::Code;
use crate::contract::markdown::{BlockKind, item_text};
use crate::contract::nothing::{begins_with_none, lists_nothing};
use crate::contract::parts::is_table;
use crate::contract::rows::unmarked;
use crate::contract::struck;
use crate::contract::text::{is_placeholder, quote, squash};
use crate::diagnostic::{Diagnostic, Place};

/// One entry of a section that lists things.
pub(super) struct Entry {
    pub text: String,
    pub place: Place,
    /// The severity that its sub-heading gives.
    pub under: Option<Severity>,
    /// The number of its sub-heading; 0: it stands under none.
    group: usize,
}

/// Whether a sub-heading may stand in a list: it sorts findings by severity, or rows as the task does.
fn sorts(heading: Heading, words: &str) -> bool {
    const PARTS: [&str; 7] = [
        "backend",
        "frontend",
        "shared",
        "testerscope",
        "backenddeveloperscope",
        "frontenddeveloperscope",
        "shareddeveloperscope",
    ];
    const FILES: [&str; 6] = ["tests", "test", "docs", "documentation", "source", "code"];
    let words = squash(words);
    match heading {
        Heading::Findings | Heading::ChangeRequests => severity(&words).is_some(),
        Heading::Coverage | Heading::VerifiedRows | Heading::Gaps => PARTS.contains(&words.as_str()),
        Heading::FilesCreated | Heading::FilesModified | Heading::FilesDeleted => {
            PARTS.contains(&words.as_str()) || FILES.contains(&words.as_str())
        }
        _ => false,
    }
}

/// The severity of the findings below a sub-heading.
fn severity(words: &str) -> Option<Severity> {
    Severity::ALL.into_iter().find(|severity| {
        let rest = words.strip_prefix(severity.word()).map(|rest| rest.trim_end_matches(|c: char| c.is_ascii_digit()));
        rest.is_some_and(|rest| matches!(rest, "" | "issue" | "issues" | "finding" | "findings"))
    })
}

impl Reader<'_, '_> {
    /// The entries of a section that lists things: its list items, or without a list its paragraphs (questions and findings
    /// may be long) or its lines.
    pub(super) fn entries(&mut self, heading: Heading) -> Vec<Entry> {
        let text = self.source.text();
        let inline = self.content.start..self.section.body.start.max(self.content.start);
        let (mut items, mut others) = (Vec::new(), Vec::new());
        let mut under = (0, None);
        let mut tabled = false;
        self.bare_entries(&inline, heading, under, &mut others);
        for block in &self.section.blocks {
            match &block.kind {
                BlockKind::Heading(title) => {
                    under = (under.0 + 1, severity(&squash(&text[title.clone()])));
                    self.sub_heading(heading, title, block.range.start);
                }
                BlockKind::Item => {
                    let (item, start) = item_text(text, &block.range);
                    let place = self.source.place(start);
                    items.push(Entry { text: item.into_owned(), place, group: under.0, under: under.1 });
                }
                BlockKind::Comment => {}
                BlockKind::Paragraph | BlockKind::Html | BlockKind::Underlined(_) | BlockKind::Fence { .. } => {
                    let range = match &block.kind {
                        BlockKind::Underlined(range) | BlockKind::Fence { content: range, .. } => range,
                        _ => &block.range,
                    };
                    match is_table(&text[range.clone()]) {
                        true if tabled => {}
                        true => {
                            self.table(heading, range);
                            tabled = true;
                        }
                        false => self.bare_entries(range, heading, under, &mut others),
                    }
                }
            }
        }
        if self.last && heading == Heading::OpenQuestions {
            self.farewell(&items, &mut others);
        }
        // What is struck through was taken out: a question that was answered, a file that was left alone after all.
        let is_out = |text: &str| heading.is_counted() && (struck::is_struck(text) || struck::begins_struck(text));
        items.retain(|entry| !entry.text.is_empty() && !is_out(&entry.text));
        others.retain(|entry: &Entry| !entry.text.is_empty());
        if let (Some(first), false) = (items.first(), others.is_empty()) {
            let groups: BTreeSet<usize> = items.iter().map(|item| item.group).collect();
            // `None` may stand below a sub-heading that has no items.
            let nothing =
                |other: &&Entry| lists_nothing(&other.text) && other.group > 0 && !groups.contains(&other.group);
            for stray in others.iter().filter(|other| !nothing(other)) {
                let message = format!("{} stands beside the list and is no item of it", quote(&stray.text));
                let error = Diagnostic::error(Code::LIST_STRAY, stray.place, message).other(first.place);
                self.sink.push(error.hint("make it an item, indent it below its item, or leave it out"));
            }
        }
        let entries = if items.is_empty() { others } else { items };
        // What ends with a word is none, and so does nearly every entry.
        let ends = |said: &str| said.trim_end_matches('.').ends_with(|c: char| c.is_ascii_alphanumeric());
        let is_left = |said: &str| match said.rsplit_once(" — ") {
            Some((_, last)) => is_placeholder(last),
            // A severity in brackets is none; what is missing behind it is told as that.
            None => is_placeholder(said) && !finding::begins(said),
        };
        for left in entries.iter().filter(|entry| !ends(&entry.text) && is_left(&entry.text)) {
            self.placeholder(&left.text, left.place);
        }
        self.but_none(entries)
    }

    /// Takes the words away that end the report: behind its last list, or behind the word that there is nothing, what asks nothing
    /// and stands apart is no part of either.
    fn farewell(&mut self, items: &[Entry], others: &mut Vec<Entry>) {
        let Some(last) = others.last() else { return };
        let list = items.last().map(|item| item.place);
        let none = others.first().filter(|first| others.len() == 2 && items.is_empty() && lists_nothing(&first.text));
        let behind = list.filter(|_| others.len() == 1).or(none.map(|none| none.place));
        // One sentence: what is quoted, marked or goes on for longer may be meant for somebody.
        let sentence = last.text.starts_with(char::is_alphabetic) && !last.text.contains(['?', '\n']);
        if behind.is_some_and(|before| before < last.place) && sentence && !lists_nothing(&last.text) {
            let message = format!("{} stands behind the report and decides nothing", quote(&last.text));
            self.sink.warning(Code::LIST_STRAY, last.place, message, "end with the last section of the report");
            others.pop();
        }
    }

    /// The entries without those that say there are none: one stands alone, or alone below its sub-heading.
    fn but_none(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let unclear = |entry: &Entry| begins_with_none(&entry.text) && !lists_nothing(&entry.text);
        if let [only] = &entries[..]
            && unclear(only)
        {
            let message = format!("{} may say that there is nothing, or something", quote(&only.text));
            let hint = "write `None` alone where there is nothing, else what there is";
            self.sink.error(Code::ENTRY_UNREADABLE, only.place, message, hint);
            entries.clear();
        }
        if !entries.iter().any(|entry| lists_nothing(&entry.text)) {
            return entries;
        }
        let mut first: BTreeMap<usize, &Entry> = BTreeMap::new();
        for some in entries.iter().filter(|entry| !lists_nothing(&entry.text)) {
            first.entry(some.group).or_insert(some);
        }
        let against = |none: &Entry| match none.group {
            0 => first.values().next().copied(),
            group => first.get(&group).copied(),
        };
        let mut nones = entries.iter().filter(|entry| lists_nothing(&entry.text));
        if let Some((none, some)) = nones.find_map(|none| Some((none, against(none)?))) {
            let message =
                format!("{} says that there is nothing, and there is {}", quote(&none.text), quote(&some.text));
            let error = Diagnostic::error(Code::LIST_STRAY, some.place, message).other(none.place);
            self.sink.push(error.hint("write the items, or `None` alone"));
        }
        entries.into_iter().filter(|entry| !lists_nothing(&entry.text)).collect()
    }

    /// Complains about a table: one mistake, however many lines it has, and none of them is an entry.
    fn table(&mut self, heading: Heading, range: &Range<usize>) {
        let Some((at, line)) = self.lines(range).next() else { return };
        let message = format!("a table stands in the place of a list: {}", quote(line));
        let hint = format!("write what it says as a list: `## {}` has one item per thing", heading.title());
        self.sink.error(Code::ENTRY_UNREADABLE, self.source.place(at), message, hint);
    }

    fn sub_heading(&mut self, heading: Heading, title: &Range<usize>, start: usize) {
        let words = &self.source.text()[title.clone()];
        // One that announces another section has been told already.
        let line = format!("#{words}");
        if sorts(heading, words) || Heading::announced(&line, true).or_else(|| Heading::named(&line)).is_some() {
            return;
        }
        let message = format!("the sub-heading {} stands in a list", quote(words));
        let hint = format!("`## {}` holds its items and nothing else", heading.title());
        self.sink.error(Code::LIST_STRAY, self.source.place(start), message, hint);
    }

    /// Entries that are no list items.
    fn bare_entries(
        &self,
        range: &Range<usize>,
        heading: Heading,
        under: (usize, Option<Severity>),
        entries: &mut Vec<Entry>,
    ) {
        let lines: Vec<_> = self.lines(range).collect();
        let Some((first, _)) = lines.first() else { return };
        let (group, under) = under;
        let entry = |text: &str, at: usize| Entry { text: plain(text), place: self.source.place(at), under, group };
        match heading {
            Heading::Findings | Heading::ChangeRequests | Heading::OpenQuestions => {
                let whole: Vec<&str> = lines.iter().map(|(_, line)| *line).collect();
                entries.push(entry(&whole.join("\n"), *first));
            }
            _ => entries.extend(lines.iter().map(|(at, line)| entry(line, *at))),
        }
    }

    /// Complains about a further line of an entry that begins like another entry: nested, it would be lost.
    pub(super) fn of_its_own(&mut self, entry: &Entry, begins: impl Fn(&str) -> bool) {
        if let Some(line) = entry.text.lines().skip(1).map(unmarked).find(|line| begins(line)) {
            let message = format!("{} stands inside another item", quote(line));
            self.sink.error(Code::LIST_STRAY, entry.place, message, "give each an item of its own");
        }
    }

    pub(super) fn strings(&mut self, heading: Heading) -> Vec<Located<String>> {
        self.entries(heading).into_iter().map(|entry| Located { value: entry.text, place: entry.place }).collect()
    }
}
