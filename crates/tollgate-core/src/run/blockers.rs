//! Blockers: what keeps a run from closing as succeeded, and a unit from being or staying accepted.

use std::fmt;

use super::event::{FindingStatus, UnitState};
use super::fan_out::{is_lane, is_left, was_entered};
use super::gate::{self, CriterionState, Status};
use super::state::{Criterion, Run, Unit};
use crate::Name;
use crate::id::{DecisionId, FindingId, GateId, UnitId};
use crate::report::Disposition;

/// One thing that is open. Journals keep what it displays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocker {
    /// A question, with its first line.
    Decision(DecisionId, String),
    /// Neither a unit nor a criterion serves a material requirement.
    Ownerless(Name),
    /// A unit's own tree has not landed.
    NotLanded(UnitId),
    /// A unit was dropped, but its work is in the tree.
    DroppedInTree(UnitId),
    /// A unit was dropped, but what lies in its scope has changed.
    DroppedChanged(UnitId),
    NotAccepted(UnitId),
    Lapsed(UnitId),
    Row(Name, CriterionState),
    /// A row was judged on other content.
    RowStale(Name),
    /// A mandatory gate of the run.
    Gate(GateId, Status),
    /// A mandatory gate of a unit: the gate, the unit.
    UnitGate(GateId, UnitId),
    /// A finding of the run, with its first line.
    Finding(FindingId, FindingStatus, String),
    /// A finding that is open against the unit.
    UnitFinding(FindingId),
    /// A planned unit has no criterion.
    NoCriterion(UnitId),
    /// What the unit was accepted on has changed.
    Changed,
    /// What lies in no unit's scope has changed.
    ChangedOutside,
}

impl fmt::Display for Blocker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decision(id, question) => write!(f, "{id} is not answered: {question}"),
            Self::Ownerless(row) => write!(f, "requirement {row} has no owner"),
            Self::NotLanded(unit) => write!(f, "the tree of `{unit}` has not landed"),
            Self::DroppedInTree(unit) => write!(f, "`{unit}` was given up, but its work is in the tree"),
            Self::DroppedChanged(unit) => write!(f, "`{unit}` was given up, but what lies in its scope has changed"),
            Self::NotAccepted(unit) => write!(f, "`{unit}` is not accepted"),
            Self::Lapsed(unit) => write!(f, "`{unit}` is no longer accepted"),
            Self::Row(row, state) => write!(f, "{row} is {}", state.word()),
            Self::RowStale(row) => write!(f, "files that {row} was checked on have changed"),
            Self::Gate(gate, Status::Stale) => write!(f, "gate `{gate}` rests on other content"),
            Self::Gate(gate, Status::Unobservable) => write!(f, "gate `{gate}` cannot be observed"),
            Self::Gate(gate, Status::Fails | Status::Holds) => write!(f, "gate `{gate}` does not hold"),
            Self::UnitGate(gate, unit) => write!(f, "gate `{gate}` does not hold for `{unit}`"),
            Self::Finding(id, status, what) => write!(f, "{id} is {}: {what}", status.word()),
            Self::UnitFinding(id) => write!(f, "{id} is open against it"),
            Self::NoCriterion(unit) => {
                write!(f, "`{unit}` was planned without a criterion, so nothing shows that it is done")
            }
            Self::Changed => write!(f, "what it was accepted on has changed"),
            Self::ChangedOutside => write!(f, "files outside every unit's scope have changed"),
        }
    }
}

/// All of them in one sentence.
pub fn joined(blockers: &[Blocker]) -> String {
    blockers.iter().map(Blocker::to_string).collect::<Vec<_>>().join("; ")
}

/// What keeps a run from closing as succeeded.
pub fn of_close(run: &Run) -> Vec<Blocker> {
    let mut blockers: Vec<Blocker> = run
        .pending()
        .filter(|(_, decision)| !decision.is_of_landing())
        .map(|(id, decision)| Blocker::Decision(id, first_line(&decision.asked.question)))
        .collect();
    for row in &run.ledger.requirements {
        if is_material(row.disposition.as_ref()) && row.waived.is_none() && !has_owner(run, &row.id) {
            blockers.push(Blocker::Ownerless(row.id.clone()));
        }
    }
    // A success is one of every unit that was entered and not given up; of the others it owes what the gates of the run read.
    for unit in run.ledger.units.iter().filter(|unit| !is_left(run, unit)) {
        let name = || unit.name.clone();
        // What it was judged on is its own tree, and no part of what is handed over.
        if unit.state != UnitState::Dropped && unit.tree.as_ref().is_some_and(|own| !own.landed) {
            blockers.push(Blocker::NotLanded(name()));
        }
        match unit.state {
            // What was mandatory when it was accepted may not be all that is now, nor hold as it did.
            UnitState::Accepted => blockers.extend(gates(run, &unit.name)),
            // Nobody judges it: what it was to show has to be shown all the same.
            UnitState::Produced => {
                blockers.extend(gates(run, &unit.name));
                blockers.extend(rows(run, &unit.name));
            }
            UnitState::Dropped if unit.in_tree => blockers.push(Blocker::DroppedInTree(name())),
            UnitState::Dropped if gate::differs_in_scope(run, &unit.name) => {
                blockers.push(Blocker::DroppedChanged(name()));
            }
            UnitState::Dropped => {}
            UnitState::New if was_entered(run, unit) => blockers.push(Blocker::NotAccepted(name())),
            UnitState::New => {}
            UnitState::Lapsed => blockers.push(Blocker::Lapsed(name())),
        }
    }
    // A unit's rows count when it is accepted; nobody but the run answers for its own, and for those of a unit that never was.
    let is_runs =
        |row: &&Criterion| row.unit.as_ref().is_none_or(|unit| run.unit(unit).is_none_or(|unit| is_left(run, unit)));
    for row in run.ledger.criteria.iter().filter(is_runs) {
        match gate::criterion(run, row, &gate::row_rests_on(run, row), None) {
            (CriterionState::Passed | CriterionState::Waived, true) => {}
            (CriterionState::Passed | CriterionState::Waived, false) => {
                blockers.push(Blocker::RowStale(row.id.clone()));
            }
            (state, _) => blockers.push(Blocker::Row(row.id.clone(), state)),
        }
    }
    for (name, gate) in gate::mandatory_of_run(run) {
        let status = gate::status(run, gate, None);
        if status != Status::Holds {
            blockers.push(Blocker::Gate(name.clone(), status));
        }
    }
    let open = run.ledger.findings.iter().filter(|(_, finding)| !finding.status.is_closed());
    blockers.extend(open.map(|(id, finding)| Blocker::Finding(*id, finding.status, first_line(&finding.about.what))));
    blockers
}

/// Whether a requirement is to be met: what nobody has left out is.
fn is_material(disposition: Option<&Disposition>) -> bool {
    match disposition {
        None | Some(Disposition::InScope | Disposition::Other(_)) => true,
        Some(Disposition::Deferred | Disposition::OutOfScope | Disposition::NonMaterial) => false,
    }
}

/// Whether a unit that was entered serves a requirement, or a row shows it that such a unit or the run answers for.
fn has_owner(run: &Run, id: &Name) -> bool {
    let owed = |unit: &Unit| unit.state != UnitState::Dropped && !is_left(run, unit) && was_entered(run, unit);
    let of_run = |unit: &Unit| is_left(run, unit);
    let answers = |row: &Criterion| {
        let unit = row.unit.as_ref().and_then(|unit| run.unit(unit));
        unit.is_none_or(|unit| of_run(unit) || owed(unit))
    };
    run.ledger.units.iter().any(|unit| unit.requirements.contains(id) && owed(unit))
        || run.ledger.criteria.iter().any(|row| row.requirement.as_ref() == Some(id) && answers(row))
}

/// What keeps a unit from being accepted.
pub fn of_acceptance(run: &Run, unit: &UnitId) -> Vec<Blocker> {
    gates(run, unit).chain(rows(run, unit)).chain(finding(run, unit)).collect()
}

/// The same of a unit that is to be accepted now: one that was planned has to have a criterion.
pub fn of_new_acceptance(run: &Run, unit: &UnitId) -> Vec<Blocker> {
    let is_bare = !is_lane(run, unit) && run.ledger.criteria.iter().all(|row| row.unit.as_ref() != Some(unit));
    let bare = is_bare.then(|| Blocker::NoCriterion(unit.clone()));
    of_acceptance(run, unit).into_iter().chain(bare).collect()
}

/// Why an accepted unit is no longer accepted.
pub fn of_accepted(run: &Run, unit: &UnitId) -> Option<Blocker> {
    let row = || rows(run, unit).next();
    finding(run, unit).or_else(|| changed_outside(run, unit)).or_else(row).or_else(|| changed(run, unit))
}

/// What has changed since a unit was accepted.
pub fn since_acceptance(run: &Run, unit: &UnitId) -> Option<Blocker> {
    changed(run, unit).or_else(|| changed_outside(run, unit))
}

/// The unit's mandatory gates that do not hold.
fn gates<'a>(run: &'a Run, unit: &'a UnitId) -> impl Iterator<Item = Blocker> {
    let open =
        gate::mandatory_of_unit(run, unit).filter(|(_, gate)| gate::status(run, gate, Some(unit)) != Status::Holds);
    open.map(|(gate, _)| Blocker::UnitGate(gate.clone(), unit.clone()))
}

/// The unit's rows that nothing shows to hold for this content.
fn rows<'a>(run: &'a Run, unit: &'a UnitId) -> impl Iterator<Item = Blocker> {
    let rows = run.ledger.criteria.iter().filter(|row| row.unit.as_ref() == Some(unit));
    let rests_on = |row: &Criterion| gate::unit_row_rests_on(run, row, unit);
    rows.filter_map(move |row| match gate::criterion(run, row, &rests_on(row), Some(unit)) {
        (CriterionState::Passed | CriterionState::Waived, true) => None,
        (state, true) => Some(Blocker::Row(row.id.clone(), state)),
        (_, false) => Some(Blocker::RowStale(row.id.clone())),
    })
}

/// A finding that is open against a unit. Accepting over it would make the unit lapse at once, for ever.
fn finding(run: &Run, unit: &UnitId) -> Option<Blocker> {
    let open = run.ledger.findings.iter().find(|(_, finding)| {
        finding.about.units.contains(unit) && finding.status_for(Some(unit)) == FindingStatus::Open
    });
    open.map(|(id, _)| Blocker::UnitFinding(*id))
}

fn changed(run: &Run, unit: &UnitId) -> Option<Blocker> {
    let on = run.unit(unit)?.accepted_on.as_ref()?;
    let same = gate::fresh(run, on, &gate::accepted_on(run, unit), Some(unit));
    (!same).then_some(Blocker::Changed)
}

fn changed_outside(run: &Run, unit: &UnitId) -> Option<Blocker> {
    let on = run.unit(unit)?.accepted_on.as_ref()?;
    let same = gate::same_in_nobodys(run, on, &gate::accepted_on(run, unit));
    (!same).then_some(Blocker::ChangedOutside)
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
