//! What is said under a key that decides, in words that are almost those of the contract: `verdict: not approved`, `Final verdict: reject`.

use crate::Name;
use crate::contract::nothing::lists_nothing;
use crate::contract::text::is_same_name;

/// What is said under a key that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meant<'d> {
    /// One of its words.
    Word(&'d Name),
    /// One of them, denied.
    Denied(&'d Name),
    /// None of them, and a refusal.
    Refusal,
}

/// Refusals in words of any contract, and of none.
const REFUSALS: [&str; 29] = [
    "reject",
    "rejected",
    "rejects",
    "rejection",
    "refuse",
    "refused",
    "deny",
    "denied",
    "decline",
    "declined",
    "disapprove",
    "disapproved",
    "veto",
    "vetoed",
    "fail",
    "fails",
    "failed",
    "failure",
    "block",
    "blocked",
    "blocking",
    "needs changes",
    "needs work",
    "changes requested",
    "changes required",
    "request changes",
    "do not merge",
    "not ready",
    "not ready to merge",
];
/// What a reason begins with.
const BECAUSE: [&str; 4] = [" because ", " due to ", " since ", " until "];
/// What makes a word the opposite of itself.
const UNDOES: [&str; 4] = ["un", "dis", "non-", "non"];

/// Whether a word is a shortened one that denies: `can't`.
pub fn is_shortened(word: &str) -> bool {
    ["n't", "n’t"].iter().any(|end| word.ends_with(end))
}

/// Whether a word denies what is said with it.
pub fn denies(word: &str) -> bool {
    let word = word.to_lowercase();
    is_shortened(&word)
        || ["not", "no", "never", "cannot", "neither", "nor", "without", "nicht", "kein", "keine"].contains(&&*word)
}

/// What a text begins with that is none of some words: one of them denied, or a refusal and nothing else in its line; with how it is written.
pub fn otherwise<'d, 't>(words: &'d [Name], text: &'t str) -> Option<(Meant<'d>, &'t str)> {
    let line = text.split('\n').next()?;
    let known = |said: &str| words.iter().find(|word| is_same_name(word, said));
    let mut all = line.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/' | '\'' | '’'));
    let first = all.next()?;
    let end = |word: &'t str| word.as_ptr().addr() - text.as_ptr().addr() + word.len();
    if denies(first) {
        let mut rest = all.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("yet"));
        if let Some((known, denied)) = rest.next().and_then(|denied| Some((known(denied)?, denied))) {
            return Some((Meant::Denied(known), &text[..end(denied)]));
        }
    }
    let undone = |begin: &&str| first.get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin));
    if let Some(own) = UNDOES.iter().filter(|begin| undone(begin)).find_map(|begin| known(&first[begin.len()..])) {
        return Some((Meant::Denied(own), &text[..end(first)]));
    }
    let said: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .take(4)
        .collect();
    REFUSALS.contains(&said.join(" ").as_str()).then(|| (Meant::Refusal, line.trim_end()))
}

/// Whether a value refuses, in words of any contract: what stands behind its first clause says why, unless it counts nothing (`Failed: 0`).
pub fn refuses(said: &str) -> bool {
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let clause = said.split(['.', ',', ';', ':', '—', '–', '(', '\n']).next().unwrap_or(said);
    let clause = BECAUSE.iter().find_map(|word| clause.split_once(word)).map_or(clause, |(clause, _)| clause);
    let accepts = ["approved", "accepted", "approve", "accept", "pass"].map(Name::from);
    otherwise(&accepts, clause).is_some() && !counts_nothing(said)
}

/// Whether a line has nothing behind its first colon: `Blocked: none`.
fn counts_nothing(said: &str) -> bool {
    let value = said.lines().next().and_then(|line| line.split_once(':')).map(|(_, value)| value.trim());
    value.is_some_and(|value| !value.is_empty() && (value == "0" || lists_nothing(value)))
}
