//! Where a worker works: the tree of its unit, as the state has it or as it left it itself, or a copy that is thrown away.

use std::path::PathBuf;

use tollgate_core::id::AttemptId;
use tollgate_core::protocol::model::Role;
use tollgate_core::run::Run;

use super::preparation::{Age, Spot};
use super::{Failure, RealHands, own_unit, tree_id};
use crate::workspace::{Hands, ObjectId, Old, TempCopy, WorkTree, Workspace};

/// The tree itself, and whether it was just made, or a copy that is thrown away.
pub(super) enum Place {
    Tree(WorkTree, Age),
    Copy(TempCopy),
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::Tree(tree, _) => tree.path.clone(),
            Self::Copy(copy) => copy.path().to_owned(),
        }
    }

    pub(super) fn spot(&self) -> Spot<'_> {
        match self {
            Self::Tree(tree, age) => Spot::Tree(tree, *age),
            Self::Copy(copy) => Spot::Copy(copy),
        }
    }
}

/// What of its work a worker finds that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// All of it.
    All,
    /// All but files that git ignores.
    Tracked,
    /// What the state has.
    Recorded,
    /// Nothing: who judges has another copy.
    Copy,
}

/// A place that is as it should be.
pub(super) struct Placed {
    pub place: Place,
    /// A line for the log, when it had to be put back.
    pub note: String,
    /// What it holds.
    pub holds: ObjectId,
    pub left: Left,
}

impl RealHands {
    /// The tree as the state has it: what a lost or refused attempt, or a person, left there is kept under a ref and put away. Whoever
    /// `goes_on` in its session finds there what it left, where that can be told.
    pub(super) fn place(
        &self,
        workspace: &Workspace,
        run: &Run,
        id: AttemptId,
        role: &Role,
        goes_on: bool,
    ) -> Result<Placed, Failure> {
        let lease = &run.attempts[&id];
        let start = tree_id(&lease.tree)?;
        let note = String::new();
        if role.writes.is_empty() {
            let place = Place::Copy(workspace.copy_to_measure(&start)?);
            return Ok(Placed { place, note, holds: start, left: Left::Copy });
        }
        let unit = own_unit(run, id);
        let age = if workspace.locate(unit.as_deref()).is_there() { Age::Kept } else { Age::Made };
        let tree = workspace.work_tree(unit.as_deref(), &start)?;
        workspace.hand_over(&tree, &Hands::Sent(lease.token))?;
        if workspace.holds(&tree, &start) {
            let left = if age == Age::Made { Left::Recorded } else { Left::All };
            return Ok(Placed { place: Place::Tree(tree, age), note, holds: start, left });
        }
        // What a unit had made before it started again is in no tree of the run any more.
        let own = unit.as_ref().and_then(|name| run.unit(name)).and_then(|unit| unit.tree.as_ref());
        let before = own.and_then(|own| own.left.as_ref());
        let recorded = |tree: &ObjectId| {
            run.contents.contains_key(tree.as_str()) && before.is_none_or(|before| **before != *tree.as_str())
        };
        if goes_on && let Ok(old) = workspace.keep(&tree, &recorded) {
            // The files as they were left, and a git folder that nobody has written.
            let (holds, kept) = match old {
                Old::Kept(commit) => (workspace.tree_at(&commit)?, format!("; that is kept as {commit}")),
                Old::Recorded | Old::Aside => (workspace.measure(&tree, &start)?.tree, String::new()),
            };
            let (tree, _) = workspace.reset_tree(unit.as_deref(), &holds, &recorded)?;
            let note = format!("tollgate: the work tree holds what was left there{kept}\n");
            return Ok(Placed { place: Place::Tree(tree, Age::PutBack), note, holds, left: Left::Tracked });
        }
        let (tree, old) = workspace.reset_tree(unit.as_deref(), &start, &recorded)?;
        let what = match old {
            Old::Recorded => None,
            Old::Kept(commit) => {
                Some(format!("is kept as {commit} under refs/kept in {}", workspace.git_folder().display()))
            }
            Old::Aside => Some(format!("could not be measured and lies beside {}, as `@old-…`", tree.path.display())),
        };
        let note =
            what.map(|what| format!("tollgate: the work tree did not hold the recorded tree; what it held {what}\n"));
        let (place, note) = (Place::Tree(tree, Age::PutBack), note.unwrap_or_default());
        Ok(Placed { place, note, holds: start, left: Left::Recorded })
    }
}
