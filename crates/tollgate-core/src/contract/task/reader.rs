//! Reads the Definition of Done block by block: what is a row, what announces whose rows follow, and what only looks as if.

use std::ops::Range;

use super::scopes::{Announced, announced, listed, looks_announced, mentions};
use super::unseen::{is_plain, unseen};
use super::{Document, Part, Places, Row, is_section, no_rows, split_command, split_quoted};
use crate::code::Code;
use crate::contract::markdown::{Block, BlockKind, Section, heading_words, item_text};
use crate::contract::rows::leading_number;
use crate::contract::sink::Sink;
use crate::contract::text::{Source, clean, is_placeholder, lines_in, one_line, quote, seen};
use crate::diagnostic::Place;
use crate::report::REPEAT_MAX;
use crate::scope::pattern_problem;

/// Marks that people put before the items of a list and that Markdown does not know.
const ODD_BULLETS: [char; 27] = [
    '–', '—', '•', '‣', '◦', '▪', '●', '·', '⁃', '☐', '☑', '☒', '✅', '✔', '✓', '→', '➜', '□', '−', '‐', '‑', '‒', '―',
    '－', '﹣', '＊', '＋',
];

const NO_ITEM: &str = "this is no row, though it looks like one: Markdown knows the marks `-`, `*`, `+` and `1.` only";
const NO_ITEM_HINT: &str = "begin the item with `- `";
const ODD_SPACE: &str = "this is no row: a space that is none to Markdown stands before or behind its mark";
const ODD_SPACE_HINT: &str = "type `- ` again, with a plain space";
const NO_ROW: &str = "this is no row, though it looks like one: a code block, a quote or a table holds none";
const NO_ROW_HINT: &str = "make it an item of a plain list, or leave it if it is an example";

/// Whether a text has a `cmd:` at the start of code quotes, however it is spelt.
fn quotes_command(text: &str) -> bool {
    let is_command = |inside: &str| {
        let word = inside.trim_start();
        let is_cmd = word.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("cmd"));
        is_cmd && word[3..].trim_start().starts_with([':', '：'])
    };
    let (mut rest, mut inside) = (text, false);
    while let Some(at) = memchr::memchr(b'`', rest.as_bytes()) {
        rest = rest[at..].trim_start_matches('`');
        inside = !inside;
        if inside && is_command(rest) {
            return true;
        }
    }
    false
}

/// Where a part of a text has a `cmd:` in code quotes: its line, or the start of what is quoted over several.
pub(super) fn command_at(text: &str, range: &Range<usize>) -> Option<usize> {
    let line = lines_in(text, range).find(|(_, line)| quotes_command(line)).map(|(at, _)| at);
    line.or_else(|| quotes_command(&text[range.clone()]).then_some(range.start))
}

/// Whether a text has a `cmd:` in plain words, with something behind it.
fn names_command(text: &str) -> bool {
    let bare = |word| str::trim_matches(word, ['(', '[', '*', '_', '`']).rsplit('>').next().unwrap_or_default();
    // Most rows have no colon, and no words that need a look.
    if memchr::memchr(b':', text.as_bytes()).is_none() {
        return false;
    }
    let mut words = text.split_whitespace().map(bare);
    words.any(|word| word.eq_ignore_ascii_case("cmd:")) && words.next().is_some()
}

/// Whether a line begins with a mark that only looks like an item's.
fn has_odd_bullet(line: &str) -> bool {
    let line = seen(line);
    let boxed = ["[ ]", "[x]", "[X]"].iter().any(|mark| line.starts_with(mark));
    let close = line.strip_prefix(['-', '+']).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    boxed || close || line.starts_with(ODD_BULLETS)
}

/// Whether white space that Markdown does not know stands before or behind the mark of an item: it looks like any other, and is
/// none.
fn has_odd_space(line: &str) -> bool {
    let plain = line.trim_start_matches(['>', ' ', '\t']);
    let odd = |c: char| c.is_whitespace() && !c.is_ascii();
    let line = plain.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if number.len() < line.len() { number.strip_prefix(['.', ')']) } else { None };
    let Some(rest) = line.strip_prefix(['-', '+', '*']).or(numbered) else { return false };
    rest.starts_with(odd) || (plain.starts_with(odd) && rest.starts_with([' ', '\t']))
}

/// Whether a line stands in an item of a list, where code may be nested.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InItem {
    Yes,
    No,
}

/// The words of a line that a person takes for a sub-heading and Markdown does not: `###Backend`, `<h3>Backend</h3>`, and when
/// they name a part also `**Backend**`, `Backend:`.
fn sub_heading(line: &str, in_item: InItem) -> Option<&str> {
    if let Some(words) = heading_words(line) {
        // One `#` with words behind it may as well be a comment or the number of an issue.
        let sure =
            in_item == InItem::No && line.trim_start().strip_prefix('#').is_none_or(|rest| rest.starts_with('#'));
        return (sure || Part::find(words).is_some() || is_section(words)).then_some(words);
    }
    let line = line.trim();
    let words = line.trim_matches(['*', '_', ':', ' ']);
    let named = Part::find(words).is_some() || is_section(words);
    let bold =
        ["**", "__"].iter().any(|mark| line.starts_with(mark)) && line.trim_end_matches(':').ends_with(['*', '_']);
    let alone = Part::ALL.iter().any(|part| words.eq_ignore_ascii_case(part.title())) || is_section(words);
    ((bold && named) || (line.len() > words.len() && alone)).then_some(words)
}

/// Whether a line begins as an item of a list or a row of a table does.
fn looks_like_a_row(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    if has_odd_bullet(line) {
        return true;
    }
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let bullet = ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark));
    let numbered = number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    let lettered = line.starts_with(char::is_alphabetic) && line.chars().skip(1).take(2).eq([')', ' ']);
    bullet || numbered || lettered || line.starts_with('|')
}

/// Whether a line has an item of a list, a row of a table or a check box in HTML.
fn has_html_item(line: &str) -> bool {
    let tag = |rest: &str| {
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        ["li", "tr", "td", "dt", "dd", "input"].iter().any(|tag| name.eq_ignore_ascii_case(tag))
    };
    line.split('<').skip(1).any(tag)
}

pub(super) struct Reader<'a, 's> {
    pub source: &'a Source<'a>,
    pub sink: &'s mut Sink,
    pub document: &'s mut Document,
    pub places: &'s mut Places,
    pub part: Option<Part>,
    /// What the items that follow a scope may be.
    pub after: AfterScope,
}

/// What an item that follows a scope may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterScope {
    /// None was just said: an item is a row.
    Rows,
    /// It stood at its place in full: a further pattern would be lost.
    Full,
    /// It was announced at this place, and its patterns follow; whether one has.
    Listed { place: Place, any: bool },
}

impl Reader<'_, '_> {
    pub fn read(&mut self, section: &Section) {
        let text = self.source.text();
        let may_hide = !is_plain(&text[section.body.clone()]);
        // A text in a group that has no rows yet.
        let (mut in_group, mut lone) = (false, None);
        for block in &section.blocks {
            if may_hide && !matches!(block.kind, BlockKind::Fence { .. } | BlockKind::Comment) {
                self.unseen(&block.range);
            }
            match &block.kind {
                BlockKind::Heading(title) | BlockKind::Underlined(title) => {
                    no_rows(self.source, lone.take(), self.sink);
                    in_group = true;
                    self.heading(&text[title.clone()], self.source.place(block.range.start))
                }
                BlockKind::Item => {
                    (in_group, lone) = (false, None);
                    let (item, start) = item_text(text, &block.range);
                    self.apart(&text[..block.range.start]);
                    self.inside(&block.range);
                    self.item(&item, start);
                }
                BlockKind::Paragraph | BlockKind::Html => {
                    if !self.paragraph(block) && in_group {
                        lone.get_or_insert(&block.range);
                    }
                }
                BlockKind::Fence { .. } => {
                    self.end_scope();
                    self.no_row(block);
                }
                BlockKind::Comment => {}
            }
        }
        no_rows(self.source, lone, self.sink);
        self.end_scope();
    }

    /// What has a character in it that nobody sees is not what it looks like.
    fn unseen(&mut self, range: &Range<usize>) {
        for (at, sign) in unseen(&self.source.text()[range.clone()]) {
            let message = format!("a character stands here that nobody sees, {}", quote(&sign.to_string()));
            let hint = "take it away: with it, this is not what it looks like";
            self.sink.error(Code::TASK_ROW, self.source.place(range.start + at), message, hint);
        }
    }

    /// A scope that was announced and names nothing would be the whole repository.
    fn end_scope(&mut self) {
        if let AfterScope::Listed { place, any: false } = std::mem::replace(&mut self.after, AfterScope::Rows) {
            let hint = "write it like `Scope:` with `src/api/**` in code quotes, in its line or as the items below it";
            self.sink.error(Code::TASK_SCOPE, place, "the scope names no pattern", hint);
        }
    }

    /// Takes an announcement; whether there was one.
    fn announcement(&mut self, text: &str, place: Place) -> bool {
        let Some(announced) = announced(text) else { return false };
        self.end_scope();
        match announced {
            Announced::Patterns(patterns) if patterns.is_empty() => {
                self.after = AfterScope::Listed { place, any: false };
            }
            Announced::Patterns(patterns) => {
                self.scope(patterns, place);
                self.after = AfterScope::Full;
            }
            Announced::Unclear { .. } => self.no_scope(place),
        }
        true
    }

    /// An empty line ends the patterns of a list: what comes behind it may be a row.
    fn apart(&mut self, before: &str) {
        let before = before.trim_end_matches([' ', '\t']);
        let is_apart = before.ends_with("\n\n") || before.ends_with("\n\r\n");
        if let AfterScope::Listed { any: true, .. } = self.after
            && is_apart
        {
            self.after = AfterScope::Full;
        }
    }

    fn no_scope(&mut self, place: Place) {
        let message = "this looks like a scope, and is no `Scope:` with patterns alone";
        let hint = "write `Scope:` in a line of its own with patterns in code quotes; begin a row with another word";
        self.sink.error(Code::TASK_SCOPE, place, message, hint);
    }

    /// Reads a text between the items; whether it is a scope.
    fn paragraph(&mut self, block: &Block) -> bool {
        let text = self.source.text();
        for (at, line) in lines_in(text, &block.range) {
            if let Some(words) = sub_heading(line, InItem::No) {
                self.no_heading(words, self.source.place(at));
            }
        }
        let is_scope = self.announcement(&clean(&text[block.range.clone()]), self.source.place(block.range.start));
        if !is_scope {
            self.end_scope();
            self.no_row(block);
        }
        is_scope
    }

    /// What stands in an item and only looks as if it ended it.
    fn inside(&mut self, range: &Range<usize>) {
        let text = self.source.text();
        for (index, (at, line)) in lines_in(text, range).enumerate() {
            let bare = line.trim_start_matches(['-', '*', '+', ' ']);
            let title = bare.trim_end_matches(['*', '_', ':', ' ', '\r', '\n']).trim_start_matches(['*', '_']);
            // An item that says `Tester scope` and nothing else is meant as the heading of the items below it.
            let named = Part::ALL.iter().any(|part| title.eq_ignore_ascii_case(part.title()));
            if index == 0 {
                if named {
                    self.no_heading(title, self.source.place(at));
                }
            } else if let Some(words) = sub_heading(line, InItem::Yes) {
                self.no_heading(words, self.source.place(at));
            } else if announced(bare).is_some() || looks_announced(bare) {
                self.no_scope(self.source.place(at));
                return;
            } else if has_odd_space(line) {
                self.sink.error(Code::TASK_ROW, self.source.place(at), ODD_SPACE, ODD_SPACE_HINT);
                return;
            } else if has_odd_bullet(line) {
                self.sink.warning(Code::TASK_ROW, self.source.place(at), NO_ITEM, NO_ITEM_HINT);
                return;
            }
        }
    }

    fn no_heading(&mut self, words: &str, place: Place) {
        let message = format!("{} looks like a sub-heading and is none: the rows below would not be its", quote(words));
        let hint = "write it as `### ` with its words, in a line of its own after an empty one";
        self.sink.error(Code::TASK_HEADING, place, message, hint);
    }

    /// What looks like a row or a command and is none would be forgotten by everybody: it is said.
    fn no_row(&mut self, block: &Block) {
        let text = self.source.text();
        // What is in a fence may be an example; what is quoted or stands in a text is meant.
        let fenced = |line: &str| matches!(block.kind, BlockKind::Fence { .. }) && !line.trim_start().starts_with('>');
        let mut scopes = lines_in(text, &block.range).filter(|(_, line)| looks_announced(line) && !fenced(line));
        if let Some((at, _)) = scopes.next() {
            self.no_scope(self.source.place(at));
            return;
        }
        if let Some(at) = command_at(text, &block.range) {
            let place = self.source.place(at);
            let message = "a `cmd:` stands outside of any row and is not run";
            self.sink.error(Code::TASK_COMMAND, place, message, "put it at the end of a list item");
            return;
        }
        if block.kind == BlockKind::Html {
            self.no_list(block);
            return;
        }
        if let Some((at, _)) = lines_in(text, &block.range).find(|(_, line)| has_odd_space(line) && !fenced(line)) {
            self.sink.error(Code::TASK_ROW, self.source.place(at), ODD_SPACE, ODD_SPACE_HINT);
            return;
        }
        let Some((at, line)) = lines_in(text, &block.range).find(|(_, line)| looks_like_a_row(line)) else { return };
        let odd = has_odd_bullet(line) || line.trim_start().starts_with(char::is_alphabetic);
        let plain = odd && matches!(block.kind, BlockKind::Paragraph);
        let (message, hint) = if plain { (NO_ITEM, NO_ITEM_HINT) } else { (NO_ROW, NO_ROW_HINT) };
        self.sink.warning(Code::TASK_ROW, self.source.place(at), message, hint);
    }

    /// A list in HTML, or one that HTML or a comment without an end swallows: nobody writes that as an example.
    fn no_list(&mut self, block: &Block) {
        let holds = |(_, line): &(usize, &str)| looks_like_a_row(line) || has_html_item(line);
        let Some((at, _)) = lines_in(self.source.text(), &block.range).find(holds) else { return };
        let message =
            "this is no row, though it looks like one: a block of HTML, up to the next empty line, holds none";
        let hint = "make it an item of a plain list, after an empty line";
        self.sink.error(Code::TASK_ROW, self.source.place(at), message, hint);
    }

    fn heading(&mut self, title: &str, place: Place) {
        self.end_scope();
        self.part = Part::find(title);
        if let Some((part, beside)) = self.part.and_then(|part| Some((part, part.beside(title)?))) {
            let message = format!("{} names two parts, and rows are of one", quote(title));
            let hint = format!(
                "put them under `### {}` and `### {}`; what is of both goes under `### Shared`",
                part.title(),
                beside.title()
            );
            self.sink.error(Code::TASK_HEADING, place, message, hint);
        } else if let Some(part) = self.part {
            self.places.headings.entry(part).or_insert(place);
        } else if !is_section(title) {
            // That the section is there twice is told by itself.
            let message = format!("{} is no part of a Definition of Done", quote(title));
            let names = Part::ALL.map(|part| format!("`{}`", part.title())).join(", ");
            let hint = format!(
                "begin the sub-heading with one of {names}; another section begins with `## `, a rule after an empty line"
            );
            self.sink.error(Code::TASK_HEADING, place, message, hint);
        }
    }

    fn item(&mut self, item: &str, at: usize) {
        let source = self.source;
        // Lines are counted for what goes wrong, not for every row.
        let place = || source.place(at);
        let pattern = if self.after == AfterScope::Rows { None } else { listed(item) };
        match (self.after, pattern) {
            (AfterScope::Listed { place: said, .. }, Some(pattern)) => {
                self.scope(vec![pattern], place());
                self.after = AfterScope::Listed { place: said, any: true };
                return;
            }
            (AfterScope::Full, Some(pattern)) if pattern.contains(['/', '*']) => {
                let message = format!("{} may be a row or a pattern of the scope above", quote(&pattern));
                let hint = "put a pattern into the line of its `Scope:`; let a row say what must be true";
                self.sink.error(Code::TASK_SCOPE, place(), message, hint);
                return;
            }
            (AfterScope::Listed { .. }, None) | (AfterScope::Full | AfterScope::Rows, _) => self.end_scope(),
        }
        let unboxed =
            ["[ ]", "[x]", "[X]"].iter().find_map(|mark| item.strip_prefix(mark)).unwrap_or(item).trim_start();
        if mentions(unboxed) && self.is_scope(unboxed, place()) {
            return;
        }
        let (text, command, repeat) = split_command(unboxed)
            .map_or((unboxed, None, None), |(text, command, repeat)| (text, Some(command), repeat));
        let repeat = self.repeat(text, command.is_some(), repeat, at);
        let inside = quotes_command(text);
        if command.is_some_and(str::is_empty) {
            self.sink.error(
                Code::TASK_COMMAND,
                place(),
                "the row names an empty command",
                "write `cmd: program arguments`, or leave it out",
            );
        } else if inside && text.trim_end().ends_with("``") {
            let message =
                "the command is not in single code quotes, where it cannot have a backtick, and would not be run";
            let hint = "end the row with one `cmd: program arguments`: `$(…)` does what backticks do, and a script holds what is longer";
            self.sink.error(Code::TASK_COMMAND, place(), message, hint);
        } else if inside {
            let message = "a `cmd:` stands inside the row and would not be run";
            let hint = "end the row with one `cmd: program arguments` in single code quotes, with nothing behind it but `repeat: 5`";
            self.sink.error(Code::TASK_COMMAND, place(), message, hint);
        } else if command.is_none() && names_command(text) {
            let message = "this looks like a command and is not run: it is not in code quotes";
            self.sink.warning(Code::TASK_COMMAND, place(), message, "end the row with `cmd: program arguments`");
        }
        let text = one_line(self.unnumbered(text, at));
        let is_comment = || text.starts_with("<!--") && text.find("-->") == Some(text.len() - "-->".len());
        if text.is_empty() || is_comment() {
            self.sink.error(Code::TASK_ROW, place(), "the row says nothing", "say what must be true");
            return;
        }
        if is_placeholder(&text) || command.is_some_and(is_placeholder) {
            let message = format!("the row is still the placeholder {}", quote(unboxed));
            self.sink.error(Code::TASK_ROW, place(), message, "say what must be true, or take the row away");
        }
        self.document.rows.push(Row { text, part: self.part, command: command.map(one_line), repeat });
        self.places.rows.push(at);
    }

    /// How often a row's command is run; one that would not be repeated as a person reads it is refused.
    fn repeat(&mut self, text: &str, has_command: bool, repeat: Option<&str>, at: usize) -> Option<u32> {
        let mut refuse = |message: String| {
            let hint = format!("end the row with `cmd: program arguments` and `repeat: 5`: 2 to {REPEAT_MAX} times");
            self.sink.error(Code::TASK_COMMAND, self.source.place(at), message, hint);
        };
        // A command inside the row is said to be wrong below.
        if split_quoted(text, "repeat:").is_some() && !quotes_command(text) {
            refuse(match has_command {
                true => "a `repeat:` stands before the command and would not be heeded".to_owned(),
                false => "a `repeat:` stands without a command that is run".to_owned(),
            });
        }
        let times = repeat?;
        let number = times.parse().ok().filter(|number| (2..=REPEAT_MAX).contains(number));
        if number.is_none() {
            refuse(format!("{} is not how often a command can be run", quote(times)));
        }
        number
    }

    /// Takes an item that is a scope, or looks like one; whether it is no row.
    fn is_scope(&mut self, item: &str, place: Place) -> bool {
        if matches!(announced(item), Some(Announced::Unclear { words: true })) {
            return false;
        }
        if self.announcement(item, place) {
            return true;
        }
        let looks = looks_announced(item.lines().next().unwrap_or_default());
        if looks {
            self.no_scope(place);
        }
        looks
    }

    /// The text of the next row without its own id: a report that repeats the id of another row would be booked on that one.
    fn unnumbered<'t>(&mut self, text: &'t str, at: usize) -> &'t str {
        let Some((number, after)) = leading_number(text) else { return text };
        let own = self.document.rows.len() + 1;
        if number.parse() == Ok(own) {
            let plain = text.starts_with(char::is_alphabetic).then_some(after);
            let words = plain.and_then(|after| after.trim_start().strip_prefix([':', '.', '–', '—', '-']));
            return words.map_or(text, str::trim_start);
        }
        let message =
            format!("the row is `DoD-{own}` and begins with `DoD-{number}`: rows have their numbers by their order");
        let hint = "leave the number out, or put the rows into the order of their numbers";
        self.sink.error(Code::TASK_ROW, self.source.place(at), message, hint);
        text
    }

    fn scope(&mut self, patterns: Vec<String>, place: Place) {
        for pattern in &patterns {
            let left = is_placeholder(pattern).then_some("is still a placeholder");
            if let Some(problem) = pattern_problem(pattern).or(left) {
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
                let message = "a scope stands under no side";
                self.sink.error(Code::TASK_SCOPE, place, message, "put it under `### Backend` or `### Frontend`");
            }
        }
    }
}
