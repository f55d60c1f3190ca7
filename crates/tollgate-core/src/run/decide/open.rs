//! A run begins: inputs, documents and answers are checked, and the main flow is entered, or the inputs that are missing are
//! asked for first.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::budget::Budgets;
use super::super::effects;
use super::super::event::{By, ByKind, CheckoutRules, Event, Pinned, Recorded, RunOpened};
use super::super::evolve::begin;
use super::super::fan_out::lanes;
use super::super::gate;
use super::draft::Draft;
use super::inputs::{inputs, missing};
use super::plan;
use super::{Decided, Rejection, Stamp};
use crate::Name;
use crate::diagnostic::Place;
use crate::digest::Digest;
use crate::id::{RoleId, RunId, StageId, UnitId};
use crate::protocol::model::{
    Ask, AtOnce, Class, Each, Ensures, Flow, From, Given, Kind, Land, Over, Resource, Stage, Value,
};
use crate::protocol::{Condition, Protocol, reached};
use crate::report::{Plan, UnitReport};
use crate::scope::{self, Content};

/// A document as it was given and read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OpenArtifact {
    pub object: Digest,
    pub fields: BTreeMap<Name, Name>,
    pub plan: Plan,
    /// Where the scope of a unit is said, or would be.
    pub places: BTreeMap<Name, Place>,
}

/// Everything that is in force for a run from its first event.
#[derive(Debug, Clone)]
pub struct Open {
    pub id: RunId,
    pub title: String,
    pub protocol: Arc<Protocol>,
    pub digest: Digest,
    pub pins: BTreeMap<Name, Digest>,
    pub repository: String,
    pub base: Name,
    pub inputs: BTreeMap<Name, Value>,
    pub artifacts: BTreeMap<Name, OpenArtifact>,
    pub workers: BTreeMap<RoleId, Name>,
    pub commands: BTreeMap<Name, Vec<String>>,
    pub areas: BTreeMap<Name, Vec<Name>>,
    pub config: serde_json::Value,
    pub answers: BTreeMap<StageId, Name>,
    /// Scopes of lanes; each takes the place of what a document says.
    pub scopes: BTreeMap<UnitId, Vec<Name>>,
    pub content: Content,
    pub budgets: Budgets,
    /// The credential pool of each role whose worker has one.
    pub pools: BTreeMap<RoleId, Name>,
    /// How git converts the files of a checkout; none: not at all.
    pub checkout: Option<CheckoutRules>,
}

/// Decides how a run begins.
pub fn open(open: Open, stamp: &Stamp) -> Result<Decided, Rejection> {
    let protocol = Arc::clone(&open.protocol);
    if stamp.by.kind != ByKind::Person {
        return Err(Rejection::NotAPerson);
    }
    let inputs = inputs(&protocol, &open.inputs)?;
    advance_answers(&protocol, &open.answers)?;
    let asks = !missing(&protocol, &inputs).is_empty();
    let opened = RunOpened {
        title: open.title,
        protocol: Pinned { name: protocol.name.clone(), version: protocol.version, digest: open.digest },
        pins: open.pins,
        repository: open.repository,
        base: open.base,
        inputs,
        workers: open.workers,
        commands: open.commands,
        areas: open.areas,
        config: open.config,
        answers: open.answers,
        person: stamp.by.name.clone(),
        content: open.content,
        budgets: Box::new(open.budgets),
        pools: open.pools,
        checkout: open.checkout.map(Box::new),
        scopes: if asks { open.scopes.clone() } else { BTreeMap::new() },
    };
    let first = Recorded {
        run: open.id,
        seq: 1,
        at_ms: stamp.now_ms,
        epoch: stamp.epoch,
        by: By { kind: ByKind::Person, name: stamp.by.name.clone() },
        event: Event::RunOpened(opened.clone()),
    };
    let run = begin(&first, &opened, protocol);
    let mut draft = Draft::new(&run, stamp);
    if asks {
        draft.ask_for_inputs();
    } else {
        enter(&mut draft, &open.artifacts, &open.scopes)?;
    }
    draft.advance();
    let mut decided = draft.finish()?;
    decided.events.insert(0, first);
    Ok(decided)
}

/// Takes the documents and scopes that were given, and enters the main flow: all inputs are known.
pub(super) fn enter(
    draft: &mut Draft,
    artifacts: &BTreeMap<Name, OpenArtifact>,
    scopes: &BTreeMap<UnitId, Vec<Name>>,
) -> Result<(), Rejection> {
    runnable(&draft.protocol, &draft.run.vars)?;
    let brought = |(name, given): (&Name, &OpenArtifact)| {
        let plan = plan::brought(&draft.protocol, name, &given.plan);
        (name.clone(), OpenArtifact { plan, ..given.clone() })
    };
    let artifacts: BTreeMap<Name, OpenArtifact> = artifacts.iter().map(brought).collect();
    let all = plan::together(artifacts.values().map(|given| &given.plan));
    if let Some(why) = plan::problem(&all, &draft.run) {
        // Where it takes several documents, it is told of the last.
        let alone = artifacts.iter().find(|(_, one)| plan::problem(&one.plan, &draft.run).as_ref() == Some(&why));
        let last = || artifacts.iter().rfind(|(_, given)| given.plan != Plan::default());
        let name = alone.or_else(last).map(|(name, _)| name.clone()).unwrap_or_default();
        return Err(Rejection::Artifact { name, why });
    }
    for (name, artifact) in &artifacts {
        draft.given(name, artifact, None);
    }
    scoped(draft, scopes)?;
    given(draft)?;
    disjoint(draft)?;
    draft.enter_main();
    Ok(())
}

/// What this build cannot do yet is refused before anything starts, where the inputs lead there.
fn runnable(protocol: &Protocol, vars: &BTreeMap<Name, Value>) -> Result<(), Rejection> {
    let reached = reached::stages(protocol, &|name: &str| vars.get(name));
    for (_, stage) in &reached {
        if let Kind::Land(land @ (Land::PullRequest | Land::Base)) = &stage.kind {
            let what = if *land == Land::Base { "base" } else { "pull-request" };
            return Err(Rejection::Unsupported(format!("stage `{}` lands on `{what}`, which comes later", stage.id)));
        }
    }
    // Lanes work in their caller's tree, and a unit's own tree has no lanes yet.
    let each = |(flow, stage): &(&Flow, &Stage)| {
        let Kind::Each(each) = &stage.kind else { return None };
        Some((flow.name.clone(), stage.id.clone(), each.over.clone(), each.flow.clone()))
    };
    let all: Vec<(Name, StageId, Over, Name)> = reached.iter().filter_map(each).collect();
    let of_units = all.iter().filter(|(_, _, over, _)| *over != Over::It);
    let mut of_units: Vec<Name> = of_units.map(|(_, _, _, callee)| callee.clone()).collect();
    let mut at = 0;
    while let Some(flow) = of_units.get(at).cloned() {
        at += 1;
        for (_, stage, over, callee) in all.iter().filter(|(caller, ..)| *caller == flow) {
            if *over != Over::It {
                let what = format!("stage `{stage}` fans out inside a unit's flow, which comes later");
                return Err(Rejection::Unsupported(what));
            }
            if !of_units.contains(callee) {
                of_units.push(callee.clone());
            }
        }
    }
    Ok(())
}

fn advance_answers(protocol: &Protocol, answers: &BTreeMap<StageId, Name>) -> Result<(), Rejection> {
    let stages = || protocol.flows.iter().flat_map(|flow| &flow.stages);
    for (stage, option) in answers {
        let refuse = |why: String| Err(Rejection::Advance { stage: stage.clone(), why });
        // Names are a flow's own: the answer is one to every stage of that name.
        let asks = stages().filter(|known| known.id == *stage);
        let asks = asks.filter_map(|known| if let Kind::Ask(ask) = &known.kind { Some((known, ask)) } else { None });
        let asks: Vec<(&Stage, &Ask)> = asks.collect();
        if asks.is_empty() {
            let shared = protocol.ask(stage).is_some();
            let why = if shared {
                "it is asked only when something went wrong"
            } else {
                "no stage of that name asks a person"
            };
            return refuse(why.to_owned());
        }
        for (known, ask) in asks {
            if ask.class == Class::Security {
                return refuse("a question of security is answered by whoever has seen it".to_owned());
            }
            if ask.from == Some(From::Report) {
                return refuse("its question is part of a report that is not written yet".to_owned());
            }
            if !ask.options.iter().any(|(id, _)| id == option) {
                let options: Vec<&str> = ask.options.iter().map(|(id, _)| &**id).collect();
                return refuse(format!("`{option}` is not one of {}", options.join(", ")));
            }
            if waives(protocol, known, option) {
                return refuse(format!("`{option}` waives what has not been shown yet"));
            }
            if let Some(name) = unseen(protocol, known, ask, option) {
                return refuse(format!("it is about `{name}`, which has not been shown yet"));
            }
            let route = known.on.iter().find(|rule| rule.outcome == *option).map(|rule| &rule.route);
            if route.is_some_and(|route| route.amends.contains(&Resource::Scope)) {
                return refuse(format!("`{option}` widens a scope by what has not been shown yet"));
            }
            if route.is_some_and(|route| route.amends.iter().any(|name| protocol.lies_in_tree(name))) {
                return refuse(format!(
                    "`{option}` says that you changed the work tree, which can be measured only when it is asked"
                ));
            }
        }
    }
    Ok(())
}

/// What an option is about, shown or bound to, that a stage has yet to make.
fn unseen<'p>(protocol: &'p Protocol, stage: &'p Stage, ask: &'p Ask, option: &str) -> Option<&'p str> {
    let made = |name: &str| {
        let by_stage = protocol.artifacts.get(name).is_some_and(|artifact| artifact.given == Given::ByStage);
        let given = protocol
            .flows
            .iter()
            .flat_map(|flow| &flow.stages)
            .any(|stage| stage.gives.iter().any(|given| **given == *name));
        let written = protocol.roles.values().any(|role| !role.writes.is_empty());
        by_stage || given || written && protocol.lies_in_tree(&name.into())
    };
    let route = stage.on.iter().find(|rule| &*rule.outcome == option).map(|rule| &rule.route);
    let gates = match route.map(|route| &route.ensures) {
        Some(Ensures::Gates(gates)) => gates.as_slice(),
        Some(Ensures::Origin | Ensures::Nothing) | None => &[],
    };
    let gates = protocol.with_read(gates.iter().filter_map(|name| protocol.gates.get(name)));
    let bound = gates.into_iter().flat_map(|gate| &gate.bound_to).map(|resource| &**resource);
    ask.shows.iter().map(|name| &**name).chain(bound).find(|name| made(name))
}

/// Whether an option accepts work in spite of what speaks against it: that cannot be said before it is known.
fn waives(protocol: &Protocol, stage: &Stage, option: &str) -> bool {
    let route = stage.on.iter().find(|rule| &*rule.outcome == option).map(|rule| &rule.route);
    let gates = match route.map(|route| &route.ensures) {
        Some(Ensures::Gates(gates)) => gates.as_slice(),
        Some(Ensures::Origin) => return true,
        Some(Ensures::Nothing) | None => return false,
    };
    protocol.with_read(gates.iter().filter_map(|name| protocol.gates.get(name))).into_iter().any(|gate| {
        gate.holds
            .atoms()
            .any(|atom| matches!(atom, Condition::Judged(_) | Condition::Set { .. } | Condition::Command { .. }))
    })
}

fn given(draft: &Draft) -> Result<(), Rejection> {
    for (name, artifact) in &draft.protocol.artifacts {
        let needed = match &artifact.given {
            Given::ByStage => false,
            Given::Input => true,
            Given::InputWhen(when) => gate::truth(&draft.run, when, None),
        };
        if needed && !draft.run.artifacts.contains_key(name) {
            let why = "it must be given at the start".to_owned();
            return Err(Rejection::Artifact { name: name.clone(), why });
        }
    }
    Ok(())
}

/// Stages that run lanes with these inputs.
fn lane_stages(draft: &Draft) -> Vec<(&Each, Vec<UnitId>)> {
    let stages = draft.protocol.flows.iter().flat_map(|flow| &flow.stages);
    let runs = |stage: &&Stage| stage.when.as_ref().is_none_or(|when| gate::truth(&draft.run, when, None));
    stages
        .filter(runs)
        .filter_map(
            |stage| if let Kind::Each(each) = &stage.kind { Some((each, lanes(&draft.run, each))) } else { None },
        )
        .filter(|(_, lanes)| !lanes.is_empty())
        .collect()
}

/// Scopes given with the run take the place of what its documents say.
fn scoped(draft: &mut Draft, scopes: &BTreeMap<UnitId, Vec<Name>>) -> Result<(), Rejection> {
    let known: Vec<UnitId> = lane_stages(draft).into_iter().flat_map(|(_, lanes)| lanes).collect();
    let mut plan = Plan::default();
    for (name, scope) in scopes {
        let refuse = |why: String| Err(Rejection::Scope { unit: name.clone(), why });
        if !known.contains(name) {
            let names: Vec<String> = known.iter().map(|lane| format!("`{lane}`")).collect();
            let names = if names.is_empty() { "nothing with a scope".to_owned() } else { names.join(", ") };
            return refuse(format!("does not run here; what runs is {names}"));
        }
        if let Some((pattern, problem)) = scope.iter().find_map(|p| scope::pattern_problem(p).map(|why| (p, why))) {
            return refuse(format!("has the pattern `{pattern}`, which {problem}"));
        }
        let said = draft.run.unit(name).map(|unit| UnitReport {
            name: name.clone(),
            title: unit.title.clone(),
            needs: unit.needs.clone(),
            scope: Vec::new(),
            attrs: unit.attrs.clone(),
            requirements: unit.requirements.clone(),
        });
        let new = || UnitReport { name: name.clone(), title: name.to_string(), ..UnitReport::default() };
        plan.units.push(UnitReport { scope: scope.clone(), ..said.unwrap_or_else(new) });
    }
    draft.planned(&plan, "--scope");
    Ok(())
}

/// Lanes of a writing flow that may run side by side have disjoint scopes.
fn disjoint(draft: &Draft) -> Result<(), Rejection> {
    for (each, lanes) in lane_stages(draft) {
        // One after the other they cannot be in each other's way.
        let one_by_one = match &each.at_once {
            AtOnce::Number(number) => *number == 1,
            AtOnce::Input(input) => draft.run.vars.get(input) == Some(&Value::Int(1)),
        };
        if one_by_one || lanes.len() < 2 || !effects::flow_writes(&draft.protocol, &each.flow) {
            continue;
        }
        let of = |lane: &UnitId| draft.run.unit(lane).map(|unit| unit.scope.clone()).unwrap_or_default();
        if let Some(unit) = lanes.iter().find(|lane| of(lane).is_empty()) {
            let others: Vec<String> =
                lanes.iter().filter(|lane| *lane != unit).map(|lane| format!("`{lane}`")).collect();
            let why = format!("has no scope, but runs beside {}", others.join(", "));
            return Err(Rejection::Scope { unit: unit.clone(), why });
        }
        for (i, one) in lanes.iter().enumerate() {
            for other in &lanes[i + 1..] {
                if let Some((left, right)) = scope::meeting(&of(one), &of(other)) {
                    let patterns = (left.clone(), right.clone());
                    return Err(Rejection::Overlap { one: one.clone(), other: other.clone(), patterns });
                }
            }
        }
    }
    Ok(())
}
