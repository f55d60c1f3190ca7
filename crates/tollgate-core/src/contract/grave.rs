//! Marks in running text that ask for a change, whatever the title above them: `[critical] the total overflows`, `**Must fix:** the NaN`.

use super::layout::is_crossed;
use super::markdown::{Fence, heading_words};
use super::meant::refuses;
use super::nothing::lists_nothing;
use super::rows::unmarked;
use super::text::{lines, words};

/// Levels of a finding that is not let pass, in brackets or before a colon.
const LEVELS: [&str; 5] = ["critical", "critical issue", "critical issues", "major", "blocker"];
/// Words before a colon, in bold on a line of their own, or in a heading.
const LABELS: [&str; 16] = [
    "blocker",
    "blockers",
    "blocking",
    "blocking issue",
    "blocking issues",
    "change requested",
    "changes requested",
    "changes required",
    "fix before merge",
    "fix before merging",
    "must be fixed",
    "must fix",
    "request changes",
    "requested changes",
    "required change",
    "required changes",
];
/// The bytes that such a label may take, with the signs that make it bold.
const LABEL_BYTES: usize = 32;

/// Whether a line of a text asks for a change by such a mark.
pub fn asks_for_change(text: &str) -> bool {
    mark(text, &[&LEVELS, &LABELS]).is_some()
}

/// Where a line of a text asks for a change in so many words, whatever its level is: a warning has one too.
pub fn demand(text: &str) -> Option<usize> {
    mark(text, &[&LABELS])
}

/// Whether the first line of a text does nothing but refuse, or is crossed out.
pub fn refuses_alone(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    refuses(first) || is_crossed(first.trim_start_matches(['-', '*', '+', ' ', '\t']))
}

/// Where a mark of some words stands. A label that stands alone has its value in the next line that says something; what is code is shown, not said.
fn mark(text: &str, known: &[&[&str]]) -> Option<usize> {
    let is = |said: &str| is(said, known);
    let mut fence = Fence::default();
    let said = lines(text).filter(|(_, line)| !fence.is_code(line) && !line.trim().is_empty());
    let mut said = said.map(|(at, line)| (at, unmarked(line.trim()))).peekable();
    while let Some((at, line)) = said.next() {
        let level = line.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        // What leads elsewhere is a link.
        if level.is_some_and(|(level, rest)| is(level) && !rest.starts_with(['(', '['])) {
            return Some(at);
        }
        let Some(value) = labelled(line).filter(|(label, _)| is(label)).map(|(_, value)| value) else { continue };
        let below = said.peek().map_or("", |(_, below)| *below);
        if !lists_nothing(if value.is_empty() { below } else { value }) {
            return Some(at);
        }
    }
    None
}

/// A short label in a line, and what stands behind it.
fn labelled(line: &str) -> Option<(&str, &str)> {
    let signs = |c: char| matches!(c, '*' | '_' | ':' | ' ');
    let bold = || line.strip_prefix("**").and_then(|inside| inside.strip_suffix("**"));
    let near = &line.as_bytes()[..line.len().min(LABEL_BYTES)];
    match memchr::memchr(b':', near) {
        Some(colon) => Some((&line[..colon], line[colon + 1..].trim_matches(signs))),
        None if line.len() > LABEL_BYTES => None,
        None => Some((heading_words(line).or_else(bold)?, "")),
    }
}

fn is(said: &str, known: &[&[&str]]) -> bool {
    let begins = |known: &str| {
        said.trim_start_matches(['*', '_', ' ']).get(..1).is_some_and(|own| own.eq_ignore_ascii_case(&known[..1]))
    };
    let mut all = known.iter().copied().flatten().filter(|known| begins(known)).peekable();
    // Few labels begin as one of these.
    if said.len() > LABEL_BYTES || all.peek().is_none() {
        return false;
    }
    let said = words(said).collect::<Vec<_>>().join(" ");
    all.any(|known| known.eq_ignore_ascii_case(&said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_asks_for_a_change() {
        for text in [
            "- [critical] NaN in src/cart.js:12\n",
            "Fine so far.\n\n1. **Blocking:** the total is NaN\n",
            "**Must fix:**\n\n- the NaN\n",
            "**Must fix**\n- the NaN\n",
            "Must-fix: the NaN",
            "- Critical: SQL injection",
            "Request changes: NaN",
            "I read it.\n\n#### Must fix\n\n- the NaN\n",
        ] {
            assert!(asks_for_change(text), "{text}");
        }
        assert_eq!(demand("Fine.\n\n#### Must fix\n\n- the NaN\n"), Some(7));
        assert_eq!(demand("- [major] a slow test\n- Critical: none of the tests run on Windows\n"), None);
        for text in [
            "- [minor] a name\n",
            "**Blocking:** None\n",
            "Blocking issues: none found\n",
            "**Must fix:**\n\n- None\n",
            "The critical path: `src/cart.js` is tested.",
            "```\n[critical] NaN\n```\n",
            "I see nothing critical.",
            "[Major](docs/major.md) versions are unchanged: good",
        ] {
            assert!(!asks_for_change(text), "{text}");
        }
    }
}
