//! Commands that the engine runs itself, confined and recorded: they may run what a worker wrote.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tollgate_core::Name;
use tollgate_core::id::AttemptId;
use tollgate_core::redact::Secrets;
use tollgate_core::report::Judgement;
use tollgate_core::run::Run;
use tollgate_core::run::event::{CommandRef, CommandResult, Work};
use tollgate_core::run::repetition::Once;
use tollgate_store::{Object, Point, reach};

use super::command_check::{self, Check, Checked, CommandSandbox};
use super::confinement::ProgramKind;
use super::held_tree::{self, HeldTree};
use super::kept_caches::{CopyCaches, CopyUse};
use super::preparation::{SetupTarget, not_ready};
use super::workdir::Workdir;
use super::{CancelHandle, Failure, LocalExecutor, Ran, tree_id};
use crate::git::ObjectId;
use crate::process::{Inherit, Program, Recorded, secrets};
use crate::sandbox::{AgentHome, Confinement, OwnFolders};
use crate::workers::{WorkerError, environment, marker};
use crate::workspace::setup::caches;
use crate::workspace::{WorkLock, Workspace, remove_tree};

/// A command to run, where, and what confines it.
pub(super) struct CommandJob<'a> {
    pub check: &'a Check,
    pub tree: &'a Path,
    /// A folder of its own, gone when it has ended.
    pub scratch: &'a Path,
    /// What it finds in its cache, which is its own and gone with the scratch.
    pub found: &'a Path,
    /// Whether what it leaves in its cache is what others find in theirs.
    pub leaves: bool,
    pub confinement: &'a Confinement,
    pub limit: Duration,
    pub marker: &'a str,
    pub secrets: &'a Arc<Secrets>,
}

/// Where commands are run: copies of one tree, each made while the work of the run is held.
struct Copies<'a> {
    run: &'a Run,
    workspace: &'a Workspace,
    tree: &'a ObjectId,
    /// What each is given in place of a setup of its own.
    caches: Option<&'a Path>,
    /// What each finds in its cache.
    found: &'a Path,
    marker: &'a str,
    hold: &'a dyn Fn() -> Result<WorkLock, Failure>,
    cancel: &'a CancelHandle,
}

/// What a command may do to the tree in its copy.
#[derive(Clone, Copy)]
enum Access<'t> {
    Open,
    /// It writes nothing of what is held.
    Held(&'t HeldTree),
    /// It may write, and what it writes of this is known.
    Watched(&'t HeldTree),
}

/// What came of running a command once, with its output.
fn recorded(command: &CommandRef, checked: Checked, objects: &mut Vec<Object>) -> CommandResult {
    let output = Object::new(checked.output);
    let result = CommandResult {
        command: command.clone(),
        result: checked.result,
        output: Some(output.digest()),
        note: checked.why,
        runs: vec![Once { result: checked.result, exit: checked.exit, output: Some(output.digest()) }],
        changes: Vec::new(),
        setup: Vec::new(),
    };
    objects.push(output);
    result
}

impl LocalExecutor {
    /// Runs the commands of a lease on one throw-away copy each.
    pub(super) fn commands(&self, run: &Run, id: AttemptId, token: u64, cancel: &CancelHandle) -> Result<Ran, Failure> {
        let lease = run.attempts.get(&id).ok_or_else(|| Failure::Other("the lease is gone".to_owned()))?;
        let Work::Commands { commands } = &lease.work else { return Ok(Default::default()) };
        let marker = marker(run.id, id, token);
        let (base, tree) = (tree_id(&run.opened.content.tree)?, tree_id(&lease.tree)?);
        self.check_each(run, commands, (&base, &tree), &marker, &|| self.touch(run, lease.epoch), cancel)
    }

    /// Runs commands as often as they are to be run, each time on a throw-away copy of a tree that is made while the work of the run is held.
    /// The setup that prepares it is that of the first tree.
    pub(super) fn check_each(
        &self,
        run: &Run,
        commands: &[CommandRef],
        (base, tree): (&ObjectId, &ObjectId),
        marker: &str,
        hold: &dyn Fn() -> Result<WorkLock, Failure>,
        cancel: &CancelHandle,
    ) -> Result<Ran, Failure> {
        let workspace = self.workspace(run)?;
        let confinement = self.confinement(run, ProgramKind::Command, &workspace)?;
        let settings = self.settings(run)?;
        let (mut results, mut objects, mut leash) = (Vec::new(), Vec::new(), confinement.leash.clone());
        let copies = CopyUse { run, workspace: &workspace, marker, cancel };
        let (held, caches) = self.caches_for(&copies, base, tree, (hold()?, hold))?;
        drop(held);
        let caches = match caches {
            CopyCaches::None => None,
            CopyCaches::Kept(kept) => Some(kept),
            CopyCaches::Changed(changed) => {
                objects.extend(changed.output());
                let result = |command: &CommandRef| changed.result(command);
                return Ok((commands.iter().map(result).collect(), objects, None));
            }
        };
        let (found, caches) = (self.left_by_setup(run), caches.as_deref());
        let copies = Copies { run, workspace: &workspace, tree, caches, found: &found, marker, hold, cancel };
        let each = commands.iter().flat_map(|command| (0..run.repeats(command)).map(move |_| command));
        for command in each {
            if cancel.cancelled.load(Ordering::SeqCst) {
                break;
            }
            // What could not be run once cannot be run at all; one that failed may still pass, and that is to be known.
            let unobserved = |last: &CommandResult| last.result == Judgement::Unobservable;
            if results.last().is_some_and(|last: &CommandResult| last.command == *command && unobserved(last)) {
                continue;
            }
            let (check, pinned) = match command {
                CommandRef::Criterion(_) => (run.command_text(command).map(Check::Shell), None),
                CommandRef::Named(name) => match run.opened.commands.get(name) {
                    Some(words) => {
                        let (argv, copy) = self.pinned(run, words)?;
                        (Some(Check::Argv(argv)), copy)
                    }
                    None => (None, None),
                },
            };
            let Some(check) = check else {
                results.push(CommandResult::unobserved(command.clone(), "no such command is configured"));
                continue;
            };
            let mut confinement = confinement.clone();
            confinement.reads.extend(pinned.iter().map(|copy| copy.root().to_owned()));
            let tree =
                confinement.mounts.then(|| HeldTree::of(run, &settings, &workspace, tree, &check)).transpose()?;
            leash.tree = tree.as_ref().map(|tree| tree.extent).unwrap_or_default();
            let access = tree.as_ref().map_or(Access::Open, Access::Held);
            let (checked, _) = self.check_in_copy(&copies, &check, &confinement, access)?;
            let result = recorded(command, checked, &mut objects);
            let again = match &tree {
                Some(tree) if result.result == Judgement::Fail && !cancel.cancelled.load(Ordering::SeqCst) => {
                    let (checked, written) =
                        self.check_in_copy(&copies, &check, &confinement, Access::Watched(tree))?;
                    (checked.result == Judgement::Pass).then_some((checked, written))
                }
                Some(_) | None => None,
            };
            match again {
                Some((_, changes)) if !changes.is_empty() => {
                    let note = held_tree::note(&changes);
                    let result = CommandResult { result: Judgement::Unobservable, note, changes, ..result };
                    results.push(result);
                }
                // It passes and fails on the same content.
                Some((passed, _)) => results.extend([result, recorded(command, passed, &mut objects)]),
                None => results.push(result),
            }
        }
        Ok((CommandResult::joined(results), objects, Some(leash)))
    }

    /// Runs a command in a copy of its own; with what it wrote of what is watched there.
    fn check_in_copy(
        &self,
        copies: &Copies<'_>,
        check: &Check,
        confinement: &Confinement,
        access: Access<'_>,
    ) -> Result<(Checked, Vec<Name>), Failure> {
        let Copies { run, workspace, tree: content, caches, found, marker, hold, cancel } = *copies;
        // A command may write where it runs: the next one sees the tree as it was.
        let held = hold()?;
        let needs = !self.settings(run)?.is_empty();
        let copy = if needs { workspace.copy_to_measure(content)? } else { workspace.copy(content)? };
        let workdir = Workdir::Copy(copy);
        let target = SetupTarget { workdir: &workdir, start: content, caches };
        let (held, made) = self.prepare(run, workspace, &target, marker, cancel, (held, hold))?;
        let secrets =
            secrets(&Inherit::Only(confinement.variables.clone()), &made.values).map_err(WorkerError::from)?;
        let limit = Duration::from_millis(command_check::LIMIT_MS);
        let scratch = workdir.path().with_extension("scratch");
        let (write_subset, watched) = match access {
            Access::Open => (None, None),
            Access::Held(tree) => (Some(tree.write_subset(workdir.path())), None),
            Access::Watched(tree) => (None, Some((tree, tree.stamps(workdir.path())))),
        };
        let confinement = Confinement { write_subset, ..confinement.clone() };
        let job = CommandJob {
            check,
            tree: workdir.path(),
            scratch: &scratch,
            found,
            leaves: false,
            confinement: &confinement,
            limit,
            marker,
            secrets: &secrets,
        };
        let checked = self.run_command(&job, cancel, held)?;
        let written = watched.map(|(tree, before)| tree.written(workdir.path(), &before));
        Ok((checked, written.unwrap_or_default()))
    }

    /// Runs it to its end; the work of the run is let go of once it has started.
    pub(super) fn run_command(
        &self,
        job: &CommandJob<'_>,
        cancel: &CancelHandle,
        held: WorkLock,
    ) -> Result<Checked, Failure> {
        let CommandJob { check, tree, scratch, found, leaves, confinement, limit, marker, secrets } = *job;
        // Recorded until it has ended.
        let (mut record, mut held) = (None, Some(held));
        let caches = caches::beside(scratch);
        caches::begin(found, &caches).map_err(not_ready)?;
        let own = OwnFolders { tree, scratch, caches: &caches, bundle: None, home: AgentHome::default() };
        let leashed = |mut program: Program| {
            let seen = environment::common().chain(confinement.variables.iter().cloned());
            program.env.inherit = Inherit::Only(seen.collect());
            // Git's folder is held: what git only does by the way, such as to refresh its index, is left out.
            program.env.set.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
            confinement.hold(program, own)
        };
        let path =
            confinement.search_path().map_err(|error| Failure::Other(format!("the folders of programs: {error}")))?;
        let seen = [tree, scratch, &caches];
        let covered = |held: &Path, program: &Path| confinement.covered(held, &[], &seen, program);
        let sandbox = CommandSandbox { hold: &leashed, path: &path, covered: &covered, unseen: &confinement.unseen };
        let checked = command_check::check(tree, check, limit, marker, sandbox, secrets, &mut |running| {
            reach(Point::CommandSpawned);
            record = Some(Recorded::new(&self.state, running.id(), marker));
            if let Some(Err(_)) = record {
                // Nobody could end it after a crash, or tell that it is no person who calls from below it.
                running.canceller().cancel();
            }
            cancel.started(Some(running.canceller()));
            held = None;
        });
        let record = record.transpose().map_err(|source| WorkerError::Record { path: self.state.clone(), source })?;
        drop((record, held));
        if leaves && checked.result == Judgement::Pass {
            caches::leave(&caches, found);
        }
        remove_tree(&caches)?;
        remove_tree(scratch)?;
        Ok(checked)
    }
}
