//! What stands around a document that is cut out of its text: words that may withdraw it are not understood, and not lost.

use super::decides::Decided;
use crate::contract::markdown::is_fence;
use crate::contract::meant::is_shortened;
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

/// Signs that say nothing around words; any other may deny them.
const SIGNS: &str = ".,:;!'\"`*_-#()|‘’“”—–…•：，。！✅✔☑🎉👍👇⬇📋📄🚀\u{fe0f}";

/// Words of sentences that only lead to a report, or end what was said with it: what is led to, how, what stands between these, and beside them.
const HARMLESS: [&str; 4] = [
    "report verdict result results review output answer response json object format status decision outcome summary assessment document task work change",
    "here here's below following follows attached final updated full whole done finished completed complete reviewed checked verified fine good well ready",
    "a an the this it is are and of for in on as with all my i i've i'm have has been we our your so",
    "ok okay sure course certainly great thanks thank you hello hi bye please find see",
];
/// Pairs of which the first word is harmless before the second alone: a change that is required is none of that.
const PAIRED: [(&str, &str); 2] =
    [("requested required", "report output answer response json object format document"), ("as", "requested required")];
/// How a sentence begins that offers more, and what it may go on with.
const OFFERS: [&str; 9] = [
    "let me know if you",
    "please let me know if you",
    "feel free to ask",
    "please feel free to ask",
    "happy to help",
    "happy to answer",
    "i hope this helps",
    "hope this helps",
    "hope that helps",
];
const OFFERED: &str =
    "need have want would like any anything else more further other questions details information help if you me to";

/// What may take a document back in the text before it and in that behind it: a word that decides otherwise than it does, or one that may withdraw it.
/// Where the document is `well`, also whatever is not known to be harmless: a refusal has too many words to be known by them.
pub fn doubt<'t>(decided: &Decided<'_>, around: [&'t str; 2], well: bool) -> Option<&'t str> {
    let word = around.into_iter().find_map(|text| decided.doubted_by(text).or_else(|| withdrawing(text)));
    let unknown = || around.into_iter().flat_map(sentences).find(|one| !is_harmless(decided, one));
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

/// The sentences of a text, and its lines: one ends with the line unless the next one goes on in the middle of it. Of a code fence, only more words than
/// its language are one.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let (mut from, mut found) = (0, Vec::new());
    for (at, line) in lines(text) {
        let behind = &text[at + line.len()..];
        let goes_on =
            !line.trim().is_empty() && !line.trim_end().ends_with(':') && behind.starts_with(char::is_lowercase);
        if is_fence(line.trim()) {
            found.push(&text[from..at]);
            found.extend(line.trim().split_once(' ').map(|(_, info)| info).filter(|info| info.contains(' ')));
            from = at + line.len();
        } else if !goes_on {
            found.push(&text[from..at + line.len()]);
            from = at + line.len();
        }
    }
    let parts = [". ", "! ", "? "]
        .into_iter()
        .fold(found, |parts: Vec<&str>, end| parts.into_iter().flat_map(|part| part.split_inclusive(end)).collect());
    parts.into_iter().map(str::trim).filter(|one| !one.is_empty())
}

/// Whether a sentence is known to withdraw nothing, by every sign and every word of it: it leads to the report, is a courtesy, or offers more.
fn is_harmless(decided: &Decided<'_>, sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let tag = lower.trim_start_matches("</").trim_start_matches('<');
    if tag.len() < lower.len() && tag.strip_suffix('>').is_some_and(|name| has(HARMLESS[0], name)) {
        return true;
    }
    let signs = |c: char| c.is_alphanumeric() || c.is_whitespace() || SIGNS.contains(c);
    // A sign before a word may deny it, as `!done` does.
    let denies = lower.split('!').skip(1).any(|behind| behind.starts_with(char::is_alphanumeric));
    if !lower.chars().all(signs) || denies {
        return false;
    }
    if let Some(rest) = OFFERS.iter().find_map(|offer| lower.strip_prefix(offer)) {
        return words(rest).all(|word| has(OFFERED, word));
    }
    let all: Vec<&str> = words(&lower).collect();
    let is_paired = |at: usize| {
        let pairs = |before: Option<&&str>, next: Option<&&str>| {
            let pair = |(one, other): &(&str, &str)| {
                before.is_some_and(|before| has(one, before)) && next.is_some_and(|next| has(other, next))
            };
            PAIRED.iter().any(pair)
        };
        pairs(all.get(at), all.get(at + 1)) || pairs(at.checked_sub(1).and_then(|before| all.get(before)), all.get(at))
    };
    let is_known = |word: &str| HARMLESS.iter().any(|list| has(list, word)) || decided.is_own(word);
    all.iter().enumerate().all(|(at, word)| is_known(word) || is_paired(at))
}
