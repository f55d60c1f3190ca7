//! What the other runs of the state directory know: what they used today, and which pools may not be called. They say it in their
//! summaries, which every append writes; nobody is asked.

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_core::run::Run;
use tollgate_core::run::budget::{DAY_MS, OnDay, Used};
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::pool::{Around, Elsewhere};
use tollgate_store::{Filter, Journal, ReadError, Summary};

use super::summary::SummaryBody;
use crate::process::holder;
use crate::workers::agent::AgentSpec;

/// How many runs are looked at, the last changed first.
const RUNS_MAX: usize = 2_000;

/// A pool that a run may not call, as its summary says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedPool {
    /// Its name.
    pub pool: Name,
    /// Until when.
    pub until_ms: u64,
    /// Whether the run is trying it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tried: bool,
    /// What was said of it.
    pub said: String,
}

/// The pools that a run may not call, by its own word.
pub fn parked(run: &Run) -> Vec<ParkedPool> {
    let one = |(name, pool): (&Name, &tollgate_core::run::pool::Pool)| ParkedPool {
        pool: name.clone(),
        until_ms: pool.until_ms,
        tried: pool.tried_by.is_some(),
        said: pool.said.clone(),
    };
    run.pools.iter().filter(|(_, pool)| pool.is_own()).map(one).collect()
}

/// What a run used on its last day, where it used something.
pub fn today(run: &Run) -> Option<OnDay> {
    Some(run.spent.day).filter(|day| day.used != Used::default())
}

/// Looks around for a command of a run, where what others know can matter to it: a driver dispatches, and to an agent or under a
/// budget of the day. Answers also the place up to which it looked, which is where an attempt has to be appended that rests on it: two that find
/// the same pool free must not both call it.
pub fn read(journal: &dyn Journal, run: &Run, by: &By, now_ms: u64) -> Result<(Around, Option<u64>), ReadError> {
    let mut around = Around::default();
    let counts = !run.opened.budgets.day.is_none();
    let calls = run.opened.workers.values().any(|worker| AgentSpec::parse(worker).is_some());
    if run.is_closed() || by.kind != ByKind::Driver || !(counts || calls) {
        return Ok((around, None));
    }
    let place = journal.place()?;
    let day = now_ms / DAY_MS;
    around.count(day, Used::default());
    let listed = journal.list(&Filter { limit: Some(RUNS_MAX), ..Filter::default() })?;
    for summary in listed.runs.iter().filter(|summary| summary.run != run.id) {
        let Some(body) = SummaryBody::of(&summary.text) else { continue };
        around.count(day, body.today.map_or_else(Used::default, |used| used.on(day)));
        for pool in body.parked {
            // Who tries a pool tells what came of it, while somebody is there who can.
            let tried = pool.tried && is_driven(summary, now_ms);
            let known = Elsewhere { run: summary.run, until_ms: pool.until_ms, tried, said: pool.said };
            around.unanswered.insert((pool.pool.clone(), summary.run));
            if tried || pool.until_ms > now_ms {
                around.add(pool.pool, known);
            }
        }
    }
    Ok((around, Some(place)))
}

fn is_driven(summary: &Summary, now_ms: u64) -> bool {
    summary.lease.as_ref().is_some_and(|lease| lease.until_ms > now_ms && !holder::is_dead(&lease.holder))
}
