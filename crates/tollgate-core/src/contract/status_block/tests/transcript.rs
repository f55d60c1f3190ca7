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
    check(
        &format!("{first}\n## Status\ncompl"),
        &role("developer"),
        "malformed none\nW 1:1 TG0209\nE 15:1 TG0204\nE 16:1 TG0202",
    );
    check(&format!("{first}\n## Stat"), &role("developer"), "malformed none\nE 15:1 TG0208");
}

#[test]
fn an_echo_is_no_report() {
    let prompt = format!("Do it.\n\n{}\nGo.\n", StatusBlock.instructions(&role("developer")));
    let template = prompt.split("```markdown\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let real = complete("n/a", "## Key Decisions\nreal\n");
    check(&prompt, &prompted(&prompt), "malformed none\nE 0:0 TG0201");
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
        "malformed none\nE 0:0 TG0201",
    );
    assert!(reading.diagnostics[0].hint.as_deref().unwrap_or_default().contains("code fence"));
    check("", &role("developer"), "malformed none\nE 0:0 TG0201");
}

#[test]
fn line_ends_and_marks_of_other_systems_change_nothing() {
    let text = complete("n/a", "## Key Decisions\na\nb\n");
    let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let (one, other) = (read(&text, &role("developer")), read(&windows, &role("developer")));
    assert_eq!(one.report.health, Health::Ok);
    assert_eq!(one.sections, other.sections);
    assert_eq!(one.diagnostics, other.diagnostics);
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
