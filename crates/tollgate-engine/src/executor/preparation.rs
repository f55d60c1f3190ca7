//! Making a place ready before anybody works there: what is copied into it, what is run in it, and what it is given of both.
//!
//! ```text
//! work tree, made for this key before    nothing
//! work tree                              copy, setup; its caches are kept if it holds what the run began with
//! throw-away copy with kept caches       copy, a copy of these caches (see `kept_caches`)
//! throw-away copy                        copy, setup
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_core::digest::Digest;
use tollgate_core::report::Judgement;
use tollgate_core::run::Run;
use tollgate_core::scope::Entry;
use tollgate_store::Object;

use super::command_check::Check;
use super::commands::CommandJob;
use super::confinement::ProgramKind;
use super::workdir::{TreeOrigin, Workdir};
use super::{CancelHandle, Failure, LocalExecutor, NotReady};
use crate::git::ObjectId;
use crate::process::{Inherit, secrets};
use crate::workers::{WorkerError, shell_words};
use crate::workspace::setup::values::values;
use crate::workspace::setup::{Settings, caches, copy};
use crate::workspace::{Repository, WorkLock, Workspace};

/// How long a setup may take.
const LIMIT: Duration = Duration::from_secs(30 * 60);
/// How many paths a reason names, and how much of the last line that a setup printed.
const NAMED_MAX: usize = 5;
const SAID_CHARS_MAX: usize = 200;

/// The working directory that is prepared, and the tree that it holds.
pub(super) struct SetupTarget<'a> {
    pub workdir: &'a Workdir,
    pub start: &'a ObjectId,
    /// The caches that it is given in place of a setup of its own.
    pub caches: Option<&'a Path>,
}

impl SetupTarget<'_> {
    /// Whether nobody has worked there.
    const fn is_fresh(&self) -> bool {
        matches!(self.workdir, Workdir::Copy(_) | Workdir::Tree(_, TreeOrigin::Created))
    }
}

/// What a place was given.
#[derive(Debug, Default)]
pub(super) struct SetupResult {
    /// The values in what was copied: they are not to be printed.
    pub values: Vec<(String, String)>,
    /// The folders that count for nobody.
    pub caches: Vec<String>,
    /// A line for the log, when something was run.
    pub note: String,
}

/// The right to touch the work of the run, and the way to have it again.
pub(super) type Right<'a> = (WorkLock, &'a dyn Fn() -> Result<WorkLock, Failure>);

impl LocalExecutor {
    /// What the run's first event says that a tree needs.
    pub(super) fn settings(&self, run: &Run) -> Result<Settings, Failure> {
        let unreadable = |why| WorkerError::Unreadable { what: "worktree".to_owned(), why };
        Ok(Settings::of(&run.opened.config).map_err(unreadable)?)
    }

    /// What the setup left in its cache, run on the content that the run began with: nobody who works for it wrote any of that.
    pub(super) fn left_by_setup(&self, run: &Run) -> PathBuf {
        self.folder(run.id, "made").join("@cache")
    }

    /// Where the caches are kept that the setup left with these lock files on the content that the run began with; on another tree.
    pub(super) fn kept_at(&self, run: &Run, key: Digest, other: Option<&ObjectId>) -> PathBuf {
        let other = other.map(|tree| format!("-{tree}")).unwrap_or_default();
        self.folder(run.id, "made").join(format!("{key}{other}"))
    }

    /// Makes a place ready. What stands against it is a failure of the environment, and says what to do.
    pub(super) fn prepare(
        &self,
        run: &Run,
        workspace: &Workspace,
        target: &SetupTarget<'_>,
        marker: &str,
        cancel: &CancelHandle,
        right: Right<'_>,
    ) -> Result<(WorkLock, SetupResult), Failure> {
        let (held, made) = self.prepare_by_setup(run, workspace, target, marker, cancel, right)?;
        Ok((held, made.map_err(Failure::NotReady)?))
    }

    /// The same, with what a setup that came to its end did not make ready.
    pub(super) fn prepare_by_setup(
        &self,
        run: &Run,
        workspace: &Workspace,
        target: &SetupTarget<'_>,
        marker: &str,
        cancel: &CancelHandle,
        (held, hold): Right<'_>,
    ) -> Result<(WorkLock, Result<SetupResult, NotReady>), Failure> {
        let settings = self.settings(run)?;
        if settings.is_empty() {
            return Ok((held, Ok(SetupResult::default())));
        }
        let entries = workspace.entries(target.start)?;
        if let Some(path) = settings.tracked_cache(&entries) {
            return Err(not_ready(format!("`{path}` is a file of the tree, and lies in a folder of `caches`")));
        }
        let (files, missing) = self.copied(workspace, &settings)?;
        let apart: Vec<String> =
            files.iter().map(|file| file.display().to_string()).chain(settings.caches.clone()).collect();
        let mut made = SetupResult { caches: settings.caches.clone(), ..SetupResult::default() };
        let places = [workspace.top(), target.workdir.path()];
        let beside = |made: &mut SetupResult| {
            let all: Vec<PathBuf> = places.iter().flat_map(|root| files.iter().map(|file| root.join(file))).collect();
            made.values = values(&all);
        };
        let key = settings.key(&entries);
        workspace.set_apart(&apart)?;
        if let Workdir::Tree(tree, TreeOrigin::Existing) = target.workdir
            && workspace.ready_for(tree) == Some(key)
        {
            beside(&mut made);
            return Ok((held, Ok(made)));
        }
        if !matches!(target.workdir, Workdir::Tree(_, TreeOrigin::Existing)) {
            workspace.set_apart_in(target.workdir.path(), &apart)?;
        }
        if !missing.is_empty() {
            let why = format!("{} is not in {}", missing.join(", "), workspace.top().display());
            return Err(not_ready(format!("`copy` names what is not there: {why}")));
        }
        copy::copy(workspace.top(), target.workdir.path(), &files, &entries).map_err(not_ready)?;
        beside(&mut made);
        let has_caches = !settings.caches.is_empty();
        let mut held = held;
        if let Some(kept) = target.caches {
            caches::put(kept, &settings.caches, target.workdir.path()).map_err(not_ready)?;
        } else if !settings.setup.is_empty() {
            let kept = self.kept_at(run, key, None);
            let prepared = Prepared { settings: &settings, entries: &entries, marker };
            let worked_in = matches!(target.workdir, Workdir::Tree(_, TreeOrigin::Existing | TreeOrigin::Restored));
            let mut failed;
            (held, failed) = self.set_up(run, workspace, target, &prepared, cancel, &mut made, (held, hold))?;
            if failed.is_some() && worked_in && has_caches {
                // It may be what a worker left there that stands in its way.
                caches::put_back(&kept, &settings.caches, target.workdir.path()).map_err(not_ready)?;
                (held, failed) = self.set_up(run, workspace, target, &prepared, cancel, &mut made, (held, hold))?;
            }
            if let Some(failed) = failed {
                return Ok((held, Err(failed)));
            }
            let is_base = target.is_fresh() && target.start == &workspace.base().tree;
            if has_caches && is_base && !kept.is_dir() {
                caches::keep(target.workdir.path(), &settings.caches, &kept).map_err(not_ready)?;
            }
        }
        if let Workdir::Tree(tree, _) = target.workdir {
            workspace.mark_ready(tree, key)?;
        }
        Ok((held, Ok(made)))
    }

    /// The files that are copied, and what is named and is not there.
    fn copied(&self, workspace: &Workspace, settings: &Settings) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
        if settings.copy.is_empty() {
            return Ok(Default::default());
        }
        let found = Repository::find(workspace.top()).and_then(|repository| repository.untracked(&settings.copy))?;
        let odd = found.0.iter().find(|path| path.to_str().is_none_or(|path| path.contains(['\n', '\r'])));
        match odd {
            Some(path) => {
                Err(not_ready(format!("`copy` names a file whose name is no plain text: {}", path.display())))
            }
            None => Ok(found),
        }
    }

    /// Runs the setup, and looks whether it left the files of the tree as they were; why the place is not ready where it did not.
    #[expect(clippy::too_many_arguments, reason = "what one setup needs to know")]
    fn set_up(
        &self,
        run: &Run,
        workspace: &Workspace,
        target: &SetupTarget<'_>,
        prepared: &Prepared<'_>,
        cancel: &CancelHandle,
        made: &mut SetupResult,
        (held, hold): Right<'_>,
    ) -> Result<(WorkLock, Option<NotReady>), Failure> {
        let line = shell_words::join(&prepared.settings.setup);
        let (argv, pinned) = self.pinned(run, &prepared.settings.setup)?;
        let mut confinement = self.confinement(run, ProgramKind::Setup, workspace)?;
        confinement.reads.extend(pinned.iter().map(|copy| copy.root().to_owned()));
        let secrets =
            secrets(&Inherit::Only(confinement.variables.clone()), &made.values).map_err(WorkerError::from)?;
        let name = prepared.marker.replace('/', "-");
        let scratch = self.folder(run.id, "copies").join(format!("setup-{name}.scratch"));
        let found = self.left_by_setup(run);
        let job = CommandJob {
            check: &Check::Argv(argv),
            tree: target.workdir.path(),
            scratch: &scratch,
            found: &found,
            leaves: target.is_fresh() && target.start == &workspace.base().tree,
            confinement: &confinement,
            limit: LIMIT,
            marker: prepared.marker,
            secrets: &secrets,
        };
        let checked = self.run_command(&job, cancel, held)?;
        if cancel.is_cancelled() {
            return Err(Failure::Other("it was cancelled before it began".to_owned()));
        }
        let held = hold()?;
        if checked.result != Judgement::Pass {
            let said = String::from_utf8_lossy(&checked.output).into_owned();
            let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
            let last: String = last.chars().filter(|c| !c.is_control()).take(SAID_CHARS_MAX).collect();
            let said = if last.is_empty() { String::new() } else { format!("; the last it said: {last}") };
            let changed = changed_locks(workspace, prepared)?;
            let why = format!("the setup `{line}` failed: {}{changed}{said}", checked.why);
            let failed = NotReady { why, output: Some(Object::new(checked.output)) };
            // What could not be run says nothing of the files.
            let ran = checked.result == Judgement::Fail;
            return if ran { Ok((held, Some(failed))) } else { Err(Failure::NotReady(failed)) };
        }
        let found = match target.workdir {
            Workdir::Tree(tree, _) => workspace.measure(tree, target.start)?,
            Workdir::Copy(copy) => workspace.measure_copy(copy, target.start)?,
        };
        let changed = found.changes.iter().map(|change| change.path.clone());
        let changed: Vec<_> = changed.chain(found.misplaced()).take(NAMED_MAX).collect();
        if !changed.is_empty() {
            let what = changed.join(", ");
            let advice = "what it makes is to be in .gitignore or in `caches`";
            let why = format!("the setup `{line}` changed files of the tree: {what}; {advice}");
            return Ok((held, Some(NotReady { why, output: Some(Object::new(checked.output)) })));
        }
        made.note = format!("tollgate: `{line}` made the work tree ready\n");
        Ok((held, None))
    }
}

/// What a setup is run for.
struct Prepared<'a> {
    settings: &'a Settings,
    entries: &'a [Entry],
    marker: &'a str,
}

pub(super) fn not_ready(why: impl Into<String>) -> Failure {
    Failure::NotReady(NotReady::because(format!("the work tree could not be made ready: {}", why.into())))
}

/// The lock files that are not as they were when the run started: then it may be the work, and not the machine.
fn changed_locks(workspace: &Workspace, prepared: &Prepared<'_>) -> Result<String, Failure> {
    let base = workspace.entries(&workspace.base().tree)?;
    let changed = prepared.settings.locks_of(prepared.entries).filter(|lock| !base.contains(lock));
    let changed: Vec<&str> = changed.map(|lock| &*lock.path).take(NAMED_MAX).collect();
    Ok(match changed.is_empty() {
        true => String::new(),
        false => format!("; the work of this run changed {}, on which it depends", changed.join(", ")),
    })
}
