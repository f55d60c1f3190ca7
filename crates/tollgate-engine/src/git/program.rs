//! The `git` that this process uses: found once, and the same file for as long as the process lives.
//!
//! It runs outside of every sandbox. A worker that could put a program of that name in its way, or another file in its place, would have
//! all the rights of the person.

#![expect(clippy::disallowed_methods, reason = "this module owns the file of git")]

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::paths::trace_links;
use crate::process::{find_in, search_path};

static FOUND: OnceLock<Option<GitProgram>> = OnceLock::new();
static WRITTEN: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// A file, and what tells it from another one that is put in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitProgram {
    path: PathBuf,
    /// Where the file itself lies.
    real: PathBuf,
    identity: Identity,
}

/// The place of a file on its disk, its size, and when it was last changed; the last of these nobody can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity([i128; 6]);

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let meta = path.metadata().ok().filter(Metadata::is_file)?;
        Some(Self([
            meta.dev().into(),
            meta.ino().into(),
            meta.size().into(),
            i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            i128::from(meta.ctime()),
            meta.ctime_nsec().into(),
        ]))
    }
}

impl GitProgram {
    /// Where it was found. Some programs do as they are called, so that a link is started by its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folders that hold it: of the name, and of the file.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        [&self.path, &self.real].into_iter().filter_map(|path| path.parent())
    }

    /// Whether the file is the one that was found.
    pub fn is_the_same(&self) -> bool {
        Identity::of(&self.path) == Some(self.identity)
    }

    fn find(folders: &[PathBuf], written: &[PathBuf]) -> Option<Self> {
        let written: Vec<PathBuf> = written.iter().filter_map(|place| place.canonicalize().ok()).collect();
        let is_written = |path: &PathBuf| written.iter().any(|place| path.starts_with(place));
        // A link on the way is somebody's word, too.
        let safe = |path: &Path| {
            trace_links(path).is_some_and(|trace| !trace.links.iter().chain([&trace.end]).any(is_written))
        };
        let folders: Vec<PathBuf> = folders.iter().filter(|folder| safe(folder)).cloned().collect();
        let path = find_in("git".as_ref(), &folders).filter(|path| safe(path))?;
        let real = path.canonicalize().ok()?;
        Some(Self { identity: Identity::of(&path)?, path, real })
    }
}

/// Says which places workers may write, before git is looked for: it is not looked for there. Only the first word counts.
pub fn not_looked_for_in(places: Vec<PathBuf>) {
    WRITTEN.set(places).ok();
}

/// The git of this process; none where there is none.
pub fn git_program() -> Option<&'static GitProgram> {
    let written = || WRITTEN.get().map(Vec::as_slice).unwrap_or_default();
    FOUND.get_or_init(|| GitProgram::find(&search_path(), written())).as_ref()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::testing::{folder, write};

    fn program(root: &Path, path: &str, text: &str) {
        write(root, path, text);
        std::fs::set_permissions(root.join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn git_is_not_looked_for_where_a_worker_writes() {
        let root = folder("git-program").canonicalize().unwrap();
        for path in ["agent/bin/git", "agent/tools/git", "usr/bin/git"] {
            program(&root, path, "");
        }
        std::fs::create_dir_all(root.join("links")).unwrap();
        std::os::unix::fs::symlink(root.join("agent/tools/git"), root.join("links/git")).unwrap();
        let found = |folders: &[&str], written: &[&str]| {
            let paths = |list: &[&str]| list.iter().map(|path| root.join(path)).collect::<Vec<_>>();
            let found = GitProgram::find(&paths(folders), &paths(written));
            found.map(|git| git.path().strip_prefix(&root).unwrap().to_owned())
        };
        assert_eq!(found(&["agent/bin", "usr/bin"], &[]), Some("agent/bin/git".into()));
        assert_eq!(found(&["agent/bin", "usr/bin"], &["agent"]), Some("usr/bin/git".into()));
        assert_eq!(found(&["links"], &["agent"]), None, "a link into such a place");
        std::os::unix::fs::symlink(root.join("usr/bin"), root.join("agent/link")).unwrap();
        assert_eq!(found(&["agent/link"], &["agent"]), None, "a link out of such a place");
        assert_eq!(found(&["nowhere"], &[]), None);
    }

    #[test]
    fn another_file_in_its_place_is_another_git() {
        let root = folder("git-identity").canonicalize().unwrap();
        program(&root, "bin/git", "one");
        let git = GitProgram::find(&[root.join("bin")], &[]).unwrap();
        assert!(git.is_the_same());
        program(&root, "bin/next", "two");
        std::fs::rename(root.join("bin/next"), root.join("bin/git")).unwrap();
        assert!(!git.is_the_same());
        std::fs::remove_file(root.join("bin/git")).unwrap();
        assert!(!git.is_the_same());
    }
}
