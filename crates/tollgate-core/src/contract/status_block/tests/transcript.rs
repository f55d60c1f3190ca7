//! Which report counts in what a worker really prints.

use super::*;
use crate::report::Health;

fn prompted(prompt: &str) -> Context {
    Context { prompt: Some(prompt.to_owned()), ..role("developer") }
}

#[test]
fn the_last_report_counts() {
    let first = complete("n/a", "## Key Decisions\nfirst\n");
    let last = report("failed", "no disk", "n/a", "0 created, 0 modified, 0 deleted", "0", "");
    check(&format!("Let me see.\n\n# Report\n\n{first}\n{last}"), &role("developer"), "failed none\nW 5:1 TG0209");
    check(&format!("{first}\n## Status\ncompl"), &role("developer"), "malformed none\nW 1:1 TG0209\nE 16:6 TG0208");
    check(&format!("{first}\n## Stat"), &role("developer"), "malformed none\nW 1:1 TG0209\nE 15:1 TG0208");
}

#[test]
fn an_echo_is_no_report() {
    let prompt = format!("Do it.\n\n{}\nGo.\n", StatusBlock.instructions(&role("developer")));
    let template = prompt.split("```markdown\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let real = complete("n/a", "## Key Decisions\nreal\n");
    check(&prompt, &prompted(&prompt), "malformed none\nE 17:1 TG0201");
    check(&format!("{prompt}\n{real}"), &prompted(&prompt), "ok none");
    check(template, &prompted(&prompt), "malformed none\nE 1:1 TG0201");
    let reading = check(&format!("{real}\n{template}"), &prompted(&prompt), "ok none");
    assert_eq!(reading.sections.get("decisions").map(String::as_str), Some("real"));
    // A report in the prompt, not fenced, comes back alone, with the rest of the prompt, and mended.
    let old = complete("n/a", "## Key Decisions\nold\n");
    let shown = format!("Again, please. You said:\n\n{old}\nMend it.\n");
    check(&shown, &prompted(&shown), "malformed none\nE 3:1 TG0201");
    check(&old, &prompted(&shown), "malformed none\nE 1:1 TG0201");
    check(&old.replace("old", "new"), &prompted(&shown), "ok none");
    check(&format!("{shown}\n{real}"), &prompted(&shown), "ok none");
    check(&real, &prompted("Begin with\n\n## Status\n"), "ok none");
}

#[test]
fn a_fenced_report_is_an_example() {
    let reading = check(
        &format!("```markdown\n{}```\n", complete("n/a", "")),
        &role("developer"),
        "malformed none\nE 2:1 TG0201",
    );
    assert!(reading.diagnostics[0].message.contains("code fence"), "{:?}", reading.diagnostics);
    check("", &role("developer"), "malformed none\nE 1:1 TG0201");
    let open = format!("So:\n\n~~~\nlog\n{}", complete("n/a", ""));
    let reading = check(&open, &role("developer"), "malformed none\nE 3:1 TG0201");
    assert!(reading.diagnostics[0].hint.as_deref().unwrap_or_default().contains("code fence that begins here"));
}

#[test]
fn line_ends_and_marks_of_other_systems_change_nothing() {
    let text = complete("n/a", "## Key Decisions\na\nb\n");
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let (one, other) = (read(&text, &role("developer")), read(&windows, &role("developer")));
    assert_eq!(one.report.health, Health::Ok);
    assert_eq!(one.sections, other.sections);
    assert_eq!(one.diagnostics, other.diagnostics);
    let old = read(&text.replace('\n', "\r"), &role("developer"));
    assert_eq!((old.report.health, old.sections), (Health::Ok, one.sections));
    check(&windows.replace("complete", "häh"), &role("developer"), "malformed none\nE 2:1 TG0202");
}

#[test]
fn nothing_a_terminal_obeys_gets_out() {
    let evil = "\u{1b}]0;owned\u{7}\u{202e}";
    let ask = format!("## Open Questions\n- Is {evil} it?\n\n## Odd {evil}\nx\n");
    let text = report("blocked", &format!("see {evil}"), "n/a", "0 created, 0 modified, 0 deleted", "1", &ask);
    for text in [text.clone(), text.replace("n/a", evil)] {
        let reading = read(&text, &role("developer"));
        let told = format!("{:?}{:?}", reading.diagnostics, reading.sections);
        let texts = reading
            .report
            .questions
            .iter()
            .map(|question| question.text.clone())
            .chain([reading.report.reason.clone()]);
        let messages = reading.diagnostics.iter().map(|diagnostic| diagnostic.message.clone());
        for said in texts.chain(messages).chain(reading.sections.values().cloned()) {
            assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?} {told}");
        }
    }
}

#[test]
fn instructions_speak_to_the_role() {
    let of = |name: &str| StatusBlock.instructions(&with_rows(name, &[("dod", "a"), ("tester", "b")]));
    assert!(of("developer").contains("verdict: n/a\n"));
    assert!(of("dod-checker").contains("## Gaps\n"));
    assert!(of("reviewer").contains("APPROVED | REQUEST_CHANGES"));
    assert!(of("tester").contains("(DoD-2)"));
}

#[test]
fn rules_and_comments_between_sections_say_nothing() {
    let text =
        complete("n/a", "## Open Questions\n<!-- one item each -->\nNone\n\n---\n").replace("\n## ", "\n\n---\n\n## ");
    let text = text.replace("## Status\n", "## Status\n<!-- complete | blocked\n| failed -->\n");
    check(&text, &role("developer"), "ok none");
    check(&text.replace("None\n\n---", "None\n---"), &role("developer"), "ok none");
}

#[test]
fn lists_may_be_plain_lines() {
    let files = "## Files Created\nsrc/a.rs\nsrc/b.rs — new\n\n## Files Modified\n```\nsrc/c.rs\n```\n";
    let text = report("complete", "", "n/a", "2 created, 1 modified, 0 deleted", "0", files);
    let reading = check(&text, &role("developer"), "ok none");
    assert_eq!(reading.report.claims.modified, ["src/c.rs".into()] as [Name; 1]);
}

/// Whoever fills in the template as it stands has reported well.
#[test]
fn a_filled_template_is_a_valid_report() {
    let rows = [("dod", "a"), ("tester", "b")];
    for (name, verdict, expected) in [
        ("developer", "n/a", "ok none"),
        ("dod-checker", "BLOCKED", "ok reject"),
        ("reviewer", "REQUEST_CHANGES", "ok reject"),
        ("tester", "n/a", "ok reject"),
    ] {
        let context = with_rows(name, &rows);
        let told = StatusBlock.instructions(&context);
        let template =
            told.split("```markdown\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a template");
        let mut filled = String::new();
        let mut rows = 0;
        for line in template.lines() {
            let line = match line.split_once(": ") {
                Some(("outcome", _)) => "outcome: done".to_owned(),
                Some(("verdict", _)) => format!("verdict: {verdict}"),
                Some(("files", _)) => "files: 1 created, 1 modified, 0 deleted".to_owned(),
                Some(("next_phase", _)) => "next_phase: n/a".to_owned(),
                Some(("open_questions", _)) => "open_questions: 0".to_owned(),
                _ => line.to_owned(),
            };
            if line.contains("<DoD-N>") {
                rows += 1;
            }
            // A tester's first row is DoD-2, the one of its scope; its ✗ is on DoD-1.
            let row = format!("DoD-{}", if name == "tester" { 3 - rows.clamp(1, 2) } else { rows.clamp(1, 2) });
            let line = line.replace("<DoD-N>", &row).replace("<critical | major | minor>", "major").replace("<N>", "2");
            let line = line
                .replace("<complete | blocked | failed | incomplete>", "complete")
                .replace("<APPROVED | BLOCKED>", verdict);
            let line = line.replace("<line>", "3").replace("<path>", "src/a.rs").replace("<RULE-1>", "BE-1");
            filled.push_str(&line.replace(['<', '>'], ""));
            filled.push('\n');
        }
        check(&filled, &context, expected);
    }
}

/// Noise before a report, however much and however odd, does not hide it.
#[test]
fn the_last_report_counts_in_any_noise() {
    let last = complete("n/a", "## Key Decisions\nlast\n");
    let early = complete("n/a", "").replace("complete", "failed");
    let long = "the tests run\n".repeat(crate::contract::markdown::BYTES_MAX / 14 + 1);
    let deep = format!("{}x\n", "> ".repeat(64));
    for noise in [format!("{early}{long}"), format!("{early}{deep}"), format!("{deep}{long}{deep}")] {
        let early = if noise.starts_with("## Status") { "\nW 1:1 TG0209" } else { "" };
        let reading = check(&format!("{noise}{last}"), &role("developer"), &format!("ok none{early}"));
        assert_eq!(reading.sections.get("decisions").map(String::as_str), Some("last"));
    }
    let line = long.lines().count() + 2;
    let wrong = last.replace("complete", "fine");
    let expected = format!("malformed none\nE {line}:1 TG0202");
    check(&format!("{long}{wrong}"), &role("developer"), &expected);
    // A report that itself is too long is not read from its middle.
    let swollen = complete("n/a", &format!("## Key Decisions\n{long}\n## Open Questions\nNone\n"));
    check(&swollen, &role("developer"), "malformed none\nE 1:1 TG0200");
    check(&format!("{last}## Key Decisions\n{deep}"), &role("developer"), "malformed none\nE 15:1 TG0200");
}

#[test]
fn a_text_that_is_too_large_is_not_read() {
    let text = format!("{}{}", complete("n/a", ""), "x".repeat(crate::contract::markdown::BYTES_MAX));
    check(&text, &role("developer"), "malformed none\nE 1:1 TG0200");
    check(
        &format!("{}\n{}x", complete("n/a", ""), "> ".repeat(64)),
        &role("developer"),
        "malformed none\nE 13:1 TG0200",
    );
}
