//! Invisible characters: with one of them a row, a heading, a scope or a command is not what it looks like.

use crate::text::is_unseen;

/// The invisible characters that no script needs, the first of each line.
pub(super) fn unseen(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at;
        at += line.len();
        hidden(line).map(|(offset, c)| (start + offset, c))
    })
}

fn hidden(line: &str) -> Option<(usize, char)> {
    // The sign that joiners and variants belong to, and what looks like the end of a line in some editors.
    let mut base = None;
    line.char_indices().find(|&(at, c)| {
        let breaks = matches!(c, '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if !breaks && (!is_unseen(c) || matches!(c, '\t' | '\r' | '\n')) {
            base = Some(c);
            return false;
        }
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let joined = base.is_some_and(|base: char| !base.is_ascii() && !base.is_whitespace());
        // `1️⃣` is the one kind that begins with a plain letter.
        let key = line[at + c.len_utf8()..].starts_with('\u{20e3}');
        breaks || turns || c.is_control() || !(joined || key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_writing_needs_is_seen_and_what_hides_is_not() {
        for plain in ["a\tb\r\n", "❤️ and ❤️‍🔥", "👨‍👩‍👧", "1️⃣ first", "می‌خواهم", "10\u{a0}€", "é\u{301}"]
        {
            assert_eq!(unseen(plain).next(), None, "{plain}");
        }
        for (odd, at) in [
            ("c\u{ad}md", 1),
            ("\u{200b}- a", 0),
            ("- \u{200b}", 2),
            ("a\u{1f}- b", 1),
            ("a\u{2028}- b", 1),
            ("é\u{202e}", 2),
            ("é\u{8}", 2),
            ("a\u{a0}\u{200b}b", 3),
            ("x\nSc\u{200b}ope:", 4),
        ] {
            assert_eq!(unseen(odd).next().map(|(at, _)| at), Some(at), "{odd:?}");
        }
        let many = format!("é{}", "\u{200b}".repeat(1 << 16));
        assert_eq!(unseen(&many).next(), None, "in one pass");
    }
}
