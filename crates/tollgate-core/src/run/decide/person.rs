//! A person's word on a run: retry, repair and cancel.

use super::super::event::{EachEntered, FlowResumed, RunClosed, RunOutcome, RunRepaired, RunRetried};
use super::super::gate;
use super::super::state::{At, Instance, MAIN, Phase};
use super::Rejection;
use super::draft::Draft;
use crate::id::{InstanceId, StageId, UnitId};
use crate::protocol::model::Kind;
use crate::text::is_blank;
use std::sync::Arc;

impl Draft {
    /// Enters the stages that led to a hold, their limits renewed.
    pub fn retry(&mut self, unit: Option<UnitId>) -> Result<(), Rejection> {
        self.needs_person()?;
        if let Some(name) = &unit
            && self.run.unit(name).is_none()
        {
            return Err(Rejection::NoUnit(name.clone()));
        }
        let held: Vec<(InstanceId, StageId)> = self
            .run
            .instances
            .iter()
            .filter(|(_, instance)| unit.is_none() || instance.unit == unit)
            .filter(|(_, instance)| !self.is_retired(instance.unit.as_ref()))
            .filter_map(|(id, instance)| {
                let At::Held { stage, .. } = &instance.at else { return None };
                Some((id.clone(), stage.clone()))
            })
            .collect();
        let (held, left): (Vec<_>, Vec<_>) = held.into_iter().partition(|(instance, _)| self.is_under_way(instance));
        if let Some(unit) = unit {
            return match left.is_empty() || !held.is_empty() {
                true => self.retry_unit(unit, held),
                false => Err(Rejection::GoneOn(unit)),
            };
        }
        // What waits for a time may be tried before it, on a person's word.
        let sleeps = self.run.pools.values().any(|pool| pool.tried_by.is_none() && pool.until_ms.is_some());
        if held.is_empty() && !sleeps && !matches!(self.run.phase, Phase::Halted { .. }) {
            return Err(Rejection::NothingToRetry);
        }
        let main_was_held = held.iter().any(|(instance, _)| &**instance == MAIN);
        self.emit(RunRetried { unit: None });
        for (instance, stage) in held {
            self.emit(FlowResumed { instance, stage, renewed: true });
        }
        if main_was_held {
            self.enter_what_would_be_passed_over();
        }
        Ok(())
    }

    /// Enters the stage at which the main flow was held where it would be passed over by now: it was entered before, and a person wants
    /// it again. What is held below has to wait for what stands above it, and is asked.
    fn enter_what_would_be_passed_over(&mut self) {
        let protocol = self.protocol.clone();
        let is_new = |main: &Arc<Instance>| main.judging.is_none() && main.pending.is_none();
        let Some(main) = self.instance(MAIN).filter(is_new) else { return };
        let At::Ready { stage } = &main.at else { return };
        let Some(stage) = Self::stage_of(&protocol, &main, stage) else { return };
        if stage.when.as_ref().is_some_and(|when| !gate::truth(&self.run, when, None)) {
            self.enter_unasked(&MAIN.into(), &main, stage);
        }
    }

    /// Whether what stands above an instance is still at the `each` that the instance belongs to: what the run has gone on
    /// without is not taken up beside it.
    fn is_under_way(&self, instance: &str) -> bool {
        let Some(known) = self.instance(instance) else { return false };
        let (Some(parent), Some(each)) = (&known.parent, &known.each) else { return true };
        let at_each = self
            .instance(parent)
            .is_some_and(|above| matches!(&above.at, At::Each { stage } | At::Held { stage, .. } if stage == each));
        at_each && self.is_under_way(parent)
    }

    /// Takes up one unit. What stands above it goes on with it alone: its siblings keep their places.
    fn retry_unit(&mut self, unit: UnitId, held: Vec<(InstanceId, StageId)>) -> Result<(), Rejection> {
        if held.is_empty() {
            return Err(Rejection::NotHeld(unit));
        }
        self.emit(RunRetried { unit: Some(unit) });
        for (instance, stage) in held {
            if self.reopen_above(&instance) {
                self.emit(FlowResumed { instance, stage, renewed: true });
            }
        }
        Ok(())
    }

    /// Puts what is held above an instance back into the `each` that the instance belongs to; whether it is there.
    fn reopen_above(&mut self, instance: &InstanceId) -> bool {
        let Some(known) = self.instance(instance) else { return false };
        let (Some(parent), Some(each)) = (known.parent.clone(), known.each.clone()) else { return true };
        let Some(above) = self.instance(&parent) else { return false };
        if !matches!(&above.at, At::Held { stage, .. } if *stage == each) {
            return true;
        }
        if !self.reopen_above(&parent) {
            return false;
        }
        self.emit(FlowResumed { instance: parent.clone(), stage: each.clone(), renewed: true });
        let protocol = self.protocol.clone();
        let Some(stage) = Self::stage_of(&protocol, &above, &each) else { return false };
        let Kind::Each(over) = &stage.kind else { return false };
        if self.hold_for_needs(&parent, &above, stage) {
            return false;
        }
        let units = self.units_of(&parent, stage, over);
        self.emit(EachEntered { instance: parent, stage: each, units });
        true
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
        if is_blank(&why) {
            return Err(Rejection::ReasonNeeded);
        }
        self.end_everything("the run was cancelled");
        self.emit(RunClosed { outcome: RunOutcome::Cancelled, why, tree: self.run.tree.clone() });
        Ok(())
    }
}
