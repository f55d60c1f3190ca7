//! Where a worker works: the tree of its unit, as the state has it or as it left it itself, or a copy that is thrown away.

use std::path::Path;

use tollgate_core::id::AttemptId;
use tollgate_core::protocol::model::Role;
use tollgate_core::run::Run;

use super::{Failure, LocalExecutor, own_unit, tree_id};
use crate::workspace::{Custody, ObjectId, PreviousContent, TempCopy, WorkTree, Workspace};

/// How a work tree came to exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeOrigin {
    /// It was just made, and no worker has been in it.
    Created,
    /// It was just made in place of one that a worker was in, with its caches.
    Restored,
    /// It existed.
    Existing,
}

/// The directory that a worker or a command runs in: a work tree, or a copy that is thrown away.
pub(super) enum Workdir {
    Tree(WorkTree, TreeOrigin),
    Copy(TempCopy),
}

impl Workdir {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Tree(tree, _) => &tree.path,
            Self::Copy(copy) => copy.path(),
        }
    }
}

/// How much of its earlier work a worker finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreviousWork {
    /// All of it.
    All,
    /// All but files that git ignores.
    Tracked,
    /// What the state has.
    Recorded,
    /// Nothing: a role that judges gets another copy.
    FreshCopy,
}

/// A working directory whose content is known.
pub(super) struct OpenedWorkdir {
    pub place: Workdir,
    /// A line for the log, when it had to be put back.
    pub note: String,
    /// What it holds.
    pub holds: ObjectId,
    pub left: PreviousWork,
}

impl LocalExecutor {
    /// The tree as the state has it: what a lost or refused attempt, or a person, left there is kept under a ref and put away. Whoever
    /// `goes_on` in its session finds there what it left, where that can be told.
    pub(super) fn open_workdir(
        &self,
        workspace: &Workspace,
        run: &Run,
        id: AttemptId,
        role: &Role,
        goes_on: bool,
    ) -> Result<OpenedWorkdir, Failure> {
        let lease = &run.attempts[&id];
        let start = tree_id(&lease.tree)?;
        let note = String::new();
        if role.writes.is_empty() {
            let place = Workdir::Copy(workspace.copy_to_measure(&start)?);
            return Ok(OpenedWorkdir { place, note, holds: start, left: PreviousWork::FreshCopy });
        }
        let unit = own_unit(run, id);
        let age = if workspace.locate(unit.as_deref()).is_there() { TreeOrigin::Existing } else { TreeOrigin::Created };
        let tree = workspace.work_tree(unit.as_deref(), &start)?;
        workspace.set_custody(&tree, &Custody::Sent(lease.token))?;
        if workspace.holds(&tree, &start) {
            let left = if age == TreeOrigin::Created { PreviousWork::Recorded } else { PreviousWork::All };
            return Ok(OpenedWorkdir { place: Workdir::Tree(tree, age), note, holds: start, left });
        }
        // What a unit had made before it started again is in no tree of the run any more.
        let own = unit.as_ref().and_then(|name| run.unit(name)).and_then(|unit| unit.tree.as_ref());
        let before = own.and_then(|own| own.left.as_ref());
        let recorded = |tree: &ObjectId| {
            run.contents.contains_key(tree.as_str()) && before.is_none_or(|before| **before != *tree.as_str())
        };
        if goes_on && let Ok(old) = workspace.keep(&tree, &recorded) {
            // The files as they were left, and a git folder that no worker has written.
            let (holds, kept) = match old {
                PreviousContent::Kept(commit) => (workspace.tree_at(&commit)?, format!("; that is kept as {commit}")),
                PreviousContent::Recorded | PreviousContent::Aside => {
                    (workspace.measure(&tree, &start)?.tree, String::new())
                }
            };
            let (tree, _) = workspace.reset_tree(unit.as_deref(), &holds, &recorded)?;
            let note = format!("tollgate: the work tree holds what was left there{kept}\n");
            return Ok(OpenedWorkdir {
                place: Workdir::Tree(tree, TreeOrigin::Restored),
                note,
                holds,
                left: PreviousWork::Tracked,
            });
        }
        let (tree, old) = workspace.reset_tree(unit.as_deref(), &start, &recorded)?;
        let what = match old {
            PreviousContent::Recorded => None,
            PreviousContent::Kept(commit) => {
                Some(format!("is kept as {commit} under refs/kept in {}", workspace.git_folder().display()))
            }
            PreviousContent::Aside => {
                Some(format!("could not be measured and lies beside {}, as `@old-…`", tree.path.display()))
            }
        };
        let note =
            what.map(|what| format!("tollgate: the work tree did not hold the recorded tree; what it held {what}\n"));
        let (place, note) = (Workdir::Tree(tree, TreeOrigin::Restored), note.unwrap_or_default());
        Ok(OpenedWorkdir { place, note, holds: start, left: PreviousWork::Recorded })
    }
}
