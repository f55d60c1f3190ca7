//! Caches: folders of a tree that its setup fills. Everybody who judges gets a copy of them as the setup left them.
//!
//! It is a copy and no folder that all share: what a worker, a judge or the work under test leaves there would be what the next one
//! is judged with. Where the file system can share the bytes of two files, it does.
//!
//! The cache beside the tree (`XDG_CACHE_HOME`) is the same: who judges, a command and a setup have one of their own, which begins as the
//! setup left it on the content that the run began with.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::inside;
use crate::workspace::{remove_tree, set_id};

/// The most files and folders of the caches of one tree.
const ENTRIES_MAX: usize = 1_000_000;

static NEXT_DRAFT: AtomicU64 = AtomicU64::new(0);

/// Keeps the caches of a tree under a key; what another one kept there first stays.
pub fn keep(tree: &Path, caches: &[String], made: &Path) -> Result<(), String> {
    // Two sides may keep the same at the same time: each has a draft of its own.
    let number = NEXT_DRAFT.fetch_add(1, Ordering::Relaxed);
    let next = made.with_extension(format!("{}-{number}@new", std::process::id()));
    let told = |error: &dyn std::fmt::Display| format!("the caches cannot be kept in {}: {error}", made.display());
    remove_tree(&next).map_err(|error| told(&error))?;
    std::fs::create_dir_all(&next).map_err(|error| told(&error))?;
    let mut left = ENTRIES_MAX;
    for (number, cache) in caches.iter().enumerate() {
        let from = inside(tree, Path::new(cache))?;
        match from.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {
                copy_all(&from, &next.join(number.to_string()), &mut left).map_err(|error| told(&error))?;
            }
            Ok(_) => return Err(format!("`{cache}` is to be a cache, and is no folder")),
            Err(_) => {}
        }
    }
    if std::fs::rename(&next, made).is_err() {
        remove_tree(&next).map_err(|error| told(&error))?;
    }
    Ok(())
}

/// Puts the caches that were kept into a tree, in place of what is there.
pub fn put(made: &Path, caches: &[String], tree: &Path) -> Result<(), String> {
    let mut left = ENTRIES_MAX;
    for (number, cache) in caches.iter().enumerate() {
        let to = inside(tree, Path::new(cache))?;
        let from = made.join(number.to_string());
        if !from.is_dir() {
            continue;
        }
        let told = |error: &dyn std::fmt::Display| format!("the cache `{cache}` cannot be put into the copy: {error}");
        remove_tree(&to).map_err(|error| told(&error))?;
        to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| told(&error))?;
        copy_all(&from, &to, &mut left).map_err(|error| told(&error))?;
    }
    Ok(())
}

/// Has the caches of a tree that somebody worked in as the setup left them; where nobody kept them for this key, they are gone. What
/// lies there else, such as a link that leads away, could stand in the way of the setup for ever.
pub fn put_back(made: &Path, caches: &[String], tree: &Path) -> Result<(), String> {
    for cache in caches {
        let there = inside(tree, Path::new(cache))?;
        remove_tree(&there).map_err(|error| format!("the cache `{cache}` cannot be made anew: {error}"))?;
    }
    put(made, caches, tree)
}

/// Where the cache of a program lies that has it to itself: beside what else it leaves.
pub fn beside(scratch: &Path) -> PathBuf {
    scratch.with_extension("cache")
}

/// Gives a program a cache of its own, with what is to be found in it.
pub fn begin(found: &Path, own: &Path) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("its cache {} cannot be made: {error}", own.display());
    remove_tree(own).map_err(|error| told(&error))?;
    if !found.is_dir() {
        return Ok(());
    }
    own.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| told(&error))?;
    copy_all(found, own, &mut { ENTRIES_MAX }).map_err(|error| told(&error))
}

/// Leaves a cache for others to find, where nobody did. Without one they begin with nothing, which costs them time alone.
pub fn leave(own: &Path, found: &Path) {
    if own.is_dir() && !found.exists() && found.parent().is_some_and(|parent| std::fs::create_dir_all(parent).is_ok()) {
        std::fs::rename(own, found).ok();
    }
}

/// Copies a folder and all in it: files with their times, links as they are, and nothing else.
fn copy_all(from: &Path, to: &Path, left: &mut usize) -> io::Result<()> {
    let mut open = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        std::fs::create_dir(&to)?;
        for entry in std::fs::read_dir(&from)? {
            let entry = entry?;
            *left = left.checked_sub(1).ok_or_else(|| io::Error::other("they hold too many files"))?;
            let (kind, from, to) = (entry.file_type()?, entry.path(), to.join(entry.file_name()));
            if kind.is_dir() {
                open.push((from, to));
            } else if kind.is_symlink() {
                std::os::unix::fs::symlink(std::fs::read_link(&from)?, &to)?;
            } else if kind.is_file() {
                std::fs::copy(&from, &to)?;
                set_id::clear(&to)?;
                // Tools tell what is up to date by times.
                let time = entry.metadata()?.modified()?;
                let file = std::fs::File::open(&to)?;
                file.set_modified(time)?;
            }
        }
    }
    Ok(())
}
