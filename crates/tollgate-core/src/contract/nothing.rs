//! The ways in which a section that lists things says that there is nothing to list.
//!
//! Elsewhere such words may ask for something (`No new files` in a task), and a gap may well begin with `No`: here a sentence says nothing
//! only where all of its words are known.

use crate::contract::text::{says_none, words};

/// What there is none of.
const THINGS: [&str; 14] = [
    "questions",
    "question",
    "findings",
    "finding",
    "issues",
    "issue",
    "gaps",
    "gap",
    "files",
    "requests",
    "problems",
    "blockers",
    "concerns",
    "concern",
];
/// The same under a heading that names what there is none of. In a list of gaps `No errors are reported` may be one.
const NAMED_THINGS: [&str; 11] = [
    "changes",
    "fixes",
    "bugs",
    "defects",
    "errors",
    "failures",
    "regressions",
    "objections",
    "vulnerabilities",
    "risks",
    "conditions",
];
/// What may stand before it.
const BEFORE: [&str; 17] = [
    "blocking",
    "critical",
    "major",
    "minor",
    "or",
    "and",
    "open",
    "new",
    "further",
    "additional",
    "outstanding",
    "remaining",
    "significant",
    "unresolved",
    "known",
    "change",
    "security",
];
/// What may stand behind it, or behind `None`.
const BEHIND: [&str; 24] = [
    "found",
    "identified",
    "remaining",
    "remain",
    "left",
    "open",
    "reported",
    "raised",
    "were",
    "was",
    "created",
    "modified",
    "deleted",
    "changed",
    "at",
    "this",
    "the",
    "time",
    "moment",
    "present",
    "so",
    "far",
    "for",
    "now",
];
/// What may stand beside it under such a heading.
const NAMED_DRESS: [&str; 7] = ["required", "requested", "needed", "necessary", "mandatory", "are", "is"];
/// What nothing does or has to be done to it.
const ASKED: [&str; 9] = ["needs", "to", "fix", "change", "changes", "blocks", "requires", "fixing", "changing"];
/// How a remark begins that says of all why there is nothing, and how it ends.
const ALL: [&str; 3] = ["all", "every", "everything"];
const SETTLED: [&str; 20] = [
    "addressed",
    "resolved",
    "fixed",
    "closed",
    "clear",
    "verified",
    "passed",
    "pass",
    "passes",
    "green",
    "met",
    "answered",
    "covered",
    "done",
    "complete",
    "completed",
    "implemented",
    "satisfied",
    "hold",
    "settled",
];
/// So many words a remark has at most.
const REMARK_MAX: usize = 7;
/// Words with which a remark takes something out of all, or out of nothing.
const EXCEPTIONS: [&str; 14] = [
    "except", "but", "besides", "other", "apart", "however", "not", "yet", "until", "beyond", "be", "if", "when",
    "once",
];

/// Whether an entry says that there is none.
pub fn lists_nothing(text: &str) -> bool {
    says_none(text) || (may_list_nothing(text) && says_nothing(text))
}

/// Whether a section says that there is nothing of what its heading names.
pub fn holds_nothing(body: &str) -> bool {
    let mark = |line: &str| line.trim().trim_start_matches(['-', '*', '+', '_', '>']).trim().to_owned();
    let named = |line: &str| {
        let kept = words(line).filter(|word| !NAMED_DRESS.iter().any(|known| word.eq_ignore_ascii_case(known)));
        let kept = kept.map(|word| match NAMED_THINGS.iter().any(|known| word.eq_ignore_ascii_case(known)) {
            true => THINGS[0],
            false => word,
        });
        may_list_nothing(line)
            && !line.contains(['`', '/', '?', ':', ';', ',', '—', '–'])
            && is_nothing(&kept.collect::<Vec<_>>().join(" "))
    };
    body.lines().map(mark).filter(|line| !line.is_empty()).all(|line| lists_nothing(&line) || named(&line))
}

/// Nearly no entry begins with a letter of the words that say so.
fn may_list_nothing(text: &str) -> bool {
    let first = text.bytes().find(u8::is_ascii_alphanumeric);
    first.is_some_and(|first| b"nNtT".contains(&first)) && text.starts_with(|c: char| c.is_ascii())
}

fn says_nothing(text: &str) -> bool {
    let text = text.trim().trim_matches(['*', '_', '(', ')', '.']);
    let between = [". ", " — ", " – ", " - ", ", ", "; ", ": "];
    let parted = between.iter().filter_map(|sign| text.find(sign).map(|at| (at, at + sign.len()))).min();
    let (said, remark) = parted.map_or((text, ""), |(at, next)| (&text[..at], &text[next..]));
    is_nothing(said) && (remark.is_empty() || settles(remark))
}

/// `There are no open questions`, `None at this time`.
fn is_nothing(said: &str) -> bool {
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut all = words(said).peekable();
    if all.next_if(|first| is(first, &["there"])).is_some()
        && !all.next().is_some_and(|be| is(be, &["are", "is", "were"]))
    {
        return false;
    }
    match all.next() {
        Some(none) if is(none, &["none"]) => {}
        Some(nothing) if is(nothing, &["nothing"]) => while all.next_if(|word| is(word, &ASKED)).is_some() {},
        Some(no) if is(no, &["no"]) => {
            while all.next_if(|word| is(word, &BEFORE)).is_some() {}
            if !all.next().is_some_and(|thing| is(thing, &THINGS)) {
                return false;
            }
        }
        _ => return false,
    }
    !said.contains(['`', '/', '?', '\n']) && all.all(|word| is(word, &BEHIND))
}

/// `all rows verified`, `ready for review`, `no open questions`.
fn settles(remark: &str) -> bool {
    let is = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    let signs = remark.contains([',', ';', ':', '?', '`', '/', '\n', '—', '–']) || remark.contains(". ");
    let own = words(remark);
    if signs || own.clone().nth(REMARK_MAX).is_some() || own.clone().any(|word| is(word, &EXCEPTIONS)) {
        return false;
    }
    let mut own = own.clone();
    match own.next() {
        Some(first) if is(first, &ALL) => own.last().is_some_and(|last| is(last, &SETTLED)),
        Some(first) if is(first, &["ready"]) => own.next().is_none_or(|next| is(next, &["for", "to"])),
        Some(_) => is_nothing(remark),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_in_many_ways() {
        for nothing in [
            "None",
            "None at this time.",
            "None. All requirements were clear.",
            "None — ready for review",
            "None — all rows verified.",
            "None. No open questions.",
            "*None so far.*",
            "There are no open questions.",
            "No blocking findings.",
            "No critical or major findings.",
            "No files were created.",
            "Nothing was modified.",
            "Nothing needs changes",
            "Nothing to fix.",
            "No known gaps — everything is covered.",
        ] {
            assert!(lists_nothing(nothing), "{nothing}");
        }
        for some in [
            "None, except DoD-2",
            "None — only two nits",
            "None. All but one are fixed.",
            "None. All rows are to be verified.",
            "None. All names are wrong.",
            "None. Rename the total.",
            "None. All checks passed. Rename `x`.",
            "None — all rows verified, DoD-2 later",
            "None of the rows hold",
            "Nothing works",
            "Nothing was tested",
            "No tests for the cart",
            "No findings for src/a.rs are fixed",
            "No issues are closed",
            "There is no test",
            "There are no gaps?",
            "No gaps: DoD-3",
            "Total is wrong",
        ] {
            assert!(!lists_nothing(some), "{some}");
        }
    }
}
