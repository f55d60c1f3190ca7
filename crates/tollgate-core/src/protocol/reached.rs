//! The stages that a run with given inputs can come to: routes are followed as far as inputs decide them, and both ways elsewhere.

use std::collections::BTreeSet;

use super::Condition;
use super::model::{Flow, Kind, Protocol, Stage, Target, Value};
use crate::Name;
use crate::id::{GateId, StageId};

/// The value of an input, given or by default; none: it is not known yet.
pub type Inputs<'a> = dyn Fn(&str) -> Option<&'a Value> + 'a;

/// The stages that can be entered, each with its flow. An input that one of them gives may have any value.
pub fn stages<'p>(protocol: &'p Protocol, inputs: &Inputs<'_>) -> Vec<(&'p Flow, &'p Stage)> {
    let mut given: BTreeSet<&str> = BTreeSet::new();
    loop {
        let reached = entered(protocol, &|name: &str| inputs(name).filter(|_| !given.contains(name)));
        let before = given.len();
        let gives = reached.iter().flat_map(|(_, stage)| &stage.gives).map(|name| &**name);
        given.extend(gives.filter(|name| protocol.inputs.contains_key(*name)));
        if given.len() == before {
            return reached;
        }
    }
}

/// The stages that can be entered while inputs keep their values.
fn entered<'p>(protocol: &'p Protocol, inputs: &Inputs<'_>) -> Vec<(&'p Flow, &'p Stage)> {
    let mut reached = Vec::new();
    let mut seen: BTreeSet<(&Name, &StageId)> = BTreeSet::new();
    let mut open: Vec<(&Flow, &Stage)> = Vec::new();
    let first = |flow: &'p Flow| flow.stages.first().map(|stage| (flow, stage));
    let main = protocol.flow("main");
    open.extend(main.and_then(first));
    // Whatever goes wrong anywhere may lead to the stages that `otherwise` names; only rules for raises can name one.
    let otherwise = protocol.otherwise.iter().flat_map(|rule| targets(&rule.route.to, rule.route.then.as_ref()));
    open.extend(otherwise.filter_map(|target| main.and_then(|main| at(main, target))));
    while let Some((flow, stage)) = open.pop() {
        if !seen.insert((&flow.name, &stage.id)) {
            continue;
        }
        let entered = stage.when.as_ref().map_or(Some(true), |when| known(when, inputs));
        if entered != Some(false) {
            reached.push((flow, stage));
            if let Kind::Each(each) = &stage.kind {
                open.extend(protocol.flow(&each.flow).and_then(first));
            }
        }
        for rule in &stage.on {
            let possible = match &*rule.outcome {
                "skipped" => entered != Some(true),
                "pass" => entered != Some(false) && passes(protocol, stage, inputs) != Some(false),
                "fail" => entered != Some(false) && passes(protocol, stage, inputs) != Some(true),
                _ => entered != Some(false),
            };
            let next = targets(&rule.route.to, rule.route.then.as_ref()).filter(|_| possible);
            open.extend(next.filter_map(|target| at(flow, target)));
        }
    }
    reached
}

fn targets<'p>(to: &'p Target, then: Option<&'p Target>) -> impl Iterator<Item = &'p Target> {
    std::iter::once(to).chain(then)
}

/// The stage that a target of a flow is.
fn at<'p>(flow: &'p Flow, target: &Target) -> Option<(&'p Flow, &'p Stage)> {
    let Target::Stage(id) = target else { return None };
    flow.stage(id).map(|stage| (flow, stage))
}

/// Whether a check passes, where its gates are over inputs alone.
fn passes(protocol: &Protocol, stage: &Stage, inputs: &Inputs<'_>) -> Option<bool> {
    let Kind::Check { gates } = &stage.kind else { return None };
    let holds = |gate: &GateId| protocol.gates.get(gate).and_then(|gate| known(&gate.holds, inputs));
    all(gates.iter().map(holds))
}

/// Whether a condition holds, as far as inputs say.
fn known(condition: &Condition, inputs: &Inputs<'_>) -> Option<bool> {
    match condition {
        Condition::All(parts) => all(parts.iter().map(|part| known(part, inputs))),
        Condition::Any(parts) => {
            all(parts.iter().map(|part| known(part, inputs).map(|holds| !holds))).map(|none| !none)
        }
        Condition::Not(part) => known(part, inputs).map(|holds| !holds),
        Condition::Var { name, values } => match inputs(name)? {
            Value::Text(text) => Some(values.contains(text)),
            Value::Int(_) | Value::List(_) => None,
        },
        Condition::It { .. }
        | Condition::Holds(_)
        | Condition::Judged(_)
        | Condition::Answer { .. }
        | Condition::Command { .. }
        | Condition::Artifact { .. }
        | Condition::Set { .. }
        | Condition::Count { .. } => None,
    }
}

/// One that does not hold decides; otherwise all must be known.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let parts: Vec<Option<bool>> = parts.collect();
    if parts.contains(&Some(false)) {
        return Some(false);
    }
    (!parts.contains(&None)).then_some(true)
}
