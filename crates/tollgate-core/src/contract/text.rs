//! Words and lines of texts, and texts that are safe to print.

use std::borrow::Cow;
use std::ops::Range;

pub use super::source::Source;

/// How many characters of a foreign text a message repeats.
const QUOTED_CHARS: usize = 60;

/// Whether a terminal could obey a character, or hide text by it, instead of showing it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

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

/// Whether a text says that there is nothing to say.
pub fn says_none(text: &str) -> bool {
    // Most texts say something, and begin with a letter or a sign that none of the words below begins with or is wrapped in.
    if text.as_bytes().first().is_some_and(|byte| byte.is_ascii_graphic() && !b"neNE*_`().-".contains(byte)) {
        return false;
    }
    let wraps = ['*', '_', '`', '(', ')', '.', '-', '–', '—'];
    let word = text.trim().trim_matches(wraps).trim();
    let ticked = word.trim_start_matches(['✅', '✓', '✔', '\u{fe0f}', ' ']).trim_start_matches(wraps);
    let begins = |none: &&str| ticked.get(..none.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(none));
    if !word.is_empty() && !NONES.iter().any(begins) {
        return false;
    }
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    // `None (all addressed)` and `None. All addressed.` say why there is nothing; `None (except …)` names something.
    let settles = |(_, remark): &(&str, &str)| {
        words(remark).next().is_some_and(|first| is(first, &["all"]))
            && words(remark).nth(SETTLED_MAX).is_none()
            && words(remark).last().is_some_and(|last| is(last, &SETTLED))
    };
    let remark = ticked.split_once(" (").or_else(|| ticked.split_once(". ").filter(settles));
    let (said, remark) = remark.unwrap_or((ticked, ""));
    // A number, a path or a label names something, too.
    let names = |c: char| matches!(c, '\n' | '?' | '[' | ':' | '/' | '`') || c.is_ascii_digit();
    let settled = || {
        is(remark.trim_end_matches(wraps), &NONES)
            || (!remark.contains(names) && !words(remark).any(|word| is(word, &EXCEPTIONS)))
    };
    let said = said.trim_end_matches(wraps);
    let left = said.rsplit_once(' ').filter(|(_, last)| is(last, &LEFT)).map_or(said, |(none, _)| none);
    word.is_empty() || (is(left, &NONES) && settled())
}

/// The words of a text: `can't` is one, with either sign.
pub fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))).filter(|word| !word.is_empty())
}

/// What says that there is nothing, and what may stand behind it.
const NONES: [&str; 16] = [
    "none",
    "n/a",
    "not applicable",
    "nothing",
    "empty",
    "no open questions",
    "no questions",
    "no findings",
    "no issues",
    "no change requests",
    "no gaps",
    "no files",
    "no files created",
    "no files modified",
    "no files deleted",
    "no files changed",
];
const LEFT: [&str; 5] = ["found", "identified", "remaining", "left", "open"];
/// A sentence behind it that says of all that was there what came of it.
const SETTLED: [&str; 4] = ["addressed", "resolved", "fixed", "closed"];
const SETTLED_MAX: usize = 6;
/// Words with which a remark takes something out of nothing.
const EXCEPTIONS: [&str; 19] = [
    "except",
    "but",
    "besides",
    "other",
    "apart",
    "however",
    "not",
    "yet",
    "until",
    "beyond",
    "fail",
    "fails",
    "failed",
    "failing",
    "pending",
    "untested",
    "unverified",
    "skipped",
    "broken",
];

/// A name without case, hyphens and spaces: `DoD-checker` and `dod checker` are one.
pub fn squash(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Whether two names are one, without case, hyphens and spaces.
pub fn is_same_name(a: &str, b: &str) -> bool {
    fn plain(name: &str) -> impl Iterator<Item = u8> {
        name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
    }
    match a.is_ascii() && b.is_ascii() {
        true => plain(a).eq(plain(b)),
        false => letters(a).eq(letters(b)),
    }
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

/// A text with every run of white space as one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text shows nothing: white space, and signs without a picture of their own.
pub fn is_blank(text: &str) -> bool {
    !text.as_bytes().first().is_some_and(u8::is_ascii_graphic)
        && text.chars().all(|c| c.is_whitespace() || is_unseen(c))
}

/// Whether a text is what a template has where something is to be said, and nothing else: `<what was done>`, `[Reason]`, `- {name}`.
pub fn is_placeholder(text: &str) -> bool {
    let (mut rest, mut any) = (text, false);
    // Signs of a path or a link belong to what stands beside them: `[id].tsx`, `{a,b}/**`, `[here](there)`.
    let joins = |c: char| matches!(c, '.' | '/' | '\\' | ':' | '=' | '@' | '#' | '$' | '%' | '&' | '(' | '~');
    loop {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '<' | '[' | '{') && !joins(c));
        let close = match rest.as_bytes().first() {
            None => return any,
            Some(b'<') => '>',
            Some(b'[') => ']',
            Some(b'{') => '}',
            Some(_) => return false,
        };
        let inside = rest.trim_start_matches(['<', '[', '{']);
        let Some((words, after)) = inside.split_once(close) else { return false };
        if !is_asked(words) {
            return false;
        }
        any |= words.chars().nth(1).is_some() || words.starts_with(['…', '.']);
        let after = after.trim_start_matches(close);
        let ended = after.strip_prefix(['.', ':']).filter(|next| !next.starts_with(|c: char| !c.is_whitespace()));
        rest = ended.unwrap_or(after);
        if rest.starts_with(|c: char| c.is_alphanumeric() || joins(c)) {
            return false;
        }
    }
}

/// Whether words between signs ask for something: they are no JSON, no address and no tag with attributes, and no mere number.
fn is_asked(words: &str) -> bool {
    let data = words.starts_with(['"', '/', '!']) || words.contains("://") || words.contains("=\"");
    let empty = words.trim().is_empty();
    !data && (empty || words.chars().any(char::is_alphabetic) || words.contains(['…', '.']))
}

/// Whether a character has no picture of its own, so that nobody knows that it is there.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
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

    #[test]
    fn a_placeholder_is_nothing_but_what_a_template_asks() {
        for hole in [
            "<what was done>",
            "[Reason]",
            "{name}",
            "{{ name }}",
            "**<text>** — <text>",
            "- <a b>\n- [ ] <c d>",
            "`<path/**>`",
            "<any warnings, or \"None\">",
            "[TBD].",
            "<reference to spec,\n  or criterion>",
            "<...>",
            "✓ <DoD-N> — <what shows it>",
        ] {
            assert!(is_placeholder(hole), "{hole}");
        }
        for said in [
            "",
            "None",
            "—",
            "{}",
            "[]",
            "[ ]",
            "{\"a\": 1}",
            "[1]",
            "[here](there.md)",
            "[id].tsx",
            "[slug]/**",
            "{src,tests}/**",
            "./[slug]",
            "<https://example.org>",
            "<a href=\"b\">",
            "<T> is unbound",
            "see [notes]",
            "[major] a bug",
            "</p>",
        ] {
            assert!(!is_placeholder(said), "{said}");
        }
    }

    #[test]
    fn nothing_has_many_spellings() {
        for none in [
            "",
            " None. ",
            "n/a",
            "—",
            "-",
            "(none)",
            "*None*",
            "Not applicable",
            "✅ None",
            "✔️ n/a",
            "None found",
            "No issues found.",
            "No gaps found",
            "None remaining.",
            "None (all addressed)",
            "None (read-only role)",
            "None (not applicable)",
            "None (n/a)",
            "None. All addressed.",
            "None. All previous findings are fixed.",
        ] {
            assert!(says_none(none), "{none}");
        }
        for some in [
            "none of the rows hold",
            "None (except one)",
            "None (DoD-2 is open)",
            "None (only DoD-2)",
            "None (critical: it overflows)",
            "None (`src/a.rs`)",
            "None. All but one are fixed.",
            "None. Rename `x`.",
            "None. All names in src/a.rs are to be fixed.",
            "Not applicable rows are listed",
            "No issues but one",
            "❌ None",
            "✅",
        ] {
            assert!(!says_none(some), "{some}");
        }
    }
}
