//! `each`: starting units, running them side by side, joining them.

use super::super::effects;
use super::super::event::{EachEntered, FlowEntered, FlowResumed, LedgerPlanned, UnitState};
use super::super::state::{At, Instance, Unit};
use super::draft::Draft;
use crate::Name;
use crate::id::DecisionId;
use crate::protocol::model::{AtOnce, Each, Kind, Over, Stage, Target, Trees, Value};
use crate::report::{Plan, UnitReport};

impl Draft {
    pub(super) fn enter_each(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
        let units = self.units_of(name, stage, each);
        // What was held, or was stopped by a sibling's raise, takes up its place again.
        let below: Vec<(Name, Instance)> = self
            .run
            .children(name)
            .filter(|(_, child)| child.each.as_ref() == Some(&stage.id))
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

    pub(super) fn has_ended(&self, decision: DecisionId) -> bool {
        self.run.decisions.get(&decision).is_none_or(|decision| decision.end.is_some())
    }

    /// The units an `each` runs over, in plan order; lanes enter the ledger by name.
    pub(super) fn units_of(&mut self, name: &Name, stage: &Stage, each: &Each) -> Vec<Name> {
        let lanes = match &each.over {
            Over::Units => {
                let planned = self.run.ledger.units.iter().filter(|unit| !self.is_lane(&unit.name));
                return planned.map(|unit| unit.name.clone()).collect();
            }
            Over::It => return self.unit_of(name).into_iter().collect(),
            Over::Input(input) => match self.run.vars.get(input) {
                Some(Value::List(lanes)) => lanes.clone(),
                Some(Value::Text(lane)) => vec![lane.clone()],
                Some(Value::Int(_)) | None => Vec::new(),
            },
            Over::Lanes(lanes) => lanes.clone(),
        };
        let new = lanes.iter().filter(|lane| self.run.unit(lane).is_none());
        let units: Vec<UnitReport> = new
            .map(|lane| UnitReport { name: lane.clone(), title: lane.to_string(), ..UnitReport::default() })
            .collect();
        if !units.is_empty() {
            let plan = Plan { units, ..Plan::default() };
            self.emit(LedgerPlanned { plan, from: stage.id.clone() });
        }
        lanes
    }

    /// Whether a unit exists by name, as a lane of some `each`, and was not planned.
    pub(super) fn is_lane(&self, unit: &Name) -> bool {
        self.protocol.flows.iter().flat_map(|flow| &flow.stages).any(|stage| match &stage.kind {
            Kind::Each(Each { over: Over::Lanes(lanes), .. }) => lanes.contains(unit),
            Kind::Each(Each { over: Over::Input(input), .. }) => match self.run.vars.get(input) {
                Some(Value::List(lanes)) => lanes.contains(unit),
                Some(Value::Text(lane)) => lane == unit,
                Some(Value::Int(_)) | None => false,
            },
            _ => false,
        })
    }

    /// Starts units, or joins them.
    pub(super) fn run_each(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
        if let Some(raised) = self.raised(name, &stage.id) {
            self.stop_below(name);
            self.route(name, stage, &format!("raise {raised}"));
            return true;
        }
        if each.over == Over::It {
            return self.run_sub_flow(name, stage, each);
        }
        let units = self.units_of(name, stage, each);
        let child = |unit: &Name| self.run.instances.get(&child_name(name, &stage.id, Some(unit)));
        let active: Vec<&Name> = units.iter().filter(|unit| child(unit).is_some_and(|c| c.at.is_active())).collect();
        let at_once = match &each.at_once {
            AtOnce::Number(number) => usize::try_from(*number).unwrap_or(usize::MAX),
            AtOnce::Input(input) => match self.run.vars.get(input) {
                Some(Value::Int(number)) => usize::try_from(*number).unwrap_or(1).max(1),
                Some(Value::Text(_) | Value::List(_)) | None => 1,
            },
        };
        if active.len() < at_once {
            let startable = units.iter().find(|unit| self.can_start(name, stage, unit, &active));
            if let Some(unit) = startable.cloned() {
                self.start(name, stage, each, Some(unit));
                return true;
            }
        }
        if !active.is_empty() {
            return false;
        }
        let done = units.iter().filter(|unit| self.is_done(name, &stage.id, unit)).count();
        let outcome = match done {
            done if done == units.len() => "all",
            0 => "none",
            _ => "some",
        };
        self.route(name, stage, outcome);
        true
    }

    pub(super) fn run_sub_flow(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
        let child = self.instance(&child_name(name, &stage.id, None));
        match child.map(|child| child.at.clone()) {
            None => {
                let unit = self.unit_of(name);
                self.start(name, stage, each, unit);
                true
            }
            Some(At::Ended { end: Target::Done }) => {
                self.route(name, stage, "all");
                true
            }
            Some(At::Ended { .. }) => {
                self.route(name, stage, "none");
                true
            }
            // A held sub-flow holds its caller.
            Some(At::Held { outcome, why, .. }) => {
                self.hold(name, stage, &outcome, why);
                true
            }
            Some(At::Ready { .. } | At::Leased { .. } | At::Waiting { .. } | At::Each { .. } | At::Closing { .. }) => {
                false
            }
        }
    }

    pub(super) fn raised(&self, name: &str, stage: &Name) -> Option<Name> {
        self.run.children(name).filter(|(_, child)| child.each.as_ref() == Some(stage)).find_map(|(_, child)| {
            match &child.at {
                At::Ended { end: Target::Raise(name) } => Some(name.clone()),
                _ => None,
            }
        })
    }

    /// Whether a unit is done below this `each`. One that lapses again after it was done in this entry stays done here:
    /// otherwise units that undo each other would go round without a limit. What comes after the `each` sees the lapse.
    pub(super) fn is_done(&self, name: &str, stage: &str, unit: &Name) -> bool {
        let lapsed = self.run.unit(unit).is_some_and(|unit| unit.state == UnitState::Lapsed);
        let child = self.run.instances.get(&child_name(name, stage, Some(unit)));
        child.is_some_and(|child| {
            matches!(child.at, At::Ended { end: Target::Done }) && (!lapsed || self.in_this_entry(name, child))
        })
    }

    /// Whether a child was started since its `each` was last entered.
    pub(super) fn in_this_entry(&self, name: &str, child: &Instance) -> bool {
        self.run.instances.get(name).is_some_and(|each| child.started > each.each_entered)
    }

    pub(super) fn can_start(&self, name: &str, stage: &Stage, unit: &Name, active: &[&Name]) -> bool {
        let Some(known) = self.run.unit(unit) else { return false };
        let startable = match self.run.instances.get(&child_name(name, &stage.id, Some(unit))) {
            None => known.state != UnitState::Dropped,
            Some(child) => {
                known.state == UnitState::Lapsed
                    && matches!(child.at, At::Ended { end: Target::Done })
                    && !self.in_this_entry(name, child)
            }
        };
        let needs_met = known.needs.iter().all(|need| {
            self.is_done(name, &stage.id, need)
                && self.run.unit(need).is_none_or(|unit| unit.tree.as_ref().is_none_or(|own| own.landed))
        });
        let Kind::Each(each) = &stage.kind else { return false };
        let writes = effects::flow_writes(&self.protocol, &each.flow);
        let overlaps = |other: &Unit| writes && crate::scope::overlap(&known.scope, &other.scope);
        let clear = active.iter().filter_map(|other| self.run.unit(other)).all(|other| !overlaps(other));
        startable && needs_met && clear
    }

    pub(super) fn start(&mut self, parent: &Name, stage: &Stage, each: &Each, unit: Option<Name>) {
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
fn child_name(parent: &str, stage: &str, unit: Option<&Name>) -> Name {
    match unit {
        Some(unit) => format!("{parent}/{stage}:{unit}").into(),
        None => format!("{parent}/{stage}").into(),
    }
}
