//! Texts in texts: the transcript, the same without what terminals obey, and the strings of envelopes; and the way back to a place.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use super::json_scan;

/// One text, and where it comes from.
#[derive(Debug)]
pub struct Layer<'t> {
    pub text: Cow<'t, str>,
    from: From,
}

#[derive(Debug)]
enum From {
    /// The file.
    File,
    /// Another layer, without some of its bytes: from which byte on how many are gone before it.
    Without { parent: usize, gone: Vec<(usize, usize)> },
    /// Strings of another layer, one after the other.
    Strings { parent: usize, parts: Parts },
    /// Parts of other layers, and where each begins in this text.
    Joined { starts: Vec<usize>, parts: Vec<(usize, Range<usize>)> },
}

/// Pieces of a text. A message may come in as many as it has words: each costs a few numbers, and no more.
#[derive(Debug)]
struct Parts {
    /// Where each begins in this text.
    starts: Vec<usize>,
    /// Where its words stand in the other.
    raws: Vec<Range<usize>>,
    /// A byte of this text that was asked for, in which piece, and where it stands: asking in order costs one pass.
    seen: Cell<Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    part: usize,
    said: usize,
    raw: usize,
}

/// The layers of a transcript; the first is the transcript.
#[derive(Debug)]
pub struct Layers<'t>(Vec<Layer<'t>>);

impl<'t> Layers<'t> {
    pub fn new(text: &'t str) -> Self {
        Self(vec![Layer { text: Cow::Borrowed(text), from: From::File }])
    }

    pub fn text(&self, layer: usize) -> &str {
        self.0.get(layer).map_or("", |layer| &layer.text)
    }

    /// The layer without what a terminal obeys; itself where there is nothing of that kind.
    pub fn plain(&mut self, parent: usize) -> usize {
        let Some((text, gone)) = without_escapes(self.text(parent)) else { return parent };
        self.0.push(Layer { text: Cow::Owned(text), from: From::Without { parent, gone } });
        self.0.len() - 1
    }

    /// A text that strings of a layer are, one after the other.
    pub fn strings(&mut self, parent: usize, raws: Vec<Range<usize>>) -> usize {
        let mut text = String::with_capacity(raws.iter().map(ExactSizeIterator::len).sum());
        let mut starts = Vec::with_capacity(raws.len());
        for raw in &raws {
            starts.push(text.len());
            json_scan::unescape(&self.text(parent)[raw.clone()], &mut text);
        }
        let seen = Cell::new(Seen { part: usize::MAX, said: 0, raw: 0 });
        let parts = Parts { starts, raws, seen };
        self.0.push(Layer { text: Cow::Owned(text), from: From::Strings { parent, parts } });
        self.0.len() - 1
    }

    /// A text that is made of parts of other layers, each on lines of its own.
    pub fn join(&mut self, parts: Vec<(usize, Range<usize>)>) -> usize {
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(parts.len()));
        for (layer, range) in &parts {
            starts.push(text.len());
            text.push_str(&self.text(*layer)[range.clone()]);
            text.push('\n');
        }
        self.0.push(Layer { text: Cow::Owned(text), from: From::Joined { starts, parts } });
        self.0.len() - 1
    }

    /// Whether a layer is the words of a string.
    pub fn is_string(&self, layer: usize) -> bool {
        match self.0.get(layer).map(|layer| &layer.from) {
            Some(From::Strings { .. }) => true,
            Some(From::Without { parent, .. }) => self.is_string(*parent),
            Some(From::Joined { parts, .. }) => parts.first().is_some_and(|(layer, _)| self.is_string(*layer)),
            Some(From::File) | None => false,
        }
    }

    /// Where a byte of a layer stands in the file.
    pub fn in_file(&self, layer: usize, at: usize) -> usize {
        match self.0.get(layer).map(|layer| &layer.from) {
            Some(From::Without { parent, gone }) => {
                let before = gone.partition_point(|(from, _)| *from <= at);
                let bytes = before.checked_sub(1).map_or(0, |index| gone[index].1);
                self.in_file(*parent, at + bytes)
            }
            Some(From::Strings { parent, parts }) => self.in_file(*parent, parts.raw_at(self.text(*parent), at)),
            Some(From::Joined { starts, parts }) => {
                let part = starts.partition_point(|start| *start <= at).saturating_sub(1);
                let (start, (layer, range)) = (starts[part], &parts[part]);
                self.in_file(*layer, (range.start + at - start).min(range.end))
            }
            Some(From::File) | None => at,
        }
    }
}

impl Parts {
    fn raw_at(&self, parent: &str, wanted: usize) -> usize {
        let part = self.starts.partition_point(|start| *start <= wanted).saturating_sub(1);
        let (Some(start), Some(words)) = (self.starts.get(part), self.raws.get(part)) else { return 0 };
        let Seen { part: seen, mut said, mut raw } = self.seen.get();
        if seen != part || said > wanted {
            (said, raw) = (*start, words.start);
        }
        while said < wanted && raw < words.end {
            let rest = &parent[raw..words.end];
            let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len()).min(wanted - said);
            (said, raw) = (said + plain, raw + plain);
            if said < wanted && raw < words.end {
                let (c, width) = json_scan::escape(&parent[raw..words.end]);
                (said, raw) = (said + c.len_utf8(), raw + width);
            }
        }
        self.seen.set(Seen { part, said, raw });
        raw
    }
}

const ESCAPE: u8 = 0x1b;

/// A text without escape sequences, and how many bytes are gone from where on.
fn without_escapes(text: &str) -> Option<(String, Vec<(usize, usize)>)> {
    let bytes = text.as_bytes();
    memchr::memchr(ESCAPE, bytes)?;
    let (mut kept, mut gone) = (String::with_capacity(text.len()), Vec::new());
    let (mut at, mut dropped) = (0, 0);
    while let Some(found) = memchr::memchr(ESCAPE, &bytes[at..]) {
        kept.push_str(&text[at..at + found]);
        let start = at + found;
        at = text.ceil_char_boundary(sequence(bytes, start));
        dropped += at - start;
        gone.push((kept.len(), dropped));
    }
    kept.push_str(&text[at..]);
    Some((kept, gone))
}

/// Where the escape sequence ends that begins at a byte; one that never ends is the escape alone.
fn sequence(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start + 1..];
    let all = match rest.first() {
        Some(b'[') => rest[1..].iter().take(64).position(|byte| (0x40..=0x7e).contains(byte)).map(|at| at + 2),
        // A title, a link: up to a bell or the sign of its end, on one line. Without one, what follows is text.
        Some(b']' | b'P' | b'_' | b'^' | b'X') => {
            let end = rest.iter().take(4096).position(|byte| matches!(*byte, 0x07 | ESCAPE | b'\n' | b'\r'));
            Some(match end.map(|at| &rest[at..]) {
                Some(all @ [0x07, ..]) => rest.len() - all.len() + 1,
                Some(all @ [ESCAPE, b'\\', ..]) => rest.len() - all.len() + 2,
                _ => 1,
            })
        }
        Some(b'(' | b')' | b'#' | b'%' | b' ') => Some(2),
        Some(0x30..=0x7e) => Some(1),
        _ => Some(0),
    };
    (start + 1 + all.unwrap_or(0)).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_gone_and_every_byte_is_found_again() {
        let text = "a\u{1b}[31;1mb\u{1b}]0;title\u{7}é\u{1b}(Bc\u{1b}";
        let mut layers = Layers::new(text);
        let plain = layers.plain(0);
        assert_eq!(layers.text(plain), "abéc");
        for (at, c) in layers.text(plain).char_indices() {
            assert!(text[layers.in_file(plain, at)..].starts_with(c), "{c}");
        }
        assert_eq!(layers.plain(plain), plain);
    }

    #[test]
    fn a_sequence_that_does_not_end_takes_nothing_with_it() {
        for (text, plain) in [
            ("\u{1b}]0;title\u{1b}\\## Status", "## Status"),
            ("\u{1b}]0;no end ## Status\ncomplete\n", "0;no end ## Status\ncomplete\n"),
            ("\u{1b}]0;no end\r## Status\rcomplete\r", "0;no end\r## Status\rcomplete\r"),
            ("\u{1b}]8;; words \u{1b}[1mmore\u{1b}[0m", "8;; words more"),
            ("\u{1b}P", ""),
        ] {
            let mut layers = Layers::new(text);
            let layer = layers.plain(0);
            assert_eq!(layers.text(layer), plain);
        }
    }

    #[test]
    fn a_place_in_a_string_is_a_place_in_the_file() {
        let text = r#"{"a": "x\né\u00e9\"z", "b": "12"}"#;
        let mut layers = Layers::new(text);
        let z = text.find('z').unwrap();
        let said = layers.strings(0, vec![7..z + 1, z + 10..z + 12]);
        assert_eq!(layers.text(said), "x\néé\"z12");
        let places: Vec<usize> = layers.text(said).char_indices().map(|(at, _)| layers.in_file(said, at)).collect();
        assert_eq!(places, [7, 8, 10, 12, 18, 20, z + 10, z + 11]);
        assert_eq!(layers.in_file(said, 0), 7, "and back again");
    }
}
