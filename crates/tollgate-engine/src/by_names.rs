//! Paths without detours.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, by its names alone: no link is followed, and nothing has to be there.
pub fn by_names(path: &Path) -> PathBuf {
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(names.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => names.push(part),
        }
    }
    names
}
