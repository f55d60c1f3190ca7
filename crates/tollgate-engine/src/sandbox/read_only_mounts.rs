//! Mounts that cannot be written: Landlock knows nothing of modes, owners and times, which could be changed everywhere.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;
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

/// Has nothing of the file system changed but what lies in these places, and in the folders that are its `own`, without what is mounted in
/// those. `before` are the mounts that could be written before any of ours.
pub(super) fn but(writes: &[PathBuf], own: &[&Path], before: &[PathBuf]) -> io::Result<()> {
    let mut places: Vec<PathBuf> = writes.iter().filter_map(|path| path.canonicalize().ok()).collect();
    places.sort();
    // What lies in one of them is part of it.
    places.dedup_by(|next, before| next.starts_with(before));
    // What could not be written before is not made writable for a worker; nor is what is mounted below.
    places
        .retain(|place| rustix::fs::statvfs(place).is_ok_and(|stat| !stat.f_flag.contains(StatVfsMountFlags::RDONLY)));
    places.iter().try_for_each(|place| mount_bind_recursive(place, place))?;
    set(Path::new("/"))?;
    let writable = |place: &Path| attributes(place, false, &Attributes { clear: RDONLY, ..Attributes::default() });
    for place in &places {
        writable(place)?;
        for mount in before.iter().filter(|mount| mount.starts_with(place) && *mount != place) {
            writable(mount).ok();
        }
    }
    own.iter().try_for_each(|place| writable(place))?;
    // The folder it works in is one of them, and has to be found anew.
    std::env::set_current_dir(std::env::current_dir()?)
}

/// Has nothing changed that lies at a mount, or below it.
pub(super) fn set(mount: &Path) -> io::Result<()> {
    attributes(mount, true, &Attributes { set: RDONLY, ..Attributes::default() })
}

/// The same for one mount, without those below it.
pub(super) fn set_one(mount: &Path) -> io::Result<()> {
    attributes(mount, false, &Attributes { set: RDONLY, ..Attributes::default() })
}

/// The mounts that can be written.
pub(super) fn writable_mounts() -> Vec<PathBuf> {
    all_mounts().into_iter().filter_map(|(place, writable)| writable.then_some(place)).collect()
}

/// Every mount.
pub(super) fn mounts() -> Vec<PathBuf> {
    all_mounts().into_iter().map(|(place, _)| place).collect()
}

/// Every mount, and whether it can be written.
fn all_mounts() -> Vec<(PathBuf, bool)> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mount = |line: &[u8]| {
        // `ID PARENT DEVICE ROOT PLACE OPTIONS …`
        let mut words = line.split(|byte| *byte == b' ').skip(4);
        let (place, options) = (words.next()?, words.next()?);
        let writable = options.split(|byte| *byte == b',').any(|option| option == b"rw");
        Some((PathBuf::from(OsString::from_vec(unescaped(place))), writable))
    };
    text.split(|byte| *byte == b'\n').filter_map(mount).collect()
}

/// Spaces and such stand there as `\040`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(|code| str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[expect(unsafe_code, reason = "no safe call sets the attributes of a tree of mounts")]
fn attributes(path: &Path, all_below: bool, attributes: &Attributes) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let flags = libc::AT_SYMLINK_NOFOLLOW | if all_below { libc::AT_RECURSIVE } else { 0 };
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
