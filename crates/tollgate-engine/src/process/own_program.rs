//! This program, as a file: the one that runs, whatever lies in its place since.

use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Whoever starts this starts the file that is running; below this program that is the same file.
const RUNNING: &str = "/proc/self/exe";

/// The name by which scripts call it, whatever the file is called.
const NAME: &str = "tollgate";
/// What lies below is found nowhere else: a program in a sandbox has shared memory of its own.
const DEVICES: &str = "/dev";

static PLACE: OnceLock<PathBuf> = OnceLock::new();
static NEXT: AtomicU32 = AtomicU32::new(0);

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

/// Puts this program into a folder, by the name by which scripts call it: a link to where the file lies, or a copy of what runs, once
/// something else lies there.
pub(crate) fn put_into(folder: &Path) -> io::Result<()> {
    let (place, named) = (own_place()?, folder.join(NAME));
    let leads = is_running(place) && !place.starts_with(DEVICES);
    if leads && named.read_link().is_ok_and(|target| target == place) {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    // Others may look it up meanwhile.
    let next = folder.join(format!("{NAME}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    if leads {
        symlink(place, &next)?
    } else {
        std::fs::copy(RUNNING, &next).map(drop)?
    }
    std::fs::rename(next, named)
}

/// Whether a path leads to the file that runs.
fn is_running(path: &Path) -> bool {
    let file = |path: &Path| path.metadata().map(|meta| (meta.dev(), meta.ino())).ok();
    file(path).is_some_and(|found| file(Path::new(RUNNING)) == Some(found))
}

/// Whether a path is this program by what runs, not by where it lies.
pub(crate) fn is_own(path: &Path) -> bool {
    path == Path::new(RUNNING)
}
