//! Set-user-ID and set-group-ID bits: whoever runs a file with one acts as its owner or group. A worker may set them on what it writes, and
//! git records neither, so no change would show it. They are taken off when it has left.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, chmodat, fchmod, fstat, openat, statat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::WorkspaceError;

const BITS: u32 = 0o6000;
/// What is read of a folder at once.
const LISTING_BYTES: usize = 32 * 1024;

/// Whether a file has one of the bits. On a folder the group's says only which group new files have.
pub fn is_set_id(mode: u32) -> bool {
    mode & BITS != 0 && FileType::from_raw_mode(mode) == FileType::RegularFile
}

/// Takes them off a file; what is no file, or is not there, stays as it is.
pub(super) fn clear(path: &Path) -> io::Result<()> {
    Ok(clear_at(CWD, path)?)
}

fn clear_at(folder: BorrowedFd<'_>, name: impl Arg) -> Result<(), Errno> {
    // Opened by its place alone, so that it is the same file that is looked at and changed, and no link is followed.
    let file = match openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
        opened => opened?,
    };
    let mode = fstat(&file)?.st_mode;
    if !is_set_id(mode) {
        return Ok(());
    }
    match chmodat(
        CWD,
        format!("/proc/self/fd/{}", file.as_raw_fd()),
        Mode::from_raw_mode(mode & !BITS),
        AtFlags::empty(),
    ) {
        // It belongs to somebody else: a container's user, who is nobody outside of it.
        Err(Errno::PERM) => Ok(()),
        done => done,
    }
}

/// Takes them off a file or all files below a folder. Links are not followed.
pub fn clear_set_id(place: &Path) -> Result<(), WorkspaceError> {
    super::at(place, clear_below(place, Mode::RUSR | Mode::XUSR))
}

/// Gives the owner every right on the folders below a path, so that they can be removed.
pub(super) fn open_up(place: &Path) -> io::Result<()> {
    clear_below(place, Mode::RWXU)
}

/// The owner has these rights on each folder then.
fn clear_below(place: &Path, rights: Mode) -> io::Result<()> {
    let name = CString::new(place.as_os_str().as_bytes())?;
    // A folder is opened from the one that it is in: no path is too long.
    let mut open: Vec<(Option<Rc<OwnedFd>>, CString)> = Vec::new();
    visit(None, name, FileType::Unknown, &mut open)?;
    let mut buffer = Vec::with_capacity(LISTING_BYTES);
    while let Some((above, name)) = open.pop() {
        let Some(folder) = open_folder(as_fd(above.as_ref()), &name, rights)?.map(Rc::new) else { continue };
        let mut entries = RawDir::new(folder.as_fd(), buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
                visit(Some(&folder), entry.file_name().to_owned(), entry.file_type(), &mut open)?;
            }
        }
    }
    Ok(())
}

fn as_fd(folder: Option<&Rc<OwnedFd>>) -> BorrowedFd<'_> {
    folder.map_or(CWD, AsFd::as_fd)
}

/// Clears a file, and notes a folder to be gone through.
fn visit(
    folder: Option<&Rc<OwnedFd>>,
    name: CString,
    kind: FileType,
    open: &mut Vec<(Option<Rc<OwnedFd>>, CString)>,
) -> Result<(), Errno> {
    let mode = match kind {
        FileType::Directory => kind.as_raw_mode(),
        FileType::RegularFile | FileType::Unknown => match statat(as_fd(folder), &name, AtFlags::SYMLINK_NOFOLLOW) {
            // It is gone, or in a folder of somebody else.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => return Ok(()),
            stat => stat?.st_mode,
        },
        _ => return Ok(()),
    };
    if FileType::from_raw_mode(mode) == FileType::Directory {
        open.push((folder.map(Rc::clone), name));
    } else if is_set_id(mode) {
        clear_at(as_fd(folder), &name)?;
    }
    Ok(())
}

/// Opens a folder, also one that its owner closed to itself; none where it is gone or somebody else's.
fn open_folder(above: BorrowedFd<'_>, name: &CString, rights: Mode) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(above, name, flags, Mode::empty());
    let opened = match open() {
        Err(Errno::ACCESS) => chmodat(above, name, Mode::RWXU, AtFlags::empty()).and_then(|()| open()),
        opened => opened,
    };
    let folder = match opened {
        Err(Errno::NOENT | Errno::PERM) => return Ok(None),
        opened => opened?,
    };
    if !Mode::from_raw_mode(fstat(&folder)?.st_mode).contains(rights) {
        match fchmod(&folder, Mode::RWXU) {
            Err(Errno::PERM) => {}
            done => done?,
        }
    }
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::testing::{folder, write};

    fn set(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().mode() & 0o7777
    }

    #[test]
    fn files_lose_the_bits_and_keep_the_rest_of_their_mode() {
        let root = folder("set-id");
        for (file, before) in [("a", 0o4755), ("deep/b", 0o2711), ("deep/er/c", 0o6000), ("d", 0o1644)] {
            write(&root, file, "x");
            set(&root.join(file), before);
        }
        set(&root.join("deep"), 0o2775);
        write(&root, "closed/e", "x");
        set(&root.join("closed/e"), 0o4711);
        set(&root.join("closed"), 0o011);
        write(&root, "listed/f", "x");
        set(&root.join("listed/f"), 0o4711);
        set(&root.join("listed"), 0o444);
        let outside = folder("set-id-outside");
        write(&outside, "kept", "x");
        set(&outside.join("kept"), 0o4755);
        symlink(outside.join("kept"), root.join("link")).unwrap();
        symlink(&*outside, root.join("folder")).unwrap();
        clear_set_id(&root).unwrap();
        let found = ["a", "deep/b", "deep/er/c", "d", "deep", "closed/e", "listed/f"];
        let found = found.map(|path| mode(&root.join(path)));
        assert_eq!(found, [0o755, 0o711, 0, 0o1644, 0o2775, 0o711, 0o711]);
        assert_eq!(mode(&outside.join("kept")), 0o4755, "links are not followed");
        set(&root.join("a"), 0o6755);
        clear_set_id(&root.join("a")).unwrap();
        clear(&root.join("link")).unwrap();
        clear_set_id(&root.join("absent")).unwrap();
        assert_eq!((mode(&root.join("a")), mode(&outside.join("kept"))), (0o755, 0o4755));
    }
}
