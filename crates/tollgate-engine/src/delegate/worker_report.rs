//! The worker's own report, as far as it holds.

use serde_json::{Map, Value};
use tollgate_contract::extract::{Dialect, Extraction, Markers, Why, extract, report_file};
use tollgate_contract::tree::{Node, json_line};
use tollgate_contract::{Context, reask, registry};
use tollgate_core::diagnostic::Severity;

use super::dossier::Dossier;
use super::report::Reason;
use super::{CONTRACT, Delegation, Stop};
use crate::workers::{Outcome, RawReport};

/// How many mistakes of a report are named.
const MISTAKES_MAX: usize = 20;
/// The fields of a report that are filled in for the worker.
const FILLED: [&str; 3] = ["adapter", "guard", "reason"];
const EMPTY: &str = "\"\"";

/// The last report of this unit that is no echo, where it holds; and what it claims to have changed. The unit is called as the command
/// line does, or as the dossier does. The markers are those that the worker was asked for: the brief may quote others.
pub(super) fn own_report(
    asked: &Delegation,
    dossier: &Dossier,
    (brief, markers): (&str, Option<Markers>),
    outcome: &Outcome,
) -> Result<(Map<String, Value>, Vec<String>), Stop> {
    let context = Context {
        role: Some(asked.role.as_str().into()),
        prompt: Some(brief.to_owned()),
        markers,
        ..Context::default()
    };
    let named = report_on(&asked.unit, &context, outcome);
    if named.is_ok() || dossier.unit == asked.unit {
        return named;
    }
    report_on(&dossier.unit, &context, outcome).or(named)
}

fn report_on(unit: &str, context: &Context, outcome: &Outcome) -> Result<(Map<String, Value>, Vec<String>), Stop> {
    let none = |why: &str| Stop(Reason::InvalidReport, format!("The worker left no WorkerReportV1: {why}"), Vec::new());
    let (bytes, cut) = match &outcome.said {
        RawReport::File(bytes) => (bytes, false),
        RawReport::Printed { bytes, cut } => (bytes, *cut),
        RawReport::Nothing => return Err(none("it printed nothing")),
        RawReport::Refused(why) => return Err(none(why)),
    };
    let contract = registry::defined(CONTRACT).ok_or_else(|| none("there is no contract for it"))?;
    let text = String::from_utf8_lossy(bytes);
    let context = Context { unit: Some(unit.into()), ..context.clone() };
    let (said, found) = match &outcome.said {
        RawReport::File(_) => {
            let (reading, said) = report_file(contract, &text, &context);
            (said.unwrap_or_default(), reading.diagnostics)
        }
        RawReport::Printed { .. } | RawReport::Nothing | RawReport::Refused(_) => {
            let mut extraction = extract(Dialect::Report(contract), &outcome.transcript(&text), &context);
            let Some(found) = extraction.found.take() else { return Err(not_found(&extraction, cut)) };
            (found.text, found.diagnostics)
        }
    };
    let judged = contract.judge(&said, &context);
    let text = judged.root.as_ref().map_or_else(|| said.clone(), |root| completed(&said, root));
    let completed = contract.judge(&text, &context);
    let beside = found.iter().filter(|one| !judged.diagnostics.contains(one));
    let errors = beside.chain(&completed.diagnostics).filter(|one| one.severity == Severity::Error);
    let mut wrong: Vec<String> = errors.take(MISTAKES_MAX).map(reask::point).collect();
    let root = completed.root.filter(|root| root.map().is_some());
    let Some(root) = root else { return Err(none(wrong.first().map_or("it cannot be read", |wrong| wrong))) };
    if !wrong.is_empty() {
        let is_one = root.get("schema").and_then(Node::text) == Some("WorkerReportV1");
        let reason = if is_one { Reason::Validation } else { Reason::InvalidReport };
        let summary = format!("The worker's report is no valid WorkerReportV1: {}", wrong.remove(0));
        return Err(Stop(reason, summary, wrong));
    }
    // Words behind its name may be those of another one.
    let said = root.get("unit_id").and_then(Node::text).unwrap_or_default();
    if said != unit {
        let summary = format!("The worker's report is on the unit `{said}`, and `{unit}` was asked for.");
        return Err(Stop(Reason::Validation, summary, Vec::new()));
    }
    let claimed = root.get("changed_surfaces").and_then(Node::list).unwrap_or_default();
    let claimed = claimed.iter().filter_map(|node| node.text().map(str::to_owned)).collect();
    let report = serde_json::from_str(&json_line(&root)).map_err(|error| none(&error.to_string()))?;
    Ok((report, claimed))
}

/// The report with what is not the worker's to say as null: fields that are filled in for it, where they are missing, and empty texts
/// where null could be. Only these places of its text are changed, so that every other mistake keeps its line.
fn completed(text: &str, root: &Node<'_>) -> String {
    let rows = root.get("outcome_evaluations").and_then(Node::list).unwrap_or_default();
    let strengths = rows.iter().filter_map(|row| row.get("evidence_strength")?.get("limitation"));
    let of_rows = rows.iter().flat_map(|row| ["limitation", "finding"].map(|key| row.get(key))).flatten();
    let own = ["blocking_question", "reason"].into_iter().filter_map(|key| root.get(key));
    let is_empty = |node: &&Node<'_>| node.text() == Some("");
    let mut places: Vec<usize> =
        own.chain(of_rows).chain(strengths).filter(is_empty).filter_map(|node| usize::try_from(node.at).ok()).collect();
    places.sort_unstable();
    let mut text = text.trim_end().to_owned();
    for at in places.into_iter().rev() {
        if text.get(at..).is_some_and(|rest| rest.starts_with(EMPTY)) {
            text.replace_range(at..at + EMPTY.len(), "null");
        }
    }
    let missing: String =
        FILLED.into_iter().filter(|key| root.get(key).is_none()).map(|key| format!(", \"{key}\": null")).collect();
    // A report that says something has other fields: there is something before the comma.
    match text.strip_suffix('}') {
        Some(before) if root.map().is_some_and(|entries| !entries.is_empty()) => format!("{before}{missing}}}"),
        _ => text,
    }
}

fn not_found(extraction: &Extraction, cut: bool) -> Stop {
    let other = extraction.passed.iter().rev().find_map(|passed| match &passed.why {
        Why::OtherUnit(unit) => Some(unit),
        Why::Echo | Why::Earlier | Why::Repeated => None,
    });
    if let Some(unit) = other {
        return Stop(Reason::Validation, format!("The worker's report is on another unit: `{unit}`."), Vec::new());
    }
    let echo = extraction.passed.iter().any(|passed| passed.why == Why::Echo);
    let why = match (cut, echo) {
        (true, _) => "it printed so much that only the end was read, and there is none in that",
        (false, true) => "it only repeats the brief",
        (false, false) => "there is none in what it printed",
    };
    Stop(Reason::InvalidReport, format!("The worker left no WorkerReportV1: {why}"), Vec::new())
}
