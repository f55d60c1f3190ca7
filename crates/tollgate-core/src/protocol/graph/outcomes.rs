//! The outcome table: what each kind of stage can come to.

use std::collections::BTreeSet;

use super::super::condition::{Condition, SetKind};
use super::super::dialects::Dialects;
use super::super::model::{Ask, Budget, Gate, Kind, Over, Protocol, Resource, Role, Stage};
use super::super::{LandOutcome, Outcome};
use super::{Graph, build};
use crate::Name;
use crate::report::{Health, Verdict};

/// Every outcome a stage can have, in the order in which tables show them. Each is there once.
pub fn outcomes(stage: &Stage, protocol: &Protocol, dialects: &Dialects) -> Vec<Outcome> {
    match &stage.kind {
        // What a flow lets out is seen on its graph only.
        Kind::Each(_) => build(protocol, dialects).outcomes(stage, dialects),
        Kind::Dispatch { .. } | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => {
            table(stage, protocol, dialects, &[])
        }
    }
}

impl Graph<'_> {
    /// Every outcome a stage of this protocol can have.
    pub fn outcomes(&self, stage: &Stage, dialects: &Dialects) -> Vec<Outcome> {
        let callee = if let Kind::Each(each) = &stage.kind { self.index(&each.flow) } else { None };
        let raises: Vec<Name> = callee.map(|i| self.flows[i].raises.keys().cloned().collect()).unwrap_or_default();
        table(stage, self.protocol, dialects, &raises)
    }
}

/// The table, with what a stage's flow lets out already known.
pub(super) fn table(stage: &Stage, protocol: &Protocol, dialects: &Dialects, raises: &[Name]) -> Vec<Outcome> {
    let mut list: Vec<Outcome> = match &stage.kind {
        Kind::Dispatch { role } => {
            protocol.roles.get(role).map(|role| dispatch(stage, role, protocol, dialects)).unwrap_or_default()
        }
        Kind::Ask(ask) => answers(ask),
        Kind::Check { gates } => {
            let fork = gates.iter().all(|gate| over_variables(protocol, gate));
            if fork { CHECKED[..2].to_vec() } else { CHECKED.to_vec() }
        }
        Kind::Each(each) => {
            let mut list = JOINED.to_vec();
            list.retain(|outcome| each.over != Over::It || *outcome != Outcome::Some);
            list.extend(raises.iter().cloned().map(Outcome::Raised));
            list
        }
        Kind::Land(_) => LandOutcome::ALL.map(Outcome::Land).to_vec(),
    };
    if stage.when.is_some() {
        list.push(Outcome::Skipped);
    }
    list
}

const ACCEPT: Outcome = Outcome::Verdict(Verdict::Accept);
/// What a check and an `each` can come to.
const CHECKED: [Outcome; 4] = [Outcome::Pass, Outcome::Fail, Outcome::Stale, Outcome::Unobservable];
const JOINED: [Outcome; 3] = [Outcome::All, Outcome::Some, Outcome::None];

fn answers(ask: &Ask) -> Vec<Outcome> {
    let mut list: Vec<Outcome> = ask.options.iter().map(|(option, _)| Outcome::from(&**option)).collect();
    if list.is_empty() {
        list.push(Outcome::Answered);
    }
    list.push(Outcome::Cancelled);
    list
}

fn dispatch(stage: &Stage, role: &Role, protocol: &Protocol, dialects: &Dialects) -> Vec<Outcome> {
    let mut list = Vec::new();
    if role.judges() {
        list.extend(role.verdicts.iter().copied().map(Outcome::Verdict));
        // The engine itself finds this: a judge whose own word does not bear out what it says.
        let inconclusive = Outcome::Verdict(Verdict::Inconclusive);
        if !list.contains(&inconclusive) {
            list.push(inconclusive);
        }
        if stage.ensures.iter().any(|gate| observes(protocol, gate)) {
            list.push(Outcome::Unobservable);
        }
    } else {
        list.push(Outcome::OK);
    }
    let Some(dialect) = dialects.get(&role.contract) else { return list };
    let mut healths: BTreeSet<Health> = dialect.healths.iter().copied().collect();
    // The engine itself finds these: a worker that dies, one that says nothing, one that is stopped by its budget.
    healths.extend([Health::Failed, Health::Malformed]);
    if role.budget != Budget::default() {
        healths.insert(Health::Exhausted);
    }
    healths.remove(&Health::Ok);
    for health in healths {
        list.push(Outcome::Health(health, None));
        let codes = dialect.codes.get(&health).map(Vec::as_slice).unwrap_or_default();
        list.extend(codes.iter().map(|code| Outcome::Health(health, Some(code.clone()))));
    }
    list
}

/// The outcome that `as accept` stands for, where accepting waives no fact.
pub fn favourable(stage: &Stage, protocol: &Protocol) -> Option<Outcome> {
    match &stage.kind {
        Kind::Dispatch { role } => {
            protocol.roles.get(role).map(|role| if role.judges() { ACCEPT } else { Outcome::OK })
        }
        Kind::Check { .. } => Some(Outcome::Pass),
        Kind::Ask(_) | Kind::Each(_) | Kind::Land(_) => None,
    }
}

/// The outcome of an origin that `as x` stands for; none where it has no such way on, or where a fact would be waived:
/// a landing, a join, or what others need and this stage owes.
pub fn stands_for(protocol: &Protocol, needed: &BTreeSet<Name>, origin: &Stage, outcome: &Outcome) -> Option<Outcome> {
    let is_owed =
        |given: &Resource| matches!(given, Resource::Units | Resource::Requirements) || needed.contains(&**given);
    let owes = origin.gives.iter().any(is_owed);
    let own = || match &origin.kind {
        Kind::Dispatch { role } => {
            let judge = protocol.roles.get(role).filter(|role| role.judges());
            if let Outcome::Verdict(verdict) = outcome {
                judge.is_some_and(|judge| judge.verdicts.contains(verdict))
            } else {
                matches!(outcome, Outcome::Health(health, _) if *health != Health::Ok || judge.is_none())
            }
        }
        Kind::Ask(ask) => answers(ask).contains(outcome),
        Kind::Check { .. } => CHECKED.contains(outcome),
        Kind::Each(_) => JOINED.contains(outcome),
        Kind::Land(_) => matches!(outcome, Outcome::Land(_)),
    };
    let accepts = *outcome == ACCEPT;
    let is_fact = matches!(outcome, Outcome::Land(LandOutcome::Landed) | Outcome::All);
    if is_fact || owes && (accepts || *outcome == Outcome::OK) {
        return None;
    }
    if accepts { favourable(origin, protocol) } else { own().then(|| outcome.clone()) }
}

/// Artifacts that stages require and variables that conditions read: facts that nobody can accept in their place.
pub fn needed(protocol: &Protocol) -> BTreeSet<Name> {
    let mut needed = BTreeSet::new();
    let stages = || protocol.flows.iter().flat_map(|flow| &flow.stages).chain(&protocol.asks);
    for stage in stages() {
        needed.extend(stage.requires.iter().filter(|name| protocol.artifacts.contains_key(*name)).cloned());
    }
    for condition in protocol.conditions() {
        if let Condition::Var { name, .. } = condition {
            needed.insert(name.clone());
        }
    }
    needed
}

/// Whether a gate rests on rows or commands: an acceptance of it may rest on what cannot be observed.
fn observes(protocol: &Protocol, gate: &str) -> bool {
    let rests = |part: &Condition| {
        matches!(part, Condition::Command { .. })
            || matches!(part, Condition::Set { set: SetKind::Criterion | SetKind::Command, .. })
            // Whether a requirement is met, its rows say.
            || matches!(part, Condition::Set { set: SetKind::Requirement, is, .. } if is.iter().any(|word| **word == *"met"))
    };
    let read = protocol.with_read(protocol.gates.get(gate).into_iter());
    read.into_iter().any(|gate| gate.holds.parts().any(rests))
}

/// Whether a gate reads variables alone, so that a check of it is a fork.
pub(crate) fn over_variables(protocol: &Protocol, gate: &str) -> bool {
    let pure = |gate: &Gate| gate.holds.atoms().all(|atom| matches!(atom, Condition::Var { .. }));
    protocol.gates.get(gate).is_some_and(|gate| gate.bound_to.is_empty() && pure(gate))
}
