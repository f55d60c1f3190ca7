//! A worker that a limit of its plan or provider cut off: its attempt is parked with its pool, and nothing is routed. It counts
//! against no limit; what it used counts.

use std::sync::Arc;

use super::super::event::{AttemptParked, By, ByKind, PoolParked};
use super::super::pool;
use super::super::state::Attempt;
use super::AttemptResult;
use super::draft::Draft;
use crate::Name;
use crate::id::{AttemptId, RoleId};
use crate::report::Health;

/// The code of a worker's failure that a limit of its plan or provider is.
pub const QUOTA: &str = "quota";

/// Whether a limit of its plan or provider is what ended an attempt.
pub(super) fn is_cut_off(result: &AttemptResult) -> bool {
    let (report, told) = (&result.report, result.told.as_ref());
    report.health == Health::Failed
        && report.code.as_deref() == Some(QUOTA)
        && told.is_some_and(|told| told.quota.is_some())
}

impl Draft {
    pub(super) fn park(
        &mut self,
        live: &Arc<Attempt>,
        (attempt, token): (AttemptId, u64),
        (role, worker): (&RoleId, &Name),
        result: AttemptResult,
        kept: bool,
    ) {
        let Some(told) = result.told else { return };
        let wrote = self.instance(&live.instance).and_then(|known| known.wrote.get(role).cloned()).unwrap_or_default();
        let unnamed =
            if kept { wrote.compare(None, &result.changed, false, std::iter::empty()).unnamed } else { Vec::new() };
        let pool = self.run.pool_of(role);
        let known = self.run.pools.get(&pool).cloned();
        let by = By { kind: ByKind::Worker, name: worker.clone() };
        let quota = told.quota.clone();
        self.emit_by(
            by,
            AttemptParked {
                attempt,
                token,
                report: result.object,
                reason: result.report.reason,
                content: result.content.filter(|_| kept),
                changed: result.changed,
                unnamed,
                noticed: result.noticed,
                told: Box::new(told),
                leash: result.leash.map(Box::new),
            },
        );
        let until_ms = pool::until(quota.as_ref(), known.as_ref().map_or(0, |pool| pool.times), self.now_ms);
        let named = quota.as_ref().is_some_and(|quota| quota.resets_ms == Some(until_ms));
        // One that began before the pool said no says nothing new, unless it names a later time.
        let is_news = known.is_none_or(|pool| {
            pool.tried_by == Some(attempt)
                || pool.until_ms <= Some(self.now_ms)
                || named && Some(until_ms) > pool.until_ms
        });
        if is_news {
            let said = quota.map(|quota| quota.said).unwrap_or_default();
            self.emit(PoolParked { pool, until_ms, said, run: None, tried: false });
        }
        self.lapse();
    }
}
