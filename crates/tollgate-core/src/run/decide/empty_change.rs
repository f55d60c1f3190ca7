//! An empty change at the end of a unit or of the run: a person is asked once whether it is right.

use super::super::empty_change::{AtEmpty, EMPTY, to_be_asked, writers, writes_at};
use super::super::event::{Asked, By, DecisionAsked, Offered, Origin};
use super::super::state::{Decision, Instance, MAIN};
use super::draft::Draft;
use super::{Answer, Rejection};
use crate::id::{DecisionId, InstanceId, UnitId};
use crate::protocol::model::{Class, Stage, Target};
use crate::protocol::{Outcome, Protocol};

impl Draft {
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
        let asked = Asked {
            instance: instance.clone(),
            ask: EMPTY.into(),
            class: Class::Approval,
            question: format!("The whole change of {whose} is empty. Was there nothing to change?"),
            why: format!(
                "{} {were} dispatched and may write; every gate holds, and no file is changed",
                roles.join(", ")
            ),
            options: vec![
                offered(AtEmpty::Accept, &format!("{done} without a change of its own")),
                offered(AtEmpty::Hold, "It is held; `tollgate retry` starts it again with what you say here"),
            ],
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
                let first = self.restart_at(&protocol, name).unwrap_or(stage);
                let why = format!("nothing was changed, and {} says that is not right ({id})", by.name);
                self.hold(name, first, Some(&Outcome::Done), why);
            }
        }
        Ok(())
    }

    /// Where a flow is started again: a unit's at its first stage, the run's where, or below which, somebody wrote or could have.
    fn restart_at<'p>(&self, protocol: &'p Protocol, name: &InstanceId) -> Option<&'p Stage> {
        let instance = self.run.instances.get(name)?;
        let stages = &protocol.flow(&instance.flow)?.stages;
        if &**name != MAIN {
            return stages.first();
        }
        let below = |stage: &Stage| {
            let mut below = self.run.children(name).filter(|(_, child)| child.each.as_ref() == Some(&stage.id));
            below.any(|(id, child)| self.could_write(id, child))
        };
        stages.iter().find(|stage| writes_at(&self.run, instance, stage).is_some() || below(stage))
    }

    fn could_write(&self, name: &InstanceId, instance: &Instance) -> bool {
        let mut below = self.run.children(name);
        writers(&self.run, instance).next().is_some() || below.any(|(id, child)| self.could_write(id, child))
    }
}
