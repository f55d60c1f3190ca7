//! Budgets of a run: from the state to the wire, and to the screen.

use tollgate_api::{self as api, UsageSum};
use tollgate_core::run::Run;
use tollgate_core::run::budget::{DAY_MS, Measure, Over, Whose};

use super::text::{Line, Style};

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

/// A row for each.
pub fn rows(budgets: &[api::Budget]) -> Vec<Vec<Line>> {
    let row = |budget: &api::Budget| {
        let measure = Measure::ALL.into_iter().find(|measure| measure.word() == budget.measure);
        let shown = |amount| measure.map_or_else(String::new, |measure| measure.shown(amount));
        let least = if budget.used.unknown > 0 { "at least " } else { "" };
        let limit = budget.limit.map_or_else(|| "no limit any more".to_owned(), shown);
        let untold = match budget.used.unknown {
            0 => String::new(),
            1 => "one attempt did not tell, and the limit does not hold it".to_owned(),
            many => format!("{many} attempts did not tell, and the limit does not hold them"),
        };
        vec![
            Line::new().add(Style::Strong, budget.unit.clone().unwrap_or_else(|| budget.of.clone())),
            Line::from(format!("{least}{} of {limit}", shown(budget.used.known))),
            Line::new().add(Style::Faint, untold),
        ]
    };
    budgets.iter().map(row).collect()
}
