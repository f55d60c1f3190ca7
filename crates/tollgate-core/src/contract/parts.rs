//! What stands below the words of a row belongs to the row: each item, each paragraph and each table.

use super::denied::{denies, passes, says_fail};
use super::layout::is_unchecked;
use super::markdown::Fence;
use super::rows::unmarked;

/// The parts of a text: its first words, and each item, paragraph and row of a table below them. Words that go on in the next line are one part;
/// code is none, it is what somebody shows.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    let (mut fence, mut lines) = (Fence::default(), text.split_inclusive('\n'));
    let (mut start, mut end, mut after_blank, mut in_code) = (0, 0, false, false);
    std::iter::from_fn(move || {
        while start < text.len() {
            let line = lines.next();
            let is_code = line.is_some_and(|line| fence.is_code(line));
            let starts = |line: &str| after_blank || is_code != in_code || (!is_code && begins(line.trim_start()));
            let part = (end > start && line.is_none_or(starts)).then(|| (&text[start..end], in_code));
            if part.is_some() {
                start = end;
            }
            end += line.map_or(0, str::len);
            after_blank = line.is_some_and(|line| !is_code && line.trim().is_empty());
            in_code = is_code;
            if let Some((part, false)) = part {
                return Some(part);
            }
        }
        None
    })
}

/// Whether a line begins a part: as an item of a list, a row of a table or a quote.
fn begins(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match digits {
        0 => line.starts_with(['|', '>']) || ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)),
        _ => line[digits..].starts_with(". ") || line[digits..].starts_with(") "),
    }
}

/// The first part below the words of a row that denies it, of those that have no error of their own.
pub fn denied_below(below: &str, is_told: impl Fn(&str) -> bool) -> Option<&str> {
    let is_open = |part: &str| is_unchecked(part.trim_start_matches(['-', '*', '+', ' ', '\t']));
    let behind = |part: &str| &below[part.as_ptr().addr() - below.as_ptr().addr() + part.len()..];
    // What failed first and passes then is shown to be tested.
    let fails = |part: &str| denies(unmarked(part)) && !(says_fail(part) && passes(behind(part)));
    parts(below).find(|part| !is_told(part) && (is_open(part) || fails(part))).map(unmarked)
}

/// The own words of a row, and what stands below them.
pub fn split(said: &str) -> (&str, &str) {
    // Nearly all have one line.
    if memchr::memchr(b'\n', said.as_bytes()).is_none() {
        return (said, "");
    }
    let own = parts(said).next().unwrap_or_default();
    // Code in front has no words of its own.
    if said.starts_with(own) { said.split_at(own.len()) } else { ("", said) }
}

/// Whether a text is a table, or has one in it.
pub fn is_table(text: &str) -> bool {
    let is_row = |line: &str| {
        let line = line.trim();
        let rules = || line.contains('-') && line.contains('|') && line.bytes().all(|byte| b"|-: \t".contains(&byte));
        line.starts_with('|') || rules()
    };
    let begin = text.trim_start().get(..6);
    begin.is_some_and(|begin| begin.eq_ignore_ascii_case("<table")) || text.lines().any(is_row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_parts() {
        let parts = |text| parts(text).map(str::trim).collect::<Vec<_>>();
        assert_eq!(parts("seen in\n  a.rs"), ["seen in\n  a.rs"]);
        assert_eq!(parts("a\n- b\n  c\n1. d\n\ne\nf\n| g |"), ["a", "- b\n  c", "1. d", "e\nf", "| g |"]);
        assert_eq!(parts("a\n```\n- b\n\nc\n```\nd"), ["a", "```\nd"]);
        assert_eq!(parts("```\na\n```"), ["```"]);
        assert_eq!(parts(""), [""; 0]);
    }

    #[test]
    fn a_table_is_seen() {
        for table in ["| a |\n|---|\n", "a | b\n--- | :-:\nc | d", "seen\n  | a | b |", "<TABLE><tr>"] {
            assert!(is_table(table), "{table}");
        }
        for text in ["a | b", "`a | b` is read\n---", "- a\n- b", "a\n---\n"] {
            assert!(!is_table(text), "{text}");
        }
    }
}
