//! The blocks of a Markdown text: headings, list items, paragraphs, and what is opaque to every reader.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::markdown::{BlockKind, fence, heading_title, is_comment, is_unclosed, refused};

/// The level and the words of each heading of a text; none of a text that is too large to be read.
pub fn titles(text: &str) -> Vec<(usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if refused(text).is_some() {
        return Vec::new();
    }
    Outline::of(text).heads.iter().map(|head| (head.level, &text[head.title.clone()])).collect()
}

/// A heading at the outermost level.
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
    /// How many items it is nested in, itself included.
    pub depth: usize,
    /// The item around it.
    parent: Option<usize>,
}

/// What a text consists of.
#[derive(Debug, Default)]
pub struct Outline {
    pub heads: Vec<Head>,
    pub items: Vec<Item>,
    /// Paragraphs at the outermost level.
    pub paragraphs: Vec<Range<usize>>,
    /// Headings that are underlined instead of marked with `#`.
    pub underlined: Vec<Head>,
    /// HTML at the outermost level that is more than comments.
    pub html: Vec<Range<usize>>,
    /// Code, quotes and HTML: nothing in them is read.
    opaque: Vec<Range<usize>>,
    /// Inline code.
    code_spans: Vec<Range<usize>>,
    comments: Vec<Range<usize>>,
    /// Where a code fence or HTML begins that never ends.
    pub unclosed: Vec<usize>,
}

impl Outline {
    pub fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let mut open: Vec<usize> = Vec::new();
        let mut depth = 0usize;
        for (event, range) in Parser::new(text).into_offset_iter() {
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
                Event::Code(_) => outline.code_spans.push(range),
                Event::InlineHtml(html) if html.starts_with("<!--") => outline.comments.push(range),
                _ => {}
            }
        }
        outline
    }

    fn begin(&mut self, text: &str, tag: &Tag<'_>, range: Range<usize>, depth: usize, open: &mut Vec<usize>) {
        match tag {
            Tag::Heading { level, .. } if depth == 0 && !text[range.clone()].trim_start().starts_with('#') => {
                let words = text[range.clone()].trim_end().rfind(['\n', '\r']).map_or(range.end, |at| range.start + at);
                self.underlined.push(Head { level: *level as usize, title: range.start..words, range });
            }
            Tag::Heading { level, .. } if depth == 0 => {
                let title = heading_title(text, &range);
                self.heads.push(Head { level: *level as usize, range, title });
            }
            Tag::Paragraph if depth == 0 => self.paragraphs.push(range),
            Tag::Item => {
                self.items.push(Item { range, depth: open.len() + 1, parent: open.last().copied() });
                open.push(self.items.len() - 1);
            }
            Tag::CodeBlock(kind) => {
                let is_open = matches!(kind, CodeBlockKind::Fenced(_))
                    && text[range.end..].trim_start().is_empty()
                    && matches!(fence(text, &range), BlockKind::Fence { closed: false, .. });
                self.unclosed.extend(is_open.then_some(range.start));
                self.hide(range);
            }
            Tag::BlockQuote(_) => self.hide(range),
            Tag::HtmlBlock if is_comment(&text[range.clone()]) => self.comments.push(range),
            Tag::HtmlBlock => {
                let is_open = !self.is_opaque(range.start) && is_unclosed(&text[range.clone()]);
                self.unclosed.extend(is_open.then_some(range.start));
                if depth == 0 {
                    self.html.push(range.clone());
                }
                self.hide(range);
            }
            _ => {}
        }
    }

    /// Takes an opaque block; one inside another says nothing more.
    fn hide(&mut self, range: Range<usize>) {
        if self.opaque.last().is_none_or(|last| last.end <= range.start) {
            self.opaque.push(range);
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

    /// The outermost items in a range.
    pub fn items_in(&self, range: &Range<usize>) -> Vec<&Item> {
        let items = self.items_from(range).iter().filter(|item| !self.is_opaque(item.range.start));
        let least = items.clone().map(|item| item.depth).min().unwrap_or(0);
        items.filter(|item| item.depth == least).collect()
    }

    /// How many items a line belongs to, by where its words begin. CommonMark counts an unindented line right below an item to the item;
    /// a label there ends the list.
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

    /// Where the sentence begins that closes a document, if the last paragraph of a range is it or ends with it.
    pub fn closed_by(&self, text: &str, range: &Range<usize>, closing: &str) -> Option<usize> {
        let last = self.paragraphs.iter().rfind(|one| range.start <= one.start && one.end <= range.end)?;
        let before = text[last.clone()].trim_end().strip_suffix(closing)?;
        Some(last.start + before.len())
    }

    /// Whether a place is in a code block, a quote or HTML.
    pub fn is_opaque(&self, at: usize) -> bool {
        within(&self.opaque, at)
    }

    /// The inline code that begins in a range.
    pub fn code_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        meeting(&self.code_spans, range)
    }

    /// Whether a place is in inline code or a comment.
    pub fn is_hidden(&self, at: usize) -> bool {
        within(&self.code_spans, at) || within(&self.comments, at)
    }

    /// The comments that meet a range.
    pub fn comments_in(&self, range: &Range<usize>) -> &[Range<usize>] {
        meeting(&self.comments, range)
    }

    /// The comments and opaque blocks that meet a range, in order.
    pub fn unread_in(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let (comments, opaque) = (meeting(&self.comments, range), meeting(&self.opaque, range));
        let mut all: Vec<Range<usize>> = comments.iter().chain(opaque).cloned().collect();
        all.sort_by_key(|one| one.start);
        all
    }
}

fn within(ranges: &[Range<usize>], at: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= at);
    ranges[..before].last().is_some_and(|range| range.contains(&at))
}

fn meeting<'r>(ranges: &'r [Range<usize>], range: &Range<usize>) -> &'r [Range<usize>] {
    let from = ranges.partition_point(|one| one.end <= range.start);
    let to = ranges.partition_point(|one| one.start < range.end);
    &ranges[from..to.max(from)]
}

/// How far into its line a place is, in bytes.
fn column(text: &str, at: usize) -> usize {
    at - memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}
