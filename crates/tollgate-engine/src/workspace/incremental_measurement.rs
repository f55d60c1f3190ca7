//! What changed in a work tree since it was last measured, when that is little and plain. Everything else is measured anew.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, open, openat2, readlinkat};

use super::differences::{Content, Differences};
use super::measurement::{Measured, escaping};
use super::recent::remember_entries;
use super::stat_cache::{FileStat, FileStats, MeasuredStats};
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
    put: Vec<(String, FileStat)>,
    /// Of those put, the ones that were not there.
    new: Vec<String>,
}

impl Workspace {
    /// Measures a work tree by what differs since it was last measured; none: it has to be measured as a whole.
    pub(super) fn measure_since(
        &self,
        tree: &WorkTree,
        base: &ObjectId,
        seen: &MeasuredStats,
        look: &FileStats,
    ) -> Result<Option<Measured>, WorkspaceError> {
        let Some(steps) = steps(seen, look) else { return Ok(None) };
        // What git converts is taken in by git.
        let ignored: Vec<&[u8]> = seen.ignored.iter().map(|name| name.as_bytes()).collect();
        if !steps.put.is_empty() && self.may_convert(&seen.entries, &ignored) {
            return Ok(None);
        }
        if !steps.new.is_empty() && self.is_any_ignored(tree, &steps.new)? {
            return Ok(None);
        }
        let (after, step) = if steps.remove.is_empty() && steps.put.is_empty() {
            (seen.tree.clone(), Differences::none(&seen.tree))
        } else {
            let Some(stream) = stream(&tree.path, &seen.tree, &steps) else { return Ok(None) };
            match self.import(tree, stream, &steps)? {
                Some((after, now)) => (after, steps.taken(seen, now)),
                None => return Ok(None),
            }
        };
        let entries = match after == seen.tree {
            true => Arc::clone(&seen.entries),
            false => Arc::new(step.applied((*seen.entries).clone())),
        };
        remember_entries(&after, &entries);
        let differences = match seen.differences.from == *base {
            true => seen.differences.clone().then(&step),
            false => self.differences(base, &after)?,
        };
        if differences.touch_submodules() {
            return Ok(None);
        }
        let changes = differences.changes();
        let escaping = escaping(&tree.path, &changes);
        let (nested, special, ignored) = (Vec::new(), Vec::new(), seen.ignored.clone());
        Ok(Some(Measured { tree: after, entries, differences, changes, nested, escaping, special, ignored }))
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

    /// Removes the ref of a copy, which is measured once.
    pub(super) fn forget_measured(&self, tree: &WorkTree) {
        std::fs::remove_file(self.folder.path().join(measured_ref(tree))).ok();
    }

    /// Makes the tree of a stream of changes, and says what it has at each path that was put. They are read as they are, and no
    /// index has to be written for it.
    fn import(
        &self,
        tree: &WorkTree,
        stream: Vec<u8>,
        steps: &Steps,
    ) -> Result<Option<(ObjectId, Vec<Content>)>, WorkspaceError> {
        let reference = measured_ref(tree);
        let head = format!("commit {reference}\ncommitter tollgate <> 0 +0000\ndata 0\n");
        // What it makes is a pack. Taking that apart is another process; many packs make every other one slower.
        let apart: &[&str] = if self.folder.has_few_packs() { &["-c", "fastimport.unpackLimit=1"] } else { &[] };
        let args = [apart, &["fast-import", "--quiet", "--done", "--force"]].concat();
        let printed = self.git.call(&args, [head.into_bytes(), stream].concat())?;
        Ok(printed.end.success().then(|| imported(&printed.out, steps)).flatten())
    }
}

/// What holds the last tree that was measured of a work tree.
fn measured_ref(tree: &WorkTree) -> String {
    format!("refs/measured/{}", tree.name.replace('.', "%2e"))
}

/// Reads `040000 tree ID\t` and `MODE blob ID\tPATH` of each that was put; an empty tree is `missing`.
fn imported(out: &[u8], steps: &Steps) -> Option<(ObjectId, Vec<Content>)> {
    let mut lines = str::from_utf8(out).ok()?.lines().map(|line| {
        let (head, path) = line.split_once('\t')?;
        let mut words = head.split(' ');
        let (mode, kind, id) = (words.next()?, words.next()?, words.next()?);
        Some((mode, kind, ObjectId::parse(id)?, path))
    });
    let tree = lines.next()??.2;
    let mut now = Vec::new();
    for (put, _) in &steps.put {
        let (mode, kind, id, path) = lines.next()??;
        if kind != "blob" || path != put {
            return None;
        }
        now.push(Content { mode: mode.into(), blob: id.name() });
    }
    Some((tree, now))
}

impl Steps {
    /// What they came to, in a tree that has this now at the paths that were put.
    fn taken(self, seen: &MeasuredStats, now: Vec<Content>) -> Differences {
        let put = self.put.into_iter().zip(now).map(|((path, _), now)| (path, Some(now)));
        let steps = self.remove.into_iter().map(|path| (path, None)).chain(put);
        Differences::known(
            &seen.tree,
            steps.map(|(path, now)| {
                let was = seen.has(&path).map(Content::of);
                (path.into(), (was, now))
            }),
        )
    }
}

/// What is to be done, when all of it is plain.
fn steps(seen: &MeasuredStats, look: &FileStats) -> Option<Steps> {
    let mut steps = Steps::default();
    for difference in look.since(&seen.look, PATHS_MAX)? {
        // What it names may be there again.
        let path = String::from_utf8(difference.path).ok().filter(|path| is_plain(path) && path != ".gitmodules")?;
        match (seen.has(&path).is_some(), difference.now) {
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
    stream.extend(b"ls \"\"\n");
    for (path, _) in &steps.put {
        stream.extend(format!("ls {}\n", named(path)).bytes());
    }
    stream.extend(b"\ndone\n");
    Some(stream)
}
