//! An empty change at the end of a unit or of the run: a person is asked once whether it is right.

use super::super::empty_change::{AtEmpty, EMPTY, is_accepted, to_be_asked};
use super::super::event::{Asked, By, DecisionAsked, Offered, Origin, UnitState};
use super::super::state::{Decision, MAIN};
use super::begin_again::{Again, Sought};
use super::draft::Draft;
use super::{Answer, Rejection};
use crate::id::{DecisionId, InstanceId, UnitId};
use crate::protocol::Outcome;
use crate::protocol::model::{Class, Stage, Target};

impl Draft {
    /// The same at the end of the run: of the run where it changed nothing, else of each unit that no acceptance asked about.
    pub(super) fn asks_of_empty_at_close(&mut self, stage: &Stage) -> bool {
        let main = InstanceId::from(MAIN);
        if !self.run.has_changed() {
            return self.asks_of_empty(&main, stage, None);
        }
        let units = self.run.ledger.units.iter();
        let produced = units.filter(|unit| unit.state == UnitState::Produced && unit.retired.is_none());
        let produced: Vec<UnitId> = produced.map(|unit| unit.name.clone()).collect();
        produced.iter().any(|unit| self.asks_of_empty(&main, stage, Some(unit)))
    }

    /// Asks whether nothing had to be changed, where all that a unit or the run was written for is nothing; whether it asks.
    /// No answer counts that was given before.
    pub(super) fn asks_of_empty(&mut self, instance: &InstanceId, stage: &Stage, unit: Option<&UnitId>) -> bool {
        let roles = to_be_asked(&self.run, unit);
        if roles.is_empty() {
            return false;
        }
        let whose = unit.map_or_else(|| "this run".to_owned(), |unit| format!("`{unit}`"));
        let roles: Vec<&str> = roles.iter().map(|role| &**role).collect();
        let were = if roles.len() == 1 { "was" } else { "were" };
        let done = if unit.is_some() { "It counts as done" } else { "The run succeeds" };
        let offered = |id: AtEmpty, consequence: &str| Offered {
            id: id.word().into(),
            consequence: consequence.to_owned(),
            waives: Vec::new(),
        };
        let mut options = vec![offered(AtEmpty::Accept, &format!("{done} without a change of its own"))];
        let again = self.writes_again(instance, unit);
        let mut why =
            format!("{} {were} dispatched and may write; every gate holds, and no file is changed", roles.join(", "));
        match again {
            Some(_) => {
                let consequence = "It is held; `tollgate retry` starts it again with what you say here";
                options.push(offered(AtEmpty::Hold, consequence));
            }
            None => why.push_str(". Nobody would be dispatched to write again: `tollgate cancel` ends the run"),
        }
        let asked = Asked {
            instance: instance.clone(),
            ask: EMPTY.into(),
            class: Class::Approval,
            question: format!("The whole change of {whose} is empty. Was there nothing to change?"),
            why,
            options,
            recommend: None,
            default: None,
            unit: unit.cloned(),
            blocking: true,
            shows: Vec::new(),
            origin: Origin { stage: stage.id.clone(), outcome: Some(Outcome::Done), cut_off: None },
            tree: self.run.tree_of(unit).clone(),
            paths: Vec::new(),
            budget: None,
            questions: Vec::new(),
            tries: None,
        };
        self.emit(DecisionAsked { decision: DecisionId(self.run.next_decision), asked });
        true
    }

    /// A person says whether there was nothing to change.
    pub(super) fn answer_empty(
        &mut self,
        id: DecisionId,
        decision: &Decision,
        answer: &Answer,
        by: &By,
    ) -> Result<(), Rejection> {
        let protocol = self.protocol.clone();
        let stage = self.asked_at(&protocol, &decision.asked)?;
        self.end_own(id, answer, by, "anything but whether it is right")?;
        let name = &decision.asked.instance;
        match answer.option.as_deref().and_then(AtEmpty::parse) {
            Some(AtEmpty::Accept) => self.come_back(name, stage, &Outcome::Done, Some(id), Target::Done, None),
            Some(AtEmpty::Hold) | None => {
                let why = format!("nothing was changed, and {} says that is not right ({id})", by.name);
                let Some(again) = self.writes_again(name, decision.asked.unit.as_ref()) else {
                    self.hold(name, stage, Some(&Outcome::Done), why);
                    return Ok(());
                };
                self.begin_again(&again.units, &why);
                self.leave_for(&again.at, name, stage, &Outcome::Done, &why);
                let first = self.instance(&again.at);
                let first = first.and_then(|known| Self::stage_of(&protocol, &known, &again.stage)).unwrap_or(stage);
                self.hold(&again.at, first, Some(&Outcome::Done), why);
            }
        }
        Ok(())
    }

    /// Where somebody writes again: for the unit that is asked about, for the run for those whose empty change nobody accepted.
    fn writes_again(&self, name: &InstanceId, asked: Option<&UnitId>) -> Option<Again> {
        let unit = |unit: &UnitId| asked.map_or_else(|| !is_accepted(&self.run, Some(unit)), |asked| asked == unit);
        self.works_again(name, &Sought { unit: &unit, role: &|role| self.may_write(role) })
    }
}
