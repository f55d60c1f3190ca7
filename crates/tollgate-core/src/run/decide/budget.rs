//! Before a dispatch: its pool, and the budgets of its unit, the run and the day. One that is reached is a question; what is
//! under way goes on.
//!
//! ```text
//! pool closed here or elsewhere --> not now      budget reached --> `@budget` is asked, once for all that it stops
//! `more` --> the same amount from here on        `accept` --> it holds no more        `stop` --> the run is over
//! ```

use super::super::budget::{AtBudget, BUDGET, DAY_MS, Over, Whose};
use super::super::event::{
    Asked, BudgetChanged, By, DayCounted, DecisionAsked, Offered, Origin, PoolParked, RunClosed, RunOutcome,
};
use super::super::pool::{self, Elsewhere};
use super::super::state::Decision;
use super::draft::Draft;
use super::{Answer, Rejection};
use crate::id::{DecisionId, RoleId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Stage};

impl Draft {
    /// Whether a role may be dispatched now; what stands against it is in the journal when it may not.
    pub(super) fn may_dispatch(&mut self, unit: Option<&UnitId>, stage: &Stage, role: &RoleId, repeats: bool) -> bool {
        if self.pool_is_closed(role) {
            return false;
        }
        // What is asked is answered before anything else is: once for all that it stops.
        if self.run.budget_questions().any(|(_, asked)| asked.stops(unit)) {
            return false;
        }
        self.count_the_day();
        let Some(over) = self.run.over(unit, repeats, self.now_ms) else { return true };
        self.ask_budget(&over, unit, stage);
        false
    }

    /// Whether a role's pool may not be called: by what this run was told, or another one of the state directory.
    fn pool_is_closed(&mut self, role: &RoleId) -> bool {
        let name = self.run.pool_of(role);
        let known = self.run.pools.get(&name);
        if let Some(pool) = known.filter(|pool| pool.is_closed(self.now_ms) || pool.until_ms.is_none()) {
            return pool.is_closed(self.now_ms);
        }
        let waited = known.filter(|pool| pool.elsewhere).and_then(|pool| Some((pool.heard?, pool.said.clone())));
        let elsewhere = self.around.pools.get(&name).filter(|known| known.tried || known.until_ms > self.now_ms);
        if let Some(Elsewhere { run, until_ms, tried, said }) = elsewhere.cloned() {
            // Who tries it finds out for everybody.
            let until_ms = if tried { pool::look_again(until_ms, self.now_ms) } else { until_ms };
            self.emit(PoolParked { pool: name, until_ms, said, run: Some(run), tried });
            return true;
        }
        // Who tried it is gone and was not answered: this run finds out.
        if let Some((run, said)) = waited
            && self.around.unanswered.contains(&(name.clone(), run))
        {
            self.emit(PoolParked { pool: name, until_ms: self.now_ms, said, run: Some(run), tried: false });
        }
        false
    }

    /// Puts into the journal what a day's budget is held against, where it is not what was counted before.
    fn count_the_day(&mut self) {
        let day = self.now_ms / DAY_MS;
        let Some(today) = self.around.today.filter(|_| !self.run.opened.budgets.day.is_none()) else { return };
        let elsewhere = today.on(day);
        if self.run.spent.elsewhere.on(day) != elsewhere {
            self.emit(DayCounted { day, elsewhere });
        }
    }

    fn ask_budget(&mut self, over: &Over, unit: Option<&UnitId>, stage: &Stage) {
        let used = self.run.used(&over.whose).of(over.measure);
        let limit = self.run.allowed(over).unwrap_or_default();
        let shown = |amount| over.measure.shown(amount);
        let whose = match &over.whose {
            Whose::Run => "this run".to_owned(),
            Whose::Unit(unit) => format!("`{unit}`"),
            Whose::Day(_) => "today (UTC)".to_owned(),
        };
        let unknown = match used.unknown {
            0 => String::new(),
            1 => "; one attempt did not tell what it used".to_owned(),
            many => format!("; {many} attempts did not tell what they used"),
        };
        let least = if used.unknown > 0 { "at least " } else { "" };
        let next = unit.map_or_else(|| format!("`{}`", stage.id), |unit| format!("`{}` of {unit}", stage.id));
        let amount = self.run.configured(over).unwrap_or_default();
        let offered =
            |id: AtBudget, consequence: String| Offered { id: id.word().into(), consequence, waives: Vec::new() };
        let asked = Asked {
            instance: BUDGET.into(),
            ask: BUDGET.into(),
            class: Class::Choice,
            question: format!("The budget of {whose} for {} is used up. Go on?", over.measure.word()),
            why: format!(
                "it may use {}, and used {least}{}{unknown}; {next} is next and waits",
                shown(limit),
                shown(used.known)
            ),
            options: vec![
                offered(AtBudget::More, format!("It goes on; you are asked again after {} more", shown(amount))),
                offered(AtBudget::Accept, "It goes on without this budget".to_owned()),
                offered(AtBudget::Stop, "The run ends without success; its work trees are kept".to_owned()),
            ],
            recommend: None,
            default: None,
            unit: match &over.whose {
                Whose::Unit(unit) => Some(unit.clone()),
                Whose::Run | Whose::Day(_) => None,
            },
            blocking: true,
            shows: Vec::new(),
            origin: Origin { stage: BUDGET.into(), outcome: Some(Outcome::Named(over.key())), cut_off: None },
            tree: self.run.tree.clone(),
            paths: Vec::new(),
            budget: Some(over.clone()),
            questions: Vec::new(),
            tries: None,
        };
        self.emit(DecisionAsked { decision: DecisionId(self.run.next_decision), asked });
    }

    /// A person says what becomes of a budget that was reached.
    pub(super) fn answer_budget(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        over: Over,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        self.end_own(id, answer, by, "anything but the budget")?;
        match answer.option.as_deref().and_then(AtBudget::parse) {
            Some(AtBudget::Stop) => {
                self.end_everything("the run was stopped at its budget");
                let why = format!("stopped at its budget ({id}): {}", decision.asked.why);
                self.emit(RunClosed { outcome: RunOutcome::Cancelled, why, tree: self.run.tree.clone() });
            }
            Some(AtBudget::More) => {
                let used = self.run.used(&over.whose).of(over.measure).known;
                let limit = self.run.configured(&over).map(|amount| used.saturating_add(amount));
                self.emit_by(by.clone(), BudgetChanged { over, limit, decision: id });
            }
            Some(AtBudget::Accept) | None => {
                self.emit_by(by.clone(), BudgetChanged { over, limit: None, decision: id });
            }
        }
        Ok(())
    }

    /// Takes back questions about budgets that stop nothing any more: nobody wants to go on there, or the day is another one.
    pub(super) fn withdraw_budgets(&mut self) {
        let today = self.now_ms / DAY_MS;
        let stops = |over: &Over| {
            let wanted = self.run.instances.iter().filter(|(_, known)| self.run.next_role(known).is_some());
            let mut live = wanted.filter(|(name, _)| self.run.is_live(name));
            live.any(|(_, known)| over.stops(known.unit.as_ref()))
        };
        let over = |over: &Over| matches!(over.whose, Whose::Day(day) if day != today) || !stops(over);
        let moot: Vec<DecisionId> =
            self.run.budget_questions().filter(|(_, asked)| over(asked)).map(|(id, _)| id).collect();
        for decision in moot {
            self.cancel_decision(decision);
        }
    }
}
