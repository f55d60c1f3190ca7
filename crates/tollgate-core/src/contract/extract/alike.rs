//! Lines that repeat the one before but for a few strings. An agent that prints every word in a line of its own wraps all of them
//! alike: what the line is was found out once, and the next only has to be the same.

use std::ops::Range;

use super::skim::{self, Skimmed};

/// The last line that carried a piece of a message.
#[derive(Debug, Default)]
pub struct Alike {
    line: Range<usize>,
    /// The words of its strings in which the next may differ, in order.
    free: Vec<Range<usize>>,
    /// Which of them is the piece.
    piece: usize,
}

impl Alike {
    /// Keeps a line that carries a piece. What it is was decided by its keys and by the values of some: those may not differ.
    pub fn keep(
        &mut self,
        text: &str,
        object: &Skimmed,
        line: &Range<usize>,
        piece: &Range<usize>,
        decides: impl Fn(&str) -> bool,
    ) {
        self.line = line.clone();
        self.free.clear();
        for pair in &object.pairs {
            let words = pair.value.start + 1..pair.value.end.max(pair.value.start + 2) - 1;
            if words == *piece
                || (skim::inside(&text[pair.value.clone()]).is_some() && !decides(&text[pair.key.clone()]))
            {
                self.free.push(words);
            }
        }
        let place = self.free.partition_point(|words| words.start < piece.start);
        if self.free.get(place) != Some(piece) {
            self.free.insert(place, piece.clone());
        }
        self.piece = place;
    }

    /// The piece in a line that begins at a byte, and where that line ends; nothing where it is not like the one before.
    pub fn next(&self, bytes: &[u8], start: usize) -> Option<(Range<usize>, usize)> {
        let (mut at, mut from, mut piece) = (start, self.line.start, None);
        for (index, words) in self.free.iter().enumerate() {
            at = repeated(bytes, at, from..words.start)?;
            let end = skim::string_end(bytes, at).ok()?;
            if index == self.piece {
                piece = Some(at..end);
            }
            (at, from) = (end, words.end);
        }
        let end = repeated(bytes, at, from..self.line.end)?;
        Some((piece?, end))
    }
}

/// Where a part of a text ends that stands there again.
fn repeated(bytes: &[u8], at: usize, part: Range<usize>) -> Option<usize> {
    let end = at + part.len();
    (bytes.get(at..end)? == bytes.get(part)?).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece<'t>(first: &'t str, second: &'t str) -> Option<String> {
        let text = format!("{first}\n{second}\n");
        let mut object = Skimmed::default();
        object.read(&text, 0, None);
        let start = text.find("\"a").unwrap() + 1;
        let mut alike = Alike::default();
        alike.keep(&text, &object, &(0..first.len()), &(start..start + 1), |key| key == "type");
        let (piece, end) = alike.next(text.as_bytes(), first.len() + 1)?;
        assert_eq!(end, text.len() - 1);
        Some(text[piece].to_owned())
    }

    #[test]
    fn a_line_may_differ_in_strings_that_decide_nothing() {
        let first = r#"{"type":"x","id":"1","v":{"k":"k","t":"a"},"n":1,"last":"z"}"#;
        for (second, expected) in [
            (first, Some("a")),
            (r#"{"type":"x","id":"22","v":{"k":"k","t":"b\"\\"},"n":1,"last":""}"#, Some(r#"b\"\\"#)),
            (r#"{"type":"x","id":"","v":{"k":"k","t":""},"n":1,"last":"\u0041"}"#, Some("")),
            (r#"{"type":"y","id":"1","v":{"k":"k","t":"a"},"n":1,"last":"z"}"#, None),
            (r#"{"type":"x","id":"1","v":{"k":"j","t":"a"},"n":1,"last":"z"}"#, None),
            (r#"{"type":"x","id":"1","v":{"k":"k","t":"a"},"n":2,"last":"z"}"#, None),
            (r#"{"type":"x","id":null,"v":{"k":"k","t":"a"},"n":1,"last":"z"}"#, None),
            (r#"{"type":"x","id":"1","v":{"k":"k","t":"a"},"n":1,"last":"z","type":"y"}"#, None),
            (r#"{"type":"x","id":"1","v":{"k":"k","t":"a"},"n":1,"last":"z"#, None),
        ] {
            assert_eq!(piece(first, second).as_deref(), expected, "{second}");
        }
        let top = r#"{"type":"x","content":"a","role":"b"}"#;
        assert_eq!(piece(top, r#"{"type":"x","content":"c d","role":"e"}"#).as_deref(), Some("c d"));
        assert_eq!(Alike::default().next(b"{}", 0), None, "nothing is like nothing");
    }
}
