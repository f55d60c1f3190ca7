//! The grammar: what each section may hold, and that all errors of the form are given at once.

use super::*;

/// Checks a section of a developer's report.
#[track_caller]
fn section(rest: &str, expected: &str) -> Reading {
    check(&complete("n/a", rest), &by(Part::Developer), expected)
}

#[test]
fn a_status_is_one_of_four_words_and_first() {
    let ask = "## Open Questions\n- Which port?\n";
    section("", "ok none");
    let blocked = report("blocked", "spec is silent", "n/a", NO_FILES, "1", ask);
    check(&blocked, &by(Part::Developer), "needs_input none");
    check(&report("failed", "no compiler", "n/a", NO_FILES, "0", ""), &by(Part::Developer), "failed none");
    check(&report("incomplete", "18 of 22 rows", "n/a", NO_FILES, "0", ""), &by(Part::Developer), "exhausted none");
    for odd in ["Complete", "done", "ESCALATED", "complete or so", "complete\nblocked", ""] {
        let reading = read(&report(odd, "", "n/a", NO_FILES, "0", ""), &by(Part::Developer));
        assert!(shown(&reading).starts_with("malformed none\nE "), "{odd}: {}", shown(&reading));
        assert_eq!(reading.diagnostics[0].code.as_str(), "TG0202", "{odd}");
        assert!(!reading.report.reason.is_empty());
    }
    let good = complete("n/a", "");
    check(&good.replace("## Status\ncomplete", "## Status: complete"), &Context::default(), "ok none");
    check(&good.replace("complete", "`complete`"), &Context::default(), "ok none");
    check(&format!("## Iteration\niter 1\n{good}"), &Context::default(), "malformed none\nE 3:1/1:1 TG0207");
    check("## Key Decisions\nx\n", &Context::default(), "malformed none\nE 1:1 TG0204\nE 1:1 TG0204");
}

#[test]
fn the_abstract_has_five_fields() {
    let good = complete("n/a", "");
    for (said, expected) in [
        ("verdict: **n/a**", "ok none"),
        ("**verdict:** n/a", "ok none"),
        ("**verdict: n/a**", "ok none"),
        ("- **verdict**: n/a", "ok none"),
        ("Verdict: 'n/a'", "ok none"),
        ("verdict: N/A", "malformed none\nE 7:1 TG0210"),
        ("verdict: **n/a", "malformed none\nE 7:1 TG0210"),
        ("mood: good", "malformed none\nE 7:1 TG0210"),
        ("verdict: n/a\nverdict: n/a", "malformed none\nE 8:1/7:1 TG0210"),
    ] {
        check(&good.replace("verdict: n/a", said), &by(Part::Developer), expected);
    }
    let cut = &good[..good.find("files:").unwrap()];
    let reading = check(cut, &by(Part::Developer), "malformed none\nE 5:1 TG0210");
    assert_eq!(reading.diagnostics[0].message, "`## Abstract` has no `files:`, `next_phase:`, `open_questions:`");
    let fenced = good.replace("outcome:", "```yaml\noutcome:").replace("open_questions: 0", "open_questions: 0\n```");
    check(&fenced, &by(Part::Developer), "ok none");
    let table = good.replace("outcome: did it", "| field | value |\n|---|---|\n| outcome | did it |");
    check(&table, &by(Part::Developer), "malformed none\nE 6:1 TG0210");
}

#[test]
fn a_list_is_its_items_or_the_word_none() {
    let ask = |count: &str, questions: &str, expected: &str| {
        let text = report("complete", "", "n/a", NO_FILES, count, &format!("## Open Questions\n{questions}"));
        check(&text, &by(Part::Developer), expected)
    };
    for none in ["None\n", "none", "None.", "- None\n", "*None*\n", "", "<!-- one each -->\nNone\n---\n"] {
        ask("0", none, "ok none");
    }
    for items in ["- a\n- b\n", "* a\n* b\n", "+ a\n\n+ b\n", "1. a\n   more\n2. b\n", "- a\n  - sub\n\n  more\n- b\n"]
    {
        assert_eq!(ask("2", items, "ok none").report.questions.len(), 2, "{items}");
    }
    // Text after the last list of the report decides nothing.
    ask("0", "None\n\nAll done, thank you.\n", "ok none\nW 15:1 TG0224");
    ask("1", "- a\n\nAll done.\n", "ok none\nW 15:1 TG0224");
    let not_last = |list: &str, expected: &str| {
        let text = format!("## DoD coverage\n{list}\n## Key Decisions\n");
        section(&text, &format!("malformed none\n{expected}"))
    };
    not_last("All rows hold.\n", "E 13:1 TG0224");
    not_last("No rows.\n", "E 13:1 TG0224");
    not_last("n/a\n", "E 13:1 TG0224");
    not_last("### Backend\n- ✓ DoD-1\n", "E 13:1 TG0224");
    not_last("| Row | Result |\n|---|---|\n", "E 13:1 TG0224");
    not_last("<div>x</div>\n", "E 13:1 TG0224");
    not_last("- None\n- ✓ DoD-1\n", "E 14:3/13:3 TG0224");
    not_last("None\n\n- ✓ DoD-1\n", "E 15:3/13:1 TG0224");
}

#[test]
fn sections_are_single_and_whole() {
    section("## Files Created\nNone\n### Gaps\n- DoD-1\n", "malformed none\nE 14:1 TG0225");
    section("## Key Decisions\n### Why\nx\n### Gaps\n- DoD-1\n", "ok none\nW 15:1 TG0225");
    section("## Key Decisions\na\n## Key Decisions\nb\n", "malformed none\nE 14:1/12:1 TG0205");
    section("## Quality-Gate Results\n```\n12 passed\n", "malformed none\nE 13:1 TG0208");
    section("## Iteration\nthe second\n", "ok none\nW 12:1 TG0222");
    section("## Iteration\niter 2\n", "ok none");
}

#[test]
fn a_file_comes_first_in_its_item() {
    for (item, path, note) in [
        ("src/a.rs", "src/a.rs", ""),
        ("`src/a b.rs` — new", "src/a b.rs", "new"),
        ("src/a.rs: also `src/b.rs`", "src/a.rs", "also `src/b.rs`"),
        ("Makefile (the build)", "Makefile", "(the build)"),
        ("\"src/\\303\\244.rs\" — new", "\"src/\\303\\244.rs\"", "new"),
        ("src/a.rs - x\n  - sub", "src/a.rs", "x\n- sub"),
    ] {
        let text =
            report("complete", "", "n/a", "1 created, 0 modified", "0", &format!("## Files Created\n- {item}\n"));
        let reading = check(&text, &by(Part::Developer), "ok none");
        assert_eq!(reading.report.claims.created, [Name::from(path)], "{item}");
        let shown = reading.sections.get("files").map(String::as_str).unwrap_or_default();
        assert!(shown.contains(note.lines().next().unwrap_or_default()), "{item}");
    }
    for item in ["Added `src/a.rs`", "`src/a.rs` `src/b.rs`", "src/a.rs, src/b.rs", "[a](src/a.rs)", "the parser"] {
        let text =
            report("complete", "", "n/a", "1 created, 0 modified", "0", &format!("## Files Created\n- {item}\n"));
        check(&text, &by(Part::Developer), "malformed none\nE 13:3 TG0222");
    }
}

#[test]
fn a_finding_has_severity_place_rule_and_text() {
    for (said, path, line, rule) in [
        ("`src/a.rs:42` (BE-012) — x", "src/a.rs", Some(42), Some("BE-012")),
        ("src/a.rs:42:7: x", "src/a.rs", Some(42), None),
        ("`src/a.rs`:42 — x", "src/a.rs", Some(42), None),
        ("`src/my cart.rs:42-50` — x", "src/my cart.rs", Some(42), None),
        ("src/a.rs#L42 SE-1: x", "src/a.rs", Some(42), Some("SE-1")),
        (".github/ci.yml — x", ".github/ci.yml", None, None),
        ("`./api/a` — x", "api/a", None, None),
    ] {
        for severity in ["[major]", "**major**", "major:"] {
            let text = complete("REQUEST_CHANGES", &format!("## Findings\n- {severity} {said}\n"));
            let reading = check(&text, &by(Part::Reviewer), "ok reject");
            let [finding] = &reading.report.findings[..] else { panic!("{said}: {:?}", reading.report.findings) };
            assert_eq!((finding.path.as_deref(), finding.line), (Some(path), line), "{said}");
            assert_eq!((finding.category.as_deref(), &*finding.what), (rule, "x"), "{said}");
        }
    }
    let reading = check(EXAMPLE, &by(Part::Reviewer), "ok reject");
    assert_eq!(reading.report.findings[1].repeats, Some(tollgate_core::id::FindingId(7)));
    let wrong = "## Change requests\n- it is ugly\n- [major] a.rs:1\n- [minor] either/or is unclear\n";
    let expected = "malformed none\nE 13:3 TG0218\nE 14:3 TG0218\nW 15:3 TG0218";
    check(&complete("REQUEST_CHANGES", wrong), &by(Part::Reviewer), expected);
}

#[test]
fn a_row_begins_with_its_mark() {
    for line in ["✓ DoD-3 — seen", "**✓ DoD-3** — seen", "(✓) DoD-3 — seen", "[✅] DoD-3 — seen", "✔ **DoD-3**: seen ✗"]
    {
        let text = complete("n/a", &format!("## DoD coverage\n- {line}\n"));
        let reading = check(&text, &by(Part::Tester), "ok accept");
        assert_eq!(&*reading.report.criteria[0].id, "DoD-3", "{line}");
    }
    section("## DoD coverage\n- DoD-3 ✓ holds\n- [x] DoD-3\n", "malformed none\nE 13:3 TG0222\nE 14:3 TG0222");
}

#[test]
fn a_repair_names_what_it_addressed() {
    let reading = section("## Addressed findings\n- fnd_1, fnd_2: both\n- `fnd_9`\n", "ok none");
    assert_eq!(reading.report.claims.addresses.unwrap_or_default(), [1, 2, 9].map(tollgate_core::id::FindingId));
    section("## Addressed findings\n- the first\n", "malformed none\nE 13:3 TG0222");
    assert_eq!(section("", "ok none").report.claims.addresses, None);
}

/// Rules are applied only to what could be read, so that no error only follows from another.
#[test]
fn all_errors_of_the_form_come_before_those_of_the_rules() {
    let rest = "## DoD coverage\nx\n## Findings\n- y\n## Verdict\nAPPROVED\n";
    let text = report("fine", "", "maybe", "some", "few", rest);
    let expected =
        "malformed none\nE 2:1 TG0202\nE 7:1 TG0210\nW 8:1 TG0211\nE 10:1 TG0210\nE 13:1 TG0224\nE 15:3 TG0218";
    check(&text, &by(Part::Checker), expected);
}

#[test]
fn line_ends_and_hidden_characters_change_nothing() {
    let text = complete("n/a", "## Key Decisions\na\nb\n## Open Questions\n- None\n");
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let (one, other) = (read(&text, &by(Part::Developer)), read(&windows, &by(Part::Developer)));
    assert_eq!((&one.report.health, &one.sections), (&tollgate_core::report::Health::Ok, &other.sections));
    assert_eq!(one.diagnostics, other.diagnostics);
    let evil = "\u{1b}[31mred\u{202e}\u{7}";
    let ask = format!("## Open Questions\n- {evil}\n## {evil}\nx\n");
    let reading = read(&report("blocked", evil, "n/a", NO_FILES, "1", &ask), &by(Part::Developer));
    let told = format!("{:?}{:?}{:?}", reading.report, reading.diagnostics, reading.sections);
    assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']) && !told.contains("\\u{1b}["), "{told}");
}

/// A template that was filled in is a valid report.
#[test]
fn a_filled_template_is_a_valid_report() {
    for (part, verdict, expected) in [
        (Part::Developer, "n/a", "ok none"),
        (Part::Checker, "BLOCKED", "ok reject"),
        (Part::Reviewer, "REQUEST_CHANGES", "ok reject"),
        (Part::Tester, "n/a", "ok reject"),
    ] {
        let context = with_rows(part, &[("dod", "a"), ("tester", "b")]);
        let mut rows = 0;
        let line = |line: &str| {
            let line = match line.split_once(": ") {
                Some(("verdict", _)) => format!("verdict: {verdict}"),
                Some(("files", _)) => "files: 1 created, 1 modified, 0 deleted".to_owned(),
                Some(("next_phase", _)) => "next_phase: n/a".to_owned(),
                Some(("open_questions", _)) => "open_questions: 0".to_owned(),
                _ => line.to_owned(),
            };
            rows += usize::from(line.contains("<DoD-N>"));
            // A tester's first row is DoD-2, the one of its scope.
            let row = if part == Part::Tester { 3 - rows.clamp(1, 2) } else { rows.clamp(1, 2) };
            let line = line.replace("<DoD-N>", &format!("DoD-{row}")).replace("<critical | major | minor>", "major");
            let line = line.replace("<complete | blocked | failed | incomplete>", "complete");
            let line = line.replace("<APPROVED | BLOCKED>", verdict).replace("<path>", "src/a.rs");
            line.replace("<line>", "3").replace("<RULE-1>", "BE-1").replace("<N>", "2")
        };
        let filled: Vec<String> = StatusBlock.template(&context).lines().map(line).collect();
        check(&filled.join("\n"), &context, expected);
    }
}
