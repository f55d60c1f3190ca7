//! The form for scripts: one JSON object says what the Markdown form does.

use super::*;
use tollgate_core::report::{Health, Judgement, Verdict};

#[track_caller]
fn object(text: &str, context: &Context, expected: &str) -> Reading {
    check(text, context, expected)
}

#[test]
fn an_object_is_read_as_the_markdown_form_is() {
    let checker = with_rows(Part::Checker, &ROWS);
    let rows = r#"{"id": "DoD-1", "result": "pass", "evidence": "seen"}, {"id": "DoD-3", "result": "unobservable"}"#;
    let text = format!(
        r#" {{"status": "complete", "verdict": "reject", "rows": [{rows}, {{"id": "DoD-2", "result": "fail", "evidence": "no"}}]}} "#
    );
    let reading = object(&text, &checker, "ok reject");
    let judged: Vec<_> = reading.report.criteria.iter().map(|row| (&*row.id, row.result)).collect();
    let expected = [("DoD-1", Judgement::Pass), ("DoD-3", Judgement::Unobservable), ("DoD-2", Judgement::Fail)];
    assert_eq!(judged, expected);
    assert_eq!(reading.report.findings[0].what, "no");

    let built = r#"{"status": "complete", "files": [{"path": "src/a b.rs"}, {"path": "old", "deleted": true}]}"#;
    let claims = object(built, &by(Part::Developer), "ok none").report.claims;
    assert_eq!((claims.modified, claims.deleted), (vec!["src/a b.rs".into()], vec!["old".into()]));

    let review = r#"{"status": "complete", "verdict": "reject", "findings": ["[major] src/a.rs:3 (BE-1) — it leaks"]}"#;
    let finding = &object(review, &by(Part::Reviewer), "ok reject").report.findings[0];
    assert_eq!((finding.path.as_deref(), finding.line, &*finding.what), (Some("src/a.rs"), Some(3), "it leaks"));

    let asks = r#"{"status": "blocked", "reason": "no port", "questions": ["Which port?"]}"#;
    let reading = object(asks, &by(Part::Developer), "needs_input none");
    assert!(reading.report.questions[0].blocking && reading.report.reason == "no port");

    for (result, expected) in [("pass", "ok accept"), ("fail", "ok reject")] {
        let tested = format!(r#"{{"status": "complete", "rows": [{{"id": "DoD-3", "result": "{result}"}}]}}"#);
        object(&tested, &with_rows(Part::Tester, &ROWS), expected);
    }
}

/// It is found as a report is: alone. Among other text, or without `status`, it is none.
#[test]
fn only_a_whole_text_is_an_object() {
    let text = r#"{"status": "complete"}"#;
    let read = |text: &str| StatusBlock.read(text, &by(Part::Developer)).report;
    assert_eq!((read(text).health, read(text).verdict), (Health::Ok, Verdict::None));
    for other in [format!("Here:\n{text}"), "{}".to_owned(), format!("[{text}]"), "{\"status\": ".to_owned()] {
        assert_eq!(read(&other).health, Health::Malformed, "{other}");
    }
}

#[test]
fn the_rules_hold_for_an_object_too() {
    let code = |text: &str, context: &Context| {
        let reading = read(text, context);
        assert_eq!(reading.report.health, Health::Malformed, "{text}");
        reading.diagnostics[0].code.to_string()
    };
    let developer = by(Part::Developer);
    assert_eq!(code(r#"{"status": "done"}"#, &developer), "TG0247");
    assert_eq!(code(r#"{"status": "complete", "mood": "good"}"#, &developer), "TG0247");
    assert_eq!(code(r#"{"status": "failed"}"#, &developer), "TG0203");
    assert_eq!(code(r#"{"status": "blocked", "reason": "x"}"#, &developer), "TG0216");
    assert_eq!(code(r#"{"status": "complete", "verdict": "accept"}"#, &developer), "TG0214");
    assert_eq!(code(r#"{"status": "complete", "verdict": "reject"}"#, &by(Part::Reviewer)), "TG0217");
    assert_eq!(code(r#"{"status": "complete", "findings": ["it leaks"]}"#, &by(Part::Reviewer)), "TG0218");
    let tested = r#"{"status": "complete", "verdict": "accept", "rows": [{"id": "DoD-3", "result": "fail"}]}"#;
    assert_eq!(code(tested, &with_rows(Part::Tester, &ROWS)), "TG0213");
    let failed = r#"{"status": "failed", "reason": "x", "verdict": "accept"}"#;
    assert_eq!(code(failed, &by(Part::Reviewer)), "TG0213");
}
