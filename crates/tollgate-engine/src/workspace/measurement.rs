//! What a work tree holds, and what changed in it: measured from its files, whatever its own git folder says.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use tollgate_core::Name;
pub use tollgate_core::run::event::ChangeKind;
use tollgate_core::scope::Entry;

use super::conversions::Written;
use super::differences::Differences;
use super::files::beside;
use super::recent::remember_entries;
use super::set_id::{self, clear_set_id};
use super::special_files::{self, not_ignored};
use super::stat_cache::{FileStats, MeasuredStats, Moment, recall, remember};
use super::submodules::{back, filled, named, submodules};
use super::{TempCopy, WorkTree, Workspace, WorkspaceError, at};
use crate::git::{Git, ObjectId, quote, records, unquote};

/// The largest changed file that is taken into a tree.
pub const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most bytes of all changed files of one measurement.
pub const TOTAL_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The most changed and untracked paths of one measurement.
pub const PATHS_MAX: usize = 200_000;
/// How many links are followed before a path is taken to lead outside.
const LINKS_MAX: u32 = 40;
pub(super) const LINK: &str = "120000";
pub(crate) const SUBMODULE: &str = "160000";

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, quoted as git does when it is not plain text.
    pub path: Name,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Its mode now; before, when it is gone.
    pub mode: Name,
    /// What was there: its mode and bytes by a short name; none where nothing was.
    pub was: Option<Name>,
    /// What is there now.
    pub now: Option<Name>,
}

/// What a measurement found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// The tree of the files.
    pub tree: ObjectId,
    /// What it holds.
    pub entries: Arc<Vec<Entry>>,
    /// What differs from the base.
    pub(super) differences: Differences,
    /// The same as changes, by path.
    pub changes: Vec<Change>,
    /// Repositories inside the work tree, and submodules with files in them: their content is not in the tree.
    pub nested: Vec<Name>,
    /// Changed links that lead outside the work tree.
    pub escaping: Vec<Name>,
    /// Sockets, pipes and devices that git does not ignore: not in the tree.
    pub special: Vec<Name>,
    /// Ignored files and folders: not in the tree.
    pub ignored: Vec<Name>,
}

impl Measured {
    /// What no tree can hold, or what leads out of it: the measurement does not say everything.
    pub fn misplaced(&self) -> Vec<Name> {
        self.nested.iter().chain(&self.escaping).chain(&self.special).cloned().collect()
    }

    /// The same, with what is wrong with each.
    pub fn misplaced_why(&self) -> impl Iterator<Item = String> {
        let is_submodule = |path: &Name| submodules(&self.entries).any(|name| name == path);
        let nested = self.nested.iter().map(move |path| match is_submodule(path) {
            true => format!("`{path}` is a submodule, and what lies in its folder is in no commit"),
            false => format!("`{path}` is a repository of its own"),
        });
        let escaping = self.escaping.iter().map(|path| format!("the link `{path}` leads out of the tree"));
        let special = self.special.iter().map(|path| format!("`{path}` is neither a file nor a folder nor a link"));
        nested.chain(escaping).chain(special)
    }
}

/// What git says about the files of a work tree and its index.
#[derive(Debug, Default)]
pub(super) struct Status {
    /// Changed, new or unmerged: to be looked at.
    pub(super) present: Vec<Vec<u8>>,
    /// Gone, or beyond a link.
    pub(super) removed: Vec<Vec<u8>>,
    /// Changed in the index alone.
    staged: Vec<Vec<u8>>,
    /// Folders that are repositories of their own.
    nested: Vec<Vec<u8>>,
    pub(super) ignored: Vec<Vec<u8>>,
    /// Those that a merge has not settled.
    unmerged: Vec<Vec<u8>>,
}

impl Status {
    /// Files that are to be looked at, as git names them.
    pub fn present(&self) -> &[Vec<u8>] {
        &self.present
    }

    /// Folders that are repositories of their own, as git names them.
    pub fn nested(&self) -> &[Vec<u8>] {
        &self.nested
    }

    /// Paths that a merge has not settled.
    pub fn unmerged(&self) -> impl Iterator<Item = Name> {
        self.unmerged.iter().map(|path| quote(path))
    }

    /// Every path that differs from the commit.
    pub fn changed(&self) -> impl Iterator<Item = Name> {
        [&self.present, &self.removed, &self.staged, &self.nested].into_iter().flatten().map(|path| quote(path))
    }
}

/// Asks git for the status of its work tree.
pub(super) fn status(git: &Git) -> Result<Status, WorkspaceError> {
    let args = [
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignored=matching",
        "--ignore-submodules=all",
    ];
    let printed = git.call(&args, Vec::new())?;
    if !printed.end.success() {
        return Err(git.failed(&args, printed).into());
    }
    // A folder that cannot be read or entered is passed over with a word only: its files would silently be missing, or
    // count as unchanged.
    if printed.err.contains("could not open") || printed.err.contains("Permission denied") {
        return Err(WorkspaceError::Unmeasurable(printed.err));
    }
    let mut status = Status::default();
    for record in records(&printed.out) {
        let (Some(state), Some(path)) = (record.get(..2), record.get(3..)) else { continue };
        if matches!(state, [b'U', _] | [_, b'U'] | b"AA" | b"DD") {
            status.unmerged.push(path.to_vec());
        }
        let list = match state {
            b"!!" => &mut status.ignored,
            b"??" if path.ends_with(b"/") => &mut status.nested,
            b"DD" => &mut status.removed,
            [b'U', _] | [_, b'U'] | b"AA" | b"??" => &mut status.present,
            [_, b'D'] => &mut status.removed,
            [_, b' '] => &mut status.staged,
            _ => &mut status.present,
        };
        list.push(path.to_vec());
    }
    let count = status.present.len() + status.removed.len();
    if count > PATHS_MAX {
        return Err(WorkspaceError::TooMany { count, limit: PATHS_MAX });
    }
    Ok(status)
}

/// Takes what the status names into the index; answers the special files that were left out.
pub(super) fn stage(git: &Git, root: &Path, status: &Status) -> Result<Vec<Name>, WorkspaceError> {
    let (mut add, mut remove, mut special) = (Vec::new(), status.removed.clone(), Vec::new());
    let mut total = 0;
    for path in &status.present {
        let Ok(meta) = root.join(OsStr::from_bytes(path)).symlink_metadata() else {
            remove.push(path.clone());
            continue;
        };
        total += meta.len();
        if meta.is_file() && meta.len() > FILE_BYTES_MAX {
            return Err(WorkspaceError::TooLarge { path: quote(path), bytes: meta.len(), limit: FILE_BYTES_MAX });
        }
        if total > TOTAL_BYTES_MAX {
            return Err(WorkspaceError::TooMuch { bytes: total, limit: TOTAL_BYTES_MAX });
        }
        if meta.is_file() || meta.is_symlink() {
            add.push(path.clone());
        } else {
            remove.push(path.clone());
            if !meta.is_dir() {
                special.push(quote(path));
            }
        }
    }
    update(git, &["update-index", "--force-remove", "-z", "--stdin"], &remove)?;
    update(git, &["update-index", "--add", "--replace", "-z", "--stdin"], &add)?;
    Ok(special)
}

pub(super) fn update(git: &Git, args: &[&str], paths: &[Vec<u8>]) -> Result<(), WorkspaceError> {
    if paths.is_empty() {
        return Ok(());
    }
    let printed = git.call(args, paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect())?;
    // A name that git will not have (`git~1`) is passed over with a word and without a failure.
    if printed.end.success() && !printed.err.contains("Ignoring path") {
        return Ok(());
    }
    Err(WorkspaceError::Unmeasurable(printed.err))
}

impl Workspace {
    /// Measures the files of a work tree against a tree.
    ///
    /// What it holds depends on the files and on what was written there alone: what the worker committed, staged, ignored later
    /// or measured before does not matter.
    pub fn measure(&self, tree: &WorkTree, base: &ObjectId) -> Result<Measured, WorkspaceError> {
        // A link in its place would have us measure somebody else's files.
        if !tree.path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            let why = format!("the work tree {} is gone", tree.path.display());
            return Err(WorkspaceError::Lost { run: self.run, why });
        }
        let (moment, seen) = (Moment::now(self.folder.path()), recall(&tree.path));
        let skipped = seen.as_ref().map(|seen| seen.skipped()).unwrap_or_default();
        let Some(look) = moment.and_then(|moment| FileStats::at(&tree.path, moment, &skipped)) else {
            let (index, written) = (self.folder.index(&tree.name), self.written(&tree.path, base));
            let special = special_files::special(&tree.path)?;
            let found = self.measure_at(&tree.path, &index, &written, base, None, special)?;
            clear_set_id(&tree.path)?;
            return Ok(found);
        };
        for path in look.with_set_id() {
            at(&tree.path, set_id::clear(&tree.path.join(OsStr::from_bytes(&path))))?;
        }
        let quick = seen.as_ref().map(|seen| self.measure_since(tree, base, seen, &look)).transpose()?.flatten();
        let (found, next) = match quick {
            Some(found) if seen.is_some_and(|seen| seen.tree == found.tree && seen.look.is_sure()) => return Ok(found),
            Some(found) => {
                let next = MeasuredStats::after(look, &found);
                (found, Some(next))
            }
            None => {
                // What was passed over may count now.
                let special = if skipped.is_empty() { Vec::new() } else { special_files::special(&tree.path)? };
                let (index, written) = (self.folder.index(&tree.name), self.written(&tree.path, base));
                let found = self.measure_at(&tree.path, &index, &written, base, Some(&look), special)?;
                let next = MeasuredStats::of(look, &skipped, &found);
                (found, next)
            }
        };
        remember(&tree.path, next);
        Ok(found)
    }

    /// Measures what a worker left in its tree, where no file keeps a set-user-ID or set-group-ID bit.
    pub fn measure_left(&self, tree: &WorkTree, base: &ObjectId) -> Result<Measured, WorkspaceError> {
        let found = self.measure(tree, base);
        match &found {
            // A measurement clears what it looks at: neither the git folder nor folders that are ignored.
            Ok(found) => {
                clear_set_id(&tree.path.join(".git"))?;
                for name in &found.ignored {
                    clear_set_id(&tree.path.join(OsStr::from_bytes(&unquote(name))))?;
                }
            }
            Err(_) => clear_set_id(&tree.path)?,
        }
        found
    }

    /// A folder that was made just now and holds these files, as it would be measured.
    pub(super) fn just_made(&self, folder: &Path, files: &ObjectId) -> Result<Option<MeasuredStats>, WorkspaceError> {
        let Some(look) = Moment::after_all(self.folder.path()).and_then(|moment| FileStats::at(folder, moment, &[]))
        else {
            return Ok(None);
        };
        let (changes, nested, escaping) = (Vec::new(), Vec::new(), Vec::new());
        let entries = self.list(files)?;
        let (special, ignored) = (Vec::new(), Vec::new());
        let differences = Differences::none(files);
        let found = Measured { tree: files.clone(), entries, differences, changes, nested, escaping, special, ignored };
        Ok(MeasuredStats::of(look, &[], &found))
    }

    /// Measures a copy that was made to be measured, against the tree it was made of.
    pub fn measure_copy(&self, copy: &TempCopy, base: &ObjectId) -> Result<Measured, WorkspaceError> {
        let look = Moment::now(self.folder.path()).and_then(|moment| FileStats::at(copy.path(), moment, &[]));
        if let (Some(seen), Some(look)) = (&copy.seen, &look) {
            let tree = WorkTree { path: copy.path().to_owned(), name: copy.name() };
            let found = self.measure_since(&tree, base, seen, look)?;
            self.forget_measured(&tree);
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let written = copy.written.clone().unwrap_or_else(|| Written::exactly(base));
        let special = if look.is_some() { Vec::new() } else { special_files::special(copy.path())? };
        self.measure_at(copy.path(), &copy.index(), &written, base, look.as_ref(), special)
    }

    fn measure_at(
        &self,
        root: &Path,
        index: &Path,
        written: &Written,
        base: &ObjectId,
        look: Option<&FileStats>,
        special: Vec<Vec<u8>>,
    ) -> Result<Measured, WorkspaceError> {
        let git = self.git.on(root, index);
        let (start, bytes) = (&written.start, &written.bytes);
        // Git tells times apart by seconds: what changed in the second in which the index was written, or later, may look as it was.
        let age = std::fs::metadata(index).map_or(0, |meta| meta.mtime());
        let doubtful = look.map(|look| look.changed_from(age - 1)).unwrap_or_default();
        if look.is_none() {
            std::fs::remove_file(index).ok();
        }
        // An index that holds what was written is taken as it is, with what it knows of the files.
        if git.id(&["write-tree"]).ok().as_ref() != Some(bytes) {
            let reset = ["read-tree", "--reset", bytes.as_str()];
            if git.run(&reset).is_err() {
                // A damaged index costs time, not truth.
                std::fs::remove_file(index).ok();
                git.run(&reset)?;
            }
        }
        if !doubtful.is_empty() {
            doubt(&git, &self.list(bytes)?, &doubtful)?;
        }
        let known = self.list(start)?;
        let named = named(root);
        let mut status = status(&git)?.with_submodules(root, &known, &named)?;
        let first =
            if named.is_empty() || *start == self.base.tree { Arc::default() } else { self.list(&self.base.tree)? };
        let back = back(root, first.to_vec(), &known, &named);
        let new = not_ignored(&git, special, &status, &known)?;
        let (after, special) = if status.present.is_empty() && status.removed.is_empty() && back.is_empty() {
            (start.clone(), Vec::new())
        } else {
            let next = Draft::of(index)?;
            let converting = self.taking_in(root, &next.0, written, &known, &mut status)?;
            let git = converting.unwrap_or_else(|| self.git.on(root, &next.0));
            let special = stage(&git, root, &status)?;
            if !back.is_empty() {
                git.feed(&["update-index", "-z", "--index-info"], back.iter().flat_map(index_line).collect())?;
            }
            (git.id(&["write-tree"])?, special)
        };
        // Of those in the place of a file git says so itself.
        let special: BTreeSet<Name> = special.into_iter().chain(new.iter().map(|path| quote(path))).collect();
        let since = Differences::between(&git, start, &after)?;
        let entries = if *start == after { known } else { Arc::new(since.applied(known.to_vec())) };
        remember_entries(&after, &entries);
        let differences = if base == start { since } else { self.differences(base, &after)? };
        let nested = status.nested.iter().map(|path| quote(path));
        // One that the setup fills and that is named as a cache counts for nobody.
        let filled = filled(root, &entries).filter(|name| !self.is_cache(name));
        let nested = nested.chain(filled.cloned()).collect();
        let changes = differences.changes();
        let escaping = escaping(root, &changes);
        Ok(Measured {
            tree: after,
            entries,
            differences,
            changes,
            nested,
            escaping,
            special: special.into_iter().collect(),
            ignored: status.ignored.iter().take(PATHS_MAX).map(|path| quote(path)).collect(),
        })
    }

    /// The entries of a tree.
    pub fn entries(&self, tree: &ObjectId) -> Result<Arc<Vec<Entry>>, WorkspaceError> {
        self.list(tree)
    }

    /// What differs between two trees.
    pub fn changes(&self, from: &ObjectId, to: &ObjectId) -> Result<Vec<Change>, WorkspaceError> {
        Ok(self.differences(from, to)?.changes())
    }
}

/// Has the index forget what it knows of files, so that they are read.
fn doubt(git: &Git, entries: &[Entry], paths: &HashSet<Vec<u8>>) -> Result<(), WorkspaceError> {
    let known = entries.iter().filter(|entry| paths.contains(&*unquote(&entry.path)));
    let known: Vec<u8> = known.flat_map(index_line).collect();
    if !known.is_empty() {
        git.feed(&["update-index", "-z", "--index-info"], known)?;
    }
    Ok(())
}

/// An entry as `git update-index -z --index-info` takes it.
pub(super) fn index_line(entry: &Entry) -> Vec<u8> {
    [format!("{} {}\t", entry.mode, entry.blob).into_bytes(), unquote(&entry.path).into_owned(), vec![0]].concat()
}

/// Changed links that lead outside.
pub(super) fn escaping(root: &Path, changes: &[Change]) -> Vec<Name> {
    let links = changes.iter().filter(|change| &*change.mode == LINK && change.kind != ChangeKind::Deleted);
    let out = links.filter(|change| leads_outside(root, Path::new(OsStr::from_bytes(&unquote(&change.path)))));
    out.map(|change| change.path.clone()).collect()
}

/// A copy of an index, to be changed; it goes when this does.
struct Draft(PathBuf);

impl Draft {
    fn of(index: &Path) -> Result<Self, WorkspaceError> {
        let path = beside(index, "draft");
        // One that is as old as the original: git trusts an index by its age.
        let age = at(index, std::fs::metadata(index).and_then(|meta| meta.modified()))?;
        at(&path, std::fs::copy(index, &path))?;
        at(&path, std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(age)))?;
        Ok(Self(path))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

/// Whether following a link of the tree leads outside, link by link. What git keeps is no part of a tree.
pub(super) fn leads_outside(root: &Path, path: &Path) -> bool {
    let mut open: Vec<PathBuf> = components(path);
    let mut current = PathBuf::new();
    let mut links = 0;
    while let Some(next) = open.pop() {
        match next.components().next() {
            Some(Component::ParentDir) if !current.pop() => return true,
            Some(Component::ParentDir | Component::CurDir) | None => continue,
            Some(Component::RootDir | Component::Prefix(_)) => return true,
            Some(Component::Normal(name)) if links > 0 && name == ".git" => return true,
            Some(Component::Normal(name)) => current.push(name),
        }
        if let Ok(target) = root.join(&current).read_link() {
            links += 1;
            if links > LINKS_MAX {
                return true;
            }
            current.pop();
            open.extend(components(&target));
        }
    }
    false
}

/// The components of a path, last first.
fn components(path: &Path) -> Vec<PathBuf> {
    path.components().rev().map(|component| PathBuf::from(component.as_os_str())).collect()
}
