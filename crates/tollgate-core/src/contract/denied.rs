//! Words that deny what a line claims: `DoD-2 was not verified` in a list of verified rows.
//!
//! Evidence is full of negations that are none (`does not crash`, `fails with 401`): a line is denied only where its words
//! begin with a denial of the judging itself, or are nothing but a word for failure.

use super::layout::is_unchecked;

/// Words that may stand before a denial, or between its parts.
const FILLERS: [&str; 35] = [
    "a",
    "able",
    "actually",
    "are",
    "as",
    "be",
    "been",
    "but",
    "can",
    "completely",
    "could",
    "currently",
    "did",
    "do",
    "does",
    "far",
    "fully",
    "had",
    "has",
    "have",
    "i",
    "is",
    "it",
    "now",
    "really",
    "row",
    "so",
    "still",
    "that",
    "the",
    "this",
    "to",
    "was",
    "we",
    "were",
];
const DENIALS: [&str; 12] = [
    "not", "never", "cannot", "can't", "couldn't", "isn't", "wasn't", "hasn't", "haven't", "didn't", "doesn't",
    "aren't",
];
/// What is denied: the judging, or that the row holds.
const JUDGED: [&str; 31] = [
    "check",
    "checked",
    "confirm",
    "confirmed",
    "covered",
    "done",
    "fulfilled",
    "held",
    "hold",
    "holds",
    "implemented",
    "met",
    "observe",
    "observed",
    "pass",
    "passed",
    "passing",
    "prove",
    "proved",
    "proven",
    "satisfied",
    "test",
    "tested",
    "true",
    "verifiable",
    "verified",
    "verify",
    "work",
    "working",
    "works",
    "yet",
];
/// What is denied where nothing follows: `does not exist`, and not `does not exist any more`.
const LAST: [&str; 8] = ["built", "done", "executed", "exist", "exists", "present", "ran", "run"];
/// Words that deny by themselves.
const UNDONE: [&str; 8] =
    ["unchecked", "unconfirmed", "unimplemented", "unmet", "unobserved", "untested", "unverifiable", "unverified"];
/// Words that deny where nothing else is said.
const ALONE: [&str; 18] = [
    "absent",
    "broken",
    "deferred",
    "fail",
    "failed",
    "failing",
    "fails",
    "false",
    "incomplete",
    "missing",
    "na",
    "open",
    "pending",
    "skipped",
    "tba",
    "tbd",
    "todo",
    "unfinished",
];
/// Those of them that deny with a reason behind them too: `FAIL: 3 of 12`, `missing — no test found`. Of others what follows may be evidence.
const WITH_REASON: [&str; 15] = [
    "broken",
    "deferred",
    "fail",
    "failed",
    "failing",
    "fails",
    "incomplete",
    "missing",
    "no",
    "pending",
    "skipped",
    "tba",
    "tbd",
    "todo",
    "unfinished",
];
/// What follows a word for failure where nothing failed: `failed: 0`.
const NOTHING: [&str; 5] = ["0", "none", "nothing", "zero", "nil"];

/// Whether what is said of a row denies it.
pub fn denies(said: &str) -> bool {
    let said = said.to_lowercase().replace('’', "'");
    let bare = said.trim();
    let unsaid = !bare.is_empty() && bare.chars().all(|c| matches!(c, '.' | '…'));
    if unsaid || is_unchecked(bare) || gives_reason(bare) {
        return true;
    }
    let apart = |c: char| !(c.is_alphanumeric() || c == '\'');
    let mut words = said.split(apart).filter(|word| !word.is_empty()).skip_while(|word| FILLERS.contains(word));
    match words.next() {
        None => false,
        Some(word) if UNDONE.contains(&word) => true,
        // `not` alone denies too.
        Some(word) if DENIALS.contains(&word) => {
            let denied = words.find(|word| !FILLERS.contains(word));
            denied.is_none_or(|word| JUDGED.contains(&word) || (LAST.contains(&word) && words.next().is_none()))
        }
        // `n/a` is two words here.
        Some("n") => words.next() == Some("a") && words.next().is_none(),
        Some("needs" | "need") => words.next().is_some_and(|word| matches!(word, "change" | "changes" | "work")),
        Some("no") => words.next().is_none_or(|word| matches!(word, "evidence" | "proof")),
        Some(word) => ALONE.contains(&word) && words.next().is_none(),
    }
}

/// Whether a text begins with a word for failure and a mark behind which stands why.
fn gives_reason(said: &str) -> bool {
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = said.find(|c: char| !c.is_alphanumeric()).unwrap_or(said.len());
    let (word, rest) = said.split_at(end);
    // A sign that makes the word bold or code belongs to it.
    let rest = rest.trim_start_matches(['*', '_', '`']);
    let reason = match rest.strip_prefix([':', ';', '.']) {
        Some(reason) => reason.starts_with([' ', '*', '\n']).then_some(reason),
        None => rest
            .trim_start()
            .strip_prefix(['—', '–', '('])
            .or_else(|| rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(" -- "))),
    };
    let first = |reason: &str| {
        let first = reason.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        first.is_some_and(|first| word == "no" || !NOTHING.contains(&first))
    };
    WITH_REASON.contains(&word) && reason.is_some_and(first)
}

#[cfg(test)]
mod tests {
    use super::denies;

    #[test]
    fn a_denial_is_told_from_evidence_with_a_negation() {
        for denied in [
            "was not verified",
            "not verified",
            "(NOT verified)",
            "not yet verified",
            "not yet",
            "not",
            "could not be verified here",
            "couldn’t be tested",
            "I was not able to verify it",
            "we did not check this",
            "it has not been tested on a terminal",
            "is not fully implemented",
            "does not hold",
            "doesn't work",
            "cannot be observed",
            "unverified",
            "still untested, see below",
            "no evidence found",
            "fails",
            "FAILED.",
            "missing",
            "does not exist",
            "not run",
            "could not be run",
            "broken",
            "incomplete",
            "n/a",
            "TBD",
            "deferred: see #12",
            "...",
            "…",
            "[ ] seen in src/a.rs",
            "FAIL: 3 of 12 tests failed",
            "**FAIL:** no test",
            "FAIL — no test",
            "FAILED. See below.",
            "Failed (two of them)",
            "skipped: no browser here",
            "missing — no test found",
            "missing - no test",
            "TODO: check",
            "No — nothing shows it",
            "needs-changes: rename `x`",
            "Needs changes",
        ] {
            assert!(denies(denied), "{denied}");
        }
        for evidence in [
            "",
            "greet.sh is there",
            "verified in src/a.rs",
            "does not crash on an empty list",
            "is not shown to guests any more",
            "does not exist any more",
            "fails with 401, as it must",
            "no warning is printed",
            "missing names are refused, see tests/names.rs",
            "failed logins are counted",
            "not only verified but tested",
            "the old page is not there any more",
            "seen; the slow path was not tested",
            "open() is called once",
            "cannot be deleted by others: 403",
            "not run by guests: 403",
            "broken links are reported",
            "No failures",
            "no failures: all 12 pass",
            "Nothing missing",
            "failed: 0, passed: 12",
            "missing: none",
            "Skipped: 0 of 12",
            "Failing test added, then mended",
            "fail-safe: the door opens",
            "failed.log is written",
            "needs no change",
            "[x] seen in src/a.rs",
            "a...b is refused",
        ] {
            assert!(!denies(evidence), "{evidence}");
        }
    }
}
