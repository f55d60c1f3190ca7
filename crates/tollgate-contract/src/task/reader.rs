//! Reads the Definition of Done block by block: its sub-headings, its scopes and its rows. Other text is for people.

use std::ops::Range;

use super::invisible_characters::unseen;
use super::scope::{announced, listed, patterns};
use super::{Document, Part, Places, Row, SECTION, TEMPLATE, is_section, split_command, split_repeat};
use crate::commands::{command_of, resembles_command};
use crate::defined::layout::{Outline, without_box};
use crate::diagnostics::Sink;
use crate::markdown::{is_comment, item_text};
use crate::text::{Source, is_none, one_line, quote};
use tollgate_core::code::Code;
use tollgate_core::diagnostic::Place;
use tollgate_core::report::REPEAT_MAX;
use tollgate_core::scope::pattern_problem;

/// A block of the section that is read.
#[derive(Clone)]
enum Block {
    /// A sub-heading, with the range of its words.
    Heading(Range<usize>),
    Item,
    Paragraph,
    /// HTML that is more than a comment.
    Html,
}

pub(super) struct Reader<'a, 's> {
    pub source: &'a Source<'a>,
    pub outline: &'a Outline,
    pub sink: &'s mut Sink,
    pub document: &'s mut Document,
    pub places: &'s mut Places,
    pub part: Option<Part>,
    /// Where a `Scope:` without patterns was written, and whether an item after it was one.
    pub listing: Option<(Place, bool)>,
}

/// The inline code of a text that names a command, `` `cmd: make` ``, or is meant to.
pub(super) fn commands<'t>(
    text: &'t str,
    outline: &'t Outline,
    range: &Range<usize>,
) -> impl Iterator<Item = &'t Range<usize>> {
    let is_command = |span: &&Range<usize>| resembles_command(text[(*span).clone()].trim_matches('`'));
    let spans = outline.code_in(range).iter();
    spans.filter(is_command).filter(|span| !outline.is_opaque(span.start))
}

impl Reader<'_, '_> {
    pub fn read(&mut self, region: &Range<usize>) {
        let text = self.source.text();
        // Text in a group that has no rows yet.
        let (mut in_group, mut lone) = (false, None);
        for (block, range) in self.blocks(region) {
            self.unseen(&range);
            match block {
                Block::Heading(title) => {
                    self.no_rows(lone.take());
                    in_group = true;
                    self.heading(&text[title], range.start);
                }
                Block::Item => {
                    (in_group, lone) = (false, None);
                    self.item(&range);
                }
                Block::Paragraph => {
                    if !self.paragraph(&range) && in_group {
                        lone.get_or_insert(range);
                    }
                }
                Block::Html if self.outline.unclosed.contains(&range.start) => {}
                Block::Html => {
                    let message = "a block of HTML holds no rows";
                    let hint = "write rows as items of a plain list, after an empty line";
                    self.sink.warning(Code::TASK_ROW, self.source.place(range.start), message, hint);
                }
            }
        }
        self.no_rows(lone);
        self.end_scope();
    }

    /// The blocks of a region, in order; code, quotes and comments are not among them.
    fn blocks(&self, region: &Range<usize>) -> Vec<(Block, Range<usize>)> {
        let outline = self.outline;
        let inside = |range: &Range<usize>| region.contains(&range.start);
        let items = outline.items.iter().filter(|item| item.depth == 1 && !outline.is_opaque(item.range.start));
        let mut blocks: Vec<(Block, Range<usize>)> = (outline.heads.iter().chain(&outline.underlined))
            .map(|head| (Block::Heading(head.title.clone()), head.range.clone()))
            .chain(items.map(|item| (Block::Item, item.range.clone())))
            .chain(outline.paragraphs.iter().map(|range| (Block::Paragraph, range.clone())))
            .chain(outline.html.iter().map(|range| (Block::Html, range.clone())))
            .filter(|(_, range)| inside(range))
            .collect();
        blocks.sort_by_key(|(_, range)| range.start);
        blocks
    }

    /// Text with an invisible character is not what it looks like.
    fn unseen(&mut self, range: &Range<usize>) {
        for (at, sign) in unseen(&self.source.text()[range.clone()]) {
            let message = format!("there is an invisible character here, {}", quote(&sign.to_string()));
            self.sink.error(Code::TASK_ROW, self.source.place(range.start + at), message, "remove it");
        }
    }

    /// Reports the text of a group that has no rows: it may be a row that is no list item.
    fn no_rows(&mut self, lone: Option<Range<usize>>) {
        let Some(range) = lone else { return };
        let said = self.source.text()[range.clone()].trim();
        if !is_none(said) {
            let message = format!("this group has no rows, and {} is no list item", quote(said));
            self.sink.warning(Code::TASK_ROW, self.source.place(range.start), message, "begin a row with `- `");
        }
    }

    fn heading(&mut self, title: &str, at: usize) {
        self.end_scope();
        self.part = Part::find(title);
        let place = self.source.place(at);
        if let Some(part) = self.part {
            self.places.headings.entry(part).or_insert(place);
        } else if !is_section(title) {
            let message = format!("{} is no part of a Definition of Done", quote(title));
            let names = Part::ALL.map(|part| format!("`### {}`", part.word())).join(", ");
            let hint =
                format!("use one of {names}, with a remark in brackets at most; another section begins with `## `");
            self.sink.error(Code::TASK_HEADING, place, message, hint);
        }
    }

    /// Reads a paragraph; whether it is a scope.
    fn paragraph(&mut self, range: &Range<usize>) -> bool {
        let text = self.source.text();
        self.end_scope();
        let is_scope = self.scope(&text[range.clone()], self.source.place(range.start));
        if let Some(command) = commands(text, self.outline, range).next().filter(|_| !is_scope) {
            let message = "a `cmd:` outside of any row is not run";
            let hint = "put it at the end of a list item";
            self.sink.error(Code::TASK_COMMAND, self.source.place(command.start), message, hint);
        }
        is_scope
    }

    /// Reads a scope, `Scope:` and patterns; whether the text is one.
    fn scope(&mut self, text: &str, place: Place) -> bool {
        let Some(rest) = announced(text) else { return false };
        match patterns(rest) {
            Some(patterns) if patterns.is_empty() => self.listing = Some((place, false)),
            Some(patterns) => self.add_scope(patterns, place),
            None => {
                let message = "a `Scope:` holds patterns and nothing else";
                let hint =
                    "write `Scope:` with patterns in code quotes, on a line of its own; begin a row with another word";
                self.sink.error(Code::TASK_SCOPE, place, message, hint);
            }
        }
        true
    }

    /// A scope that names nothing would be the whole repository.
    fn end_scope(&mut self) {
        if let Some((place, false)) = self.listing.take() {
            let hint = "write patterns like `src/api/**` in code quotes, on its line or as the items below it";
            self.sink.error(Code::TASK_SCOPE, place, "the scope names no pattern", hint);
        }
    }

    fn add_scope(&mut self, patterns: Vec<String>, place: Place) {
        for pattern in &patterns {
            let is_hole = TEMPLATE.contains(&format!("Scope: `{pattern}`")).then_some("is a placeholder");
            if let Some(problem) = pattern_problem(pattern).or(is_hole) {
                let message = format!("the pattern {} {problem}", quote(pattern));
                self.sink.error(Code::TASK_SCOPE, place, message, "write it like `src/api/**` or `web/`");
            }
        }
        match self.part.filter(|part| part.side().is_some()) {
            Some(part) => {
                self.places.scopes.entry(part).or_insert(place);
                self.document.scopes.entry(part).or_default().extend(patterns);
            }
            None => {
                let message = "the scope belongs to no side";
                self.sink.error(Code::TASK_SCOPE, place, message, "put it under `### Backend` or `### Frontend`");
            }
        }
    }

    fn item(&mut self, range: &Range<usize>) {
        let (item, at) = item_text(self.source.text(), range);
        let place = self.source.place(at);
        if let Some((scope, pattern)) = self.listing.zip(listed(&item)) {
            self.add_scope(vec![pattern], place);
            self.listing = Some((scope.0, true));
            return;
        }
        self.end_scope();
        let item = without_box(&item);
        if !self.scope(item, place) {
            self.row(item, range, at);
        }
    }

    fn row(&mut self, item: &str, range: &Range<usize>, at: usize) {
        let source = self.source;
        // Lines are counted for what is wrong, not for every row.
        let place = || source.place(at);
        // A quote or code that ends the item is shown, and not the item's own text.
        let last = range.start + source.text()[range.clone()].trim_end().len().saturating_sub(1);
        let split = split_command(item).filter(|_| !self.outline.is_opaque(last));
        let (text, command, repeat) =
            split.map_or((item, None, None), |(text, command, repeat)| (text, Some(command), repeat));
        let quoted = |span: &Range<usize>| source.text()[span.clone()].trim_matches('`');
        let spans: Vec<_> = commands(source.text(), self.outline, range).map(quoted).collect();
        let (named, misspelt) = (spans.len(), spans.iter().find(|span| command_of(span).is_none()));
        if named > usize::from(command.is_some()) {
            let message = match misspelt {
                Some(span) => format!("{} is not run: a command begins with `cmd:`", quote(span)),
                None => "a `cmd:` that is not at the end of its row is not run".to_owned(),
            };
            let hint = "end the row with one `cmd: program arguments` in single code quotes, followed by nothing but `repeat: 5`; \
                        it cannot have a backtick: write `$(…)`, or put it into a script";
            self.sink.error(Code::TASK_COMMAND, place(), message, hint);
        } else if command.is_some_and(str::is_empty) {
            let hint = "write `cmd: program arguments`, or leave it out";
            self.sink.error(Code::TASK_COMMAND, place(), "the command of the row is empty", hint);
        }
        let repeat = self.repeat(text, (named, command.is_some()), repeat, at);
        let text = one_line(self.unnumbered(text, at));
        if text.is_empty() || is_comment(&text) {
            self.sink.error(Code::TASK_ROW, place(), "the row is empty", "say what must be true");
            return;
        }
        if TEMPLATE.lines().any(|line| line.strip_prefix("- [ ] ").is_some_and(|hole| hole == item)) {
            let message = format!("a row must not be a placeholder ({})", quote(item));
            self.sink.error(Code::TASK_ROW, place(), message, "say what must be true, or remove the row");
        }
        self.document.rows.push(Row { text, part: self.part, command: command.map(one_line), repeat });
        self.places.rows.push(at);
    }

    /// How often the command of a row is run.
    fn repeat(&mut self, text: &str, command: (usize, bool), repeat: Option<&str>, at: usize) -> Option<u32> {
        let mut refuse = |message: String| {
            let hint = format!("end the row with `cmd: program arguments` and `repeat: 5`: 2 to {REPEAT_MAX} times");
            self.sink.error(Code::TASK_COMMAND, self.source.place(at), message, hint);
        };
        // A command that is not run has an error of its own.
        if split_repeat(text).is_some() && command.0 == usize::from(command.1) {
            refuse("a `repeat:` follows the command that it repeats".to_owned());
        }
        let times = repeat?;
        let number = times.parse().ok().filter(|number| (2..=REPEAT_MAX).contains(number));
        if number.is_none() {
            refuse(format!("{} is no number of times that a command can be run", quote(times)));
        }
        number
    }

    /// The text of the next row without its own id: a report that repeats the id of another row would be counted for that one.
    fn unnumbered<'t>(&mut self, text: &'t str, at: usize) -> &'t str {
        let bare = text.trim_start_matches(['*', '_', '`', '[', '(']);
        let Some(rest) = bare.get(..4).filter(|id| id.eq_ignore_ascii_case("DoD-")).map(|_| &bare[4..]) else {
            return text;
        };
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let (number, own) = (&rest[..rest.len() - after.len()], self.document.rows.len() + 1);
        if number.is_empty() {
            return text;
        }
        if number.parse() == Ok(own) {
            let words = after.trim_start().strip_prefix([':', '.', '–', '—', '-']).filter(|_| bare == text);
            return words.map_or(text, str::trim_start);
        }
        let message = format!("the row is `DoD-{own}`, by its place, and begins with `DoD-{number}`");
        let hint = "leave the number out, or put the rows into the order of their numbers";
        self.sink.error(Code::TASK_ROW, self.source.place(at), message, hint);
        text
    }
}

/// Reports what belongs to the section and is outside of it: a second section, a part at its level, commands that are not run.
pub(super) fn outside(source: &Source<'_>, outline: &Outline, region: &Range<usize>, start: usize, sink: &mut Sink) {
    let text = source.text();
    let place = source.place(start);
    let titled = |head: &crate::defined::layout::Head| &text[head.title.clone()];
    for head in outline.heads.iter().filter(|head| head.range.start != start && is_section(titled(head))) {
        let message = format!("another heading says {}, and what follows it is not read", quote(titled(head)));
        let error =
            tollgate_core::diagnostic::Diagnostic::error(Code::SECTION_TWICE, source.place(head.range.start), message);
        sink.push(error.other(place).hint(format!("put all rows under one `## {SECTION}`")));
    }
    let next = outline.heads.iter().find(|head| head.range.start >= region.end);
    if let Some(head) = next.filter(|head| Part::find(titled(head)).is_some()) {
        let message = format!("{} is a section of its own, and its rows are not read", quote(titled(head)));
        let hint = format!("write it as `### ` below `## {SECTION}`");
        sink.error(Code::TASK_HEADING, source.place(head.range.start), message, hint);
    }
    for part in [0..start, region.end..text.len()] {
        for command in commands(text, outline, &part) {
            let message = format!("a `cmd:` outside of `## {SECTION}` is not run");
            let hint = "put it at the end of a row; show an example of one in a code fence";
            sink.error(Code::TASK_COMMAND, source.place(command.start), message, hint);
        }
    }
    if let Some(open) = outline.unclosed.iter().find(|open| region.contains(open)) {
        let message = "this code fence or HTML never ends, and rows after it are not read";
        let hint = "end a fence with a line of the same signs, HTML with its end and an empty line";
        sink.error(Code::TASK_ROW, source.place(*open), message, hint);
    }
}
