//! Where a delegation keeps what it needs meanwhile: below the state directory, and gone afterwards.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{Stop, VERIFIER};
use crate::workspace::{Claim, WorkspaceError};

/// A folder of its own; it goes when this does, with every folder that was made for it.
#[derive(Debug)]
pub(super) struct Scratch {
    claim: Option<Claim>,
    made: Vec<PathBuf>,
}

impl Scratch {
    /// Makes one below the state directory.
    pub fn make(state: &Path) -> Result<Self, WorkspaceError> {
        // The second is made when a worker is recorded.
        let own = [state.join("scratch"), state.join("workers")];
        let all = own.iter().map(PathBuf::as_path).chain(state.ancestors());
        let made = all.filter(|folder| !folder.exists()).map(Path::to_owned).collect();
        let claim = Claim::make(&state.join("scratch").join(format!("delegate-{}", std::process::id())))?;
        Ok(Self { claim: Some(claim), made })
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.claim.as_ref().map(|claim| claim.path().join(name)).unwrap_or_default()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.claim = None;
        // Deepest first; one that somebody else uses by now is not empty.
        self.made.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
}

/// The folder that a worker works in, while it does: two that write at once could not be told apart by what changed there.
#[derive(Debug)]
pub(super) struct FolderLock(#[expect(dead_code, reason = "the lock goes when its file is closed")] Option<File>);

impl FolderLock {
    /// Who judges may be one of several; who writes is alone.
    pub fn take(cwd: &Path, role: &str) -> Result<Self, Stop> {
        let Ok(folder) = File::open(cwd) else { return Ok(Self(None)) };
        let taken = if role == VERIFIER { folder.try_lock_shared() } else { folder.try_lock() };
        match taken {
            Ok(()) => Ok(Self(Some(folder))),
            Err(TryLockError::WouldBlock) => {
                let why = "Another delegation works in {}, and what each of them changed could not be separated: wait for its end, or work in another checkout.";
                Err(Stop::execution(why.replace("{}", &cwd.display().to_string())))
            }
            // Not every file system has locks.
            Err(TryLockError::Error(_)) => Ok(Self(None)),
        }
    }
}

/// The end of a file, as text.
pub(super) fn tail(path: &Path, bytes: usize) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes as u64)))?;
        let mut end = Vec::new();
        file.take(bytes as u64).read_to_end(&mut end)?;
        Ok(end)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}
