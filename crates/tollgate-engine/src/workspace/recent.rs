//! The last things that were found out, as many as there is room for.

use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::Name;
use tollgate_core::scope::Entry;

use super::differences::Differences;
use super::{Workspace, WorkspaceError};
use crate::git::ObjectId;

/// The most entries of all trees that are remembered beside the newest.
const ENTRIES_MAX: usize = 200_000;
/// The most bytes of all patches that are remembered beside the newest.
const PATCH_BYTES_MAX: usize = 1024 * 1024;
/// The most commits that are remembered.
const COMMITS_MAX: usize = 1_000;
/// Trees with more files than this are compared by git, which passes over folders that are the same.
const COMPARED_MAX: usize = 20_000;

/// Values by key, the newest last. The newest is always kept, the others as far as their sizes fit.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    room: usize,
    all: Vec<(K, usize, V)>,
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    pub const fn new(room: usize) -> Self {
        Self { room, all: Vec::new() }
    }

    pub fn get<Q: ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: PartialEq<Q>,
    {
        self.all.iter().find(|(known, ..)| known == key).map(|(.., value)| value.clone())
    }

    pub fn forget(&mut self, key: &K) {
        self.all.retain(|(known, ..)| known != key);
    }

    pub fn put(&mut self, key: K, size: usize, value: V) {
        self.forget(&key);
        let mut room = self.room.saturating_sub(size);
        let kept = self.all.iter().rev().take_while(|(_, size, _)| {
            let size = (*size).max(1);
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        let old = self.all.len() - kept.count();
        self.all.drain(..old);
        self.all.push((key, size, value));
    }
}

/// What trees hold. An object never changes, so what was once listed is true for every run.
static TREES: Mutex<Recent<ObjectId, Arc<Vec<Entry>>>> = Mutex::new(Recent::new(ENTRIES_MAX));

/// Commits of the engine's own, by the file of the private git folder that holds them.
static COMMITS: Mutex<Recent<(std::path::PathBuf, String), ObjectId>> = Mutex::new(Recent::new(COMMITS_MAX));

/// Patches between trees, cut as they were asked for.
static PATCHES: Mutex<Recent<String, (Vec<u8>, bool)>> = Mutex::new(Recent::new(PATCH_BYTES_MAX));

/// The patch between two trees: of these paths, cut after so many bytes. Every judge of an attempt is shown the same one.
pub(super) fn recent_patch(
    (from, to, only, limit): (&ObjectId, &ObjectId, Option<&[&Name]>, usize),
    make: impl FnOnce() -> Result<(Vec<u8>, bool), WorkspaceError>,
) -> Result<(Vec<u8>, bool), WorkspaceError> {
    let key = format!("{from} {to} {limit} {only:?}");
    if let Some(known) = PATCHES.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(known);
    }
    let patch = make()?;
    PATCHES.lock().unwrap_or_else(PoisonError::into_inner).put(key, patch.0.len(), patch.clone());
    Ok(patch)
}

/// Remembers what a tree holds.
pub(super) fn remember_entries(tree: &ObjectId, entries: &Arc<Vec<Entry>>) {
    let mut trees = TREES.lock().unwrap_or_else(PoisonError::into_inner);
    trees.put(tree.clone(), entries.len(), Arc::clone(entries));
}

fn known_entries(tree: &ObjectId) -> Option<Arc<Vec<Entry>>> {
    TREES.lock().unwrap_or_else(PoisonError::into_inner).get(tree)
}

impl Workspace {
    /// Every file of a tree.
    pub(super) fn list(&self, tree: &ObjectId) -> Result<Arc<Vec<Entry>>, WorkspaceError> {
        if let Some(known) = known_entries(tree) {
            return Ok(known);
        }
        let entries = Arc::new(self.git.list(tree)?);
        remember_entries(tree, &entries);
        Ok(entries)
    }

    /// What differs between two trees.
    pub(super) fn differences(&self, from: &ObjectId, to: &ObjectId) -> Result<Differences, WorkspaceError> {
        let small = |tree: &ObjectId| known_entries(tree).filter(|entries| entries.len() <= COMPARED_MAX);
        match small(from).zip(small(to)) {
            Some((before, after)) => Ok(Differences::of_entries(from, &before, &after)),
            None => Differences::between(&self.git, from, to),
        }
    }

    /// The commit that `make` makes of these arguments alone; the same one again while the private git folder has it.
    pub(super) fn commit_once(
        &self,
        arguments: String,
        make: impl FnOnce() -> Result<ObjectId, WorkspaceError>,
    ) -> Result<ObjectId, WorkspaceError> {
        let objects = self.folder.objects();
        let key = (objects.clone(), arguments);
        let known = COMMITS.lock().unwrap_or_else(PoisonError::into_inner).get(&key);
        let is_there = |commit: &ObjectId| {
            let (folder, file) = commit.as_str().split_at(2);
            objects.join(folder).join(file).is_file()
        };
        if let Some(commit) = known.filter(is_there) {
            return Ok(commit);
        }
        let commit = make()?;
        COMMITS.lock().unwrap_or_else(PoisonError::into_inner).put(key, 1, commit.clone());
        Ok(commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stays_and_older_ones_as_far_as_they_fit() {
        let mut recent = Recent::new(10);
        recent.put("a", 4, 1);
        recent.put("b", 4, 2);
        assert_eq!((recent.get(&"a"), recent.get(&"b")), (Some(1), Some(2)));
        recent.put("c", 4, 3);
        assert_eq!((recent.get(&"a"), recent.get(&"b"), recent.get(&"c")), (None, Some(2), Some(3)));
        recent.put("d", 40, 4);
        assert_eq!((recent.get(&"c"), recent.get(&"d")), (None, Some(4)));
        recent.put("d", 1, 5);
        assert_eq!(recent.all.len(), 1);
        recent.forget(&"d");
        assert_eq!(recent.get(&"d"), None);
    }
}
