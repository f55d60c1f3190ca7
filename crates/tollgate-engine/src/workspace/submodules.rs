//! Submodules of a tree: an empty folder in a work tree, and whatever somebody put there instead.
//!
//! Git is told to pass over them, since it would look into git folders that a worker may have written. What became of each is
//! seen from its place alone.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use tollgate_core::Name;
use tollgate_core::scope::Entry;

use super::WorkspaceError;
use super::measure::{SUBMODULE, Status};
use crate::git::unquote;

/// What is where a submodule was checked out.
enum Place {
    /// Nothing, or something beyond a link.
    Nothing,
    Folder,
    /// A file, a link or something special.
    Else,
}

fn place(root: &Path, path: &Path) -> std::io::Result<Place> {
    let mut at = root.to_owned();
    for part in path.components().filter(|part| matches!(part, Component::Normal(_))) {
        // Beyond a link nothing is of this tree.
        if !at.symlink_metadata()?.is_dir() {
            return Ok(Place::Nothing);
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
    /// Adds what became of the submodules of a tree: those whose folder is gone, and those that are something else now.
    pub fn with_submodules(mut self, root: &Path, entries: &[Entry]) -> Result<Self, WorkspaceError> {
        for name in submodules(entries) {
            let path = unquote(name);
            let found = place(root, Path::new(OsStr::from_bytes(&path)));
            match found.map_err(|error| WorkspaceError::Unmeasurable(format!("{name}: {error}")))? {
                Place::Nothing => self.removed.push(path.into_owned()),
                Place::Else => self.present.push(path.into_owned()),
                Place::Folder => {}
            }
        }
        Ok(self)
    }
}

/// The submodules of a tree with something in their folder: that is in no tree.
pub(super) fn filled<'a>(root: &Path, entries: &'a [Entry]) -> impl Iterator<Item = &'a Name> {
    submodules(entries).filter(|name| {
        let folder = root.join(OsStr::from_bytes(&unquote(name)));
        folder.read_dir().map_or(true, |mut files| files.next().is_some())
    })
}
