//! Partial clones: whether all files of the commit are there, before anybody works on them.
//!
//! A run borrows the objects of the user's repository and fetches nothing: it has no way to their remote, and no right to
//! use it. What is not there when it starts would be missing in the middle of it.

use std::collections::BTreeSet;
use std::path::Path;

use tollgate_core::Name;

use super::repository::{Repository, SHOWN_MAX};
use super::{ObjectId, WorkspaceError};
use crate::git::Git;

impl Repository {
    /// Refuses the repository around a path when it lacks files of the commit that is checked out.
    pub fn is_whole(path: &Path) -> Result<(), WorkspaceError> {
        let mut found = Self::find(path)?;
        found.read_settings()?;
        found.need_whole()
    }

    /// The same for one that was looked at. Only a partial clone may lack something, and only there it is looked for.
    pub(super) fn need_whole(&self) -> Result<(), WorkspaceError> {
        if !self.is_partial() {
            return Ok(());
        }
        let git = self.git()?;
        let listed = git.run(&["rev-list", "--objects", "--missing=print", self.tree.as_str()])?;
        let text = String::from_utf8_lossy(&listed);
        let absent: BTreeSet<ObjectId> =
            text.lines().filter_map(|line| ObjectId::parse(line.strip_prefix('?')?)).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let paths = paths_of(&git, &self.tree, &absent);
        Err(WorkspaceError::Absent { top: self.top.clone(), count: absent.len(), paths })
    }
}

/// The first paths of a tree with these contents; none where a folder of it is missing itself.
fn paths_of(git: &Git, tree: &ObjectId, absent: &BTreeSet<ObjectId>) -> Vec<Name> {
    let entries = git.list(tree).unwrap_or_default();
    let is_absent = |blob: &str| ObjectId::parse(blob).is_some_and(|id| absent.contains(&id));
    entries.into_iter().filter(|entry| is_absent(&entry.blob)).map(|entry| entry.path).take(SHOWN_MAX).collect()
}
