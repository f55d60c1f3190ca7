//! Mounts that cannot be written: Landlock knows nothing of modes, owners and times, which could be changed everywhere.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::mount::mount_bind_recursive;

const RDONLY: u64 = 1;

/// What `mount_setattr` is told.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Has nothing of the file system changed but what lies in these places; answers whether it is so. Where the system does not let us mount, it
/// is as it was, and Landlock holds what it knows of.
pub(super) fn but(writes: &[PathBuf]) -> io::Result<bool> {
    let mut places: Vec<PathBuf> = writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    places.sort();
    // What lies in one of them is part of it.
    places.dedup_by(|next, before| next.starts_with(before));
    if places.iter().any(|place| mount_bind_recursive(place, place).is_err()) {
        return Ok(false);
    }
    if attributes(Path::new("/"), true, &Attributes { set: RDONLY, ..Attributes::default() }).is_err() {
        return Ok(false);
    }
    for place in &places {
        attributes(place, false, &Attributes { clear: RDONLY, ..Attributes::default() })?;
    }
    // The folder it works in is one of them, and has to be found anew.
    std::env::set_current_dir(std::env::current_dir()?)?;
    Ok(true)
}

#[expect(unsafe_code, reason = "no safe call sets the attributes of a tree of mounts")]
fn attributes(path: &Path, all_below: bool, attributes: &Attributes) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let flags = if all_below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the attributes are whole, as long as is said, and outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            std::ptr::from_ref(attributes),
            size_of::<Attributes>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
