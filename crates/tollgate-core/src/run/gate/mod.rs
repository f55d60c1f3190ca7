//! Gates: what holds now, for a subject, on the content it stands on. Always derived, never stored.

mod evaluation;
mod freshness;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::{CommandRef, UnitState};
use super::fan_out::is_left;
use super::state::{Criterion, Requirement, Run, Shown, Unit, keyed};
use crate::Name;
use crate::id::{GateId, UnitId};
use crate::protocol::Condition;
use crate::protocol::condition::SetKind;
use crate::protocol::model::{Gate, Resource, Value};
use crate::report::{Disposition, Judgement};
use crate::words::words;

use evaluation::Eval;
pub(super) use evaluation::last_judgement;
pub use evaluation::{requirement_parts, unit_word};
pub(super) use freshness::document;
use freshness::is_ran_on;
pub use freshness::{
    accepted_on, differs_in_scope, fresh, given, is_shown, measured, on, on_tree, outdated, row_rests_on,
    same_in_nobodys, trees_in_use, unit_row_rests_on,
};

/// Whether a gate holds. Only `Holds` passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It holds for this content.
    Holds,
    /// It rests on a judgement or answer given to other content.
    Stale,
    /// It cannot be observed here.
    Unobservable,
    /// It does not hold.
    Fails,
}

impl Status {
    const fn of(truth: bool) -> Self {
        if truth { Self::Holds } else { Self::Fails }
    }

    const fn if_fresh(fresh: bool) -> Self {
        if fresh { Self::Holds } else { Self::Stale }
    }

    const fn not(self) -> Self {
        match self {
            Self::Holds => Self::Fails,
            Self::Fails => Self::Holds,
            Self::Stale | Self::Unobservable => self,
        }
    }
}

/// The status of a gate for a subject (a unit, or the run).
pub fn status(run: &Run, gate: &Gate, unit: Option<&UnitId>) -> Status {
    Eval { run, unit, bound_to: &gate.bound_to, depth: 0 }.condition(&gate.holds)
}

/// The status of a part of a gate.
pub fn status_in(run: &Run, gate: &Gate, part: &Condition, unit: Option<&UnitId>) -> Status {
    Eval { run, unit, bound_to: &gate.bound_to, depth: 0 }.condition(part)
}

/// The status of a gate by name; one that does not exist fails.
pub fn status_of(run: &Run, gate: &str, unit: Option<&UnitId>) -> Status {
    run.protocol.gates.get(gate).map_or(Status::Fails, |gate| status(run, gate, unit))
}

/// Whether a condition holds for a subject, outside any gate.
pub fn truth(run: &Run, condition: &Condition, unit: Option<&UnitId>) -> bool {
    Eval { run, unit, bound_to: &[], depth: 0 }.holds(condition)
}

/// Whether a condition can hold with these inputs, before there is a run; what is not known yet may hold.
pub fn over_inputs<'v>(condition: &Condition, value: &dyn Fn(&str) -> Option<&'v Value>) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| over_inputs(part, value)),
        Condition::Any(parts) => parts.iter().any(|part| over_inputs(part, value)),
        Condition::Not(part) => !matches!(**part, Condition::Var { .. }) || !over_inputs(part, value),
        Condition::Var { name, values } => match value(name) {
            Some(Value::Text(text)) => values.contains(text),
            Some(Value::Int(_) | Value::List(_)) | None => false,
        },
        Condition::It { .. }
        | Condition::Holds(_)
        | Condition::Judged(_)
        | Condition::Answer { .. }
        | Condition::Command { .. }
        | Condition::Artifact { .. }
        | Condition::Set { .. }
        | Condition::Count { .. } => true,
    }
}

/// Gates that must hold at `done` of a unit.
pub fn mandatory_of_unit<'a>(run: &'a Run, unit: &'a UnitId) -> impl Iterator<Item = (&'a GateId, &'a Gate)> {
    run.protocol
        .gates
        .iter()
        .filter(move |(_, gate)| gate.mandatory_unit.as_ref().is_some_and(|when| truth(run, when, Some(unit))))
}

/// Gates that must hold at `done` of the run.
pub fn mandatory_of_run(run: &Run) -> impl Iterator<Item = (&GateId, &Gate)> {
    run.protocol
        .gates
        .iter()
        .filter(move |(_, gate)| gate.mandatory_run.as_ref().is_some_and(|when| truth(run, when, None)))
}

/// Where a criterion stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriterionState {
    Open,
    Passed,
    Failed,
    Unobservable,
    Waived,
}

words!(CriterionState {
    Open = "open",
    Passed = "passed",
    Failed = "failed",
    Unobservable = "unobservable",
    Waived = "waived"
});

/// Where a criterion stands and whether what shows it is fresh for these resources. A row that names a command needs
/// both: the command's result and, once a judge has spoken, the judge's.
pub fn criterion(
    run: &Run,
    row: &Criterion,
    resources: &[Resource],
    subject: Option<&UnitId>,
) -> (CriterionState, bool) {
    // A waiver is of content: when that changed, what was shown since counts.
    if is_waived(run, row, resources, subject) {
        return (CriterionState::Waived, true);
    }
    // For a unit, evidence is narrowed to its scope. The run answers for all of it: what its units showed before they came
    // together has to be shown again.
    let needed: [Option<&Shown>; 2] = [row.judged.as_ref(), row.ran.as_ref()];
    let missing = row.judged.is_none() || (row.command.is_some() && row.ran.is_none());
    let all_fresh = row.judged.as_ref().is_none_or(|shown| fresh(run, &shown.on, resources, subject))
        && row.ran.as_ref().is_none_or(|shown| measured(run, &shown.on, resources, subject));
    let any = |result| needed.iter().flatten().any(|shown| shown.result == result);
    if any(Judgement::Fail) {
        (CriterionState::Failed, all_fresh)
    } else if any(Judgement::Unobservable) {
        (CriterionState::Unobservable, all_fresh)
    } else if missing {
        (CriterionState::Open, true)
    } else {
        (CriterionState::Passed, all_fresh)
    }
}

/// On whose content a row is shown for a subject: on that of its unit; once the unit was left or given up, on the subject's.
pub fn whose<'a>(run: &Run, row: &'a Criterion, subject: Option<&'a UnitId>) -> Option<&'a UnitId> {
    let stands = |unit: &Unit| unit.state != UnitState::Dropped && !is_left(run, unit);
    row.unit.as_ref().filter(|unit| run.unit(unit).is_none_or(stands)).or(subject)
}

/// Whether a row's waiver still stands for these resources. What a person waived of a unit is not asked again when the unit is given up.
pub fn is_waived(run: &Run, row: &Criterion, resources: &[Resource], subject: Option<&UnitId>) -> bool {
    let Some(waived) = &row.waived else { return false };
    let given_up = row.unit.as_ref().filter(|unit| run.unit(unit).is_some_and(|unit| unit.state == UnitState::Dropped));
    fresh(run, &waived.on, resources, given_up.or_else(|| whose(run, row, subject)))
}

/// Where a row stands by its command alone, and whether that is fresh for these resources. A waiver is one of the row, and
/// stands as long as the row's own; a command that passed when it was given was not waived with it.
pub fn command(run: &Run, row: &Criterion, resources: &[Resource], subject: Option<&UnitId>) -> (CriterionState, bool) {
    let in_spite = row.waived.as_ref().is_some_and(|waived| waived.with_command);
    if in_spite && is_waived(run, row, &row_rests_on(run, row), subject) {
        return (CriterionState::Waived, true);
    }
    let Some(shown) = &row.ran else { return (CriterionState::Open, true) };
    let state = match shown.result {
        Judgement::Pass => CriterionState::Passed,
        Judgement::Fail => CriterionState::Failed,
        Judgement::Unobservable => CriterionState::Unobservable,
    };
    (state, measured(run, &shown.on, resources, whose(run, row, subject)))
}

/// Commands that a condition needs and that were not yet run on the subject's content.
pub fn commands_needed(run: &Run, gates: &[GateId], unit: Option<&UnitId>) -> Vec<CommandRef> {
    let tree = run.tree_of(unit);
    let mut needed = BTreeSet::new();
    for gate in run.protocol.with_read(gates.iter().filter_map(|name| run.protocol.gates.get(name))) {
        for atom in gate.holds.atoms() {
            if let Condition::Command { name, .. } = atom {
                let known = run.ledger.commands.get(&keyed(name, unit));
                if known.is_none_or(|shown| shown.on.tree != *tree || run.runs_again(shown)) {
                    needed.insert(CommandRef::Named(name.clone()));
                }
            }
            let eval = Eval { run, unit, bound_to: &gate.bound_to, depth: 0 };
            for row in run.ledger.criteria.iter().filter(|row| eval.owns(row.unit.as_ref())) {
                let Some(set) = reads(run, atom, row).filter(|_| row.command.is_some()) else { continue };
                let ran_here =
                    |shown: &Shown| is_ran_on(run, &shown.on, &gate.bound_to, unit) && !run.runs_again(shown);
                let ran_here = row.ran.as_ref().is_some_and(ran_here);
                let (state, _) = stands(run, row, set, &gate.bound_to, unit);
                if !ran_here && state != CriterionState::Waived {
                    needed.insert(CommandRef::Criterion(row.id.clone()));
                }
            }
        }
    }
    needed.into_iter().collect()
}

/// The rows that a gate wants judged.
pub fn rows_of<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&UnitId>) -> Vec<&'a Criterion> {
    let read = members(run, gate, unit).into_iter();
    read.filter(|(_, _, set)| *set == SetKind::Criterion).map(|(row, _, _)| row).collect()
}

/// The rows a gate reads, each once, with where it stands for the gate and whether that is fresh.
pub fn rows_read<'a>(
    run: &'a Run,
    gate: &'a Gate,
    unit: Option<&UnitId>,
) -> Vec<(&'a Criterion, CriterionState, bool)> {
    let stand = |(row, gate, set): (&'a Criterion, &Gate, SetKind)| {
        let (state, fresh) = stands(run, row, set, &gate.bound_to, unit);
        (row, state, fresh)
    };
    members(run, gate, unit).into_iter().map(stand).collect()
}

/// The rows a gate reads that are not passed or waived, and fresh: all that a person may be asked to waive for it.
pub fn open_rows<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&UnitId>) -> impl Iterator<Item = &'a Criterion> {
    let is_settled = |state, fresh| fresh && matches!(state, CriterionState::Passed | CriterionState::Waived);
    let rows = rows_read(run, gate, unit).into_iter();
    rows.filter(move |(_, state, fresh)| !is_settled(*state, *fresh)).map(|(row, ..)| row)
}

/// The rows that a gate reads, itself or through others, each once: with the gate that reads it and as a member of which set.
fn members<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&UnitId>) -> Vec<(&'a Criterion, &'a Gate, SetKind)> {
    let gates = run.protocol.with_read(std::iter::once(gate)).into_iter();
    let atoms: Vec<(&Gate, &Condition)> =
        gates.flat_map(|gate| gate.holds.atoms().map(move |atom| (gate, atom))).collect();
    let read = |row| atoms.iter().find_map(|(gate, atom)| Some((*gate, reads(run, atom, row)?)));
    let own = run.ledger.criteria.iter().filter(|row| unit.is_none_or(|unit| row.unit.as_ref() == Some(unit)));
    own.filter_map(|row| read(row).map(|(gate, set)| (row, gate, set))).collect()
}

/// As a member of which set an atom of a gate reads a row, itself or through the requirement that the row shows.
fn reads(run: &Run, atom: &Condition, row: &Criterion) -> Option<SetKind> {
    let through = || shown_requirement(run, row).is_some_and(|shown| asks_for_rows(atom, shown));
    reads_itself(atom, row).or_else(|| through().then_some(SetKind::Criterion))
}

/// As a member of which set an atom of a gate reads a row itself.
fn reads_itself(atom: &Condition, row: &Criterion) -> Option<SetKind> {
    let Condition::Set { set, filter, .. } = atom else { return None };
    let is_member = match set {
        SetKind::Criterion => true,
        SetKind::Command => row.command.is_some(),
        SetKind::Finding
        | SetKind::Requirement
        | SetKind::Unit
        | SetKind::Decision
        | SetKind::Question
        | SetKind::Notice => false,
    };
    (is_member && row_matches(row, filter)).then_some(*set)
}

fn shown_requirement<'a>(run: &'a Run, row: &Criterion) -> Option<&'a Requirement> {
    let id = row.requirement.as_ref()?;
    run.ledger.requirements.iter().find(|requirement| requirement.id == *id)
}

/// Whether an atom asks whether this requirement is met: its rows say so.
pub fn asks_for_rows(atom: &Condition, requirement: &Requirement) -> bool {
    let Condition::Set { set: SetKind::Requirement, filter, is, .. } = atom else { return false };
    let in_scope = requirement.disposition == Some(Disposition::InScope) && requirement.waived.is_none();
    let asks = |wanted: &str| is.iter().any(|word| **word == *wanted);
    // What may also just be in scope need not be met.
    in_scope && asks("met") && !asks("in_scope") && requirement_matches(requirement, filter)
}

fn requirement_matches(requirement: &Requirement, filter: &[(Name, Vec<Name>)]) -> bool {
    filter.iter().all(|(key, values)| {
        let value = match &**key {
            // What nobody has left out is in scope: a proposal takes nothing away.
            "disposition" => Some(requirement.disposition.as_deref().unwrap_or(&Disposition::InScope)),
            "by" => requirement.disposed_by.map(|_| "person"),
            _ => None,
        };
        value.is_some_and(|value| values.iter().any(|known| **known == *value))
    })
}

/// The requirements that a gate asks to be met and that no row shows: only a person can take them as they are.
pub fn unshown<'a>(run: &'a Run, gate: &'a Gate, unit: Option<&'a UnitId>) -> impl Iterator<Item = &'a Requirement> {
    let atoms: Vec<&Condition> =
        run.protocol.with_read(std::iter::once(gate)).into_iter().flat_map(|gate| gate.holds.atoms()).collect();
    let own =
        run.ledger.requirements.iter().filter(move |row| {
            unit.and_then(|unit| run.unit(unit)).is_none_or(|unit| unit.requirements.contains(&row.id))
        });
    let has_row =
        |row: &Requirement| run.ledger.criteria.iter().any(|known| known.requirement.as_ref() == Some(&row.id));
    own.filter(move |row| !has_row(row) && atoms.iter().any(|atom| asks_for_rows(atom, row)))
}

/// Where a row stands as a member of a set.
fn stands(
    run: &Run,
    row: &Criterion,
    set: SetKind,
    resources: &[Resource],
    unit: Option<&UnitId>,
) -> (CriterionState, bool) {
    if set == SetKind::Command { command(run, row, resources, unit) } else { criterion(run, row, resources, unit) }
}

fn row_matches(row: &Criterion, filter: &[(Name, Vec<Name>)]) -> bool {
    filter.iter().all(|(key, values)| match &**key {
        "group" => row.group.as_ref().is_some_and(|group| values.contains(group)),
        _ => false,
    })
}
