//! Files of the user's checkout that git does not track, copied into a tree: settings and keys that its programs need.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tollgate_core::scope::Entry;

use super::inside;

/// The largest file that is copied, and the most bytes and files of all.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
const FILES_MAX: usize = 1_000;
/// A larger file is no list of variables.
const VALUES_BYTES_MAX: u64 = 256 * 1024;

/// Copies files of a checkout to the same places in a tree. What the tree itself holds is left as it is.
pub fn copy(checkout: &Path, tree: &Path, files: &[PathBuf], entries: &[Entry]) -> Result<(), String> {
    if files.len() > FILES_MAX {
        return Err(format!("`copy` names {} files; at most {FILES_MAX} are copied", files.len()));
    }
    let tracked: BTreeSet<&str> = entries.iter().map(|entry| &*entry.path).collect();
    let mut left = TOTAL_BYTES_MAX;
    for file in files.iter().filter(|file| !file.to_str().is_some_and(|path| tracked.contains(path))) {
        let (from, to) = (inside(checkout, file)?, inside(tree, file)?);
        one(&from, &to, &mut left).map_err(|why| format!("`{}` cannot be copied: {why}", file.display()))?;
    }
    Ok(())
}

fn one(from: &Path, to: &Path, left: &mut u64) -> Result<(), String> {
    let meta = from.symlink_metadata().map_err(|error| error.to_string())?;
    if meta.is_symlink() {
        return Err("it is a link; name the file itself".to_owned());
    }
    if !meta.is_file() {
        return Err("it is no plain file".to_owned());
    }
    if meta.len() > FILE_BYTES_MAX || meta.len() > *left {
        return Err(format!("it is too large: at most {FILE_BYTES_MAX} bytes each and {TOTAL_BYTES_MAX} in all"));
    }
    *left -= meta.len();
    let told = |error: std::io::Error| error.to_string();
    let source = std::fs::File::options().read(true).custom_flags(libc_no_follow()).open(from).map_err(told)?;
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(told)?;
    to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(told)?;
    // What lies there is of the last time, or a worker's.
    match to.symlink_metadata() {
        Ok(there) if there.is_dir() => return Err("a folder is in its place".to_owned()),
        Ok(_) => std::fs::remove_file(to).map_err(told)?,
        Err(_) => {}
    }
    let mode = meta.permissions().mode() & 0o777;
    let mut file = std::fs::File::options().write(true).create_new(true).mode(mode).open(to).map_err(told)?;
    file.write_all(&bytes).map_err(told)
}

/// Opens no link, whatever takes the place of a file meanwhile.
fn libc_no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

/// The values of variables in files such as `.env`; a value with a comment behind it is taken with and without it.
pub fn values(files: &[PathBuf]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in files.iter().filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_file())) {
        let mut text = String::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(VALUES_BYTES_MAX).read_to_string(&mut text));
        if read.is_ok() {
            text.lines().for_each(|line| value(line, &mut found));
        }
    }
    found
}

fn value(line: &str, found: &mut Vec<(String, String)>) {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let Some((name, value)) = line.split_once(['=', ':']) else { return };
    let (name, value) = (name.trim().trim_matches(['"', '\'']), value.trim().trim_end_matches(','));
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || !name.chars().all(plain) {
        return;
    }
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return found.push((name.to_owned(), inner.to_owned()));
        }
    }
    found.push((name.to_owned(), value.to_owned()));
    if let Some((before, _)) = value.split_once(" #") {
        found.push((name.to_owned(), before.trim().to_owned()));
    }
}
