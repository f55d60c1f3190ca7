//! `each`: starting units, running them side by side, joining them.

use super::super::effects;
use super::super::event::{EachEntered, FlowEntered, FlowResumed, LedgerPlanned, UnitState};
use super::super::fan_out::{raised, units_over};
use super::super::state::{At, Instance, Unit};
use super::draft::Draft;
use crate::id::{DecisionId, InstanceId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{AtOnce, Each, Makes, Over, Stage, Target, Trees, Value};
use crate::report::{Plan, UnitReport};

impl Draft {
    pub(super) fn enter_each(&mut self, name: &InstanceId, stage: &Stage, each: &Each) -> bool {
        let units = self.units_of(name, stage, each);
        // What was held, or was stopped by a sibling's raise, takes up its place again.
        let below: Vec<(InstanceId, Instance)> = self
            .run
            .children(name)
            .filter(|(_, child)| child.each.as_ref() == Some(&stage.id))
            .filter(|(_, child)| !self.is_retired(child.unit.as_ref()))
            .map(|(id, child)| (id.clone(), (**child).clone()))
            .collect();
        for (id, child) in below {
            match &child.at {
                At::Held { stage, .. } => {
                    self.emit(FlowResumed { instance: id, stage: stage.clone(), renewed: false });
                }
                At::Ended { end: Target::Raise(_) } => self.start(name, stage, each, child.unit.clone()),
                // A sub-flow call is a new call each time.
                At::Ended { .. } if each.over == Over::It => self.start(name, stage, each, child.unit.clone()),
                At::Ready { .. }
                | At::Leased { .. }
                | At::Waiting { .. }
                | At::Each { .. }
                | At::Closing { .. }
                | At::Ended { .. } => {}
            }
        }
        self.emit(EachEntered { instance: name.clone(), stage: stage.id.clone(), units });
        true
    }

    /// Whether a later plan took a unit back.
    pub(super) fn is_retired(&self, unit: Option<&UnitId>) -> bool {
        unit.and_then(|unit| self.run.unit(unit)).is_some_and(|unit| unit.retired.is_some())
    }

    pub(super) fn has_ended(&self, decision: DecisionId) -> bool {
        self.run.decisions.get(&decision).is_none_or(|decision| decision.end.is_some())
    }

    /// The units an `each` runs over; lanes enter the ledger by name.
    pub(super) fn units_of(&mut self, name: &InstanceId, stage: &Stage, each: &Each) -> Vec<UnitId> {
        let subject = self.unit_of(name);
        let over = units_over(&self.run, subject.as_ref(), each);
        let new = over.iter().filter(|unit| self.run.unit(unit).is_none());
        let units: Vec<UnitReport> = new
            .map(|lane| UnitReport { name: lane.clone(), title: lane.to_string(), ..UnitReport::default() })
            .collect();
        if !units.is_empty() {
            let plan = Plan { units, ..Plan::default() };
            self.emit(LedgerPlanned { plan, from: (&*stage.id).into() });
        }
        over
    }

    /// Starts units, or joins them.
    pub(super) fn run_each(&mut self, name: &InstanceId, stage: &Stage, each: &Each) -> bool {
        if let Some(raised) = raised(&self.run, name, &stage.id) {
            self.stop_below(name);
            self.route(name, stage, &Outcome::Raised(raised));
            return true;
        }
        if each.over == Over::It {
            return self.run_sub_flow(name, stage, each);
        }
        let units = self.units_of(name, stage, each);
        let child = |unit: &UnitId| self.run.instances.get(&child_name(name, &stage.id, Some(unit)));
        let active: Vec<&UnitId> = units.iter().filter(|unit| child(unit).is_some_and(|c| c.at.is_active())).collect();
        let at_once = match &each.at_once {
            AtOnce::Number(number) => usize::try_from(*number).unwrap_or(usize::MAX),
            AtOnce::Input(input) => match self.run.vars.get(input) {
                Some(Value::Int(number)) => usize::try_from(*number).unwrap_or(1).max(1),
                Some(Value::Text(_) | Value::List(_)) | None => 1,
            },
        };
        if active.len() < at_once {
            let startable = units.iter().find(|unit| self.can_start(name, stage, each, unit, &active));
            if let Some(unit) = startable.cloned() {
                self.start(name, stage, each, Some(unit));
                return true;
            }
        }
        if !active.is_empty() {
            return false;
        }
        let done = units.iter().filter(|unit| self.is_done(name, stage, each, unit)).count();
        let outcome = match done {
            done if done == units.len() => Outcome::All,
            0 => Outcome::None,
            _ => Outcome::Some,
        };
        self.route(name, stage, &outcome);
        true
    }

    pub(super) fn run_sub_flow(&mut self, name: &InstanceId, stage: &Stage, each: &Each) -> bool {
        let child = self.instance(&child_name(name, &stage.id, None));
        match child.map(|child| child.at.clone()) {
            None => {
                let unit = self.unit_of(name);
                self.start(name, stage, each, unit);
                true
            }
            Some(At::Ended { end: Target::Done }) => {
                self.route(name, stage, &Outcome::All);
                true
            }
            Some(At::Ended { .. }) => {
                self.route(name, stage, &Outcome::None);
                true
            }
            // A held sub-flow holds its caller.
            Some(At::Held { outcome, why, .. }) => {
                self.hold(name, stage, outcome.as_ref(), why);
                true
            }
            Some(At::Ready { .. } | At::Leased { .. } | At::Waiting { .. } | At::Each { .. } | At::Closing { .. }) => {
                false
            }
        }
    }

    /// Whether a unit is done below this `each`. One that is undone again in this entry stays done here: otherwise units that
    /// undo each other would go round without a limit. What comes after the `each` sees it.
    pub(super) fn is_done(&self, name: &str, stage: &Stage, each: &Each, unit: &UnitId) -> bool {
        let child = self.run.instances.get(&child_name(name, &stage.id, Some(unit)));
        child.is_some_and(|child| {
            let ended = matches!(child.at, At::Ended { end: Target::Done });
            ended && (!self.is_undone(unit, each.makes) || self.in_this_entry(name, child))
        })
    }

    /// Whether a unit is no longer what its `each` made of it: it lapsed, a person had it begin again, or other work took the place of
    /// what was accepted.
    pub(super) fn is_undone(&self, unit: &UnitId, makes: Makes) -> bool {
        match self.run.unit(unit).map(|unit| unit.state) {
            Some(UnitState::New | UnitState::Lapsed) => true,
            Some(UnitState::Produced) => makes == Makes::Accepted,
            Some(UnitState::Accepted | UnitState::Dropped) | None => false,
        }
    }

    /// Whether a child was started since its `each` was last entered.
    pub(super) fn in_this_entry(&self, name: &str, child: &Instance) -> bool {
        self.run.instances.get(name).is_some_and(|each| Some(child.started) > each.each_entered)
    }

    fn can_start(&self, name: &str, stage: &Stage, each: &Each, unit: &UnitId, active: &[&UnitId]) -> bool {
        let Some(known) = self.run.unit(unit) else { return false };
        let startable = match self.run.instances.get(&child_name(name, &stage.id, Some(unit))) {
            None => known.state != UnitState::Dropped,
            Some(child) => {
                self.is_undone(unit, each.makes)
                    && matches!(child.at, At::Ended { end: Target::Done })
                    && !self.in_this_entry(name, child)
            }
        };
        let needs_met = known.needs.iter().all(|need| {
            self.is_done(name, stage, each, need)
                && self.run.unit(need).is_none_or(|unit| unit.tree.as_ref().is_none_or(|own| own.landed))
        });
        let writes = effects::flow_writes(&self.protocol, &each.flow);
        let overlaps = |other: &Unit| writes && crate::scope::overlap(&known.scope, &other.scope);
        let clear = active.iter().filter_map(|other| self.run.unit(other)).all(|other| !overlaps(other));
        startable && needs_met && clear
    }

    pub(super) fn start(&mut self, parent: &InstanceId, stage: &Stage, each: &Each, unit: Option<UnitId>) {
        let protocol = self.protocol.clone();
        let Some(first) = protocol.flow(&each.flow).and_then(|flow| flow.stages.first()) else { return };
        let key = if each.over == Over::It { None } else { unit.as_ref() };
        self.emit(FlowEntered {
            instance: child_name(parent, &stage.id, key),
            flow: each.flow.clone(),
            unit: unit.clone(),
            parent: Some(parent.clone()),
            each: Some(stage.id.clone()),
            stage: first.id.clone(),
            own_tree: each.trees == Trees::Own && each.over != Over::It,
        });
    }
}

/// The name of a flow instance: the path of `each` stages, and the unit.
fn child_name(parent: &str, stage: &str, unit: Option<&UnitId>) -> InstanceId {
    match unit {
        Some(unit) => format!("{parent}/{stage}:{unit}").into(),
        None => format!("{parent}/{stage}").into(),
    }
}
