//! Budgets of a run as rows of a table.

use tollgate_api as api;
use tollgate_core::run::budget::Measure;

use super::text::{Line, Style};

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
