//! Pipes in the place of files that git reads by itself wherever it looks: it would wait there for somebody to write.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::WorkspaceError;
use crate::git::quote;

/// What git opens in every folder, or at the top.
const READ_BY_GIT: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// The most folders that are looked into.
const FOLDERS_MAX: usize = 1_000_000;

/// Refuses a tree that git cannot look at without waiting.
pub(super) fn none_to_wait_at(root: &Path) -> Result<(), WorkspaceError> {
    let (mut open, mut looked): (Vec<PathBuf>, usize) = (vec![root.to_owned()], 0);
    while let Some(folder) = open.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            return Err(WorkspaceError::TooMany { count: looked, limit: FOLDERS_MAX });
        }
        // A folder that cannot be looked into is told by git.
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
            } else if !kind.is_file() && !kind.is_symlink() && READ_BY_GIT.iter().any(|name| entry.file_name() == *name)
            {
                let path = entry.path();
                let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_bytes();
                let why =
                    format!("`{}` is neither a file nor a folder nor a link, and git would wait for it", quote(name));
                return Err(WorkspaceError::Unmeasurable(why));
            }
        }
    }
    Ok(())
}
