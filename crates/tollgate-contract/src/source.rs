//! Places in a text.

use std::ops::Range;
use std::sync::OnceLock;

use tollgate_core::diagnostic::Place;

/// So many bytes lie between two places at which the lines before are counted.
const STEP: usize = 1024;

/// A line of so many bytes, or a column so far from its start, is long: it is not counted through for every place.
const LONG: usize = 8 * STEP;

/// A text with its lines counted, so that a byte offset becomes a line and a column. They are counted at every step and
/// not kept one by one: of a transcript, a few places are asked for.
#[derive(Debug)]
pub struct Source<'a> {
    text: &'a str,
    /// How many lines end before each step.
    ended: Vec<usize>,
    /// How many characters stand before each step, once a place in a long line was asked for.
    chars: OnceLock<Vec<usize>>,
}

impl<'a> Source<'a> {
    /// Takes a text; a byte order mark at its start belongs to no line.
    pub fn new(text: &'a str) -> Self {
        Self::bare(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Takes a text whose byte order mark is gone: another one at its start is a character of its first line.
    pub fn bare(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut source = Self { text, ended: Vec::with_capacity(1 + bytes.len() / STEP), chars: OnceLock::new() };
        let mut count = 0;
        for start in (0..=bytes.len()).step_by(STEP) {
            source.ended.push(count);
            count += source.ends(start..bytes.len().min(start + STEP));
        }
        source
    }

    /// The text without a byte order mark.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The byte offset of a place.
    pub fn offset(&self, place: Place) -> usize {
        let line = (place.line as usize).max(1) - 1;
        let column = (place.column as usize).max(1) - 1;
        let Some(start) = self.start(line) else { return self.text.len() };
        let from = if column < LONG { (start, 0) } else { self.near(start, column) };
        self.text[from.0..].char_indices().nth(column - from.1).map_or(self.text.len(), |(at, _)| from.0 + at)
    }

    /// The place of a byte offset.
    pub fn place(&self, offset: usize) -> Place {
        let bytes = self.text.as_bytes();
        let inside = offset.min(bytes.len());
        let step = inside / STEP;
        let line = self.ended[step] + self.ends(step * STEP..inside) + 1;
        let mut start = inside;
        while start > 0 && !self.is_end(start - 1) {
            let near = inside.saturating_sub(LONG);
            start = match memchr::memrchr2(b'\n', b'\r', &bytes[near.min(start - 1)..start - 1]) {
                Some(end) => near.min(start - 1) + end + 1,
                None if near == 0 => 0,
                None => self.start(line - 1).unwrap_or(0),
            };
        }
        let column = match self.text.get(start..offset) {
            Some(before) if before.len() < LONG => before.chars().count() + 1,
            Some(_) => self.chars_before(offset) - self.chars_before(start) + 1,
            None => 1,
        };
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Place { line: small(line), column: small(column) }
    }

    /// How many characters begin before a byte.
    fn chars_before(&self, at: usize) -> usize {
        let step = at / STEP;
        self.chars()[step] + begun(&self.text.as_bytes()[step * STEP..at])
    }

    /// A byte near a column of the line that begins at a byte, and its column, both counted from nought.
    fn near(&self, start: usize, column: usize) -> (usize, usize) {
        let before = self.chars_before(start);
        let step = self.chars().partition_point(|chars| *chars <= before + column).saturating_sub(1);
        let at = self.text.floor_char_boundary(step * STEP).max(start);
        (at, self.chars_before(at) - before)
    }

    fn chars(&self) -> &[usize] {
        self.chars.get_or_init(|| {
            let sums = self.text.as_bytes().chunks(STEP).scan(0, |sum, step| {
                *sum += begun(step);
                Some(*sum)
            });
            [0].into_iter().chain(sums).collect()
        })
    }

    /// Where a line begins, counted from nought.
    fn start(&self, line: usize) -> Option<usize> {
        let Some(before) = self.ended.partition_point(|ended| *ended < line).checked_sub(1) else { return Some(0) };
        let from = before * STEP;
        let ends = memchr::memchr2_iter(b'\n', b'\r', &self.text.as_bytes()[from..]).map(|at| from + at);
        let end = ends.filter(|at| self.is_end(*at)).nth(line - self.ended[before] - 1)?;
        Some(end + 1)
    }

    /// How many lines end in a part of the text. It is passed over twice while it is near: a long text only once.
    fn ends(&self, part: Range<usize>) -> usize {
        let (bytes, start) = (&self.text.as_bytes()[part.clone()], part.start);
        let returns = memchr::memchr_iter(b'\r', bytes).filter(|at| self.is_end(start + at)).count();
        memchr::memchr_iter(b'\n', bytes).count() + returns
    }

    /// Whether a line ends with a byte. A carriage return ends one too where no line feed follows, as it does in Markdown.
    fn is_end(&self, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'))
    }
}

/// How many characters begin in some bytes.
fn begun(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long a line is, every place of it is found, and found again.
    #[test]
    fn a_long_line_has_places_too() {
        for unit in ["a", "é", "a€😀"] {
            let line = unit.repeat(5 * LONG / unit.len());
            for text in [line.clone(), format!("x\r\n{line}\n{line}"), format!("{line}\r{line}\r\n")] {
                let source = Source::new(&text);
                let (mut line, mut column) = (1, 1);
                for (at, c) in text.char_indices() {
                    let place = Place { line, column };
                    if at % 7 == 0 || matches!(c, '\n' | '\r') {
                        assert_eq!((source.place(at), source.offset(place)), (place, at), "{unit} {at}");
                    }
                    let ends = c == '\n' || (c == '\r' && !text[at + 1..].starts_with('\n'));
                    (line, column) = if ends { (line + 1, 1) } else { (line, column + 1) };
                }
            }
        }
    }

    #[test]
    fn places_count_characters_from_one_and_ignore_the_mark() {
        let source = Source::new("\u{feff}äb\r\nc");
        assert_eq!(source.place(0), Place { line: 1, column: 1 });
        assert_eq!(source.place(2), Place { line: 1, column: 2 });
        assert_eq!(source.place(5), Place { line: 2, column: 1 });
        assert_eq!(Source::new("a\rb").place(2), Place { line: 2, column: 1 });
        for (line, column, offset) in [(1, 1, 0), (1, 2, 2), (2, 1, 5), (2, 2, 6), (9, 9, 6)] {
            assert_eq!(source.offset(Place { line, column }), offset);
        }
        assert_eq!(source.place(99), Place { line: 2, column: 1 }, "an offset outside has no column");
    }

    #[test]
    fn places_are_those_of_counting_every_line() {
        let text = "ab\r\ncd\n\re\rf\r\r\n\ngé".repeat(3 * STEP / 16) + &"x".repeat(2 * STEP) + "\r\nz\r";
        let source = Source::new(&text);
        let mut starts = vec![0];
        let ends = |at: &usize| text.as_bytes()[*at] == b'\n' || text.as_bytes().get(at + 1) != Some(&b'\n');
        starts.extend(memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).filter(ends).map(|at| at + 1));
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let line = starts.partition_point(|start| *start <= at);
            let column = text[starts[line - 1]..at].chars().count() + 1;
            let place = Place { line: line as u32, column: column as u32 };
            assert_eq!(source.place(at), place, "{at}");
            assert_eq!(source.offset(place), at);
        }
        assert_eq!(source.offset(Place { line: starts.len() as u32 + 1, column: 1 }), text.len());
    }
}
