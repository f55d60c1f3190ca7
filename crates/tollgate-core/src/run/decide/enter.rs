//! Entering stages: conditions, requirements, leases, units.

use std::collections::BTreeSet;

use super::super::event::{
    AttemptCancelled, AttemptStarted, DecisionEnd, DecisionEnded, EachEntered, FlowEntered, FlowResumed, LedgerPlanned,
    Origin, RunHalted, UnitState, Work,
};
use super::super::gate::{self, Status};
use super::super::state::{At, Instance, MAIN, Unit};
use super::super::{bundle, effects};
use super::draft::Draft;
use crate::Name;
use crate::id::{AttemptId, DecisionId};
use crate::protocol::model::{AtOnce, Each, Kind, Land, Over, Stage, Target, Trees, Value};
use crate::report::{Plan, UnitReport, Verdict};

/// Moves without anybody's doing in one command. The checker proves that automatic moves end; this is the belt to its
/// braces, and far above what a protocol of any size needs.
const MOVES_MAX: usize = 10_000;

impl Draft {
    /// Enters what can be entered until nothing moves by itself.
    pub fn advance(&mut self) {
        for _ in 0..MOVES_MAX {
            if self.run.is_closed() || !self.move_once() {
                return;
            }
        }
        self.emit(RunHalted { reasons: vec![format!("{MOVES_MAX} moves without a worker or a person")] });
    }

    /// Moves one instance; false when none can.
    fn move_once(&mut self) -> bool {
        self.lapse();
        self.close_when_nothing_is_open();
        if self.run.is_closed() {
            return true;
        }
        let names: Vec<Name> = self.run.instances.keys().cloned().collect();
        names.into_iter().any(|name| self.is_live(&name) && self.move_instance(&name))
    }

    /// Whether everything above an instance still waits for it.
    fn is_live(&self, name: &str) -> bool {
        let Some(instance) = self.run.instances.get(name) else { return false };
        match &instance.parent {
            None => true,
            Some(parent) => {
                let waits = self.run.instances.get(parent).is_some_and(
                    |above| matches!(&above.at, At::Each { stage } if Some(stage) == instance.each.as_ref()),
                );
                waits && self.is_live(parent)
            }
        }
    }

    fn move_instance(&mut self, name: &Name) -> bool {
        let Some(instance) = self.instance(name) else { return false };
        let protocol = self.protocol.clone();
        let stage = instance.at.stage().and_then(|stage| Self::stage_of(&protocol, &instance, stage));
        match (&instance.at, stage) {
            (At::Ready { .. }, Some(stage)) => self.enter(name, &instance, stage),
            (At::Ready { stage }, None) => {
                let why = format!("`{stage}` is not a stage of `{}`", instance.flow);
                self.emit(RunHalted { reasons: vec![why] });
                false
            }
            (At::Each { .. }, Some(stage)) => match &stage.kind {
                Kind::Each(each) => self.run_each(name, stage, each),
                Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
            },
            (
                At::Leased { .. }
                | At::Waiting { .. }
                | At::Held { .. }
                | At::Closing { .. }
                | At::Ended { .. }
                | At::Each { .. },
                _,
            ) => false,
        }
    }

    fn enter(&mut self, name: &Name, instance: &Instance, stage: &Stage) -> bool {
        let unit = instance.unit.as_ref();
        if let Some(verdict) = &instance.judging {
            return self.bear_out(name, instance, stage, verdict);
        }
        // A lease that a crash cut off was entered before: its condition is not asked twice.
        if instance.lost.is_none() {
            if let Some(when) = &stage.when
                && !gate::truth(&self.run, when, unit)
            {
                self.route(name, stage, "skipped");
                return true;
            }
            let missing = self.missing(stage, unit);
            if !missing.is_empty() {
                self.hold(name, stage, "requires", format!("`{}` needs {}", stage.id, missing.join(", ")));
                return true;
            }
        }
        match &stage.kind {
            Kind::Dispatch { role } => self.grant_dispatch(name, instance, stage, role),
            Kind::Ask(_) => {
                let origin = Origin { stage: stage.id.clone(), outcome: "".into(), cut_off: None };
                self.ask_here(name, stage, origin);
                true
            }
            Kind::Check { gates } => self.check(name, instance, stage, gates),
            Kind::Each(each) => self.enter_each(name, stage, each),
            Kind::Land(Land::Run) => self.grant_landing(name, instance, stage),
            Kind::Land(Land::PullRequest | Land::Base) => {
                self.route(name, stage, "refused");
                true
            }
        }
    }

    /// What a stage requires and does not have.
    fn missing(&self, stage: &Stage, unit: Option<&Name>) -> Vec<String> {
        let lacks = |name: &&Name| {
            if self.protocol.gates.contains_key(*name) {
                gate::status_of(&self.run, name, unit) != Status::Holds
            } else {
                !self.run.artifacts.contains_key(*name)
            }
        };
        stage.requires.iter().filter(lacks).map(|name| format!("`{name}`")).collect()
    }

    /// A judge accepts: what it must establish is evaluated on what it left behind, after the commands that needs.
    fn bear_out(&mut self, name: &Name, instance: &Instance, stage: &Stage, verdict: &str) -> bool {
        let unit = instance.unit.as_ref();
        let needed = gate::commands_needed(&self.run, &stage.ensures, unit);
        if !needed.is_empty() {
            if self.is_driver() {
                self.grant(name, stage, Work::Commands { commands: needed }, instance);
            }
            return self.is_driver();
        }
        let holds = stage.ensures.iter().all(|gate| gate::status_of(&self.run, gate, unit) == Status::Holds);
        if !holds {
            self.reason = self.open_rows(name).join("; ");
        }
        self.route(name, stage, if holds { verdict } else { Verdict::Inconclusive.word() });
        true
    }

    fn grant_dispatch(&mut self, name: &Name, instance: &Instance, stage: &Stage, role: &Name) -> bool {
        let Some(known) = self.protocol.roles.get(role).cloned() else { return false };
        // One writer at a time in a tree; a judge looks at what nobody is changing.
        if !self.is_driver() || self.tree_is_busy(instance.unit.as_ref(), !known.writes.is_empty()) {
            return false;
        }
        // Facts before opinions: what can be run is run before a judge is asked. One that writes is asked first.
        let needed = gate::commands_needed(&self.run, &stage.ensures, instance.unit.as_ref());
        if !needed.is_empty() && known.writes.is_empty() {
            self.grant(name, stage, Work::Commands { commands: needed }, instance);
            return true;
        }
        let before = instance.iterations.get(&stage.id).copied().unwrap_or(0);
        let repeats = instance.lost.is_some() && before > 0;
        let worker = self.run.opened.workers.get(role).cloned().unwrap_or_else(|| role.clone());
        let work = Work::Dispatch {
            role: role.clone(),
            worker,
            iteration: if repeats { before } else { before + 1 },
            bundle: bundle::bundle(&self.run, name, &known),
        };
        self.grant(name, stage, work, instance);
        true
    }

    /// Whether somebody writes in a subject's tree, or, for a writer, works there at all.
    fn tree_is_busy(&self, unit: Option<&Name>, writer: bool) -> bool {
        let own = |unit: Option<&Name>| {
            unit.and_then(|name| self.run.unit(name)).and_then(|u| u.tree.as_ref()).is_some_and(|tree| !tree.landed)
        };
        let place = unit.filter(|_| own(unit));
        self.run.attempts.values().any(|attempt| {
            let there = self.unit_of(&attempt.instance);
            let there = there.as_ref().filter(|_| own(there.as_ref()));
            there == place && (writer || effects::writes(&self.run, attempt))
        })
    }

    fn grant(&mut self, name: &Name, stage: &Stage, work: Work, instance: &Instance) {
        let attempt = AttemptId(self.run.next_attempt);
        self.emit(AttemptStarted {
            attempt,
            instance: name.clone(),
            stage: stage.id.clone(),
            work,
            tree: self.run.tree_of(instance.unit.as_ref()).clone(),
            repeats: instance.lost,
        });
    }

    fn check(&mut self, name: &Name, instance: &Instance, stage: &Stage, gates: &[Name]) -> bool {
        let unit = instance.unit.as_ref();
        let needed = gate::commands_needed(&self.run, gates, unit);
        if !needed.is_empty() {
            if !self.is_driver() {
                return false;
            }
            self.grant(name, stage, Work::Commands { commands: needed }, instance);
            return true;
        }
        let outcome = match gates.iter().map(|gate| gate::status_of(&self.run, gate, unit)).max() {
            None | Some(Status::Holds) => "pass",
            Some(Status::Stale) => "stale",
            Some(Status::Unobservable) => "unobservable",
            Some(Status::Fails) => "fail",
        };
        self.route(name, stage, outcome);
        true
    }

    fn grant_landing(&mut self, name: &Name, instance: &Instance, stage: &Stage) -> bool {
        let own = instance.unit.as_ref().and_then(|unit| self.run.unit(unit)).and_then(|unit| unit.tree.clone());
        let (Some(unit), Some(own)) = (instance.unit.clone(), own.filter(|own| !own.landed)) else {
            // Work in the caller's tree is there already.
            self.route(name, stage, "landed");
            return true;
        };
        let landing = self.run.attempts.values().any(|attempt| matches!(attempt.work, Work::Land { .. }));
        // Landings are serial, and nobody writes in the caller's tree meanwhile.
        if !self.is_driver() || landing || self.tree_is_busy(None, true) {
            return false;
        }
        let work = Work::Land { unit, base: own.base, onto: self.run.tree.clone() };
        self.grant(name, stage, work, instance);
        true
    }

    fn enter_each(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
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
                At::Waiting { stage, decision } if self.has_ended(*decision) => {
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

    fn has_ended(&self, decision: DecisionId) -> bool {
        self.run.decisions.get(&decision).is_none_or(|decision| decision.end.is_some())
    }

    /// The units an `each` runs over, in plan order; lanes enter the ledger by name.
    fn units_of(&mut self, name: &Name, stage: &Stage, each: &Each) -> Vec<Name> {
        let lanes = match &each.over {
            Over::Units => return self.run.ledger.units.iter().map(|unit| unit.name.clone()).collect(),
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

    /// Starts units, or joins them.
    fn run_each(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
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

    fn run_sub_flow(&mut self, name: &Name, stage: &Stage, each: &Each) -> bool {
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

    fn raised(&self, name: &str, stage: &Name) -> Option<Name> {
        self.run.children(name).filter(|(_, child)| child.each.as_ref() == Some(stage)).find_map(|(_, child)| {
            match &child.at {
                At::Ended { end: Target::Raise(name) } => Some(name.clone()),
                _ => None,
            }
        })
    }

    /// Whether a unit is done below this `each` and has not lapsed since.
    fn is_done(&self, name: &str, stage: &str, unit: &Name) -> bool {
        let lapsed = self.run.unit(unit).is_some_and(|unit| unit.state == UnitState::Lapsed);
        let child = self.run.instances.get(&child_name(name, stage, Some(unit)));
        child.is_some_and(|child| matches!(child.at, At::Ended { end: Target::Done })) && !lapsed
    }

    fn can_start(&self, name: &str, stage: &Stage, unit: &Name, active: &[&Name]) -> bool {
        let Some(known) = self.run.unit(unit) else { return false };
        let startable = match self.run.instances.get(&child_name(name, &stage.id, Some(unit))) {
            None => known.state != UnitState::Dropped,
            Some(child) => known.state == UnitState::Lapsed && matches!(child.at, At::Ended { end: Target::Done }),
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

    fn start(&mut self, parent: &Name, stage: &Stage, each: &Each, unit: Option<Name>) {
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

    /// Stops everything below an instance; what was written is kept.
    pub fn stop_below(&mut self, name: &str) {
        let below: BTreeSet<Name> = self.below(name);
        let live: Vec<AttemptId> = self
            .run
            .attempts
            .iter()
            .filter(|(_, attempt)| below.contains(&attempt.instance))
            .map(|(id, _)| *id)
            .collect();
        for attempt in live {
            self.emit(AttemptCancelled { attempt, why: "a sibling left the flow".to_owned() });
        }
        let open: Vec<DecisionId> = self
            .run
            .pending()
            .filter(|(_, decision)| below.contains(&decision.asked.instance) && decision.asked.blocking)
            .map(|(id, _)| id)
            .collect();
        for decision in open {
            self.cancel_decision(decision);
        }
    }

    fn below(&self, name: &str) -> BTreeSet<Name> {
        let prefix = format!("{name}/");
        self.run.instances.keys().filter(|id| id.starts_with(&prefix)).cloned().collect()
    }

    /// Ends a question nobody needs to answer any more.
    pub fn cancel_decision(&mut self, decision: DecisionId) {
        self.emit(DecisionEnded {
            decision,
            end: DecisionEnd::Cancelled,
            option: None,
            text: String::new(),
            in_advance: false,
        });
    }

    /// Ends every lease and every question: the run is about to close.
    pub fn end_everything(&mut self, why: &str) {
        let live: Vec<AttemptId> = self.run.attempts.keys().copied().collect();
        for attempt in live {
            self.emit(AttemptCancelled { attempt, why: why.to_owned() });
        }
        let open: Vec<DecisionId> = self.run.pending().map(|(id, _)| id).collect();
        for decision in open {
            self.cancel_decision(decision);
        }
    }

    /// Starts the main flow.
    pub fn enter_main(&mut self) {
        let protocol = self.protocol.clone();
        let Some(first) = protocol.flow(MAIN).and_then(|flow| flow.stages.first()) else { return };
        self.emit(FlowEntered {
            instance: MAIN.into(),
            flow: MAIN.into(),
            unit: None,
            parent: None,
            each: None,
            stage: first.id.clone(),
            own_tree: false,
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
