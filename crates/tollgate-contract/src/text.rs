//! Words and lines of texts, and texts that are safe to print.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

pub use crate::source::Source;
pub use tollgate_core::text::{is_blank, is_hidden, is_unseen, one_line};

/// How many characters of a foreign text a message repeats.
const QUOTED_CHARS: usize = 60;

/// Whether a text holds no hidden character but line ends and tabs.
fn is_clean(text: &str) -> bool {
    text.chars().all(|c| !is_hidden(c) || matches!(c, '\n' | '\t'))
}

/// The text without characters that a terminal would obey; every line end becomes `\n`.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut after_return = false;
    for c in text.chars() {
        match c {
            '\r' => kept.push('\n'),
            '\n' if after_return => {}
            '\n' | '\t' => kept.push(c),
            _ if is_hidden(c) => {}
            _ => kept.push(c),
        }
        after_return = c == '\r';
    }
    Cow::Owned(kept)
}

/// A foreign text as a message may repeat it: its first line, cut, hidden characters spelt out.
pub fn quote(text: &str) -> String {
    let line = text.trim().split(['\n', '\r']).next().unwrap_or_default();
    let mut quoted = String::from("`");
    for c in line.chars().take(QUOTED_CHARS) {
        if is_hidden(c) { quoted.extend(c.escape_unicode()) } else { quoted.push(c) }
    }
    if line.chars().nth(QUOTED_CHARS).is_some() {
        quoted.push('…');
    }
    quoted.push('`');
    quoted
}

/// Whether a text is the single word `None`.
pub fn is_none(text: &str) -> bool {
    text.trim().eq_ignore_ascii_case("none")
}

/// A name without case, hyphens and spaces: `DoD-checker` and `dod checker` are one.
pub fn squash(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Whether two names are one, without case, hyphens and spaces.
pub fn is_same_name(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

/// Whether a word is a known one in another spelling: in another case, with other signs between its parts, and around it only signs
/// that say nothing. Any other sign around a word (`!done`, `done?`, `~~done~~`, a cross) may deny or doubt it.
pub fn is_respelling(known: &str, said: &str) -> bool {
    let wraps = |c: char| c.is_whitespace() || is_quote(c) || matches!(c, '*' | '_');
    let bare = said.trim_start_matches(wraps).trim_end_matches(|c| wraps(c) || matches!(c, '.' | ','));
    let between = |c: char| wraps(c) || matches!(c, '-' | '.' | '/') || known.contains(c);
    let whole = bare.starts_with(char::is_alphanumeric) && bare.ends_with(char::is_alphanumeric);
    whole && bare.chars().all(|c| c.is_alphanumeric() || between(c)) && is_same_name(known, bare)
}

/// Whether a sign quotes what stands between two of its kind.
pub fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '«' | '»')
}

/// Whether the words of a heading are a name, perhaps with a number before it, a colon behind it, or a remark in brackets: `2. Goals (of all)`.
pub fn is_title(known: &str, title: &str) -> bool {
    let bare =
        title.trim_end_matches(':').trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' '));
    let named = bare.strip_suffix(')').and_then(|words| words.split_once(" (")).map(|(name, _)| name);
    is_same_name(known, bare) || named.is_some_and(|named| is_same_name(known, named))
}

/// The lines of a text with the offset of each; a carriage return ends one too.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()).map(|at| at + 1).chain([text.len()]);
    let mut start = 0;
    ends.map(move |end| {
        let line = (start, &text[start..end]);
        start = end;
        line
    })
}

/// The lines of a part of a text with the offset of each; its line end belongs to a line.
pub fn lines_in<'t>(text: &'t str, range: &Range<usize>) -> impl Iterator<Item = (usize, &'t str)> {
    let (mut start, end) = (range.start, range.end);
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(start..end).filter(|rest| !rest.is_empty())?;
        let next = memchr::memchr(b'\n', rest).map_or(end, |at| start + at + 1);
        let line = (start, &text[start..next]);
        start = next;
        Some(line)
    })
}

/// The places of words that are there again, each with the first place of its word.
pub fn repeated<'w>(words: impl Iterator<Item = &'w str>) -> Vec<(usize, usize)> {
    let mut firsts = BTreeMap::new();
    let placed = words.enumerate().map(|(at, word)| (at, *firsts.entry(word).or_insert(at)));
    placed.filter(|(at, first)| at != first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_has_no_sign_that_denies() {
        for said in
            ["Request-Changes", " request changes.", "**REQUEST_CHANGES**", "`request_changes`,", "“request/changes”"]
        {
            assert!(is_respelling("request_changes", said), "{said}");
        }
        for said in [
            "!done",
            "¬done",
            "-done",
            "~~done~~",
            "done?",
            "done!",
            "(done)",
            "done:",
            "done ❌",
            "done 👎",
            "un-done",
            "",
            "**",
        ] {
            assert!(!is_respelling("done", said), "{said}");
        }
        assert!(is_respelling("n/a", "N/A") && is_respelling("T-1: x", "t-1: X"));
    }

    #[test]
    fn a_message_never_carries_what_a_terminal_obeys() {
        assert_eq!(quote("\u{1b}[31mred\u{202e}"), "`\\u{1b}[31mred\\u{202e}`");
        assert_eq!(clean("a\u{1b}[0m\r\nb\tc\u{7}\rd"), "a[0m\nb\tc\nd");
        assert_eq!(quote(&"x".repeat(61)), format!("`{}…`", "x".repeat(60)));
    }

    #[test]
    fn one_line_has_single_spaces() {
        for (text, line) in [
            ("", ""),
            (" a b ", "a b"),
            ("a  b", "a b"),
            ("a\tb\r\nc", "a b c"),
            ("é\u{a0}b\u{2003}c", "é b c"),
            ("é b", "é b"),
        ] {
            assert_eq!(one_line(text), line);
        }
        assert_eq!(lines("a\r\nb\n").collect::<Vec<_>>(), [(0, "a\r"), (2, "\n"), (3, "b\n"), (5, "")]);
    }
}
