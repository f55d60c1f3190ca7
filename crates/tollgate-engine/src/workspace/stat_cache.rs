//! What was seen of a work tree's files when it was last measured: what is still as it was is not read again.
//!
//! A file counts as unchanged by what git's own index goes by: its kind, size and number, and when it was last changed. Nobody
//! without privileges can set when an inode changed. What changed no earlier than the look, by the clock of its own file
//! system, is looked at again.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Stat, fstat, open, openat, statat};
use tollgate_core::Name;
use tollgate_core::scope::Entry;

use super::differences::Differences;
use super::measurement::{Measured, SUBMODULE};
use super::recent::Recent;
use super::set_id::is_set_id;
use crate::git::ObjectId;

/// The most files of a work tree that are looked at this way, and of all that are remembered beside the newest.
const FILES_MAX: usize = 1_000_000;
const REMEMBERED_MAX: usize = 200_000;
/// The most folders that are left out of a look.
const SKIPPED_MAX: usize = 1_000;
/// From so many folders on more than one thread looks.
const FOLDERS_ALONE: usize = 32;
const THREADS_MAX: usize = 4;
/// What is read of a folder at once.
const LISTING_BYTES: usize = 32 * 1024;
const GIT: &[u8] = b".git";
/// How long, and how often, the next step of a file system's clock is waited for.
const STEP: Duration = Duration::from_millis(1);
const STEPS_MAX: u32 = 20;

/// When something changed, by the clock of its file system.
type When = (i64, i64);

/// By what a file is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStat {
    pub mode: u32,
    pub size: u64,
    inode: u64,
    modified: When,
    changed: When,
    /// Whether it changed before the look, so that another change would show.
    is_sure: bool,
}

impl FileStat {
    fn of(stat: &Stat, look: Moment) -> Self {
        let modified = (stat.st_mtime, stat.st_mtime_nsec.cast_signed());
        let changed = (stat.st_ctime, stat.st_ctime_nsec.cast_signed());
        Self {
            mode: stat.st_mode,
            size: stat.st_size.cast_unsigned(),
            inode: stat.st_ino,
            modified,
            changed,
            is_sure: modified < look.when && changed < look.when,
        }
    }
}

/// A moment by the clock of a file system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    device: u64,
    when: When,
}

impl Moment {
    /// Now, where a folder of the engine is.
    pub fn now(folder: &Path) -> Option<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = open(folder.join("seen"), flags, Mode::RUSR | Mode::WUSR).ok()?;
        rustix::io::write(&file, b"\n").ok()?;
        let stat = fstat(&file).ok()?;
        Some(Self { device: stat.st_dev, when: (stat.st_mtime, stat.st_mtime_nsec.cast_signed()) })
    }

    /// The same, later than everything that was written before: the clock of a file system goes in steps of a few milliseconds.
    pub fn after_all(folder: &Path) -> Option<Self> {
        let first = Self::now(folder)?;
        let mut moment = first;
        for _ in 0..STEPS_MAX {
            if moment.when > first.when {
                break;
            }
            std::thread::sleep(STEP);
            moment = Self::now(folder)?;
        }
        Some(moment)
    }
}

/// The files of a folder, by name.
type Files = Vec<(Box<[u8]>, FileStat)>;

/// The files of a work tree by folder: `` and `src/`.
#[derive(Debug, Default)]
pub(super) struct FileStats(BTreeMap<Box<[u8]>, Files>);

/// One path that is not as it was.
#[derive(Debug)]
pub(super) struct Difference {
    pub path: Vec<u8>,
    /// None: it is gone.
    pub now: Option<FileStat>,
    pub was_there: bool,
}

impl FileStats {
    /// Looks at every file but those in the folders to skip. None where something is there that no tree holds, that is a
    /// repository of its own, or that cannot be looked at.
    pub fn at(root: &Path, moment: Moment, skip: &[Name]) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let top = open(root, flags, Mode::empty()).ok()?;
        if fstat(&top).ok()?.st_dev != moment.device {
            return None;
        }
        let count = AtomicUsize::new(0);
        let mut look = Self::default();
        let mut level: Vec<Box<[u8]>> = vec![Box::default()];
        while !level.is_empty() {
            let mut below = Vec::new();
            for (folder, (files, folders)) in level.iter().zip(each(&level, |folder| list(&top, folder, moment))?) {
                if count.fetch_add(files.len() + 1, Ordering::Relaxed) > FILES_MAX {
                    return None;
                }
                below.extend(
                    folders.into_iter().filter(|path| skip.binary_search_by(|name| name.as_bytes().cmp(path)).is_err()),
                );
                look.0.insert(folder.clone(), files);
            }
            level = below;
        }
        Some(look)
    }

    /// The files with a set-user-ID or set-group-ID bit, from the root on.
    pub fn with_set_id(&self) -> impl Iterator<Item = Vec<u8>> {
        let all = self.0.iter().flat_map(|(folder, files)| files.iter().map(move |file| (folder, file)));
        all.filter(|(_, (_, stat))| is_set_id(stat.mode)).map(|(folder, (name, _))| [&**folder, &**name].concat())
    }

    /// What changed in this second of its file system's clock, or later.
    pub fn changed_from(&self, second: i64) -> HashSet<Vec<u8>> {
        let all = self.0.iter().flat_map(|(folder, files)| files.iter().map(move |file| (folder, file)));
        let late = all.filter(|(_, (_, sign))| sign.changed.0 >= second);
        late.map(|(folder, (name, _))| [&**folder, &**name].concat()).collect()
    }

    /// Whether every file would be known again.
    pub fn is_sure(&self) -> bool {
        self.0.values().flatten().all(|(_, sign)| sign.is_sure)
    }

    fn files(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// What differs from an earlier look; none when it is more than `most`.
    pub fn since(&self, before: &Self, most: usize) -> Option<Vec<Difference>> {
        let mut found = Vec::new();
        let none = Vec::new();
        let gone = before
            .0
            .iter()
            .filter(|(folder, _)| !self.0.contains_key(*folder))
            .map(|(folder, was)| (folder, was, &none));
        let here = self.0.iter().map(|(folder, now)| (folder, before.0.get(folder).unwrap_or(&none), now));
        for (folder, was, now) in here.chain(gone) {
            if was == now && was.iter().all(|(_, sign)| sign.is_sure) {
                continue;
            }
            compare(folder, was, now, &mut found);
            if found.len() > most {
                return None;
            }
        }
        Some(found)
    }

    /// Leaves out what lies in folders that are no part of the tree.
    fn leave_out(&mut self, folders: &[Name]) {
        self.0.retain(|folder, _| !folders.iter().any(|out| folder.starts_with(out.as_bytes())));
    }

    fn holds(&self, path: &str) -> bool {
        let at = path.rfind('/').map_or(0, |slash| slash + 1);
        let (folder, name) = path.as_bytes().split_at(at);
        self.0.get(folder).is_some_and(|files| files.binary_search_by(|(known, _)| (**known).cmp(name)).is_ok())
    }
}

/// Goes through the files of a folder then and now, both by name.
fn compare(folder: &[u8], was: &Files, now: &Files, found: &mut Vec<Difference>) {
    let (mut was, mut now) = (was.iter().peekable(), now.iter().peekable());
    loop {
        let order = match (was.peek(), now.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        let old = if order.is_le() { was.next() } else { None };
        let new = if order.is_ge() { now.next() } else { None };
        let same = matches!((old, new), (Some((_, old)), Some((_, new))) if old.is_sure && old == new);
        if let Some((name, _)) = old.or(new).filter(|_| !same) {
            found.push(Difference {
                path: [folder, name].concat(),
                now: new.map(|(_, sign)| *sign),
                was_there: old.is_some(),
            });
        }
    }
}

/// Does something for each folder, on several threads when there are many.
fn each<T: Send>(folders: &[Box<[u8]>], run: impl Fn(&[u8]) -> Option<T> + Sync) -> Option<Vec<T>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    if folders.len() < FOLDERS_ALONE || threads == 1 {
        return folders.iter().map(|folder| run(folder)).collect();
    }
    let part = folders.len().div_ceil(threads);
    let parts: Vec<Option<Vec<T>>> = std::thread::scope(|scope| {
        let run = &run;
        let parts =
            folders.chunks(part).map(|part| scope.spawn(move || part.iter().map(|folder| run(folder)).collect()));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().map(|part| part.join().unwrap_or(None)).collect()
    });
    Some(parts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The files of a folder, and the folders below it.
fn list(top: &OwnedFd, path: &[u8], moment: Moment) -> Option<(Files, Vec<Box<[u8]>>)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = if path.is_empty() { b"." } else { path };
    let folder = openat(top, OsStr::from_bytes(name), flags, Mode::empty()).ok()?;
    let mut buffer = Vec::with_capacity(LISTING_BYTES);
    let mut entries = RawDir::new(folder.as_fd(), buffer.spare_capacity_mut());
    let (mut files, mut folders) = (Files::new(), Vec::new());
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        let name = entry.file_name();
        let bytes = name.to_bytes();
        if matches!(bytes, b"." | b"..") {
            continue;
        }
        if bytes.eq_ignore_ascii_case(GIT) {
            // The work tree's own is no part of it; any other makes a repository of its own.
            if path.is_empty() && bytes == GIT {
                continue;
            }
            return None;
        }
        let known = match entry.file_type() {
            FileType::Directory => None,
            _ => Some(statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?),
        };
        match known.map(|stat| (FileType::from_raw_mode(stat.st_mode), stat)) {
            None | Some((FileType::Directory, _)) => folders.push([path, bytes, b"/"].concat().into()),
            Some((FileType::RegularFile | FileType::Symlink, stat)) => {
                files.push((bytes.into(), FileStat::of(&stat, moment)));
            }
            Some(_) => return None,
        }
    }
    files.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Some((files, folders))
}

/// A work tree as it was measured.
#[derive(Debug)]
pub(super) struct MeasuredStats {
    pub tree: ObjectId,
    pub entries: Arc<Vec<Entry>>,
    /// What differs from the tree that it was measured against.
    pub differences: Differences,
    /// What git ignores there.
    pub ignored: Vec<Name>,
    pub look: FileStats,
}

impl MeasuredStats {
    /// What was measured after a look; none when the look does not hold all of it.
    pub fn of(mut look: FileStats, skipped: &[Name], found: &Measured) -> Option<Self> {
        let folders = folders_of(&found.ignored);
        let whole = found.nested.is_empty() && found.special.is_empty() && folders.len() <= SKIPPED_MAX;
        // A quoted name is one that looks do not compare; what was skipped must be what is ignored still.
        let plain = found.ignored.iter().all(|name| !name.starts_with('"'));
        if !whole || !plain || !skipped.iter().all(|name| folders.binary_search(name).is_ok()) {
            return None;
        }
        look.leave_out(&folders);
        let is_held = |entry: &Entry| &*entry.mode != SUBMODULE && look.holds(&entry.path);
        found.entries.iter().all(is_held).then(|| Self::after(look, found))
    }

    /// What was measured after a look that holds all of it.
    pub fn after(look: FileStats, found: &Measured) -> Self {
        let (tree, entries) = (found.tree.clone(), Arc::clone(&found.entries));
        Self { tree, entries, differences: found.differences.clone(), ignored: found.ignored.clone(), look }
    }

    /// The folders that git ignores, in order.
    pub fn skipped(&self) -> Vec<Name> {
        folders_of(&self.ignored)
    }

    /// What the tree has at a path.
    pub fn has(&self, path: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()?;
        self.entries.get(at)
    }
}

fn folders_of(ignored: &[Name]) -> Vec<Name> {
    let mut folders: Vec<Name> = ignored.iter().filter(|name| name.ends_with('/')).cloned().collect();
    folders.sort_unstable();
    folders
}

/// The work trees that this process measured.
static REMEMBERED: Mutex<Recent<PathBuf, Arc<MeasuredStats>>> = Mutex::new(Recent::new(REMEMBERED_MAX));

/// What was seen of a work tree.
pub(super) fn recall(place: &Path) -> Option<Arc<MeasuredStats>> {
    REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner).get(place)
}

/// Remembers what was seen of a work tree, or that nothing is known of it.
pub(super) fn remember(place: &Path, seen: Option<MeasuredStats>) {
    let (mut all, place) = (REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner), place.to_owned());
    match seen {
        Some(seen) => all.put(place, seen.look.files(), Arc::new(seen)),
        None => all.forget(&place),
    }
}
