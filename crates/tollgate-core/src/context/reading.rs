//! What a reader of an attempt's report must know about the run.

use std::collections::BTreeMap;

use crate::Name;
use crate::contract::Context;
use crate::contract::extract::Markers;
use crate::id::AttemptId;
use crate::report::CriterionRow;
use crate::run::Run;
use crate::run::state::Criterion;

use super::Dispatch;
use super::next::next_roles;

/// What the contract of an attempt's role must know: the same for the instructions it gives and for the report it reads.
/// An attempt that is not a live dispatch gives an empty context.
pub fn reading_context(run: &Run, attempt: AttemptId) -> Context {
    let Some(dispatch) = Dispatch::of(run, attempt) else { return Context::default() };
    let own = |row: &&Criterion| dispatch.unit().is_none_or(|unit| row.unit.as_ref() == Some(unit));
    let (rows, others): (Vec<&Criterion>, Vec<&Criterion>) = run.ledger.criteria.iter().partition(own);
    Context {
        role: Some(dispatch.role_name.clone()),
        judges: Some(dispatch.role.judges()),
        part: dispatch.role.part,
        criteria: Some(rows.into_iter().map(row).collect()),
        others: others.into_iter().map(row).collect(),
        next: Some(next(&dispatch)),
        unit: dispatch.unit().cloned(),
        markers: Some(Markers::of_lease(run.id, attempt, dispatch.attempt.token)),
        ..Context::default()
    }
}

/// Who may come next, by the outcome of a report that is complete.
fn next(dispatch: &Dispatch<'_>) -> BTreeMap<Name, Vec<Name>> {
    let outcomes: Vec<&str> = match dispatch.role.judges() {
        true => dispatch.role.verdicts.iter().map(|verdict| verdict.word()).collect(),
        false => vec!["ok"],
    };
    let after = |outcome: &str| {
        let next = next_roles(dispatch.run, &dispatch.attempt.instance, &dispatch.attempt.stage, outcome);
        next.roles.into_iter().chain(next.person.then(|| "person".into())).collect()
    };
    outcomes.into_iter().map(|outcome| (outcome.into(), after(outcome))).collect()
}

/// A row of the ledger as documents name it.
pub(super) fn row(row: &Criterion) -> CriterionRow {
    CriterionRow {
        id: row.id.clone(),
        text: row.text.clone(),
        group: row.group.clone(),
        unit: row.unit.clone(),
        requirement: row.requirement.clone(),
        command: row.command.clone(),
        repeat: row.repeat,
    }
}
