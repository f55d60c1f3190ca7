//! Work trees and throw-away copies: files with a git folder of their own that borrows objects.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_store::{Point, reach};

use super::conversions::{Written, settings};
use super::files::{beside, remove_tree, safe_name, sync_folder};
use super::git_folder::{GitFolder, Kind};
use super::stat_cache::{MeasuredStats, remember};
use super::{Custody, Workspace, WorkspaceError, at, engine_git};
use crate::git::{Git, ObjectId};

/// The name of the run's own work tree; no unit can have it.
const RUN_TREE: &str = "@run";

/// Where commits are found that keep what a tree held.
const KEPT: &str = "refs/kept";

static NEXT_COPY: AtomicU64 = AtomicU64::new(0);

/// A work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTree {
    /// Where it is.
    pub path: PathBuf,
    pub(super) name: String,
}

/// Where the content is that a work tree held before it was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviousContent {
    /// It is a tree that the journal names, and needs no ref.
    Recorded,
    /// In a commit under `refs/kept` of the private git folder.
    Kept(ObjectId),
    /// It could not be measured, and lies beside the tree.
    Aside,
}

impl WorkTree {
    /// Whether there is anything at its place.
    pub fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// Its name among the trees of its run.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// What a work tree held when it was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptTree {
    /// The tree, by the name that [`WorkTree::name`] has.
    pub tree: String,
    /// The commit that holds it; none: it could not be measured and was moved.
    pub commit: Option<ObjectId>,
    /// The git folder of the commit, or the folder that was moved.
    pub place: PathBuf,
}

/// A copy of a tree for somebody who only looks at it; it goes when this does.
#[derive(Debug)]
pub struct TempCopy {
    path: PathBuf,
    /// What it was made of; none: it is not to be measured.
    pub(super) written: Option<Written>,
    /// Its files as they were made; none: they were not looked at.
    pub(super) seen: Option<MeasuredStats>,
}

impl TempCopy {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name among the trees of its run.
    pub(super) fn name(&self) -> String {
        format!("copy-{}", self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Its index, beside it: where nobody who works in it writes.
    pub(super) fn index(&self) -> PathBuf {
        self.path.with_extension("index")
    }
}

impl Drop for TempCopy {
    fn drop(&mut self) {
        std::fs::remove_file(self.index()).ok();
        // What cannot be removed now is swept at the next start.
        remove_tree(&self.path).ok();
    }
}

impl Workspace {
    /// The work tree of a unit, or the run's own; made with the files of `start` when it is not there yet.
    ///
    /// One that is there is left as it is, whatever it holds.
    pub fn work_tree(&self, unit: Option<&str>, start: &ObjectId) -> Result<WorkTree, WorkspaceError> {
        let tree = self.locate(unit);
        if !tree.path.exists() {
            let (next, written) = self.build_to_measure(&tree.path, start, &self.folder.index(&tree.name))?;
            self.forget_ready(&tree)?;
            self.record_written(&tree.path, &written)?;
            reach(Point::TreeMade);
            self.put(&next, &tree.path)?;
            self.set_custody(&tree, &Custody::Left(start.clone()))?;
            remember(&tree.path, self.just_made(&tree.path, start)?);
        }
        Ok(tree)
    }

    /// Whether a work tree is there and holds these files.
    pub fn holds(&self, tree: &WorkTree, files: &ObjectId) -> bool {
        self.measure(tree, files).is_ok_and(|found| found.tree == *files && found.misplaced().is_empty())
    }

    /// Where the work tree of a unit, or the run's own, is or would be.
    pub fn locate(&self, unit: Option<&str>) -> WorkTree {
        let name = unit.map_or_else(|| RUN_TREE.to_owned(), safe_name);
        let path = self.state.join("trees").join(self.run.to_string()).join(&name);
        WorkTree { path, name }
    }

    /// Puts the files of `start` in place of what a work tree holds, and keeps that under a ref first, unless it is `recorded`.
    ///
    /// Answers the tree and where the old content is. A tree that cannot be measured is moved aside instead.
    pub fn reset_tree(
        &self,
        unit: Option<&str>,
        start: &ObjectId,
        recorded: &dyn Fn(&ObjectId) -> bool,
    ) -> Result<(WorkTree, PreviousContent), WorkspaceError> {
        let tree = self.locate(unit);
        if !tree.path.exists() {
            return Ok((self.work_tree(unit, start)?, PreviousContent::Recorded));
        }
        let old = self.keep(&tree, recorded).unwrap_or(PreviousContent::Aside);
        reach(Point::TreeKept);
        let (next, written) = self.build_to_measure(&tree.path, start, &self.folder.index(&tree.name))?;
        self.forget_ready(&tree)?;
        let aside = self.free_name(&tree.path, if old == PreviousContent::Aside { "old" } else { "kept" });
        if old == PreviousContent::Aside {
            self.record_written(&aside, &self.written(&tree.path, &self.base.tree))?;
        }
        at(&aside, std::fs::rename(&tree.path, &aside))?;
        reach(Point::TreeAside);
        if old != PreviousContent::Aside {
            self.hand_on_caches(&aside, &next);
        }
        // While neither is in its place: what is recorded is never of the other one.
        self.record_written(&tree.path, &written)?;
        self.put(&next, &tree.path)?;
        reach(Point::TreePut);
        if old != PreviousContent::Aside {
            remove_tree(&aside)?;
        }
        Ok((tree, old))
    }

    /// Keeps the content of a work tree as a commit under a ref of the private git folder, unless it is `recorded`.
    pub fn keep(
        &self,
        tree: &WorkTree,
        recorded: &dyn Fn(&ObjectId) -> bool,
    ) -> Result<PreviousContent, WorkspaceError> {
        let measured = self.measure(tree, &self.base.tree)?;
        if !measured.nested.is_empty() {
            let why = format!("`{}` is a repository of its own", measured.nested.join("`, `"));
            return Err(WorkspaceError::Unmeasurable(why));
        }
        if recorded(&measured.tree) {
            return Ok(PreviousContent::Recorded);
        }
        let commit = self.commit_of(&measured.tree)?;
        // Named by its content: keeping the same again changes nothing. `@` and `%` are fine in a ref, a dot at the end not.
        let name = format!("{KEPT}/{}/{commit}", tree.name.replace('.', "%2e"));
        self.git.run(&["update-ref", &name, commit.as_str()])?;
        Ok(PreviousContent::Kept(commit))
    }

    /// Whether the private git folder has a tree.
    pub fn has(&self, tree: &ObjectId) -> bool {
        self.git.run(&["cat-file", "-e", tree.as_str()]).is_ok()
    }

    /// What was put away of work trees, the last first.
    pub fn kept(&self) -> Result<Vec<KeptTree>, WorkspaceError> {
        let form = "--format=%(objectname) %(refname:lstrip=2)";
        let listing = self.git.run(&["for-each-ref", "--sort=-committerdate", form, KEPT])?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let of_ref = |line: &str| {
            let (commit, name) = line.split_once(' ')?;
            let (tree, _) = name.rsplit_once('/')?;
            Some(KeptTree { tree: tree.replace("%2e", "."), commit: ObjectId::parse(commit), place: self.git_folder() })
        };
        let mut kept: Vec<KeptTree> = listing.lines().filter_map(of_ref).collect();
        // What could not be measured lies beside the trees.
        let folder = self.state.join("trees").join(self.run.to_string());
        let beside = std::fs::read_dir(&folder).into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (tree, _) = name.rsplit_once("@old-")?;
            Some(KeptTree { tree: tree.to_owned(), commit: None, place: entry.path() })
        });
        kept.extend(beside);
        Ok(kept)
    }

    /// The run's private git folder.
    pub fn git_folder(&self) -> PathBuf {
        self.run_folder().join("git")
    }

    /// A throw-away copy of a tree.
    pub fn copy(&self, tree: &ObjectId) -> Result<TempCopy, WorkspaceError> {
        self.copy_with(tree, false)
    }

    /// A throw-away copy of a tree that can be measured afterwards.
    pub fn copy_to_measure(&self, tree: &ObjectId) -> Result<TempCopy, WorkspaceError> {
        self.copy_with(tree, true)
    }

    fn copy_with(&self, tree: &ObjectId, measured: bool) -> Result<TempCopy, WorkspaceError> {
        let number = NEXT_COPY.fetch_add(1, Ordering::Relaxed);
        let path = self.run_folder().join("copies").join(format!("{}-{number}", std::process::id()));
        let mut copy = TempCopy { path, written: None, seen: None };
        let next = match measured {
            true => {
                let (next, written) = self.build_to_measure(copy.path(), tree, &copy.index())?;
                copy.written = Some(written);
                next
            }
            false => self.build(copy.path(), tree)?.0,
        };
        self.put(&next, copy.path())?;
        if measured {
            copy.seen = self.just_made(copy.path(), tree)?;
        }
        Ok(copy)
    }

    /// Removes the copies, half-made trees, trees whose content is kept and locks that a dead driver left. Only the holder of
    /// the run may call it.
    pub fn sweep(&self) -> Result<(), WorkspaceError> {
        self.folder.sweep_locks();
        self.sweep_ref_locks();
        remove_tree(&self.run_folder().join("copies"))?;
        let trees = self.state.join("trees").join(self.run.to_string());
        let beside =
            [trees, self.run_folder().join("made")].map(|folder| std::fs::read_dir(folder).into_iter().flatten());
        for entry in beside.into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with("@new") || name.contains("@kept-") {
                remove_tree(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Makes the files of a tree beside `path` as [`Self::build`] does, and an `index` by which they are measured.
    fn build_to_measure(
        &self,
        path: &Path,
        tree: &ObjectId,
        index: &Path,
    ) -> Result<(PathBuf, Written), WorkspaceError> {
        let (next, git) = self.build(path, tree)?;
        let written = self.index_written(&git, (&next, &next.join(".git/index")), tree, index)?;
        Ok((next, written))
    }

    /// Makes the files of a tree beside `path`, as `git checkout` writes them; answers where, and the git that wrote them.
    fn build(&self, path: &Path, tree: &ObjectId) -> Result<(PathBuf, Git), WorkspaceError> {
        let next = beside(path, "new");
        remove_tree(&next)?;
        let commit = self.commit_of(tree)?;
        let own = next.join(".git");
        let stores = [self.shared.objects.as_path(), &self.folder.objects()];
        GitFolder::fill(&own, &commit, &stores, &self.shared, Kind::Work(self.checkout.as_ref()))?;
        // Nobody else has seen this folder yet, so git may run with it; never again after it is handed over.
        let git = engine_git(&own, self.run)?.on(&next, &own.join("index")).with(&settings(self.checkout.as_ref()));
        git.run(&["read-tree", "-u", "--reset", commit.as_str()])?;
        Ok((next, git))
    }

    /// Puts a finished tree in its place.
    fn put(&self, next: &Path, path: &Path) -> Result<(), WorkspaceError> {
        at(path, std::fs::rename(next, path))?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    /// A name beside a work tree that is not taken.
    fn free_name(&self, path: &Path, what: &str) -> PathBuf {
        let names = (1u32..).map(|number| beside(path, &format!("{what}-{number}")));
        names.into_iter().find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| beside(path, what))
    }
}
