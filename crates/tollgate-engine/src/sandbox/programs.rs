//! Folders of programs that somebody starts outside of every sandbox: those of `PATH`, and those of git and of Tollgate itself. No worker
//! changes them, also where it may write what holds them.

use std::io;
use std::path::{Path, PathBuf};

use super::way::way;
use crate::git_program::{GitProgram, git_program};
use crate::process::{own_place, search_path};

/// Every such folder, as it is named.
fn folders() -> Vec<PathBuf> {
    let tollgate = own_place().ok().and_then(Path::parent);
    let git = git_program().into_iter().flat_map(GitProgram::folders);
    search_path().into_iter().chain(tollgate.into_iter().chain(git).map(Path::to_owned)).collect()
}

/// Those that lie in what may be written: each as it is named and where it leads. One that is missing is made, because an empty folder
/// can be kept, and a missing one could be made by a worker.
pub(super) fn within(writes: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let writes: Vec<PathBuf> = writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut found = Vec::new();
    for folder in folders() {
        let Some(real) = way(&folder).map(|way| way.end) else { continue };
        if writes.iter().any(|place| real.starts_with(place)) {
            std::fs::create_dir_all(&real)?;
            found.extend([folder, real]);
        }
    }
    Ok(found)
}

/// The first such folder that a place holds.
pub(super) fn held_by(place: &Path) -> Option<PathBuf> {
    let place = way(place)?.end;
    folders().into_iter().find(|folder| way(folder).is_some_and(|way| way.end.starts_with(&place)))
}
