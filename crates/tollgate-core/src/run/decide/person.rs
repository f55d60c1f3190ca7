//! A person's word on a run: retry, repair and cancel.

use super::super::event::{EachEntered, FlowResumed, RunClosed, RunOutcome, RunRepaired, RunRetried};
use super::super::state::{At, Instance, MAIN, Phase};
use super::Rejection;
use super::draft::Draft;
use crate::Name;
use crate::protocol::model::Kind;

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
            .filter(|(_, instance)| unit.is_none() || instance.unit == unit)
            .filter_map(|(id, instance)| match &instance.at {
                At::Held { stage, .. } => Some((id.clone(), stage.clone())),
                _ => None,
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
        let sleeps = self.run.pools.values().any(|pool| pool.tried_by.is_none() && pool.until_ms > 0);
        if held.is_empty() && !sleeps && !matches!(self.run.phase, Phase::Halted { .. }) {
            return Err(Rejection::NothingToRetry);
        }
        self.emit(RunRetried { unit: None });
        for (instance, stage) in held {
            // Held at the close for what lapsed: whether the stage that made it has anything to make is not asked again.
            let at_close = |main: &Instance| matches!(&main.at, At::Held { outcome, .. } if &**outcome == "done");
            let lapsed = &*instance == MAIN && self.made_at().as_ref() == Some(&stage);
            if lapsed && self.instance(MAIN).is_some_and(|main| at_close(&main)) {
                self.enter_again(&instance, &stage);
            } else {
                self.emit(FlowResumed { instance, stage, renewed: true });
            }
        }
        Ok(())
    }

    /// Whether what stands above an instance is still at the `each` that the instance belongs to: what the run has gone on
    /// without is not taken up beside it.
    fn is_under_way(&self, instance: &str) -> bool {
        let Some(known) = self.instance(instance) else { return false };
        let (Some(parent), Some(each)) = (&known.parent, &known.each) else { return true };
        let at_each = self.instance(parent).is_some_and(|above| match &above.at {
            At::Each { stage } | At::Held { stage, .. } => stage == each,
            _ => false,
        });
        at_each && self.is_under_way(parent)
    }

    /// Takes up one unit. What stands above it goes on with it alone: its siblings keep their places.
    fn retry_unit(&mut self, unit: Name, held: Vec<(Name, Name)>) -> Result<(), Rejection> {
        if held.is_empty() {
            return Err(Rejection::NotHeld(unit));
        }
        self.emit(RunRetried { unit: Some(unit) });
        for (instance, stage) in held {
            self.reopen_above(&instance);
            self.emit(FlowResumed { instance, stage, renewed: true });
        }
        Ok(())
    }

    /// Puts what is held above an instance back into the `each` that the instance belongs to.
    fn reopen_above(&mut self, instance: &Name) {
        let Some(known) = self.instance(instance) else { return };
        let (Some(parent), Some(each)) = (known.parent.clone(), known.each.clone()) else { return };
        let Some(above) = self.instance(&parent) else { return };
        if !matches!(&above.at, At::Held { stage, .. } if *stage == each) {
            return;
        }
        self.reopen_above(&parent);
        self.enter_again(&parent, &each);
    }

    /// Goes on at an `each` that was entered before.
    fn enter_again(&mut self, name: &Name, each: &Name) {
        let protocol = self.protocol.clone();
        self.emit(FlowResumed { instance: name.clone(), stage: each.clone(), renewed: true });
        if let Some(instance) = self.instance(name)
            && let Some(stage) = Self::stage_of(&protocol, &instance, each)
            && let Kind::Each(over) = &stage.kind
        {
            let units = self.units_of(name, stage, over);
            self.emit(EachEntered { instance: name.clone(), stage: each.clone(), units });
        }
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
