//! Each rule with a report that breaks it alone, and what unbroken reports mean.

use std::collections::BTreeMap;

use super::*;
use tollgate_core::report::{Judgement, QuestionReport};

/// The rows of a report with what it judges of each.
fn judged(reading: &Reading) -> Vec<(&str, Judgement, &str)> {
    reading.report.criteria.iter().map(|row| (&*row.id, row.result, row.evidence.as_str())).collect()
}

#[test]
fn a_reason_is_given_when_it_is_needed() {
    let with = |status: &str, reason: &str| report(status, reason, "n/a", NO_FILES, "0", "");
    check(&with("failed", ""), &by(Part::Developer), "malformed none\nE 3:1 TG0203");
    check(&with("failed", "None"), &by(Part::Developer), "malformed none\nE 3:1 TG0203");
    assert_eq!(read(&with("failed", "one\ntwo"), &by(Part::Developer)).report.reason, "one two");
    check(&with("complete", "all is well"), &by(Part::Developer), "ok none\nW 4:1/2:1 TG0203");
}

#[test]
fn questions_are_put_word_for_word() {
    let ask = "## Open Questions\n1. Which port?\n   5432 is *taken*.\n2. And `TLS`?\n";
    let text = report("blocked", "see below", "n/a", NO_FILES, "2", ask);
    let reading = check(&text, &by(Part::Developer), "needs_input none");
    let texts: Vec<&str> = reading.report.questions.iter().map(|question| question.text.as_str()).collect();
    assert_eq!(texts, ["Which port?\n5432 is *taken*.", "And `TLS`?"]);
    assert!(reading.report.questions.iter().all(|question| question.blocking));
    let beside = report("complete", "", "n/a", NO_FILES, "1", "## Open Questions\n- Is it fast enough?\n");
    let expected = QuestionReport { text: "Is it fast enough?".into(), ..QuestionReport::default() };
    assert_eq!(check(&beside, &by(Part::Developer), "ok none").report.questions, [expected]);
    let none = report("blocked", "x", "n/a", NO_FILES, "0", "## Open Questions\nNone\n");
    check(&none, &by(Part::Developer), "malformed none\nE 2:1/12:1 TG0216");
}

/// The number of questions routes; the numbers of files decide nothing.
#[test]
fn counts_of_the_abstract_agree_with_the_sections() {
    let files = "## Files Created\n- `src/a.rs`\n- src/c.rs\n\n## Files Modified\nNone\n";
    let with = |counts: &str, questions: &str, rest: &str| report("complete", "", "n/a", counts, questions, rest);
    let good = with("2 created, 0 modified, 1 deleted", "0", files);
    assert_eq!(check(&good, &by(Part::Developer), "ok none").report.claims.deleted_count, Some(1));
    let wrong = with("3 created, 1 modified, 0 deleted", "0", files);
    let expected = "ok none\nW 8:1/12:1 TG0211\nW 8:1/16:1 TG0211";
    let reading = check(&wrong, &by(Part::Developer), expected);
    assert_eq!(reading.report.claims.created.len(), 2);
    check(&with(NO_FILES, "0", "## Files Deleted\n- `x`\n"), &by(Part::Developer), "ok none\nW 8:1/12:1 TG0211");
    check(&with("some", "0", ""), &by(Part::Developer), "ok none\nW 8:1 TG0211");
    check(&with(NO_FILES, "2", ""), &by(Part::Developer), "malformed none\nE 10:1 TG0211");
    let more = with(NO_FILES, "1", "## Open Questions\n- a\n- b\n");
    check(&more, &by(Part::Developer), "malformed none\nE 10:1/12:1 TG0211");
}

/// The order decides nothing; a section that is unknown is a note, and beside an acceptance an error, whatever its title.
#[test]
fn sections_are_closed() {
    let moved = "## Key Decisions\n\n## Files Created\n\n## Mood\nfine\n";
    check(&complete("n/a", moved), &by(Part::Developer), "ok none\nW 14:1 TG0207\nW 16:1 TG0206");
    for title in ["Performance", "Security", "Must fix", "Notes", "Remaining gaps", "Gaps (2)", "Open Questions: none"]
    {
        let with = |verdict: &str, more: &str| complete(verdict, &format!("{more}## {title}\nNone\n"));
        check(&with("APPROVED", ""), &by(Part::Reviewer), "malformed none\nE 12:1 TG0206");
        let found = "## Findings\n- [major] a.rs:1 — no\n";
        check(&with("REQUEST_CHANGES", found), &by(Part::Reviewer), "ok reject\nW 14:1 TG0206");
        check(&with("n/a", ""), &by(Part::Developer), "ok none\nW 12:1 TG0206");
        let tested = |mark: &str| with("n/a", &format!("## DoD coverage\n- {mark} DoD-1\n"));
        check(&tested("✓"), &by(Part::Tester), "malformed none\nE 14:1 TG0206");
        check(&tested("✗"), &by(Part::Tester), "ok reject\nW 14:1 TG0206");
    }
    let after = "## Findings\nNone\n\nThat is all.\n";
    check(&complete("APPROVED", after), &by(Part::Reviewer), "malformed none\nE 15:1 TG0224");
}

#[test]
fn a_verdict_belongs_to_its_part() {
    let found = "## Findings\n- [minor] a.rs:1 — typo\n";
    check(&complete("APPROVED", ""), &by(Part::Reviewer), "ok accept");
    check(&complete("REQUEST_CHANGES", found), &by(Part::Reviewer), "ok reject");
    check(&complete("BLOCKED", found), &Context::default(), "ok reject");
    check(&complete("APPROVED", found), &by(Part::Reviewer), "ok accept\nW 13:3/7:1 TG0223");
    check(
        &complete("APPROVED", &found.replace("minor", "major")),
        &by(Part::Reviewer),
        "malformed none\nE 7:1/13:3 TG0213",
    );
    check(&complete("REQUEST_CHANGES", ""), &by(Part::Reviewer), "malformed none\nE 7:1 TG0217");
    check(&complete("n/a", ""), &by(Part::Reviewer), "malformed none\nE 7:1 TG0214");
    for part in [Part::Developer, Part::Tester] {
        let text = complete("APPROVED", "## DoD coverage\n- ✓ DoD-1\n");
        check(&text, &by(part), "malformed none\nE 7:1 TG0214");
    }
    check(&complete("n/a", found), &by(Part::Developer), "ok none\nW 13:3/7:1 TG0223");
    check(&complete("n/a", "## Gaps\n- DoD-1: x\n"), &by(Part::Developer), "ok none\nW 13:3/7:1 TG0214");
    let failed = report("failed", "no access", "n/a", NO_FILES, "0", "");
    for part in Part::ALL {
        check(&failed, &by(part), "failed none");
    }
}

/// A role without a part is judged by whether it gives verdicts, never by its name.
#[test]
fn a_role_without_a_part_goes_by_its_verdicts() {
    let role = |judges: bool| Context {
        role: Some("dod-checker".into()),
        judges: Some(judges),
        ..with_rows(Part::Checker, &ROWS)
    };
    let role = |judges: bool| Context { part: None, ..role(judges) };
    check(&complete("n/a", ""), &role(false), "ok none");
    check(&complete("APPROVED", ""), &role(false), "malformed none\nE 7:1 TG0214");
    check(&complete("APPROVED", "## Verified rows\n- DoD-1 — seen\n"), &role(true), "ok accept");
    check(&complete("n/a", ""), &role(true), "malformed none\nE 7:1 TG0214");
    check(&complete("REQUEST_CHANGES", ""), &role(true), "malformed none\nE 7:1 TG0217");
    let gaps = check(&complete("BLOCKED", "## Gaps\n- DoD-2 — missing\n"), &role(true), "ok reject");
    assert_eq!(judged(&gaps), [("DoD-2", Judgement::Fail, "missing")]);
    // Marks are a verdict where no other is given.
    let marked = check(&complete("n/a", "## DoD coverage\n- ✓ DoD-3 — a\n- ✗ DoD-1\n"), &role(true), "ok reject");
    assert_eq!(judged(&marked), [("DoD-3", Judgement::Pass, "a"), ("DoD-1", Judgement::Fail, "")]);
}

#[test]
fn a_checker_judges_rows() {
    let context = with_rows(Part::Checker, &ROWS);
    let rows = "## Verdict\nBLOCKED\n\n## Verified rows\n- DoD-1 — src/add.rs\n- ⚠️ DoD-3: no browser here\n\n## Gaps\n- ✗ DoD-2: none\n";
    let reading = check(&complete("BLOCKED", rows), &context, "ok reject");
    let expected = [
        ("DoD-1", Judgement::Pass, "src/add.rs"),
        ("DoD-3", Judgement::Unobservable, "no browser here"),
        ("DoD-2", Judgement::Fail, "none"),
    ];
    assert_eq!(judged(&reading), expected);
    let finding = &reading.report.findings[0];
    assert_eq!((finding.criterion.as_deref(), &*finding.what), (Some("DoD-2"), "none"));
    let all = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2, DoD-3\n## Gaps\nNone\n";
    check(&complete("APPROVED", all), &context, "ok accept");
}

#[test]
fn a_checker_does_not_contradict_itself() {
    let context = with_rows(Part::Checker, &ROWS);
    let check = |verdict: &str, rest: &str, expected: &str| check(&complete(verdict, rest), &context, expected);
    let all = "## Verified rows\n- DoD-1, DoD-2, DoD-3\n";
    check("APPROVED", all, "malformed none\nE 1:1 TG0204");
    check("APPROVED", &format!("## Verdict\nBLOCKED\n{all}"), "malformed none\nE 7:1/13:1 TG0213");
    check("APPROVED", &format!("## Verdict\nfine\n{all}"), "malformed none\nE 13:1 TG0212");
    check("BLOCKED", &format!("## Verdict\nBLOCKED\n{all}"), "malformed none\nE 13:1 TG0217");
    check("REQUEST_CHANGES", &format!("## Verdict: REQUEST_CHANGES\n{all}"), "malformed none\nE 12:13 TG0214");
    let gap = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2\n## Gaps\n- DoD-3\n";
    check("APPROVED", gap, "malformed none\nE 13:1/17:3 TG0213");
    check(
        "APPROVED",
        &format!("## Verdict\nAPPROVED\n{all}## DoD coverage\n- ✗ DoD-2\n"),
        "malformed none\nE 13:1/17:3 TG0213",
    );
    check("BLOCKED", &format!("## Verdict\nBLOCKED\n{all}## Gaps\n- DoD-3\n"), "malformed none\nE 17:3/15:3 TG0220");
    check(
        "BLOCKED",
        &format!("## Verdict\nBLOCKED\n{all}## Gaps\n- DoD-4\n- it flies\n"),
        "malformed none\nE 17:3 TG0219\nE 18:3 TG0219",
    );
    let marked = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-3\n- ✗ DoD-2\n";
    check("APPROVED", marked, "malformed none\nE 16:3 TG0220");
    check("APPROVED", "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2\n", "ok accept\nW 14:1 TG0221");
}

#[test]
fn a_testers_rows_are_its_verdict() {
    let context = with_rows(Part::Tester, &ROWS);
    let read =
        |rows: &str, expected: &str| check(&complete("n/a", &format!("## DoD coverage\n{rows}")), &context, expected);
    let reading = read("- ✓ DoD-3 — tests/add.rs\n- ✗ DoD-1 — broken\n", "ok reject");
    let expected = [("DoD-3", Judgement::Pass, "tests/add.rs"), ("DoD-1", Judgement::Fail, "broken")];
    assert_eq!(judged(&reading), expected, "any ✗ rejects");
    let reading = read("- ✓ DoD-3, DoD-1\n- ⚠️ DoD-2\n", "ok accept\nW 13:3 TG0219\nW 14:3 TG0219");
    assert_eq!(judged(&reading), [("DoD-3", Judgement::Pass, "")], "that other rows hold is not its to say");
    let reading = read("- ⚠️ DoD-3 — no browser here\n", "ok accept");
    assert_eq!(reading.report.criteria[0].result, Judgement::Unobservable);
    read("- ✓ DoD-1\n", "malformed none\nE 12:1 TG0221\nW 13:3 TG0219");
    read("- ✓ DoD-3\n- ✗ DoD-3\n", "malformed none\nE 14:3/13:3 TG0220");
    read("- ✓ DoD-3\n## Findings\n- [major] a.rs:1 — it leaks\n", "malformed none\nE 7:1/15:3 TG0213");
    read("- ✓ DoD-3\n## Gaps\n- DoD-1: missing\n", "malformed none\nE 7:1/15:3 TG0213");
    check(&complete("n/a", ""), &context, "malformed none\nE 1:1 TG0204");
    check(&complete("n/a", "## DoD coverage\nNone\n"), &by(Part::Tester), "malformed none\nE 12:1 TG0221");
    for (rows, expected) in [
        ("- ✓ b\n- ⚠️ a — no browser", "ok inconclusive"),
        ("- ⚠️ a — no browser\n- ✗ b", "ok reject"),
        ("- ✓ a — b\n- ❌ c", "ok reject"),
    ] {
        check(&complete("n/a", &format!("## DoD coverage\n{rows}\n")), &by(Part::Tester), expected);
    }
    check(&complete("n/a", "## DoD coverage\n- ⚠️ DoD-3 Tester scope\n"), &by(Part::Developer), "ok none");
    let stopped = report("incomplete", "no time", "n/a", NO_FILES, "0", "## DoD coverage\n- ✗ DoD-3 — broken\n");
    let reading = check(&stopped, &context, "exhausted none");
    assert_eq!(judged(&reading), [("DoD-3", Judgement::Fail, "broken")], "a person is shown what it saw");
}

#[test]
fn who_names_the_row_of_another_is_told_whose_it_is() {
    let row = |id: &str, group: &str, unit: Option<&str>| CriterionRow {
        id: id.into(),
        group: Some(group.into()),
        unit: unit.map(Into::into),
        ..CriterionRow::default()
    };
    let context = Context {
        criteria: Some(vec![row("DoD-1", "dod", Some("backend"))]),
        others: vec![row("DoD-2", "tester", None), row("DoD-3", "dod", Some("frontend"))],
        ..by(Part::Checker)
    };
    let rest = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1\n- DoD-2: y\n- DoD-3\n- DoD-4\n";
    let reading = read(&complete("APPROVED", rest), &context);
    let told: Vec<&str> = reading.diagnostics.iter().map(|one| one.message.as_str()).collect();
    let expected = [
        "`DoD-2: y` is a row of the tester's scope, not one of yours",
        "`DoD-3` is a row of `frontend`, not one of yours",
        "`DoD-4` does not begin with the id of a row",
    ];
    assert_eq!(told, expected);
}

/// The protocol decides who comes next; a report that expects another role gets a warning and is read.
#[test]
fn the_next_phase_decides_nothing() {
    let routes = BTreeMap::from([
        ("accept".into(), vec!["tester".into()]),
        ("reject".into(), vec!["dod-checker".into(), "person".into()]),
    ]);
    let context = Context { next: Some(routes), ..by(Part::Reviewer) };
    let said = |verdict: &str, rest: &str, phase: &str, expected: &str| {
        let text = complete(verdict, rest).replace("next_phase: n/a", &format!("next_phase: {phase}"));
        check(&text, &context, expected);
    };
    let findings = "## Findings\n- [major] `a.rs:1` — wrong\n";
    said("APPROVED", "", "Tester", "ok accept");
    said("APPROVED", "", "n/a", "ok accept");
    said("APPROVED", "", "developer", "ok accept\nW 9:1 TG0215");
    said("APPROVED", "", "stop, surface to human", "ok accept\nW 9:1 TG0215");
    said("REQUEST_CHANGES", findings, "DoD checker", "ok reject");
    said("REQUEST_CHANGES", findings, "stop, surface to human", "ok reject");
    said("REQUEST_CHANGES", findings, "tester", "ok reject\nW 9:1 TG0215");
    let told = StatusBlock.instructions(&context);
    assert!(told.contains("- `next_phase` is `tester` when you accept, `dod-checker`"), "{told}");
}

#[test]
fn what_was_read_is_what_the_report_is_made_of() {
    fn reads(reading: &Reading) -> Vec<&str> {
        reading.report.reads.iter().map(|read| &*read.section).collect()
    }
    let rest = "## Quality-Gate Results\nok\n\n## Findings\n- [major] a.rs:1 — no\n\n## Open Questions\nNone\n";
    let reading = read(&complete("REQUEST_CHANGES", rest), &by(Part::Reviewer));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract", "Findings"]);
    assert_eq!(reading.report.reads[3].bytes, "- [major] a.rs:1 — no".len() as u64);
    let reading = read(&complete("APPROVED", &rest.replace("major", "minor")), &by(Part::Reviewer));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract"], "an approval's findings decide nothing");
    let present: Vec<&str> = reading.present.iter().map(|(name, _)| &**name).collect();
    assert_eq!(present, ["Status", "Status reason", "Abstract", "Quality-Gate Results", "Findings", "Open Questions"]);
    let coverage = complete("n/a", "## DoD coverage\n- ✓ DoD-1\n");
    assert_eq!(reads(&read(&coverage, &by(Part::Tester))).last(), Some(&"DoD coverage"));
    assert_eq!(reads(&read(&coverage, &by(Part::Developer))), ["Status", "Status reason", "Abstract"]);
    let gaps = "## Verdict\nBLOCKED\n## Verified rows\n- DoD-1\n## Gaps\n- DoD-2\n";
    let reading = read(&complete("BLOCKED", gaps), &by(Part::Checker));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract", "Verdict", "Verified rows", "Gaps"]);
    assert_eq!(reads(&read(&complete("perhaps", gaps), &by(Part::Checker))), ["Status"]);
}

#[test]
fn later_agents_are_shown_sections_by_their_declared_names() {
    let rest = "## Files Created\n- `a`\n\n## Files Modified\nNone\n\n## Quality-Gate Results\n12 passed\n\n## Key Decisions\nuse b\n";
    let text = report("complete", "", "n/a", "1 created, 0 modified, 0 deleted", "0", rest);
    let reading = check(&text, &by(Part::Developer), "ok none");
    let declared = StatusBlock.declaration().sections;
    assert!(reading.sections.keys().all(|name| declared.contains_key(name)));
    let files = reading.sections.get("files").map(String::as_str);
    assert_eq!(files, Some("Files Created:\n- `a`\n\nFiles Modified:\nNone"));
    assert_eq!(reading.sections.get("quality_gates").map(String::as_str), Some("12 passed"));
    assert!(!reading.sections.contains_key("coverage"));
}

/// Runs go on whose earlier reports were read by other rules: their sections can still be shown.
#[test]
fn a_report_that_is_refused_still_has_its_sections() {
    let text = complete("n/a", "## DoD coverage\nAll rows hold.\n\n## Key Decisions\nuse b\n");
    let reading = check(&text, &by(Part::Developer), "malformed none\nE 13:1 TG0224");
    let section = |name: &str| reading.sections.get(name).map(String::as_str);
    assert_eq!((section("coverage"), section("decisions")), (Some("All rows hold."), Some("use b")));
    assert!(reading.notes(&StatusBlock).is_empty());
}

#[test]
fn instructions_speak_to_the_part() {
    let of = |part: Part| StatusBlock.instructions(&with_rows(part, &[("dod", "a"), ("tester", "b")]));
    assert!(of(Part::Developer).contains("verdict: n/a\n"));
    assert!(of(Part::Checker).contains("## Gaps\n"));
    assert!(of(Part::Reviewer).contains("APPROVED | REQUEST_CHANGES"));
    assert!(of(Part::Tester).contains("(DoD-2)"));
}
