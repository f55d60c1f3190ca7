//! Places in a text.

use tollgate_core::diagnostic::Place;

/// So many bytes lie between two marks.
const STEP: usize = 64;

/// A text with a mark every so many bytes, so that no place is counted from the start of the text or of a long line.
#[derive(Debug)]
pub struct Source<'a> {
    text: &'a str,
    /// Byte offsets, each with its place; the first is the start of the text.
    marks: Vec<(usize, Place)>,
}

impl<'a> Source<'a> {
    /// Takes a text; a byte order mark at its start belongs to no line.
    pub fn new(text: &'a str) -> Self {
        Self::bare(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Takes a text whose byte order mark is gone: another one at its start is a character of its first line.
    pub fn bare(text: &'a str) -> Self {
        let mut marks = Vec::with_capacity(1 + text.len() / STEP);
        for (at, place) in places(text, (0, Place::START)) {
            if at >= marks.len() * STEP {
                marks.push((at, place));
            }
        }
        Self { text, marks }
    }

    /// The text without a byte order mark.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The byte offset of a place.
    pub fn offset(&self, place: Place) -> usize {
        let wanted = Place { line: place.line.max(1), column: place.column.max(1) };
        let mark = self.marks.partition_point(|(_, place)| *place <= wanted) - 1;
        let found = places(self.text, self.marks[mark]).find(|(_, place)| *place >= wanted);
        found.map_or(self.text.len(), |(at, _)| at)
    }

    /// The place of a byte offset; one past the end is the end.
    pub fn place(&self, offset: usize) -> Place {
        let mark = self.marks[self.marks.partition_point(|(at, _)| *at <= offset) - 1];
        let before = places(self.text, mark).take_while(|(at, _)| *at <= offset);
        before.last().map_or(mark.1, |(_, place)| place)
    }
}

/// The characters of a text from a mark on, and its end, each with its place.
fn places(text: &str, (from, first): (usize, Place)) -> impl Iterator<Item = (usize, Place)> {
    let mut place = first;
    let chars = text[from..].char_indices().map(move |(at, c)| (from + at, c));
    chars.chain([(text.len(), ' ')]).map(move |(at, c)| {
        let here = place;
        // A carriage return ends a line too where no line feed follows, as it does in Markdown.
        let ends = c == '\n' || (c == '\r' && text.as_bytes().get(at + 1) != Some(&b'\n'));
        place = match ends {
            true => Place { line: here.line + 1, column: 1 },
            false => Place { column: here.column + 1, ..here },
        };
        (at, here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(source.place(99), Place { line: 2, column: 2 }, "the end");
    }

    /// However long a text or a line is, every place of it is found, and found again.
    #[test]
    fn places_are_those_of_counting_every_line() {
        let lines = "ab\r\ncd\n\re\rf\r\r\n\ngé".repeat(3 * STEP / 16);
        for text in [lines + &"x".repeat(2 * STEP) + "\r\nz\r", "a€😀".repeat(STEP), String::new()] {
            let source = Source::new(&text);
            let (mut line, mut column) = (1, 1);
            for (at, c) in text.char_indices() {
                let place = Place { line, column };
                assert_eq!((source.place(at), source.offset(place)), (place, at), "{at}");
                let ends = c == '\n' || (c == '\r' && !text[at + 1..].starts_with('\n'));
                (line, column) = if ends { (line + 1, 1) } else { (line, column + 1) };
            }
            let end = Place { line, column };
            assert_eq!((source.place(text.len()), source.offset(end)), (end, text.len()));
        }
    }
}
