//! What belongs to a living process: locks that go with it, however it ends.
//!
//! A [`Claim`] is a scratch folder that its maker holds locked, so that whoever cleans up can tell what is left over from
//! what is in use. A [`WorkLock`] is the right to touch the work of a run: one executor or command at a time has it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tollgate_core::id::RunId;

use super::files::remove_tree;
use super::{Workspace, WorkspaceError, at, run_folder};

/// How long the work of a run is waited for.
const HOLD_LIMIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// How often a claim is made again when somebody cleaned it away in the moment between making and locking.
const TRIES: u32 = 100;
const HOLDER_BYTES_MAX: u64 = 64;

static HOLD: OnceLock<Duration> = OnceLock::new();

/// Has the work of a run waited for so long in this process. Debug builds only, for tests in which the wait must pass.
#[cfg(debug_assertions)]
pub fn hold_for(ms: u64) {
    HOLD.set(Duration::from_millis(ms)).ok();
}

/// A folder that this process has for itself; it goes when this does.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    _lock: File,
}

impl Claim {
    /// Makes a folder and claims it.
    pub fn make(path: &Path) -> Result<Self, WorkspaceError> {
        for _ in 0..TRIES {
            at(path, std::fs::create_dir_all(path))?;
            if let Some(claim) = Self::take(path) {
                return Ok(claim);
            }
        }
        at(path, Err(std::io::ErrorKind::ResourceBusy.into()))
    }

    /// Claims a folder whose maker is gone; none while it lives.
    pub fn take(path: &Path) -> Option<Self> {
        let lock = File::open(path).ok()?;
        lock.try_lock().ok()?;
        // Somebody may have removed it, and another made it again, before it was locked.
        let (locked, there) = (lock.metadata().ok()?, path.symlink_metadata().ok()?);
        let same = (locked.dev(), locked.ino()) == (there.dev(), there.ino());
        (same && there.is_dir()).then(|| Self { path: path.to_owned(), _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it up and leaves the folder, for the next who cleans.
    pub fn leave(mut self) {
        self.path = PathBuf::new();
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Removed under the lock; what cannot be removed now is cleaned later.
            remove_tree(&self.path).ok();
        }
    }
}

/// The right to touch the work trees and the private git folder of a run; it goes with the last copy.
#[derive(Debug, Clone)]
pub struct WorkLock(Arc<File>);

/// The work locks that the threads of one executor share: they work side by side in the trees of a run, everybody else waits.
#[derive(Debug, Default)]
pub struct WorkLocks(Mutex<BTreeMap<RunId, Arc<Mutex<Weak<File>>>>>);

impl WorkLocks {
    /// Waits for the right to touch the work of a run, unless another thread of this executor has it.
    pub fn lock(&self, state: &Path, run: RunId) -> Result<WorkLock, WorkspaceError> {
        let of_run = Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(run).or_default());
        // Kept while the file is waited for: another thread of this run would wait for the same, those of other runs do not.
        let mut held = of_run.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = held.upgrade() {
            return Ok(WorkLock(file));
        }
        let lock = Workspace::lock(state, run)?;
        *held = Arc::downgrade(&lock.0);
        Ok(lock)
    }
}

impl Workspace {
    /// Waits for the right to touch the work of a run; refused when somebody else keeps it too long.
    pub fn lock(state: &Path, run: RunId) -> Result<WorkLock, WorkspaceError> {
        Self::lock_within(state, run, HOLD.get().copied().unwrap_or(HOLD_LIMIT))
    }

    pub(super) fn lock_within(state: &Path, run: RunId, limit: Duration) -> Result<WorkLock, WorkspaceError> {
        let folder = run_folder(state, run);
        at(&folder, std::fs::create_dir_all(&folder))?;
        let path = folder.join("lock");
        let deadline = Instant::now() + limit;
        loop {
            if let Some(held) = try_lock_work(&path)? {
                return Ok(held);
            }
            if Instant::now() >= deadline {
                return Err(WorkspaceError::Locked { run, holder: holder(&path) });
            }
            std::thread::sleep(POLL);
        }
    }
}

fn try_lock_work(path: &Path) -> Result<Option<WorkLock>, WorkspaceError> {
    let mut file = at(path, File::options().create(true).truncate(false).read(true).write(true).open(path))?;
    if file.try_lock().is_err() {
        return Ok(None);
    }
    // For the message of whoever waits; nothing depends on it.
    let told = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
    at(path, told)?;
    Ok(Some(WorkLock(Arc::new(file))))
}

/// The process that holds the lock, as it said.
fn holder(path: &Path) -> String {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(HOLDER_BYTES_MAX).read_to_string(&mut text));
    let pid = read.ok().and_then(|_| text.trim().parse::<u32>().ok());
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}
