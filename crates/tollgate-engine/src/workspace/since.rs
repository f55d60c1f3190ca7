//! What changed in a work tree since it was last measured, when that is little and plain. Everything else is measured anew.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, open, openat2, readlinkat};
use tollgate_core::scope::Entry;

use super::measure::{Change, Measured, SUBMODULE, applied, differing, escaping};
use super::seen::{Look, Seen, Sign};
use super::{WorkTree, Workspace, WorkspaceError};
use crate::git::{ObjectId, quote};

/// What still counts as little.
const PATHS_MAX: usize = 1_000;
const BYTES_MAX: u64 = 16 * 1024 * 1024;
const EXECUTABLE: u32 = 0o100;

/// What has to be done to the tree that was measured.
#[derive(Debug, Default)]
struct Steps {
    remove: Vec<String>,
    put: Vec<(String, Sign)>,
    /// Of those put, the ones that were not there.
    new: Vec<String>,
}

impl Workspace {
    /// Measures a work tree by what differs since it was last measured; none: it has to be measured as a whole.
    pub(super) fn measure_since(
        &self,
        tree: &WorkTree,
        base: &ObjectId,
        seen: &Seen,
        look: &Look,
    ) -> Result<Option<Measured>, WorkspaceError> {
        let Some(steps) = steps(seen, look) else { return Ok(None) };
        if !steps.new.is_empty() && self.is_any_ignored(tree, &steps.new)? {
            return Ok(None);
        }
        let after = if steps.remove.is_empty() && steps.put.is_empty() {
            seen.tree.clone()
        } else {
            let Some(stream) = stream(&tree.path, &seen.tree, &steps) else { return Ok(None) };
            match self.import(tree, stream)? {
                Some(after) => after,
                None => return Ok(None),
            }
        };
        let entries = self.entries_after(seen, &after)?;
        let differences = differing(&self.git, base, &after)?;
        if differences.iter().any(|difference| &*difference.was == SUBMODULE || &*difference.change.mode == SUBMODULE) {
            return Ok(None);
        }
        let changes: Vec<Change> = differences.into_iter().map(|difference| difference.change).collect();
        let escaping = escaping(&tree.path, &changes);
        let (nested, special, ignored) = (Vec::new(), Vec::new(), seen.ignored.clone());
        Ok(Some(Measured { tree: after, entries, changes, nested, escaping, special, ignored }))
    }

    fn is_any_ignored(&self, tree: &WorkTree, paths: &[String]) -> Result<bool, WorkspaceError> {
        let args = ["check-ignore", "--no-index", "-z", "--stdin"];
        let names = paths.iter().flat_map(|path| path.bytes().chain([0])).collect();
        // It takes names as they are, and will not be told to.
        let git = self.git.on(&tree.path, &self.folder.index(&tree.name)).env("GIT_LITERAL_PATHSPECS", "0");
        let printed = git.call(&args, names)?;
        // It fails where none is ignored, and says nothing.
        Ok(printed.end.success() || !printed.out.is_empty() || !printed.err.is_empty())
    }

    /// Makes the tree of a stream of changes. They are read as they are, and no index has to be written for it.
    fn import(&self, tree: &WorkTree, stream: Vec<u8>) -> Result<Option<ObjectId>, WorkspaceError> {
        let reference = format!("refs/measured/{}", tree.name.replace('.', "%2e"));
        let head = format!("commit {reference}\ncommitter tollgate <> 0 +0000\ndata 0\n");
        let printed =
            self.git.call(&["fast-import", "--quiet", "--done", "--force"], [head.into_bytes(), stream].concat())?;
        if !printed.end.success() {
            return Ok(None);
        }
        // `040000 tree ID`; an empty tree is `missing`.
        let text = String::from_utf8_lossy(&printed.out).into_owned();
        Ok(text.split_whitespace().nth(2).and_then(ObjectId::parse))
    }

    /// The entries of a tree by those of the one that was measured.
    fn entries_after(&self, seen: &Seen, after: &ObjectId) -> Result<Arc<Vec<Entry>>, WorkspaceError> {
        if *after == seen.tree {
            return Ok(Arc::clone(&seen.entries));
        }
        let differences = differing(&self.git, &seen.tree, after)?;
        Ok(Arc::new(applied((*seen.entries).clone(), &differences)))
    }
}

/// What is to be done, when all of it is plain.
fn steps(seen: &Seen, look: &Look) -> Option<Steps> {
    let mut steps = Steps::default();
    for difference in look.since(&seen.look, PATHS_MAX)? {
        // What it names may be there again.
        let path = String::from_utf8(difference.path).ok().filter(|path| is_plain(path) && path != ".gitmodules")?;
        match (seen.has(&path), difference.now) {
            (true, None) => steps.remove.push(path),
            (true, Some(sign)) => steps.put.push((path, sign)),
            (false, Some(sign)) if !difference.was_there => {
                steps.new.push(path.clone());
                steps.put.push((path, sign));
            }
            // Of what is ignored it counts that it is there.
            (false, Some(_)) if seen.ignored.iter().any(|name| **name == *path) => {}
            (false, _) => return None,
        }
    }
    let bytes: u64 = steps.put.iter().map(|(_, sign)| sign.size).sum();
    (bytes <= BYTES_MAX).then_some(steps)
}

/// A name that is the same for everybody who reads it, and none by which git steers.
fn is_plain(path: &str) -> bool {
    let steers = |part: &str| {
        let part = part.to_ascii_lowercase();
        (part.starts_with(".git") && part != ".github") || part.starts_with("git~")
    };
    path.is_ascii() && !path.starts_with(':') && *quote(path.as_bytes()) == *path && !path.split('/').any(steers)
}

/// The changes in the words of `git fast-import`.
fn stream(root: &Path, tree: &ObjectId, steps: &Steps) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let top = open(root, flags, Mode::empty()).ok()?;
    let named = |path: &str| format!("\"{}\"", path.replace('"', "\\\""));
    let mut stream = format!("M 040000 {tree} \"\"\n").into_bytes();
    for path in &steps.remove {
        stream.extend(format!("D {}\n", named(path)).bytes());
    }
    for (path, sign) in &steps.put {
        let (mode, bytes) = match FileType::from_raw_mode(sign.mode) {
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
                let file = openat2(&top, OsStr::from_bytes(path.as_bytes()), flags, Mode::empty(), inside).ok()?;
                let mut bytes = Vec::new();
                // One byte more than it had shows that it grew.
                let read = std::fs::File::from(file).take(sign.size + 1).read_to_end(&mut bytes).ok()?;
                if read as u64 != sign.size {
                    return None;
                }
                (if sign.mode & EXECUTABLE == 0 { "100644" } else { "100755" }, bytes)
            }
            FileType::Symlink => ("120000", readlinkat(&top, path.as_str(), Vec::new()).ok()?.into_bytes()),
            _ => return None,
        };
        stream.extend(format!("M {mode} inline {}\ndata {}\n", named(path), bytes.len()).bytes());
        stream.extend(bytes);
        stream.push(b'\n');
    }
    stream.extend(b"ls \"\"\n\ndone\n");
    Some(stream)
}
