//! Beginning again: where a person's word leads to somebody who works, in the flow that asked or in one above it.
//!
//! ```text
//! the flow itself, at its first stage | main, where somebody worked or below it | the same of the flow above
//! ```

use super::super::event::{FlowHeld, UnitChanged, UnitState};
use super::super::gate;
use super::super::state::{Instance, MAIN, Run};
use super::draft::Draft;
use crate::id::{InstanceId, RoleId, StageId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Kind, Stage};
use std::sync::Arc;

/// Which flow is entered again, at which stage, and the units whose work begins again with it.
pub(super) struct Again {
    pub at: InstanceId,
    pub stage: StageId,
    pub units: Vec<UnitId>,
}

/// Of whom a place to begin again is looked for.
pub(super) struct Sought<'a> {
    pub unit: &'a dyn Fn(&UnitId) -> bool,
    pub role: &'a dyn Fn(&RoleId) -> bool,
}

impl Draft {
    /// Whether a role may write.
    pub(super) fn may_write(&self, role: &RoleId) -> bool {
        self.run.protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty())
    }

    /// Where a flow, else one above it, is entered so that somebody who was dispatched there is dispatched again.
    pub(super) fn works_again(&self, name: &InstanceId, sought: &Sought<'_>) -> Option<Again> {
        let known = self.run.instances.get(name)?;
        let stages = &self.run.flow(known)?.stages;
        let again = if &**name == MAIN {
            stages.iter().find_map(|stage| self.works_again_at(name, known, stage, sought))
        } else {
            let own: Vec<UnitId> = known.unit.iter().filter(|unit| (sought.unit)(unit)).cloned().collect();
            let units = [Vec::new(), own].into_iter().find(|units| works(&self.run_with(units), name, sought));
            let first = units.zip(stages.first());
            first.map(|(units, stage)| Again { at: name.clone(), stage: stage.id.clone(), units })
        };
        again.or_else(|| self.works_again(known.parent.as_ref()?, sought))
    }

    /// The same of a stage of main: who was dispatched there, or units below it.
    fn works_again_at(&self, name: &InstanceId, main: &Instance, stage: &Stage, sought: &Sought<'_>) -> Option<Again> {
        let again = |units| Again { at: name.clone(), stage: stage.id.clone(), units };
        if works_at(&self.run, main, stage, sought) {
            return Some(again(Vec::new()));
        }
        let mut units = Vec::new();
        self.worked(name, Some(&stage.id), sought, &mut units);
        let trial = self.run_with(&units);
        let mut below = self.run.children(name).filter(|(_, child)| child.each.as_ref() == Some(&stage.id));
        let goes = below.any(|(id, child)| (child.unit.is_none() || !units.is_empty()) && works(&trial, id, sought));
        goes.then(|| again(units))
    }

    /// The units below an instance for which somebody was dispatched, and that are not given up.
    fn worked(&self, name: &InstanceId, each: Option<&StageId>, sought: &Sought<'_>, units: &mut Vec<UnitId>) {
        let below =
            self.run.children(name).filter(|(_, child)| each.is_none_or(|each| child.each.as_ref() == Some(each)));
        for (id, child) in below {
            let stays = |unit: &&UnitId| {
                self.run.unit(unit).is_some_and(|unit| unit.state != UnitState::Dropped && unit.retired.is_none())
            };
            let flow = self.run.flow(child).map(|flow| flow.stages.as_slice()).unwrap_or_default();
            let worked = flow.iter().any(|stage| dispatched(child, stage, sought));
            let unit = child.unit.as_ref().filter(|unit| worked && (sought.unit)(unit)).filter(stays);
            units.extend(unit.filter(|unit| !units.contains(unit)).cloned());
            self.worked(id, None, sought, units);
        }
    }

    /// The run as it would be if these units began again.
    fn run_with(&self, units: &[UnitId]) -> Run {
        let mut trial = self.run.clone();
        for unit in Arc::make_mut(&mut trial.ledger).units.iter_mut().filter(|unit| units.contains(&unit.name)) {
            unit.state = UnitState::New;
        }
        trial
    }

    /// The work of these units begins again: what was made of them counts no more.
    pub(super) fn begin_again(&mut self, units: &[UnitId], why: &str) {
        for unit in units {
            if self.run.unit(unit).is_some_and(|unit| unit.state != UnitState::New) {
                self.emit(UnitChanged { unit: unit.clone(), state: UnitState::New, why: why.to_owned() });
            }
        }
    }

    /// Leaves a flow for one above it: nothing moves here, or in between, until that one comes by again.
    pub(super) fn leave_for(
        &mut self,
        above: &InstanceId,
        instance: &InstanceId,
        stage: &Stage,
        outcome: &Outcome,
        why: &str,
    ) {
        let mut left = Some((instance.clone(), stage.id.clone()));
        while let Some((instance, stage)) = left.take_if(|(left, _)| *left != *above) {
            left = self.instance(&instance).and_then(|known| known.parent.clone().zip(known.each.clone()));
            self.emit(FlowHeld { instance, stage, outcome: Some(outcome.clone()), why: why.to_owned() });
        }
        if above != instance {
            self.stop_below(above);
        }
    }
}

/// Whether somebody who was dispatched in a flow or below it would be dispatched again.
fn works(run: &Run, name: &InstanceId, sought: &Sought<'_>) -> bool {
    let Some(known) = run.instances.get(name) else { return false };
    let stages = run.flow(known).map(|flow| flow.stages.as_slice()).unwrap_or_default();
    let here = known.unit.as_ref().is_none_or(|unit| (sought.unit)(unit));
    here && stages.iter().any(|stage| works_at(run, known, stage, sought))
        || run.children(name).any(|(id, _)| works(run, id, sought))
}

fn works_at(run: &Run, known: &Instance, stage: &Stage, sought: &Sought<'_>) -> bool {
    let when = || stage.when.as_ref().is_none_or(|when| gate::truth(run, when, known.unit.as_ref()));
    dispatched(known, stage, sought) && when()
}

fn dispatched(known: &Instance, stage: &Stage, sought: &Sought<'_>) -> bool {
    matches!(&stage.kind, Kind::Dispatch { role } if (sought.role)(role)) && known.iterations.contains_key(&stage.id)
}
