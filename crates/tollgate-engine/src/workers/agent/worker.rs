//! An agent behind a role: the same process, limits and report as a plain command, with an adapter at both ends.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tollgate_core::run::AgentStats;
use tollgate_core::run::agent_stats::Guarded;
use tollgate_core::run::sandbox_record::AgentFolders;

use super::line_reader::LineReader;
use super::spec::variables;
use super::tally::is_session;
use super::{AgentSpec, Ask, Resume, SharedLogin, Tally, at_home, capabilities_of};
use crate::process::{Cancel, End, Inherit, ProcessId, StdoutKind};
use crate::sandbox::layers::upper;
use crate::sandbox::own_place;
use crate::workers::command::{HomePlaces, Launch, Listener, find, launch};
use crate::workers::{Attempt, Job, Outcome, Worker, WorkerError, bundle};
use crate::workspace::remove_tree;

/// A report could not be used: its agent is asked again.
#[derive(Debug, Clone)]
pub struct Resumption {
    /// What it is told, in the session that knows the rest.
    pub prompt: String,
    /// What it told at its last end.
    pub told: AgentStats,
    /// Whether it works in the same folder as then.
    pub same_folder: bool,
}

/// A worker that is an agent.
#[derive(Debug, Clone)]
pub struct AgentWorker {
    spec: AgentSpec,
    /// Its program and arguments, with what they name in the trusted folder as paths.
    argv: Vec<OsString>,
    base: PathBuf,
    /// The program that speaks with an agent which must be answered: this one.
    tollgate: PathBuf,
    state: PathBuf,
}

impl AgentWorker {
    /// A worker of an agent; a program with a `/` is looked up from `base`. Its processes are recorded in `state`.
    pub fn new(spec: AgentSpec, argv: Vec<OsString>, base: &Path, tollgate: &Path, state: &Path) -> Self {
        Self { spec, argv, base: base.to_owned(), tollgate: tollgate.to_owned(), state: state.to_owned() }
    }

    /// The session to go on with, where the agent can.
    fn goes_on<'a>(&self, job: &'a Job) -> Option<(&'a Resumption, &'a str)> {
        let resumption = job.resumption.as_ref()?;
        let session = resumption.told.session.as_deref().filter(|id| is_session(id))?;
        let program = self.spec.words.first().map(String::as_str).unwrap_or_default();
        // Where nobody measured it, it is tried; it begins anew where the session is gone.
        let anywhere =
            capabilities_of(self.spec.adapter.name, program).is_none_or(|sheet| sheet.resume == Some(Resume::Anywhere));
        let here = resumption.same_folder || anywhere;
        (here && *resumption.told.adapter == *self.spec.adapter.name).then_some((resumption, session))
    }

    /// Starts it; the flag says after its end whether it ended before it said anything.
    fn launch(&self, job: &Job) -> Result<(Box<dyn Attempt>, Arc<AtomicBool>), WorkerError> {
        let path = find(&self.argv, &self.base)?;
        let goes_on = self.goes_on(job);
        let schema = bundle::schema(&job.bundle);
        let ask = Ask {
            program: &path,
            prompt: goes_on.map_or(job.brief.as_str(), |(resumption, _)| &resumption.prompt),
            model: self.spec.model.as_deref(),
            session: goes_on.map(|(_, session)| session),
            schema: schema.as_deref(),
            args: &self.argv[1..],
            // Inside of Landlock nobody mounts: a sandbox of its own would not come up, and Codex would do nothing.
            held: job.confinement.as_ref().is_some_and(|confinement| confinement.leash.landlock.is_some()),
            out: job.out.as_deref(),
        };
        let adapter = self.spec.adapter;
        let call = (adapter.call)(&ask);
        let guarded = ask.guarded(&adapter.guard);
        let open = adapter.guard.set.iter().filter(|_| guarded == Guarded::Off);
        let account = Tally::new(self.spec.adapter, goes_on.map(|(resumption, _)| &resumption.told));
        let reader = Arc::new(LineReader::new(account, job.allowed).noting(&job.log));
        let mut allowed = variables(self.spec.adapter, &self.spec.env);
        allowed.extend(job.variables());
        // What the person set goes over what the adapter would.
        let set = call.set.into_iter().chain(open.copied()).filter(|(name, _)| std::env::var_os(name).is_none());
        let home = self.home(job, &path, goes_on.is_some())?;
        let launched = Launch {
            path: if self.spec.adapter.bridged { self.tollgate.clone() } else { path },
            args: call.args,
            stdin: call.stdin.into_bytes(),
            set: set.map(|(name, value)| (name.into(), value.into())).collect(),
            inherit: Inherit::Only(allowed),
            home,
            idle: self.spec.idle_ms.map(Duration::from_millis),
            stdout: StdoutKind::Socket,
        };
        let silent = Arc::new(AtomicBool::new(false));
        let (heard, flag) = (Arc::clone(&reader), Arc::clone(&silent));
        let end = move |clean: bool| {
            let account = heard.account()?;
            flag.store(account.is_silent(), Ordering::SeqCst);
            let (told, failure) = account.end(clean);
            Some((AgentStats { guard: Some(guarded), ..told }, failure))
        };
        Ok((
            launch(launched, job, &self.state, Some(Listener { over: reader.over(), reader, end: Box::new(end) }))?,
            silent,
        ))
    }
}

impl AgentWorker {
    /// What it has in the home folder. Where that is covered by a layer, the layer of a conversation that goes on is as it was left.
    fn home(&self, job: &Job, program: &Path, goes_on: bool) -> Result<HomePlaces, WorkerError> {
        let adapter = at_home(self.spec.adapter, program);
        let mut home = HomePlaces { places: adapter.map_or(&[], |adapter| adapter.home), ..HomePlaces::default() };
        let leash = job.confinement.as_ref().map(|confinement| &confinement.leash);
        let is_held = leash.is_some_and(|leash| leash.agent_folders == AgentFolders::Held);
        let Some(login) = adapter.and_then(|adapter| adapter.login.as_ref()).filter(|_| is_held) else {
            return Ok(home);
        };
        home.login = Some(login.in_place);
        let places = home.places.iter().filter_map(|place| own_place(place));
        let files = places.flat_map(|place| login.in_place.iter().map(move |name| place.join(name)));
        home.kept.modes =
            files.filter_map(|file| Some((file.clone(), file.metadata().ok()?.permissions().mode() & 0o777))).collect();
        let failed = |source| WorkerError::Start { path: job.layer.clone(), source };
        if !goes_on {
            remove_tree(&job.layer).map_err(|error| failed(std::io::Error::other(error)))?;
        }
        for variable in login.databases {
            let folder = job.layer.join(variable);
            std::fs::create_dir_all(&folder).map_err(failed)?;
            home.give(variable, folder);
        }
        if let Some(replaced) = &login.replaced {
            let upper = |place: &Path| upper(home.places, place, &job.layer);
            let failed = |source| WorkerError::Start { path: self.state.join("logins"), source };
            home.kept.shared = SharedLogin::find(replaced, &self.state, upper).map_err(failed)?;
            let shared = home.kept.shared.as_ref().map(SharedLogin::shared);
            shared.into_iter().for_each(|folder| home.give(replaced.variable, folder));
        }
        Ok(home)
    }
}

impl Worker for AgentWorker {
    fn start(&self, mut job: Job) -> Result<Box<dyn Attempt>, WorkerError> {
        if let Some(minutes) = self.spec.minutes {
            job.limit = job.limit.min(Duration::from_secs(minutes.saturating_mul(60)));
        }
        let (attempt, silent) = self.launch(&job)?;
        if self.goes_on(&job).is_none() {
            return Ok(attempt);
        }
        let until = Instant::now() + job.limit;
        Ok(Box::new(Resumed { attempt, silent, anew: Some((self.clone(), job)), until }))
    }

    fn describe(&self) -> String {
        self.spec.to_string()
    }
}

/// An attempt in a session of before. Where that is gone (the agent ends before it says anything), it begins anew with the whole brief.
struct Resumed {
    attempt: Box<dyn Attempt>,
    silent: Arc<AtomicBool>,
    anew: Option<(AgentWorker, Job)>,
    until: Instant,
}

impl Attempt for Resumed {
    fn wait(&mut self, deadline: Instant) -> Option<Outcome> {
        let outcome = self.attempt.wait(deadline)?;
        let gone = matches!(outcome.end, End::Exited(_)) && self.silent.load(Ordering::SeqCst);
        let Some((worker, mut job)) = self.anew.take().filter(|_| gone) else { return Some(outcome) };
        job.resumption = None;
        job.limit = self.until.saturating_duration_since(Instant::now());
        job.note += "tollgate: the session could not be gone on with; the agent begins anew with the whole brief\n";
        match worker.launch(&job) {
            Ok((attempt, _)) => {
                self.attempt = attempt;
                None
            }
            Err(_) => Some(outcome),
        }
    }

    // Of the process that was started first; one that began anew is ended when the attempt is dropped.
    fn canceller(&self) -> Option<Cancel> {
        self.attempt.canceller()
    }

    fn process(&self) -> Option<ProcessId> {
        self.attempt.process()
    }
}
