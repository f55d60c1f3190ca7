//! The blocks of a text at its outermost level: what may hold a document, and what is opaque.

use std::ops::Range;

use crate::markdown::{self, Block, BlockKind, heading_title};
use crate::text::lines;

/// The blocks of a text, in its order.
pub fn blocks(text: &str) -> Vec<Block> {
    if markdown::refused(text).is_some() { by_line(text) } else { markdown::blocks(text) }
}

/// The lines of a block that is code.
pub fn code(block: &Block) -> Option<Range<usize>> {
    match &block.kind {
        BlockKind::Fence { content, .. } => Some(content.clone()),
        BlockKind::Indented => Some(block.range.clone()),
        _ => None,
    }
}

/// The headings and fences of a text that is too long or nests too deeply to be parsed whole.
fn by_line(text: &str) -> Vec<Block> {
    let (mut found, mut fence, mut open) = (Vec::new(), markdown::Fence::default(), None);
    for (start, line) in lines(text) {
        let range = start..start + line.len();
        match (fence.is_code(line), open) {
            (true, None) => open = Some((start, range.end)),
            (false, Some((from, content))) => {
                let kind = BlockKind::Fence { content: content..start, closed: true };
                found.push(Block { kind, range: from..range.end });
                open = None;
            }
            (false, None) if line.starts_with('#') => {
                let level = line.bytes().take_while(|byte| *byte == b'#').count();
                if level <= 6 && (line.len() == level || line[level..].starts_with([' ', '\t', '\r', '\n'])) {
                    let title = heading_title(text, &range);
                    found.push(Block { kind: BlockKind::Heading(level, title), range });
                }
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some((from, content)) = open {
        let kind = BlockKind::Fence { content: content..text.len(), closed: false };
        found.push(Block { kind, range: from..text.len() });
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
        [Block { kind: BlockKind::Fence { content, closed: true }, range }]
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
        let is_read = |kind: &BlockKind| *kind != BlockKind::Paragraph;
        let kinds = |blocks: Vec<Block>| blocks.into_iter().map(|block| block.kind).filter(is_read).collect::<Vec<_>>();
        assert_eq!(kinds(by_line(text)), kinds(blocks(text)));
    }
}
