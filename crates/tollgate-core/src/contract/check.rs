//! One file judged by one contract: what `tollgate contract check` prints.

use serde::Serialize;
use serde_json::{Value, json};

use super::{Context, registry};
use crate::diagnostic::{Diagnostic, Severity};
use crate::report::Report;

/// The judgement of one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checked {
    /// The file as it was named.
    pub file: String,
    /// The contract with its version.
    pub contract: String,
    /// Whether no diagnostic is an error.
    pub valid: bool,
    /// The canonical report, `malformed` when the file is not valid; null when the contract is not a report's.
    pub report: Option<Value>,
    /// What is wrong, each with all its keys.
    pub diagnostics: Vec<Value>,
}

/// Judges a text; none when there is no such contract.
pub fn check(contract: &str, file: &str, text: &str, context: &Context) -> Option<Checked> {
    let (id, report, diagnostics) = if let Some(dialect) = registry::report_dialect(contract) {
        let reading = dialect.read(text, context);
        (dialect.id(), Some(whole(&reading.report)), reading.diagnostics)
    } else {
        let dialect = registry::document_dialect(contract)?;
        (dialect.id(), None, dialect.read(text, context).diagnostics)
    };
    let valid = diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error);
    let diagnostics = diagnostics.iter().map(told).collect();
    Some(Checked { file: file.to_owned(), contract: id.to_owned(), valid, report, diagnostics })
}

/// A report with its empty parts too: a reader need not know which keys may be absent.
fn whole(report: &Report) -> Value {
    let mut all = json!({
        "health": report.health, "code": report.code, "reason": report.reason, "verdict": report.verdict,
        "criteria": report.criteria, "findings": report.findings, "questions": report.questions,
        "claims": report.claims, "reads": report.reads,
    });
    if !report.gives.is_empty() {
        all["gives"] = json!(report.gives);
    }
    all
}

fn told(diagnostic: &Diagnostic) -> Value {
    let mut all = json!({
        "code": diagnostic.code, "severity": diagnostic.severity, "message": diagnostic.message,
        "line": diagnostic.place.line, "column": diagnostic.place.column, "hint": diagnostic.hint,
    });
    if let Some(other) = diagnostic.other {
        all["other"] = json!(other);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &str = "## Status\nfailed\n## Status reason\nno disk\n## Abstract\noutcome: stopped\nverdict: n/a\n\
                          files: 0 created, 0 modified, 0 deleted\nnext_phase: stop, surface to human\nopen_questions: 0\n";

    fn checked(contract: &str, text: &str) -> Value {
        json!(check(contract, "a.md", text, &Context::default()).expect("a contract"))
    }

    #[test]
    fn a_valid_report_is_shown_whole() {
        let all = checked("status-block", FAILED);
        assert_eq!(all["file"], "a.md");
        assert_eq!(all["contract"], "status-block@1");
        assert_eq!(all["valid"], true);
        assert_eq!(all["diagnostics"], json!([]));
        let report = &all["report"];
        assert_eq!((&report["health"], &report["verdict"]), (&json!("failed"), &json!("none")));
        assert_eq!(
            (&report["reason"], &report["questions"], &report["findings"]),
            (&json!("no disk"), &json!([]), &json!([]))
        );
    }

    #[test]
    fn an_invalid_report_is_malformed_and_says_why() {
        let all = checked("status-block@1", &FAILED.replace("n/a", "perhaps"));
        assert_eq!(all["valid"], false);
        assert_eq!(all["report"]["health"], "malformed");
        let expected = json!({
            "code": "TG0210", "severity": "error", "message": "`perhaps` is no value for `verdict`", "line": 7, "column": 1,
            "hint": "write `APPROVED`, `REQUEST_CHANGES`, `BLOCKED` or `n/a`, spelt exactly so",
        });
        assert_eq!(all["diagnostics"], json!([expected]));
        assert_eq!(checked("status-block", "")["report"]["health"], "malformed");
    }

    #[test]
    fn a_document_has_no_report() {
        let all = checked("build-plan.task", "## Definition of Done\n- a\n");
        assert_eq!((&all["valid"], &all["report"]), (&json!(true), &Value::Null));
        assert_eq!(checked("build-plan.task", "")["valid"], false);
        assert_eq!(check("nothing", "a.md", "", &Context::default()), None);
    }
}
