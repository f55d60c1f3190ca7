//! The worker's own report, as far as it holds.

use serde_json::{Map, Value};
use tollgate_core::contract::extract::{Dialect, Extraction, Why, extract};
use tollgate_core::contract::tree::{Node, json_line};
use tollgate_core::contract::{Context, reask, registry};
use tollgate_core::diagnostic::Severity;

use super::dossier::Dossier;
use super::report::Reason;
use super::{CONTRACT, Delegation, Stop};
use crate::workers::{Outcome, Said};

/// How many mistakes of a report are named.
const MISTAKES_MAX: usize = 20;

/// The last report of this unit that is no echo, where it holds; and what it claims to have changed. The unit is called as the command
/// line does, or as the dossier does.
pub(super) fn own_report(
    asked: &Delegation,
    dossier: &Dossier,
    brief: &str,
    outcome: &Outcome,
) -> Result<(Map<String, Value>, Vec<String>), Stop> {
    let named = report_on(&asked.unit, asked, brief, outcome);
    if named.is_ok() || dossier.unit == asked.unit {
        return named;
    }
    report_on(&dossier.unit, asked, brief, outcome).or(named)
}

fn report_on(
    unit: &str,
    asked: &Delegation,
    brief: &str,
    outcome: &Outcome,
) -> Result<(Map<String, Value>, Vec<String>), Stop> {
    let none = |why: &str| Stop(Reason::InvalidReport, format!("The worker left no WorkerReportV1: {why}"), Vec::new());
    let (bytes, cut) = match &outcome.said {
        Said::Report { bytes, cut } => (bytes, *cut),
        Said::Nothing => return Err(none("it said nothing")),
        Said::Refused(why) => return Err(none(why)),
    };
    let contract = registry::defined(CONTRACT).ok_or_else(|| none("there is no contract for it"))?;
    let text = String::from_utf8_lossy(bytes);
    let context = Context {
        role: Some(asked.role.as_str().into()),
        unit: Some(unit.into()),
        prompt: Some(brief.to_owned()),
        ..Context::default()
    };
    let extraction = extract(Dialect::Report(contract), &text, &context);
    let Some(found) = &extraction.found else { return Err(not_found(&extraction, cut)) };
    let judged = contract.judge(&found.text, &context);
    let errors = found.diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let mut wrong: Vec<String> = errors.take(MISTAKES_MAX).map(reask::point).collect();
    let root = judged.root.filter(|root| root.map().is_some());
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
        (true, _) => "it said so much that only the end was read, and there is none in that",
        (false, true) => "it only repeats what it was told",
        (false, false) => "there is none in what it said",
    };
    Stop(Reason::InvalidReport, format!("The worker left no WorkerReportV1: {why}"), Vec::new())
}
