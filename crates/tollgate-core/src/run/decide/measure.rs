//! Facts before questions: what was shown by a command and is stale is measured again before a person is asked about it.
//!
//! ```text
//! outcome that leads to a question, or to the end of the run --commands not run on this content--> commands
//! commands --ran--> the outcome is routed
//! ```

use super::super::blockers::{self, Blocker};
use super::super::event::{CommandRef, PendingOutcome, Work};
use super::super::gate;
use super::super::state::{Criterion, Instance, MAIN};
use super::draft::Draft;
use crate::id::{GateId, InstanceId};
use crate::protocol::Outcome;
use crate::protocol::model::{From, Kind, Stage, Target};

impl Draft {
    /// Has the commands run that an outcome would otherwise put to a person as they are; whether there are any. Once they have run,
    /// it is routed.
    pub(super) fn measures_before(
        &mut self,
        name: &InstanceId,
        stage: &Stage,
        outcome: &Outcome,
        next: &Target,
    ) -> bool {
        let Some(instance) = self.instance(name).filter(|_| self.is_driver()) else { return false };
        let commands = match next {
            Target::Done if &**name == MAIN => self.stale_at_close(),
            Target::Ask(ask) => self.not_run(&instance, stage, self.protocol.ask(ask)),
            Target::Stage(to) => self.not_run(&instance, stage, Self::stage_of(&self.protocol, &instance, to)),
            Target::Again
            | Target::Done
            | Target::Reported
            | Target::Dropped
            | Target::Hold
            | Target::Raise(_)
            | Target::Back
            | Target::Origin
            | Target::As(_) => Vec::new(),
        };
        if commands.is_empty() {
            return false;
        }
        let pending = PendingOutcome { outcome: outcome.clone(), reason: self.reason.clone() };
        self.grant(name, stage, Work::Commands { commands }, &instance, Some(Box::new(pending)));
        true
    }

    /// The commands of what an answer to a question may waive, as far as they were not run on this content.
    fn not_run(&self, instance: &Instance, from: &Stage, next: Option<&Stage>) -> Vec<CommandRef> {
        let Some(next) = next else { return Vec::new() };
        // What a report asks is put with the report.
        let waits = matches!(&next.kind, Kind::Ask(ask) if ask.from != Some(From::Report));
        let routes = next.on.iter().filter(|_| waits).map(|rule| &rule.route);
        let gates: Vec<GateId> = routes.flat_map(|route| self.ensured(Some(from), route)).collect();
        gate::commands_needed(&self.run, &gates, instance.unit.as_ref())
    }

    /// The commands of the rows that the run owes at its end and that were shown on another tree.
    fn stale_at_close(&self) -> Vec<CommandRef> {
        let elsewhere = |row: &Criterion| row.ran.as_ref().is_some_and(|shown| shown.on.tree != self.run.tree);
        let rows = blockers::of_close(&self.run).into_iter().filter_map(|blocker| {
            let Blocker::RowStale(row) = blocker else { return None };
            self.run.criterion(&row).filter(|row| elsewhere(row)).map(|row| CommandRef::Criterion(row.id.clone()))
        });
        rows.collect()
    }
}
