//! The record of worker processes: one small file per process, named by it.
//!
//! `workers/PID-START` beside the journal holds the attempt's marker. So a command can tell that it runs below a worker
//! even when its environment was cleared, and a driver can end what a dead one left. A driver records itself too: nothing
//! but workers, commands that check and git runs below it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::driver_mark;
use super::table;
use super::table::{MARKER, ProcessId, end_all, marker_of};

/// What the record of a driver holds; no run has this name.
const DRIVER: &str = "driver";
/// The folder of the records.
const FOLDER: &str = "workers";
/// Open files of a process that are looked at.
const FILES_MAX: usize = 10_000;

/// The records that this process holds open as a driver.
static HELD: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

/// A recorded worker process; the record goes when this does.
#[derive(Debug)]
pub struct Recorded(PathBuf);

impl Recorded {
    /// Records a worker process.
    pub fn new(state: &Path, id: ProcessId, marker: &str) -> io::Result<Self> {
        write(state, id, marker).map(Self)
    }
}

fn write(state: &Path, id: ProcessId, marker: &str) -> io::Result<PathBuf> {
    let folder = folder(state);
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(file_name(id));
    std::fs::write(&path, marker)?;
    Ok(path)
}

/// The folder of the records: beside the journal itself, whatever path leads to it.
fn folder(state: &Path) -> PathBuf {
    let journal = state.join("journal.db").canonicalize().ok();
    let home = journal.as_deref().and_then(Path::parent).map(Path::to_owned);
    home.or_else(|| state.canonicalize().ok()).unwrap_or_else(|| state.to_owned()).join(FOLDER)
}

/// Records this process as a driver for as long as it lives, and forgets drivers that are dead.
pub fn record_driver(state: &Path) -> io::Result<()> {
    for (id, marker) in entries(state) {
        if is_driver(&marker) && !id.is_alive() {
            std::fs::remove_file(folder(state).join(file_name(id))).ok();
        }
    }
    let path = write(state, ProcessId::own(), DRIVER)?;
    // It stays, and stays open, after one run's work: this process may still drive another.
    HELD.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), File::open(path)?);
    Ok(())
}

fn is_driver(marker: &str) -> bool {
    marker == DRIVER
}

/// Lets go of what this process holds open as a driver: tests share a process.
#[cfg(test)]
pub(super) fn drive_no_more() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

impl Drop for Recorded {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

fn file_name(id: ProcessId) -> String {
    format!("{}-{}", id.pid, id.start)
}

/// Everything that is recorded, alive or not.
fn entries(state: &Path) -> Vec<(ProcessId, String)> {
    let entries = std::fs::read_dir(folder(state)).into_iter().flatten().flatten();
    let read = entries.filter_map(|entry| {
        let name = entry.file_name();
        let (pid, start) = name.to_str()?.split_once('-')?;
        let id = ProcessId { pid: pid.parse().ok()?, start: start.parse().ok()? };
        Some((id, std::fs::read_to_string(entry.path()).ok()?))
    });
    read.collect()
}

/// The recorded processes whose marker belongs to `run`, alive or not.
pub fn recorded(state: &Path, run: &str) -> Vec<(ProcessId, String)> {
    let prefix = format!("{run}/");
    entries(state).into_iter().filter(|(_, marker)| marker.starts_with(&prefix)).collect()
}

/// Ends every worker of a run that a dead driver left, recorded or marked, and forgets the records.
pub fn end_recorded(state: &Path, run: &str, grace: Duration) -> usize {
    let mut ended = end_all(run, grace);
    for (id, marker) in recorded(state, run) {
        if id.is_alive() {
            table::end_tree(id, Some(&marker), grace);
            ended += 1;
        }
        std::fs::remove_file(folder(state).join(file_name(id))).ok();
    }
    ended
}

/// Whether this process runs below a worker: it or an ancestor is marked, recorded or in a recorded worker's group or
/// session, or an ancestor drives runs, or it carries the mark that everything below a driver has.
pub fn below_a_worker(state: &Path) -> bool {
    std::env::var_os(MARKER).is_some() || is_below(ProcessId::own(), state)
}

/// Whether a process holds its own record open: so a driver is known past a hard link to the journal, and when its record
/// was taken away.
fn drives(id: ProcessId) -> bool {
    let open = std::fs::read_dir(format!("/proc/{}/fd", id.pid)).into_iter().flatten().flatten().take(FILES_MAX);
    let own = format!("/{FOLDER}/{}", file_name(id));
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|path| path.to_str().is_some_and(|path| path.trim_end_matches(" (deleted)").ends_with(&own)))
}

/// The same for another process.
pub(super) fn is_below(id: ProcessId, state: &Path) -> bool {
    let folder = folder(state);
    let ancestors = id.ancestors();
    let works = |id: &ProcessId| folder.join(file_name(*id)).exists() || marker_of(id.pid).is_some();
    if ancestors.iter().any(|id| works(id) || drives(*id)) {
        return true;
    }
    let recorded = entries(state);
    // An orphan of a dead driver has lost everything but this.
    if driver_mark::is_marked(id.pid) {
        return true;
    }
    // An orphan has lost its ancestors, not the group and the session that it was born into.
    let leaders = std::iter::once(id).chain(ancestors).flat_map(|id| table::leaders_of(id.pid));
    let leaders: BTreeSet<u32> = leaders.collect();
    let mut workers = recorded.into_iter().filter(|(id, marker)| !is_driver(marker) && leaders.contains(&id.pid));
    workers.any(|(id, _)| matches!(ProcessId::of(id.pid).start, start if start == 0 || start == id.start))
}
