//! The executor: starts workers, runs commands, lands changes, publishes and delivers, each effect on its own thread.
#![expect(clippy::disallowed_methods, reason = "this module owns effects: threads, waits and the run's folder")]

mod binary_files;
mod budget;
pub(crate) mod command_check;
mod commands;
pub(crate) mod confinement;
mod conversation;
mod delivery;
mod dispatch;
mod documents;
mod failure;
mod held_tree;
mod kept_caches;
mod landing;
mod patch;
mod preparation;
mod projection;
mod protected_paths;
mod report_markers;
mod scope_policy;
mod secrets_check;
mod side_effects;
mod subject_change;
mod workdir;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tollgate_contract::registry::Contracts;
use tollgate_core::digest::Digest;
use tollgate_core::id::{AttemptId, RunId, UnitId};
use tollgate_core::report::{Health, Report, Verdict};
use tollgate_core::run::decide::{AttemptResult, Landing};
use tollgate_core::run::event::{CommandRef, CommandResult, LandOutcome, Work};
use tollgate_core::run::{Command, Effect, Run, SandboxRecord, effects};
use tollgate_core::scope::{self, Content, Entry};
use tollgate_store::{Journal, Object};

use crate::driver::{EffectReply, EffectResult, Executor, ExecutorError};
use crate::git::ObjectId;
use crate::process::{Cancel, adopt_orphans, end_recorded, mark_driver, record_driver};
use crate::sandbox::SandboxSupport;
use crate::workers::agent::{AgentSpec, AgentWorker};
use crate::workers::command::CommandWorker;
use crate::workers::pinned_files;
use crate::workers::{Worker, adapter_of, shell_words};
use crate::workspace::{WorkLock, WorkLocks, Workspace, WorkspaceError, run_folder, write_whole};

use failure::{Failure, NotReady};

pub use documents::{DocumentErrors, document_warnings, lanes, read_document};
pub use landing::LANDED_PATHS_MAX;

/// How long a worker may take when its role has no budget in minutes.
pub const ATTEMPT_LIMIT: Duration = Duration::from_secs(60 * 60);
/// How often commands are tried when the machine, not the command, is at fault; and how long in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(300);
/// How long ended processes have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);

/// Performs effects on this machine: processes, work trees, git.
pub struct LocalExecutor {
    state: PathBuf,
    journal: Arc<dyn Journal>,
    /// This program: the script worker is one of its commands.
    tollgate: PathBuf,
    /// What the sandbox can do here, once somebody asked.
    support: OnceLock<SandboxSupport>,
    /// What workers are given as their git configuration.
    git_config: OnceLock<String>,
    running: Mutex<BTreeMap<u64, Arc<CancelHandle>>>,
    work: WorkLocks,
}

impl std::fmt::Debug for LocalExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalExecutor").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Cancels an effect that runs on its own thread.
#[derive(Debug, Default)]
struct CancelHandle {
    cancelled: AtomicBool,
    process: Mutex<Option<Cancel>>,
}

impl CancelHandle {
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        if let Some(process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            process.cancel();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Remembers how to cancel what was just started; at once when that came first.
    fn started(&self, process: Option<Cancel>) {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = process;
        if self.cancelled.load(Ordering::SeqCst) {
            self.cancel();
        }
    }
}

/// What came of commands, their outputs, and what held them.
type Ran = (Vec<CommandResult>, Vec<Object>, Option<SandboxRecord>);

/// What a worker needs for as long as it works.
#[derive(Debug)]
struct WorkerFiles {
    /// Files of the run's folder that it reads.
    files: Vec<PathBuf>,
    /// The trusted files that its command names.
    _copy: Option<pinned_files::Copy>,
}

impl WorkerFiles {
    fn of(copy: Option<pinned_files::Copy>) -> Self {
        Self { files: copy.iter().map(|copy| copy.root().to_owned()).collect(), _copy: copy }
    }
}

impl LocalExecutor {
    /// An executor that works under a state directory.
    pub fn new(state: &Path, journal: Arc<dyn Journal>, tollgate: &Path) -> Self {
        let (state, tollgate) = (state.to_owned(), tollgate.to_owned());
        let (support, git_config, running, work) = Default::default();
        Self { state, journal, tollgate, support, git_config, running, work }
    }

    fn workspace(&self, run: &Run) -> Result<Workspace, WorkspaceError> {
        Workspace::of(&self.state, run)
    }

    /// The failure as a person can act on it: a repository that is gone explains whatever git says of it.
    fn explained(&self, run: &Run, failure: Failure) -> Failure {
        let workspace = self.workspace(run).ok();
        match (failure, workspace.as_ref().and_then(Workspace::gone)) {
            (kept @ (Failure::Workspace(WorkspaceError::Locked { .. }) | Failure::Fenced(_)), _) => kept,
            (_, Some(gone)) => WorkspaceError::RepositoryGone(gone.to_owned()).into(),
            (failure, None) => failure,
        }
    }

    /// The right to touch the work of a run, for the driver that holds the run under this epoch: checked once the lock is
    /// had, so that one which was overtaken while it slept or waited touches nothing.
    fn touch(&self, run: &Run, epoch: u64) -> Result<WorkLock, Failure> {
        let held = self.work.lock(&self.state, run.id)?;
        let head = self.journal.head(run.id).map_err(|error| Failure::Other(error.to_string()))?;
        match head.map(|head| head.epoch) {
            Some(now) if now != epoch => Err(Failure::Fenced(now)),
            Some(_) | None => Ok(held),
        }
    }

    fn folder(&self, run: RunId, what: &str) -> PathBuf {
        run_folder(&self.state, run).join(what)
    }

    /// The worker behind a role, by what the run's first event says of it, and what it needs for as long as it works.
    fn worker(&self, run: &Run, spec: &str) -> Result<(Box<dyn Worker>, WorkerFiles), Failure> {
        if let Some(agent) = AgentSpec::parse(spec) {
            let agent = agent?;
            let (argv, copy) = self.pinned(run, &agent.words)?;
            let base = Path::new(&run.opened.repository);
            let worker = AgentWorker::new(agent, argv, base, &self.tollgate, &self.state);
            return Ok((Box::new(worker), WorkerFiles::of(copy)));
        }
        match adapter_of(spec) {
            Some(("command", text)) => {
                let (argv, copy) = self.pinned(run, &shell_words::split(text.trim())?)?;
                let base = Path::new(&run.opened.repository);
                Ok((Box::new(CommandWorker::new(argv, base, &self.state)), WorkerFiles::of(copy)))
            }
            Some(("script", digest)) => {
                let (script, files) = self.script(run, digest)?;
                let needs = WorkerFiles { files, _copy: None };
                Ok((Box::new(CommandWorker::scripted(&self.tollgate, &script, &self.state)), needs))
            }
            _ => Err(Failure::Other(format!("`{spec}` names no worker"))),
        }
    }

    /// The words of a command, with what they name under `.tollgate/` as it was trusted.
    fn pinned(&self, run: &Run, words: &[String]) -> Result<(Vec<OsString>, Option<pinned_files::Copy>), Failure> {
        let object = |digest| self.journal.object(digest).ok().flatten().map(|bytes| bytes.to_vec());
        Ok(pinned_files::resolve(run, words, &self.folder(run.id, "copies"), &object)?)
    }

    /// The contracts that the run is pinned to.
    fn contracts(&self, run: &Run) -> Result<Arc<Contracts>, Failure> {
        let contracts = crate::session::pinned_protocol::contracts_of(&run.opened, &mut |digest| {
            Ok(self.journal.object(digest)?)
        });
        contracts.map_err(|error| Failure::Other(error.to_string()))
    }

    /// The script the run is pinned to, as a file, with the contracts that it may have to write in; and all of them.
    fn script(&self, run: &Run, digest: &str) -> Result<(PathBuf, Vec<PathBuf>), Failure> {
        let digest: Digest = digest.parse().map_err(|_| Failure::Other(format!("`{digest}` names no script")))?;
        let path = self.folder(run.id, &format!("script-{}.yaml", digest.short()));
        let object = self.journal.object(digest).map_err(|error| Failure::Other(error.to_string()))?;
        let bytes = object.ok_or_else(|| Failure::Other(format!("the script {digest} is missing")))?;
        let mut files = vec![path.clone()];
        for (name, digest, _) in self.contracts(run)?.own() {
            let object = self.journal.object(digest).map_err(|error| Failure::Other(error.to_string()))?;
            let text = object.ok_or_else(|| Failure::Other(format!("the contract {digest} is missing")))?;
            let contract = path.with_file_name(format!("{name}.contract.yaml"));
            put_pinned(&contract, &text)?;
            files.push(contract);
        }
        put_pinned(&path, &bytes)?;
        Ok((path, files))
    }

    /// Runs the commands of a lease; what fails for a reason of the machine's own is tried again before it counts as not
    /// observed.
    fn commands_again(
        &self,
        run: &Run,
        id: AttemptId,
        token: u64,
        cancel: &CancelHandle,
    ) -> Result<Result<Ran, NotReady>, ExecutorError> {
        let mut last = String::new();
        for _ in 0..TRIES {
            match self.commands(run, id, token, cancel).map_err(|failure| self.explained(run, failure)) {
                Ok(done) => return Ok(Ok(done)),
                Err(Failure::NotReady(why)) => return Ok(Err(why)),
                Err(failure) => last = failure.of_the_attempt()?.to_string(),
            }
            std::thread::sleep(PAUSE);
        }
        let Some(Work::Commands { commands }) = run.attempts.get(&id).map(|lease| &lease.work) else {
            return Ok(Ok((Vec::new(), Vec::new(), None)));
        };
        let unobserved = |command: &CommandRef| CommandResult::unobserved(command.clone(), last.clone());
        Ok(Ok((commands.iter().map(unobserved).collect(), Vec::new(), None)))
    }

    fn perform(
        &self,
        run: &Run,
        effect: &Effect,
        cancel: &CancelHandle,
    ) -> Result<(Command, Vec<Object>), ExecutorError> {
        Ok(match effect {
            Effect::Dispatch { attempt, token } => {
                let dispatched = self.dispatch(run, *attempt, *token, cancel);
                let (result, objects) = match dispatched.map_err(|failure| self.explained(run, failure)) {
                    Ok(done) => done,
                    Err(Failure::NotReady(why)) => return Ok(why.into_command(*attempt, *token)),
                    Err(failure) => {
                        let failure = failure.of_the_attempt()?.to_string();
                        let object = Object::new(failure.clone().into_bytes());
                        (bare(failed("engine", failure), &object), vec![object])
                    }
                };
                (Command::Report { attempt: *attempt, token: *token, result: Box::new(result) }, objects)
            }
            Effect::Commands { attempt, token } => {
                let (results, objects, leash) = match self.commands_again(run, *attempt, *token, cancel)? {
                    Ok(ran) => ran,
                    Err(why) => return Ok(why.into_command(*attempt, *token)),
                };
                (Command::Ran { attempt: *attempt, token: *token, results, leash }, objects)
            }
            Effect::Land { attempt, token } => {
                let landing = match self.land(run, *attempt).map_err(|failure| self.explained(run, failure)) {
                    Ok(landing) => landing,
                    Err(gone @ Failure::Workspace(WorkspaceError::RepositoryGone(_))) => return Err(gone.into_error()),
                    Err(failure) => refused(failure.to_string()),
                };
                (Command::Landed { attempt: *attempt, token: *token, landing: Box::new(landing) }, Vec::new())
            }
            Effect::Publish => {
                // A branch that somebody else moved is theirs: the run stays closed, and its tree is kept.
                let (branch, commit) =
                    self.publish(run).map_err(|failure| self.explained(run, failure).into_error())?;
                (Command::Published { branch, commit }, Vec::new())
            }
            Effect::CheckLanding { token } => {
                let checked = self.check_delivery(run, *token, cancel);
                let (results, objects, leash) = checked.map_err(|failure| self.explained(run, failure).into_error())?;
                (Command::LandChecked { token: *token, results, leash }, objects)
            }
            Effect::PutLanding { token } => self.put_delivery(run, *token)?,
        })
    }
}

/// Puts bytes into a file of the run's folder, unless it holds just these: a worker can write there.
fn put_pinned(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == bytes.len() as u64);
    if is_file && std::fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    write_whole(path, bytes)
}

/// The report of a dispatch that could not be performed.
fn failed(code: &str, reason: String) -> Report {
    Report { code: Some(code.into()), reason, ..Report::new(Health::Failed, Verdict::None) }
}

/// A result with nothing in it but a report.
fn bare(report: Report, object: &Object) -> AttemptResult {
    AttemptResult {
        report,
        object: object.digest(),
        sections: Vec::new(),
        diagnostics: Vec::new(),
        content: None,
        changed: Vec::new(),
        artifacts: BTreeMap::new(),
        noticed: Vec::new(),
        told: None,
        leash: None,
    }
}

fn refused(why: String) -> Landing {
    Landing {
        by_policy: Vec::new(),
        outcome: LandOutcome::Refused,
        content: None,
        collided: None,
        measured: Vec::new(),
        paths: Vec::new(),
        why,
    }
}

/// The result of an effect whose thread panicked: it failed, and the protocol decides what follows.
fn after_panic(effect: &Effect) -> Result<(Command, Vec<Object>), ExecutorError> {
    let why = "internal error while performing this step".to_owned();
    Ok(match effect {
        Effect::Dispatch { attempt, token } => {
            let object = Object::new(why.clone().into_bytes());
            let result = Box::new(bare(failed("engine", why), &object));
            (Command::Report { attempt: *attempt, token: *token, result }, vec![object])
        }
        Effect::Commands { attempt, token } => {
            (Command::Ran { attempt: *attempt, token: *token, results: Vec::new(), leash: None }, Vec::new())
        }
        Effect::Land { attempt, token } => {
            (Command::Landed { attempt: *attempt, token: *token, landing: Box::new(refused(why)) }, Vec::new())
        }
        Effect::Publish | Effect::CheckLanding { .. } | Effect::PutLanding { .. } => {
            return Err(Failure::Other(why).into_error());
        }
    })
}

fn send(done: &EffectReply, token: u64, performed: Result<(Command, Vec<Object>), ExecutorError>) {
    match performed {
        Ok((command, objects)) => done.send(EffectResult { token, command, objects }),
        Err(error) => done.fail(error),
    }
}

/// The content of a tree, by the areas and scopes in force.
pub fn content_of(workspace: &Workspace, run: &Run, tree: &ObjectId) -> Result<Content, WorkspaceError> {
    Ok(content_in(run, tree, &workspace.entries(tree)?))
}

/// The same of a tree whose entries are known.
pub fn content_in(run: &Run, tree: &ObjectId, entries: &[Entry]) -> Content {
    scope::content(tree.name(), entries, &run.parts())
}

/// Whether no unit has a tree with work that is not in the run's.
fn all_landed(run: &Run) -> bool {
    run.ledger.units.iter().filter_map(|unit| unit.tree.as_ref()).all(|own| own.landed)
}

fn tree_id(name: &str) -> Result<ObjectId, Failure> {
    ObjectId::parse(name).ok_or_else(|| Failure::Other(format!("`{name}` is not a tree")))
}

/// The unit whose own tree an attempt works in; none: the run's tree.
pub fn own_unit(run: &Run, attempt: AttemptId) -> Option<UnitId> {
    let lease = run.attempts.get(&attempt)?;
    let unit = run.instances.get(&lease.instance)?.unit.clone()?;
    run.unit(&unit)?.tree.as_ref().is_some_and(|own| !own.landed).then_some(unit)
}

impl Executor for std::sync::Arc<LocalExecutor> {
    fn recover(&self, run: &Run, epoch: u64) -> Result<(), ExecutorError> {
        let fail = |error: std::io::Error| Failure::Other(format!("this driver cannot be recorded: {error}"));
        record_driver(&self.state).map_err(|error| fail(error).into_error())?;
        mark_driver();
        adopt_orphans();
        // One that slept since it took the run must not end the workers of whoever took it then.
        let held = self.touch(run, epoch).map_err(Failure::into_error)?;
        end_recorded(&self.state, &run.id.to_string(), GRACE);
        let prepared = self.workspace(run).and_then(|workspace| {
            workspace.sweep()?;
            // Said before an attempt is lost to it.
            if let Some(gone) = workspace.gone().filter(|_| !run.is_closed()) {
                return Err(WorkspaceError::RepositoryGone(gone.to_owned()));
            }
            let over = run.is_closed() && effects(run).is_empty();
            let is_kept = run.published.is_some() || run.succeeded() && !run.has_changed();
            if over { workspace.release(is_kept && all_landed(run)) } else { Ok(()) }
        });
        drop(held);
        prepared.map_err(|error| self.explained(run, error.into()).into_error())
    }

    fn start(&self, run: &Run, effect: &Effect, token: u64, done: EffectReply) {
        let cancel = Arc::new(CancelHandle::default());
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(token, Arc::clone(&cancel));
        let (executor, run, effect) = (Arc::clone(self), run.clone(), effect.clone());
        let fallback = (done.clone(), effect.clone());
        let work = move || {
            let performed = catch_unwind(AssertUnwindSafe(|| executor.perform(&run, &effect, &cancel)));
            let performed = performed.unwrap_or_else(|_| after_panic(&effect));
            executor.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&token);
            send(&done, token, performed);
        };
        if std::thread::Builder::new().name(format!("effect-{token}")).spawn(work).is_err() {
            let (done, effect) = fallback;
            send(&done, token, after_panic(&effect));
        }
    }

    fn project(&self, run: &Run) {
        projection::write(&self.folder(run.id, "files"), run, &*self.journal, || self.contracts(run).ok());
    }

    fn cancel(&self, token: u64) {
        if let Some(cancel) = self.running.lock().unwrap_or_else(PoisonError::into_inner).get(&token) {
            cancel.cancel();
        }
    }
}

impl LocalExecutor {
    /// Waits until every cancelled effect has ended, so that no worker outlives the driver.
    pub fn wait_until_quiet(&self, limit: Duration) {
        let deadline = std::time::Instant::now() + limit;
        while std::time::Instant::now() < deadline {
            if self.running.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    #[test]
    fn a_pinned_file_may_be_put_there_by_many_at_once() {
        let path = folder("pinned-by-many").join("script.yaml");
        for round in 0..20 {
            let bytes = format!("round {round}").into_bytes();
            std::thread::scope(|scope| {
                let put = || scope.spawn(|| put_pinned(&path, &bytes).unwrap());
                let all: Vec<_> = (0..8).map(|_| put()).collect();
                all.into_iter().for_each(|one| one.join().unwrap());
            });
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn a_pinned_file_is_what_the_journal_holds_whatever_lay_there() {
        let root = folder("pinned");
        let path = root.join("deep/script.yaml");
        put_pinned(&path, b"pinned").unwrap();
        for forged in ["forged", "longer than that", ""] {
            std::fs::write(&path, forged).unwrap();
            put_pinned(&path, b"pinned").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"pinned");
        }
        std::fs::write(root.join("elsewhere"), "pinned").unwrap();
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(root.join("elsewhere"), &path).unwrap();
        put_pinned(&path, b"pinned").unwrap();
        assert!(path.symlink_metadata().unwrap().is_file(), "a link would let it change later");
    }
}
