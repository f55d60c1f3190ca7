//! What attempts use, and pools that may not be called.

use std::sync::Arc;

use super::super::agent_stats::AgentStats;
use super::super::budget::{Used, dispatched};
use super::super::event::{AttemptParked, AttemptStarted, PoolParked, Work};
use super::super::pool::Pool;
use super::super::state::Run;
use super::with;
use super::work::{move_tree, release, write};
use crate::id::AttemptId;

/// How an attempt of a worker ended.
pub(super) enum Ending<'a> {
    Reported(Option<&'a AgentStats>),
    Parked(&'a AgentStats),
    Cancelled,
    /// Its place was not made ready: nobody worked.
    Unready,
    /// Nobody knows when, nor what it used.
    Lost,
}

/// An attempt counts when it starts, so that those at work at once pass no limit; one that repeats another was counted.
pub(super) fn begun(run: &mut Run, at_ms: u64, started: &AttemptStarted) {
    let Work::Dispatch { role, .. } = &started.work else { return };
    let pool = run.pool_of(role);
    if run.pools.get(&pool).is_some_and(|pool| pool.elsewhere && pool.until_ms.is_some()) {
        // Another run tried it and was answered.
        run.pools.remove(&pool);
    } else if let Some(pool) = run.pools.get_mut(&pool) {
        pool.tried_by = Some(started.attempt);
    }
    if started.repeats.is_none() {
        let unit = run.instances.get(&started.instance).and_then(|instance| instance.unit.clone());
        let one = Used { attempts: 1, ..Used::default() };
        Arc::make_mut(&mut run.spent).add(unit.as_ref(), at_ms, one);
    }
}

/// What an attempt used; while it tried a pool, whether that is free.
pub(super) fn ended(run: &mut Run, at_ms: u64, id: AttemptId, ending: Ending<'_>) {
    let Some((unit, started_ms)) = dispatched(run, id) else { return };
    let took_ms = at_ms.saturating_sub(started_ms);
    let used = match ending {
        Ending::Reported(told) => Used::by(took_ms, told),
        Ending::Parked(told) => Used::by(took_ms, Some(told)),
        Ending::Cancelled => Used::by(took_ms, None),
        Ending::Unready => Used::default(),
        Ending::Lost => Used::by(0, None),
    };
    Arc::make_mut(&mut run.spent).add(unit.as_ref(), at_ms, used);
    if matches!(ending, Ending::Reported(_)) {
        // Unless another one was told since that it is closed.
        run.pools.retain(|_, pool| pool.tried_by != Some(id) || pool.until_ms > Some(at_ms));
    }
    run.pools.values_mut().filter(|pool| pool.tried_by == Some(id)).for_each(|pool| pool.tried_by = None);
}

/// An attempt was cut off: what it wrote stays, and the next one goes on under its number, in its session.
pub(super) fn park(run: &mut Run, parked: &AttemptParked) {
    let Some(attempt) = run.attempts.get(&parked.attempt).cloned() else { return };
    release(run, parked.attempt);
    let Work::Dispatch { role, .. } = &attempt.work else { return };
    let unit = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.clone());
    if let Some(content) = &parked.content {
        move_tree(run, unit.as_ref(), content);
    }
    with(run, &attempt.instance, |instance| {
        instance.lost = Some(parked.attempt);
        instance.session = Some((*parked.told).clone());
    });
    if parked.content.is_some() {
        write(run, (&attempt.instance, role), &parked.changed, &parked.unnamed, false);
    }
}

/// A person says: try again.
pub(super) fn wake(run: &mut Run) {
    run.pools.values_mut().for_each(|pool| (pool.until_ms, pool.times) = (None, 0));
}

/// A pool is left alone. What tries it meanwhile was asked before, and is no word on the time after.
pub(super) fn close(run: &mut Run, parked: &PoolParked) {
    let before = run.pools.get(&parked.pool);
    let (times, tried_by) = before.map_or((0, None), |pool| (pool.times, pool.tried_by));
    // Who only waits for what comes of another's call was not told no.
    let times = if parked.tried { times } else { times.saturating_add(1) };
    let named = Some(parked.until_ms).filter(|until_ms| *until_ms > 0);
    let until_ms = before.and_then(|pool| pool.until_ms).max(named);
    let (said, heard, elsewhere) = (parked.said.clone(), parked.run, parked.tried);
    run.pools.insert(parked.pool.clone(), Pool { until_ms, times, tried_by, said, heard, elsewhere });
}
