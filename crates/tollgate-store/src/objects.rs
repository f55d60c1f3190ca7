//! Large objects: files named by their digest, written and synced before the append that names them.
#![expect(clippy::disallowed_methods, reason = "the room of the objects' files")]

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::digest::Digest;

use crate::error::{ReadError, StoreError};
use crate::journal::{OBJECT_BYTES_MAX, Object};

/// Makes a folder that only its owner can enter.
pub(crate) fn private_dir(path: &Path) -> Result<(), StoreError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| StoreError::io("make the folder", path, e))?;
    let metadata = fs::metadata(path).map_err(|e| StoreError::io("read", path, e))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        let closed = fs::set_permissions(path, fs::Permissions::from_mode(0o700));
        closed.map_err(|e| StoreError::io("close to others", path, e))?;
    }
    Ok(())
}

/// Opens a file that only its owner can read, and makes it if it is not there.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Opens a file to read it, if it is there.
pub(crate) fn file_if_any(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// The folder of large objects.
#[derive(Debug)]
pub(crate) struct ObjectFiles {
    dir: PathBuf,
}

/// Tells two half-written files of one process apart.
static NEXT: AtomicU64 = AtomicU64::new(0);

impl ObjectFiles {
    pub(crate) fn open(dir: PathBuf) -> Result<Self, StoreError> {
        if !dir.is_dir() {
            private_dir(&dir)?;
            sync_dir(dir.parent().unwrap_or(&dir))?;
        }
        Ok(Self { dir })
    }

    /// The folder as it is, for reading only.
    pub(crate) fn open_to_read(dir: PathBuf) -> Self {
        Self { dir }
    }

    fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        self.dir.join(&name[..2]).join(name)
    }

    /// Writes an object unless it is there whole; it is on the disk when this returns.
    pub(crate) fn put(&self, object: &Object) -> Result<(), StoreError> {
        let path = self.path(object.digest());
        // A damaged file is written again: its right content is at hand. One that is there is young again: whoever cleans up
        // leaves it to the event that will name it.
        if matches!(self.get(object.digest()), Ok(Some(_))) && touch(&path).is_ok() {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.dir);
        private_dir(folder)?;
        // Also when the folder was there: who made it may have died before it lasted.
        sync_dir(&self.dir)?;
        let unfinished = folder.join(format!("tmp-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let written = write_synced(&unfinished, object.bytes()).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            // The error that counts is the first one; a left-over is only litter.
            let _ = fs::remove_file(&unfinished);
            return Err(StoreError::io("write", &path, error));
        }
        sync_dir(folder)
    }

    /// Reads an object and compares it with its digest.
    pub(crate) fn get(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, ReadError> {
        let path = self.path(digest);
        let failed = |e| StoreError::io("read", &path, e);
        let Some(file) = file_if_any(&path).map_err(failed)? else { return Ok(None) };
        let mut bytes = Vec::new();
        // One byte more than allowed is enough to make the digest differ.
        file.take(OBJECT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        checked(digest, bytes.into()).map(Some)
    }
}

/// Makes a file as young as one that was written now.
fn touch(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path)?.set_modified(std::time::SystemTime::now())
}

/// Compares bytes with the digest they were stored under.
pub(crate) fn checked(digest: Digest, bytes: Arc<[u8]>) -> Result<Arc<[u8]>, ReadError> {
    let actual = Digest::of(&bytes);
    if actual == digest { Ok(bytes) } else { Err(ReadError::Changed { digest, actual }) }
}

pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Makes the names in a folder last.
pub(crate) fn sync_dir(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(|e| StoreError::io("sync", path, e))
}
