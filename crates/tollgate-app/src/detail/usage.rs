//! What the attempts of a run used, by role and in sum. What was not reported is unknown, and stays so in every sum.

use tollgate_api::{self as api, AttemptStatus, RoleUsage, UsageSum};
use tollgate_core::run::agent_stats::{Sum, Usage};
use tollgate_engine::workers::{adapter_of, agent};

use super::history::AttemptDetail;

/// A row for each role in the order of their first attempts, and one for all; nothing where no agent worked.
pub(super) fn usage(attempts: &[AttemptDetail]) -> Vec<RoleUsage> {
    let counted: Vec<&AttemptDetail> = attempts.iter().filter(|attempt| may_use(&attempt.wire)).collect();
    if !counted.iter().any(|attempt| is_agent(&attempt.wire)) {
        return Vec::new();
    }
    let mut roles: Vec<&str> = Vec::new();
    for role in counted.iter().filter_map(|attempt| attempt.wire.role.as_deref()) {
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    let of = |role: &str| {
        counted.iter().filter(|attempt| attempt.wire.role.as_deref() == Some(role)).copied().collect::<Vec<_>>()
    };
    let rows = roles.iter().map(|role| row(Some(role), &of(role)));
    rows.chain([row(None, &counted)]).collect()
}

fn row(role: Option<&str>, attempts: &[&AttemptDetail]) -> RoleUsage {
    // One that was lost or ended used something too, and nobody knows what.
    let sum = |part: fn(&Usage) -> Option<u64>| -> UsageSum {
        let Sum { known, unknown } = attempts.iter().map(|attempt| attempt.used.as_ref().and_then(part)).collect();
        UsageSum { known, unknown }
    };
    RoleUsage {
        role: role.map(str::to_owned),
        attempts: u32::try_from(attempts.len()).unwrap_or(u32::MAX),
        input_tokens: sum(|used| used.input_tokens),
        cached_tokens: sum(|used| used.cached_tokens),
        output_tokens: sum(|used| used.output_tokens),
        cost_nano_usd: sum(|used| used.cost_nano_usd),
    }
}

/// Whether an attempt is over and may have used a model: a plain command may have, a script has not.
fn may_use(attempt: &api::Attempt) -> bool {
    let adapter = adapter(attempt);
    attempt.status != AttemptStatus::Working
        && adapter.is_some_and(|adapter| adapter == "command" || agent::adapter(adapter).is_some())
}

fn is_agent(attempt: &api::Attempt) -> bool {
    adapter(attempt).and_then(agent::adapter).is_some()
}

fn adapter(attempt: &api::Attempt) -> Option<&str> {
    Some(adapter_of(attempt.worker.as_ref()?)?.0)
}
