//! Where a Definition of Done says what a side may change. What only looks like a scope is an error: a scope that nobody reads
//! would be one that nobody holds.

use super::{Part, words};

/// What follows a `Scope:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announced {
    /// Patterns, and nothing else; none: a list of them follows.
    Patterns(Vec<String>),
    /// Something else than patterns.
    Unclear,
}

/// What a text announces that begins with `Scope:`, bold or not.
pub(super) fn announced(text: &str) -> Option<Announced> {
    let (label, rest) = label(text)?;
    label.eq_ignore_ascii_case("scope").then(|| patterns(rest).map_or(Announced::Unclear, Announced::Patterns))
}

/// Whether a line would be taken for a scope by a person and is none: `Scopes:`, `Backend scope:`, `> Scope:`.
pub(super) fn looks_announced(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let Some((label, rest)) = label(line) else { return false };
    let last = label.split_whitespace().next_back().unwrap_or_default();
    let is_scope = ["scope", "scopes"].iter().any(|word| last.eq_ignore_ascii_case(word));
    is_scope
        && Part::find(&label) != Some(Part::TesterScope)
        && label.split_whitespace().count() <= 3
        && (rest.trim().is_empty() || patterns(rest).is_some() || label.eq_ignore_ascii_case("scope"))
}

/// The pattern that an item of a list is: one in code quotes, or one word that a path could be.
pub(super) fn listed(item: &str) -> Option<String> {
    match patterns(item)?.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// The words before a colon, without their marks, and what stands behind it.
fn label(text: &str) -> Option<(String, &str)> {
    let at = text.find([':', '：'])?;
    let label = words(&text[..at].replace(['*', '_'], ""));
    let rest = text[at..].trim_start_matches([':', '：']);
    Some((label, rest.strip_prefix("**").or_else(|| rest.strip_prefix("__")).unwrap_or(rest)))
}

/// The patterns of a text that holds nothing else: all in code quotes, or all plain words that a path could be.
fn patterns(text: &str) -> Option<Vec<String>> {
    let (mut quoted, mut bare): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let plain = rest.find('`').unwrap_or(rest.len());
        let divided = rest[..plain].split([',', ';', ' ', '\t', '\r', '\n', '\u{a0}']);
        bare.extend(divided.filter(|word| !matches!(*word, "" | "-" | "*" | "+" | "and" | "&")).map(str::to_owned));
        rest = &rest[plain..];
        if rest.is_empty() {
            break;
        }
        let marks = rest.len() - rest.trim_start_matches('`').len();
        let (inside, after) = rest[marks..].split_once(&rest[..marks])?;
        quoted.push(inside.trim().to_owned());
        rest = after;
    }
    let is_path = |word: &str| word.contains(['/', '*']) || word.trim_end_matches('.').contains('.');
    let is_command = |word: &str| word.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("cmd"));
    let named = |word: &String| is_path(word) || !word.contains(char::is_whitespace);
    let clear = (quoted.is_empty() || bare.is_empty())
        && bare.iter().all(|word| is_path(word))
        && quoted.iter().all(|word| named(word) && !is_command(word));
    clear.then(|| [quoted, bare].concat())
}
