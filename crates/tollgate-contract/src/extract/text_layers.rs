//! Texts in texts: the transcript, the messages in its lines, and each of them without what terminals obey; and the way back to a place.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr;

use super::json_scan;
use super::transcript::Part;

/// So many bytes of a string with escapes have a place that is kept; those between are counted from the one before.
const COUNTED_BYTES_MAX: usize = 1024;

/// The layers of a transcript; the first is the transcript.
#[derive(Debug)]
pub struct Layers<'t> {
    all: Vec<Layer<'t>>,
    /// The line whose strings were looked through last, by its start, and up to where.
    looked: (usize, usize),
}

/// One text, and where it comes from.
#[derive(Debug, Default)]
struct Layer<'t> {
    text: Cow<'t, str>,
    /// In the order of the text; the first begins with it.
    runs: Vec<Run>,
    /// Whether it is the words of a string.
    is_string: bool,
}

/// Bytes of a layer, up to the next run.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    /// Where it begins in the file.
    at: usize,
    spelling: Spelling,
}

/// How the file writes a run.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Same,
    /// With the escapes of JSON.
    Escaped,
    /// In a way that is not known.
    Unknown,
}

impl<'t> Layers<'t> {
    pub fn new(text: &'t str) -> Self {
        let runs = vec![Run { start: 0, at: 0, spelling: Spelling::Same }];
        Self { all: vec![Layer { text: Cow::Borrowed(text), runs, is_string: false }], looked: (0, 0) }
    }

    pub fn text(&self, layer: usize) -> &str {
        self.all.get(layer).map_or("", |layer| &layer.text)
    }

    /// The layer without what a terminal obeys; itself where there is nothing of that kind.
    pub fn plain(&mut self, parent: usize) -> usize {
        let Some(kept) = without_escapes(self.text(parent)) else { return parent };
        self.composed(kept.into_iter().map(|range| (parent, range)), "")
    }

    /// A text that is made of parts of other layers, each on lines of its own.
    pub fn join(&mut self, parts: Vec<(usize, Range<usize>)>) -> usize {
        self.composed(parts.into_iter(), "\n")
    }

    /// The words of a string of the file.
    pub fn string(&mut self, words: Range<usize>) -> usize {
        let mut layer = Layer { is_string: true, ..Layer::default() };
        layer.push_string(self.text(0), words);
        self.push(layer)
    }

    /// A message: strings of lines, one after the other.
    pub fn message(&mut self, parts: &[Part]) -> usize {
        let mut layer = Layer { is_string: true, ..Layer::default() };
        for Part { text, line } in parts {
            match self.find_string(line, text) {
                Some(words) => layer.push_string(self.text(0), words),
                None => layer.push(text, line.start, Spelling::Unknown),
            }
        }
        self.push(layer)
    }

    /// Whether a layer is the words of a string.
    pub fn is_string(&self, layer: usize) -> bool {
        self.all.get(layer).is_some_and(|layer| layer.is_string)
    }

    /// Where a byte of a layer is in the file.
    pub fn in_file(&self, layer: usize, wanted: usize) -> usize {
        let Some(layer) = self.all.get(layer) else { return wanted };
        let index = layer.runs.partition_point(|run| run.start <= wanted).saturating_sub(1);
        let Some(Run { start, at, spelling }) = layer.runs.get(index).copied() else { return 0 };
        match spelling {
            Spelling::Same => at + wanted.saturating_sub(start),
            Spelling::Unknown => at,
            Spelling::Escaped => {
                let (file, mut said, mut at) = (self.text(0), start, at);
                while said < wanted && at < file.len() {
                    let (length, width) = character(&file[at..]);
                    (said, at) = (said + length, at + width);
                }
                at
            }
        }
    }

    fn push(&mut self, layer: Layer<'t>) -> usize {
        self.all.push(layer);
        self.all.len() - 1
    }

    fn composed(&mut self, parts: impl Iterator<Item = (usize, Range<usize>)>, end: &str) -> usize {
        let mut new = Layer::default();
        for (of, range) in parts {
            let Some(layer) = self.all.get(of) else { continue };
            new.is_string |= layer.is_string;
            let first = layer.runs.partition_point(|run| run.start <= range.start).saturating_sub(1);
            for run in layer.runs[first..].iter().take_while(|run| run.start <= range.start || run.start < range.end) {
                let from = run.start.max(range.start);
                let start = new.text.len() + from - range.start;
                new.runs.push(Run { start, at: self.in_file(of, from), spelling: run.spelling });
            }
            new.text.to_mut().push_str(&layer.text[range]);
            new.text.to_mut().push_str(end);
        }
        self.push(new)
    }

    /// The words of the string of a line that says a text. The strings of a line are asked for in their order.
    fn find_string(&mut self, line: &Range<usize>, text: &str) -> Option<Range<usize>> {
        let file = self.all.first().map(|layer| layer.text.as_bytes()).unwrap_or_default();
        let mut at = if self.looked.0 == line.start { self.looked.1.max(line.start) } else { line.start };
        let end = line.end.min(file.len());
        self.looked = (line.start, end);
        while let Some(quote) = memchr(b'"', file.get(at..end)?) {
            let start = at + quote + 1;
            let words = start..json_scan::string_end(&file[..end], start).ok()?;
            at = words.end + 1;
            let is_key = file[at..end].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
            if !is_key && says(&self.text(0)[words.clone()], text) {
                self.looked = (line.start, at);
                return Some(words);
            }
        }
        None
    }
}

impl Layer<'_> {
    fn push(&mut self, text: &str, at: usize, spelling: Spelling) {
        self.runs.push(Run { start: self.text.len(), at, spelling });
        self.text.to_mut().push_str(text);
    }

    fn push_string(&mut self, file: &str, words: Range<usize>) {
        let raw = &file[words.clone()];
        if memchr(b'\\', raw.as_bytes()).is_none() {
            return self.push(raw, words.start, Spelling::Same);
        }
        let mut from = words.start;
        while from < words.end {
            let mut to = from;
            while to < words.end && to - from < COUNTED_BYTES_MAX {
                to += character(&file[to..words.end]).1;
            }
            self.runs.push(Run { start: self.text.len(), at: from, spelling: Spelling::Escaped });
            json_scan::unescape(&file[from..to], self.text.to_mut());
            from = to;
        }
    }
}

/// How many bytes the first character of a text in JSON has, and how many bytes JSON takes for it.
fn character(raw: &str) -> (usize, usize) {
    match raw.chars().next() {
        Some('\\') => {
            let (c, width) = json_scan::escape(raw);
            (c.len_utf8(), width)
        }
        Some(c) => (c.len_utf8(), c.len_utf8()),
        None => (0, 0),
    }
}

/// Whether the words of a string say a text.
fn says(raw: &str, text: &str) -> bool {
    let (mut raw, mut text) = (raw, text);
    while let Some(at) = memchr(b'\\', raw.as_bytes()) {
        let Some(rest) = text.strip_prefix(&raw[..at]) else { return false };
        let (c, width) = json_scan::escape(&raw[at..]);
        let Some(rest) = rest.strip_prefix(c) else { return false };
        (raw, text) = (raw.get(at + width..).unwrap_or_default(), rest);
    }
    raw == text
}

const ESCAPE: u8 = 0x1b;

/// The parts of a text between escape sequences; none where it has no such sequence.
fn without_escapes(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    memchr(ESCAPE, bytes)?;
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(found) = memchr(ESCAPE, &bytes[at..]) {
        let start = at + found;
        kept.push(at..start);
        at = text.ceil_char_boundary(sequence(bytes, start));
    }
    kept.push(at..text.len());
    Some(kept)
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
    fn a_place_in_a_message_is_a_place_in_the_file() {
        let text = r#"{"12": "x\né\u00e9\"z", "b": "12"}"#;
        let part = |said: &str| Part { text: said.to_owned(), line: 0..text.len() };
        let mut layers = Layers::new(text);
        let said = layers.message(&[part("x\néé\"z"), part("12")]);
        assert_eq!(layers.text(said), "x\néé\"z12");
        let (x, z) = (text.find('x').unwrap(), text.find('z').unwrap());
        let places = |layers: &Layers<'_>, layer| -> Vec<usize> {
            layers.text(layer).char_indices().map(|(at, _)| layers.in_file(layer, at)).collect()
        };
        assert_eq!(places(&layers, said), [x, x + 1, x + 3, x + 5, x + 11, z, z + 10, z + 11]);
        let joined = layers.join(vec![(said, 2..6), (0, 0..2)]);
        assert_eq!(layers.text(joined), "éé\n{\"\n");
        assert_eq!(places(&layers, joined), [x + 3, x + 5, x + 11, 0, 1, 2]);
        let unknown = layers.message(&[part("not there")]);
        assert_eq!(layers.in_file(unknown, 4), 0, "the beginning of its line");
        let long = format!("{{\"a\": \"{}z\"}}", "\\n\u{e9}".repeat(2000));
        let mut layers = Layers::new(&long);
        let said = layers.message(&[Part { text: format!("{}z", "\n\u{e9}".repeat(2000)), line: 0..long.len() }]);
        assert_eq!(layers.in_file(said, 6000), long.find('z').unwrap());
        assert_eq!(layers.in_file(said, 3001), long.find('"').unwrap() + 6 + 1000 * 4 + 2);
    }
}
