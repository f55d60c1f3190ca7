//! Moving the user's checkout to a commit that lands on its branch: files first, then the index, the branch last.
//!
//! It is done with git folders of our own, so that no hook, filter or driver is started, and only in a checkout without
//! changes. One that was cut off goes on where it was: a file that is neither as it was nor as it will be is somebody's.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_store::{Point, reach};

use super::git_folder::{GitFolder, Kind};
use super::locks::Claim;
use super::measurement::{self, ChangeKind};
use super::unfinished_starts::scratch;
use super::{Repository, Workspace, WorkspaceError, at};
use crate::git::{Git, ObjectId, quote, unquote};

/// The ref of the private git folder that says which commit a checkout is being moved to.
const MARK: &str = "refs/landing";

/// The checkout of a run's repository on its way from one commit to another.
pub(super) struct Checkout<'a> {
    workspace: &'a Workspace,
    repository: Repository,
    from: &'a ObjectId,
    to: &'a ObjectId,
    changes: BTreeMap<Name, ChangeKind>,
    /// Submodules with something in their place that would be lost.
    displaced: Vec<Name>,
    claim: Claim,
}

impl<'a> Checkout<'a> {
    pub fn of(workspace: &'a Workspace, from: &'a ObjectId, to: &'a ObjectId) -> Result<Self, WorkspaceError> {
        let mut repository = Repository::find(&workspace.top)?;
        repository.read_settings()?;
        // One for each run: its work is held while it lands.
        let claim = Claim::make(&scratch(&workspace.state).join(format!("land-{}", workspace.run)))?;
        let trees = [workspace.tree_at(from)?, workspace.tree_at(to)?];
        let changes = workspace.changes(&trees[0], &trees[1])?;
        let changes = changes.into_iter().map(|change| (change.path, change.kind)).collect();
        let displaced = workspace.displaced(&trees[0], &trees[1])?;
        Ok(Self { workspace, repository, from, to, changes, displaced, claim })
    }

    /// Moves files and index, then has the branch moved.
    pub fn advance(self, branch: impl FnOnce() -> Result<(), WorkspaceError>) -> Result<(), WorkspaceError> {
        let git = &self.workspace.git;
        if self.repository.head == *self.to {
            // The branch is moved last: all of it is done, and what changed since is not ours.
            return Ok(git.run(&["update-ref", "-d", MARK]).map(drop)?);
        }
        let began = git.id(&["rev-parse", "--verify", "--quiet", MARK]).is_ok_and(|mark| mark == *self.to);
        let (checkout, folder) = self.look("from", self.from, true)?;
        let (wanted, _) = self.look("to", self.to, false)?;
        let foreign = self.foreign(&checkout, &wanted, began)?;
        if !foreign.is_empty() {
            let (top, paths, nested) = (self.repository.top.clone(), foreign, false);
            return Err(match began {
                true => WorkspaceError::Halfway { top, paths },
                false => WorkspaceError::Dirty { top, paths, nested },
            });
        }
        if !began {
            self.workspace.displaces_nothing(self.displaced.clone())?;
            let changed: Vec<Name> = self.changes.keys().cloned().collect();
            self.workspace.needs_no_filter(&self.workspace.tree_at(self.to)?, &changed, &self.repository)?;
            self.repository.may_be_moved(&changed)?;
        }
        git.run(&["update-ref", MARK, self.to.as_str()])?;
        reach(Point::LandBegun);
        if began {
            checkout.run(&["read-tree", "--reset", "-u", self.to.as_str()])?;
        } else if let Err(error) = checkout.run(&["read-tree", "-m", "-u", self.from.as_str(), self.to.as_str()]) {
            // Nothing was written yet: git looks at all of it first.
            git.run(&["update-ref", "-d", MARK])?;
            let hint = "fix what git names, or leave the checkout alone: `--as branch --to NAME`";
            return Err(WorkspaceError::LandTarget { why: error.to_string(), hint });
        }
        reach(Point::LandFiles);
        put_index(&folder.index("checkout"), self.repository.index_file())?;
        reach(Point::LandIndex);
        branch()?;
        git.run(&["update-ref", "-d", MARK])?;
        drop(self.claim);
        Ok(())
    }

    /// A git with a copy of the checkout's index, or with an index of the commit alone.
    fn look(&self, name: &str, head: &ObjectId, index: bool) -> Result<(Git, GitFolder), WorkspaceError> {
        let path = self.claim.path().join(name);
        super::remove_tree(&path)?;
        let shared = &self.workspace.shared;
        let stores = [shared.objects.as_path(), &self.workspace.folder.objects()];
        let folder = GitFolder::create(&path, head, &stores, shared, Kind::FileStats)?;
        let git = self.repository.looking(&super::engine_git(folder.path(), self.workspace.run)?, &folder)?;
        if index {
            folder.put_index("checkout", self.repository.index_file())?;
        } else {
            git.run(&["read-tree", head.as_str()])?;
        }
        Ok((git, folder))
    }

    /// The paths of the checkout that are neither what they were nor, where it was begun, what they will be.
    fn foreign(&self, checkout: &Git, wanted: &Git, began: bool) -> Result<Vec<Name>, WorkspaceError> {
        let changed: Vec<Name> = measurement::status(checkout)?.changed().collect();
        let missing: BTreeSet<Name> =
            if began { measurement::status(wanted)?.changed().collect() } else { changed.iter().cloned().collect() };
        let ours = |path: &Name| began && (!missing.contains(path) || self.is_half_written(wanted, path));
        // What git does not count because it is ignored would be written over.
        let created = self.changes.iter().filter(|(_, kind)| **kind == ChangeKind::Created);
        let in_the_way = created.map(|(path, _)| path).filter(|path| self.is_taken(path));
        let displaced = self.displaced.iter().filter(|_| began);
        let all = changed.iter().chain(in_the_way).chain(displaced).filter(|path| !ours(path));
        let foreign: BTreeSet<Name> = all.cloned().collect();
        Ok(foreign.into_iter().take(super::repository::SHOWN_MAX).collect())
    }

    /// Whether something is where a new file has to be: it, or something above it that is no folder and does not go.
    fn is_taken(&self, path: &Name) -> bool {
        let goes = |place: &Path| {
            let name = place.strip_prefix(&self.repository.top).map(|path| quote(path.as_os_str().as_bytes()));
            let gone = |name: Name| self.changes.get(&name) == Some(&ChangeKind::Deleted);
            name.is_ok_and(gone)
        };
        let place = self.place(path);
        let above = place.ancestors().skip(1).take_while(|above| *above != self.repository.top);
        let blocked = |above: &Path| above.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) && !goes(above);
        match place.symlink_metadata() {
            // A folder whose files all go makes room.
            Ok(meta) if meta.is_dir() => !files_below(&place).iter().all(|file| goes(file)),
            Ok(_) => true,
            Err(_) => above.into_iter().any(blocked),
        }
    }

    fn place(&self, path: &Name) -> PathBuf {
        self.repository.top.join(OsStr::from_bytes(&unquote(path)))
    }

    /// Whether a file is the beginning of what it will be, or gone: git was killed while it wrote it.
    fn is_half_written(&self, wanted: &Git, path: &Name) -> bool {
        if !self.changes.contains_key(path) {
            return false;
        }
        let place = self.place(path);
        // Taken away, and not yet written.
        let Ok(meta) = place.symlink_metadata() else { return true };
        let mut name = OsString::from(format!("{}:", self.to));
        name.push(OsStr::from_bytes(&unquote(path)));
        // As git writes it, by the attributes of the commit: those in the checkout may be the old ones.
        let git = wanted.env("GIT_ATTR_SOURCE", self.to);
        let Ok(wanted) = git.run(&[OsStr::new("cat-file"), OsStr::new("--filters"), &name]) else { return false };
        meta.is_file() && std::fs::read(&place).is_ok_and(|found| wanted.starts_with(&found))
    }
}

/// Every file below a folder; links are not followed.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder { &mut open } else { &mut found }.push(entry.path());
        }
    }
    found
}

/// Puts an index in the place of the checkout's, under the lock that every git takes.
///
/// The lock is made whole by a link to a file of ours, so that one which was left by a crash is known by it.
fn put_index(from: &Path, index: &Path) -> Result<(), WorkspaceError> {
    let beside = |end: &str| {
        let mut path = index.as_os_str().to_owned();
        path.push(end);
        PathBuf::from(path)
    };
    let (ours, lock) = (beside(".tollgate"), beside(".lock"));
    let place = |path: &Path| path.symlink_metadata().ok().map(|meta| (meta.dev(), meta.ino()));
    if place(&ours).is_some() && place(&ours) == place(&lock) {
        at(&lock, std::fs::remove_file(&lock))?;
    }
    let bytes = at(from, std::fs::read(from))?;
    let age = at(from, std::fs::metadata(from).and_then(|meta| meta.modified()))?;
    std::fs::remove_file(&ours).ok();
    let mut file = at(&ours, std::fs::File::create_new(&ours))?;
    // Git trusts an index by its age.
    at(&ours, file.write_all(&bytes).and_then(|()| file.set_modified(age)).and_then(|()| file.sync_all()))?;
    let linked = std::fs::hard_link(&ours, &lock);
    if let Err(error) = linked {
        std::fs::remove_file(&ours).ok();
        return at(&lock, Err(error));
    }
    at(index, std::fs::rename(&lock, index))?;
    at(&ours, std::fs::remove_file(&ours))
}
