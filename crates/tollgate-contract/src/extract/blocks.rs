//! The blocks of a text at its outermost level, by CommonMark: what may hold a document, and what is opaque.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::markdown::{self, BlockKind, heading_title};
use crate::text::lines;

/// A block at the outermost level. Paragraphs are not among them: they are what lies between.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    pub kind: Kind,
    pub range: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// A heading with `#`: its level and where its words are.
    Heading(usize, Range<usize>),
    /// Code, with the range of its lines; one fence that never ends is open.
    Code { content: Range<usize>, open: bool },
    /// A list or a quote.
    Container,
    /// HTML: a comment, a tag.
    Html,
}

/// The blocks of a text, in its order.
pub fn blocks(text: &str) -> Vec<Block> {
    if markdown::refused(text).is_some() {
        return by_line(text);
    }
    let (mut found, mut depth) = (Vec::new(), 0usize);
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    found.extend(kind(text, &tag, &range).map(|kind| Block { kind, range }));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
}

fn kind(text: &str, tag: &Tag<'_>, range: &Range<usize>) -> Option<Kind> {
    Some(match tag {
        Tag::Heading { level, .. } if text[range.clone()].trim_start().starts_with('#') => {
            Kind::Heading(*level as usize, heading_title(text, range))
        }
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => match markdown::fence(text, range) {
            BlockKind::Fence { content, closed } => Kind::Code { content, open: !closed },
            _ => return None,
        },
        Tag::CodeBlock(CodeBlockKind::Indented) => Kind::Code { content: range.clone(), open: false },
        Tag::BlockQuote(_) | Tag::List(_) => Kind::Container,
        Tag::HtmlBlock => Kind::Html,
        _ => return None,
    })
}

/// The headings and fences of a text that is too long or nests too deeply to be parsed whole.
fn by_line(text: &str) -> Vec<Block> {
    let (mut found, mut fence, mut open) = (Vec::new(), markdown::Fence::default(), None);
    for (start, line) in lines(text) {
        let range = start..start + line.len();
        match (fence.is_code(line), open) {
            (true, None) => open = Some((start, range.end)),
            (false, Some((from, content))) => {
                let kind = Kind::Code { content: content..start, open: false };
                found.push(Block { kind, range: from..range.end });
                open = None;
            }
            (false, None) if line.starts_with('#') => {
                let level = line.bytes().take_while(|byte| *byte == b'#').count();
                if level <= 6 && (line.len() == level || line[level..].starts_with([' ', '\t', '\r', '\n'])) {
                    let title = heading_title(text, &range);
                    found.push(Block { kind: Kind::Heading(level, title), range });
                }
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some((from, content)) = open {
        found.push(Block { kind: Kind::Code { content: content..text.len(), open: true }, range: from..text.len() });
    }
    found
}

/// What is inside of the one code fence that a text is, where it is nothing else.
pub fn only_fence(text: &str) -> Option<Range<usize>> {
    let bare = text.trim();
    if !bare.starts_with("```") && !bare.starts_with("~~~") {
        return None;
    }
    match &blocks(text)[..] {
        [Block { kind: Kind::Code { content, open: false }, range }]
            if text[..range.start].trim().is_empty() && text[range.end..].trim().is_empty() =>
        {
            Some(content.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fence_around_all_of_a_text_is_taken_off() {
        let inside = |text: &'static str| only_fence(text).map(|range| &text[range]);
        assert_eq!(inside("\n```json\n{}\n```\n"), Some("{}\n"));
        assert_eq!(inside("~~~\n```\na\n```\n~~~"), Some("```\na\n```\n"));
        for text in ["", "a", "```\na", "```\na\n```\nb", "a\n```\nb\n```", "```\na\n```\n```\nb\n```"] {
            assert_eq!(inside(text), None, "{text}");
        }
    }

    #[test]
    fn a_long_text_has_the_same_headings_and_fences() {
        let text = "# A\nb\n```\n## C\n```\n## D ##\n";
        let kinds = |blocks: Vec<Block>| blocks.into_iter().map(|block| block.kind).collect::<Vec<_>>();
        assert_eq!(kinds(by_line(text)), kinds(blocks(text)));
    }
}
