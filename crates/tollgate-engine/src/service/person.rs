//! What a person says to a run that is under way: an answer, to try again, to give it up.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tollgate_core::id::{DecisionId, UnitId};
use tollgate_core::run::decide::{Answer, completed};
use tollgate_core::run::{Command, Event, Recorded, Run, effects};

use super::{Service, ServiceError, by, manual_edit};
use crate::session::{Outcome, Session};
use crate::workspace::{Workspace, WorkspaceError};

impl Service {
    /// Answers a decision; a work tree that the option amends is measured now.
    pub fn decide(
        &self,
        person: &str,
        session: &mut Session,
        id: DecisionId,
        mut answer: Answer,
    ) -> Result<Outcome, ServiceError> {
        let mut given = None;
        if manual_edit::given_back(session.run(), id, &answer).is_some() {
            let workspace = Workspace::of(&self.state, session.run())?;
            // From now on nobody else touches the trees, so that what the journal says of them stands until it is answered.
            let held = workspace.lock_clean()?;
            session.refresh()?;
            let run = session.run();
            let asked =
                manual_edit::given_back(run, id, &answer).map(|decision| (decision, decision.asked.unit.as_ref()));
            // Where somebody else works nothing is looked at: the answer is refused.
            if let Some((decision, _)) = asked.filter(|(_, unit)| !effects::is_worked_in(run, *unit, true)) {
                let (taken, content, deleted) = manual_edit::measure(&workspace, run, decision, held)?;
                answer.start = Some(taken.shown.name());
                (answer.content, answer.deleted) = (Some(content), deleted);
                given = Some(taken);
            }
        }
        if let Some(inputs) = completed(session.run(), id, &answer) {
            answer.opening = Some(Box::new(self.opening(session.run(), &inputs)?));
        }
        let command = Command::Answer { decision: id, answer: Box::new(answer) };
        let outcome = session.command(&command, &by(person), None, &[])?;
        let is_given = |event: &Recorded| matches!(event.event, Event::TreeChanged(_));
        if let Some(taken) = given.filter(|_| outcome.events.iter().any(is_given)) {
            // A note that is lost costs a second answer.
            Workspace::of(&self.state, session.run()).and_then(|workspace| workspace.accept_returned(taken)).ok();
        }
        Ok(outcome)
    }

    /// The work trees that open decisions are about, where an option stands for a change by hand; with why some are not shown
    /// now, where another process has the run's work in hand.
    pub fn trees_of(&self, run: &Run) -> (BTreeMap<DecisionId, PathBuf>, Option<WorkspaceError>) {
        let Ok(workspace) = Workspace::of(&self.state, run) else { return Default::default() };
        let (mut trees, others) = manual_edit::prepared_trees(&workspace, run);
        if !others {
            return (trees, None);
        }
        // Somebody may have been sent there since the run was read: it is read again with the hold in hand.
        match workspace.lock_briefly() {
            Ok(_held) => {
                if let Ok(loaded) = self.load(run.id) {
                    trees.extend(manual_edit::prepare_trees(&workspace, loaded.run()));
                }
                (trees, None)
            }
            Err(error) => (trees, Some(error)),
        }
    }

    /// A person's word on what is held or halted.
    pub fn retry(&self, person: &str, session: &mut Session, unit: Option<UnitId>) -> Result<Outcome, ServiceError> {
        Ok(session.command(&Command::Retry { unit }, &by(person), None, &[])?)
    }

    /// Ends a run.
    pub fn cancel(&self, person: &str, session: &mut Session, why: String) -> Result<Outcome, ServiceError> {
        let outcome = session.command(&Command::Cancel { why }, &by(person), None, &[])?;
        // A pin that nothing needs goes; one that cannot go now harms nobody.
        Workspace::of(&self.state, session.run()).and_then(|workspace| workspace.release(false)).ok();
        Ok(outcome)
    }
}
