//! The refs of a run in the user's repository: their names, whether they can be made, and what they name.

use std::path::{Path, PathBuf};

use tollgate_core::id::RunId;

use super::WorkspaceError;
use crate::git::{Git, GitError, ObjectId};

/// The branch that a run is published on.
pub(super) fn branch_ref(run: RunId) -> String {
    format!("refs/heads/tollgate/{run}")
}

/// The folders of a ref that another ref may be in the place of.
pub(super) fn folders(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at]).skip_while(|folder| !folder.ends_with("tollgate"))
}

/// Refuses a ref that cannot be made because another one is where its folder has to be.
pub(super) fn has_room(user: &Git, top: &Path, name: &str) -> Result<(), WorkspaceError> {
    let folders: Vec<&str> = folders(name).collect();
    in_the_way(top, &folders, resolve(user, &folders)?.into_iter())
}

/// The same, by what was found where its folders have to be.
pub(super) fn in_the_way(
    top: &Path,
    folders: &[&str],
    found: impl Iterator<Item = Option<ObjectId>>,
) -> Result<(), WorkspaceError> {
    match folders.iter().zip(found).find(|(_, found)| found.is_some()) {
        Some((folder, _)) => {
            let name = folder.trim_start_matches("refs/heads/").to_owned();
            Err(WorkspaceError::RefInTheWay { name, top: top.to_owned() })
        }
        None => Ok(()),
    }
}

/// The objects that refs or ids name, in their order; none where there is no such thing.
pub(super) fn resolve(git: &Git, names: &[&str]) -> Result<Vec<Option<ObjectId>>, WorkspaceError> {
    let asked = names.iter().flat_map(|name| [*name, "\n"]).collect::<String>();
    let out = git.feed(&["cat-file", "--batch-check=%(objectname)"], asked.into_bytes())?;
    let found: Vec<Option<ObjectId>> = String::from_utf8_lossy(&out).lines().map(ObjectId::parse).collect();
    if found.len() != names.len() {
        let what = String::from_utf8_lossy(&out).into_owned();
        return Err(GitError::Unexpected { command: "cat-file --batch-check".to_owned(), what }.into());
    }
    Ok(found)
}

/// The lock file of a ref, if one is there: a plain file that no link leads to.
pub(super) fn left_lock(common: &Path, name: &str) -> Option<PathBuf> {
    let mut path = common.to_owned();
    for part in name.split('/') {
        // Between the git folder itself, which may well be a link, and the ref.
        if path != common && !path.symlink_metadata().ok()?.is_dir() {
            return None;
        }
        path.push(part);
    }
    path.as_mut_os_string().push(".lock");
    path.symlink_metadata().ok()?.is_file().then_some(path)
}

pub(super) fn base_ref(run: RunId) -> String {
    format!("refs/tollgate/{run}/base")
}

/// What is on its way into the user's repository.
pub(super) fn handed_ref(run: RunId) -> String {
    format!("refs/tollgate/{run}/handed")
}
