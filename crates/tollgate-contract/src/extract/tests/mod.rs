//! Which report counts in what agents really print, whatever their tools wrap it in.

mod hostile;
mod marked;
mod property;
mod structure;
mod transcripts;

use super::candidates::CANDIDATES_MAX;
use super::*;
use crate::registry;
use tollgate_core::diagnostic::Severity;
use tollgate_core::report::{Health, Verdict};

/// A report of wr.gate_verdict.
fn verdict(word: &str, why: &str) -> String {
    format!(
        "{{\"kind\": \"wr.gate_verdict\", \"version\": 1, \"verdict\": \"{word}\", \"confidence\": \"high\", \"rationale\": \"{why}\"}}"
    )
}

const WHY: &str = "No test shows the second criterion.";

fn dialect(id: &str) -> Dialect<'static> {
    match registry::report_dialect(id) {
        Some(dialect) => Dialect::Report(dialect),
        None => Dialect::Document(registry::document_dialect(id).expect(id)),
    }
}

fn found(id: &str, text: &str, context: &Context) -> Extraction {
    extract(dialect(id), text, context)
}

/// All that is decided, in a line: `health verdict @line:column`, what was passed over, and what is wrong.
fn shown(extraction: &Extraction) -> String {
    let mut words = match &extraction.read {
        Read::Report(reading) => {
            vec![reading.report.health.word().to_owned(), reading.report.verdict.word().to_owned()]
        }
        Read::Document(reading) => vec![format!("{} rows", reading.plan.criteria.len())],
    };
    let place = |place: Place| format!("{}:{}", place.line, place.column);
    words.extend(extraction.found.as_ref().map(|found| format!("@{}", place(found.from))));
    for passed in &extraction.passed {
        let why = match &passed.why {
            Why::Echo => "echo".to_owned(),
            Why::Earlier => "earlier".to_owned(),
            Why::Repeated => "repeated".to_owned(),
            Why::OtherUnit(unit) => format!("of {unit}"),
        };
        words.push(format!("{why}@{}", place(passed.place)));
    }
    words.extend(extraction.earlier.as_ref().map(|earlier| format!("valid before@{}", place(earlier.place))));
    let errors = extraction.read.diagnostics().iter().filter(|one| one.severity == Severity::Error);
    words.extend(errors.map(|one| format!("{}@{}", one.code, place(one.place))));
    words.join(" ")
}

#[track_caller]
fn check(id: &str, text: &str, expected: &str) {
    check_with(id, text, &Context::default(), expected);
}

#[track_caller]
fn check_with(id: &str, text: &str, context: &Context, expected: &str) {
    let extraction = found(id, text, context);
    assert_eq!(shown(&extraction), expected, "{text}\n{extraction:#?}");
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
