//! Folders of programs that somebody starts outside of every sandbox: those of `PATH`, and those of git and of Tollgate itself. No worker
//! changes them, also where it may write what holds them.

use std::io;
use std::path::{Path, PathBuf};

use crate::git::program::{GitProgram, git_program};
use crate::paths::{LinkTrace, trace_links};
use crate::process::{own_place, search_path};

/// Every such folder, as it is named.
fn folders() -> Vec<PathBuf> {
    let tollgate = own_place().ok().and_then(Path::parent);
    let git = git_program().into_iter().flat_map(GitProgram::folders);
    search_path().into_iter().chain(tollgate.into_iter().chain(git).map(Path::to_owned)).collect()
}

/// What lies in what may be written of the ways there: the folders, and every link that leads to one, wherever it leads. A folder that is
/// missing is made, because an empty one can be kept, and a missing one could be made by a worker.
pub(super) fn within(writes: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let writes: Vec<PathBuf> = writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_written = |path: &PathBuf| writes.iter().any(|place| path.starts_with(place));
    let mut found = Vec::new();
    for trace in folders().iter().filter_map(|folder| trace_links(folder)) {
        if is_written(&trace.end) {
            if !trace.end.exists() {
                std::fs::create_dir_all(&trace.end)?;
            }
            found.push(trace.end);
        }
        found.extend(trace.links.into_iter().filter(is_written));
    }
    Ok(found)
}

/// The first such folder that a place holds, or a link to it.
pub(super) fn held_by(place: &Path) -> Option<PathBuf> {
    let place = trace_links(place)?.end;
    let holds = |trace: LinkTrace| trace.links.iter().chain([&trace.end]).any(|path| path.starts_with(&place));
    folders().into_iter().find(|folder| trace_links(folder).is_some_and(holds))
}
