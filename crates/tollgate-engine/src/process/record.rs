//! The record of worker processes: one small file per process, named by it.
//!
//! `workers/PID-START` in the state directory holds the attempt's marker. So a command can tell that it runs below a
//! worker even when its environment was cleared, and a driver can end what a dead one left.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::table;
use super::table::{MARKER, ProcessId, end_all};

/// A recorded worker process; the record goes when this does.
#[derive(Debug)]
pub struct Recorded(PathBuf);

impl Recorded {
    /// Records a worker process.
    pub fn new(state: &Path, id: ProcessId, marker: &str) -> io::Result<Self> {
        let folder = state.join("workers");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(file_name(id));
        std::fs::write(&path, marker)?;
        Ok(Self(path))
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

fn file_name(id: ProcessId) -> String {
    format!("{}-{}", id.pid, id.start)
}

/// The recorded processes whose marker belongs to `run`, alive or not.
pub fn recorded(state: &Path, run: &str) -> Vec<(ProcessId, String)> {
    let entries = std::fs::read_dir(state.join("workers")).into_iter().flatten().flatten();
    let read = entries.filter_map(|entry| {
        let name = entry.file_name();
        let (pid, start) = name.to_str()?.split_once('-')?;
        let id = ProcessId { pid: pid.parse().ok()?, start: start.parse().ok()? };
        let marker = std::fs::read_to_string(entry.path()).ok()?;
        marker.starts_with(&format!("{run}/")).then_some((id, marker))
    });
    read.collect()
}

/// Ends every worker of a run that a dead driver left, recorded or marked, and forgets the records.
pub fn end_recorded(state: &Path, run: &str, grace: Duration) -> usize {
    let mut ended = end_all(run, grace);
    for (id, marker) in recorded(state, run) {
        if id.is_alive() {
            table::end_tree(id, Some(&marker), grace);
            ended += 1;
        }
        std::fs::remove_file(state.join("workers").join(file_name(id))).ok();
    }
    ended
}

/// Whether this process runs below a worker: it is marked, or a recorded worker process is an ancestor.
pub fn below_a_worker(state: &Path) -> bool {
    let folder = state.join("workers");
    let is_recorded = |id: ProcessId| folder.join(file_name(id)).exists();
    std::env::var_os(MARKER).is_some() || ProcessId::of(std::process::id()).ancestors().into_iter().any(is_recorded)
}
