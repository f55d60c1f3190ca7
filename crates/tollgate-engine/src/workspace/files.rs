//! Names and files that survive a crash and a hostile tree.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::digest::Digest;

use super::{WorkspaceError, at};

const NAME_BYTES_MAX: usize = 100;

/// A name as one component of a path: no separator, no dot in front, nothing odd, and never two names alike.
pub fn safe_name(name: &str) -> String {
    let mut safe = String::new();
    for (i, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => safe.push(char::from(byte)),
            b'.' if i > 0 => safe.push('.'),
            _ => safe.push_str(&format!("%{byte:02x}")),
        }
    }
    match safe.len() {
        0 => "%".to_owned(),
        length if length > NAME_BYTES_MAX => format!("%{}", Digest::of(name.as_bytes())),
        _ => safe,
    }
}

static NEXT_DRAFT: AtomicU64 = AtomicU64::new(0);

/// Writes a file so that it is there whole or not at all, and on the disk when this answers.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    at(folder, std::fs::create_dir_all(folder))?;
    // Two sides may write the same file at the same time: each has a draft of its own.
    let number = NEXT_DRAFT.fetch_add(1, Ordering::Relaxed);
    let next = beside(path, &format!("{}-{number}@new", std::process::id()));
    let mut file = at(&next, std::fs::File::create(&next))?;
    at(&next, file.write_all(bytes).and_then(|()| file.sync_all()))?;
    at(path, std::fs::rename(&next, path))?;
    sync_folder(folder)
}

/// Makes a rename in a folder last.
pub(super) fn sync_folder(folder: &Path) -> Result<(), WorkspaceError> {
    at(folder, std::fs::File::open(folder).and_then(|folder| folder.sync_all()))
}

/// A name beside a path that no [`safe_name`] can be.
pub(super) fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!("@{what}"));
    path.with_file_name(name)
}

/// Removes a folder and all in it, also what was made read-only; a folder that is not there is no error.
pub fn remove_tree(path: &Path) -> Result<(), WorkspaceError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            super::set_id::open_up(path).ok();
            at(path, std::fs::remove_dir_all(path))
        }
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn a_name_is_one_component_and_never_another_names() {
        assert_eq!(safe_name("api-v2.x"), "api-v2.x");
        for (name, safe) in
            [("..", "%2e."), ("a/b", "a%2fb"), ("", "%"), ("@run", "%40run"), ("%", "%25"), ("ü", "%c3%bc")]
        {
            assert_eq!(safe_name(name), safe);
        }
        let (long, other) = ("x".repeat(200), "x".repeat(201));
        assert!(safe_name(&long).len() <= NAME_BYTES_MAX && safe_name(&long) != safe_name(&other));
    }

    #[test]
    fn a_read_only_tree_can_be_removed() {
        let root = folder("read-only");
        write(&root, "a/b/c", "x");
        std::fs::set_permissions(root.join("a/b"), std::fs::Permissions::from_mode(0o555)).unwrap();
        std::fs::set_permissions(root.join("a"), std::fs::Permissions::from_mode(0o000)).unwrap();
        remove_tree(&root.join("a")).unwrap();
        assert!(!root.join("a").exists());
        remove_tree(&root.join("a")).unwrap();
    }
}
