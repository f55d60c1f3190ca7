//! Budgets of a run, from the state to the wire.

use tollgate_api::{self as api, UsageSum};
use tollgate_core::run::Run;
use tollgate_core::run::budget::{DAY_MS, Measure, Over, Whose};

/// Every limit that is in force or was, with what is used of it.
pub fn budgets(run: &Run, now_ms: u64) -> Vec<api::Budget> {
    let units = run.ledger.units.iter().map(|unit| Whose::Unit(unit.name.clone()));
    let whose = std::iter::once(Whose::Run).chain(units).chain([Whose::Day(now_ms / DAY_MS)]);
    let each =
        whose.flat_map(|whose| Measure::ALL.into_iter().map(move |measure| Over { whose: whose.clone(), measure }));
    let configured = |over: &Over| {
        let budgets = &run.opened.budgets;
        let allowance = match over.whose {
            Whose::Run => budgets.run,
            Whose::Unit(_) => budgets.unit,
            Whose::Day(_) => budgets.day,
        };
        allowance.of(over.measure).is_some()
    };
    let one = |over: Over| {
        let used = run.used(&over.whose).of(over.measure);
        let (of, unit) = match &over.whose {
            Whose::Run => ("run", None),
            Whose::Unit(unit) => ("unit", Some(unit.to_string())),
            Whose::Day(_) => ("day", None),
        };
        api::Budget {
            of: of.to_owned(),
            unit,
            measure: over.measure.word().to_owned(),
            limit: run.allowed(&over),
            used: UsageSum { known: used.known, unknown: used.unknown },
        }
    };
    each.filter(configured).map(one).collect()
}
