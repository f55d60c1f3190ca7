//! Words that deny what a line claims: `DoD-2 was not verified` in a list of verified rows.
//!
//! Evidence is full of negations that are none (`does not crash`, `fails with 401`): a line is denied only where its words
//! begin with a denial of the judging itself, or are nothing but a word for failure, perhaps with a sign and a reason behind it.

use super::layout::is_unchecked;
use super::text::words;

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
const DENIALS: [&str; 13] = [
    "not", "never", "cannot", "unable", "can't", "couldn't", "isn't", "wasn't", "hasn't", "haven't", "didn't",
    "doesn't", "aren't",
];
/// What is denied: the judging, or that the row holds.
const JUDGED: [&str; 32] = [
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
    "ok",
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
const LAST: [&str; 9] = ["applicable", "built", "done", "executed", "exist", "exists", "present", "ran", "run"];
/// Words that deny by themselves.
const UNDONE: [&str; 8] =
    ["unchecked", "unconfirmed", "unimplemented", "unmet", "unobserved", "untested", "unverifiable", "unverified"];
/// Words that deny where nothing else is said, also those of a form where nothing was chosen.
const ALONE: [&str; 31] = [
    "absent",
    "blocked",
    "broken",
    "changes requested",
    "deferred",
    "error",
    "fail",
    "fail pass",
    "failed",
    "failing",
    "fails",
    "false",
    "in progress",
    "incomplete",
    "missing",
    "n a",
    "na",
    "open",
    "pass fail",
    "pending",
    "rejected",
    "request changes",
    "skipped",
    "tba",
    "tbd",
    "to be determined",
    "to do",
    "todo",
    "unfinished",
    "wip",
    "yes no",
];
/// Those of them that deny with a reason behind them too: `FAIL: 3 of 12`, `missing — no test found`. Of others what follows may be evidence.
const WITH_REASON: [&str; 18] = [
    "blocked",
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
    "rejected",
    "skipped",
    "tba",
    "tbd",
    "todo",
    "unfinished",
    "wip",
];
/// Those of them that do so behind a comma: others may begin a list, `missing, empty and wrong names`.
const WITH_COMMA: [&str; 8] = ["deferred", "fail", "no", "skipped", "tba", "tbd", "todo", "wip"];
/// What follows a word for failure where nothing failed: `failed: 0`.
const NOTHING: [&str; 5] = ["0", "none", "nothing", "zero", "nil"];
/// Labels behind which a row is judged, perhaps with a number: `Status: FAIL`.
const LABELS: [&str; 5] = ["criterion", "outcome", "result", "status", "verdict"];

/// Whether what is said of a row denies it.
pub fn denies(said: &str) -> bool {
    let said = said.replace('’', "'");
    let lower = said.to_lowercase();
    let bare = lower.trim();
    let unsaid = !bare.is_empty() && bare.chars().all(|c| matches!(c, '.' | '…' | '?'));
    if unsaid || is_unchecked(bare) || gives_reason(bare) || begins_in_capitals(&said) || is_labelled(&said) {
        return true;
    }
    let all: Vec<&str> = words(bare).collect();
    let own = &all[all.iter().take_while(|word| FILLERS.contains(word)).count()..];
    if [&all[..], own].iter().any(|some| some.len() <= 3 && ALONE.contains(&&*some.join(" "))) {
        return true;
    }
    let mut words = own.iter().copied();
    match words.next() {
        None => false,
        Some(word) if UNDONE.contains(&word) => true,
        Some(word) if all.starts_with(&["to", "be"]) => JUDGED.contains(&word),
        // `not` alone denies too.
        Some(word) if DENIALS.contains(&word) => {
            let denied = words.find(|word| !FILLERS.contains(word));
            denied.is_none_or(|word| JUDGED.contains(&word) || (LAST.contains(&word) && words.next().is_none()))
        }
        Some("needs" | "need") => words.next().is_some_and(|word| matches!(word, "change" | "changes" | "work")),
        Some("no") => words.next().is_none_or(|word| matches!(word, "evidence" | "proof")),
        Some(_) => false,
    }
}

/// Whether a text begins with the word of a test that failed, as tools print it, and not with what became of it (`FAIL before, PASS now`); as code it is
/// what somebody speaks of.
fn begins_in_capitals(said: &str) -> bool {
    let mut tokens = said.split_whitespace().map(|token| token.trim_matches(|c: char| !c.is_alphanumeric()));
    let fails = matches!(tokens.next(), Some("FAIL" | "FAILED"));
    fails
        && !said.trim_start().starts_with('`')
        && tokens.next().is_none_or(|next| !NOTHING.contains(&next))
        && !said.to_lowercase().contains("pass")
}

/// Whether a label of those that judge stands before words that deny.
fn is_labelled(said: &str) -> bool {
    let Some((label, value)) = said.split_once(':') else { return false };
    let label = label.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let name = label.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
    LABELS.contains(&name) && denies(value.trim_start_matches(['*', '_', ' ']))
}

/// Whether a text begins with a word for failure and a mark behind which stands why.
fn gives_reason(said: &str) -> bool {
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = said.find(|c: char| !c.is_alphanumeric()).unwrap_or(said.len());
    let (word, rest) = said.split_at(end);
    // A sign that makes the word bold or code belongs to it.
    let rest = rest.trim_start_matches(['*', '_', '`']);
    let comma = || rest.strip_prefix(',').filter(|why| WITH_COMMA.contains(&word) && !why.contains(" and "));
    let reason = match rest.strip_prefix([':', ';', '.']) {
        Some(reason) => reason.starts_with([' ', '*', '\n']).then_some(reason),
        None => rest
            .trim_start()
            .strip_prefix(['—', '–', '(', ']'])
            .or_else(|| rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(" -- ")))
            .or_else(comma),
    };
    // `rejected (403)` is what was seen.
    let seen = |first: &str| first.starts_with(|c: char| c.is_ascii_digit()) && matches!(word, "blocked" | "rejected");
    let first = |first: &str| word == "no" || !(NOTHING.contains(&first) || seen(first));
    WITH_REASON.contains(&word) && reason.and_then(|reason| words(reason).next()).is_some_and(first)
}

#[cfg(test)]
mod tests {
    use super::denies;

    #[test]
    fn a_denial_is_seen() {
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
            "FAIL criterion 3",
            "FAIL, criterion 3",
            "[FAIL] criterion 3",
            "[failed] criterion 3",
            "Status: FAIL",
            "**Result:** fail",
            "Criterion 3: FAIL",
            "Verdict: needs-changes",
            "Skipped, no time",
            "no, see #12",
            "rejected",
            "blocked",
            "BLOCKED: waits for #3",
            "changes requested",
            "error",
            "WIP",
            "To do",
            "to be determined",
            "to be verified",
            "not ok",
            "not applicable",
            "unable to verify",
            "pass | fail",
            "PASS/FAIL",
            "<pass/fail>",
            "?",
        ] {
            assert!(denies(denied), "{denied}");
        }
    }

    #[test]
    fn evidence_may_have_a_negation() {
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
            "FAIL before, PASS now",
            "FAILED 0 of 12",
            "FAIL_FAST is honoured",
            "`FAIL` is printed for a bad file",
            "Failing test added and passes",
            "Blocked users are handled",
            "Rejected promises are caught",
            "rejected (403), see tests/auth.rs",
            "Skipped tests re-enabled",
            "Skipped, failed and passed tests are counted",
            "Missing, empty and wrong names are refused",
            "Error: `no name` is printed",
            "Status: failed is shown",
            "Result: 404",
            "to be seen in src/a.rs",
            "in progress is shown",
            "unable to log in twice",
            "not applicable rows are hidden",
            "[x] seen in src/a.rs",
            "a...b is refused",
        ] {
            assert!(!denies(evidence), "{evidence}");
        }
    }
}
