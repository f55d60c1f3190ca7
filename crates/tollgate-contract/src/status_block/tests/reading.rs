//! What a report is made of, what is shown of it, and the instructions for its writer.

use super::*;
use tollgate_core::report::Verdict;

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
        assert_eq!(told(&read(&filled.join("\n"), &context)).lines().next(), Some(expected));
    }
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
    let reading = read(&text, &by(Part::Developer));
    assert_eq!(reading.diagnostics, []);
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
    let reading = read(&text, &by(Part::Developer));
    assert_eq!(reading.report.health, Health::Malformed);
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

/// An object is found as a report is: alone. Among other text, or without `status`, it is none.
#[test]
fn only_a_whole_text_is_an_object() {
    let text = r#"{"status": "complete"}"#;
    let read = |text: &str| StatusBlock.read(text, &by(Part::Developer)).report;
    assert_eq!((read(text).health, read(text).verdict), (Health::Ok, Verdict::None));
    for other in [format!("Here:\n{text}"), "{}".to_owned(), format!("[{text}]"), "{\"status\": ".to_owned()] {
        assert_eq!(read(&other).health, Health::Malformed, "{other}");
    }
}
