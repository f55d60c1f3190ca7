//! Words that say of what follows that it is an example: whether it is the report all the same, nobody can tell.

use std::ops::Range;

/// Words that announce an example, or what somebody would have said.
const WORDS: [&str; 13] = [
    "example",
    "e.g.",
    "for instance",
    "sample",
    "template",
    "would say",
    "would be",
    "would have",
    "would look",
    "would read",
    "would return",
    "hypothetical",
    "placeholder",
];

/// How many bytes before a document are looked at.
const BEFORE_BYTES: usize = 400;

/// Whether a document stands in code, fenced or between quotes, behind words that call it an example.
pub fn is_example(text: &str, range: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(range.start.saturating_sub(BEFORE_BYTES));
    let before = &text[from..range.start];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    // Code quotes around it, in a line with words.
    if let Some(words) = before[line..].strip_suffix('`') {
        return text[range.end..].starts_with('`') && announces(words);
    }
    if !before[line..].trim().is_empty() {
        return false;
    }
    let mut lines = before[..line].lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let fenced = lines.next().is_some_and(|line| line.starts_with("```") || line.starts_with("~~~"));
    fenced && lines.next().is_some_and(|words| words.ends_with(':') && announces(words))
}

fn announces(words: &str) -> bool {
    let lower = words.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_announced_and_stands_in_code() {
        for (text, expected) in [
            ("If it were mended I would say:\n```json\n{}\n```", true),
            ("For example:\n\n~~~\n{}\n~~~", true),
            ("An approval would have been `{}`.", true),
            ("For example:\n{}", false),
            ("My report:\n```json\n{}\n```", false),
            ("The example is in the tests.\n```json\n{}\n```", false),
            ("`{}`", false),
        ] {
            let at = text.find("{}").unwrap();
            assert_eq!(is_example(text, &(at..at + 2)), expected, "{text}");
        }
    }
}
