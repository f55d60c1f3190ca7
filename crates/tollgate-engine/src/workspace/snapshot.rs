//! What a folder holds, file by file, whether git knows of it or not: taken before and after somebody works in it.
//!
//! Everything counts: what is ignored, what is in no repository, and of a git folder what it says (refs, HEAD, configuration, hooks, what
//! is staged), and what it stores (objects, logs) as far as that is gone or overwritten; not what it keeps for itself. Small files are compared by their content, the rest by what the system notes of
//! a change, which nobody without privileges can set.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::scope::Entry;

use super::git_folder::{GitFolder, Kind};
use super::measurement::{Change, ChangeKind, LINK, leads_outside};
use super::{Repository, WorkspaceError, at, differences};
use crate::git::{Git, quote, unquote};
use crate::sandbox::ReservedPaths;

/// The largest file whose content is compared, and how much of all of them.
const CONTENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
const CONTENTS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most files of a folder.
const FILES_MAX: usize = 2_000_000;
/// What changed so shortly before may change again without a trace: its content is looked at.
const FRESH: Duration = Duration::from_secs(2);
/// How a folder is noted that cannot be looked into.
const CLOSED: &str = "040000";
const GIT: &[u8] = b".git";

/// What a git folder keeps for itself.
const KEPT_BY_GIT: [&str; 10] = [
    "index",
    "worktrees",
    "lost-found",
    "COMMIT_EDITMSG",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "gc.log",
    "gc.pid",
    "fsmonitor--daemon",
    "fsmonitor--daemon.ipc",
];

/// A folder at a moment.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    found: BTreeMap<Name, (Entry, Note)>,
    /// What is known by other means.
    told: Vec<Entry>,
    /// Folders in which git keeps a repository, whatever their names, and files that lead to one.
    git: Vec<GitPlace>,
    /// What else git was told to be its own.
    named: Vec<GitPlace>,
}

/// A git folder that was met, or a file in the place of one.
#[derive(Debug, Clone)]
struct GitPlace {
    name: Vec<u8>,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    inode: (u64, u64),
    bytes: u64,
    changed: (i64, i64),
    modified: (i64, i64),
    mode: u32,
    /// Whether its content was read.
    read: bool,
    /// Whether it had just changed.
    fresh: bool,
    /// Whether git stores it: once it is there, it stays as it is.
    stored: bool,
}

impl Snapshot {
    /// Takes the files below `root`, and those of git folders that lie elsewhere, under the names they are shown by; not to its end
    /// where it is asked to stop.
    pub fn take(root: &Path, git_folders: &[(Name, PathBuf)], stop: &AtomicBool) -> Result<Self, WorkspaceError> {
        Self::again(root, git_folders, Taker::new(None, stop))
    }

    /// The same after somebody worked there.
    pub fn retake(&self, git_folders: &[(Name, PathBuf)]) -> Result<Self, WorkspaceError> {
        // What was done is looked at to the end.
        Self::again(&self.root, git_folders, Taker::new(Some(self), &AtomicBool::new(false)))
    }

    fn again(root: &Path, git_folders: &[(Name, PathBuf)], mut taker: Taker<'_>) -> Result<Self, WorkspaceError> {
        taker.walk(root, Vec::new())?;
        for (name, folder) in git_folders {
            taker.walk(folder, name.as_bytes().to_vec())?;
        }
        let named = taker.before.map(|before| before.named.clone()).unwrap_or_default();
        Ok(Self { root: root.to_owned(), found: taker.found, told: Vec::new(), git: taker.git, named })
    }

    /// Takes files and folders for git's own, from now on.
    pub fn keeps(&mut self, places: Vec<PathBuf>) {
        let within = |path: PathBuf| {
            let name = path.strip_prefix(&self.root).ok()?.as_os_str().as_bytes().to_vec();
            (!name.is_empty()).then_some(GitPlace { name, path })
        };
        self.named = places.into_iter().filter_map(within).collect();
    }

    fn places(&self) -> impl Iterator<Item = &GitPlace> {
        self.git.iter().chain(&self.named)
    }

    /// Adds what is known of a path by other means.
    pub fn tell(&mut self, path: &str, blob: Digest) {
        self.told.push(Entry { path: path.into(), mode: "100644".into(), blob: blob.to_string().into() });
    }

    /// The paths, as git quotes them.
    pub fn paths(&self) -> impl Iterator<Item = &Name> {
        self.found.keys()
    }

    /// Folders that could not be looked into.
    pub fn closed(&self) -> impl Iterator<Item = &Name> {
        self.found.values().filter(|(entry, _)| &*entry.mode == CLOSED).map(|(entry, _)| &entry.path)
    }

    fn entries(&self) -> Vec<Entry> {
        self.found.values().map(|(entry, _)| entry).chain(&self.told).cloned().collect()
    }

    /// What is otherwise in a later one. What git stores may become more.
    pub fn changes(&self, later: &Self) -> Vec<Change> {
        let mut changes = differences::between(&self.entries(), &later.entries());
        let stored = |path: &Name| later.found.get(path).is_some_and(|(_, note)| note.stored);
        changes.retain(|change| change.kind != ChangeKind::Created || !stored(&change.path));
        changes
    }

    /// The git folders that were met, and the files in the place of one.
    pub fn git_places(&self) -> impl Iterator<Item = &Path> {
        self.places().map(|place| place.path.as_path())
    }

    /// The places where git keeps something and these changes up to a `later` moment are, and how each changed: it came, is gone, or is
    /// another.
    pub fn git_places_changed(&self, later: &Self, changes: &[Change]) -> Vec<(Name, ChangeKind)> {
        let names = |of: &Self| of.places().map(|place| place.name.clone()).collect::<BTreeSet<_>>();
        let (before, after) = (names(self), names(later));
        let changed = |place: &&Vec<u8>| changes.iter().any(|change| lies_in(&unquote(&change.path), place));
        let how = |place: &Vec<u8>| match (before.contains(place), after.contains(place)) {
            (false, _) => ChangeKind::Created,
            (true, false) => ChangeKind::Deleted,
            (true, true) => ChangeKind::Modified,
        };
        before.union(&after).filter(changed).map(|place| (quote(place), how(place))).collect()
    }

    /// Whether a path belongs to what git keeps.
    pub fn in_git(&self, path: &str) -> bool {
        let path = unquote(path);
        path.split(|byte| *byte == b'/').any(|part| part == GIT)
            || self.places().any(|place| lies_in(&path, &place.name))
    }

    /// Whether a changed path is a link that leads out of the folder.
    pub fn leads_outside(&self, change: &Change) -> bool {
        &*change.mode == LINK && leads_outside(&self.root, Path::new(OsStr::from_bytes(&unquote(&change.path))))
    }
}

/// Whether a path is a place, or lies in it.
fn lies_in(path: &[u8], place: &[u8]) -> bool {
    place.is_empty() || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

impl Repository {
    /// Its git folders that lie outside of a folder, under the names that a snapshot of that one shows them by.
    pub fn git_folders(&self, outside_of: &Path) -> Vec<(Name, PathBuf)> {
        let own = [(".git", &self.git_dir), (".git/common", &self.shared.common)];
        let mut found: Vec<(Name, PathBuf)> = Vec::new();
        for (name, folder) in own {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if !folder.starts_with(outside_of) && found.iter().all(|(_, known)| *known != folder) {
                found.push((name.into(), folder));
            }
        }
        found
    }

    /// The folders in which git keeps it.
    pub fn kept_by_git(&self) -> Vec<PathBuf> {
        vec![self.git_dir.clone(), self.shared.common.clone(), self.shared.objects.clone()]
    }

    /// What no configuration gives to a worker.
    pub fn reserved(&self, state: &Path) -> ReservedPaths {
        let (state, top) = (state.to_owned(), Some(self.top.clone()));
        ReservedPaths { state, top, git: self.kept_by_git(), ..ReservedPaths::default() }
    }

    /// Everything that its own git reads.
    pub fn read_by_git(&self) -> Vec<PathBuf> {
        [self.shared.stores(), vec![self.top.clone(), self.git_dir.clone(), self.shared.common.clone()]].concat()
    }

    /// What is staged, as one digest; looked at through a git folder of our own below `scratch`. An index that only its own
    /// git folder can read counts by its bytes.
    pub fn staged_digest(&self, scratch: &Path) -> Result<Digest, WorkspaceError> {
        let index = self.index_file();
        match std::fs::metadata(index) {
            Err(_) => return Ok(Digest::of(b"")),
            // Nobody waits at a pipe that somebody put there.
            Ok(meta) if !meta.is_file() => return Ok(Digest::of(b"no file")),
            Ok(_) => {}
        }
        let folder = scratch.join("staged");
        super::remove_tree(&folder)?;
        let look = GitFolder::create(&folder, &self.head, &[&self.shared.objects], &self.shared, Kind::FileStats)?;
        look.put_index("checkout", index)?;
        let git = Git::with_dir(look.path())?.on(&self.top, &look.index("checkout"));
        let listed = git.run(&["ls-files", "--stage", "-z"]);
        super::remove_tree(&folder)?;
        match listed {
            Ok(listed) => Ok(Digest::of(&listed)),
            Err(_) => Ok(Digest::of(&at(index, std::fs::read(index))?)),
        }
    }
}

struct Taker<'b> {
    before: Option<&'b Snapshot>,
    stop: &'b AtomicBool,
    now: SystemTime,
    /// How many bytes may still be read.
    left: u64,
    found: BTreeMap<Name, (Entry, Note)>,
    git: Vec<GitPlace>,
}

impl<'b> Taker<'b> {
    fn new(before: Option<&'b Snapshot>, stop: &'b AtomicBool) -> Self {
        let (found, git) = (BTreeMap::new(), Vec::new());
        Self { before, stop, now: SystemTime::now(), left: CONTENTS_BYTES_MAX, found, git }
    }

    /// Notes everything below a folder; `name` is what stands before the names of its files.
    fn walk(&mut self, folder: &Path, name: Vec<u8>) -> Result<(), WorkspaceError> {
        // With how long the name of the git folder is that it lies in.
        let mut open = vec![(folder.to_owned(), name, None)];
        while let Some((folder, name, git)) = open.pop() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(WorkspaceError::Unmeasurable("it was not looked at to the end".to_owned()));
            }
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(_) => {
                    let path = quote(&name);
                    let entry = Entry { path: path.clone(), mode: CLOSED.into(), blob: Name::default() };
                    let note = Note::of(&at(&folder, folder.symlink_metadata())?, self.now);
                    self.found.insert(path, (entry, note));
                    continue;
                }
            };
            let entries: Vec<_> = entries.flatten().collect();
            let has = |names: &[&str]| names.iter().all(|name| entries.iter().any(|entry| entry.file_name() == *name));
            let is_git = name.rsplit(|byte| *byte == b'/').next() == Some(GIT)
                || has(&["HEAD", "objects", "refs"])
                || has(&["HEAD", "commondir"]);
            let git = git.or_else(|| is_git.then_some(name.len()));
            if git == Some(name.len()) {
                self.git.push(GitPlace { name: name.clone(), path: folder.clone() });
            }
            for file in entries {
                let mut path = name.clone();
                if !path.is_empty() {
                    path.push(b'/');
                }
                path.extend_from_slice(file.file_name().as_bytes());
                let Ok(meta) = file.path().symlink_metadata() else { continue };
                let part = git.map_or(Part::Says, |git| Part::of(path.get(git..).unwrap_or_default()));
                if part == Part::Itself {
                    continue;
                }
                if meta.is_dir() {
                    open.push((file.path(), path, git));
                    continue;
                }
                if self.found.len() >= FILES_MAX {
                    return Err(WorkspaceError::TooMany { count: self.found.len() + 1, limit: FILES_MAX });
                }
                if file.file_name().as_bytes() == GIT {
                    self.git.push(GitPlace { name: path.clone(), path: file.path() });
                }
                match part {
                    Part::Stores => self.stored(quote(&path), &meta),
                    Part::Says | Part::Itself => self.file(&file.path(), quote(&path), &meta),
                }
            }
        }
        Ok(())
    }

    /// What git stores is known by its size and place: nobody writes there, and a link more to it is no change. Git touches an object that it
    /// would write once more; what one says has its name, so nobody can say something else there.
    fn stored(&mut self, path: Name, meta: &std::fs::Metadata) {
        let mut note = Note { stored: true, ..Note::of(meta, self.now) };
        if path.split('/').any(|part| part == "objects") {
            (note.modified, note.changed) = Default::default();
        }
        let Note { inode, bytes, modified, mode, .. } = note;
        let entry = Entry {
            path: path.clone(),
            mode: format!("{mode:06o}").into(),
            blob: format!("{inode:?} {bytes} {modified:?}").into(),
        };
        self.found.insert(path, (entry, note));
    }

    fn file(&mut self, place: &Path, path: Name, meta: &std::fs::Metadata) {
        let mut note = Note::of(meta, self.now);
        let before = self.before.map(|before| before.found.get(&path));
        if let Some(Some((entry, known))) = before {
            let same = Note { read: known.read, fresh: known.fresh, ..note } == *known;
            if same && (!known.fresh || !known.read) {
                self.found.insert(path, (entry.clone(), *known));
                return;
            }
        }
        let kind = meta.file_type();
        let mode = if kind.is_symlink() { LINK.to_owned() } else { format!("{:06o}", meta.mode()) };
        // What was not there before, or was compared by its note, needs no content.
        let wanted = before.is_none_or(|known| known.is_some_and(|(_, known)| known.read));
        let content = match kind {
            _ if kind.is_symlink() => place.read_link().ok().map(|to| Digest::of(to.as_os_str().as_bytes())),
            _ if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() => None,
            _ if !wanted || note.bytes > CONTENT_BYTES_MAX => None,
            // Afterwards the same are read as before, whatever else has grown.
            _ if self.before.is_none() && note.bytes > self.left => None,
            _ => read(place),
        };
        note.read = content.is_some();
        if note.read {
            self.left = self.left.saturating_sub(note.bytes);
        }
        let blob = content.map_or_else(|| format!("{note:?}"), |digest| digest.to_string());
        self.found.insert(path.clone(), (Entry { path, mode: mode.into(), blob: blob.into() }, note));
    }
}

impl Note {
    fn of(meta: &std::fs::Metadata, now: SystemTime) -> Self {
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_sub(FRESH).as_secs();
        Self {
            inode: (meta.dev(), meta.ino()),
            bytes: meta.len(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            modified: (meta.mtime(), meta.mtime_nsec()),
            mode: meta.mode(),
            read: false,
            stored: false,
            fresh: u64::try_from(meta.ctime()).is_ok_and(|changed| changed >= seconds),
        }
    }
}

fn read(path: &Path) -> Option<Digest> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(CONTENT_BYTES_MAX + 1).read_to_end(&mut bytes).ok()?;
    Some(Digest::of(&bytes))
}

/// What a file of a git folder is to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It says how things are.
    Says,
    /// It is history: there is more of it, and never less.
    Stores,
    /// Git keeps it for itself, and writes it as it likes.
    Itself,
}

impl Part {
    /// What a path from its git folder is.
    fn of(path: &[u8]) -> Self {
        let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        let is_lock = parts.last().is_some_and(|last| last.ends_with(b".lock"));
        for (at, part) in parts.iter().enumerate() {
            match *part {
                b"hooks" | b"info" => return Self::Says,
                b"objects" if parts[at + 1..] == [&b"info"[..], b"alternates"] => return Self::Says,
                b"objects" | b"logs" if is_lock => return Self::Itself,
                b"objects" | b"logs" => return Self::Stores,
                // A branch may have any name; those of runs come and go.
                b"refs" if is_lock || parts.get(at + 1) == Some(&&b"tollgate"[..]) => return Self::Itself,
                b"refs" => return Self::Says,
                _ => {}
            }
        }
        let own = |last: &&[u8]| KEPT_BY_GIT.iter().any(|kept| kept.as_bytes() == *last);
        if is_lock || parts.last().is_some_and(own) { Self::Itself } else { Self::Says }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    fn changed(root: &Path, act: impl FnOnce()) -> Vec<(String, ChangeKind)> {
        let before = Snapshot::take(root, &[], &AtomicBool::new(false)).unwrap();
        act();
        let after = before.retake(&[]).unwrap();
        before.changes(&after).iter().map(|change| (change.path.to_string(), change.kind)).collect()
    }

    #[test]
    fn content_counts_and_nothing_else() {
        let root = folder("snapshot");
        for file in ["a", "deep/b", "deep/c", "same"] {
            write(&root, file, "one");
        }
        let found = changed(&root, || {
            write(&root, "a", "two");
            std::fs::remove_file(root.join("deep/b")).unwrap();
            write(&root, "new/d", "x");
            write(&root, "same", "one");
            std::fs::set_permissions(root.join("deep/c"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            std::os::unix::fs::symlink("a", root.join("link")).unwrap();
        });
        use ChangeKind::{Created, Deleted, Modified};
        let expected =
            [("a", Modified), ("deep/b", Deleted), ("deep/c", Modified), ("link", Created), ("new/d", Created)];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    #[test]
    fn a_large_file_is_compared_by_what_the_system_notes() {
        let root = folder("snapshot-large");
        std::fs::File::create(root.join("large")).unwrap().set_len(CONTENT_BYTES_MAX + 1).unwrap();
        assert_eq!(changed(&root, || ()), []);
        let found = changed(&root, || {
            let file = std::fs::File::options().write(true).open(root.join("large")).unwrap();
            std::os::unix::fs::FileExt::write_at(&file, b"x", 7).unwrap();
        });
        assert_eq!(found, [("large".to_owned(), ChangeKind::Modified)]);
    }

    #[test]
    fn a_git_folder_is_what_it_says_and_stores() {
        for (path, part) in [
            ("index", Part::Itself),
            ("index.lock", Part::Itself),
            ("refs/tollgate/x", Part::Itself),
            ("objects/ab/cd", Part::Stores),
            ("modules/x/objects/ab/cd", Part::Stores),
            ("logs/refs/heads/main", Part::Stores),
            ("objects/info/alternates", Part::Says),
            ("HEAD", Part::Says),
            ("hooks/index", Part::Says),
            ("refs/heads/objects", Part::Says),
            ("", Part::Says),
        ] {
            assert_eq!(Part::of(path.as_bytes()), part, "{path}");
        }
        let root = folder("snapshot-git");
        // A git folder may have any name.
        for git in [".git", "store/r"] {
            for file in ["HEAD", "objects/ab/cd", "refs/heads/main", "index"] {
                write(&root, &format!("{git}/{file}"), "x");
            }
        }
        write(&root, "a/index", "x");
        write(&root, ".git/objects/ab/same", "x");
        let found = changed(&root, || {
            write(&root, "store/r/index", "y");
            write(&root, "store/r/objects/ab/new", "y");
            std::fs::remove_file(root.join("store/r/objects/ab/cd")).unwrap();
            std::fs::remove_file(root.join(".git/objects/ab/cd")).unwrap();
            let touched = std::fs::File::options().write(true).open(root.join(".git/objects/ab/same")).unwrap();
            touched.set_modified(SystemTime::UNIX_EPOCH).unwrap();
            write(&root, "a/index", "y");
        });
        let names: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(names, [".git/objects/ab/cd", "a/index", "store/r/objects/ab/cd"]);
        let taken = Snapshot::take(&root, &[], &AtomicBool::new(false)).unwrap();
        assert!(taken.in_git("store/r/config") && taken.in_git("x/.git/y") && !taken.in_git("store/rs"));
    }
}
