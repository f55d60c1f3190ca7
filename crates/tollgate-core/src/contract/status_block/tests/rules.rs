//! Each rule with a report that breaks it alone, and what unbroken reports mean.

use std::collections::BTreeMap;

use super::*;
use crate::report::{Judgement, QuestionReport};

const NO_FILES: &str = "0 created, 0 modified, 0 deleted";

#[test]
fn the_example_of_the_page_is_a_review() {
    let reading = check(EXAMPLE, &role("reviewer"), "ok reject");
    let finding = &reading.report.findings[0];
    assert_eq!(finding.severity.as_deref(), Some("major"));
    assert_eq!((finding.path.as_deref(), finding.line), (Some("src/cart.rs"), Some(42)));
    assert_eq!(finding.category.as_deref(), Some("BE-012"));
    assert_eq!(finding.what, "the total overflows for large quantities");
    assert_eq!(reading.report.findings[1].repeats, Some(crate::id::FindingId(7)));
    assert_eq!(reading.report.claims.next.as_deref(), Some("developer"));
}

#[test]
fn status_is_health() {
    let ask = "## Open Questions\n- Which port?\n";
    check(&complete("n/a", ""), &role("developer"), "ok none");
    check(&report("blocked", "spec is silent", "n/a", NO_FILES, "1", ask), &role("developer"), "needs_input none");
    check(&report("failed", "no compiler", "n/a", NO_FILES, "0", ""), &role("developer"), "failed none");
    check(&report("incomplete", "18 of 22 rows", "n/a", NO_FILES, "0", ""), &role("developer"), "exhausted none");
    for odd in ["Complete", "done", "ESCALATED", "complete or so", "complete\nblocked", ""] {
        let reading = read(&report(odd, "", "n/a", NO_FILES, "0", ""), &role("developer"));
        assert!(shown(&reading).starts_with("malformed none\nE "), "{odd}: {}", shown(&reading));
        assert_eq!(reading.diagnostics[0].code.as_str(), "TG0202", "{odd}");
        assert!(!reading.report.reason.is_empty());
    }
    check(
        "## Status: complete\n\n## Abstract\noutcome: x\nverdict: n/a\nfiles: 0 created, 0 modified\nnext_phase: n/a\nopen_questions: 0\n",
        &Context::default(),
        "ok none",
    );
}

#[test]
fn a_reason_is_there_exactly_when_it_is_needed() {
    check(&report("failed", "", "n/a", NO_FILES, "0", ""), &role("developer"), "malformed none\nE 3:1 TG0203");
    check(&report("failed", "n/a", "n/a", NO_FILES, "0", ""), &role("developer"), "malformed none\nE 3:1 TG0203");
    check(
        &report("complete", "why not", "n/a", NO_FILES, "0", ""),
        &role("developer"),
        "malformed none\nE 4:1/2:1 TG0203",
    );
    check(&report("failed", "one\ntwo", "n/a", NO_FILES, "0", ""), &role("developer"), "malformed none\nE 5:1 TG0203");
    check(&report("complete", "n/a", "n/a", NO_FILES, "0", ""), &role("developer"), "ok none");
}

#[test]
fn questions_are_put_word_for_word() {
    let ask = "## Open Questions\n1. Which port?\n   5432 is *taken*.\n2. And `TLS`?\n";
    let reading =
        check(&report("blocked", "see below", "n/a", NO_FILES, "2", ask), &role("developer"), "needs_input none");
    let texts: Vec<&str> = reading.report.questions.iter().map(|question| question.text.as_str()).collect();
    assert_eq!(texts, ["Which port?\n5432 is *taken*.", "And `TLS`?"]);
    assert!(reading.report.questions.iter().all(|question| question.blocking));
    let reading = check(
        &report("complete", "", "n/a", NO_FILES, "1", "## Open Questions\nIs it fast enough?\n"),
        &role("developer"),
        "ok none",
    );
    let expected = QuestionReport { text: "Is it fast enough?".into(), ..QuestionReport::default() };
    assert_eq!(reading.report.questions, [expected]);
    check(
        &report("blocked", "x", "n/a", NO_FILES, "0", "## Open Questions\nNone\n"),
        &role("developer"),
        "malformed none\nE 2:1/12:1 TG0216",
    );
    check(
        &report("complete", "", "n/a", NO_FILES, "0", "## Open Questions\nNone.\n\nAll done, thank you.\n"),
        &role("developer"),
        "ok none\nW 15:1 TG0224",
    );
    check(
        &report("complete", "", "n/a", NO_FILES, "0", "## Open Questions\nNone.\n\nIs that all?\n"),
        &role("developer"),
        "malformed none\nE 15:1/13:1 TG0224",
    );
}

#[test]
fn the_abstract_is_an_index_of_the_sections() {
    let files = "## Files Created\n- `src/a b.rs` — new\n- src/c.rs: also\n\n## Files Modified\n- None\n";
    let reading = check(
        &report("complete", "", "n/a", "2 created, 0 modified, 1 deleted", "0", files),
        &role("developer"),
        "ok none",
    );
    assert_eq!(reading.report.claims.created, ["src/a b.rs".into(), "src/c.rs".into()] as [Name; 2]);
    assert_eq!(reading.report.claims.deleted_count, Some(1));
    check(
        &report("complete", "", "n/a", "3 created, 1 modified, 0 deleted", "0", files),
        &role("developer"),
        "malformed none\nE 8:1/12:1 TG0211\nE 8:1/16:1 TG0211",
    );
    check(&report("complete", "", "n/a", NO_FILES, "2", ""), &role("developer"), "malformed none\nE 10:1 TG0211");
    check(
        &report("complete", "", "n/a", NO_FILES, "0", "## Files Deleted\n- `x`\n"),
        &role("developer"),
        "malformed none\nE 8:1/12:1 TG0211",
    );
    check(
        &report("complete", "", "maybe", "some", "few", ""),
        &role("developer"),
        "malformed none\nE 7:1 TG0210\nE 8:1 TG0210\nE 10:1 TG0210",
    );
    check("## Status\ncomplete\n", &role("developer"), "malformed none\nE 1:1 TG0204");
    let fields = "## Status\ncomplete\n\n## Abstract\n```yaml\noutcome: \"a: b\"\nverdict: 'n/a'\nmood: good\nfiles: 0 created, 0 modified, 0 deleted\nnext_phase: n/a\nnext_phase: n/a\n```\n";
    check(fields, &role("developer"), "malformed none\nE 4:1 TG0210\nE 8:1 TG0210\nE 11:1/10:1 TG0210");
}

#[test]
fn sections_are_known_single_and_in_order() {
    check(
        &complete("n/a", "## Key Decisions\n\n## Files Created\n\n## Mood\nfine\n"),
        &role("developer"),
        "ok none\nW 14:1 TG0207\nW 16:1 TG0206",
    );
    check(
        &complete("n/a", "## Key Decisions\na\n## Key Decisions\nb\n"),
        &role("developer"),
        "malformed none\nE 14:1/12:1 TG0205",
    );
    check(&complete("n/a", "## Open Ques"), &role("developer"), "malformed none\nE 12:1 TG0208");
    check(
        &complete("n/a", "## Quality-Gate Results\n```\n12 passed\n"),
        &role("developer"),
        "malformed none\nE 13:1 TG0208",
    );
}

#[test]
fn a_verdict_belongs_to_its_role() {
    let found = "## Findings\n- [minor] a.rs:1 — typo\n";
    check(&complete("APPROVED", ""), &role("reviewer"), "ok accept");
    check(&complete("REQUEST_CHANGES", found), &role("backend-reviewer"), "ok reject");
    check(&complete("BLOCKED", found), &Context::default(), "ok reject");
    check(&complete("APPROVED", found), &role("reviewer"), "ok accept\nW 13:3/7:1 TG0223");
    check(&complete("REQUEST_CHANGES", ""), &role("reviewer"), "malformed none\nE 7:1 TG0217");
    check(&complete("n/a", ""), &role("reviewer"), "malformed none\nE 7:1 TG0214");
    for builder in ["developer", "dev-tester", "tester", "devops"] {
        let reading = read(&complete("APPROVED", "## DoD coverage\n- ✓ DoD-1\n"), &role(builder));
        assert_eq!(shown(&reading), "malformed none\nE 7:1 TG0214", "{builder}");
    }
    let judge = Context { judges: Some(true), ..role("security") };
    check(&complete("APPROVED", ""), &judge, "ok accept");
    let failed = report("failed", "no access", "n/a", NO_FILES, "0", "");
    check(&failed, &role("reviewer"), "failed none");
    check(&failed, &role("dod-checker"), "failed none");
}

#[test]
fn findings_are_read_in_the_spellings_of_reviewers() {
    let text = "## Findings\n### Critical\n- `src/a.rs:7-9` SQL is built from input\n### Minor issues\n- **major**: src/b.rs:3 (SE-001): no check\n\n\
                ## Change requests\n1. [minor] fnd_3 — either/or is unclear\n";
    let reading = check(&complete("REQUEST_CHANGES", text), &role("reviewer"), "ok reject\nW 19:4 TG0218");
    let short: Vec<String> = reading
        .report
        .findings
        .iter()
        .map(|f| {
            let severity = f.severity.as_deref().unwrap_or_default();
            format!("{severity} {:?} {:?} {:?} {:?} {}", f.repeats, f.path, f.line, f.category, f.what)
        })
        .collect();
    assert_eq!(
        short,
        [
            "critical None Some(\"src/a.rs\") Some(7) None SQL is built from input",
            "major None Some(\"src/b.rs\") Some(3) Some(\"SE-001\") no check",
            "minor Some(fnd_3) None None None either/or is unclear",
        ]
    );
    check(
        &complete("REQUEST_CHANGES", "## Findings\n- it is ugly\n- [major] a.rs:1\n"),
        &role("reviewer"),
        "malformed none\nE 13:3 TG0218\nE 14:3 TG0218",
    );
}

#[test]
fn a_placeholder_is_no_entry() {
    let read = |sections: &str, expected: &str| {
        check(&complete("REQUEST_CHANGES", sections), &role("reviewer"), expected);
    };
    read("## Findings\n- [major] a.rs:1 — <what is wrong>\n", "malformed none\nE 13:3 TG0222");
    read("## Findings\n- [critical]\n", "malformed none\nE 13:3 TG0218");
    read(
        "## Findings\n- [major] a.rs:1 — a bug\n## Key Decisions\n<what was decided>\n",
        "malformed none\nE 14:1 TG0222",
    );
    let hole = complete("n/a", "").replace("outcome: did it", "outcome: <one line: what was achieved>");
    check(&hole, &role("developer"), "malformed none\nE 6:1 TG0210");
}

const ROWS: [(&str, &str); 3] = [("dod", "it adds"), ("dod", "it subtracts"), ("tester", "tests pass")];

#[test]
fn a_dod_checker_judges_rows() {
    let rows = "## Verdict\nBLOCKED\n\n## Verified rows\n- DoD-1 — src/add.rs\n- tests pass\n\n## Gaps\n- it subtracts — no such function\n";
    let reading = check(&complete("BLOCKED", rows), &with_rows("dod-checker", &ROWS), "ok reject");
    let short: Vec<_> =
        reading.report.criteria.iter().map(|row| (&*row.id, row.result, row.evidence.as_str())).collect();
    assert_eq!(
        short,
        [
            ("DoD-1", Judgement::Pass, "src/add.rs"),
            ("DoD-3", Judgement::Pass, ""),
            ("DoD-2", Judgement::Fail, "no such function")
        ]
    );
    assert_eq!(reading.report.findings[0].criterion.as_deref(), Some("DoD-2"));
    assert_eq!(reading.report.findings[0].what, "no such function");
    let all = "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2, DoD-3\n## Gaps\nNone\n";
    check(&complete("APPROVED", all), &with_rows("dod-checker", &ROWS), "ok accept");
}

#[test]
fn a_dod_checker_does_not_contradict_itself() {
    let context = with_rows("dod-checker", &ROWS);
    let check = |verdict: &str, rest: &str, expected: &str| check(&complete(verdict, rest), &context, expected);
    let all = "## Verified rows\n- DoD-1, DoD-2, DoD-3\n";
    check("APPROVED", all, "malformed none\nE 1:1 TG0204");
    check("APPROVED", &format!("## Verdict\nBLOCKED\n{all}"), "malformed none\nE 7:1/13:1 TG0213");
    check("APPROVED", &format!("## Verdict\nfine\n{all}"), "malformed none\nE 13:1 TG0212");
    check("BLOCKED", &format!("## Verdict\nBLOCKED\n{all}"), "malformed none\nE 13:1 TG0217");
    check("REQUEST_CHANGES", &format!("## Verdict: REQUEST_CHANGES\n{all}"), "malformed none\nE 12:13 TG0214");
    check(
        "APPROVED",
        "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2\n## Gaps\n- DoD-3\n",
        "malformed none\nE 13:1/17:3 TG0213",
    );
    check("BLOCKED", &format!("## Verdict\nBLOCKED\n{all}## Gaps\n- DoD-3\n"), "malformed none\nE 17:3/15:3 TG0220");
    check(
        "BLOCKED",
        &format!("## Verdict\nBLOCKED\n{all}## Gaps\n- DoD-4\n- it flies\n"),
        "malformed none\nE 17:3 TG0219\nE 18:3 TG0219",
    );
    check("APPROVED", "## Verdict\nAPPROVED\n## Verified rows\n- DoD-1, DoD-2\n", "ok accept\nW 14:1 TG0221");
}

/// What a checker could not observe needs a waiver: a row does not pass by a ⚠️ among the verified ones.
#[test]
fn a_verified_row_with_a_warning_is_unobservable() {
    let context = with_rows("dod-checker", &ROWS);
    let judged = |rows: &str| {
        let text = complete("APPROVED", &format!("## Verdict\nAPPROVED\n## Verified rows\n{rows}"));
        let reading = check(&text, &context, "ok accept");
        reading.report.criteria.iter().map(|row| format!("{} {:?}", row.id, row.result)).collect::<Vec<_>>().join(", ")
    };
    let rest = "- DoD-2\n- DoD-3\n";
    for odd in ["⚠️ DoD-1 — no browser here", "⚠ DoD-1", "DoD-1 — ⚠️ no browser here", "DoD-1 ⚠️"] {
        assert_eq!(judged(&format!("- {odd}\n{rest}")), "DoD-1 Unobservable, DoD-2 Pass, DoD-3 Pass", "{odd}");
    }
    for fine in ["✓ DoD-1 — the ⚠️ of the builder is right", "DoD-1 — seen, ⚠️ accepted"] {
        assert_eq!(judged(&format!("- {fine}\n{rest}")), "DoD-1 Pass, DoD-2 Pass, DoD-3 Pass", "{fine}");
    }
    let testers = "- DoD-1\n- DoD-2\n- ⚠️ DoD-3 — Tester scope\n";
    assert_eq!(judged(testers), "DoD-1 Pass, DoD-2 Pass, DoD-3 Unobservable", "left to the tester, and not passed");
    let twice = complete("APPROVED", "## Verdict\nAPPROVED\n## Verified rows\n- ⚠️ DoD-1\n- DoD-1\n- DoD-2, DoD-3\n");
    check(&twice, &context, "malformed none\nE 16:3/15:3 TG0220");
}

#[test]
fn a_testers_rows_are_its_verdict() {
    let context = with_rows("tester", &ROWS);
    let read =
        |rows: &str, expected: &str| check(&complete("n/a", &format!("## DoD coverage\n{rows}")), &context, expected);
    let reading = read("- ✓ DoD-3 — tests/add.rs\n- ✗ DoD-1 — broken\n", "ok reject");
    let judged: Vec<_> = reading.report.criteria.iter().map(|row| (&*row.id, row.result)).collect();
    assert_eq!(judged, [("DoD-3", Judgement::Pass), ("DoD-1", Judgement::Fail)], "any ✗ rejects");
    assert_eq!(reading.report.findings[0].criterion.as_deref(), Some("DoD-1"));
    assert_eq!(reading.report.findings[0].what, "broken");
    let reading = read("- ✓ DoD-3\n- ✓ DoD-1\n", "ok accept\nW 14:3 TG0219");
    assert_eq!(reading.report.criteria.len(), 1, "that other rows hold is not its to say");
    read("- ✓ DoD-3\n- ⚠️ DoD-1 — no disk\n", "malformed none\nE 14:3 TG0219");
    let reading = read("- tests pass: ✗ two fail\n", "ok reject");
    assert_eq!(reading.report.findings[0].what, "two fail");
    let reading = read("- ⚠️ DoD-3 — no browser here\n", "ok accept");
    assert_eq!(reading.report.criteria[0].result, Judgement::Unobservable);
    read("- ✓ DoD-1\n", "malformed none\nE 12:1 TG0221\nW 13:3 TG0219");
    read("- ✓ DoD-3\n- ✗ DoD-3\n", "malformed none\nE 14:3/13:3 TG0220");
    read("- DoD-3 holds\n", "malformed none\nE 13:3 TG0222");
    check(&complete("n/a", ""), &context, "malformed none\nE 1:1 TG0204");
    check(&complete("n/a", "## DoD coverage\n- ✓ a — b\n- ❌ c\n"), &role("tester"), "ok reject");
    check(&complete("n/a", "## DoD coverage\nNone\n"), &role("tester"), "malformed none\nE 12:1 TG0221");
    for (rows, expected) in [
        ("- ⚠️ a — no browser", "ok inconclusive"),
        ("- ✓ b\n- ⚠️ a — no browser", "ok inconclusive"),
        ("- ⚠️ a — no browser\n- ✗ b", "ok reject"),
        ("- ✗ b\n- ⚠️ a — no browser", "ok reject"),
    ] {
        check(&complete("n/a", &format!("## DoD coverage\n{rows}\n")), &role("tester"), expected);
    }
    check(&complete("n/a", "## DoD coverage\n- ⚠️ DoD-3 Tester scope\n"), &role("developer"), "ok none");
}

/// A row that is struck through was taken out: it does not pass, and nothing else is wrong with it.
#[test]
fn a_row_that_is_struck_through_does_not_pass() {
    let (tester, checker) = (with_rows("tester", &ROWS), with_rows("dod-checker", &ROWS));
    for row in
        ["~~✓ DoD-3 — tests/add.rs~~", "✓ ~~DoD-3 — tests/add.rs~~", "✓ ~~DoD-3~~ — tests/add.rs", "<del>✓ DoD-3</del>"]
    {
        let text = complete("n/a", &format!("## DoD coverage\n- {row}\n"));
        check(&text, &tester, "malformed none\nE 13:3 TG0220");
        check(&text, &role("tester"), "malformed none\nE 13:3 TG0220");
    }
    check(&complete("n/a", "## DoD coverage\n- ✓ DoD-3 — ~~two~~ three tests\n"), &tester, "ok accept");
    let head = "## Verdict\nAPPROVED\n## Verified rows\n";
    let rest = "- DoD-2, DoD-3\n";
    for row in ["~~DoD-1~~", "~~DoD-1 — src/add.rs~~", "<s>DoD-1</s>"] {
        let text = complete("APPROVED", &format!("{head}- {row}\n{rest}"));
        check(&text, &checker, "malformed none\nE 15:3 TG0220");
    }
    check(&complete("APPROVED", &format!("{head}- DoD-1 — ~~a.rs~~ b.rs\n{rest}")), &checker, "ok accept");
}

#[test]
fn the_next_phase_is_the_protocols() {
    let names = |names: &[&str]| names.iter().map(|name| Name::from(*name)).collect::<Vec<_>>();
    let next = |ok: &[&str]| Context { next: Some(BTreeMap::from([("ok".into(), names(ok))])), ..role("developer") };
    let said = |phase: &str| complete("n/a", "").replace("next_phase: n/a", &format!("next_phase: {phase}"));
    for fine in ["dod-checker", "DoD checker", "DODCHECKER", "n/a"] {
        check(&said(fine), &next(&["dod-checker"]), "ok none");
    }
    for (odd, names) in
        [("reviewer", &["dod-checker"][..]), ("stop, surface to human", &["dod-checker"]), ("reviewer", &[])]
    {
        check(&said(odd), &next(names), "malformed none\nE 9:1 TG0215");
    }
    check(&said("stop, surface to human"), &next(&[]), "ok none");
    check(&said("stop, surface to human"), &next(&["dod-checker", "person"]), "ok none");
    let failed = report("failed", "x", "n/a", NO_FILES, "0", "")
        .replace("next_phase: n/a", "next_phase: stop, surface to human");
    check(&failed, &next(&["dod-checker"]), "failed none");
}

/// A dot in front of a path is part of it, unless it only says where paths begin.
#[test]
fn a_finding_names_its_path_as_it_is() {
    for (said, path) in [
        (".github/ci.yml:3", ".github/ci.yml"),
        ("`./.github/ci.yml`", ".github/ci.yml"),
        ("./api/a:3", "api/a"),
        ("(src/a.rs:3).", "src/a.rs"),
    ] {
        let found = complete("REQUEST_CHANGES", &format!("## Findings\n- [major] {said} — wrong\n"));
        let reading = check(&found, &role("reviewer"), "ok reject");
        assert_eq!(reading.report.findings.first().and_then(|finding| finding.path.as_deref()), Some(path), "{said}");
    }
}

#[test]
fn the_next_phase_fits_the_verdict() {
    let routes =
        BTreeMap::from([("accept".into(), vec!["tester".into()]), ("reject".into(), vec!["developer".into()])]);
    let context = Context { next: Some(routes), ..role("reviewer") };
    let said = |verdict: &str, rest: &str, phase: &str| {
        complete(verdict, rest).replace("next_phase: n/a", &format!("next_phase: {phase}"))
    };
    let findings = "## Findings\n- [major] `a.rs:1` — wrong\n";
    check(&said("APPROVED", "", "tester"), &context, "ok accept");
    check(&said("APPROVED", "", "developer"), &context, "malformed none\nE 9:1 TG0215");
    check(&said("REQUEST_CHANGES", findings, "developer"), &context, "ok reject");
    check(&said("REQUEST_CHANGES", findings, "tester"), &context, "malformed none\nE 9:1 TG0215");
    let told = StatusBlock.instructions(&context);
    assert!(told.contains("- `next_phase` is `tester` when you accept, `developer` when you reject.\n"), "{told}");
}

#[test]
fn a_repair_names_what_it_addressed() {
    let reading = check(
        &complete("n/a", "## Addressed findings\n- fnd_1, fnd_2: both\n- `fnd_9`\n"),
        &role("developer"),
        "ok none",
    );
    let ids = reading.report.claims.addresses.unwrap_or_default();
    assert_eq!(ids, [1, 2, 9].map(crate::id::FindingId));
    check(
        &complete("n/a", "## Addressed findings\n- the first\n"),
        &role("developer"),
        "malformed none\nE 13:3 TG0222",
    );
    assert_eq!(read(&complete("n/a", ""), &role("developer")).report.claims.addresses, None);
}

#[test]
fn what_was_read_is_what_the_report_is_made_of() {
    fn reads(reading: &Reading) -> Vec<&str> {
        reading.report.reads.iter().map(|read| &*read.section).collect()
    }
    let rest = "## Quality-Gate Results\nok\n\n## Findings\n- [major] a.rs:1 — no\n\n## Open Questions\nNone\n";
    let reading = read(&complete("REQUEST_CHANGES", rest), &role("reviewer"));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract", "Findings"]);
    assert_eq!(reading.report.reads[3].bytes, "- [major] a.rs:1 — no".len() as u64);
    let reading = read(&complete("APPROVED", &rest.replace("major", "minor")), &role("reviewer"));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract"], "an approval's findings decide nothing");
    let present: Vec<&str> = reading.present.iter().map(|(name, _)| &**name).collect();
    assert_eq!(present, ["Status", "Status reason", "Abstract", "Quality-Gate Results", "Findings", "Open Questions"]);
    let coverage = "## DoD coverage\n- ✓ DoD-1\n";
    assert_eq!(reads(&read(&complete("n/a", coverage), &role("tester"))).last(), Some(&"DoD coverage"));
    assert_eq!(reads(&read(&complete("n/a", coverage), &role("developer"))), ["Status", "Status reason", "Abstract"]);
    let gaps = "## Verdict\nBLOCKED\n## Verified rows\n- DoD-1\n## Gaps\n- DoD-2\n";
    let reading = read(&complete("BLOCKED", gaps), &role("dod-checker"));
    assert_eq!(reads(&reading), ["Status", "Status reason", "Abstract", "Verdict", "Verified rows", "Gaps"]);
    assert_eq!(reads(&read(&complete("perhaps", gaps), &role("dod-checker"))), ["Status"]);
}

#[test]
fn later_agents_are_shown_sections_by_their_declared_names() {
    let rest = "## Files Created\n- `a`\n\n## Files Modified\nNone\n\n## Quality-Gate Results\n12 passed\n\n## Key Decisions\nuse b\n";
    let text = report("complete", "", "n/a", "1 created, 0 modified, 0 deleted", "0", rest);
    let reading = check(&text, &role("developer"), "ok none");
    let declared = StatusBlock.declaration().sections;
    assert!(reading.sections.keys().all(|name| declared.contains_key(name)));
    assert_eq!(
        reading.sections.get("files").map(String::as_str),
        Some("Files Created:\n- `a`\n\nFiles Modified:\nNone")
    );
    assert_eq!(reading.sections.get("quality_gates").map(String::as_str), Some("12 passed"));
    assert!(!reading.sections.contains_key("coverage"));
}

#[test]
fn deleted_files_that_the_count_leaves_out_are_missed() {
    let files = "## Files Deleted\n- `src/a.rs`\n";
    let text = report("complete", "", "n/a", "0 created, 0 modified", "0", files);
    let reading = check(&text, &role("developer"), "malformed none\nE 8:1/12:1 TG0211");
    assert!(reading.diagnostics[0].message.contains("leaves deleted files out"), "{:?}", reading.diagnostics);
    check(&text.replace("0 modified", "0 modified, 1 deleted"), &role("developer"), "ok none");
    check(
        &text.replace("0 modified", "0 modified, 2 deleted"),
        &role("developer"),
        "malformed none\nE 8:1/12:1 TG0211",
    );
}
