//! What stands around a document that is cut out of its text: words that may withdraw it are not understood, and not lost.

use super::decides::{Decided, is_shortened};
use crate::contract::markdown::is_fence;
use crate::contract::text::lines;

/// Words around a document that may withdraw it, or say that it was not meant: what they are about is not understood, and they are not lost.
const WITHDRAWS: [&str; 72] = [
    "not",
    "cannot",
    "never",
    "unless",
    "draft",
    "drafted",
    "withdraw",
    "withdrawn",
    "disregard",
    "ignore",
    "superseded",
    "supersede",
    "supersedes",
    "obsolete",
    "outdated",
    "stale",
    "retract",
    "retracted",
    "revoke",
    "revoked",
    "void",
    "invalid",
    "wrong",
    "incorrect",
    "mistake",
    "mistaken",
    "fail",
    "fails",
    "failed",
    "failing",
    "failure",
    "failures",
    "broken",
    "breaks",
    "blocked",
    "pending",
    "unfinished",
    "incomplete",
    "wip",
    "todo",
    "tbd",
    "instead",
    "previous",
    "prior",
    "earlier",
    "former",
    "old",
    "original",
    "sample",
    "template",
    "placeholder",
    "hypothetical",
    "however",
    "except",
    "nicht",
    "entwurf",
    "ungültig",
    "zurückgezogen",
    "fehlgeschlagen",
    "brouillon",
    "borrador",
    "bozza",
    "hold",
    "tentative",
    "provisional",
    "conditional",
    "assuming",
    "supposing",
    "opposite",
    "scrap",
    "nope",
    "voided",
];
/// Signs that do.
const CROSSES: [char; 8] = ['❌', '✗', '✘', '❎', '🚫', '👎', '⛔', '🔴'];

/// Words of sentences that only lead to a report, or end what was said with it: what is led to, how, what stands between these, and beside them.
const HARMLESS: [&str; 4] = [
    "report verdict result results review output answer response json object format status decision outcome summary assessment document task work change tests criteria",
    "here here's below following follows attached final updated full whole requested required done finished completed complete reviewed checked verified ran pass passed fine good well ready",
    "a an the this it is are and of for in on to as at by with all my i i've i'm have has been we our your so",
    "ok okay sure of course certainly great thanks thank you hello hi bye please find see",
];
/// Words by which a sentence speaks of the report, and not of the work alone.
const OF_REPORT: &str = "report verdict result review output answer response json decision outcome this that below following approval approve merge merging";
/// How a sentence begins that offers more.
const OFFERS: [&str; 4] = ["let me know", "please let me know", "feel free", "happy to"];

/// What may take a document back in the text before it and in that behind it: a word that decides otherwise than it does, or one that may withdraw it.
/// Where the document is `well`, also a sentence that is not known to be harmless; of the work alone may be spoken before it.
pub fn doubt<'t>(decided: &Decided<'_>, [before, behind]: [&'t str; 2], well: bool) -> Option<&'t str> {
    let word = [before, behind].into_iter().find_map(|text| decided.doubted_by(text).or_else(|| withdrawing(text)));
    let stated = |one: &&str| is_harmless(decided, one) || is_statement(one);
    let unknown = || {
        sentences(before).find(|one| !stated(one)).or_else(|| sentences(behind).find(|one| !is_harmless(decided, one)))
    };
    word.or_else(|| if well { unknown() } else { None })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’')).filter(|word| !word.is_empty())
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}

fn withdrawing(text: &str) -> Option<&str> {
    let is = |word: &&str| {
        let word = word.to_lowercase();
        is_shortened(&word) || WITHDRAWS.contains(&&*word)
    };
    let cross = || text.find(CROSSES).map(|at| &text[at..text.ceil_char_boundary(at + 1)]);
    words(text).find(is).or_else(cross)
}

/// The sentences of a text, and its lines: one ends with the line unless the next one goes on in the middle of it. Lines of code fences are none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let (mut from, mut found) = (0, Vec::new());
    for (at, line) in lines(text) {
        let behind = &text[at + line.len()..];
        let goes_on =
            !line.trim().is_empty() && !line.trim_end().ends_with(':') && behind.starts_with(char::is_lowercase);
        if is_fence(line.trim()) {
            from = at + line.len();
        } else if !goes_on {
            found.push(&text[from..at + line.len()]);
            from = at + line.len();
        }
    }
    let parts = [". ", "! ", "? "]
        .into_iter()
        .fold(found, |parts: Vec<&str>, end| parts.into_iter().flat_map(|part| part.split_inclusive(end)).collect());
    parts.into_iter().map(str::trim).filter(|one| words(one).next().is_some())
}

/// Whether every word of a sentence is known to withdraw nothing, or the sentence offers more.
fn is_harmless(decided: &Decided<'_>, sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let is_known = |word: &str| {
        HARMLESS.iter().any(|list| has(list, word))
            || word.bytes().all(|byte| byte.is_ascii_digit())
            || decided.is_own(word)
    };
    OFFERS.iter().any(|offer| lower.starts_with(offer)) || words(&lower).all(is_known)
}

/// Whether a sentence states something of the work alone: it is one, or an item of a list, and speaks of no report.
fn is_statement(sentence: &str) -> bool {
    let ends = sentence.ends_with(['.', '!', '。']) || ["- ", "* ", "+ "].iter().any(|mark| sentence.starts_with(mark));
    ends && !words(&sentence.to_lowercase()).any(|word| has(OF_REPORT, word))
}
