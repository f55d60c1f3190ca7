//! An attempt that is past its role's budget: it ends as `exhausted`, which the protocol routes.

use tollgate_core::contract::registry::Contracts;
use tollgate_core::protocol::model::Role;
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::Told;
use tollgate_core::run::budget::{Allowance, Measure};

use super::{ATTEMPT_LIMIT, failed};

/// What the role allows one attempt of what its agent tells.
pub(super) const fn allowed(role: &Role) -> Allowance {
    let (tokens, cost_nano_usd) = (role.budget.tokens, role.budget.cost_nano_usd);
    Allowance { time_ms: None, tokens, cost_nano_usd, attempts: None }
}

/// The report of a worker that was stopped: it is out of its budget, or, where the protocol knows no such thing, failed.
pub(super) fn out_of_time(role: &Role, contracts: &Contracts) -> Report {
    let seconds = role.budget.time_ms.map_or(ATTEMPT_LIMIT.as_secs(), |ms| ms / 1000);
    let time = if seconds.is_multiple_of(60) { format!("{} min", seconds / 60) } else { format!("{seconds} s") };
    let reason = format!("it ran past its time of {time}");
    let declared = contracts.report(&role.contract).map(|dialect| dialect.declaration().healths);
    if role.budget.time_ms.is_some() || declared.is_some_and(|healths| healths.contains(&Health::Exhausted)) {
        return Report { reason, ..Report::new(Health::Exhausted, Verdict::None) };
    }
    failed("time", reason)
}

/// The report of an attempt that used more than its role allows, by what its agent told; none where it did not.
pub(super) fn overspent(role: &Role, told: Option<&Told>) -> Option<Report> {
    let usage = told?.usage;
    let used = [(Measure::Tokens, usage.tokens().known), (Measure::Cost, usage.cost_nano_usd.unwrap_or(0))];
    let over = |(measure, used): &(Measure, u64)| allowed(role).of(*measure).is_some_and(|most| *used > most);
    let (measure, used) = used.into_iter().find(over)?;
    let most = allowed(role).of(measure).unwrap_or_default();
    let reason = format!("it used {}, and its role may use {}", measure.shown(used), measure.shown(most));
    Some(Report { reason, ..Report::new(Health::Exhausted, Verdict::None) })
}
