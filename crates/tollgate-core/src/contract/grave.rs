//! Marks in running text that ask for a change, whatever the title above them: `[critical] the total overflows`, `**Must fix:** the NaN`.

use super::markdown::Fence;
use super::nothing::lists_nothing;
use super::rows::unmarked;
use super::text::words;

/// Levels of a finding that is not let pass, in brackets.
const LEVELS: [&str; 4] = ["blocker", "blocking", "critical", "major"];
/// Words before a colon, or in bold on a line of their own.
const LABELS: [&str; 16] = [
    "blocker",
    "blockers",
    "blocking",
    "blocking issue",
    "blocking issues",
    "change requested",
    "changes requested",
    "changes required",
    "critical",
    "critical issue",
    "critical issues",
    "must fix",
    "request changes",
    "requested changes",
    "required change",
    "required changes",
];
/// The bytes that such a label may take, with the signs that make it bold.
const LABEL_BYTES: usize = 32;

/// Whether a line of a text asks for a change by such a mark. A label that stands alone has its value in the next line that says something; what is
/// code is shown, not said.
pub fn asks_for_change(text: &str) -> bool {
    let mut fence = Fence::default();
    let said = text.lines().filter(|line| !fence.is_code(line) && !line.trim().is_empty());
    let mut said = said.map(unmarked).peekable();
    while let Some(line) = said.next() {
        let level = line.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        // What leads elsewhere is a link.
        if level.is_some_and(|(level, rest)| is(level, &LEVELS) && !rest.starts_with(['(', '['])) {
            return true;
        }
        let Some(value) = labelled(line) else { continue };
        let below = said.peek().copied().unwrap_or_default();
        if !lists_nothing(if value.is_empty() { below } else { value }) {
            return true;
        }
    }
    false
}

/// What stands behind a label that asks for a change.
fn labelled(line: &str) -> Option<&str> {
    let signs = |c: char| matches!(c, '*' | '_' | ':' | ' ');
    let (label, value) = match line.split_once(':') {
        Some((label, value)) => (label, value.trim_matches(signs)),
        None => (line.strip_prefix("**")?.strip_suffix("**")?, ""),
    };
    (label.len() <= LABEL_BYTES && is(label, &LABELS)).then_some(value)
}

fn is(said: &str, known: &[&str]) -> bool {
    let said = || words(said).map(str::to_ascii_lowercase);
    known.iter().any(|known| said().eq(known.split(' ')))
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
        ] {
            assert!(asks_for_change(text), "{text}");
        }
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
