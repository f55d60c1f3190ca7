//! Submodules of a tree: an empty folder in a work tree, and whatever somebody put there instead.
//!
//! Git is told to pass over them, since it would look into git folders that a worker may have written. What became of each is
//! seen from its place alone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use tollgate_core::Name;
use tollgate_core::scope::Entry;

use super::measurement::{SUBMODULE, Status};
use super::repository::SHOWN_MAX;
use super::{Workspace, WorkspaceError};
use crate::git::{ObjectId, unquote};

const GITMODULES_BYTES_MAX: u64 = 1024 * 1024;

/// What is where a submodule was checked out.
enum Place {
    Nothing,
    /// Something beyond a link or a file: the tree cannot hold both.
    Beyond,
    Folder,
    /// A file, a link or something special.
    Else,
}

fn place(root: &Path, path: &Path) -> std::io::Result<Place> {
    let mut at = root.to_owned();
    for part in path.components().filter(|part| matches!(part, Component::Normal(_))) {
        // Beyond a link nothing is of this tree.
        if !at.symlink_metadata()?.is_dir() {
            return Ok(Place::Beyond);
        }
        at.push(part);
        match at.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::Nothing),
            found => found?,
        };
    }
    Ok(if at.symlink_metadata()?.is_dir() { Place::Folder } else { Place::Else })
}

/// The submodules among the entries of a tree.
pub(super) fn submodules(entries: &[Entry]) -> impl Iterator<Item = &Name> {
    entries.iter().filter(|entry| &*entry.mode == SUBMODULE).map(|entry| &entry.path)
}

impl Status {
    /// Adds what became of the submodules of a tree: those that are gone, and those that are something else now. An empty folder
    /// goes easily; a submodule is gone when `.gitmodules` does not name it either.
    pub fn with_submodules(
        mut self,
        root: &Path,
        entries: &[Entry],
        named: &BTreeSet<Vec<u8>>,
    ) -> Result<Self, WorkspaceError> {
        for name in submodules(entries) {
            let path = unquote(name);
            let found = place(root, Path::new(OsStr::from_bytes(&path)));
            match found.map_err(|error| WorkspaceError::Unmeasurable(format!("{name}: {error}")))? {
                Place::Nothing if named.contains(&*path) => {}
                Place::Nothing | Place::Beyond => self.removed.push(path.into_owned()),
                Place::Else => self.present.push(path.into_owned()),
                Place::Folder => {}
            }
        }
        Ok(self)
    }
}

/// The places that the `.gitmodules` of a work tree names.
pub(super) fn named(root: &Path) -> BTreeSet<Vec<u8>> {
    let path = root.join(".gitmodules");
    let plain = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= GITMODULES_BYTES_MAX);
    let text = plain.then(|| std::fs::read(&path).ok()).flatten().unwrap_or_default();
    let place = |line: &[u8]| {
        let value = line.trim_ascii().strip_prefix(b"path")?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
        let quoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
        Some(quoted.unwrap_or(value).to_vec())
    };
    text.split(|byte| *byte == b'\n').filter_map(place).collect()
}

/// The submodules of the tree that a run began with which are gone from a later one, and are named and have a folder again: it
/// is known which commit each is at.
pub(super) fn back(root: &Path, first: Vec<Entry>, entries: &[Entry], named: &BTreeSet<Vec<u8>>) -> Vec<Entry> {
    let is_back = |entry: &Entry| {
        let path = unquote(&entry.path);
        let folder = format!("{}/", entry.path);
        let held = entries.iter().any(|known| known.path == entry.path || known.path.starts_with(&folder));
        let found = place(root, Path::new(OsStr::from_bytes(&path)));
        named.contains(&*path) && !held && matches!(found, Ok(Place::Folder))
    };
    first.into_iter().filter(|entry| &*entry.mode == SUBMODULE && is_back(entry)).collect()
}

/// The submodules of a tree with something in their folder: that is in no tree.
pub(super) fn filled<'a>(root: &Path, entries: &'a [Entry]) -> impl Iterator<Item = &'a Name> {
    submodules(entries).filter(|name| is_filled(&root.join(OsStr::from_bytes(&unquote(name)))))
}

/// Whether something lies in a folder, or nobody can tell.
fn is_filled(folder: &Path) -> bool {
    match folder.read_dir() {
        Ok(mut files) => files.next().is_some(),
        Err(error) => error.kind() != ErrorKind::NotFound,
    }
}

impl Workspace {
    /// The submodules in whose place of the checkout lies what a move from one tree to another would take away: in the folder of
    /// one that becomes something else, whatever it is, and anything but a folder. Git looks at neither.
    pub(super) fn displaced(&self, from: &ObjectId, to: &ObjectId) -> Result<Vec<Name>, WorkspaceError> {
        let differences = self.differences(from, to)?;
        let is_displaced = |(name, replaced): &(&Name, bool)| {
            let path = unquote(name);
            let path = Path::new(OsStr::from_bytes(&path));
            match place(&self.top, path) {
                Ok(Place::Nothing) => false,
                Ok(Place::Folder) => *replaced && is_filled(&self.top.join(path)),
                Ok(Place::Beyond | Place::Else) | Err(_) => true,
            }
        };
        let displaced = differences.submodules().filter(is_displaced);
        Ok(displaced.map(|(name, _)| name.clone()).take(SHOWN_MAX).collect())
    }
}
