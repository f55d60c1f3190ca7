//! Budgets: what a unit, the run and a day may use, and what was used. What was not told is never counted as zero: a limit
//! applies to the part that is known, and what is missing is said.
//!
//! ```text
//! dispatch wanted --reached--> question `@budget`  --more--> the same amount from here on
//!                                                  --accept--> no limit any more      --stop--> the run ends
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::agent_stats::{AgentStats, Sum};
use super::event::Work;
use super::state::{At, Instance, Run};
use crate::Name;
use crate::amount::dollars;
use crate::id::{AttemptId, DecisionId, RoleId, UnitId};
use crate::protocol::model::Kind;
use crate::words::words;

/// Stands for a flow instance, a stage and an ask where a budget puts its question: no protocol can use this name.
pub const BUDGET: &str = "@budget";
/// A day, in UTC.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// What a person can say when a budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtBudget {
    /// The same amount from here on.
    More,
    /// It holds no more.
    Accept,
    /// The run is over.
    Stop,
}

words!(AtBudget { More = "more", Accept = "accept", Stop = "stop" });

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The time that workers worked, added up.
    Time,
    /// Tokens read and written.
    Tokens,
    Cost,
    Attempts,
}

words!(Measure { Time = "time", Tokens = "tokens", Cost = "cost", Attempts = "attempts" });

impl Measure {
    /// An amount, for people.
    pub fn shown(self, amount: u64) -> String {
        let many = |noun: &str| format!("{amount} {noun}{}", if amount == 1 { "" } else { "s" });
        match self {
            Self::Time if amount >= 60_000 && amount.is_multiple_of(60_000) => format!("{} min", amount / 60_000),
            Self::Time if amount >= 10_000 => format!("{} s", amount / 1000),
            Self::Time => format!("{}.{:03} s", amount / 1000, amount % 1000),
            Self::Tokens => many("token"),
            Self::Cost => dollars(amount),
            Self::Attempts => many("attempt"),
        }
    }
}

/// How much of each may be used; none is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allowance {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
}

impl Allowance {
    /// The limit of one measure.
    pub const fn of(&self, measure: Measure) -> Option<u64> {
        match measure {
            Measure::Time => self.time_ms,
            Measure::Tokens => self.tokens,
            Measure::Cost => self.cost_nano_usd,
            Measure::Attempts => self.attempts,
        }
    }

    /// The same, to be set.
    pub const fn of_mut(&mut self, measure: Measure) -> &mut Option<u64> {
        match measure {
            Measure::Time => &mut self.time_ms,
            Measure::Tokens => &mut self.tokens,
            Measure::Cost => &mut self.cost_nano_usd,
            Measure::Attempts => &mut self.attempts,
        }
    }

    /// Whether it limits nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The budgets in force for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    #[serde(skip_serializing_if = "Allowance::is_none")]
    pub run: Allowance,
    /// Of each unit.
    #[serde(skip_serializing_if = "Allowance::is_none")]
    pub unit: Allowance,
    /// Of all runs of the state directory together.
    #[serde(skip_serializing_if = "Allowance::is_none")]
    pub day: Allowance,
}

impl Budgets {
    /// Whether they limit nothing.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Whose budget it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whose {
    Run,
    Unit(UnitId),
    /// The day, since 1970.
    Day(u64),
}

/// A budget that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    pub whose: Whose,
    pub measure: Measure,
}

impl Over {
    /// Its name: `run.tokens`, `unit.cost@api`, `day.time@20408`.
    pub fn key(&self) -> Name {
        let measure = self.measure.word();
        match &self.whose {
            Whose::Run => format!("run.{measure}").into(),
            Whose::Unit(unit) => format!("unit.{measure}@{unit}").into(),
            Whose::Day(day) => format!("day.{measure}@{day}").into(),
        }
    }

    /// Whether it stops the dispatches for a unit; none: the run's own.
    pub fn stops(&self, unit: Option<&UnitId>) -> bool {
        match &self.whose {
            Whose::Run | Whose::Day(_) => true,
            Whose::Unit(of) => unit == Some(of),
        }
    }
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Used {
    pub time_ms: u64,
    pub tokens: Sum,
    pub cost_nano_usd: Sum,
    pub attempts: u64,
}

impl Used {
    /// An attempt that ended: how long it took, and what it told.
    pub(super) fn by(took_ms: u64, told: Option<&AgentStats>) -> Self {
        let usage = told.map(|told| told.usage).unwrap_or_default();
        let cost_nano_usd = [usage.cost_nano_usd].into_iter().collect();
        Self { time_ms: took_ms, tokens: usage.tokens(), cost_nano_usd, attempts: 0 }
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            time_ms: self.time_ms.saturating_add(other.time_ms),
            tokens: self.tokens.and(other.tokens),
            cost_nano_usd: self.cost_nano_usd.and(other.cost_nano_usd),
            attempts: self.attempts.saturating_add(other.attempts),
        }
    }

    /// How much of one measure, and how many attempts did not tell.
    pub const fn of(&self, measure: Measure) -> Sum {
        match measure {
            Measure::Time => Sum { known: self.time_ms, unknown: 0 },
            Measure::Tokens => self.tokens,
            Measure::Cost => self.cost_nano_usd,
            Measure::Attempts => Sum { known: self.attempts, unknown: 0 },
        }
    }
}

/// What a run used on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnDay {
    /// Since 1970.
    pub day: u64,
    pub used: Used,
}

impl OnDay {
    /// What of it counts for a day.
    pub fn on(&self, day: u64) -> Used {
        if self.day == day { self.used } else { Used::default() }
    }

    fn add(&mut self, day: u64, used: Used) {
        *self = Self { day, used: self.on(day).and(used) };
    }
}

/// What the attempts of a run used, and what they may.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    pub run: Used,
    pub units: BTreeMap<UnitId, Used>,
    /// The run's own part of its last day.
    pub day: OnDay,
    /// What the other runs used on a day, as it was last counted.
    pub elsewhere: OnDay,
    /// Budgets that a person changed, by [`Over::key`]; none: it holds no more.
    pub limits: BTreeMap<Name, Option<u64>>,
}

impl Spent {
    pub(super) fn add(&mut self, unit: Option<&UnitId>, at_ms: u64, used: Used) {
        self.run = self.run.and(used);
        self.day.add(at_ms / DAY_MS, used);
        if let Some(unit) = unit {
            let of = self.units.entry(unit.clone()).or_default();
            *of = of.and(used);
        }
    }
}

impl Run {
    /// What counts against a budget.
    pub fn used(&self, whose: &Whose) -> Used {
        match whose {
            Whose::Run => self.spent.run,
            Whose::Unit(unit) => self.spent.units.get(unit).copied().unwrap_or_default(),
            Whose::Day(day) => self.spent.day.on(*day).and(self.spent.elsewhere.on(*day)),
        }
    }

    /// How much a budget allows at a time; none: it holds no more, or never did.
    pub fn allowed(&self, over: &Over) -> Option<u64> {
        self.spent.limits.get(&over.key()).copied().unwrap_or_else(|| self.configured(over))
    }

    /// How much it allows by the configuration: what `more` adds.
    pub(super) fn configured(&self, over: &Over) -> Option<u64> {
        let budgets = &self.opened.budgets;
        let allowance = match over.whose {
            Whose::Run => &budgets.run,
            Whose::Unit(_) => &budgets.unit,
            Whose::Day(_) => &budgets.day,
        };
        allowance.of(over.measure)
    }

    /// The first budget that stands against one more dispatch at a time.
    pub(super) fn over(&self, unit: Option<&UnitId>, repeats: bool, now_ms: u64) -> Option<Over> {
        let unit = unit.map(|unit| Whose::Unit(unit.clone()));
        let all = [Some(Whose::Run), unit, Some(Whose::Day(now_ms / DAY_MS))];
        let each = all
            .into_iter()
            .flatten()
            .flat_map(|whose| Measure::ALL.into_iter().map(move |measure| Over { whose: whose.clone(), measure }));
        // What a crash or a quota cut off is repeated under its own number.
        let mut counted = each.filter(|over| !(repeats && over.measure == Measure::Attempts));
        counted
            .find(|over| self.allowed(over).is_some_and(|limit| self.used(&over.whose).of(over.measure).known >= limit))
    }

    /// The open questions about budgets.
    pub fn budget_questions(&self) -> impl Iterator<Item = (DecisionId, &Over)> {
        self.pending().filter_map(|(id, decision)| Some((id, decision.asked.budget.as_ref()?)))
    }

    /// The role that a flow would dispatch next.
    pub(super) fn next_role(&self, instance: &Instance) -> Option<&RoleId> {
        let At::Ready { stage } = &instance.at else { return None };
        let Kind::Dispatch { role } = &self.stage(instance, stage)?.kind else { return None };
        if instance.judging.is_none() && instance.pending.is_none() { Some(role) } else { None }
    }

    /// What stops a flow that would go on otherwise.
    pub fn stopped(&self, instance: &Instance) -> Option<Stopped> {
        let role = self.next_role(instance)?;
        let mut asked = self.budget_questions();
        if let Some((decision, _)) = asked.find(|(_, over)| over.stops(instance.unit.as_ref())) {
            return Some(Stopped::Asked(decision));
        }
        let pool = self.pool_of(role);
        let parked = self.pools.get(&pool)?;
        Some(match parked.tried_by {
            Some(attempt) => Stopped::Tried { pool, attempt },
            None => Stopped::Parked { pool, until_ms: parked.until_ms.unwrap_or_default() },
        })
    }
}

/// What stops a flow that would go on otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// A budget was reached, and a person is asked.
    Asked(DecisionId),
    /// The pool of its worker may not be called before a time.
    Parked { pool: Name, until_ms: u64 },
    /// An attempt tries whether the pool can be called again.
    Tried { pool: Name, attempt: AttemptId },
}

/// The unit and the time of an attempt of a worker; none: it is none.
pub(super) fn dispatched(run: &Run, id: AttemptId) -> Option<(Option<UnitId>, u64)> {
    let attempt = run.attempts.get(&id).filter(|attempt| matches!(attempt.work, Work::Dispatch { .. }))?;
    let unit = run.instances.get(&attempt.instance).and_then(|instance| instance.unit.clone());
    Some((unit, attempt.started_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_said_as_people_say_them() {
        let shown = |measure: Measure, amounts: &[u64]| amounts.iter().map(|n| measure.shown(*n)).collect::<Vec<_>>();
        assert_eq!(shown(Measure::Time, &[1_500, 12_345, 60_000, 5_400_000]), ["1.500 s", "12 s", "1 min", "90 min"]);
        assert_eq!(shown(Measure::Tokens, &[1, 30_000]), ["1 token", "30000 tokens"]);
        let cost = [0, 3_000_000, 2_500_000_000, 1];
        assert_eq!(shown(Measure::Cost, &cost), ["$0.00", "$0.003", "$2.50", "$0.000000001"]);
        assert_eq!(shown(Measure::Attempts, &[1, 2]), ["1 attempt", "2 attempts"]);
    }

    #[test]
    fn what_was_used_on_another_day_does_not_count_today() {
        let used = |attempts| Used { attempts, ..Used::default() };
        let mut day = OnDay::default();
        day.add(5, used(2));
        day.add(5, used(1));
        assert_eq!((day.on(5).attempts, day.on(6).attempts), (3, 0));
        day.add(6, used(1));
        assert_eq!((day.on(5).attempts, day.on(6).attempts), (0, 1));
    }
}
