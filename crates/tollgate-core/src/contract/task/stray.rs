//! What stands outside of the Definition of Done and looks as if it belonged to it: nobody would read it.

use super::reader::command_at;
use super::{Part, SECTION, is_section, words};
use crate::code::Code;
use crate::contract::markdown::{Block, BlockKind, Outline, Section, heading_words, swallowed};
use crate::contract::sink::Sink;
use crate::contract::text::{Source, lines_in, quote};
use crate::diagnostic::{Diagnostic, Place};

/// Complains about other headings that say `Definition of Done`, parts of it that are sections of their own, and commands that
/// would not be run.
pub(super) fn complain(source: &Source<'_>, outline: &Outline, read: &Section, sink: &mut Sink) {
    let place = source.place(read.start);
    complain_of_fence(source, outline, sink);
    let mut stray = Stray { source, place, sink };
    stray.blocks(&outline.before);
    // Whether no other section stands between the one that is read and this one.
    let mut next_to = false;
    for section in &outline.sections {
        if section.start == read.start {
            stray.headings(&section.blocks);
            next_to = true;
            continue;
        }
        let title = &source.text()[section.title.clone()];
        next_to &= is_part(title).is_some();
        stray.heading(title, section.start, &section.blocks);
        if is_part(title).is_some_and(|sure| sure || next_to) && has_items(&section.blocks) {
            stray.part(title, section.start);
        }
        stray.blocks(&section.blocks);
    }
}

/// The heading of a task without the section that is most likely meant as it, and where it is.
pub(super) fn meant<'t>(source: &Source<'t>, outline: &'t Outline) -> Option<(&'t str, usize)> {
    let text = source.text();
    let sections = outline.sections.iter().map(|section| (&text[section.title.clone()], section.start));
    let blocks = outline.before.iter().chain(outline.sections.iter().flat_map(|section| &section.blocks));
    let headings = blocks.filter_map(|block| match &block.kind {
        BlockKind::Heading(words) | BlockKind::Underlined(words) => Some((&text[words.clone()], block.range.start)),
        _ => None,
    });
    sections.chain(headings).find(|(title, _)| is_like_section(title))
}

/// Where a code fence begins that never ends and has swallowed the section.
pub(super) fn swallows_section(source: &Source<'_>, outline: &Outline) -> Option<usize> {
    swallowed(source.text(), outline.open_fence(), is_section)
}

/// Complains about a code fence that never ends and has swallowed a part of the section: its rows would be lost.
fn complain_of_fence(source: &Source<'_>, outline: &Outline, sink: &mut Sink) {
    if let Some(open) = swallowed(source.text(), outline.open_fence(), |title| is_part(title).is_some()) {
        let message = "this code fence never ends, and rows that stand behind it are no rows";
        sink.error(Code::TASK_ROW, source.place(open), message, "end it with a line of the same signs");
    }
}

/// Whether a heading begins with the section's name or is a short form of it.
fn is_like_section(title: &str) -> bool {
    let words = words(title);
    let bare = words.trim_start_matches(|c: char| !c.is_alphabetic());
    let begins = |name: &str| bare.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(str::len);
    let short = begins("DoD").map(|end| &bare[end..]);
    // `DoD notes` and `DoD-1 in detail` are about it.
    let alone =
        |rest: &str| rest.is_empty() || [":", " (", " –", " —", " - "].iter().any(|sign| rest.starts_with(sign));
    begins(SECTION).is_some() || short.is_some_and(alone)
}

/// Whether a heading is the name of a part and nothing else; with whether nothing but the part can be meant.
fn is_part(title: &str) -> Option<bool> {
    let words = words(title);
    let part = Part::find(&words)?;
    let rest = words[part.title().len()..].trim_matches([' ', ':']);
    let scope = rest.to_ascii_lowercase().contains("scope");
    (rest.is_empty() || rest.starts_with('(')).then_some(part == Part::TesterScope || scope)
}

/// Whether items of a list stand below a heading, up to the next one.
fn has_items(below: &[Block]) -> bool {
    let ends = |block: &&Block| matches!(block.kind, BlockKind::Heading(_) | BlockKind::Underlined(_));
    below.iter().take_while(|block| !ends(block)).any(|block| block.kind == BlockKind::Item)
}

struct Stray<'a, 's> {
    source: &'a Source<'a>,
    /// Where the section is that is read.
    place: Place,
    sink: &'s mut Sink,
}

impl Stray<'_, '_> {
    fn headings(&mut self, blocks: &[Block]) {
        for (index, block) in blocks.iter().enumerate() {
            if let BlockKind::Heading(words) | BlockKind::Underlined(words) = &block.kind {
                self.heading(&self.source.text()[words.clone()], block.range.start, &blocks[index + 1..]);
            }
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        self.headings(blocks);
        let text = self.source.text();
        for block in blocks {
            if !matches!(block.kind, BlockKind::Paragraph | BlockKind::Html | BlockKind::Item) {
                continue;
            }
            for (at, line) in lines_in(text, &block.range) {
                let bold = line.trim().strip_prefix("**").map(|words| words.trim_end_matches([':', '*']));
                if heading_words(line)
                    .or(bold)
                    .is_some_and(|words| is_section(words) || words.eq_ignore_ascii_case("DoD"))
                {
                    self.again(SECTION, at);
                }
            }
            if let Some(at) = command_at(text, &block.range) {
                let message = format!("a `cmd:` stands outside of `## {SECTION}` and is not run");
                let hint = "put it at the end of a row; an example of one stands in a code fence";
                self.sink.error(Code::TASK_COMMAND, self.source.place(at), message, hint);
            }
        }
    }

    /// A heading that says the section's name, or is like it and has items below.
    fn heading(&mut self, words: &str, at: usize, below: &[Block]) {
        if is_section(words) || (is_like_section(words) && has_items(below)) {
            self.again(words, at);
        }
    }

    /// A part of the Definition of Done at the level of the section itself.
    fn part(&mut self, title: &str, at: usize) {
        let message = format!("{} is a section of its own, and what stands below it is not read", quote(title));
        let error = Diagnostic::error(Code::TASK_HEADING, self.source.place(at), message).other(self.place);
        self.sink.push(
            error.hint(format!("write it as `### ` below `## {SECTION}`, or call it otherwise if it holds no rows")),
        );
    }

    fn again(&mut self, words: &str, at: usize) {
        let message = format!("another heading says {}, and what stands below it is not read", quote(words));
        let error = Diagnostic::error(Code::SECTION_TWICE, self.source.place(at), message).other(self.place);
        self.sink.push(error.hint(format!("put all rows under one `## {SECTION}`")));
    }
}
