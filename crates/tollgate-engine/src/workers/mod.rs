//! Workers: the programs behind roles, and what they say.
//!
//! [`command`] is the public interface (brief on stdin, `TOLLGATE_*` variables, a report file); [`agent`] is one with a model
//! behind it, and [`acp`] speaks with those that must be answered; [`script`] is a worker that acts out a file; [`in_process`] is a function, for benches and simulations.

#![expect(clippy::disallowed_methods, reason = "this module owns bundles, reports and the files of scripted workers")]

pub mod acp;
pub mod agent;
pub mod bundle;
pub mod command;
pub mod environment;
pub mod handed_over;
pub mod in_process;
pub mod pinned_files;
pub mod report_file;
pub mod script;
pub mod shell_words;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tollgate_contract::extract::Transcript;
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::{AttemptId, RoleId, RunId, StageId, UnitId};
use tollgate_core::protocol::model::Budget;
use tollgate_core::redact::{Secrets, Unsearchable};
use tollgate_core::run::AgentStats;

use crate::process::{Cancel, End, ProcessId};
use crate::sandbox::Confinement;

/// The most bytes of a worker's output that its log keeps.
pub const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The most bytes of a report.
pub const REPORT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How a worker is written, by a person and in a run: the word of its adapter, and what that is given (`command:PROGRAM ARGS`).
pub fn adapter_of(spec: &str) -> Option<(&str, &str)> {
    spec.split_once(':')
}

/// One attempt, as a worker is given it.
#[derive(Debug, Clone)]
pub struct Job {
    /// The run.
    pub run: RunId,
    /// The attempt.
    pub attempt: AttemptId,
    /// Its fencing token.
    pub token: u64,
    /// The unit; none: the run.
    pub unit: Option<UnitId>,
    /// The role.
    pub role: RoleId,
    /// The contract of the report, `status-block@1`.
    pub contract: Name,
    /// The stage.
    pub stage: StageId,
    /// The role's nth attempt at this stage, from 1.
    pub iteration: u32,
    /// What the worker is told.
    pub brief: String,
    /// Where it works: the unit's work tree, or a throw-away copy for those who judge.
    pub cwd: PathBuf,
    /// The bundle: a read-only folder (see [`bundle::write`]).
    pub bundle: PathBuf,
    /// A folder of the attempt's own for its report; made when it is not there.
    pub scratch: PathBuf,
    /// The folder in which it hands documents over; none: nobody asks it for one.
    pub out: Option<PathBuf>,
    /// Where its output is logged.
    pub log: PathBuf,
    /// What the log starts with; empty: nothing.
    pub note: String,
    /// How long it may take.
    pub limit: Duration,
    /// What it may use, as far as it tells that while it works; its time is in `limit`.
    pub allowed: Budget,
    /// What went before, where the report of the same role could not be used.
    pub resumption: Option<agent::Resumption>,
    /// What holds it; none: nothing does.
    pub confinement: Option<Confinement>,
    /// Where programs of its kind share what they can make again.
    pub caches: PathBuf,
    /// Where what an agent writes into its own folders goes.
    pub layer: PathBuf,
    /// What is taken out of everything it says.
    pub secrets: Arc<Secrets>,
}

impl Job {
    /// The variables that the configuration lets it see besides those that everybody may.
    fn variables(&self) -> impl Iterator<Item = String> {
        self.confinement.iter().flat_map(|confinement| confinement.variables.iter().cloned())
    }

    /// The marker of the attempt's processes: `run_…/att_…/TOKEN`.
    pub fn marker(&self) -> String {
        marker(self.run, self.attempt, self.token)
    }
}

/// The marker of an attempt's processes.
pub fn marker(run: RunId, attempt: AttemptId, token: u64) -> String {
    format!("{run}/{attempt}/{token}")
}

/// What a worker said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawReport {
    /// The report file, which it wrote.
    File(Vec<u8>),
    /// What it printed, where it wrote no report file.
    Printed {
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether the start is missing.
        cut: bool,
    },
    /// Nothing.
    Nothing,
    /// Something that is not read: the report file is no plain file, or too large.
    Refused(String),
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How the program ended. Anything but an exit with 0 is a failure, whatever was said.
    pub end: End,
    /// What it said.
    pub said: RawReport,
    /// Whether the log was cut off.
    pub log_cut: bool,
    /// What the agent told of itself; none where nobody listens.
    pub told: Option<AgentStats>,
    /// Why it failed by its own lines, whatever it exited with and reported.
    pub failure: Option<agent::AgentFailure>,
}

impl Outcome {
    /// Its output with what is known of who said what: an agent's lines are read by its adapter.
    pub fn transcript<'t>(&self, output: &'t str) -> Transcript<'t> {
        let adapter = self.told.as_ref().and_then(|told| agent::adapter(&told.adapter));
        adapter.map_or(Transcript::Plain(output), |adapter| agent::speech(adapter, output).transcript)
    }
}

/// How often somebody who waits for an attempt looks whether it is to be stopped.
const SLICE: Duration = Duration::from_millis(250);

/// Waits for the outcome of an attempt. Its limit holds once more here: whatever a worker is, its wait has an end.
pub fn outcome(mut attempt: Box<dyn Attempt>, limit: Duration, stop: &AtomicBool) -> Outcome {
    let deadline = Instant::now() + limit + Duration::from_secs(30);
    loop {
        if let Some(outcome) = attempt.wait(Instant::now() + SLICE) {
            return outcome;
        }
        if Instant::now() > deadline || stop.load(Ordering::SeqCst) {
            if let Some(cancel) = attempt.canceller() {
                cancel.cancel();
            }
            let ended =
                Outcome { end: End::Cancelled, said: RawReport::Nothing, log_cut: false, told: None, failure: None };
            return attempt.wait(Instant::now() + Duration::from_secs(5)).unwrap_or(ended);
        }
    }
}

/// Why a worker could not be started.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// There is no such program.
    #[error("the worker's program `{0}` was not found or is not executable")]
    NotFound(String),
    /// The command is not a list of words.
    #[error("the worker's command `{text}` cannot be read: {why}")]
    Command {
        /// The command.
        text: String,
        /// What is wrong.
        why: &'static str,
    },
    /// The system would not.
    #[error("the worker could not be started: {path}: {source}")]
    Start {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It runs and cannot be written down, so that nobody would find it after a crash.
    #[error("a process of the run cannot be recorded in {path}: {source}")]
    Record {
        /// The state directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The sandbox is required and does not hold.
    #[error("the sandbox is required, and this machine cannot give it: {0}")]
    Unheld(String),
    /// What the run's first event says of what holds it cannot be read.
    #[error("what is in force for this run cannot be read: `{what}` of its first event: {why}")]
    Unreadable {
        /// The setting.
        what: String,
        /// Why not.
        why: String,
    },
    /// Its secrets cannot be looked for.
    #[error("the secrets that a worker could print cannot be taken out: {0}")]
    Unredacted(#[from] Unsearchable),
    /// A file of the bundle has a name that is no path inside it.
    #[error("`{0}` cannot be the name of a file in a bundle")]
    BundleName(String),
}

impl WorkerError {
    /// The code of the refusal.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound(_) => Code::WORKER_NOT_FOUND,
            Self::Unheld(_) => Code::SANDBOX_MISSING,
            Self::Unreadable { .. } => Code::SETTINGS_UNREADABLE,
            Self::Unredacted(_) => Code::NOT_REDACTED,
            Self::Command { .. } => Code::WORKER_COMMAND,
            Self::Start { .. } | Self::Record { .. } | Self::BundleName(_) => Code::WORKER_START,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unheld(_) => {
                "`tollgate doctor` shows what is missing; fix that, then `tollgate resume RUN`; a run that is started with `sandbox = \"prefer\"` takes what there is"
            }
            Self::Unreadable { .. } => {
                "go on with the version of tollgate that started the run, or `tollgate cancel RUN` and start it again"
            }
            Self::Unredacted(_) => "unset variables whose values are no secrets, then `tollgate resume RUN`",
            Self::NotFound(_)
            | Self::Command { .. }
            | Self::Start { .. }
            | Self::Record { .. }
            | Self::BundleName(_) => "",
        }
    }
}

/// A program behind a role.
pub trait Worker: Send + Sync {
    /// Starts it on an attempt.
    fn start(&self, job: Job) -> Result<Box<dyn Attempt>, WorkerError>;
    /// What it is, for people: the adapter and its command.
    fn describe(&self) -> String;
}

/// An attempt under way. Dropping it ends it.
pub trait Attempt: Send {
    /// Waits for the end, at most until `deadline`; when it answers, the whole process tree has ended.
    fn wait(&mut self, deadline: Instant) -> Option<Outcome>;
    /// A handle that cancels it from another thread; none when it cannot be cancelled.
    fn canceller(&self) -> Option<Cancel>;
    /// The process behind it, if there is one.
    fn process(&self) -> Option<ProcessId>;
}
