//! A person's word on a run: retry, repair and cancel.

use super::super::event::{FlowResumed, RunClosed, RunOutcome, RunRepaired, RunRetried};
use super::super::state::{At, Phase};
use super::Rejection;
use super::draft::Draft;
use crate::Name;

impl Draft {
    /// Enters the stages that led to a hold, their limits renewed.
    pub fn retry(&mut self, unit: Option<Name>) -> Result<(), Rejection> {
        self.needs_person()?;
        if let Some(name) = &unit
            && self.run.unit(name).is_none()
        {
            return Err(Rejection::NoUnit(name.clone()));
        }
        let held: Vec<(Name, Name)> = self
            .run
            .instances
            .iter()
            // A unit's retry needs the flows above it to go on too.
            .filter(|(_, instance)| unit.is_none() || instance.unit.is_none() || instance.unit == unit)
            .filter_map(|(id, instance)| match &instance.at {
                At::Held { stage, .. } => Some((id.clone(), stage.clone())),
                _ => None,
            })
            .collect();
        if held.is_empty() && !matches!(self.run.phase, Phase::Halted { .. }) {
            return Err(Rejection::NothingToRetry);
        }
        self.emit(RunRetried { unit });
        for (instance, stage) in held {
            self.emit(FlowResumed { instance, stage, renewed: true });
        }
        Ok(())
    }

    /// Says what a repair of the journal lost; nothing moves before a person's `retry`.
    pub fn repair(&mut self, repaired: RunRepaired) -> Result<(), Rejection> {
        self.needs_person()?;
        self.emit(repaired);
        Ok(())
    }

    /// Ends workers, keeps trees, closes as not succeeded.
    pub fn cancel(&mut self, why: String) -> Result<(), Rejection> {
        self.needs_person()?;
        self.end_everything("the run was cancelled");
        self.emit(RunClosed { outcome: RunOutcome::Cancelled, why, tree: self.run.tree.clone() });
        Ok(())
    }
}
