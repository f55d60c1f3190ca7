//! A worker that is a function: for benches and simulations.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use super::{Attempt, Job, Outcome, Worker, WorkerError};
use crate::process::{Cancel, ProcessId};

/// A worker that answers at once, in this process.
#[derive(Clone)]
pub struct InProcess(Arc<dyn Fn(&Job) -> Outcome + Send + Sync>);

impl InProcess {
    /// A worker of a function.
    pub fn new(act: impl Fn(&Job) -> Outcome + Send + Sync + 'static) -> Self {
        Self(Arc::new(act))
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}

impl Worker for InProcess {
    fn start(&self, job: Job) -> Result<Box<dyn Attempt>, WorkerError> {
        Ok(Box::new(Done((self.0)(&job))))
    }

    fn describe(&self) -> String {
        "in-process".to_owned()
    }
}

struct Done(Outcome);

impl Attempt for Done {
    fn wait(&mut self, _deadline: Instant) -> Option<Outcome> {
        Some(self.0.clone())
    }

    fn canceller(&self) -> Option<Cancel> {
        None
    }

    fn process(&self) -> Option<ProcessId> {
        None
    }
}
