//! Files of the user's checkout that git does not track, copied into a tree: settings and keys that its programs need.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tollgate_core::scope::Entry;

use super::inside;

/// The largest file that is copied, and the most bytes and files of all.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
const FILES_MAX: usize = 1_000;

/// Copies files of a checkout to the same places in a tree. What the tree itself holds is left as it is.
pub fn copy(checkout: &Path, tree: &Path, files: &[PathBuf], entries: &[Entry]) -> Result<(), String> {
    let tracked: BTreeSet<&str> = entries.iter().map(|entry| &*entry.path).collect();
    let untracked = files.iter().filter(|file| !file.to_str().is_some_and(|path| tracked.contains(path)));
    let files: Vec<PathBuf> = untracked.cloned().collect();
    let all = may_be_copied(checkout, &files)?;
    for (file, (from, meta)) in files.iter().zip(all) {
        let to = inside(tree, file)?;
        one(&from, &meta, &to).map_err(|error| format!("`{}` cannot be copied: {error}", file.display()))?;
    }
    Ok(())
}

/// The files as they lie in a checkout; why one of them is not copied, or not all of them.
pub fn may_be_copied(checkout: &Path, files: &[PathBuf]) -> Result<Vec<(PathBuf, Metadata)>, String> {
    if files.len() > FILES_MAX {
        return Err(format!("`copy` names {} files; at most {FILES_MAX} are copied", files.len()));
    }
    let mut left = TOTAL_BYTES_MAX;
    let each = files.iter().map(|file| {
        let from = inside(checkout, file)?;
        let refused = |why: &dyn std::fmt::Display| Err(format!("`{}` cannot be copied: {why}", file.display()));
        let meta = match from.symlink_metadata() {
            Err(error) => return refused(&error),
            Ok(meta) if meta.is_symlink() => return refused(&"it is a link; name the file itself"),
            Ok(meta) if !meta.is_file() => return refused(&"it is no plain file"),
            Ok(meta) => meta,
        };
        if meta.len() > FILE_BYTES_MAX || meta.len() > left {
            let most = format!("it is too large: at most {FILE_BYTES_MAX} bytes each and {TOTAL_BYTES_MAX} in all");
            return refused(&most);
        }
        left -= meta.len();
        Ok((from, meta))
    });
    each.collect()
}

fn one(from: &Path, meta: &Metadata, to: &Path) -> io::Result<()> {
    let source = std::fs::File::options().read(true).custom_flags(no_follow()).open(from)?;
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    // What lies there is of the last time, or a worker's.
    match to.symlink_metadata() {
        Ok(there) if there.is_dir() => return Err(io::Error::other("a folder is in its place")),
        Ok(_) => std::fs::remove_file(to)?,
        Err(_) => {}
    }
    let mode = meta.permissions().mode() & 0o777;
    let mut file = std::fs::File::options().write(true).create_new(true).mode(mode).open(to)?;
    file.write_all(&bytes)
}

/// Opens no link, whatever takes the place of a file meanwhile.
fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}
