//! Why an effect could not be performed, and whose failure that is.

use tollgate_core::code::Code;
use tollgate_core::id::AttemptId;
use tollgate_core::run::Command;
use tollgate_store::Object;

use crate::driver::ExecutorError;
use crate::workers::WorkerError;
use crate::workers::pinned_files::PinnedError;
use crate::workspace::{GitError, WorkspaceError};

/// Why an effect could not be performed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error("another driver has taken the run over (epoch {0})")]
    Fenced(u64),
    #[error(transparent)]
    Pinned(#[from] PinnedError),
    #[error("{0}")]
    NotReady(NotReady),
    #[error("{0}")]
    Other(String),
}

/// A place that could not be made ready: a failure of the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotReady {
    pub why: String,
    /// What the setup printed.
    pub output: Option<Object>,
}

impl NotReady {
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), output: None }
    }

    /// What the kernel is told of it.
    pub fn into_command(self, attempt: AttemptId, token: u64) -> (Command, Vec<Object>) {
        let output = self.output.as_ref().map(Object::digest);
        (Command::Unready { attempt, token, why: self.why, output }, self.output.into_iter().collect())
    }
}

impl std::fmt::Display for NotReady {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl Failure {
    /// The failure, if it is one of the attempt; that another process holds the work or the run, or that the repository was
    /// moved away, is no fault of it, and its driver leaves it to the next.
    pub fn of_the_attempt(self) -> Result<Self, ExecutorError> {
        match self {
            Self::Workspace(
                WorkspaceError::Locked { .. }
                | WorkspaceError::RepositoryGone(_)
                | WorkspaceError::Git(GitError::Replaced(_)),
            )
            | Self::Worker(WorkerError::Unheld(_) | WorkerError::Unreadable { .. } | WorkerError::Unredacted(_))
            | Self::Fenced(_) => Err(self.into_error()),
            other => Ok(other),
        }
    }

    pub fn into_error(self) -> ExecutorError {
        let what = self.to_string();
        match self {
            Self::Workspace(error) => ExecutorError { code: error.code(), what, hint: error.hint().to_owned() },
            Self::Worker(error) => ExecutorError { code: error.code(), what, hint: error.hint().to_owned() },
            Self::Fenced(_) => ExecutorError { code: Code::FENCED_DRIVER, what, hint: String::new() },
            Self::NotReady(_) => {
                let hint = "fix what it names, then run the same command again".to_owned();
                ExecutorError { code: Code::NOT_READY, what, hint }
            }
            Self::Pinned(_) => ExecutorError { code: Code::WORKER_START, what, hint: String::new() },
            Self::Other(_) => ExecutorError { code: Code::INTERNAL, what, hint: String::new() },
        }
    }
}
