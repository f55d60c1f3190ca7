//! Delegation without a run: one dossier in, one worker, one report out; nothing is kept but what the worker changed.
//!
//! ```text
//! dossier → worker → clean checkout → snapshot → worker, confined → snapshot → report, judged and measured
//! ```
//!
//! What is out of order at any step is a report too, with the reason in it.

#![expect(
    clippy::disallowed_methods,
    reason = "this module owns the folder that a delegation works in, and its scratch folder"
)]

mod dossier;
mod external_git_files;
mod git_paths;
mod guard;
mod prompt;
mod report;
mod scratch;
mod secrets_check;
mod surfaces;
mod worker_report;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tollgate_contract::extract::Markers;
use tollgate_contract::registry;
use tollgate_core::id::AttemptId;
use tollgate_core::redact::Secrets;

pub use report::{Ending, FinalReport, Reason};

use self::dossier::Dossier;
use self::guard::Baseline;
use self::report::{Frame, mistakes};
use self::scratch::{FolderLock, Scratch};
use self::worker_report::own_report;
use crate::clock::{new_run_id, nonce};
use crate::process::{End, Inherit, adopt_orphans, mark_driver, secrets};
use crate::sandbox::{Confinement, SandboxRequest, denials, probe};
use crate::workers::agent::{AgentSpec, AgentWorker};
use crate::workers::command::{BriefBy, CommandWorker};
use crate::workers::pinned_files::{self, PinnedFile};
use crate::workers::{self, Job, Outcome, Worker, WorkerError, agent, bundle};

/// The contract of the report.
pub const CONTRACT: &str = "supervisor.worker-report";
/// The roles there are.
pub const ROLES: [&str; 4] = ["implementer", VERIFIER, "repair", "documenter"];
/// The role that judges.
const VERIFIER: &str = "verifier";
/// How much of what a worker printed last is shown of one that was blocked, and looked through for a login that is missing.
const EXCERPT_BYTES: usize = 2000;
/// The longest argument that the system takes.
const ARGUMENT_BYTES_MAX: usize = 128 * 1024 - 1;
/// Words of a program that is not logged in. They count only where it failed and left no report.
const LOGIN_WORDS: [&str; 18] = [
    "authenticat",
    "auth login",
    "auth method",
    "unauthorized",
    "status 401",
    "not logged in",
    "logged out",
    "log in",
    "/login",
    "please login",
    "login required",
    "codex login",
    "claude login",
    "sign in",
    "api key",
    "api_key",
    "credentials",
    "oauth",
];

/// A worker that was found by its name.
#[derive(Debug, Clone)]
pub struct ResolvedWorker {
    pub program: Program,
    /// What it is held to.
    pub asked: SandboxRequest,
    /// The trusted files of the repository, where its words name one.
    pub folder: Vec<(String, PinnedFile)>,
    /// Where a program with a `/` is looked up.
    pub base: PathBuf,
    /// Who names it: `override`, `built_in`, `user`, `repository`, `environment`.
    pub source: &'static str,
    /// Where what looks like a secret is none: patterns, from the root of the repository.
    pub examples: Vec<String>,
}

/// The program behind a worker.
#[derive(Debug, Clone)]
pub enum Program {
    Command(Vec<String>, BriefBy),
    Agent(AgentSpec),
    /// Its file: where it lies, or its path in the trusted folder.
    Script(String),
}

impl Program {
    /// The words that may name a trusted file.
    pub fn words(&self) -> &[String] {
        match self {
            Self::Command(words, _) => words,
            Self::Agent(spec) => &spec.words,
            Self::Script(file) => std::slice::from_ref(file),
        }
    }

    fn adapter(&self) -> &'static str {
        match self {
            Self::Command(..) => "command",
            Self::Agent(spec) => spec.adapter.name,
            Self::Script(_) => "script",
        }
    }
}

/// One piece of work for one worker.
#[derive(Debug)]
pub struct Delegation {
    /// The worker, as it was named.
    pub agent: String,
    /// One of [`ROLES`].
    pub role: String,
    pub unit: String,
    /// The dossier, or why it cannot be read.
    pub dossier: Result<Vec<u8>, String>,
    /// Its file: it is no change of somebody's that it lies in the checkout.
    pub dossier_file: Option<PathBuf>,
    /// The folder to work in, or why there is none.
    pub cwd: Result<PathBuf, String>,
    /// What may be changed; empty: what the dossier says.
    pub allowed: Vec<String>,
    /// What must not be changed, besides what the dossier says.
    pub forbidden: Vec<String>,
    pub limit: Duration,
    /// Whether changes that are not committed are left to be there.
    pub allow_dirty: bool,
    /// The worker, or why there is none.
    pub worker: Result<ResolvedWorker, String>,
    /// This program.
    pub tollgate: PathBuf,
    /// The state directory: what is needed meanwhile lies there.
    pub state: PathBuf,
}

/// What stands in the way of a report of the worker's own.
struct Stop(Reason, String, Vec<String>);

impl Stop {
    fn execution(why: impl std::fmt::Display) -> Self {
        Self(Reason::Execution, why.to_string(), Vec::new())
    }
}

/// Whether a report can be made for such a unit at all; what is wrong with its name otherwise.
pub fn unit_problem(role: &str, unit: &str) -> Option<String> {
    let frame = Frame { role: role.to_owned(), unit: unit.to_owned(), ..Frame::default() };
    let dialect = registry::report_dialect(CONTRACT)?;
    mistakes(&frame.blocked(Reason::Execution, "It was never started.", &[]).report, role, dialect).into_iter().next()
}

/// The report where not even the folders that a delegation needs are known.
pub fn unable(agent: &str, role: &str, unit: &str, why: &str) -> FinalReport {
    Frame::of(agent, role, unit).blocked(Reason::Execution, why, &[])
}

/// Delegates; `stop` ends the worker.
pub fn delegate(asked: &Delegation, stop: &AtomicBool) -> FinalReport {
    let mut frame = Frame::of(&asked.agent, &asked.role, &asked.unit);
    let delivered = match perform(asked, &mut frame, stop) {
        Ok(delivered) => delivered,
        Err(Stop(reason, summary, findings)) => frame.blocked(reason, &summary, &findings),
    };
    let wrong = registry::report_dialect(CONTRACT).map(|dialect| mistakes(&delivered.report, &asked.role, dialect));
    match wrong.unwrap_or_default().first() {
        None => delivered,
        Some(wrong) => {
            let bare = Frame { role: frame.role, unit: frame.unit, ..Frame::default() };
            bare.blocked(Reason::Execution, &format!("BUG: the report would not hold: {wrong}"), &[])
        }
    }
}

fn perform(asked: &Delegation, frame: &mut Frame, stop: &AtomicBool) -> Result<FinalReport, Stop> {
    let dossier = read_dossier(asked)?;
    frame.guard.warnings.extend(dossier.warnings.iter().cloned());
    let resolved = asked.worker.as_ref().map_err(|why| Stop(Reason::WorkerUnavailable, why.clone(), Vec::new()))?;
    frame.adapter.insert("adapter".into(), resolved.program.adapter().into());
    frame.adapter.insert("source".into(), resolved.source.into());
    let cwd = asked.cwd.as_ref().map_err(Stop::execution)?;
    let scratch = Scratch::make(&asked.state).map_err(Stop::execution)?;
    let _lock = FolderLock::take(cwd, &asked.role)?;
    let mut baseline = Baseline::look(asked, cwd, &scratch, &mut frame.guard, stop)?;
    let dialect = registry::report_dialect(CONTRACT).ok_or_else(|| Stop::execution("there is no contract for it"))?;
    let forces_schema = matches!(&resolved.program, Program::Agent(spec) if spec.adapter.forces_schema);
    let markers = if forces_schema { None } else { Some(markers()?) };
    let brief = prompt::write(&asked.role, &asked.unit, cwd, &dossier, dialect, markers.as_ref());
    let (worker, copy) = worker(resolved, &scratch, asked)?;
    frame.adapter.insert("command".into(), worker.describe().into());
    let mut confinement = confinement(asked, resolved, &dossier, &mut baseline, cwd, scratch.path("programs"), frame)?;
    confinement.reads.extend(baseline.reads());
    confinement.git_config = baseline.git_config();
    confinement.reads.extend(copy.iter().map(|copy| copy.root().to_owned()));
    if let Program::Script(file) = &resolved.program {
        confinement.reads.push(file.into());
    }
    let secrets = secrets(&Inherit::Only(confinement.variables.clone()), &[]).map_err(Stop::execution)?;
    let leaks = baseline.leaks(cwd, &dossier, &resolved.examples, &secrets);
    let leash = confinement.leash.clone();
    let job = job(asked, cwd, &scratch, &brief, confinement, secrets)?;
    let log = job.log.clone();
    go_on(stop)?;
    let outcome = work(&*worker, job, asked.limit, stop)?;
    frame.adapter.extend(ended(&outcome));
    frame.guard.warnings.extend(denials::reported(&log, &leash));
    let measured = baseline.measure(&dossier, asked, &leaks, frame);
    let report = measured.and_then(|()| read(asked, frame, &dossier, (&brief, markers), &outcome, &log));
    if report.is_err() {
        let excerpt = scratch::tail(&log, EXCERPT_BYTES);
        if !excerpt.trim().is_empty() {
            frame.adapter.insert("output_excerpt".into(), excerpt.into());
        }
    }
    report
}

/// The markers of a delegation, with a random nonce.
fn markers() -> Result<Markers, Stop> {
    Ok(Markers::new(AttemptId(1), nonce().map_err(Stop::execution)?.as_bytes()))
}

/// Starts nothing more once it is asked to stop.
fn go_on(stop: &AtomicBool) -> Result<(), Stop> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Stop::execution("Tollgate was asked to stop: no worker was started.")),
        false => Ok(()),
    }
}

fn read_dossier(asked: &Delegation) -> Result<Dossier, Stop> {
    let Delegation { role, unit, allowed, forbidden, .. } = asked;
    // Without a folder nothing is started, whatever the surfaces come to.
    let cwd = asked.cwd.as_deref().unwrap_or(Path::new("/"));
    let said = dossier::SurfaceOverrides { role, unit, cwd, allowed, forbidden };
    let bytes = asked.dossier.as_ref().map_err(|why| vec![why.clone()]);
    bytes.and_then(|bytes| dossier::read(bytes, said)).map_err(invalid)
}

fn invalid(wrong: Vec<String>) -> Stop {
    let first = wrong.first().cloned().unwrap_or_default();
    Stop(Reason::InvalidDossier, format!("The dossier is no valid DossierV1: {first}"), wrong)
}

/// The worker, and the trusted files that its words name.
fn worker(
    worker: &ResolvedWorker,
    scratch: &Scratch,
    asked: &Delegation,
) -> Result<(Box<dyn Worker>, Option<pinned_files::Copy>), Stop> {
    let files = || worker.folder.iter().map(|(path, file)| Ok((path.as_str(), file.clone())));
    let resolve = |words: &[String]| {
        pinned_files::resolve_among(words, &scratch.path("copies"), files()).map_err(Stop::execution)
    };
    let state = &asked.state;
    Ok(match &worker.program {
        Program::Command(words, brief) => {
            let (argv, copy) = resolve(words)?;
            (Box::new(CommandWorker::new(argv, &worker.base, state).briefed(*brief)), copy)
        }
        Program::Agent(spec) => {
            let (argv, copy) = resolve(&spec.words)?;
            (Box::new(AgentWorker::new(spec.clone(), argv, &worker.base, &asked.tollgate, state)), copy)
        }
        Program::Script(file) => {
            let (words, copy) = resolve(std::slice::from_ref(file))?;
            let file = words.first().map(PathBuf::from).unwrap_or_default();
            (Box::new(CommandWorker::scripted(&asked.tollgate, &file, state)), copy)
        }
    })
}

/// What holds the worker: it writes the allowed surfaces, and its own; who judges writes none of them.
fn confinement(
    asked: &Delegation,
    worker: &ResolvedWorker,
    dossier: &Dossier,
    baseline: &mut Baseline,
    cwd: &Path,
    programs: PathBuf,
    frame: &mut Frame,
) -> Result<Confinement, Stop> {
    let support = std::cell::OnceCell::new();
    let support = || support.get_or_init(|| probe(&asked.tollgate, &asked.state));
    let wished = baseline.reserved(&asked.state).taken_out_of(worker.asked.clone());
    let confinement = wished.confinement(&asked.tollgate, &asked.state, programs, support, false);
    let mut confinement = confinement.map_err(|why| Stop::execution(WorkerError::Unheld(why)))?;
    let grant = baseline.grant(asked, cwd, dossier, &mut frame.guard)?;
    if confinement.leash.landlock.is_none() {
        let why = if confinement.leash.missing.is_empty() { "it is off" } else { &confinement.leash.missing };
        frame.guard.warnings.push(format!("no sandbox kept the worker to its surfaces: {why}"));
    }
    if let Program::Agent(spec) = &worker.program {
        confinement.leash.agent_folders = agent::folders(&spec.to_string(), confinement.layers, &confinement.writes);
    }
    frame.adapter.insert("leash".into(), serde_json::to_value(&confinement.leash).unwrap_or_default());
    (confinement.write_subset, confinement.bound) = (Some(grant.write_subset), true);
    Ok(confinement)
}

fn job(
    asked: &Delegation,
    cwd: &Path,
    scratch: &Scratch,
    brief: &str,
    confinement: Confinement,
    secrets: Arc<Secrets>,
) -> Result<Job, Stop> {
    let schema = registry::report_dialect(CONTRACT).and_then(bundle::schema_of);
    let mut files = vec![("dossier".to_owned(), asked.dossier.clone().unwrap_or_default())];
    files.extend(schema.map(|schema| (bundle::SCHEMA.to_owned(), schema.into_bytes())));
    let manifest = json!({"unit": asked.unit, "role": asked.role});
    bundle::write(&scratch.path("bundle"), brief, &manifest, &files).map_err(Stop::execution)?;
    Ok(Job {
        // Nobody will look for it: it tells the processes of this delegation from others.
        run: new_run_id().map_err(Stop::execution)?,
        attempt: AttemptId(1),
        token: 1,
        unit: Some(asked.unit.as_str().into()),
        role: asked.role.as_str().into(),
        contract: CONTRACT.into(),
        stage: "delegate".into(),
        iteration: 1,
        brief: brief.to_owned(),
        cwd: cwd.to_owned(),
        bundle: scratch.path("bundle"),
        scratch: scratch.path("scratch"),
        out: None,
        log: scratch.path("log"),
        note: String::new(),
        limit: asked.limit,
        allowed: Default::default(),
        resumption: None,
        confinement: Some(confinement),
        caches: scratch.path("caches"),
        layer: scratch.path("agent"),
        secrets,
    })
}

fn work(worker: &dyn Worker, job: Job, limit: Duration, stop: &AtomicBool) -> Result<Outcome, Stop> {
    mark_driver();
    adopt_orphans();
    let brief = job.brief.len();
    let attempt = worker.start(job).map_err(|error| match error {
        WorkerError::NotFound(_) => Stop(Reason::CliMissing, error.to_string(), Vec::new()),
        WorkerError::Start { source, .. }
            if source.kind() == std::io::ErrorKind::ArgumentListTooLong || brief > ARGUMENT_BYTES_MAX =>
        {
            Stop::execution("its prompt is too long for an argument; `--prompt-mode stdin` has no limit")
        }
        WorkerError::Command { .. }
        | WorkerError::Start { .. }
        | WorkerError::Record { .. }
        | WorkerError::Unheld(_)
        | WorkerError::Unreadable { .. }
        | WorkerError::Unredacted(_)
        | WorkerError::BundleName(_) => Stop::execution(error),
    })?;
    Ok(workers::outcome(attempt, limit, stop))
}

/// How the worker ended, and what its agent told.
fn ended(outcome: &Outcome) -> Map<String, Value> {
    let exit = match outcome.end {
        End::Exited(code) => Some(code),
        End::Signalled(_) | End::TimedOut | End::Silent | End::Cancelled | End::Unheld => None,
    };
    let mut about = Map::new();
    about.insert("exit_code".into(), exit.into());
    about.insert("timed_out".into(), matches!(outcome.end, End::TimedOut | End::Silent).into());
    about.insert("ended".into(), outcome.end.to_string().into());
    if let Some(told) = outcome.told.as_ref().and_then(|told| serde_json::to_value(told).ok()) {
        about.insert("told".into(), told);
    }
    about
}

/// Reads what the worker said, and judges it by its contract and by what was measured.
fn read(
    asked: &Delegation,
    frame: &mut Frame,
    dossier: &Dossier,
    brief: (&str, Option<Markers>),
    outcome: &Outcome,
    log: &Path,
) -> Result<FinalReport, Stop> {
    match outcome.end {
        End::TimedOut => {
            let own = match asked.worker.as_ref().map(|worker| &worker.program) {
                Ok(Program::Agent(spec)) => spec.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
                Ok(Program::Command(..) | Program::Script(_)) | Err(_) => None,
            };
            let limit = own.map_or(asked.limit, |own| own.min(asked.limit));
            let why = format!("The worker took longer than {} ms and was ended.", limit.as_millis());
            return Err(Stop(Reason::Timeout, why, Vec::new()));
        }
        End::Silent => {
            let why = "The worker printed nothing for longer than its `idle_time` and was ended.".to_owned();
            return Err(Stop(Reason::Timeout, why, Vec::new()));
        }
        End::Cancelled => return Err(Stop::execution("The worker was ended because Tollgate was asked to stop.")),
        End::Unheld => return Err(Stop::execution("The sandbox did not hold, and no worker was started.")),
        End::Exited(_) | End::Signalled(_) => {}
    }
    if let Some(failure) = &outcome.failure {
        return Err(broken(format!("The worker failed: {}", failure.reason), log));
    }
    let (report, claimed) = match own_report(asked, dossier, brief, outcome) {
        Ok(report) => report,
        Err(_) if !outcome.end.success() => {
            return Err(broken(format!("The worker's program {} and left no report that holds.", outcome.end), log));
        }
        Err(stop) => return Err(stop),
    };
    frame.guard.warnings.extend(guard::differences(&claimed, &frame.changed));
    let passes = report.get("status").and_then(Value::as_str) == Some("PASS");
    if passes {
        frame.guard.warnings.extend(guard::gaps(&report, &asked.role, dossier, &frame.changed));
    }
    let violations: Vec<String> = frame.guard.outside.iter().chain(&frame.guard.role).cloned().collect();
    if !violations.is_empty() {
        let summary = "The worker changed what it may not change, whatever its report says.";
        return Ok(frame.refused(report, summary, &violations));
    }
    if passes && !outcome.end.success() {
        let summary = format!("The report passes, and the worker's program {}.", outcome.end);
        return Ok(FinalReport { ending: Ending::Broken, ..frame.refused(report, &summary, &[]) });
    }
    let denied: Vec<String> = outcome.told.iter().flat_map(|told| told.denied.iter().cloned()).collect();
    if passes && asked.role != VERIFIER && !denied.is_empty() && frame.changed.is_empty() {
        let summary = "The report passes, nothing was changed, and the agent was denied what it tried.";
        return Ok(FinalReport { ending: Ending::Broken, ..frame.refused(report, summary, &denied) });
    }
    if !outcome.end.success() {
        frame.guard.warnings.push(format!("the worker's program {}", outcome.end));
    }
    Ok(frame.own(report))
}

/// A worker that came down: without a login where it says so.
fn broken(summary: String, log: &Path) -> Stop {
    let said = format!("{summary}\n{}", scratch::tail(log, EXCERPT_BYTES)).to_lowercase();
    let reason = if LOGIN_WORDS.iter().any(|word| said.contains(word)) { Reason::Auth } else { Reason::Execution };
    Stop(reason, summary, Vec::new())
}
