//! What a person sees in a report is in what was read of it, or the report is refused: nothing vanishes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::report::{CriterionRow, Health, Judgement};

const ROWS: [(&str, &str); 3] = [("dod", "it adds"), ("dod", "it subtracts"), ("tester", "tests pass")];
const NO_FILES: &str = "0 created, 0 modified, 0 deleted";

/// Checks that each report is malformed, with these diagnostics.
#[track_caller]
fn refused(verdict: &str, context: &Context, cases: &[(&str, &str)]) {
    for (rest, expected) in cases {
        check(&complete(verdict, rest), context, &format!("malformed none\n{expected}"));
    }
}

#[test]
fn nothing_and_something_contradict_each_other() {
    let checker = with_rows("dod-checker", &ROWS);
    let head = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2, DoD-3\n## Gaps\n";
    for gaps in ["- None\n- DoD-2: there is no such file\n", "- n/a\n- DoD-2\n", "- DoD-2\n- None\n"] {
        let reading = read(&complete("APPROVED", &format!("{head}{gaps}")), &checker);
        let found = reading.diagnostics.iter().find(|one| one.code.as_str() == "TG0224").expect("a stray entry");
        assert!(found.other.is_some() && reading.report.health == Health::Malformed, "{gaps}");
    }
    let ask = |questions: &str, count: &str| report("complete", "", "n/a", NO_FILES, count, questions);
    for count in ["0", "1", "2"] {
        for questions in [
            "## Open Questions\n- None\n- May I delete production?\n",
            "## Open Questions\nNone\n\nMay I delete production?\n",
            "## Open Questions: none\n- May I delete production?\n",
            "## Open Questions\nMay I delete production?\n\n- Which port?\n",
            "## Open Questions\n- Which port?\n\nMay I delete production?\n",
            "## Open Questions\n- Which port?\n\n<div>May I delete production?</div>\n",
            "## Open Questions\n- Which port?\n\n<!-- x --> May I delete production?\n",
            "## Open Questions\n- Which port?\n```\nMay I delete production?\n```\n",
            "## Open Questions (1)\n- May I delete production?\n",
            "## **Open Questions**\n- May I delete production?\n",
            "## Open questions for you\n- May I delete production?\n",
            "## Key Decisions\n### Open Questions\n- May I delete production?\n",
            "## Key Decisions\nOpen Questions\n--------------\n- May I delete production?\n",
            "## Key Decisions\n<h2>Open Questions</h2>\n\n- May I delete production?\n",
            "## Key Decisions\n<!-- not closed\n\n## Open Questions\n- May I delete production?\n",
        ] {
            let reading = read(&ask(questions, count), &role("developer"));
            assert_eq!(reading.report.health, Health::Malformed, "{count} {questions}");
        }
    }
    check(&ask("## Open Questions\n- Which port?\n  - 5432\n\n  or 1?\n", "1"), &role("developer"), "ok none");
    check(&ask("## Open Questions\n- None\n", "0"), &role("developer"), "ok none");
}

#[test]
fn a_heading_of_another_level_hides_no_section() {
    let checker = with_rows("dod-checker", &ROWS);
    let head = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1\n- DoD-2\n";
    for gaps in [
        "### Gaps\n- DoD-3\n",
        "**Gaps**\n- DoD-3\n",
        "\n**Gaps:**\n- DoD-3\n",
        "# Gaps\n- DoD-3\n",
        "\nGaps\n----\n- DoD-3\n",
        "<h2>Gaps</h2>\n\n- DoD-3\n",
        "- **Gaps**\n  - DoD-3\n",
        "Gaps: DoD-3\n",
        "### Not verified\n- DoD-3\n",
        "### Tester scope, not verified\n- DoD-3\n",
    ] {
        for context in [&checker, &role("dod-checker")] {
            let reading = read(&complete("APPROVED", &format!("{head}{gaps}")), context);
            assert_eq!(reading.report.health, Health::Malformed, "{gaps}");
        }
    }
    refused("APPROVED", &checker, &[(&format!("{head}### Gaps\n- DoD-3\n"), "E 17:1 TG0225")]);
    let sorted = format!("{head}### Tester scope\n- DoD-3\n");
    check(&complete("APPROVED", &sorted), &checker, "ok accept");
    let free = "## Key Decisions\n### Why\n**Gaps** are fine here\n```\n## Gaps\n```\n";
    check(&complete("n/a", free), &role("developer"), "ok none");
}

#[test]
fn a_section_that_routes_is_not_lost_under_other_words() {
    let said = |heading: &str, body: &str| complete("APPROVED", &format!("## {heading}\n{body}"));
    for (heading, meant) in [
        ("Questions", "Open Questions"),
        ("Unanswered questions for you (2)", "Open Questions"),
        ("Remaining gaps", "Gaps"),
        ("Gap list", "Gaps"),
        ("Rows not verified", "Gaps"),
        ("Required changes", "Change requests"),
        ("Changes requested", "Change requests"),
        ("List of findings", "Findings"),
        ("Problems found", "Findings"),
    ] {
        let reading = check(&said(heading, "- it breaks\n"), &role("reviewer"), "malformed none\nE 12:1 TG0225");
        assert!(
            reading.diagnostics[0].hint.as_deref().unwrap_or_default().contains(&format!("## {meant}")),
            "{heading}"
        );
        check(&said(heading, "- None\n"), &role("reviewer"), "ok accept\nW 12:1 TG0206");
    }
    check(&said("Questions", "Which port?\n"), &role("reviewer"), "malformed none\nE 12:1 TG0225");
    for note in ["Changes", "Findings of last time", "Questions answered", "Rows", "Design questions", "Rows verified"]
    {
        let text = complete("n/a", &format!("## {note}\n- it works\n"));
        check(&text, &role("developer"), "ok none\nW 12:1 TG0206");
    }
}

/// In a section that the report has, too.
#[test]
fn words_of_an_approval_ask_for_no_change() {
    for heading in ["Key Decisions", "For the Next Agent"] {
        let with = |words: &str| complete("APPROVED", &format!("## {heading}\nFine.\n\n{words}"));
        for asks in ["### Required changes\n- the NaN\n", "**Must fix:** the NaN\n"] {
            let reading = read(&with(asks), &role("reviewer"));
            assert_eq!(reading.report.health, Health::Malformed, "{heading} {asks}");
        }
        check(&with("**Must fix:** None\n"), &role("reviewer"), "ok accept");
    }
    let developer = complete("n/a", "## For the Next Agent\n**Must fix:** the NaN\n");
    check(&developer, &role("developer"), "ok none");
}

/// Beside an approval only those sections are notes that are known to ask for nothing.
#[test]
fn an_approval_has_no_section_that_may_ask_for_a_change() {
    let said = |verdict: &str, heading: &str, body: &str| complete(verdict, &format!("## {heading}\n{body}"));
    for heading in [
        "Critical Findings",
        "Critical issues",
        "Must fix",
        "Needs fixing",
        "Blockers",
        "Blocking",
        "Security issues",
        "Bugs",
        "To fix",
        "Required fixes",
        "Rejected",
        "Critical",
        "Major",
        "Review comments",
        "Concerns",
        "Failures",
        "Changes",
        "Findings of last time",
        "Design questions",
    ] {
        check(&said("APPROVED", heading, "- it breaks\n"), &role("reviewer"), "malformed none\nE 12:1 TG0206");
        check(&said("APPROVED", heading, "it breaks\n"), &role("reviewer"), "malformed none\nE 12:1 TG0206");
        check(&said("APPROVED", heading, "None\n"), &role("reviewer"), "ok accept\nW 12:1 TG0206");
        check(&said("n/a", heading, "it breaks\n"), &role("developer"), "ok none\nW 12:1 TG0206");
    }
    for heading in ["Notes", "What was reviewed", "Tests", "Next steps", "Questions answered", "Rows verified"] {
        check(&said("APPROVED", heading, "- it works\n"), &role("reviewer"), "ok accept\nW 12:1 TG0206");
    }
    let inside = said("APPROVED", "Notes", "All is well.\n\n### Must fix\n- the NaN\n");
    check(&inside, &role("reviewer"), "malformed none\nE 12:1 TG0206");
}

#[test]
fn rows_beside_or_inside_others_are_not_lost() {
    let tester = with_rows("tester", &ROWS);
    refused(
        "n/a",
        &tester,
        &[
            ("## DoD coverage\n✗ DoD-3 does not pass\n\n- ✓ DoD-3\n", "E 13:1/15:3 TG0224"),
            ("## DoD coverage\n- ✓ DoD-3\n\n✗ DoD-3 does not pass\n", "E 15:1/13:3 TG0224"),
            ("## DoD coverage\n- ✓ DoD-3\n  - ✗ DoD-3 broken\n", "E 13:3 TG0220\nE 13:3 TG0224"),
            ("## DoD coverage\n- ✓ DoD-3\n✗ broken\n", "E 13:3 TG0220"),
            ("## DoD coverage\n- ✓ DoD-3\n  - ✓ DoD-1\n", "E 13:3 TG0224"),
        ],
    );
    let checker = with_rows("dod-checker", &ROWS);
    let all = "## Verified rows\n- DoD-1, DoD-2, DoD-3\n";
    let head = format!("## Verdict\nAPPROVED\n{all}");
    refused(
        "APPROVED",
        &checker,
        &[
            (&format!("{head}## DoD coverage\n- ✗ DoD-2\n"), "E 17:3/15:3 TG0220"),
            ("## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-3\n- ✗ DoD-2\n", "E 16:3 TG0220"),
            ("## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-3\n- DoD-2 ❌ broken\n", "E 16:3 TG0220"),
            (
                "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2 was not tested\n- DoD-3\n",
                "W 14:1 TG0221\nW 14:1 TG0221\nE 15:3 TG0219",
            ),
        ],
    );
    let gaps = "## Verdict\nBLOCKED\n## Verified rows\n- DoD-3\n## Gaps\n- DoD-1, DoD-2: both missing\n";
    let reading = check(&complete("BLOCKED", gaps), &checker, "ok reject");
    let failed: Vec<_> = reading.report.criteria.iter().filter(|row| row.result == Judgement::Fail).collect();
    assert_eq!(
        failed.iter().map(|row| (&*row.id, row.evidence.as_str())).collect::<Vec<_>>(),
        [("DoD-1", "both missing"), ("DoD-2", "both missing")]
    );
    assert_eq!(reading.report.findings.len(), 2);
}

#[test]
fn a_judgement_in_the_wrong_place_is_not_lost() {
    let beside = "## DoD coverage\n- ✗ DoD-2\n";
    let checker = with_rows("dod-checker", &ROWS);
    let blocked = format!("{beside}## Verdict\nBLOCKED\n## Verified rows\n- DoD-3\n## Gaps\n- DoD-1\n");
    refused("BLOCKED", &checker, &[(&blocked, "E 13:3/15:1 TG0213\nW 16:1 TG0221")]);
    refused("APPROVED", &with_rows("reviewer", &ROWS), &[(beside, "E 13:3/7:1 TG0213")]);
    let gap = "## Gaps\n- DoD-1: missing\n";
    refused("n/a", &with_rows("developer", &ROWS), &[(gap, "E 13:3 TG0214")]);
    refused("n/a", &Context::default(), &[(gap, "E 13:3 TG0214")]);
    refused("n/a", &with_rows("tester", &ROWS), &[(&format!("## DoD coverage\n- ✓ DoD-3\n{gap}"), "E 15:3 TG0214")]);
    let found = "## Findings\n- [major] a.rs:1 — it leaks\n";
    refused("REQUEST_CHANGES", &with_rows("reviewer", &ROWS), &[(&format!("{found}{gap}"), "E 15:3 TG0214")]);
    refused("APPROVED", &role("reviewer"), &[(found, "E 7:1/13:3 TG0213")]);
    let tested = format!("## DoD coverage\n- ✓ DoD-3\n{found}");
    refused("n/a", &with_rows("tester", &ROWS), &[(&tested, "E 7:1/15:3 TG0213")]);
    check(&complete("n/a", found), &role("developer"), "ok none\nW 13:3/7:1 TG0223");
    let sorted = "## Findings\n### Critical\nNone\n\n### Major issues (1)\n- a.rs:1 — it leaks\n### Minor\n- None\n";
    let reading = check(&complete("REQUEST_CHANGES", sorted), &role("reviewer"), "ok reject");
    assert_eq!(reading.report.findings.len(), 1);
    refused(
        "REQUEST_CHANGES",
        &role("reviewer"),
        &[
            ("## Findings\nNone\n### Minor\n- a.rs:1 — it leaks\n", "E 13:1/15:3 TG0224"),
            ("## Findings\n### Minor\n- None\n- a.rs:1 — it leaks\n", "E 15:3/14:3 TG0224"),
            ("## Findings\n- [minor] a.rs:1 — typo\n### [major] b.rs:1 — it leaks\n", "E 14:1 TG0224"),
        ],
    );
    let nested = "## Findings\n- [minor] a.rs:1 — typo\n  - [critical] b.rs:2 — it leaks\n";
    refused("REQUEST_CHANGES", &role("reviewer"), &[(nested, "E 13:3 TG0224")]);
}

#[test]
fn who_names_the_row_of_another_is_told_whose_it_is() {
    let row = |id: &str, group: &str, unit: Option<&str>| CriterionRow {
        id: id.into(),
        text: format!("text of {id}"),
        group: Some(group.into()),
        unit: unit.map(Into::into),
        ..CriterionRow::default()
    };
    let context = Context {
        criteria: Some(vec![row("DoD-1", "dod", Some("backend"))]),
        others: vec![row("DoD-2", "tester", None), row("DoD-3", "dod", Some("frontend"))],
        ..role("dod-checker")
    };
    let rest = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1\n- DoD-2: y\n- DoD-3\n- DoD-4\n";
    let reading = read(&complete("APPROVED", rest), &context);
    let told: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`DoD-2: y` is a row of the tester's scope, not one of yours",
            "`DoD-3` is a row of `frontend`, not one of yours",
            "`DoD-4` is no row of the Definition of Done",
        ]
    );
}

/// One line of a section, with a word of its own that must not vanish.
fn line(at: usize, content: usize, wrap: usize) -> (String, Option<String>) {
    let word = format!("word{at}x");
    let said = match content {
        0 => word.clone(),
        1 => format!("DoD-1: {word}"),
        2 => format!("DoD-2, DoD-3: {word}"),
        3 => format!("✓ DoD-3 {word}"),
        4 => format!("✗ DoD-3: {word}"),
        5 => format!("⚠️ DoD-3 — {word}"),
        6 => format!("[major] a.rs:1 — {word}"),
        7 => format!("fnd_3 and fnd_4: {word}"),
        _ => return ("- None\n".to_owned(), None),
    };
    let text = match wrap {
        0..=3 => format!("- {said}\n"),
        4 => format!("{said}\n"),
        5 => format!("\n{said}\n\n"),
        6 => format!("  - {said}\n"),
        7 => format!("  {said}\n"),
        8 => format!("### {said}\n"),
        9 => format!("**{said}**\n"),
        10 => format!("> {said}\n"),
        11 => format!("```\n{said}\n```\n"),
        12 => format!("\n<div>{said}</div>\n\n"),
        13 => format!("1. {said}\n"),
        14 => format!("\n{said}\n---\n"),
        _ => format!("\n<!-- c --> {said}\n"),
    };
    (text, Some(word))
}

proptest! {
    #![proptest_config(crate::contract::cases::few(500))]

    /// Every line of a section that counts is in what was read, or something is said about it.
    #[test]
    fn nothing_vanishes(
        lines in vec((0..9usize, 0..16usize), 1..5),
        section in select(vec![
            ("dod-checker", "APPROVED", "## Verdict\nAPPROVED\n## Verified rows\n"),
            ("dod-checker", "BLOCKED", "## Verdict\nBLOCKED\n## Gaps\n"),
            ("reviewer", "REQUEST_CHANGES", "## Findings\n"),
            ("reviewer", "REQUEST_CHANGES", "## Findings\n- [minor] x — y\n\n## Change requests\n"),
            ("tester", "n/a", "## DoD coverage\n"),
            ("developer", "n/a", "## DoD coverage\n"),
            ("developer", "n/a", "## Open Questions\n"),
            ("developer", "n/a", "## Files Deleted\n"),
        ]),
        knows in any::<bool>(),
    ) {
        let (name, verdict, heading) = section;
        let lines: Vec<_> = lines.iter().enumerate().map(|(at, (content, wrap))| line(at, *content, *wrap)).collect();
        let body: String = lines.iter().map(|(text, _)| text.as_str()).collect();
        let context = if knows { with_rows(name, &ROWS) } else { role(name) };
        // Whatever the Abstract counts: no count makes a line vanish.
        for count in 0..6 {
            let files = format!("0 created, 0 modified, {count} deleted");
            let text = report("complete", "", verdict, &files, &count.to_string(), &format!("{heading}{body}"));
            let text = if heading.contains("Files") { text } else { text.replace(&files, NO_FILES) };
            let text = if heading.contains("Questions") { text } else { text.replace(&format!("open_questions: {count}"), "open_questions: 0") };
            let reading = read(&text, &context);
            if reading.report.health == Health::Malformed {
                continue;
            }
            let kept = format!("{:?}{:?}{:?}", reading.report, reading.sections, reading.diagnostics);
            for word in lines.iter().filter_map(|(_, word)| word.as_ref()) {
                prop_assert!(kept.contains(word), "{} is lost in\n{}\n{}", word, text, kept);
            }
        }
    }
}

/// Words and signs that say why a row does not hold deny it as the bare word does.
#[test]
fn a_row_that_is_denied_with_a_reason_does_not_pass() {
    let (tester, checker) = (role("tester"), role("dod-checker"));
    let covers = |row: &str| complete("n/a", &format!("## DoD coverage\n- {row}\n"));
    for row in [
        "✓ DoD-3 — FAIL: 3 of 12 tests failed",
        "✓ DoD-4 — skipped: no browser here",
        "✓ DoD-4 — TBD",
        "✓ DoD-4 — ...",
        "[ ] ✓ DoD-3 — tests/add.rs",
        "✓ DoD-3 — ⚠️ not observed",
    ] {
        check(&covers(row), &tester, "malformed none\nE 13:3 TG0220");
    }
    for row in ["✓ DoD-3 — no failures", "✓ DoD-3 — failed: 0, passed: 12", "[x] ✓ DoD-3 — Failing test added"]
    {
        check(&covers(row), &tester, "ok accept");
    }
    let head = "## Verdict\nAPPROVED\n## Verified rows\n";
    for row in [
        "DoD-2: missing — no test found",
        "[ ] DoD-2: the test",
        "DoD-2: No — nothing shows it",
        "DoD-2: TODO: check",
        "DoD-2: FAIL criterion 3",
        "DoD-2: Status: FAIL",
        "DoD-2: ~~the test shows it~~",
        "DoD-2: 🔴",
        "DoD-2: 👎 no test",
        "DoD-2: ?",
    ] {
        let text = complete("APPROVED", &format!("{head}- {row}\n## Gaps\nNone\n"));
        check(&text, &checker, "malformed none\nE 15:3 TG0220");
    }
}

#[test]
fn what_says_that_there_is_nothing_is_no_entry() {
    for none in [
        "No findings.",
        "None found.",
        "**No findings**",
        "None (all addressed)",
        "- No findings.",
        "No issues found.",
        "None remaining.",
        "None. All addressed.",
    ] {
        let text = complete("APPROVED", &format!("## Verdict\nAPPROVED\n## Findings\n{none}\n"));
        check(&text, &role("reviewer"), "ok accept");
    }
    let gaps = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1: seen\n## Gaps\n";
    check(&complete("APPROVED", &format!("{gaps}No gaps.\n")), &role("dod-checker"), "ok accept");
    check(
        &complete("APPROVED", &format!("{gaps}None (except DoD-2)\n")),
        &role("dod-checker"),
        "malformed none\nE 13:1/17:1 TG0213",
    );
}

/// A table in the place of a list is one mistake, and none of its lines is an entry.
#[test]
fn a_table_is_no_list() {
    let table = "| Row | Result |\n|---|---|\n| DoD-1 | ✓ |\n| DoD-2 | FAIL |\n";
    let rows = format!("## Verdict\nAPPROVED\n## Verified rows\n{table}## Gaps\nNone\n");
    let reading = check(&complete("APPROVED", &rows), &role("dod-checker"), "malformed none\nE 15:1 TG0222");
    assert_eq!(reading.report.criteria, []);
    let bare = rows.replace("| Row | Result |\n|---|---|", "Row | Result\n--- | ---");
    check(&complete("APPROVED", &bare), &role("dod-checker"), "malformed none\nE 15:1 TG0222");
    let gaps = format!("## Verdict\nBLOCKED\n## Gaps\n{table}");
    check(&complete("BLOCKED", &gaps), &role("dod-checker"), "malformed none\nE 15:1 TG0222");
    check(&complete("n/a", &format!("## DoD coverage\n{table}")), &role("tester"), "malformed none\nE 13:1 TG0222");
    for (verdict, role_, heading) in [
        ("REQUEST_CHANGES", "reviewer", "Findings"),
        ("n/a", "developer", "Files Created"),
        ("n/a", "developer", "Addressed findings"),
        ("n/a", "developer", "Open Questions"),
    ] {
        let text = complete(verdict, &format!("## {heading}\n{table}"));
        let reading = check(&text, &role(role_), "malformed none\nE 13:1 TG0222");
        let hint = reading.diagnostics[0].hint.as_deref().unwrap_or_default();
        assert!(hint.starts_with("write what it says as a list"), "{hint}");
    }
}

/// What stands below a row, or in front of its name, is said of it.
#[test]
fn a_row_that_passes_has_no_denial_below_it() {
    for (row, code) in [
        ("- ✓ DoD-3 — tests/cart.rs\n  - case 1: PASS\n  - case 2: FAIL\n", "TG0220"),
        ("- ✓ DoD-3 — tests/cart.rs\n\n  | case | r |\n  |---|---|\n  | 2 | FAIL |\n", "TG0224"),
        ("- ✓ DoD-3 — `cargo test`: FAILED. 3 passed; 1 failed\n", "TG0220"),
        ("- ✓ DoD-3 — seen\n\n  not verified\n", "TG0220"),
        ("- ✓ **FAIL** DoD-3\n", "TG0220"),
    ] {
        let text = complete("n/a", &format!("## DoD coverage\n{row}"));
        check(&text, &role("tester"), &format!("malformed none\nE 13:3 {code}"));
        let text = format!("## Verdict\nAPPROVED\n## Verified rows\n{}", row.replacen("✓ ", "", 1));
        check(&complete("APPROVED", &text), &role("dod-checker"), &format!("malformed none\nE 15:3 {code}"));
    }
    for row in [
        "- ✓ DoD-3 — tests/cart.rs\n  - case 1: PASS\n  - without the change: FAIL\n",
        "- ✓ DoD-3 — tests/cart.rs, in which the slow path is\n  not tested alone\n",
        "- ✓ DoD-3 — seen\n  ```\n  | a | FAIL |\n  ```\n",
    ] {
        check(&complete("n/a", &format!("## DoD coverage\n{row}")), &role("tester"), "ok accept");
    }
}

/// Ordinary ways to say that there is nothing are no entries; what may be one is told with what to write.
#[test]
fn nothing_is_no_entry() {
    for (verdict, who, sections) in [
        ("n/a", "developer", "## Open Questions\nNone. All requirements were clear.\n"),
        ("n/a", "developer", "## Open Questions\n- There are no open questions.\n"),
        ("n/a", "developer", "## Files Created\nNo new files.\n"),
        ("APPROVED", "reviewer", "## Findings\nNo critical or major findings.\n"),
        ("APPROVED", "dod-checker", "## Verdict\nAPPROVED\n## Gaps\nNone — all rows verified.\n"),
    ] {
        let reading = read(&complete(verdict, sections), &role(who));
        assert_eq!(reading.diagnostics, [], "{sections}");
    }
    let gaps = "## Verdict\nAPPROVED\n## Gaps\nNone — see DoD-2\n";
    for (verdict, who, place, sections) in [
        ("n/a", "developer", "13:1", "## Files Created\nNone — only edits\n"),
        ("n/a", "developer", "13:3", "## Open Questions\n- None. Ask the owner.\n"),
        ("APPROVED", "reviewer", "13:1", "## Findings\nNone — only two nits\n"),
        ("APPROVED", "dod-checker", "15:1", gaps),
    ] {
        let wanted = format!("malformed none\nE {place} TG0222");
        let reading = check(&complete(verdict, sections), &role(who), &wanted);
        assert!(reading.diagnostics[0].hint.as_deref().is_some_and(|hint| hint.contains("`None` alone")), "{sections}");
    }
    let gap = "## Verdict\nBLOCKED\n## Gaps\n- No tests for the cart\n";
    assert_eq!(read(&complete("BLOCKED", gap), &role("dod-checker")).diagnostics, []);
}
