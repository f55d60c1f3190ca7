//! Delivering a run that succeeded: its commands on the tree that is delivered, then the branch or patch that a person asked for.

use tollgate_core::id::AttemptId;
use tollgate_core::run::decide::LandEnd;
use tollgate_core::run::event::LandAs;
use tollgate_core::run::state::Landing;
use tollgate_core::run::waiver::{Waiver, waived_to_land, waivers};
use tollgate_core::run::{Command, Run};
use tollgate_store::Object;

use super::landing::{message, signature};
use super::{CancelHandle, ExecutorError, Failure, LocalExecutor, Ran, tree_id};
use crate::workers::marker;
use crate::workspace::WorkspaceError;

impl LocalExecutor {
    /// Runs the commands of a delivery.
    pub(super) fn check_delivery(&self, run: &Run, token: u64, cancel: &CancelHandle) -> Result<Ran, Failure> {
        let landing = of(run, token)?;
        // No attempt has this number: it is the run itself that lands.
        let marker = marker(run.id, AttemptId(0), token);
        let hold = || Ok(self.work.lock(&self.state, run.id)?);
        let tree = tree_id(&landing.target.tree)?;
        // What is on the branch already is the person's, and no work of this run.
        let base = self.workspace(run)?.tree_at(&tree_id(&landing.target.at)?)?;
        self.check_each(run, &landing.commands, (&base, &tree), &marker, &hold, cancel)
    }

    /// Delivers the tree. An obstacle that is found before anything was moved ends the delivery; any other failure is tried
    /// again by the next driver.
    pub(super) fn put_delivery(&self, run: &Run, token: u64) -> Result<(Command, Vec<Object>), ExecutorError> {
        let done = |end, objects| Ok((Command::LandEnded { token, end }, objects));
        match self.deliver(run, token) {
            Ok((end, objects)) => done(end, objects),
            Err(Failure::Workspace(
                error @ (WorkspaceError::Dirty { .. }
                | WorkspaceError::Displaced { .. }
                | WorkspaceError::RefMoved { .. }
                | WorkspaceError::LandTarget { .. }
                | WorkspaceError::TooMuch { .. }),
            )) => done(LandEnd::Left { why: error.to_string() }, Vec::new()),
            Err(failure) => Err(self.explained(run, failure).into_error()),
        }
    }

    fn deliver(&self, run: &Run, token: u64) -> Result<(LandEnd, Vec<Object>), Failure> {
        let landing = of(run, token)?;
        let target = &landing.target;
        let workspace = self.workspace(run)?;
        let _held = self.work.lock(&self.state, run.id)?;
        let closing = workspace.closing(run.published.as_deref().unwrap_or_default(), &tree_id(&run.tree)?)?;
        if target.how == LandAs::Patch {
            let patch = Object::new(workspace.patch(target)?);
            let end = LandEnd::Landed { commit: target.at.clone(), patch: Some(patch.digest()) };
            return Ok((end, vec![patch]));
        }
        let title = match workspace.joins(target)? {
            true => format!("Merge {} into {}", run.opened.title, target.onto),
            false => run.opened.title.clone(),
        };
        let waived: Vec<Waiver> = waivers(run).into_iter().chain(waived_to_land(run)).collect();
        let message = message(run, &title, &waived);
        let commit = workspace.deliver(target, &closing, &message, &signature(landing.asked_ms))?;
        Ok((LandEnd::Landed { commit: commit.name(), patch: None }, Vec::new()))
    }
}

fn of(run: &Run, token: u64) -> Result<&Landing, Failure> {
    let landing = run.landing.as_deref().filter(|landing| landing.token == token);
    landing.ok_or_else(|| Failure::Other("the landing is gone".to_owned()))
}
