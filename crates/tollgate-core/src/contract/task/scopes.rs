//! Where a Definition of Done says what a side may change. What only looks like a scope is an error: a scope that nobody reads
//! would be one that nobody holds.

use super::{Part, words};

/// A row may begin with `Scope:` too; one that goes on for longer than this is no forgotten pattern.
const WORDS_MAX: usize = 3;

/// What follows a `Scope:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announced {
    /// Patterns, and nothing else; none: a list of them follows.
    Patterns(Vec<String>),
    /// Something else than patterns; whether it may be the words of a row.
    Unclear { words: bool },
}

/// Whether a text has the word at all; most have not, and cost nothing more.
pub(super) fn mentions(text: &str) -> bool {
    let bytes = text.as_bytes();
    let around = |at: usize| at.checked_sub(3).and_then(|start| bytes.get(start..start + 5));
    memchr::memchr2_iter(b'p', b'P', bytes).filter_map(around).any(|word| word.eq_ignore_ascii_case(b"scope"))
}

/// What a text announces that begins with `Scope:`, bold or not.
pub(super) fn announced(text: &str) -> Option<Announced> {
    let (label, rest) = Some(text).filter(|text| mentions(text)).and_then(label)?;
    if !label.eq_ignore_ascii_case("scope") || rest.starts_with([':', '：']) {
        return None;
    }
    let words = !has_path(rest) && rest.split_whitespace().count() > WORDS_MAX;
    Some(patterns(rest).map_or(Announced::Unclear { words }, Announced::Patterns))
}

/// Whether a line would be taken for a scope by a person and is none: `Scopes:`, `Backend scope:`, `Scope - api/**`.
pub(super) fn looks_announced(line: &str) -> bool {
    if !mentions(line) {
        return false;
    }
    let bare: String =
        line.chars().filter(|char| !matches!(char, '_' | '~' | '`' | '[' | ']' | '>' | '#' | '"')).collect();
    let bare = bare.replace("**", "").replace("<b", "").replace("<p", "").replace("</", "");
    let text = bare.trim().trim_start_matches(['-', '+', '*', ' ']);
    let is_scope = |word: &str| ["scope", "scopes"].iter().any(|known| word.eq_ignore_ascii_case(known));
    let (first, rest) = text.split_once(|char: char| !char.is_alphanumeric()).unwrap_or((text, ""));
    if is_scope(first) {
        return !rest.starts_with(':') && (has_path(rest) || !rest.contains(char::is_alphanumeric));
    }
    let Some((label, rest)) = label(text) else { return false };
    let last = label.split_whitespace().next_back().unwrap_or_default();
    let outside = label.to_ascii_lowercase().ends_with("out of scope") || Part::find(&label) == Some(Part::TesterScope);
    is_scope(last) && !outside && has_path(rest)
}

/// The pattern that an item of a list is: one in code quotes, or one word that only a path is.
pub(super) fn listed(item: &str) -> Option<String> {
    match patterns(item)?.as_slice() {
        [only] if item.contains('`') || has_path(only) => Some(only.clone()),
        _ => None,
    }
}

/// Whether a text has what only paths and patterns have.
fn has_path(text: &str) -> bool {
    text.split_whitespace().any(|word| word.len() > 1 && word.contains(['/', '*']) && !word.contains("://"))
}

/// The words before a colon, without their marks, and what stands behind it.
fn label(text: &str) -> Option<(String, &str)> {
    let at = text.find([':', '：'])?;
    let label = words(&text[..at].replace(['*', '_'], "")).into_owned();
    let rest = &text[at + text[at..].chars().next().map_or(0, char::len_utf8)..];
    // The mark that makes the label bold ends behind the colon.
    let rest = if text.starts_with(['*', '_']) { rest.trim_start_matches(['*', '_']) } else { rest };
    Some((label, rest))
}

/// The patterns of a text that holds nothing else: all in code quotes, or all plain words that a path could be.
fn patterns(text: &str) -> Option<Vec<String>> {
    let (mut quoted, mut bare): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let plain = rest.find('`').unwrap_or(rest.len());
        let divided = rest[..plain].split([',', ';', ' ', '\t', '\r', '\n', '\u{a0}']);
        bare.extend(
            divided.filter(|word| !matches!(*word, "" | "-" | "*" | "+" | "." | "and" | "&")).map(str::to_owned),
        );
        rest = &rest[plain..];
        if rest.is_empty() {
            break;
        }
        let marks = rest.len() - rest.trim_start_matches('`').len();
        let (inside, after) = rest[marks..].split_once(&rest[..marks])?;
        quoted.push(inside.trim().to_owned());
        rest = after;
    }
    let is_path = |word: &str| {
        let plain = word.trim_end_matches('.');
        (plain.contains(['/', '*']) || plain.contains('.')) && !word.contains(['(', '<', '`'])
    };
    let is_command = |word: &str| word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("cmd"));
    // With white space in it, it may be the words of a row or a command.
    let clear = (quoted.is_empty() || bare.is_empty())
        && bare.iter().all(|word| is_path(word))
        && quoted.iter().all(|word| !word.contains(char::is_whitespace) && !is_command(word));
    clear.then(|| [quoted, bare].concat())
}
