//! The caches that commands and judges get: filled by the setup on what the run began with and the lock files of what is judged.
//!
//! ```text
//! it names no file that the work changed, and comes to a good end       these caches
//! else, and a person allows the work's own setup                        those of the setup on the work
//! else                                                                  a command is unobservable: its set-up was changed by the work
//! ```

use std::path::PathBuf;

use tollgate_core::Name;
use tollgate_core::run::Run;
use tollgate_core::run::event::{CommandRef, CommandResult};
use tollgate_store::Object;

use super::failure::NotReady;
use super::preparation::{Right, SetupTarget, not_ready};
use super::workdir::Workdir;
use super::{CancelHandle, Failure, LocalExecutor};
use crate::git::ObjectId;
use crate::workspace::setup::{Settings, caches};
use crate::workspace::{WorkLock, Workspace};

/// How many paths a note names.
const NAMED_MAX: usize = 3;

/// Whose copies are prepared.
pub(super) struct CopyUse<'a> {
    pub run: &'a Run,
    pub workspace: &'a Workspace,
    pub marker: &'a str,
    pub cancel: &'a CancelHandle,
}

/// What copies of a tree are given in place of a setup of their own.
pub(super) enum CopyCaches {
    /// Nothing: no caches are named, and the setup is run in each copy.
    None,
    Kept(PathBuf),
    /// The work changed the setup, and nobody allowed that.
    Changed(ChangedSetup),
}

/// How the work changed its setup.
pub(super) struct ChangedSetup {
    /// The files of the work by which it did.
    pub paths: Vec<Name>,
    /// Why the setup does not do without them; none: it names them.
    failed: Option<NotReady>,
}

impl ChangedSetup {
    /// Why what it prepares cannot be observed.
    pub fn note(&self) -> String {
        let named: Vec<String> = self.paths.iter().take(NAMED_MAX).map(|path| format!("`{path}`")).collect();
        let more = self.paths.len().saturating_sub(NAMED_MAX);
        let and = if more == 0 { String::new() } else { format!(" and {more} more") };
        let why = self.failed.as_ref().map(|failed| format!("; without its other files {}", failed.why));
        format!("its set-up was changed by the work: {}{and}{}", named.join(", "), why.unwrap_or_default())
    }

    /// What comes of a command that it would prepare.
    pub fn result(&self, command: &CommandRef) -> CommandResult {
        let output = self.output().map(|output| output.digest());
        let unobserved = CommandResult::unobserved(command.clone(), self.note());
        CommandResult { output, setup: self.paths.clone(), ..unobserved }
    }

    /// What the setup printed.
    pub fn output(&self) -> Option<Object> {
        self.failed.as_ref()?.output.clone()
    }
}

impl LocalExecutor {
    /// The caches for copies of a tree that was made from `base`. They are filled before a copy is made: what a tool compares by times,
    /// as `make` does, is older there than the files.
    pub(super) fn caches_for(
        &self,
        copies: &CopyUse<'_>,
        base: &ObjectId,
        tree: &ObjectId,
        (held, hold): Right<'_>,
    ) -> Result<(WorkLock, CopyCaches), Failure> {
        let settings = self.settings(copies.run)?;
        if settings.setup.is_empty() || settings.caches.is_empty() {
            return Ok((held, CopyCaches::None));
        }
        let locked = copies.workspace.locked_base(&settings, base, tree)?;
        let mut held = held;
        let changed = if locked.named.is_empty() {
            let (right, filled) = self.filled(copies, &settings, &locked.tree, (held, hold))?;
            held = right;
            match filled {
                Ok(kept) => return Ok((held, CopyCaches::Kept(kept))),
                // The work has no part in that.
                Err(failed) if locked.locks.is_empty() => return Err(Failure::NotReady(failed)),
                Err(failed) => ChangedSetup { paths: locked.locks, failed: Some(failed) },
            }
        } else {
            ChangedSetup { paths: locked.named, failed: None }
        };
        if !copies.run.allows_own_setup() {
            return Ok((held, CopyCaches::Changed(changed)));
        }
        let (held, filled) = self.filled(copies, &settings, tree, (held, hold))?;
        Ok((held, CopyCaches::Kept(filled.map_err(Failure::NotReady)?)))
    }

    /// The caches for a judge, and a line for its log where the work changed its setup and nobody allowed that: it has those of `base`.
    pub(super) fn caches_for_judge(
        &self,
        copies: &CopyUse<'_>,
        tree: &ObjectId,
        (held, hold): Right<'_>,
    ) -> Result<(WorkLock, Option<PathBuf>, String), Failure> {
        let base = &copies.workspace.base().tree;
        let (held, caches) = self.caches_for(copies, base, tree, (held, hold))?;
        match caches {
            CopyCaches::None => Ok((held, None, String::new())),
            CopyCaches::Kept(kept) => Ok((held, Some(kept), String::new())),
            CopyCaches::Changed(changed) => {
                let settings = self.settings(copies.run)?;
                let (held, filled) = self.filled(copies, &settings, base, (held, hold))?;
                let kept = filled.map_err(Failure::NotReady)?;
                let note = format!("tollgate: {}; the caches are those that the run began with\n", changed.note());
                Ok((held, Some(kept), note))
            }
        }
    }

    /// The caches that the setup leaves in a copy of a tree, unless they are kept already; why it leaves none.
    fn filled(
        &self,
        copies: &CopyUse<'_>,
        settings: &Settings,
        tree: &ObjectId,
        (held, hold): Right<'_>,
    ) -> Result<(WorkLock, Result<PathBuf, NotReady>), Failure> {
        let CopyUse { run, workspace, marker, cancel } = *copies;
        let key = settings.key(&workspace.entries(tree)?);
        let kept = self.kept_at(run, key, Some(tree).filter(|tree| **tree != workspace.base().tree));
        if kept.is_dir() {
            return Ok((held, Ok(kept)));
        }
        let workdir = Workdir::Copy(workspace.copy_to_measure(tree)?);
        let target = SetupTarget { workdir: &workdir, start: tree, caches: None };
        let (held, made) = self.prepare_by_setup(run, workspace, &target, marker, cancel, (held, hold))?;
        if let Err(failed) = made {
            return Ok((held, Err(failed)));
        }
        caches::keep(workdir.path(), &settings.caches, &kept).map_err(not_ready)?;
        Ok((held, Ok(kept)))
    }
}
