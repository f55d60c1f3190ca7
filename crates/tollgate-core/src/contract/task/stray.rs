//! What stands outside of the Definition of Done and looks as if it belonged to it: nobody would read it.

use super::reader::{command_at, lines};
use super::{SECTION, is_section};
use crate::code::Code;
use crate::contract::markdown::{Block, BlockKind, Outline, Section, heading_words};
use crate::contract::sink::Sink;
use crate::contract::text::{Source, quote};
use crate::diagnostic::{Diagnostic, Place};

/// Complains about other headings that say `Definition of Done`, and about commands that would not be run.
pub(super) fn complain(source: &Source<'_>, outline: &Outline, read: &Section, sink: &mut Sink) {
    let place = source.place(read.start);
    let mut stray = Stray { source, place, sink };
    stray.blocks(&outline.before);
    for section in &outline.sections {
        if section.start == read.start {
            stray.headings(&section.blocks);
            continue;
        }
        stray.heading(&source.text()[section.title.clone()], section.start, &section.blocks);
        stray.blocks(&section.blocks);
    }
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
            for (at, line) in lines(text, &block.range) {
                let bold = line.trim().strip_prefix("**").map(|words| words.trim_end_matches([':', '*']));
                if heading_words(line).or(bold).is_some_and(is_section) {
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

    /// A heading that says the section's name, or begins with it and has items below.
    fn heading(&mut self, words: &str, at: usize, below: &[Block]) {
        let bare = words.trim_start_matches(|c: char| !c.is_alphabetic());
        let begins = bare.get(..SECTION.len()).is_some_and(|start| start.eq_ignore_ascii_case(SECTION));
        let ends = |block: &&Block| matches!(block.kind, BlockKind::Heading(_) | BlockKind::Underlined(_));
        let mut below = below.iter().take_while(|block| !ends(block));
        if is_section(words) || (begins && below.any(|block| block.kind == BlockKind::Item)) {
            self.again(words, at);
        }
    }

    fn again(&mut self, words: &str, at: usize) {
        let message = format!("another heading says {}, and what stands below it is not read", quote(words));
        let error = Diagnostic::error(Code::SECTION_TWICE, self.source.place(at), message).other(self.place);
        self.sink.push(error.hint(format!("put all rows under one `## {SECTION}`")));
    }
}
