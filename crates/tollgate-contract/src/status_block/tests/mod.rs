//! Text in, report and places out. What is found among other text is tested where it is looked for.

mod form;
mod object;
mod property;
mod rules;
mod structure;

use super::StatusBlock;
use crate::{Context, Reading, ReportDialect};
use tollgate_core::Name;
use tollgate_core::diagnostic::Severity;
use tollgate_core::report::{CriterionRow, Part};

/// The example of docs/contracts/status-block.md.
const EXAMPLE: &str = include_str!("../../../../../docs/contracts/examples/status-block.md");

fn read(text: &str, context: &Context) -> Reading {
    StatusBlock.read_alone(text, context)
}

/// Who plays a part.
fn by(part: Part) -> Context {
    Context { part: Some(part), judges: Some(part.judges()), ..Context::default() }
}

fn with_rows(part: Part, rows: &[(&str, &str)]) -> Context {
    let row = |(at, (group, text)): (usize, &(&str, &str))| CriterionRow {
        id: format!("DoD-{}", at + 1).into(),
        text: (*text).to_owned(),
        group: Some(Name::from(*group)),
        ..CriterionRow::default()
    };
    Context { criteria: Some(rows.iter().enumerate().map(row).collect()), ..by(part) }
}

/// Rows of a developer and of a tester.
const ROWS: [(&str, &str); 3] = [("dod", "it adds"), ("dod", "it subtracts"), ("tester", "tests pass")];
const NO_FILES: &str = "0 created, 0 modified, 0 deleted";

/// Everything a reading decides, on a line each: `health verdict`, then `E line:column/other CODE` per diagnostic.
fn shown(reading: &Reading) -> String {
    let mut lines = vec![format!("{} {}", reading.report.health.word(), reading.report.verdict.word())];
    for diagnostic in &reading.diagnostics {
        let letter = if diagnostic.severity == Severity::Error { 'E' } else { 'W' };
        let other = diagnostic.other.map(|place| format!("/{}:{}", place.line, place.column)).unwrap_or_default();
        let place = diagnostic.place;
        lines.push(format!("{letter} {}:{}{other} {}", place.line, place.column, diagnostic.code));
    }
    lines.join("\n")
}

#[track_caller]
fn check(text: &str, context: &Context, expected: &str) -> Reading {
    let reading = read(text, context);
    assert_eq!(shown(&reading), expected, "{text}\n{:#?}", reading.diagnostics);
    reading
}

/// A report with these head and Abstract values, and further sections from line 12 on.
fn report(status: &str, reason: &str, verdict: &str, files: &str, questions: &str, rest: &str) -> String {
    format!(
        "## Status\n{status}\n## Status reason\n{reason}\n## Abstract\noutcome: did it\nverdict: {verdict}\nfiles: {files}\n\
         next_phase: n/a\nopen_questions: {questions}\n\n{rest}"
    )
}

fn complete(verdict: &str, rest: &str) -> String {
    report("complete", "", verdict, NO_FILES, "0", rest)
}
