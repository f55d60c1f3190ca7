//! Words before a path in an item of In Scope: whether they say that it is changed, or only point at it.
//!
//! `Create` before a path says so, and so does a list of paths. ``Create `a` modelled on `b` `` names `b` to be looked at.

use super::described::{Token, clauses, is_all, is_in, is_whole, is_work};
use super::item::is_path;

/// A path in backticks, with the words between it and the one before.
#[derive(Debug)]
pub(super) struct Led {
    pub lead: String,
    pub path: String,
    /// The words say that it is changed.
    pub is_meant: bool,
}

/// Words that point at something where they come first.
pub(super) const POINTS: &[&str] = &[
    "follow",
    "follows",
    "following",
    "copy",
    "mirror",
    "mirrors",
    "reuse",
    "reuses",
    "refer",
    "refers",
    "reference",
    "see",
    "read",
    "compare",
    "as",
    "like",
    "per",
    "same",
    "similar",
    "example",
    "examples",
    "pattern",
    "template",
    "model",
    "related",
    "inspired",
    "inspiration",
    "background",
    "dependency",
    "dependencies",
    "depends",
    "imports",
    "uses",
    "calls",
    "sample",
    "check",
    "verify",
    "compatible",
    "consult",
    "study",
    "look",
    "match",
    "mimic",
    "analogous",
    "based",
];
/// Words that say where work is done.
const PLACES: &[&str] = &["in", "to", "into", "at", "within", "inside", "onto", "under", "on"];
/// Words before `to` and `in` that compare.
const COMPARES: &[&str] =
    &["similar", "according", "analogous", "identical", "equivalent", "compared", "relative", "as", "refer", "defined"];
/// Words that name what something is like or made with, where work is told before.
const BESIDE: &[&str] = &[
    "on",
    "as",
    "like",
    "by",
    "with",
    "against",
    "per",
    "than",
    "for",
    "from",
    "following",
    "using",
    "via",
    "after",
    "see",
    "mirroring",
    "imitating",
    "alongside",
    "beside",
    "calling",
    "call",
    "use",
    "uses",
    "calls",
    "imports",
];
const MANNERS: &[&str] = &["style", "pattern", "manner", "approach", "example", "way", "spirit", "copy", "conventions"];
/// Verbs that change what they take something from, and what they bring it to.
const TAKES: &[&str] = &["remove", "delete", "drop", "move", "extract", "split", "strip", "export"];
const BRINGS: &[&str] =
    &["move", "rename", "extract", "split", "merge", "migrate", "convert", "turn", "relocate", "replace"];
/// Words for one file, before its path.
const FILES: &[&str] = &[
    "file", "files", "page", "pages", "helper", "test", "tests", "the", "a", "an", "new", "existing", "script",
    "class", "type", "handler", "caller", "both", "either",
];

/// The paths in backticks of an item that begins with none.
pub(super) fn led(item: &str) -> Vec<Led> {
    let mut found: Vec<Led> = Vec::new();
    let mut lead = String::new();
    let verb = first_word(item);
    for (at, piece) in item.split('`').enumerate() {
        let span = piece.trim();
        if at % 2 == 0 {
            lead.push_str(piece);
        } else if is_path(span) {
            let lead = std::mem::take(&mut lead);
            let is_meant = match found.last() {
                None => is_meant(&lead),
                Some(before) => is_joined(&lead, before.is_meant, &verb),
            };
            found.push(Led { lead, path: span.to_owned(), is_meant });
        } else if !span.is_empty() {
            lead.push_str(&format!("`{span}`"));
        }
    }
    found
}

fn first_word(text: &str) -> String {
    let first = clauses(text).into_iter().flatten().next();
    first.map(|token| token.word().to_owned()).unwrap_or_default()
}

/// Whether words say that what stands behind them is changed.
fn is_meant(lead: &str) -> bool {
    // A sign that refuses has been seen.
    if !lead.contains(char::is_alphanumeric) {
        return true;
    }
    let tokens: Vec<Token> = clauses(lead).into_iter().flatten().collect();
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return true };
    let before = tokens.len().checked_sub(2).map_or("", |before| tokens[before].word());
    let names_code = tokens.iter().any(|token| matches!(token, Token::Code(_)));
    let (first, last) = (first.word(), last.word());
    if is_in(first, POINTS) || (is_in(first, &["use", "call"]) && !names_code) {
        return false;
    }
    if is_label(lead) || last.is_empty() || is_all(&tokens) {
        return true;
    }
    let compares = is_in(before, COMPARES) || is_in(before, MANNERS);
    let takes = last == "from" && is_in(first, TAKES);
    if is_work(first) {
        return takes || (!is_in(last, BESIDE) && !compares);
    }
    let names = is_in(last, FILES) || is_whole(last.trim_end_matches('s'));
    takes || names || (is_in(last, PLACES) && last != "on" && !compares)
}

fn is_label(lead: &str) -> bool {
    lead.trim_end_matches(|c: char| c.is_whitespace() || c == '*').ends_with([':', '(', '-', '—', '–', '→', '>'])
}

/// Whether a path goes on with a list of paths that are changed.
fn is_joined(lead: &str, is_meant_before: bool, verb: &str) -> bool {
    let bare = without_remarks(lead);
    let (joined, rest) = without_joints(&bare);
    let words: Vec<Token> = clauses(rest).into_iter().flatten().collect();
    let first = words.first().map_or("", Token::word);
    let last = words.last().map_or("", Token::word);
    match words.as_slice() {
        [] => is_meant_before,
        [_] if is_in(verb, BRINGS) && is_in(first, &["to", "into", "as", "in", "with", "by", "->"]) => is_meant_before,
        // ``Create `a`: the total; `b`: the page``
        _ if !joined => {
            let points = |word: &Token| is_in(word.word(), POINTS) || is_in(word.word(), BESIDE);
            is_meant_before && bare.trim_end().ends_with([',', ';']) && !words.iter().any(points)
        }
        // `and in`, `and its test`
        words if words.iter().all(|word| is_in(word.word(), PLACES)) => is_meant_before,
        words if words.len() <= 3 && is_in(first, &["its", "the", "a", "an", "new", "their"]) => {
            is_meant_before && (is_in(last, FILES) || is_whole(last))
        }
        // `and show it in`, `and call it from`
        [_, it, ..] if is_in(it.word(), &["it", "them"]) => {
            let place = is_in(last, PLACES) || (last == "from" && is_in(first, &["call", "use"]));
            is_meant_before && place && !is_in(first, POINTS)
        }
        _ => (is_work(first) || is_label(rest)) && is_meant(rest),
    }
}

/// What stands in brackets that are closed again.
pub(super) fn remarks_in(lead: &str) -> Vec<&str> {
    lead.split('(').skip(1).filter_map(|inside| Some(inside.split_once(')')?.0)).collect()
}

/// Words without those in brackets that are closed again.
pub(super) fn without_remarks(lead: &str) -> String {
    let mut rest = lead.trim_start_matches([')', ']']);
    let mut kept = String::new();
    while let Some((before, (_, behind))) =
        rest.split_once('(').and_then(|(before, inside)| Some((before, inside.split_once(')')?)))
    {
        kept.push_str(before);
        rest = behind;
    }
    kept + rest
}

/// Words without the signs of a list that they begin with, and whether there are any.
fn without_joints(lead: &str) -> (bool, &str) {
    let mut rest = lead.trim_start();
    let whole = rest.len();
    loop {
        let mut next = rest.trim_start_matches([',', ';', '.', '&', '+', '/', ')', ']']).trim_start();
        for word in ["and ", "or ", "plus ", "then ", "also ", "as well as "] {
            next = next.strip_prefix(word).map_or(next, str::trim_start);
        }
        if next.len() == rest.len() {
            return (rest.len() < whole, rest);
        }
        rest = next;
    }
}
