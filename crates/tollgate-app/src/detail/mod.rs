//! Everything about one run, as `--json` prints it.

mod history;
mod ledger;
mod matrix;
mod reads;
mod sources;
mod usage;

pub use history::{History, Moment, What};
pub use sources::{Detail, With};

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_api as api;
use tollgate_core::digest::Digest;
use tollgate_core::id::{DecisionId, InstanceId};
use tollgate_core::protocol::model::Target;
use tollgate_core::run::budget::Stopped;
use tollgate_core::run::event::Work;
use tollgate_core::run::gate::unit_word;
use tollgate_core::run::state::{At, Instance, RunEnding};
use tollgate_core::run::{Run, counter_key, is_left};
use tollgate_store::Lease;

use crate::decision::Beside;
use crate::event_text::target;
use crate::{budget, decision, listing};

/// What is known of a run beside its state and its journal.
struct Sources<'a> {
    now_ms: u64,
    head: Digest,
    lease: Option<&'a Lease>,
    trees: Vec<api::Tree>,
    kept: Vec<api::Kept>,
    changes: Vec<api::Change>,
    reads: Vec<api::Reads>,
    with_matrix: bool,
    /// What the sandbox did not do, as the journal records it.
    sandbox: Option<String>,
    not_as_checked_out: Option<api::NotAsCheckedOut>,
    /// The work trees that answers by hand are about.
    by_hand: BTreeMap<DecisionId, PathBuf>,
    /// The end of the output of what led to open questions, and of what is held.
    asked_after: BTreeMap<DecisionId, api::LastLines>,
    held_after: Vec<api::LastLines>,
}

/// Everything about a run.
fn detail(run: &Run, history: &History, sources: Sources<'_>) -> api::RunDetail {
    let json = |value: &_| serde_json::to_value(value).unwrap_or_default();
    let attempts: Vec<api::Attempt> = history.attempts.iter().map(|told| told.wire.clone()).collect();
    let criteria = ledger::criteria(run, history);
    let matrix = if sources.with_matrix { matrix::matrix(run, &criteria, &attempts) } else { Vec::new() };
    api::RunDetail {
        summary: listing::loaded(run, history.changed_ms, sources.lease, sources.now_ms),
        protocol_digest: run.opened.protocol.digest.to_string(),
        values: run.vars.iter().map(|(name, value)| (name.to_string(), json(value))).collect(),
        base: run.opened.base.to_string(),
        branch: history.branch.clone(),
        head: sources.head.to_string(),
        positions: positions(run, history),
        units: units(run, history),
        attempts,
        criteria,
        commands: ledger::commands(run, history),
        findings: ledger::findings(run),
        notices: ledger::notices(run),
        decisions: run
            .decisions
            .iter()
            .map(|(id, known)| {
                let beside = Beside {
                    tree: sources.by_hand.get(id).map(PathBuf::as_path),
                    ended_ms: history.ended_ms.get(id).copied(),
                    last_lines: sources.asked_after.get(id).cloned(),
                };
                decision::decision(run, *id, known, beside)
            })
            .collect(),
        last_lines: sources.held_after,
        gates: ledger::gates(run),
        changes: sources.changes,
        trees: sources.trees,
        kept: sources.kept,
        config: run.opened.config.clone(),
        sandbox: sources.sandbox,
        usage: usage::usage(&history.attempts),
        budgets: budget::budgets(run, sources.now_ms),
        reads: sources.reads,
        matrix,
        not_as_checked_out: sources.not_as_checked_out,
    }
}

fn positions(run: &Run, history: &History) -> Vec<api::Position> {
    let position = |(name, instance): (&InstanceId, &std::sync::Arc<Instance>)| {
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
        At::Ready { .. } | At::Waiting { .. } if !run.is_live(name) => "paused where it was left".to_owned(),
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
            format!("{done} of {} ended", crate::format::count(below.len(), "unit"))
        }
        At::Held { why, .. } => format!("held: {why}"),
        At::Closing { end, .. } => {
            let end = match end {
                RunEnding::Done => target(&Target::Done),
                RunEnding::Reported => target(&Target::Reported),
                RunEnding::Dropped => target(&Target::Dropped),
            };
            match run.pending().next() {
                _ if run.is_closed() => end,
                None => format!("{end}, and about to be closed"),
                Some(_) => format!("{end}, once the open questions are answered"),
            }
        }
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
        let retired = unit.retired.as_ref().map(|why| format!("taken back by a later plan: {why}"));
        let left = is_left(run, unit).then(|| "left for another way".to_owned());
        let why = held.or(retired).or(left).or_else(|| history.unit_why.get(&unit.name).cloned());
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
