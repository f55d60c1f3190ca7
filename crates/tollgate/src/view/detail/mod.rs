//! From a run and its journal to everything about it on the wire.

mod history;
mod ledger;
mod reads;
mod usage;

pub use history::{History, Moment, What, change, tell};
pub use reads::reads;

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_api as api;
use tollgate_core::digest::Digest;
use tollgate_core::id::DecisionId;
use tollgate_core::protocol::model::Target;
use tollgate_core::run::budget::Stopped;
use tollgate_core::run::data::Filtered;
use tollgate_core::run::event::Work;
use tollgate_core::run::gate::unit_word;
use tollgate_core::run::state::{At, Instance};
use tollgate_core::run::{Run, counter_key, is_left};
use tollgate_store::Lease;

use super::{budget, decision, listing};

/// What is known of a run beside its state and its journal.
pub struct Sources<'a> {
    pub now_ms: u64,
    pub head: Digest,
    pub lease: Option<&'a Lease>,
    pub trees: Vec<api::Tree>,
    pub kept: Vec<api::Kept>,
    pub changes: Vec<api::Change>,
    pub reads: Vec<api::Reads>,
    /// What the sandbox did not do, as the journal records it.
    pub sandbox: Option<String>,
    pub not_as_checked_out: Option<api::NotAsCheckedOut>,
    /// The work trees that answers by hand are about.
    pub by_hand: BTreeMap<DecisionId, PathBuf>,
}

/// Everything about a run.
pub fn detail(run: &Run, history: &History, sources: Sources<'_>) -> api::RunDetail {
    let json = |value: &_| serde_json::to_value(value).unwrap_or_default();
    api::RunDetail {
        summary: listing::loaded(run, history.changed_ms, sources.lease, sources.now_ms),
        protocol_digest: run.opened.protocol.digest.to_string(),
        values: run.vars.iter().map(|(name, value)| (name.to_string(), json(value))).collect(),
        base: run.opened.base.to_string(),
        branch: history.branch.clone(),
        head: sources.head.to_string(),
        positions: positions(run, history),
        units: units(run, history),
        attempts: history.attempts.iter().map(|told| told.wire.clone()).collect(),
        criteria: ledger::criteria(run, history),
        commands: ledger::commands(run, history),
        findings: ledger::findings(run),
        decisions: run
            .decisions
            .iter()
            .map(|(id, known)| {
                let tree = sources.by_hand.get(id).map(PathBuf::as_path);
                decision::decision(run, *id, known, tree, history.ended_ms.get(id).copied())
            })
            .collect(),
        gates: ledger::gates(run),
        changes: sources.changes,
        trees: sources.trees,
        kept: sources.kept,
        config: run.opened.config.clone(),
        sandbox: sources.sandbox,
        usage: usage::usage(&history.attempts),
        budgets: budget::budgets(run, sources.now_ms),
        reads: sources.reads,
        not_as_checked_out: sources.not_as_checked_out,
    }
}

/// The files that a filter converts; of the base, where nobody looked at the tree.
pub fn not_as_checked_out(run: &Run, now: Option<Filtered>) -> Option<api::NotAsCheckedOut> {
    let filtered = &now.or_else(|| Some(run.opened.checkout.as_ref()?.filtered.clone()))?;
    let paths = filtered.paths.iter().map(ToString::to_string).collect();
    (!filtered.is_none()).then_some(api::NotAsCheckedOut { count: filtered.count, paths })
}

fn positions(run: &Run, history: &History) -> Vec<api::Position> {
    let position = |(name, instance): (&tollgate_core::Name, &std::sync::Arc<Instance>)| {
        let stage = instance.at.stage().or_else(|| history.last_stage.get(name));
        api::Position {
            flow: instance.flow.to_string(),
            unit: instance.unit.as_ref().map(ToString::to_string),
            stage: stage.map(ToString::to_string).unwrap_or_default(),
            state: doing(run, name, instance),
            limits: limits(run, instance),
        }
    };
    run.instances.iter().map(position).collect()
}

/// How often each limited route was taken.
fn limits(run: &Run, instance: &Instance) -> std::collections::BTreeMap<String, String> {
    let stages = run.flow(instance).into_iter().flat_map(|flow| &flow.stages);
    let rules = stages.flat_map(|stage| stage.on.iter().chain(&run.protocol.otherwise).map(move |rule| (stage, rule)));
    rules
        .filter_map(|(stage, rule)| {
            let limit = rule.route.limit?;
            let taken = instance.counters.get(&counter_key(&stage.id, &rule.outcome))?.taken;
            (taken > 0).then(|| (format!("{} {}", stage.id, rule.outcome), format!("{taken} of {limit}")))
        })
        .collect()
}

/// What a flow does, in plain words.
fn doing(run: &Run, name: &str, instance: &Instance) -> String {
    match &instance.at {
        At::Ready { .. } | At::Leased { .. } | At::Waiting { .. } | At::Each { .. } if run.is_closed() => {
            target(&Target::Dropped)
        }
        At::Ready { .. } | At::Waiting { .. } if !run.is_live(name) => "stands where it was left".to_owned(),
        At::Ready { .. } => match run.stopped(instance) {
            Some(Stopped::Asked(decision)) => format!("waits for {decision}"),
            Some(Stopped::Parked { pool, .. }) => format!("waits until {pool} may be called again"),
            Some(Stopped::Tried { pool, attempt }) => format!("waits for {attempt}, which tries {pool}"),
            None => "about to start".to_owned(),
        },
        At::Leased { attempt, .. } => match run.attempts.get(attempt).map(|attempt| &attempt.work) {
            Some(Work::Dispatch { role, iteration: 1, .. }) => format!("{role} works"),
            Some(Work::Dispatch { role, iteration, .. }) => format!("{role} works, attempt {iteration}"),
            Some(Work::Commands { .. }) => "commands run".to_owned(),
            Some(Work::Land { .. }) => "lands".to_owned(),
            None => "works".to_owned(),
        },
        At::Waiting { decision, .. } => format!("waits for {decision}"),
        At::Each { stage } => {
            let below: Vec<_> =
                run.children(name).filter(|(_, child)| child.each.as_ref() == Some(stage)).map(|(_, c)| c).collect();
            let done = below.iter().filter(|child| matches!(child.at, At::Ended { .. })).count();
            format!("{done} of {} ended", tollgate_app::format::count(below.len(), "unit"))
        }
        At::Held { why, .. } => format!("held: {why}"),
        At::Closing { .. } if run.is_closed() => target(&Target::Done),
        At::Closing { .. } if run.pending().next().is_none() => "done, and about to be closed".to_owned(),
        At::Closing { .. } => "done, once the open questions are answered".to_owned(),
        At::Ended { end } => target(end),
    }
}

fn units(run: &Run, history: &History) -> Vec<api::Unit> {
    let unit = |unit: &tollgate_core::run::state::Unit| {
        let instance = run.instances.iter().find(|(_, instance)| instance.unit.as_ref() == Some(&unit.name));
        let held = instance.and_then(|(_, instance)| match &instance.at {
            At::Held { why, .. } => Some(why.clone()),
            _ => None,
        });
        let left = is_left(run, unit).then(|| "left for another way".to_owned());
        let why = held.or(left).or_else(|| history.unit_why.get(&unit.name).cloned());
        let stage = instance.and_then(|(name, known)| known.at.stage().or_else(|| history.last_stage.get(name)));
        api::Unit {
            name: unit.name.to_string(),
            title: unit.title.clone(),
            state: unit_word(run, unit).to_owned(),
            reason: why.unwrap_or_else(|| match instance {
                Some((name, known)) => doing(run, name, known),
                None => "it has not started".to_owned(),
            }),
            stage: stage.map(ToString::to_string),
            needs: unit.needs.iter().map(ToString::to_string).collect(),
            scope: unit.scope.iter().map(ToString::to_string).collect(),
        }
    };
    run.ledger.units.iter().map(unit).collect()
}

/// Where an outcome leads, in plain words.
pub fn target(target: &Target) -> String {
    match target {
        Target::Stage(stage) => stage.to_string(),
        Target::Ask(ask) => format!("a person ({ask})"),
        Target::Again => "the same stage again".to_owned(),
        Target::Done => "done".to_owned(),
        Target::Dropped => "given up".to_owned(),
        Target::Hold => "held".to_owned(),
        Target::Raise(name) => format!("raise {name}"),
        Target::Back | Target::Origin => "back where it came from".to_owned(),
        Target::As(outcome) => format!("on as {outcome}"),
    }
}
