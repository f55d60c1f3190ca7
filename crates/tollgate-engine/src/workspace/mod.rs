//! Where the work lies: the user's repository, the run's private git folder, the work trees, and what changed in them.
//!
//! ```text
//! STATE/runs/RUN/git        private, bare: the engine's objects, index files and refs of this run
//! STATE/runs/RUN/written/…  what each work tree was made of, before it was converted and after
//! STATE/runs/RUN/copies/…   throw-away copies for those who judge and for commands that check
//! STATE/runs/RUN/lock       held by the one process that touches any of these
//! STATE/trees/RUN/UNIT      work trees (`@run` is the run's own), each with a git folder of its own
//! STATE/quarantine/…        what `gc` set aside because it is nowhere else
//! STATE/scratch/start-RUN   while a run is being started; one that nobody holds is cleaned up with all that was made
//! user's repository         refs/tollgate/RUN/base while it is needed, and in the end the branch tollgate/RUN; nothing else
//! ```

#![expect(clippy::disallowed_methods, reason = "this module owns work trees and their git folders")]

mod checkout_update;
mod cleanup;
mod comparison;
mod conversions;
mod delivery;
mod delivery_checks;
mod differences;
mod divergence;
mod error;
mod files;
mod git_folder;
mod git_settings;
mod git_state;
mod incremental_measurement;
mod landing;
mod locks;
mod measurement;
mod partial_clone;
mod recent;
mod refs;
mod repository;
mod repository_paths;
mod set_id;
pub mod setup;
mod setup_state;
mod snapshot;
mod special_files;
mod stat_cache;
mod submodules;
mod tree_custody;
mod trees;
mod unfinished_starts;
mod worker_config;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollgate_core::id::RunId;
use tollgate_core::run::Run;
use tollgate_core::run::data::CheckoutRules;

pub use crate::git::{GitError, ObjectId};
use crate::sandbox::ReservedPaths;
pub(crate) use cleanup::{git_folders, holds_commit, is_demonstration};
pub use comparison::{Between, Comparison, Patch, Side, Texts};
pub use delivery::{DeliveryMerge, PATCH_BYTES_MAX};
pub use error::WorkspaceError;
pub(crate) use files::write_whole;
pub use files::{remove_tree, safe_name};
pub(crate) use git_settings::Naming;
pub use git_state::GitState;
pub use landing::MergeOutcome;
#[cfg(debug_assertions)]
pub use locks::hold_for;
pub use locks::{Claim, WorkLock, WorkLocks};
pub(crate) use measurement::SUBMODULE;
pub use measurement::{Change, ChangeKind, Measured};
pub use repository::Repository;
pub use set_id::{clear_set_id, is_set_id};
pub use snapshot::Snapshot;
pub use tree_custody::{Custody, ReturnedTree, TreeRecord};
pub use trees::{KeptTree, PreviousContent, TempCopy, WorkTree};
pub use unfinished_starts::{claim_start, left_over, start_of, sweep_starts, undo_start};

use crate::git::Git;
use crate::process::MARKER;
use git_folder::{GitFolder, Kind};
use refs::branch_ref;
use repository::Shared;
use setup::Settings;

/// Turns an error of the file system into ours.
fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, WorkspaceError> {
    result.map_err(|source| WorkspaceError::Io { path: path.to_owned(), source })
}

/// What a run starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit; for a checkout with changes one that holds them.
    pub commit: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
}

/// Where a run comes from, as its journal has it.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The top of the user's checkout.
    pub repository: &'a str,
    /// The commit it starts from.
    pub commit: &'a str,
    /// Its tree.
    pub tree: &'a str,
    /// How its files are converted; none: not at all.
    pub checkout: Option<&'a CheckoutRules>,
}

/// Who a commit is by, and when.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// Seconds since 1970.
    pub at_s: u64,
}

/// What to do with changes that are not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirty {
    /// Refuse to start.
    Refuse,
    /// Start from a snapshot that holds them.
    Include,
}

/// The work of one run.
#[derive(Debug)]
pub struct Workspace {
    run: RunId,
    state: PathBuf,
    top: PathBuf,
    shared: Shared,
    folder: GitFolder,
    git: Git,
    base: Base,
    /// How files are written and taken in; none: byte for byte.
    checkout: Option<CheckoutRules>,
    /// Folders of work trees that are kept when a tree is put back.
    caches: Vec<String>,
}

/// What is written down beside the private git folder, so that a later driver can go on.
#[derive(Serialize, Deserialize)]
struct Remembered {
    top: PathBuf,
    shared: Shared,
    commit: String,
    tree: String,
    /// For a start that is made again; after that the journal says it.
    #[serde(default)]
    checkout: Option<CheckoutRules>,
}

impl Workspace {
    /// Makes the work of a new run and pins its base. Doing it again answers the same.
    pub fn create(
        state: &Path,
        run: RunId,
        repository: Repository,
        dirty: Dirty,
        by: &Signature,
    ) -> Result<Self, WorkspaceError> {
        if let Some(made) = Self::remembered(state, run)? {
            let workspace = Self::reopen(state, run, made)?;
            workspace.pin()?;
            return Ok(workspace);
        }
        if dirty == Dirty::Refuse && !repository.dirty.is_empty() {
            let nested = !repository.nested.is_empty();
            return Err(WorkspaceError::Dirty { top: repository.top, paths: repository.dirty, nested });
        }
        repository.need_whole()?;
        let shared = &repository.shared;
        // Looked at before the work, not after it.
        repository.has_room(&branch_ref(run))?;
        let checkout = Some(repository.checkout_rules()?);
        let folder =
            GitFolder::create(&git_path(state, run), &repository.head, &[&shared.objects], shared, Kind::Private)?;
        let git = engine_git(folder.path(), run)?;
        let base = repository.snapshot(&git, &folder, by)?;
        let made = Remembered {
            top: repository.top.clone(),
            shared: shared.clone(),
            commit: base.commit.to_string(),
            tree: base.tree.to_string(),
            checkout: checkout.clone(),
        };
        let text =
            serde_json::to_string(&made).map_err(|error| WorkspaceError::Lost { run, why: error.to_string() })?;
        files::write_whole(&remembered_path(state, run), text.as_bytes())?;
        let Repository { top, shared, .. } = repository;
        let (state, caches) = (state.to_owned(), Vec::new());
        let workspace = Self { run, state, top, shared, folder, git, base, checkout, caches };
        workspace.pin()?;
        Ok(workspace)
    }

    /// Opens the work of a run that was created before, by whatever process. What is written down beside it must agree
    /// with the journal.
    pub fn open(state: &Path, run: RunId, origin: &Origin<'_>) -> Result<Self, WorkspaceError> {
        let lost = |why: String| WorkspaceError::Lost { run, why };
        let gone = || {
            let path = remembered_path(state, run);
            lost(format!("{} is gone; put its folder back, or close the run: `tollgate cancel {run}`", path.display()))
        };
        let made = Self::remembered(state, run)?.ok_or_else(gone)?;
        let top = made.top.display().to_string();
        let pairs = [
            ("the repository", top.as_str(), origin.repository),
            ("the base", &made.commit, origin.commit),
            ("the first tree", &made.tree, origin.tree),
        ];
        if let Some((what, found, recorded)) = pairs.into_iter().find(|(_, found, recorded)| found != recorded) {
            let path = remembered_path(state, run);
            let why = format!("{} names {found} as {what}, the journal {recorded}", path.display());
            return Err(lost(why));
        }
        Ok(Self { checkout: origin.checkout.cloned(), ..Self::reopen(state, run, made)? })
    }

    /// Opens the work of a run.
    pub fn of(state: &Path, run: &Run) -> Result<Self, WorkspaceError> {
        let opened = &run.opened;
        let origin = Origin {
            repository: &opened.repository,
            commit: &opened.base,
            tree: &opened.content.tree,
            checkout: opened.checkout.as_deref(),
        };
        // What cannot be read is refused before anybody works; whoever only looks needs none of it.
        let caches = Settings::of(&opened.config).map(|settings| settings.caches).unwrap_or_default();
        Ok(Self { caches, ..Self::open(state, run.id, &origin)? })
    }

    fn remembered(state: &Path, run: RunId) -> Result<Option<Remembered>, WorkspaceError> {
        let path = remembered_path(state, run);
        if !path.exists() {
            return Ok(None);
        }
        let text = at(&path, std::fs::read(&path))?;
        let lost = |error| WorkspaceError::Lost { run, why: format!("{}: {error}", path.display()) };
        serde_json::from_slice(&text).map(Some).map_err(lost)
    }

    fn reopen(state: &Path, run: RunId, made: Remembered) -> Result<Self, WorkspaceError> {
        let damaged = || WorkspaceError::Lost { run, why: "its base is not a commit".to_owned() };
        let commit = ObjectId::parse(&made.commit).ok_or_else(damaged)?;
        let tree = ObjectId::parse(&made.tree).ok_or_else(damaged)?;
        let (base, shared) = (Base { commit, tree }, made.shared);
        let folder = cleanup::remake(state, run, &shared, &base)?;
        let git = engine_git(folder.path(), run)?;
        let (state, top, checkout, caches) = (state.to_owned(), made.top, made.checkout, Vec::new());
        Ok(Self { run, state, top, shared, folder, git, base, checkout, caches })
    }

    /// What the run started from.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The top of the user's checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The objects that a work tree borrows: all that is seen of the user's repository.
    pub fn borrowed(&self) -> Vec<PathBuf> {
        let mut all = self.shared.stores();
        all.push(self.folder.objects());
        all
    }

    /// The user's checkouts of the repository, which no program of the run sees.
    pub fn unseen(&self) -> Vec<PathBuf> {
        self.shared.checkouts(&self.top)
    }

    /// What no configuration gives to a worker.
    pub fn reserved(&self) -> ReservedPaths {
        let git = vec![self.top.join(".git"), self.shared.common.clone(), self.shared.objects.clone()];
        ReservedPaths { state: self.state.clone(), top: Some(self.top.clone()), git, ..ReservedPaths::default() }
    }

    /// The run's folder in the state directory.
    pub fn run_folder(&self) -> PathBuf {
        run_folder(&self.state, self.run)
    }
}

/// Git with a folder of a run: marked, so that one that outlives its driver is ended with the workers.
fn engine_git(folder: &Path, run: RunId) -> Result<Git, GitError> {
    Ok(Git::with_dir(folder)?.env(MARKER, format!("{run}/engine")))
}

/// The folder of a run in the state directory.
pub fn run_folder(state: &Path, run: RunId) -> PathBuf {
    state.join("runs").join(run.to_string())
}

fn git_path(state: &Path, run: RunId) -> PathBuf {
    run_folder(state, run).join("git")
}

fn remembered_path(state: &Path, run: RunId) -> PathBuf {
    run_folder(state, run).join("workspace.json")
}

#[cfg(test)]
mod tests;
