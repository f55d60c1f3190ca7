//! Pipes, sockets and devices in a work tree. Git lists none that is new, and would wait at a pipe in the place of a file that it reads by
//! itself.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tollgate_core::scope::Entry;

use super::WorkspaceError;
use super::measurement::{PATHS_MAX, Status};
use super::submodules::submodules;
use crate::git::{Git, quote, records, unquote};

/// What git opens in every folder, or at the top.
const READ_BY_GIT: [&str; 3] = [".gitignore", ".gitattributes", ".gitmodules"];
/// The most folders that are looked into.
const FOLDERS_MAX: usize = 1_000_000;
/// How git is asked for a path that could be a pattern.
const HERE: &[u8] = b"./";

/// What is neither a file nor a folder nor a link, as git would name it. Refuses a tree that git cannot look at without waiting.
pub(super) fn special(root: &Path) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let (mut open, mut looked, mut found): (Vec<PathBuf>, usize, Vec<Vec<u8>>) = (vec![root.to_owned()], 0, Vec::new());
    while let Some(folder) = open.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            return Err(WorkspaceError::TooMany { count: looked, limit: FOLDERS_MAX });
        }
        // A folder that cannot be looked into is told by git.
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let (path, name) = (entry.path(), entry.file_name());
            if kind.is_dir() {
                // The work tree's own git folder is no part of it.
                open.extend((folder != root || name != ".git").then_some(path));
            } else if !kind.is_file() && !kind.is_symlink() {
                let path = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_bytes();
                if READ_BY_GIT.iter().any(|read| name == *read) {
                    let path = quote(path);
                    let why = format!("`{path}` is neither a file nor a folder nor a link, and git would wait for it");
                    return Err(WorkspaceError::Unmeasurable(why));
                }
                found.push(path.to_vec());
                if found.len() > PATHS_MAX {
                    return Err(WorkspaceError::TooMany { count: found.len(), limit: PATHS_MAX });
                }
            }
        }
    }
    Ok(found)
}

/// Those of special files that git does not ignore, and that are not in a repository of their own, which is named itself.
pub(super) fn not_ignored(
    git: &Git,
    special: Vec<Vec<u8>>,
    status: &Status,
    entries: &[Entry],
) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    if special.is_empty() {
        return Ok(special);
    }
    let below = submodules(entries).map(|name| [&*unquote(name), b"/"].concat());
    let below: Vec<Vec<u8>> = below.chain(status.nested().iter().cloned()).collect();
    let special: Vec<Vec<u8>> =
        special.into_iter().filter(|path| !below.iter().any(|folder| path.starts_with(folder))).collect();
    let asked = special.iter().flat_map(|path| [HERE, path, &[0]].concat()).collect();
    let args = ["check-ignore", "-z", "--stdin"];
    // It takes names as they are, and refuses the setting that says so.
    let printed = git.env("GIT_LITERAL_PATHSPECS", "0").call(&args, asked)?;
    // It fails where none is ignored, and says nothing.
    if !printed.end.success() && !printed.err.is_empty() {
        return Err(git.failed(&args, printed).into());
    }
    let ignored: HashSet<&[u8]> = records(&printed.out).filter_map(|path| path.strip_prefix(HERE)).collect();
    Ok(special.into_iter().filter(|path| !ignored.contains(path.as_slice())).collect())
}
