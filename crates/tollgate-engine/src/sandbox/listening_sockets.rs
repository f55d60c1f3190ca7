//! Sockets with a path that somebody listens at: whoever can name one can connect to it, and no file system right is asked for.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Where name lookup is answered: hosts, users, groups. A program without it knows neither its own user nor any host.
const NAME_LOOKUP: [&str; 4] = ["/run/nscd", "/run/systemd/resolve", "/run/systemd/userdb", "/var/lib/sss/pipes"];
/// Where services put their sockets. One that was bound by a relative name is found only by looking there.
const RUN: &str = "/run";
/// The most folders that are looked into there, and how deep.
const FOLDERS_MAX: usize = 2_000;
const DEPTH_MAX: usize = 6;

/// The sockets that are there now, by where they lie, but for those of name lookup.
pub(super) fn listening() -> Vec<PathBuf> {
    let table = std::fs::read("/proc/net/unix").unwrap_or_default();
    let mut found: Vec<PathBuf> = named(&table).collect();
    found.extend(below(Path::new(RUN)));
    let mut found: Vec<PathBuf> = found.iter().filter_map(|path| path.canonicalize().ok()).collect();
    found.retain(|path| path.metadata().is_ok_and(|meta| meta.file_type().is_socket()));
    found.retain(|path| !NAME_LOOKUP.iter().any(|folder| path.starts_with(folder)));
    found.sort();
    found.dedup();
    found
}

/// The paths of the kernel's table of sockets: `Num RefCount Protocol Flags Type St Inode Path`.
fn named(table: &[u8]) -> impl Iterator<Item = PathBuf> {
    let path = |line: &[u8]| {
        let mut rest = line;
        for _ in 0..7 {
            rest = rest.trim_ascii_start();
            rest = &rest[rest.iter().position(|byte| *byte == b' ')?..];
        }
        Some(PathBuf::from(OsStr::from_bytes(&rest[1..])))
    };
    table.split(|byte| *byte == b'\n').filter_map(path).filter(|path| path.is_absolute())
}

/// The sockets in a folder and in those below it; links are not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open, mut looked) = (Vec::new(), vec![(folder.to_owned(), 0)], 0);
    while let Some((folder, depth)) = open.pop() {
        looked += 1;
        if looked > FOLDERS_MAX {
            break;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => found.push(entry.path()),
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => open.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_kernel_names_sockets_by_their_paths() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01 20123 /run/x y.sock\n\
                     0000000000000000: 00000003 00000000 00000000 0001 03 20124\n\
                     0000000000000000: 00000002 00000000 00010000 0001 01     9 @abstract\n\
                     0000000000000000: 00000002 00000000 00000000 0002 01     8 relative.sock\n\
                     0000000000000000: 00000002 00000000 00000000 0002 01     7 /run/log\n";
        assert_eq!(named(table.as_bytes()).collect::<Vec<_>>(), [Path::new("/run/x y.sock"), Path::new("/run/log")]);
    }

    #[test]
    fn a_socket_that_listens_is_found() {
        let path = std::env::temp_dir().join(format!("tollgate-{}.sock", std::process::id()));
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(listening().contains(&path.canonicalize().unwrap()));
        std::fs::remove_file(path).unwrap();
    }
}
