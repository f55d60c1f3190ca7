//! Where headings, list items, code and comments stand: one pass over the text.

use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use crate::contract::blocks::unstyled;
use crate::contract::markdown::{BlockKind, fence};

/// The headings of a text: their levels and words; none of one that is too large.
pub fn titles(text: &str) -> Vec<(usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if super::super::markdown::refused(text).is_some() {
        return Vec::new();
    }
    Outline::of(text).heads.iter().map(|head| (head.level, &text[head.title.clone()])).collect()
}

/// The headings of a text that is not too large: their levels, where their words stand, and where they stand.
pub fn heads(text: &str) -> Vec<(usize, Range<usize>, Range<usize>)> {
    Outline::of(text).heads.into_iter().map(|head| (head.level, head.title, head.range)).collect()
}

/// A heading with `#` at the outermost level.
#[derive(Debug)]
pub struct Head {
    pub level: usize,
    pub range: Range<usize>,
    pub title: Range<usize>,
}

/// An item of a list.
#[derive(Debug)]
pub struct Item {
    pub range: Range<usize>,
    /// How many items it stands in, itself included.
    pub depth: usize,
    /// The item around it.
    parent: Option<usize>,
}

/// What a text consists of.
#[derive(Debug, Default)]
pub struct Outline {
    pub heads: Vec<Head>,
    pub items: Vec<Item>,
    /// Code and quotes: nothing in them is a label.
    pub code: Vec<Range<usize>>,
    pub comments: Vec<Range<usize>>,
    /// Where a code fence begins that never ends: all that follows is in it.
    pub open_fence: Option<usize>,
}

impl Outline {
    pub fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut depth = 0usize;
        for (event, range) in Parser::new(&unstyled(text)).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    outline.begin(text, &tag, range, depth, &mut open);
                    depth += 1;
                }
                Event::End(end) => {
                    depth = depth.saturating_sub(1);
                    if end == TagEnd::Item {
                        open.pop();
                    }
                }
                _ => {}
            }
        }
        outline.comments_in_words(text);
        outline
    }

    fn begin(&mut self, text: &str, tag: &Tag<'_>, range: Range<usize>, depth: usize, open: &mut Vec<usize>) {
        match tag {
            Tag::Heading { level, .. } if depth == 0 && text[range.clone()].trim_start().starts_with('#') => {
                let title = super::super::markdown::heading_title(text, &range);
                self.heads.push(Head { level: number(*level), range, title });
            }
            Tag::Item => {
                self.items.push(Item { range, depth: open.len() + 1, parent: open.last().copied() });
                open.push(self.items.len() - 1);
            }
            Tag::CodeBlock(kind) => {
                let open = matches!(kind, CodeBlockKind::Fenced(_))
                    && text[range.end..].trim_start().is_empty()
                    && matches!(fence(text, &range), BlockKind::Fence { closed: false, .. });
                self.open_fence = open.then_some(range.start);
                self.code.push(range);
            }
            Tag::BlockQuote(_) => self.code.push(range),
            Tag::HtmlBlock if super::super::markdown::is_comment(&text[range.clone()]) => self.comments.push(range),
            Tag::HtmlBlock => self.code.push(range),
            _ => {}
        }
    }

    /// The headings in a range.
    pub fn heads_in(&self, range: &Range<usize>) -> &[Head] {
        let from = self.heads.partition_point(|head| head.range.start < range.start);
        let to = self.heads.partition_point(|head| head.range.start < range.end);
        &self.heads[from..to.max(from)]
    }

    /// The items that begin in a range.
    pub fn items_from(&self, range: &Range<usize>) -> &[Item] {
        let from = self.items.partition_point(|item| item.range.start < range.start);
        let to = self.items.partition_point(|item| item.range.start < range.end);
        &self.items[from..to.max(from)]
    }

    /// The items in a range that stand in no other item of it.
    pub fn items_in(&self, range: &Range<usize>) -> Vec<&Item> {
        let items = self.items_from(range);
        let least = items.iter().map(|item| item.depth).min().unwrap_or(0);
        items.iter().filter(|item| item.depth == least).collect()
    }

    /// How many items a line stands in, by where its words begin. Markdown takes a line right below an item for more of its words, wherever they
    /// begin; who begins them no further in than the mark of the item is done with it.
    pub fn depth_at(&self, text: &str, at: usize) -> usize {
        let before = self.items.partition_point(|item| item.range.start <= at);
        let (own, mut item) = (column(text, at), before.checked_sub(1));
        while let Some(index) = item {
            let Item { range, depth, parent } = &self.items[index];
            if at < range.end && (at == range.start || own > column(text, range.start)) {
                return *depth;
            }
            item = *parent;
        }
        0
    }

    /// Notes the comments that stand among words: the parser takes those for blocks only that stand alone.
    fn comments_in_words(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if !memchr::memchr_iter(b'<', bytes).any(|at| bytes[at..].starts_with(b"<!--")) {
            return;
        }
        let (mut found, mut quoted, mut until) = (Vec::new(), false, 0);
        for at in memchr::memchr3_iter(b'\n', b'`', b'<', bytes) {
            match bytes[at] {
                _ if at < until => {}
                b'\n' => quoted = false,
                b'`' => quoted = !quoted,
                _ if quoted || !bytes[at..].starts_with(b"<!--") || self.is_code(at) || self.is_comment(at) => {}
                _ => {
                    let Some(end) = memmem::find(&bytes[at..], b"-->") else { break };
                    until = at + end + 3;
                    found.push(at..until);
                }
            }
        }
        if !found.is_empty() {
            self.comments.extend(found);
            self.comments.sort_by_key(|comment| comment.start);
        }
    }

    /// Whether a place stands in a comment.
    pub fn is_comment(&self, at: usize) -> bool {
        let before = self.comments.partition_point(|range| range.start <= at);
        self.comments[..before].last().is_some_and(|range| range.contains(&at))
    }

    /// Whether a place stands in code.
    pub fn is_code(&self, at: usize) -> bool {
        let before = self.code.partition_point(|range| range.start <= at);
        // Blocks of code may stand in a quote: the outer one begins first.
        self.code[..before].iter().rev().take(8).any(|range| range.contains(&at))
    }
}

/// How far into its line a place is, in bytes.
fn column(text: &str, at: usize) -> usize {
    at - memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

fn number(level: HeadingLevel) -> usize {
    level as usize
}
