//! What should be under way, derived from state and never remembered.

use super::budget::{DAY_MS, Whose};
use super::event::Work;
use super::state::{Attempt, Run};
use crate::id::{AttemptId, UnitId};
use crate::protocol::Protocol;
use crate::protocol::model::Kind;

/// Something the driver does. Each is idempotent by its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start the worker of a dispatch, or see to it that it is running.
    Dispatch { attempt: AttemptId, token: u64 },
    /// Run commands on a throw-away copy.
    Commands { attempt: AttemptId, token: u64 },
    /// Put a unit's change on its caller's tree.
    Land { attempt: AttemptId, token: u64 },
    /// Put the closing tree on the run's own branch.
    Publish,
    /// Run the commands of a landing on a throw-away copy of the tree that lands.
    CheckLanding { token: u64 },
    /// Put the tree where a person wants it.
    PutLanding { token: u64 },
}

/// What should be under way now.
pub fn effects(run: &Run) -> Vec<Effect> {
    let publish = run.is_unpublished();
    let live = run.attempts.iter().filter(|_| !run.is_closed()).map(|(attempt, lease)| {
        let (attempt, token) = (*attempt, lease.token);
        match &lease.work {
            Work::Dispatch { .. } => Effect::Dispatch { attempt, token },
            Work::Commands { .. } => Effect::Commands { attempt, token },
            Work::Land { .. } => Effect::Land { attempt, token },
        }
    });
    live.chain(publish.then_some(Effect::Publish)).chain(landing(run).filter(|_| !publish)).collect()
}

/// What a landing needs next; nothing while a person is asked.
fn landing(run: &Run) -> Option<Effect> {
    let landing = run.landing.as_ref()?;
    let token = landing.token;
    if !landing.is_checked() {
        return Some(Effect::CheckLanding { token });
    }
    landing.is_clear(run).then_some(Effect::PutLanding { token })
}

/// What a driver does that acts under an epoch: what it granted itself. A driver that was overtaken still reads the
/// journal, and what it sees there is its successor's to do.
pub fn effects_under(run: &Run, epoch: u64) -> Vec<Effect> {
    let granted = |attempt: &AttemptId| run.attempts.get(attempt).is_some_and(|lease| lease.epoch == epoch);
    let mut all = effects(run);
    all.retain(|effect| match effect {
        Effect::Dispatch { attempt, .. } | Effect::Commands { attempt, .. } | Effect::Land { attempt, .. } => {
            granted(attempt)
        }
        // Both are the same whoever does them: what is there already stays.
        Effect::Publish | Effect::CheckLanding { .. } | Effect::PutLanding { .. } => true,
    });
    all
}

/// When time alone will next change something.
pub fn next_wake(run: &Run) -> Option<u64> {
    if run.is_closed() {
        return None;
    }
    let defaults = run.pending().filter_map(|(_, decision)| decision.default()).map(|default| default.at_ms);
    let days = run.budget_questions().filter_map(|(_, over)| match over.whose {
        Whose::Day(day) => Some(day.saturating_add(1).saturating_mul(DAY_MS)),
        Whose::Run | Whose::Unit(_) => None,
    });
    defaults.chain(days).chain(run.sleeps_until()).min()
}

/// Whether an attempt may write in its tree.
pub fn writes(run: &Run, attempt: &Attempt) -> bool {
    match &attempt.work {
        Work::Dispatch { role, .. } => run.protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty()),
        Work::Commands { .. } => false,
        Work::Land { .. } => true,
    }
}

/// Whether somebody writes in a subject's tree, or, for a writer, works there at all. A landing writes in the caller's.
pub fn is_worked_in(run: &Run, unit: Option<&UnitId>, writer: bool) -> bool {
    let own = |name: &&UnitId| run.unit(name).and_then(|unit| unit.tree.as_ref()).is_some_and(|tree| !tree.landed);
    let place = unit.filter(own);
    run.attempts.values().any(|attempt| {
        let there = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.as_ref()).filter(own);
        let lands = matches!(attempt.work, Work::Land { .. });
        place.is_none() && lands || there == place && (writer || writes(run, attempt))
    })
}

/// Whether anything in a flow, or below it, writes.
pub fn flow_writes(protocol: &Protocol, flow: &str) -> bool {
    let Some(flow) = protocol.flow(flow) else { return false };
    flow.stages.iter().any(|stage| match &stage.kind {
        Kind::Dispatch { role } => protocol.roles.get(role).is_some_and(|role| !role.writes.is_empty()),
        Kind::Each(each) if each.flow != flow.name => flow_writes(protocol, &each.flow),
        Kind::Each(_) | Kind::Ask(_) | Kind::Check { .. } | Kind::Land(_) => false,
    })
}
