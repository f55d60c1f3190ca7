//! Markdown documents that stand in code, a quote or a list: shown, not said. Behind a document, nobody can tell which of the two is meant.

use std::ops::Range;

use super::looks::Heads;
use crate::contract::markdown::{heading_title, is_fence};
use crate::contract::text::lines;

/// So many signs of quotes, lists and indentation are looked at before a heading.
pub const SIGNS_MAX: usize = 16;

/// Whether a byte may stand before a heading in a line of code, a quote or a list.
pub fn is_sign(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>' | b'-' | b'*' | b'+' | b'.' | b')') || byte.is_ascii_digit()
}

/// The headings that are written in a text, whatever they stand in: their levels, their words, and where they stand.
pub fn written(text: &str) -> impl Iterator<Item = (usize, &str, Range<usize>)> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'#', bytes).filter_map(move |at| {
        let signs = bytes[..at].iter().rev().take(SIGNS_MAX).take_while(|byte| is_sign(**byte)).count();
        if !matches!(&bytes[..at - signs], [] | [.., b'\n' | b'\r']) {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(text.len(), |found| at + found);
        let level = bytes[at..end].iter().take_while(|byte| **byte == b'#').count();
        Some((level, &text[heading_title(text, &(at..end))], at..end))
    })
}

/// The documents under headings that are none of the text's own, up to the next that begins one, or one of its own.
pub fn find(text: &str, known: &Heads, own: &[Range<usize>]) -> Vec<Range<usize>> {
    let behind = |at: usize| own.partition_point(|head| head.start <= at);
    let is_own = |at: usize| behind(at).checked_sub(1).is_some_and(|last| own[last].contains(&at));
    let begins = written(text).filter(|(level, title, head)| known.is_head(*level, title) && !is_own(head.start));
    let starts: Vec<usize> = begins.map(|(.., head)| head.start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let ranges = starts.iter().zip(ends).map(|(start, next)| {
        let head = own.get(behind(*start)).map_or(text.len(), |head| head.start);
        *start..next.min(head)
    });
    ranges.filter(|range| known.is_enough(bare(&text[range.clone()]).lines())).collect()
}

/// What such a document says, without the signs of what it stands in.
pub fn bare(text: &str) -> String {
    let lines = lines(text).map(|(_, line)| line.trim_start_matches(['>', ' ', '\t']));
    lines.take_while(|line| !is_fence(line)).collect()
}
