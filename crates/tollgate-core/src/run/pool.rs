//! Credential pools: what a limit of a plan or provider stops. A pool that said no is left alone until the time that was
//! named; then one attempt tries it, and the others wait for what comes of that.
//!
//! ```text
//! free --limit--> parked until T --T passes, dispatch--> tried --no limit--> free
//!                    ^                                     |--limit--> parked
//!                    |--the attempt is lost or ended ------|
//!
//! another run tries --> looked at again after a pause --it was answered--> free
//!                                                      --its time----------> parked
//!                                                      --it is gone--------> parked until now: this run tries
//! ```
//!
//! A run tells the others what it was told by the pool itself, and that it tries. What it has from another run, that one tells.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::agent_stats::Quota;
use super::blank::blank_as_none;
use super::budget::{OnDay, Stopped, Used};
use super::state::Run;
use crate::Name;
use crate::id::{AttemptId, RoleId, RunId};

/// How long a pool is left alone when no time was named, at first and at most.
const PAUSE_MS: u64 = 60_000;
const PAUSE_MS_MAX: u64 = 60 * 60_000;
/// How long what another run tries is left alone, at least and at most: as long as it has been tried so far.
const LOOK_MS: (u64, u64) = (2_000, 60_000);
/// Nobody waits longer on the word of an agent.
const UNTIL_MS_MAX: u64 = 8 * 24 * 60 * 60_000;

/// A pool that said no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// None: a person says that it is tried now.
    #[serde(with = "blank_as_none")]
    pub until_ms: Option<u64>,
    /// How often it said no in a row.
    pub times: u32,
    /// The attempt that finds out whether it can be called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried_by: Option<AttemptId>,
    pub said: String,
    /// The run that this one has it from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<RunId>,
    /// Whether that run tries it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
}

impl Pool {
    /// Whether it is this run that the others know it from.
    pub const fn is_own(&self) -> bool {
        self.tried_by.is_some() || self.heard.is_none()
    }

    /// Whether it may be called at a time.
    pub const fn is_closed(&self, now_ms: u64) -> bool {
        self.tried_by.is_some() || matches!(self.until_ms, Some(until_ms) if until_ms > now_ms)
    }
}

/// What the other runs of the state directory know, at the time of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Around {
    /// What they used today; none: nobody looked.
    pub today: Option<OnDay>,
    /// Pools that one of them may not call, or tries.
    pub pools: BTreeMap<Name, Elsewhere>,
    /// Pools that said no to one of them, which has not been answered since.
    pub unanswered: BTreeSet<(Name, RunId)>,
}

/// A pool as another run knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    pub run: RunId,
    pub until_ms: u64,
    /// Whether that run is trying it.
    pub tried: bool,
    pub said: String,
}

impl Around {
    /// Adds what one other run knows; of a pool, who waits longest counts.
    pub fn add(&mut self, pool: Name, known: Elsewhere) {
        let rank = |one: &Elsewhere| (one.tried, one.until_ms);
        match self.pools.get(&pool) {
            Some(other) if rank(other) >= rank(&known) => {}
            _ => drop(self.pools.insert(pool, known)),
        }
    }

    /// Adds what one other run used today.
    pub fn count(&mut self, day: u64, used: Used) {
        let before = self.today.map_or_else(Used::default, |today| today.on(day));
        self.today = Some(OnDay { day, used: before.and(used) });
    }
}

/// Until when a pool is left alone after it said no: the time that was named, or longer each time where none was.
pub(super) fn until(quota: Option<&Quota>, times: u32, now_ms: u64) -> u64 {
    let named = quota.and_then(|quota| quota.resets_ms).filter(|at| *at > now_ms);
    let pause = PAUSE_MS.saturating_mul(1 << times.min(16)).min(PAUSE_MS_MAX);
    named.map_or(now_ms.saturating_add(pause), |at| at.min(now_ms.saturating_add(UNTIL_MS_MAX)))
}

/// When what another run tries is looked at again; it may be tried since a time.
pub(super) fn look_again(since_ms: u64, now_ms: u64) -> u64 {
    now_ms.saturating_add(now_ms.saturating_sub(since_ms).clamp(LOOK_MS.0, LOOK_MS.1))
}

impl Run {
    /// The pool of the worker of a role; without one of its own the worker is one.
    pub fn pool_of(&self, role: &RoleId) -> Name {
        let opened = &self.opened;
        let named = opened.pools.get(role).or_else(|| opened.workers.get(role));
        named.cloned().unwrap_or_else(|| (&**role).into())
    }

    /// Until when nothing can be done but wait, where that is so for a flow: the first time that one of them can go on.
    pub fn sleeps_until(&self) -> Option<u64> {
        let stopped = self.instances.values().filter_map(|instance| self.stopped(instance));
        let until = stopped.filter_map(|stopped| match stopped {
            Stopped::Parked { until_ms, .. } => Some(until_ms),
            Stopped::Asked(_) | Stopped::Tried { .. } => None,
        });
        until.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_time_counts_and_none_is_a_longer_pause_each_time() {
        let quota = |resets_ms| Quota { said: String::new(), resets_ms };
        assert_eq!(until(Some(&quota(Some(5_000))), 3, 1_000), 5_000);
        assert_eq!(until(Some(&quota(Some(u64::MAX))), 0, 0), UNTIL_MS_MAX);
        let past = quota(Some(10));
        let minutes: Vec<u64> = (0..8).map(|times| (until(Some(&past), times, 1_000) - 1_000) / 60_000).collect();
        assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(until(None, 40, 0), PAUSE_MS_MAX);
        let looks: Vec<u64> = [1_000, 9_000, 3_600_000].map(|now| look_again(1_000, now) - now).to_vec();
        assert_eq!(looks, [2_000, 8_000, 60_000]);
    }

    #[test]
    fn a_pool_that_a_person_wants_tried_is_written_with_the_time_zero() {
        let text = r#"{"until_ms":0,"times":2,"said":"no"}"#;
        let pool: Pool = serde_json::from_str(text).unwrap();
        assert_eq!((pool.until_ms, pool.is_closed(0)), (None, false));
        assert_eq!(serde_json::to_string(&pool).unwrap(), text);
    }

    #[test]
    fn of_two_runs_the_one_that_tries_counts_then_the_one_that_waits_longest() {
        let known =
            |bits, until_ms, tried| Elsewhere { run: RunId::from_bits(bits), until_ms, tried, said: "no".into() };
        let mut around = Around::default();
        for one in [known(1, 5, false), known(2, 9, false), known(3, 1, true), known(4, 8, false)] {
            around.add("claude".into(), one);
        }
        assert_eq!(around.pools["claude"].run, RunId::from_bits(3));
        around.count(7, Used { attempts: 2, ..Used::default() });
        around.count(7, Used { attempts: 3, ..Used::default() });
        assert_eq!(around.today.unwrap().on(7).attempts, 5);
    }
}
