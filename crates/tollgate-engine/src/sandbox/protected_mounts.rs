//! What stays as it is inside of what may be written: held by mounts that cannot be written, and can be neither removed nor renamed.
//!
//! Nor can what leads there. A folder on the way is mounted over itself: it is written as before, and stays in its place; a link
//! is held as the link that it is.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MoveMountFlags, OpenTreeFlags, mount_bind_recursive, move_mount, open_tree};

use super::read_only_mounts;
use crate::paths::{LinkTrace, trace_links};

/// Holds files, folders and links that are there, and the ways to them inside of `writes`.
pub(super) fn keep(kept: &[PathBuf], writes: &[PathBuf]) -> io::Result<()> {
    let mut traces = BTreeMap::new();
    let held: BTreeSet<PathBuf> = kept.iter().flat_map(|path| with_links(path, &mut traces)).collect();
    let writes: Vec<PathBuf> = writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let leads = |folder: &&Path| {
        writes.iter().any(|place| folder.starts_with(place) && *folder != place)
            && !folder.ancestors().any(|whole| held.contains(whole))
    };
    let above: BTreeSet<&Path> = held.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let folders: BTreeSet<&Path> = above.into_iter().filter(leads).collect();
    // The outer one before what lies in it, which would else be covered.
    for folder in folders {
        mount_bind_recursive(folder, folder)?;
    }
    for path in held.iter().filter(|path| path.symlink_metadata().is_ok()) {
        hold(path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    }
    // The folder it works in may be one on the way, and has to be found anew.
    std::env::set_current_dir(std::env::current_dir()?)
}

/// A path by where it lies, and the links that lead to it; one that is itself a link leads no further.
fn with_links<'p>(path: &'p Path, traces: &mut BTreeMap<&'p Path, Option<LinkTrace>>) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let Some(trace) = traces.entry(folder).or_insert_with(|| trace_links(folder)) else { return Vec::new() };
    trace.links.iter().cloned().chain([trace.end.join(name)]).collect()
}

fn hold(path: &Path) -> io::Result<()> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(CWD, path, flags)?;
    move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    read_only_mounts::set(path)
}
