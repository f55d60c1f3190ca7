//! Lines that take back what they claim, and lines that only have words of it.

use super::words::{WORDS, may};
use super::{Line, takes_back};

#[test]
fn a_word_is_found_by_its_place() {
    assert!(WORDS.is_sorted_by(|(one, _), (next, _)| one < next));
    assert!(WORDS.iter().all(|(word, known)| may(word) == *known));
}

#[test]
fn a_line_that_takes_itself_back_is_seen() {
    let lines = [
        (Line::Other, "Not all criteria verified"),
        (Line::Other, "not every criterion is met"),
        (Line::Other, "Criterion 2 is not met"),
        (Line::Other, "AC-2 isn't fully satisfied"),
        (Line::Other, "None of the criteria are met"),
        (Line::Other, "No criteria verified"),
        (Line::Other, "Criterion 1 passes and criterion 3 does not pass"),
        (Line::Other, "Not all tests pass"),
        (Line::Other, "All 4 criteria verified\n- Criterion 3 is NOT met"),
        (Line::Other, "Consistent. However, criterion 3 is not met and must be fixed before merge."),
        (Line::Other, "Implementation does not match spec"),
        (Line::Other, "The total doesn’t match the spec"),
        (Line::Other, "**Does not conform** to section 3"),
        (Line::Other, "Implementation deviates from the spec"),
        (Line::Other, "Not consistent with project standards"),
        (Line::Other, "Names are not consistent"),
        (Line::Other, "Inconsistent with project standards"),
        (Line::Other, "Does not follow the conventions"),
        (Line::Other, "2 criteria fail"),
        (Line::Other, "Criterion 2 fails"),
        (Line::Other, "the ` sign: 2 criteria fail"),
        (Line::Other, "3 criteria pass, 1 fails"),
        (Line::Other, "2 of 4 criteria failed"),
        (Line::Other, "1 failed, 3 passed"),
        (Line::Other, "3 verified, one is still open"),
        (Line::Other, "1 criterion fails, all others pass"),
        (Line::Other, "failed: 2, passed: 10"),
        (Line::Other, "One constraint is violated"),
        (Line::Other, "Constraints violated"),
        (Line::Other, "Some constraints are violated"),
        (Line::Other, "Two violations"),
        (Line::Other, "Tests fail"),
        (Line::Other, "All criteria verified except criterion 2"),
        (Line::Other, "All criteria verified, except criterion 2"),
        (Line::Other, "All 4 criteria apart from the last are verified"),
        (Line::Other, "Everything verified but not on Windows"),
        (Line::Other, "Every constraint satisfied with the exception of the second"),
        (Line::Comments, "2 unresolved comments"),
        (Line::Comments, "There are still two open threads"),
        (Line::Comments, "2"),
        (Line::Comments, "Two comments remain"),
        (Line::Comments, "2 unresolved, 3 resolved"),
        (Line::Comments, "unresolved: 2"),
        (Line::Comments, "Not all comments are resolved"),
        (Line::Comments, "comments are not yet addressed"),
        (Line::Comments, "Comments are still open"),
        (Line::Comments, "No unresolved comments except one"),
        (Line::Scope, "README.md is not within scope"),
        (Line::Scope, "2 files are out of scope"),
        (Line::Scope, "All modified files within scope except src/auth.js"),
    ];
    let unseen: Vec<_> = lines.iter().filter(|(line, said)| !takes_back(said, *line)).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

#[test]
fn a_line_that_holds_may_have_such_words() {
    let lines = [
        (Line::Other, "All 4 criteria verified"),
        (Line::Other, "All 4 of 4 criteria"),
        (Line::Other, "All 0 failures are gone"),
        (Line::Other, "none violated"),
        (Line::Other, "None of the 4 constraints is violated"),
        (Line::Other, "0 of 4 criteria failed"),
        (Line::Other, "No constraints given"),
        (Line::Other, "No constraint applies, so there is nothing to satisfy"),
        (Line::Other, "does not leak"),
        (Line::Other, "no longer fails"),
        (Line::Other, "Criterion 2 no longer fails"),
        (Line::Other, "Tests pass, including the one that failed before"),
        (Line::Other, "The cart does not crash when it is empty"),
        (Line::Other, "A name that does not match is refused, as section 3 says"),
        (Line::Other, "Wrong passwords do not match"),
        (Line::Other, "If a token is not verified, 401 is returned"),
        (Line::Other, "Criterion 2 was not met before the fix"),
        (Line::Other, "2 criteria fail without the change"),
        (Line::Other, "not only verified but tested"),
        (Line::Other, "No criterion is unmet"),
        (Line::Other, "No criterion that is not met"),
        (Line::Other, "12 passed, 0 failed"),
        (Line::Other, "12 passed; failed: 0"),
        (Line::Other, "2 failing tests now pass"),
        (Line::Other, "Two failing tests were added first"),
        (Line::Other, "after 3 failed logins the account is locked"),
        (Line::Other, "3 failed logins are counted"),
        (Line::Other, "Line 3 fails over to the second server"),
        (Line::Other, "One test was missing, it was added"),
        (Line::Other, "No file is checked twice"),
        (Line::Other, "Invalid tokens do not pass"),
        (Line::Other, "Implementation violates no constraint"),
        (Line::Other, "Inconsistent names were renamed"),
        (Line::Other, "Unmet: none"),
        (Line::Other, "All names except the reserved ones are accepted"),
        (Line::Other, "All criteria verified without exception"),
        (Line::Other, "`2 criteria fail` is printed for a bad file"),
        (Line::Other, "Implementation matches spec"),
        (Line::Other, "criterion 1: PASS\n- criterion 2: fails with 401, as it must"),
        (Line::Comments, "No unresolved comments"),
        (Line::Comments, "0 unresolved comments"),
        (Line::Comments, "None are unresolved"),
        (Line::Comments, "No comments left to be resolved"),
        (Line::Comments, "All 3 comments resolved"),
        (Line::Comments, "All 3 unresolved comments were addressed"),
        (Line::Comments, "2 open comments, both resolved"),
        (Line::Comments, "3 comments; all are resolved"),
        (Line::Comments, "2 of 2 resolved"),
        (Line::Comments, "Unresolved: none"),
        (Line::Comments, "Open: 0"),
        (Line::Comments, "No outstanding items"),
        (Line::Comments, "No — all are settled"),
        (Line::Scope, "All modified files within scope: src/cart.js and its test"),
        (Line::Scope, "No file out of scope"),
        (Line::Scope, "Nothing outside of scope was modified"),
        (Line::Scope, "2 files, both within scope"),
        (Line::Scope, "Files not in scope are untouched"),
        (Line::Scope, "All files within scope except Cargo.lock (incidental)"),
    ];
    let wrong: Vec<_> = lines.iter().filter(|(line, said)| takes_back(said, *line)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_long_line_costs_no_more() {
    let long = "2 criteria not open, ".repeat(100_000);
    assert!(takes_back(&format!("2 criteria fail. {long}"), Line::Other));
    assert!(!takes_back(&"2 ".repeat(1_000_000), Line::Other));
}
