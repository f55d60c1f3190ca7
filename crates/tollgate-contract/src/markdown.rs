//! The outline of a Markdown text: its `## ` sections and the blocks at the top of each, as byte ranges.
//!
//! Only `## ` at the outermost level begins a section: one inside a code fence, a list item, a quote or a comment is
//! content. What a block says is taken from the source as it stands, never from a rendering of it.

use std::borrow::Cow;
use std::ops::Range;
use tollgate_core::Name;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::text::{Source, clean, is_unseen, lines, lines_in};

/// The largest text that is read.
pub const BYTES_MAX: usize = 1 << 20;
/// The most containers (list items, quotes) that one line may open; deeper nesting costs more than linear time.
const OPENERS_MAX: usize = 32;
/// The deepest indentation at which a line may still open a container.
const INDENT_MAX: usize = 256;
/// How far a tab indents.
const TAB: usize = 4;

/// A block at the outermost level of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Where it is.
    pub range: Range<usize>,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading with `#`: its level, and the range of its words.
    Heading(usize, Range<usize>),
    /// Words with a line of `-` or `=` right below: a heading, or a rule that somebody put too close.
    Underlined(Range<usize>),
    /// One item of a list, with what is nested in it.
    Item,
    /// A fenced code block, with the range of the lines between the fences.
    Fence {
        /// The lines between the fences.
        content: Range<usize>,
        /// Whether the closing fence is there.
        closed: bool,
    },
    /// Code by its indentation.
    Indented,
    /// A quote, with what is nested in it.
    Quote,
    /// Any other text.
    Paragraph,
    /// A block of HTML that is more than comments, or a comment that never ends.
    Html,
    /// Comments and nothing else.
    Comment,
}

/// A `## ` heading and all up to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Where the heading begins.
    pub start: usize,
    /// The words of the heading.
    pub title: Range<usize>,
    /// What follows the heading.
    pub body: Range<usize>,
    /// The blocks of the body.
    pub blocks: Vec<Block>,
}

/// What a text consists of at its outermost level.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    /// The blocks before the first section.
    pub before: Vec<Block>,
    /// The sections.
    pub sections: Vec<Section>,
}

/// Whether code or HTML that never ends has swallowed a heading of some words; where it begins, if it has.
pub fn swallowed(text: &str, open: Option<usize>, is: impl Fn(&str) -> bool) -> Option<usize> {
    let range = open?..text.len();
    let swallowed = lines_in(text, &range).any(|(_, line)| heading_words(line).is_some_and(&is));
    swallowed.then_some(range.start)
}

/// Why a text has no outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// It is longer than [`BYTES_MAX`].
    TooLong,
    /// The line at this offset, the last such line, nests more deeply than anybody writes.
    TooDeep(usize),
}

/// Reads the outline in time linear in the text.
pub fn outline(source: &Source<'_>) -> Result<Outline, Refused> {
    let text = source.text();
    if let Some(refused) = refused(text) {
        return Err(refused);
    }
    let mut outline = Outline::default();
    for Block { kind, range } in blocks(text) {
        if let BlockKind::Heading(2, title) = kind {
            if let Some(last) = outline.sections.last_mut() {
                last.body.end = range.start;
            }
            let body = range.end..text.len();
            outline.sections.push(Section { start: range.start, title, body, blocks: Vec::new() });
        } else {
            let blocks = outline.sections.last_mut().map_or(&mut outline.before, |section| &mut section.blocks);
            blocks.push(Block { kind, range });
        }
    }
    Ok(outline)
}

/// The blocks of a text at its outermost level, in its order; of a list, its items. Text that Markdown does not show, as the
/// definition of a link, is a paragraph.
pub fn blocks(text: &str) -> Vec<Block> {
    let (mut found, mut depth, mut in_list, mut end) = (Vec::new(), 0usize, false, 0);
    for (event, range) in Parser::new(text).into_offset_iter() {
        if depth == 0 && range.start >= end {
            found.extend(unshown(text, end..range.start));
            end = range.end;
        }
        match event {
            Event::Start(tag) => {
                in_list = if depth == 0 { matches!(tag, Tag::List(_)) } else { in_list };
                if depth == 0 || (depth == 1 && in_list && matches!(tag, Tag::Item)) {
                    found.extend(kind(text, &tag, &range).map(|kind| Block { kind, range }));
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found.extend(unshown(text, end..text.len()));
    found
}

fn unshown(text: &str, range: Range<usize>) -> Option<Block> {
    let words = text[range.clone()].trim_start();
    let start = range.end - words.len();
    let range = start..start + words.trim_end().len();
    (!range.is_empty()).then_some(Block { kind: BlockKind::Paragraph, range })
}

/// Why a text is not read at all.
pub fn refused(text: &str) -> Option<Refused> {
    match text.len() > BYTES_MAX {
        true => Some(Refused::TooLong),
        false => too_deep(text).map(Refused::TooDeep),
    }
}

fn kind(text: &str, tag: &Tag<'_>, range: &Range<usize>) -> Option<BlockKind> {
    let written = &text[range.clone()];
    Some(match tag {
        Tag::Heading { .. } if !written.trim_start().starts_with('#') => {
            let words = written.trim_end().rfind(['\n', '\r']).map_or("", |at| written[..at].trim_end());
            BlockKind::Underlined(range.start..range.start + words.len())
        }
        Tag::Heading { level, .. } => BlockKind::Heading(*level as usize, heading_title(text, range)),
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => fence(text, range),
        Tag::CodeBlock(CodeBlockKind::Indented) => BlockKind::Indented,
        Tag::BlockQuote(_) => BlockKind::Quote,
        Tag::HtmlBlock if is_comment(written) => BlockKind::Comment,
        Tag::HtmlBlock => BlockKind::Html,
        Tag::Item => BlockKind::Item,
        Tag::List(_) => return None,
        _ => BlockKind::Paragraph,
    })
}

/// Whether a block of HTML is comments and nothing else: words behind a comment on its last line are words.
pub fn is_comment(written: &str) -> bool {
    let mut rest = written.trim();
    while let Some(inside) = rest.strip_prefix("<!--") {
        match inside.split_once("-->") {
            Some((_, after)) => rest = after.trim_start(),
            None => return false,
        }
    }
    rest.is_empty()
}

/// Whether a block of HTML takes in what follows it: it lacks its end, or holds a heading and ends only with an empty line.
pub fn is_unclosed(html: &str) -> bool {
    let is_heading = |line: &str| {
        let words = line.trim_start().trim_start_matches('#');
        words.len() < line.trim_start().len() && words.starts_with([' ', '\t'])
    };
    let gap = if lines(html).any(|(_, line)| is_heading(line)) { "\n" } else { "\n\n" };
    let followed = format!("{}{gap}# A heading", html.trim_end());
    let first = Parser::new(&followed).into_offset_iter().next();
    first.is_some_and(|(_, range)| range.end == followed.len())
}

/// What is said of a heading that is written and is none, and what to do about it.
pub const SHOWN: &str = "is inside a code fence, a quote or a list, so it is an example";
pub const SHOW_NOT: &str = "write it outside of that, with nothing around its lines";

/// The words of a line that is written as a heading, with `#` or in HTML, whether or not Markdown takes it for one.
pub fn heading_words(line: &str) -> Option<&str> {
    let bare = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace() || is_unseen(c));
    if bare.starts_with('#') {
        return Some(bare.trim_matches(|c: char| c == '#' || c.is_whitespace() || is_unseen(c)));
    }
    let mut start = bare.chars();
    let html = start.next() == Some('<')
        && matches!(start.next(), Some('h' | 'H'))
        && start.next().is_some_and(|c| c.is_ascii_digit());
    let inside = html.then(|| bare.split_once('>')).flatten()?.1;
    Some(inside.split('<').next().unwrap_or_default().trim())
}

/// The words of a heading with `#`.
pub fn heading_title(text: &str, range: &Range<usize>) -> Range<usize> {
    let line = text[range.clone()].trim_end();
    let words = line.trim_start().trim_start_matches('#').trim_start();
    let start = range.start + line.len() - words.len();
    let bare = words.trim_end_matches('#');
    let closed = bare.len() < words.len() && (bare.is_empty() || bare.ends_with([' ', '\t']));
    start..start + if closed { bare.trim_end().len() } else { words.len() }
}

/// A fenced code block: what stands in it, and whether it ends.
pub fn fence(text: &str, range: &Range<usize>) -> BlockKind {
    let written = &text[range.clone()];
    let opening = written.trim_start();
    let mark = opening.chars().next().unwrap_or('`');
    let width = opening.chars().take_while(|c| *c == mark).count();
    let start = range.start + written.find('\n').map_or(written.len(), |at| at + 1);
    let trimmed = written.trim_end();
    let last = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let line = trimmed[last..].trim();
    let closed = last > 0 && line.chars().count() >= width && line.chars().all(|c| c == mark);
    let end = if closed { range.start + last } else { range.end };
    BlockKind::Fence { content: start..end.max(start), closed }
}

/// The last line that opens more containers than the parser can carry in linear time.
fn too_deep(text: &str) -> Option<usize> {
    lines(text).filter(|(_, line)| is_too_deep(line)).last().map(|(at, _)| at)
}

fn is_too_deep(line: &str) -> bool {
    let (mut openers, mut indent) = (0usize, 0usize);
    let mut after_digit = false;
    for byte in line.bytes() {
        match byte {
            b' ' => indent += 1,
            b'\t' => indent += TAB,
            b'-' | b'*' | b'+' | b'>' => openers += 1,
            b'.' | b')' if after_digit => openers += 1,
            b'0'..=b'9' => {}
            _ => break,
        }
        after_digit = byte.is_ascii_digit();
    }
    if openers <= OPENERS_MAX && (openers == 0 || indent <= INDENT_MAX) {
        return false;
    }
    // A line of dashes or stars is a rule, whatever its length: it opens nothing.
    let bare = line.trim_end();
    !bare.bytes().all(|byte| bare.starts_with(char::from(byte)) && byte != b'>')
}

/// Which lines of a text are code, one line after the other.
#[derive(Debug, Default)]
pub struct Fence {
    /// The mark of the fence that is open, and how wide it is.
    open: Option<(char, usize)>,
}

impl Fence {
    /// Whether a line opens a fence or stands in one.
    pub fn is_code(&mut self, line: &str) -> bool {
        let bare = line.trim();
        let indent = line.len() - line.trim_start_matches(' ').len();
        match self.open {
            Some((mark, width)) if indent < 4 && bare.len() >= width && bare.chars().all(|c| c == mark) => {
                self.open = None;
            }
            Some(_) => {}
            None if indent < 4 => {
                self.open = opened(bare).and_then(|mark| Some((mark.chars().next()?, mark.len())));
            }
            None => {}
        }
        self.open.is_some()
    }
}

/// Whether a line without its white space has the mark of a code fence in front.
pub fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// The mark of the fence that a line opens.
fn opened(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let words = line.trim_start_matches(mark);
    let width = line.len() - words.len();
    (width >= 3 && !(mark == '`' && words.contains('`'))).then(|| &line[..width])
}

/// The text of a list item without its mark, its indentation and what a terminal would obey, and the offset at which it begins.
pub fn item_text<'t>(text: &'t str, range: &Range<usize>) -> (Cow<'t, str>, usize) {
    let written = &text[range.clone()];
    let item = written.trim_start();
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    let after = item.get(digits + 1..).unwrap_or_default();
    let gap = after.bytes().take_while(|byte| *byte == b' ').count();
    // Five spaces or more are one space and indented code.
    let indent = digits + 1 + if (1..=4).contains(&gap) { gap } else { 1 };
    let start = range.end - after.trim_start().len();
    let after = clean(after);
    if memchr::memchr(b'\n', after.trim_end().as_bytes()).is_none() {
        let words = match after {
            Cow::Borrowed(after) => Cow::Borrowed(after.trim()),
            Cow::Owned(after) => Cow::Owned(after.trim().to_owned()),
        };
        return (words, start);
    }
    let mut lines = Vec::new();
    for (at, line) in after.lines().enumerate() {
        if at == 0 {
            lines.push(line.trim_start());
        } else {
            let spaces = line.bytes().take_while(|byte| *byte == b' ').count().min(indent);
            lines.push(&line[spaces..]);
        }
    }
    (Cow::Owned(lines.join("\n").trim().to_owned()), start)
}

/// The heading of a Markdown document: `## Blocker: {title}`.
#[derive(Debug, Clone)]
pub struct Heading {
    pub level: usize,
    /// The words before the hole, or all of them.
    pub words: Name,
    /// The field that the rest of the line is, where there is a hole.
    pub hole: Option<Name>,
}

impl Heading {
    /// Whether a document begins with these words of a heading.
    pub fn begins(&self, title: &str) -> bool {
        match self.hole {
            Some(_) => title.get(..self.words.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(&self.words)),
            None => title.eq_ignore_ascii_case(&self.words),
        }
    }

    /// Whether a document begins with a heading.
    pub fn is(&self, level: usize, title: &str) -> bool {
        level == self.level && self.begins(title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let source = Source::new(text);
        let sections = outline(&source).expect("an outline").sections;
        let line = |section: &Section| {
            let blocks = section.blocks.iter().map(|block| match &block.kind {
                BlockKind::Heading(_, title) => format!("#{}", &text[title.clone()]),
                BlockKind::Item => format!("-{:?}", item_text(text, &block.range).0),
                BlockKind::Fence { content, closed } => format!("{closed}{:?}", &text[content.clone()]),
                BlockKind::Paragraph => format!("P{:?}", text[block.range.clone()].trim()),
                BlockKind::Quote => format!("Q{:?}", text[block.range.clone()].trim()),
                BlockKind::Indented => format!("I{:?}", text[block.range.clone()].trim()),
                BlockKind::Underlined(title) => format!("_{:?}", &text[title.clone()]),
                BlockKind::Html => "H".to_owned(),
                BlockKind::Comment => "C".to_owned(),
            });
            let blocks: Vec<_> = blocks.collect();
            format!("{}[{}]", &text[section.title.clone()], blocks.join(" "))
        };
        sections.iter().map(line).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn sections_hold_their_blocks() {
        assert_eq!(
            shown("# T\n## A ##\ntext\n### Sub x\n- a\n  b\n\n  c\n- d\n## B\n1. x\n"),
            "A[P\"text\" #Sub x -\"a\\nb\\n\\nc\" -\"d\"] B[-\"x\"]"
        );
        assert_eq!(shown("## A\r\n- a\r\n  b\r\n"), "A[-\"a\\nb\"]");
    }

    #[test]
    fn a_heading_inside_something_is_no_section() {
        assert_eq!(shown("## A\n```\n## B\n```\n"), "A[true\"## B\\n\"]");
        assert_eq!(shown("## A\n~~~~\n~~~\n## B\n"), "A[false\"~~~\\n## B\\n\"]");
        assert_eq!(shown("## A\n- ## B\n  ## C\n> ## D\n"), "A[-\"## B\\n## C\" Q\"> ## D\"]");
        assert_eq!(shown("## A\n<!--\n## B\n-->\n"), "A[C]");
        assert_eq!(shown("## A\n<!-- a --> <!-- b -->\n\n<!-- c --> d\n\n<!--\n## B\n"), "A[C H H]");
        assert_eq!(shown("## A\nB\n---\nC d\ne\n===\n    ## C\n"), "A[_\"B\" _\"C d\\ne\" I\"## C\"]");
    }

    #[test]
    fn lines_in_fences_are_code() {
        let code = |text: &str| {
            let mut fence = Fence::default();
            text.lines().map(|line| if fence.is_code(line) { 'c' } else { '.' }).collect::<String>()
        };
        assert_eq!(code("a\n```\n## A\n```\n## B"), ".cc..");
        assert_eq!(code("~~~~\n```\n~~~\n## A\n~~~~\n## B"), "cccc..");
        assert_eq!(code("``` a`b\n    ```\n## A"), "...");
    }

    #[test]
    fn what_costs_more_than_linear_time_is_refused() {
        let long = "x".repeat(BYTES_MAX + 1);
        assert_eq!(outline(&Source::new(&long)), Err(Refused::TooLong));
        assert_eq!(outline(&Source::new(&format!("a\n{}x", "- ".repeat(40)))), Err(Refused::TooDeep(2)));
        assert_eq!(outline(&Source::new(&format!("a\r{}x", "- ".repeat(40)))), Err(Refused::TooDeep(2)));
        assert_eq!(outline(&Source::new(&format!("{}- x", " ".repeat(300)))), Err(Refused::TooDeep(0)));
        for fine in ["-".repeat(80), "*".repeat(80), format!("{}x", " ".repeat(300)), "1".repeat(80)] {
            assert!(outline(&Source::new(&fine)).is_ok(), "{fine}");
        }
    }
}
