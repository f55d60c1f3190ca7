//! An attempt that is past its role's budget: it ends as `exhausted`, which the protocol routes.

use tollgate_contract::registry::Contracts;
use tollgate_core::protocol::model::Role;
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::AgentStats;
use tollgate_core::run::budget::Measure;

use super::{ATTEMPT_LIMIT, failed};

/// The report of a worker that was stopped: it is out of its budget, or, where the protocol knows no such thing, failed.
pub(super) fn out_of_time(role: &Role, contracts: &Contracts) -> Report {
    let seconds = role.budget.time_ms.map_or(ATTEMPT_LIMIT.as_secs(), |ms| ms / 1000);
    let time = if seconds.is_multiple_of(60) { format!("{} min", seconds / 60) } else { format!("{seconds} s") };
    past_a_limit(role, contracts, format!("it ran past its time of {time}"))
}

/// The same of one that printed nothing for longer than it may.
pub(super) fn silent(role: &Role, contracts: &Contracts) -> Report {
    past_a_limit(role, contracts, "it printed nothing for longer than its `idle_time`".to_owned())
}

fn past_a_limit(role: &Role, contracts: &Contracts, reason: String) -> Report {
    let declared = contracts.report(&role.contract).map(|dialect| dialect.declaration().healths);
    if role.budget.time_ms.is_some() || declared.is_some_and(|healths| healths.contains(&Health::Exhausted)) {
        return Report { reason, ..Report::new(Health::Exhausted, Verdict::None) };
    }
    failed("time", reason)
}

/// The report of an attempt that used more than its role allows, by what its agent told; none where it did not.
pub(super) fn overspent(role: &Role, told: Option<&AgentStats>) -> Option<Report> {
    let (told, budget) = (told?, role.budget);
    let turns = |turns: u64| format!("{turns} turn{}", if turns == 1 { "" } else { "s" });
    let of = |used: Option<u64>, most: Option<u64>, shown: &dyn Fn(u64) -> String| {
        let (used, most) = used.zip(most).filter(|(used, most)| used > most)?;
        Some((shown(used), shown(most)))
    };
    let (used, most) = of(told.turns.map(u64::from), budget.turns.map(u64::from), &turns)
        .or_else(|| of(Some(told.usage.tokens().known), budget.tokens, &|tokens| Measure::Tokens.shown(tokens)))
        .or_else(|| of(told.usage.cost_nano_usd, budget.cost_nano_usd, &|cost| Measure::Cost.shown(cost)))?;
    let reason = format!("it used {used}, and its role may use {most}");
    Some(Report { reason, ..Report::new(Health::Exhausted, Verdict::None) })
}
