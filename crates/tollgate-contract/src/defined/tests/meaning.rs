//! What each contract's words mean, by the pair of health and verdict.

use super::*;
use crate::ReportDialect;

/// The example of a contract with some values put in, written as JSON `{"path": value}`.
fn said(contract: &str, role: &str, changes: &str) -> String {
    let own = registry::defined(contract).expect(contract);
    let changes: serde_json::Value = serde_json::from_str(changes).expect("JSON");
    let mut document = own.definition.example.clone();
    for (path, value) in changes.as_object().expect("a map") {
        let value = crate::tree::json::read(&value.to_string()).expect("JSON").into_owned();
        let steps: Vec<tollgate_core::Name> = path.split('.').map(Into::into).collect();
        definition::put(&mut document, &steps, Some(&value));
    }
    let text = text_of(own, &document);
    let role = Some(role).filter(|role| !role.is_empty()).map(Into::into);
    let reading = ReportDialect::read(own, &text, &Context { role, ..Context::default() });
    assert!(reading.diagnostics.is_empty(), "{contract} {changes}: {:?}", told(&reading.diagnostics));
    let report = reading.report;
    let code = report.code.map(|code| format!(".{code}")).unwrap_or_default();
    let counted = |count: usize, sign: &str| if count > 0 { format!(" {count}{sign}") } else { String::new() };
    let asked = report.questions.iter().map(|question| if question.blocking { "?!" } else { "?" }).collect::<String>();
    let more = counted(report.findings.len(), "f") + &counted(report.criteria.len(), "c");
    format!("{}{code}/{}{more} {asked}", report.health.word(), report.verdict.word()).trim_end().to_owned()
}

#[test]
fn words_mean_what_the_pair_says() {
    let comment = r#""artifacts.review_comments": [{"severity": "minor", "message": "x"}]"#;
    let nit = r#""artifacts.review_comments": [{"severity": "nit", "message": "x"}]"#;
    let low = r#""artifacts.findings": [{"severity": "low", "description": "x"}]"#;
    let medium = r#""artifacts.findings": [{"severity": "medium", "description": "x"}]"#;
    let finding = r#""findings": [{"severity": "critical", "summary": "x"}]"#;
    for (contract, role, changes, meaning) in [
        ("wr.loop_control", "", "{}".to_owned(), "ok/none"),
        ("wr.assessment", "", "{}".to_owned(), "ok/none"),
        ("wr.review_verdict", "", r#"{"verdict": "clean", "findings": []}"#.to_owned(), "ok/accept"),
        ("wr.review_verdict", "", r#"{"verdict": "minor"}"#.to_owned(), "ok/accept_with_notes 1f"),
        ("wr.review_verdict", "", format!(r#"{{"verdict": "blocking", {finding}}}"#), "ok/reject 1f"),
        ("wr.gate_verdict", "", r#"{"verdict": "approved"}"#.to_owned(), "ok/accept"),
        ("wr.gate_verdict", "", r#"{"verdict": "rejected"}"#.to_owned(), "ok/reject 1f"),
        ("wr.gate_verdict", "", r#"{"verdict": "uncertain"}"#.to_owned(), "ok/inconclusive"),
        ("wr.coordinator_signal", "", r#"{"signalKind": "blocked"}"#.to_owned(), "ok/none"),
        ("wr.interpretation", "", "{}".to_owned(), "ok/none ?"),
        ("wr.council", "", "{}".to_owned(), "ok/none"),
        ("decree.planner-output", "", "{}".to_owned(), "ok/none"),
        ("decree.implementor-result", "", "{}".to_owned(), "ok/none"),
        (
            "decree.implementor-result",
            "",
            r#"{"outcome": "blocked", "pr": "None", "outstanding": "x"}"#.to_owned(),
            "needs_input/none ?!",
        ),
        (
            "decree.implementor-result",
            "",
            r#"{"outcome": "validation-failure", "pr": "None", "outstanding": "x"}"#.to_owned(),
            "failed.validation/none",
        ),
        ("decree.reviewer-result", "", "{}".to_owned(), "ok/accept"),
        ("decree.reviewer-result", "", r#"{"outcome": "needs-changes"}"#.to_owned(), "ok/reject 1f"),
        ("decree.validation-failure", "", "{}".to_owned(), "failed.validation/none"),
        ("decree.blocker", "", "{}".to_owned(), "needs_input.spec-gap/none ?!"),
        ("decree.blocker", "", r#"{"type": "debugging-limit"}"#.to_owned(), "needs_input.debugging-limit/none ?!"),
        ("decree.escalation", "", "{}".to_owned(), "ok/none ?"),
        ("decree.review-approval", "", r#"{"warnings": "README.md is out of scope"}"#.to_owned(), "ok/accept"),
        ("decree.review-rejection", "", "{}".to_owned(), "ok/reject 1f"),
        ("team.output", "", r#"{"status": "OK"}"#.to_owned(), "ok/none"),
        ("team.output", "Coder", r#"{"status": "OK"}"#.to_owned(), "ok/none"),
        ("team.output", "coder", r#"{"status": "BLOCKED"}"#.to_owned(), "needs_input/none ?!"),
        ("team.output", "Coder", r#"{"status": "FAIL"}"#.to_owned(), "failed/none"),
        ("team.output", "Reviewer", r#"{"status": "OK"}"#.to_owned(), "ok/accept"),
        ("team.output", "reviewer", format!(r#"{{"status": "OK", {comment}}}"#), "ok/accept_with_notes 1f"),
        ("team.output", "Reviewer", format!(r#"{{"status": "OK", {nit}}}"#), "ok/accept 1f"),
        ("team.output", "Reviewer", r#"{"artifacts.review_comments": ["a word"]}"#.to_owned(), "ok/accept 1f"),
        ("team.output", "Reviewer", r#"{"status": "BLOCKED"}"#.to_owned(), "ok/reject 1f"),
        ("team.output", "qa", r#"{"status": "BLOCKED"}"#.to_owned(), "ok/reject 1f"),
        ("team.output", "QA", r#"{"status": "FAIL"}"#.to_owned(), "failed/none"),
        ("team.output", "security", format!(r#"{{"status": "OK", {low}}}"#), "ok/accept_with_notes 1f"),
        (
            "team.output",
            "Security",
            format!(r#"{{"status": "NEEDS_DECISION", {medium}}}"#),
            "needs_input.decision/inconclusive 1f ?!",
        ),
        ("team.output", "Researcher", r#"{"status": "NEEDS_INFO"}"#.to_owned(), "needs_input.information/none ?!"),
        ("supervisor.worker-report", "", r#"{"status": "PASS"}"#.to_owned(), "ok/none 1c"),
        ("supervisor.worker-report", "", r#"{"role": "verifier", "changed_surfaces": []}"#.to_owned(), "ok/accept 1c"),
        ("supervisor.worker-report", "", r#"{"status": "FAIL", "findings": ["x"]}"#.to_owned(), "failed/none 1f 1c"),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "FAIL", "role": "verifier", "changed_surfaces": [], "findings": ["x"]}"#.to_owned(),
            "ok/reject 1f 1c",
        ),
        ("supervisor.worker-report", "", r#"{"status": "BLOCKED"}"#.to_owned(), "failed/none 1c"),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "BLOCKED", "blocking_question": "x?"}"#.to_owned(),
            "needs_input/none 1c ?!",
        ),
        (
            "team.output",
            "Coder",
            r#"{"status": "BLOCKED", "summary": "outgrown: two tasks"}"#.to_owned(),
            "needs_input.outgrown/none ?!",
        ),
        ("team.output", "QA", r#"{"status": "BLOCKED", "summary": "outgrown: two tasks"}"#.to_owned(), "ok/reject 1f"),
        (
            "team.output",
            "Coder",
            r#"{"status": "BLOCKED", "summary": "missing-context: spec.md"}"#.to_owned(),
            "needs_input.missing-context/none ?!",
        ),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "BLOCKED", "reason": "scope"}"#.to_owned(),
            "failed.scope/none 1c",
        ),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "BLOCKED", "reason": "dirty"}"#.to_owned(),
            "failed.dirty/none 1c",
        ),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "BLOCKED", "reason": "auth"}"#.to_owned(),
            "failed.auth/none 1c",
        ),
        (
            "supervisor.worker-report",
            "",
            r#"{"status": "BLOCKED", "reason": "adapter"}"#.to_owned(),
            "failed.adapter/none 1c",
        ),
        ("wr.discovery_handoff", "", "{}".to_owned(), "ok/none"),
        ("wr.shaping_handoff", "", "{}".to_owned(), "ok/none"),
        ("wr.coding_handoff", "", "{}".to_owned(), "ok/none"),
    ] {
        assert_eq!(said(contract, role, &changes), meaning, "{contract} by {role:?}: {changes}");
    }
}

/// What is found is a finding wherever a report has a place for it, unless it is the word `None`.
#[test]
fn what_is_found_in_a_row_or_a_gate_is_a_finding() {
    let report = "supervisor.worker-report";
    let verifier = r#""role": "verifier", "changed_surfaces": []"#;
    let failed = r#""status": "FAIL", "outcome_evaluations.0.verdict": "FAIL", "outcome_evaluations.0.finding": "x""#;
    let noted = r#""outcome_evaluations.0.finding": "x""#;
    let concern = r#""gates.security_concerns": ["SQL injection in login"]"#;
    for (contract, role, changes, meaning) in [
        (report, "", format!("{verifier}, {failed}"), "ok/reject 1f 1c"),
        (report, "", format!(r#"{verifier}, {failed}, "findings": ["y"]"#), "ok/reject 2f 1c"),
        (report, "", format!("{verifier}, {noted}"), "ok/accept 1f 1c"),
        (report, "", format!(r#"{verifier}, {noted}, "findings": ["None"]"#), "ok/accept 1f 1c"),
        (report, "", format!(r#"{verifier}, "outcome_evaluations.0.finding": "none""#), "ok/accept 1c"),
        ("team.output", "Security", concern.to_owned(), "ok/accept_with_notes 1f"),
        ("team.output", "Reviewer", concern.to_owned(), "ok/accept_with_notes 1f"),
        ("team.output", "Security", format!(r#""status": "BLOCKED", {concern}"#), "ok/reject 2f"),
        ("team.output", "Coder", concern.to_owned(), "ok/none"),
        ("team.output", "Security", r#""gates.security_concerns": ["None"]"#.to_owned(), "ok/accept"),
        ("team.output", "QA", r#""gates.security_concerns": ["No concerns."]"#.to_owned(), "ok/accept_with_notes 1f"),
    ] {
        assert_eq!(said(contract, role, &format!("{{{changes}}}")), meaning, "{contract} by {role:?}: {changes}");
    }
}

/// The codes of a health are those of the file that protocols are checked by before there is code, and no others.
#[test]
fn codes_are_those_that_protocols_know() {
    let (known, problems) =
        tollgate_core::protocol::Dialects::read(include_str!("../../../../tollgate-core/tests/drafts/dialects.yaml"));
    assert!(problems.is_empty(), "{problems:?}");
    for (dialect, contracts) in
        [("team-json", "team."), ("worker-report", "supervisor."), ("decree", "decree."), ("handoff", "wr.")]
    {
        let mut codes = std::collections::BTreeSet::new();
        for own in registry::all_defined().filter(|own| own.definition.id.starts_with(contracts)) {
            let declared = registry::report_dialect(&own.definition.id).map(ReportDialect::declaration);
            let declared = declared.into_iter().flat_map(|declared| declared.codes);
            codes.extend(declared.flat_map(|(health, codes)| codes.into_iter().map(move |code| (health, code))));
        }
        let expected = &known.get(dialect).expect(dialect).codes;
        let expected = expected.iter().flat_map(|(health, codes)| codes.iter().map(|code| (*health, code.clone())));
        assert_eq!(codes, expected.collect(), "{dialect}");
    }
}

#[test]
fn stated_confidence_is_never_read() {
    for (contract, changes) in [
        ("wr.council", [r#"{"confidence": 0.1}"#, r#"{"confidence": 0.99}"#]),
        ("wr.interpretation", [r#"{"confidence": "low"}"#, r#"{"confidence": "certain"}"#]),
        ("wr.gate_verdict", [r#"{"confidence": "low"}"#, r#"{"confidence": "high"}"#]),
    ] {
        assert_eq!(said(contract, "", changes[0]), said(contract, "", changes[1]), "{contract}");
    }
}

#[test]
fn documents_enter_the_ledger() {
    let plan = |contract: &str| {
        let own = registry::defined(contract).expect(contract);
        crate::DocumentDialect::read(own, &text_of(own, &own.definition.example), &Context::default()).plan
    };
    let tasks = plan("team.tasks");
    assert_eq!(tasks.units.iter().map(|unit| &*unit.name).collect::<Vec<_>>(), ["T-001", "T-002"]);
    assert_eq!((&*tasks.units[1].needs[0], &*tasks.units[0].scope[0]), ("T-001", "src/cart.js"));
    assert_eq!(tasks.criteria.len(), 2);
    let acceptance = plan("team.acceptance");
    assert_eq!((&*acceptance.criteria[0].id, &*acceptance.criteria[0].text), ("AC-001", "The cart shows a total."));
}

/// What a finding stands under is its category, and so is the row that it is of.
#[test]
fn the_category_of_a_finding_is_kept() {
    let own = registry::defined("supervisor.worker-report").expect("a contract");
    let mut document = own.definition.example.clone();
    let steps: Vec<tollgate_core::Name> = ["outcome_evaluations", "0", "finding"].map(Into::into).into();
    definition::put(&mut document, &steps, crate::tree::json::read("\"it is broken\"").ok().as_ref());
    let report = ReportDialect::read(own, &text_of(own, &document), &Context::default()).report;
    let told: Vec<_> = report.findings.iter().map(|one| (one.category.as_deref(), &*one.what)).collect();
    assert_eq!(told, [(Some("AC-1"), "it is broken")]);

    let text = "## Review: Needs Changes\n\n### Findings\n\n#### Code Quality\n\n- **What:** a **Why:** b **Fix:** c\n- **What:** d **Why:** e **Fix:** f\n\n#### Tests\n\n- **What:** g **Why:** h **Fix:** i\n\n### Warnings\n\nNone\n";
    let reading =
        registry::report_dialect("decree.review-rejection").expect("a contract").read(text, &Context::default());
    let told: Vec<_> = reading.report.findings.iter().map(|one| (one.category.as_deref(), &*one.what)).collect();
    assert_eq!(told, [(Some("Code Quality"), "a"), (Some("Code Quality"), "d"), (Some("Tests"), "g")]);
}
