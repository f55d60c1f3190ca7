//! What runs of a state directory tell each other: what each used on its last day, and which pools may not be called. A run says it
//! with every append, under one key for each day and pool; who dispatches reads the keys that concern it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_core::run::Run;
use tollgate_core::run::agent_stats::Sum;
use tollgate_core::run::budget::{DAY_MS, Used};
use tollgate_core::run::event::{By, ByKind};
use tollgate_core::run::pool::{Around, Elsewhere, Pool};
use tollgate_store::{Journal, Lease, ReadError, Said, Says};

use crate::process::holder;
use crate::workers::agent::AgentSpec;

/// The store takes no amounts beyond this one; a run that used so much of anything is over every budget.
const AMOUNT_MAX: u64 = 1 << 53;

/// A pool that a run may not call.
#[derive(Debug, Serialize, Deserialize)]
struct PoolNote {
    until_ms: u64,
    /// Whether the run is trying it.
    tried: bool,
    said: String,
}

fn pool_key(pool: &Name) -> String {
    format!("pool/{pool}")
}

fn day_key(day: u64) -> String {
    format!("budget/{day}")
}

fn amounts(used: &Used) -> Vec<u64> {
    let Used { time_ms, tokens, cost_nano_usd: cost, attempts } = *used;
    let all = [time_ms, tokens.known, tokens.unknown.into(), cost.known, cost.unknown.into(), attempts];
    all.map(|amount| amount.min(AMOUNT_MAX)).to_vec()
}

fn used(amounts: &[u64]) -> Used {
    let at = |i: usize| amounts.get(i).copied().unwrap_or(0);
    let sum = |i: usize| Sum { known: at(i), unknown: u32::try_from(at(i + 1)).unwrap_or(u32::MAX) };
    Used { time_ms: at(0), tokens: sum(1), cost_nano_usd: sum(3), attempts: at(5) }
}

/// What a run tells the others.
pub fn said(run: &Run) -> Says {
    let pool = |(name, pool): (&Name, &Pool)| {
        let note =
            PoolNote { until_ms: pool.until_ms.unwrap_or(0), tried: pool.tried_by.is_some(), said: pool.said.clone() };
        let note = serde_json::to_vec(&note).unwrap_or_default();
        (pool_key(name), Said { note, ..Said::default() })
    };
    let pools = run.pools.iter().filter(|(_, pool)| pool.is_own()).map(pool);
    let day = Some(run.spent.day).filter(|day| day.used != Used::default());
    let day = day.map(|day| (day_key(day.day), Said { amounts: amounts(&day.used), ..Said::default() }));
    pools.chain(day).collect()
}

/// Reads what others say for a command of a run, where it can matter to it: a driver dispatches, and to an agent or under a
/// budget of the day. Answers also the keys that were read, each with its place: an attempt that rests on them is refused when one
/// changed since, so that two that find the same pool free do not both call it.
pub fn read(
    journal: &dyn Journal,
    run: &Run,
    by: &By,
    now_ms: u64,
) -> Result<(Around, BTreeMap<String, u64>), ReadError> {
    let (mut around, mut seen) = (Around::default(), BTreeMap::new());
    if run.is_closed() || by.kind != ByKind::Driver {
        return Ok((around, seen));
    }
    if !run.opened.budgets.day.is_none() {
        let day = now_ms / DAY_MS;
        let key = day_key(day);
        let total = journal.total(&key, run.id)?;
        around.count(day, used(&total.amounts));
        seen.insert(key, total.place);
    }
    for pool in called(run) {
        let key = pool_key(&pool);
        let others = journal.notes(&key, run.id)?;
        seen.insert(key, others.place);
        for other in others.notes {
            let Ok(note) = serde_json::from_slice::<PoolNote>(&other.note) else { continue };
            // Who tries a pool tells what came of it, while somebody is there who can.
            let tried = note.tried && is_driven(other.lease.as_ref(), now_ms);
            around.unanswered.insert((pool.clone(), other.run));
            if tried || note.until_ms > now_ms {
                let known = Elsewhere { run: other.run, until_ms: note.until_ms, tried, said: note.said };
                around.add(pool.clone(), known);
            }
        }
    }
    Ok((around, seen))
}

/// The pools that a run calls; none where all its workers are programs.
fn called(run: &Run) -> BTreeSet<Name> {
    let workers = &run.opened.workers;
    if !workers.values().any(|worker| AgentSpec::parse(worker).is_some()) {
        return BTreeSet::new();
    }
    workers.keys().map(|role| run.pool_of(role)).collect()
}

fn is_driven(lease: Option<&Lease>, now_ms: u64) -> bool {
    lease.is_some_and(|lease| lease.until_ms > now_ms && !holder::is_dead(&lease.holder))
}
