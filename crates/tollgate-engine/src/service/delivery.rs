//! Delivering a run to a branch or a patch, as a person asks for it: what is checked before anything is recorded.

use tollgate_core::Name;
use tollgate_core::run::decide::{Rejection, not_succeeded};
use tollgate_core::run::event::{LandAs, LandTarget, RunLanded};
use tollgate_core::run::{Command, Run, effects};

use super::{Service, ServiceError, by};
use crate::git::ObjectId;
use crate::session::{CommandError, Outcome, Session};
use crate::verify::{self, Breach};
use crate::workspace::{DeliveryMerge, Workspace, WorkspaceError};

/// How and where a person wants a run delivered.
#[derive(Debug, Clone)]
pub struct DeliveryRequest {
    /// As what.
    pub how: LandAs,
    /// The branch it lands on; none: the one that is checked out.
    pub onto: Option<String>,
    /// The branch that is made; none: the run's own.
    pub to: Option<String>,
    /// The file that a patch is wanted in, as a whole path.
    pub file: Option<Name>,
}

/// The answer to a request, before anything is moved.
#[derive(Debug)]
pub enum DeliveryStart {
    /// It is in the journal; a driver does the rest.
    Recorded(Outcome),
    /// The same delivery was made before, and is still there.
    AlreadyDone(RunLanded),
    /// The branch holds the run's commit already, by whoever put it there.
    AlreadyContained {
        /// The branch.
        onto: Name,
        /// Its commit.
        at: Name,
    },
}

/// Why a run is not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The journal of the run does not hold.
    #[error("the journal of the run does not verify: {}", .0.what)]
    Unproved(Breach),
    /// Something is left to be done before: its branch, or a landing that was cut off.
    #[error("something of the run is still to be done")]
    NotYet,
    /// Both changes do not fit together.
    #[error("what the run changed and `{onto}` do not fit together: {}", .paths.join(", "))]
    Conflict {
        /// The branch.
        onto: Name,
        /// The paths.
        paths: Vec<Name>,
        /// What became of each, a line each.
        how: String,
        /// Whether the branch does not hold what the run started from.
        apart: bool,
    },
    /// Anything else.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl From<WorkspaceError> for DeliveryError {
    fn from(error: WorkspaceError) -> Self {
        Self::Service(error.into())
    }
}

impl Service {
    /// Records that a run is to be delivered, after checking everything that can be known before.
    pub fn deliver(
        &self,
        person: &str,
        session: &mut Session,
        request: &DeliveryRequest,
    ) -> Result<DeliveryStart, DeliveryError> {
        let run = session.run();
        let rejected = |rejection| DeliveryError::Service(CommandError::Rejected(rejection).into());
        let open = not_succeeded(run);
        if !open.is_empty() {
            return Err(rejected(Rejection::NotSucceeded(open)));
        }
        if !run.has_changed() {
            return Err(rejected(Rejection::EmptyChange));
        }
        let proof = verify::verify(&**session.journal(), run.id).map_err(ServiceError::from)?;
        if let Some(breach) = proof.breaches.into_iter().next() {
            return Err(DeliveryError::Unproved(breach));
        }
        if !effects(run).is_empty() {
            return Err(DeliveryError::NotYet);
        }
        let workspace = Workspace::of(&self.state, run)?;
        let held = Workspace::lock(&self.state, run.id)?;
        let target = workspace.target(request.how, request.onto.as_deref(), request.to.as_deref())?;
        let target = LandTarget { file: request.file.clone(), ..target };
        if let Some(before) = before(&workspace, run, &target) {
            return Ok(DeliveryStart::AlreadyDone(before));
        }
        let target = match self.found(&workspace, run, target)? {
            Ok(target) => target,
            Err(there) => return Ok(there),
        };
        workspace.may_deliver(&target)?;
        drop(held);
        let outcome = session.command(&Command::Land(Box::new(target)), &by(person), None, &[]);
        Ok(DeliveryStart::Recorded(outcome.map_err(ServiceError::from)?))
    }

    /// The target with the tree that would land there.
    fn found(
        &self,
        workspace: &Workspace,
        run: &Run,
        target: LandTarget,
    ) -> Result<Result<LandTarget, DeliveryStart>, DeliveryError> {
        let lost = |what: &str| WorkspaceError::Lost { run: run.id, why: format!("{what} has no name") };
        let tree = ObjectId::parse(&run.tree).ok_or_else(|| lost("its tree"))?;
        let at = ObjectId::parse(&target.at).ok_or_else(|| lost("the commit it lands on"))?;
        let closing = workspace.closing(run.published.as_deref().unwrap_or_default(), &tree)?;
        match workspace.merged(&closing, &at)? {
            DeliveryMerge::AlreadyContained => {
                Ok(Err(DeliveryStart::AlreadyContained { onto: target.onto, at: target.at }))
            }
            DeliveryMerge::Conflict { paths, how, lacks } => {
                Err(DeliveryError::Conflict { onto: target.onto, paths, how, apart: !lacks.is_empty() })
            }
            DeliveryMerge::Clean { tree, touched, lacks } => {
                let (tree, apart) = (tree.name(), !lacks.is_empty());
                Ok(Ok(LandTarget { tree, touched, apart, lacks, ..target }))
            }
        }
    }
}

/// The landing that was the same, if what it left is still there.
fn before(workspace: &Workspace, run: &Run, target: &LandTarget) -> Option<RunLanded> {
    let same = |landed: &&std::sync::Arc<RunLanded>| landed.how == target.how && landed.branch == target.branch;
    let landed = run.landed.iter().rev().find(same)?;
    let there = match landed.how {
        LandAs::Patch => landed.commit == target.at,
        LandAs::Branch | LandAs::Merge => {
            let found = target.found.as_deref().and_then(ObjectId::parse);
            let commit = ObjectId::parse(&landed.commit);
            matches!((commit, found), (Some(commit), Some(found)) if workspace.holds_commit(&commit, &found))
        }
    };
    there.then(|| (**landed).clone())
}
