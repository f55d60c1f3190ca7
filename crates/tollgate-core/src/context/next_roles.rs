//! Who may come next by the protocol, for reports that must say so.
//!
//! A walk over the routes from an outcome to the first role or person on each way. Conditions are answered as far as
//! they are known before the outcome happens: by variables and the subject's own attributes; an unknown one takes both
//! ways.

use std::collections::BTreeSet;

use crate::Name;
use crate::id::{InstanceId, RoleId, StageId, UnitId};
use crate::protocol::model::{Each, Kind, Over, Owner, Rule, Stage, Target, Value};
use crate::protocol::{Condition, LandOutcome, Outcome};
use crate::run::state::{MAIN, Run};
use crate::run::{counter_key, gate};

/// Who may come next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Next {
    /// Roles, in the order the routes name them.
    pub roles: Vec<RoleId>,
    /// Whether a person may be next.
    pub person: bool,
}

/// Who may come next when a stage of an instance has an outcome.
pub fn next_roles(run: &Run, instance: &str, stage: &str, outcome: &Outcome) -> Next {
    let mut walk = Walk { run, seen: BTreeSet::new(), next: Next::default() };
    let Some(frame) = Frame::of(run, instance) else { return walk.next };
    if let Some(stage) = run.protocol.flow(&frame.flow).and_then(|flow| flow.stage(stage)) {
        walk.route(&frame, stage, outcome);
    }
    walk.next
}

/// A flow on the way: the instance that is live, or one that would be entered.
#[derive(Debug, Clone)]
struct Frame {
    flow: Name,
    /// The instance, when there is one: its counters are known.
    instance: Option<InstanceId>,
    unit: Subject,
    /// The frame that runs it, and by which stage.
    up: Option<(Box<Frame>, StageId)>,
}

#[derive(Debug, Clone)]
enum Subject {
    Known(Option<UnitId>),
    /// Some unit of an `each` that is not entered yet.
    Some,
}

impl Frame {
    fn of(run: &Run, name: &str) -> Option<Self> {
        let instance = run.instances.get(name)?;
        let up = match (&instance.parent, &instance.each) {
            (Some(parent), Some(each)) => Some((Box::new(Self::of(run, parent)?), each.clone())),
            _ => None,
        };
        let unit = Subject::Known(instance.unit.clone());
        Some(Self { flow: instance.flow.clone(), instance: Some(name.into()), unit, up })
    }

    /// Tells frames apart: the path of flows and stages.
    fn path(&self) -> String {
        match &self.up {
            Some((up, each)) => format!("{}/{each}/{}", up.path(), self.flow),
            None => self.flow.to_string(),
        }
    }
}

struct Walk<'a> {
    run: &'a Run,
    seen: BTreeSet<(String, Name)>,
    next: Next,
}

impl Walk<'_> {
    fn route(&mut self, frame: &Frame, stage: &Stage, outcome: &Outcome) {
        let run = self.run;
        let raised = outcome.raised();
        let found = run.protocol.route(stage, outcome);
        // As the kernel does it: a raise that its `each` does not route goes up, and `otherwise` catches it in main.
        let found = found.filter(|(_, owner)| raised.is_none() || *owner == Owner::Stage || &*frame.flow == MAIN);
        match (found, raised) {
            (Some((rule, _)), _) => {
                for target in self.ways(frame, stage, rule) {
                    self.arrive(frame, stage, &target);
                }
            }
            (None, Some(_)) => self.up(frame, outcome),
            // The kernel holds the flow: a person takes it up.
            (None, None) => self.next.person = true,
        }
    }

    /// The targets a rule may lead to, by what its counter says.
    fn ways(&self, frame: &Frame, stage: &Stage, rule: &Rule) -> Vec<Target> {
        let route = &rule.route;
        let Some(then) = &route.then else { return vec![route.to.clone()] };
        let key = counter_key(&stage.id, &rule.outcome);
        let instance = frame.instance.as_ref().and_then(|name| self.run.instances.get(name));
        let counter = instance.and_then(|known| known.counters.get(&key)).cloned().unwrap_or_default();
        // A report names the role it expects next. Loops are counted by the engine alone, so who names where a used-up
        // route led does not contradict the protocol; a person is asked all the same.
        let spent = route.limit.is_some_and(|limit| counter.taken >= limit);
        let may_be_stuck = route.same.is_some_and(|most| counter.same_in_a_row + 1 >= most);
        if spent || may_be_stuck { vec![route.to.clone(), then.clone()] } else { vec![route.to.clone()] }
    }

    fn arrive(&mut self, frame: &Frame, stage: &Stage, target: &Target) {
        match target {
            Target::Stage(id) => {
                let run = self.run;
                match run.protocol.flow(&frame.flow).and_then(|flow| flow.stage(id)) {
                    Some(next) => self.enter(frame, next),
                    None => self.next.person = true,
                }
            }
            Target::Again | Target::Origin | Target::Back => self.enter(frame, stage),
            Target::Ask(_) | Target::Hold | Target::As(_) => self.next.person = true,
            Target::Done | Target::Reported => self.up(frame, &Outcome::All),
            Target::Dropped => self.up(frame, &Outcome::None),
            Target::Raise(name) if frame.up.is_some() => self.up(frame, &Outcome::Raised(name.clone())),
            Target::Raise(name) => {
                // `otherwise` of main; a circle of raises is a person's to solve.
                let outcome = Outcome::Raised(name.clone());
                if self.seen.insert((frame.path(), outcome.word().into())) {
                    self.route(frame, stage, &outcome);
                }
            }
        }
    }

    /// The flow was left: its `each` has an outcome. Where main was left, nobody comes next.
    fn up(&mut self, frame: &Frame, outcome: &Outcome) {
        let run = self.run;
        let Some((up, each)) = &frame.up else { return };
        let marker: Name = format!("{each} {outcome}").into();
        if !self.seen.insert((up.path(), marker)) {
            return;
        }
        if let Some(stage) = run.protocol.flow(&up.flow).and_then(|flow| flow.stage(each)) {
            self.route(up, stage, outcome);
        }
    }

    fn enter(&mut self, frame: &Frame, stage: &Stage) {
        if !self.seen.insert((frame.path(), (&*stage.id).into())) {
            return;
        }
        let holds = stage.when.as_ref().map_or(Some(true), |when| self.known(frame, when));
        if holds != Some(false) {
            self.begin(frame, stage);
        }
        if holds != Some(true) {
            self.route(frame, stage, &Outcome::Skipped);
        }
    }

    fn begin(&mut self, frame: &Frame, stage: &Stage) {
        match &stage.kind {
            Kind::Dispatch { role } if self.next.roles.contains(role) => {}
            Kind::Dispatch { role } => self.next.roles.push(role.clone()),
            Kind::Ask(_) => self.next.person = true,
            Kind::Check { .. } => self.route(frame, stage, &Outcome::Pass),
            Kind::Land(_) => self.route(frame, stage, &Outcome::Land(LandOutcome::Landed)),
            Kind::Each(each) => self.each(frame, stage, each),
        }
    }

    fn each(&mut self, frame: &Frame, stage: &Stage, each: &Each) {
        let run = self.run;
        let empty = match &each.over {
            Over::Units => run.ledger.units.is_empty(),
            Over::Lanes(lanes) => lanes.is_empty(),
            Over::Input(input) => matches!(run.vars.get(input), Some(Value::List(lanes)) if lanes.is_empty()),
            Over::It => false,
        };
        let Some(first) = run.protocol.flow(&each.flow).and_then(|flow| flow.stages.first()).filter(|_| !empty) else {
            return self.route(frame, stage, &Outcome::All);
        };
        let unit = if each.over == Over::It { frame.unit.clone() } else { Subject::Some };
        let up = Some((Box::new(frame.clone()), stage.id.clone()));
        self.enter(&Frame { flow: each.flow.clone(), instance: None, unit, up }, first);
    }

    /// Whether a condition will hold, as far as that is known now.
    fn known(&self, frame: &Frame, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::All(parts) => self.fold(frame, parts, false),
            Condition::Any(parts) => self.fold(frame, parts, true),
            Condition::Not(part) => self.known(frame, part).map(|holds| !holds),
            Condition::Var { .. } => Some(gate::truth(self.run, condition, None)),
            Condition::It { .. } => match &frame.unit {
                Subject::Known(unit) => Some(gate::truth(self.run, condition, unit.as_ref())),
                Subject::Some => None,
            },
            Condition::Holds(_)
            | Condition::Judged(_)
            | Condition::Answer { .. }
            | Condition::Command { .. }
            | Condition::Artifact { .. }
            | Condition::Set { .. }
            | Condition::Count { .. } => None,
        }
    }

    /// `decisive` in one part decides the whole; otherwise every part must be known.
    fn fold(&self, frame: &Frame, parts: &[Condition], decisive: bool) -> Option<bool> {
        let known: Vec<Option<bool>> = parts.iter().map(|part| self.known(frame, part)).collect();
        if known.contains(&Some(decisive)) {
            return Some(decisive);
        }
        (!known.contains(&None)).then_some(!decisive)
    }
}
