//! The one document that a file holds, and what is around it.

use std::ops::Range;

use super::candidates::{markdown_in, objects};
use super::{Dialect, Trailing, blocks, json_scan};
use crate::Context;
use crate::markdown::{BlockKind, is_comment};

/// The JSON in a file that holds one document of a contract, where nothing else in the file looks like one or is other JSON. Around a
/// report that accepts the work, nothing but a code fence may be where the contract refuses text beside it.
pub fn only_object(dialect: Dialect<'_>, text: &str, context: &Context) -> Option<Range<usize>> {
    let found = objects(text, &dialect.format().looks(context));
    let [range] = &found[..] else { return None };
    let is_fenced = || {
        let inside = blocks::only_fence(text).unwrap_or(0..text.len());
        text[inside.clone()].trim() == &text[range.clone()]
    };
    let is_accepted =
        || dialect.trailing() == Trailing::Refuse && dialect.read_alone(&text[range.clone()], context).accepts();
    let is_only = !dialect.format().is_unfilled(&text[range.clone()]) && other_object(text, range).is_none();
    (is_only && (is_fenced() || !is_accepted())).then(|| range.clone())
}

/// What is in the one code fence that a file is, where that is a Markdown document of a contract.
pub fn only_fence(dialect: Dialect<'_>, text: &str, context: &Context) -> Option<Range<usize>> {
    let heads = dialect.format().looks(context).markdown?;
    let inside = blocks::only_fence(text)?;
    let info = text[..inside.start].trim().trim_start_matches(['`', '~']).trim();
    if !["", "markdown", "md"].contains(&info) {
        return None;
    }
    let text = &text[inside.clone()];
    let blocks = blocks::blocks(text);
    let first = blocks.iter().find(|block| !matches!(block.kind, BlockKind::Paragraph | BlockKind::Underlined(_)));
    let begins = first.is_some_and(|block| match &block.kind {
        BlockKind::Heading(level, title) => heads.is_head(*level, &text[title.clone()]),
        _ => false,
    });
    begins.then_some(inside)
}

/// What a report file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InFile {
    /// One report and nothing else, as far as its blocks show; JSON is read whole.
    Alone,
    /// No report.
    Nothing,
    /// Something else too, which begins here: text before the report, another report or a section after it.
    With(usize),
}

/// Looks at what a report file holds.
pub fn in_file(dialect: Dialect<'_>, text: &str, context: &Context) -> InFile {
    let looks = dialect.format().looks(context);
    let bare = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let Some(heads) = looks.markdown.as_ref().filter(|heads| heads.line().is_some() && !bare.starts_with('{')) else {
        return InFile::Alone;
    };
    let found = markdown_in(text, heads);
    let Some(first) = found.first() else { return InFile::Nothing };
    let before = &text[text.len() - bare.len()..first.start.max(text.len() - bare.len())];
    match (is_comment(before), first.end < text.len()) {
        (false, _) => InFile::With(text.len() - bare.len()),
        (true, true) => InFile::With(first.end),
        (true, false) => InFile::Alone,
    }
}

/// Where JSON that says something begins outside of a range of a text.
pub fn other_object(text: &str, known: &Range<usize>) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'{', &text.as_bytes()[at..]) {
        at += found;
        if known.contains(&at) {
            at = known.end;
            continue;
        }
        let object = json_scan::object(text, at);
        at = match object.end {
            json_scan::End::Whole(_) if !object.pairs.is_empty() => return Some(at),
            json_scan::End::Whole(end) => end,
            json_scan::End::Broken(next) => next.max(at + 1),
            json_scan::End::Cut => return None,
        };
    }
    None
}
