//! `[budget]`: what a unit, a run and a day may use.

use std::collections::BTreeMap;

use tollgate_core::amount;
use tollgate_core::code::Code;
use tollgate_core::run::budget::{Budgets, Measure};
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeValue};

use super::parser::Reader;

/// Whose budgets there are.
const WHOSE: [&str; 3] = ["run", "unit", "day"];

/// Limits by name: `run.tokens`.
pub type Limits = BTreeMap<String, u64>;

impl Reader<'_> {
    /// Reads `run = {time = "2h", tokens = 2000000, cost = "5.00", attempts = 40}`, and the same of `unit` and `day`.
    pub(super) fn budget(&mut self, value: &Spanned<DeValue<'_>>) -> Limits {
        let mut limits = Limits::new();
        self.each(value, "budget", |reader, whose, value| {
            let name = whose.get_ref().to_string();
            if !WHOSE.contains(&name.as_str()) {
                return reader.unknown((whose, value), "budget.", &WHOSE);
            }
            reader.each(value, &format!("budget.{name}"), |reader, key, value| {
                match Measure::ALL.into_iter().find(|measure| measure.word() == key.get_ref()) {
                    Some(measure) => {
                        let limit = reader.limit(measure, value);
                        limits.extend(limit.map(|limit| (format!("{name}.{}", measure.word()), limit)));
                    }
                    None => reader.unknown((key, value), &format!("budget.{name}."), &Measure::ALL.map(Measure::word)),
                }
            });
        });
        limits
    }

    pub(super) fn limit(&mut self, measure: Measure, value: &Spanned<DeValue<'_>>) -> Option<u64> {
        let written = value.get_ref();
        let whole = written.as_integer().and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        let (limit, hint) = match measure {
            Measure::Time => {
                (written.as_str().and_then(amount::duration_ms), "write a number with s, m, h or d: `\"4h\"`")
            }
            Measure::Cost => {
                let number = written.as_float().map(DeFloat::as_str);
                let number = number.or_else(|| written.as_integer().filter(|n| n.radix() == 10).map(DeInteger::as_str));
                let text = written.as_str().or(number);
                (text.and_then(amount::nano_usd), "write US dollars: `2.50`")
            }
            Measure::Tokens | Measure::Attempts => (whole.filter(|number| *number > 0), "write a whole number from 1"),
        };
        let message = format!("this is no budget of {}", measure.word());
        limit.or_else(|| self.breach(&value.span(), Code::CONFIG, message, hint))
    }
}

/// Limits by name as the kernel takes them.
pub fn budgets<'a>(limits: impl Iterator<Item = (&'a str, u64)>) -> Budgets {
    let mut budgets = Budgets::default();
    for (name, limit) in limits {
        let Some((whose, measure)) = name.split_once('.') else { continue };
        let allowance = match whose {
            "run" => &mut budgets.run,
            "unit" => &mut budgets.unit,
            _ => &mut budgets.day,
        };
        if let Some(measure) = Measure::ALL.into_iter().find(|known| known.word() == measure) {
            *allowance.of_mut(measure) = Some(limit);
        }
    }
    budgets
}

/// A limit for people: `run: $5.00`.
pub fn shown(name: &str, limit: u64) -> String {
    let (whose, measure) = name.split_once('.').unwrap_or((name, ""));
    let measure = Measure::ALL.into_iter().find(|known| known.word() == measure);
    format!("{whose} {}", measure.map_or_else(|| limit.to_string(), |measure| measure.shown(limit)))
}
