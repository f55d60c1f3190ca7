//! What contracts say to the workers of a run, and what their readers must know about it.

use std::collections::BTreeMap;

use tollgate_core::Name;
use tollgate_core::context::{self, next_roles};
use tollgate_core::id::AttemptId;
use tollgate_core::protocol::Outcome;
use tollgate_core::report::{CriterionRow, RequirementReport};
use tollgate_core::run::Run;
use tollgate_core::run::event::Work;
use tollgate_core::run::state::Criterion;

use crate::Context;
use crate::extract;
use crate::registry::Contracts;

/// What the contract of an attempt's role must know: the same for the instructions it gives and for the report it reads. The markers
/// around the report are the engine's to add: the run does not know the secret that they follow from.
/// An attempt that is not a live dispatch gives an empty context.
pub fn reading_context(run: &Run, attempt: AttemptId) -> Context {
    known(run, attempt).unwrap_or_default()
}

fn known(run: &Run, id: AttemptId) -> Option<Context> {
    let attempt = run.attempts.get(&id)?;
    let Work::Dispatch { role: name, .. } = &attempt.work else { return None };
    let role = run.protocol.roles.get(name)?;
    let unit = run.instances.get(&attempt.instance)?.unit.as_ref();
    let own = |row: &&Criterion| unit.is_none_or(|unit| row.unit.as_ref() == Some(unit));
    let (rows, others): (Vec<&Criterion>, Vec<&Criterion>) = run.ledger.criteria.iter().partition(own);
    let outcomes: Vec<Outcome> = match role.judges() {
        true => role.verdicts.iter().copied().map(Outcome::Verdict).collect(),
        false => vec![Outcome::OK],
    };
    let after = |outcome: &Outcome| -> Vec<Name> {
        let next = next_roles(run, &attempt.instance, &attempt.stage, outcome);
        let roles = next.roles.iter().map(|role| &**role);
        roles.chain(next.person.then_some("person")).map(Name::from).collect()
    };
    Some(Context {
        role: Some((&**name).into()),
        judges: Some(role.judges()),
        part: role.part,
        criteria: Some(rows.into_iter().map(row).collect()),
        others: others.into_iter().map(row).collect(),
        next: Some(outcomes.iter().map(|outcome| (outcome.word().into(), after(outcome))).collect()),
        unit: unit.cloned(),
        ..Context::default()
    })
}

/// A row of the ledger as documents name it.
fn row(row: &Criterion) -> CriterionRow {
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

impl context::Contracts for Contracts {
    fn instructions(&self, run: &Run, attempt: AttemptId, rows: bool) -> String {
        let context = reading_context(run, attempt);
        let Some(role) = context.role.as_deref().and_then(|role| run.protocol.roles.get(role)) else {
            return String::new();
        };
        let context = Context { criteria: context.criteria.filter(|_| rows), ..context };
        self.report(&role.contract).map_or_else(String::new, |dialect| dialect.instructions(&context))
    }

    fn document(&self, schema: &str) -> Option<String> {
        self.document(schema).map(|dialect| dialect.instructions(&Context::default()))
    }

    fn requirements(&self, schema: &str, document: &str) -> Vec<RequirementReport> {
        let read = self.document(schema).map(|dialect| dialect.read(document, &Context::default()));
        read.map(|reading| reading.plan.requirements).unwrap_or_default()
    }

    /// Rules that depend on the state of the run when the report came in are left out now; the rows are tried both ways, since
    /// they may have been amended.
    fn sections(&self, run: &Run, role_name: &str, report: &str) -> Option<BTreeMap<Name, String>> {
        let role = run.protocol.roles.get(role_name)?;
        let dialect = self.report(&role.contract)?;
        let read = |criteria| {
            let (judges, part) = (Some(role.judges()), role.part);
            let context = Context { role: Some(role_name.into()), judges, part, criteria, ..Context::default() };
            extract::report(dialect, report, &context).sections
        };
        let sections = read(Some(run.ledger.criteria.iter().map(row).collect()));
        Some(if sections.is_empty() { read(None) } else { sections })
    }
}
