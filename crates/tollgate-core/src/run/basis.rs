//! What a run's criteria rest on: commands, somebody's word, or a waiver.

use std::collections::BTreeMap;

use super::gate::{self, CriterionState};
use super::state::{Criterion, Run};
use super::waiver;

/// What the criteria rest on, in words, such as "3 of 5 criteria by commands, 1 on reviewer's word, 1 waived by ada"; none where
/// there are none.
pub fn basis(run: &Run) -> Option<String> {
    let rows = &run.ledger.criteria;
    let mut counts: BTreeMap<(u8, String), usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(shown_by(run, row)).or_default() += 1;
    }
    let noun = if rows.len() == 1 { "criterion" } else { "criteria" };
    let mut parts = Vec::new();
    for ((_, how), count) in counts {
        let of = if parts.is_empty() { format!(" of {} {noun}", rows.len()) } else { String::new() };
        parts.push(format!("{count}{of} {how}"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// How a row is shown, and its place among the ways there are.
fn shown_by(run: &Run, row: &Criterion) -> (u8, String) {
    let unit = gate::whose(run, row, None);
    let resources = match unit {
        Some(unit) => gate::unit_row_rests_on(run, row, unit),
        None => gate::row_rests_on(run, row),
    };
    let (state, fresh) = gate::criterion(run, row, &resources, unit);
    match state {
        CriterionState::Passed if fresh && row.ran.is_some() => (0, "by commands".to_owned()),
        CriterionState::Passed if fresh => {
            let said = row.judged.as_ref().map(|shown| shown.attempt);
            let mut reports = run.reports.values().flatten();
            let role = reports.find(|report| Some(report.attempt) == said).map(|report| report.role.to_string());
            (1, role.map_or_else(|| "on a worker's word".to_owned(), |role| format!("on {role}'s word")))
        }
        CriterionState::Waived => {
            let decision = row.waived.as_ref().map(|waived| waived.decision);
            let by = waiver::by(run, decision).map(|(_, name)| format!("waived by {name}"));
            (2, by.unwrap_or_else(|| "waived".to_owned()))
        }
        CriterionState::Open | CriterionState::Passed | CriterionState::Failed | CriterionState::Unobservable => {
            (3, "not shown".to_owned())
        }
    }
}
