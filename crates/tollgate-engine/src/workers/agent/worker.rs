//! An agent behind a role: the same process, limits and report as a plain command, with an adapter at both ends.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::run::Told;

use super::account::is_session;
use super::ears::Ears;
use super::spec::variables;
use super::{Account, AgentSpec, Ask, Resume};
use crate::process::{Inherit, find_program};
use crate::workers::command::{Launch, Listener, launch};
use crate::workers::{Attempt, Job, Worker, WorkerError};

/// A report could not be used: its agent is asked again.
#[derive(Debug, Clone)]
pub struct Again {
    /// What it is told, in the session that knows the rest.
    pub prompt: String,
    /// What it told at its last end.
    pub told: Told,
    /// Whether it works in the same folder as then.
    pub same_folder: bool,
}

/// A worker that is an agent.
#[derive(Debug)]
pub struct AgentWorker {
    spec: AgentSpec,
    /// Its program and arguments, with what they name in the trusted folder as paths.
    argv: Vec<OsString>,
    base: PathBuf,
    state: PathBuf,
}

impl AgentWorker {
    /// A worker of an agent; a program with a `/` is looked up from `base`. Its processes are recorded in `state`.
    pub fn new(spec: AgentSpec, argv: Vec<OsString>, base: &Path, state: &Path) -> Self {
        Self { spec, argv, base: base.to_owned(), state: state.to_owned() }
    }

    /// The session to go on with, where the agent can.
    fn goes_on<'a>(&self, job: &'a Job) -> Option<(&'a Again, &'a str)> {
        let again = job.again.as_ref()?;
        let session = again.told.session.as_deref().filter(|id| is_session(id))?;
        let here = again.same_folder || self.spec.adapter.sheet.resume == Resume::Anywhere;
        (here && *again.told.adapter == *self.spec.adapter.name).then_some((again, session))
    }
}

impl Worker for AgentWorker {
    fn start(&self, mut job: Job) -> Result<Box<dyn Attempt>, WorkerError> {
        let named = self.argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let path = self.argv.first().and_then(|name| find_program(name, &self.base));
        let path = path.ok_or(WorkerError::NotFound(named))?;
        let goes_on = self.goes_on(&job);
        let ask = Ask {
            prompt: goes_on.map_or(job.brief.as_str(), |(again, _)| &again.prompt),
            model: self.spec.model.as_deref(),
            session: goes_on.map(|(_, session)| session),
            args: &self.argv[1..],
        };
        let call = (self.spec.adapter.call)(&ask);
        let ears = Arc::new(Ears::new(Account::new(self.spec.adapter, goes_on.map(|(again, _)| &again.told))));
        if let Some(minutes) = self.spec.minutes {
            job.limit = job.limit.min(Duration::from_secs(minutes.saturating_mul(60)));
        }
        let mut allowed = variables(self.spec.adapter, &self.spec.env);
        allowed.extend(job.variables());
        // What the person set goes over what the adapter would.
        let set = call.set.into_iter().filter(|(name, _)| std::env::var_os(name).is_none());
        let launched = Launch {
            path,
            args: call.args,
            stdin: call.stdin.into_bytes(),
            set: set.map(|(name, value)| (name.into(), value.into())).collect(),
            inherit: Inherit::Only(allowed),
            home: self.spec.adapter.home,
        };
        let heard = Arc::clone(&ears);
        let end = move |clean: bool| heard.account().map(|account| account.end(clean));
        launch(launched, &job, &self.state, Some(Listener { ears, end: Box::new(end) }))
    }

    fn describe(&self) -> String {
        self.spec.to_string()
    }
}
