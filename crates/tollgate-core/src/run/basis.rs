//! What a run's success rests on: commands, somebody's word, or a waiver.

use std::collections::{BTreeMap, BTreeSet};

use super::event::UnitState;
use super::gate::{self, CriterionState};
use super::state::{Criterion, Run};
use super::waiver;
use crate::id::UnitId;
use crate::protocol::Condition;
use crate::protocol::model::Gate;
use crate::report::Verdict;

/// What the criteria and the mandatory judgements rest on, in words, such as "3 of 5 criteria by commands, 1 on dod-checker's word,
/// 1 waived by ada, change on reviewer's word"; none where there are neither.
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
    parts.extend(judgements(run));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Whose judgement of the change the mandatory gates of the accepted units and of the run read, or who waived it.
fn judgements(run: &Run) -> BTreeSet<String> {
    let accepted = run.ledger.units.iter().filter(|unit| unit.state == UnitState::Accepted).map(|unit| &unit.name);
    let of_units =
        accepted.flat_map(|unit| gate::mandatory_of_unit(run, unit).map(move |(_, gate)| (Some(unit), gate)));
    let of_run = gate::mandatory_of_run(run).map(|(_, gate)| (None, gate));
    of_units.chain(of_run).flat_map(|(unit, gate)| judged_in(run, gate, unit)).collect()
}

fn judged_in(run: &Run, gate: &Gate, unit: Option<&UnitId>) -> Vec<String> {
    let read = run.protocol.with_read(std::iter::once(gate));
    let roles = read
        .into_iter()
        .flat_map(|gate| gate.holds.atoms())
        .filter_map(|atom| if let Condition::Judged(role) = atom { Some(role) } else { None });
    let said = roles.filter_map(|role| {
        let judged = gate::last_judgement(run, role, unit)?;
        match (waiver::by(run, judged.waived), judged.verdict) {
            (Some((_, name)), _) => Some(format!("change on {name}'s word in place of {role}'s")),
            (None, Verdict::Accept | Verdict::AcceptWithNotes) => Some(format!("change on {role}'s word")),
            // What it rejected was waived row by row, and is named there.
            (None, Verdict::Reject | Verdict::None | Verdict::Inconclusive) => None,
        }
    });
    said.collect()
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
