//! This program, as a file: the one that runs, whatever lies in its place since.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Whoever starts this starts the file that is running; below this program that is the same file.
const RUNNING: &str = "/proc/self/exe";

static PLACE: OnceLock<PathBuf> = OnceLock::new();

/// This program, to be started again.
pub fn own_program() -> io::Result<PathBuf> {
    own_place().map(|_| RUNNING.into())
}

/// Where the file lay when it was first asked for.
pub fn own_place() -> io::Result<&'static Path> {
    if PLACE.get().is_none() {
        PLACE.set(std::env::current_exe()?).ok();
    }
    PLACE.get().map(PathBuf::as_path).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Whether a path is this program by what runs, not by where it lies.
pub(crate) fn is_own(path: &Path) -> bool {
    path == Path::new(RUNNING)
}
