//! Other people's words inside a brief: inert, bounded, fenced, and said to be theirs.

use crate::text::{is_hidden, one_line};

/// The most that a brief repeats of one text.
pub(super) const TEXT_MAX: usize = 16 * 1024;
/// The most that a brief repeats of one line: a row, a finding's words.
pub(super) const LINE_MAX: usize = 2 * 1024;
/// The most of one text that a file of the bundle holds.
pub(super) const FILE_MAX: usize = 4 * 1024 * 1024;

/// Whether a character could be obeyed or hide text: by a terminal, or by a reader that sees more than a person does.
fn is_inert(c: char) -> bool {
    matches!(c, '\n' | '\t') || !(is_hidden(c) || matches!(c, '\u{e0000}'..='\u{e007f}'))
}

/// A text whose hidden and control characters are spelt out.
pub(super) fn inert(text: &str) -> String {
    let mut inert = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        if is_inert(c) { inert.push(c) } else { inert.extend(c.escape_unicode()) }
    }
    inert
}

/// The first bytes of a text, at the end of a line where one is near, and whether something was left out.
pub(super) fn head(text: &str, most: usize) -> (&str, bool) {
    if text.len() <= most {
        return (text, false);
    }
    let end = text.floor_char_boundary(most);
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    (&text[..if line > most / 2 { line } else { end }], true)
}

/// A text on one line, cut where it is too long.
pub(super) fn line(text: &str) -> String {
    let text = one_line(&inert(text));
    let (shown, cut) = head(&text, LINE_MAX);
    if cut { format!("{shown} [cut: {} of {} bytes]", shown.len(), text.len()) } else { text }
}

/// A short text as code: a path, a command, a name.
pub(super) fn code(text: &str) -> String {
    let text = line(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Somebody's words as a brief has them.
pub(super) struct Quoted {
    pub text: String,
    /// Whether it is not the whole of them.
    pub cut: bool,
}

/// Somebody's words: who says them, then the words in a fence that nothing in them can close. `whole` is the file that
/// has what is cut off here.
pub(super) fn quoted(who: &str, text: &str, whole: Option<&str>) -> Quoted {
    let safe = inert(text.trim_matches('\n'));
    let (shown, cut) = head(&safe, TEXT_MAX);
    let fence = "`".repeat(longest_run(shown).max(2) + 1);
    let end = if shown.ends_with('\n') { "" } else { "\n" };
    let rest = whole.map_or_else(String::new, |file| format!("; the rest is in {}", code(file)));
    let mark = if cut { format!("[cut: {} of {} bytes{rest}]\n", shown.len(), safe.len()) } else { String::new() };
    Quoted { text: format!("{who}:\n\n{fence}text\n{shown}{end}{fence}\n{mark}"), cut }
}

/// The text of a file of the bundle: as it is, and cut with a mark where it is too long.
pub(super) fn file(text: &str) -> String {
    let (shown, cut) = head(text, FILE_MAX);
    if cut { format!("{shown}\n[cut: {} of {} bytes]\n", shown.len(), text.len()) } else { shown.to_owned() }
}

/// A name as part of a path: no separators, nothing that leads elsewhere.
pub(super) fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = name.chars().take(100).map(safe).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "_".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_closes_its_fence(text in "[`~\n#\u{1b}\u{202e}\r]{0,200}") {
            let quoted = quoted("Words of a test", &text, None).text;
            let mut lines = quoted.lines().skip(2);
            let fence = lines.next().unwrap().trim_end_matches("text");
            prop_assert!(fence.len() >= 3);
            let closing = lines.clone().filter(|line| line.trim_start().starts_with(fence)).count();
            prop_assert_eq!(closing, 1, "{}", quoted);
            prop_assert_eq!(lines.last(), Some(fence));
            prop_assert!(quoted.chars().all(is_inert));
        }

        #[test]
        fn a_head_is_a_prefix_within_the_bound(text in "(.|\n){0,80}", most in 0usize..90) {
            let (shown, cut) = head(&text, most);
            prop_assert!(text.starts_with(shown) && shown.len() <= most);
            prop_assert_eq!(cut, shown.len() < text.len());
        }

        #[test]
        fn a_file_name_stays_in_its_folder(name in "(.|/|\\\\|\n){0,20}") {
            let name = file_name(&name);
            prop_assert!(!name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\n']));
        }
    }

    #[test]
    fn what_is_cut_says_so_and_where_the_rest_is() {
        let text = format!("{}\n", "x".repeat(99)).repeat(1000);
        let quoted = quoted("Words of a test", &text, Some("files/x.md")).text;
        assert!(quoted.len() < TEXT_MAX + 200);
        assert!(
            quoted.ends_with("```\n[cut: 16300 of 99999 bytes; the rest is in `files/x.md`]\n"),
            "{}",
            &quoted[16_000..]
        );
        assert!(line(&"y".repeat(LINE_MAX + 1)).ends_with("y [cut: 2048 of 2049 bytes]"));
        assert!(
            file(&"z".repeat(FILE_MAX + 1)).ends_with(&format!("z\n[cut: {FILE_MAX} of {} bytes]\n", FILE_MAX + 1))
        );
    }

    #[test]
    fn a_line_is_one_line_and_shows_what_hides() {
        assert_eq!(line("a\n## b\u{1b}[31m\u{e0041}c"), "a ## b\\u{1b}[31m\\u{e0041}c");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`x"), "`` `x ``");
    }
}
