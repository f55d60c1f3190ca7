//! What cleaning up asks of the work of a run: what a tree holds, what is on a branch, what is kept, and what may go.

use super::files::write_whole;
use super::git_folder::{GitFolder, Kind};
use super::refs::{base_ref, handed_ref};
use super::repository::Shared;
use super::{Base, Measured, Repository, WorkTree, Workspace, WorkspaceError, git_path};
use crate::git::{Git, ObjectId};
use std::path::{Path, PathBuf};
use tollgate_core::id::RunId;
use tollgate_core::run::Run;

/// Beside the private git folder once it was cleaned up: it is made again when it is needed.
const COLLECTED: &str = "collected";

impl Workspace {
    /// Measures whatever lies under a name among the trees of the run, against its base.
    pub fn measure_named(&self, name: &str) -> Result<Measured, WorkspaceError> {
        let path = self.state.join("trees").join(self.run.to_string()).join(name);
        let measured = self.measure(&WorkTree { path, name: format!("gc-{name}") }, &self.base.tree);
        std::fs::remove_file(self.folder.index(&format!("gc-{name}"))).ok();
        measured
    }

    /// A branch of the user's repository that holds a commit.
    pub fn branch_with(&self, commit: &ObjectId) -> Result<Option<String>, WorkspaceError> {
        let user = self.user()?;
        let contains = format!("--contains={commit}");
        let args = ["for-each-ref", "--count=1", "--format=%(refname:lstrip=2)", &contains, "refs/heads"];
        let printed = user.call(&args, Vec::new())?;
        // A commit that is not there is on no branch.
        let name = String::from_utf8_lossy(&printed.out).trim().to_owned();
        Ok(Some(name).filter(|name| printed.end.success() && !name.is_empty()))
    }

    /// What is kept of work trees: the ref, its commit and the tree of that.
    pub fn kept_refs(&self) -> Result<Vec<(String, ObjectId, ObjectId)>, WorkspaceError> {
        let listing = self.git.run(&["for-each-ref", "--format=%(refname) %(objectname) %(tree)", "refs/kept"])?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let line = |line: &str| {
            let mut words = line.split(' ');
            let name = words.next()?.to_owned();
            Some((name, ObjectId::parse(words.next()?)?, ObjectId::parse(words.next()?)?))
        };
        Ok(listing.lines().filter_map(line).collect())
    }

    /// Takes a ref away under which something is kept.
    pub fn forget_kept(&self, name: &str, commit: &ObjectId) -> Result<(), WorkspaceError> {
        Ok(self.git.run(&["update-ref", "-d", name, commit.as_str()]).map(drop)?)
    }

    /// The refs of the run in the user's repository that go when its base is not needed any more.
    pub fn pins(&self) -> Result<Vec<String>, WorkspaceError> {
        let user = self.user()?;
        let there = |name: &String| user.id(&["rev-parse", "--verify", "--quiet", name]).ok();
        let base = Some(base_ref(self.run)).filter(|name| there(name).is_some_and(|found| found == self.base.commit));
        let handed = Some(handed_ref(self.run)).filter(|name| there(name).is_some());
        Ok(base.into_iter().chain(handed).collect())
    }

    /// Notes that the private git folder may be gone on purpose.
    pub fn mark_collected(&self) -> Result<(), WorkspaceError> {
        write_whole(&self.run_folder().join(COLLECTED), b"")
    }
}

/// The git folders that can hold the commits of a run: that of the user's repository, and the run's own. Nothing is made.
pub fn git_folders(state: &Path, run: &Run) -> [PathBuf; 2] {
    let remembered = Workspace::remembered(state, run.id).ok().flatten();
    let user = remembered.map_or_else(|| Path::new(&*run.opened.repository).join(".git"), |made| made.shared.common);
    [user, git_path(state, run.id)]
}

/// Whether the repository of a run is one that `tollgate demo` made in the state directory.
pub fn is_demonstration(state: &Path, run: &Run) -> bool {
    let state = state.canonicalize().unwrap_or_else(|_| state.to_owned());
    Path::new(&*run.opened.repository).starts_with(state.join("demo"))
}

/// Whether a commit and its tree are in a git folder; none: that could not be found out.
pub fn holds_commit(folder: &Path, commit: &str) -> Option<bool> {
    if !folder.is_dir() {
        return Some(false);
    }
    let git = Git::with_dir(folder).ok()?;
    if !git.call(&["rev-parse", "--git-dir"], Vec::new()).ok()?.end.success() {
        return None;
    }
    Some(git.call(&["cat-file", "-e", &format!("{commit}^{{tree}}")], Vec::new()).ok()?.end.success())
}

/// Makes the private git folder of a run again that was cleaned up: all it needs is in the user's repository.
pub(super) fn remake(state: &Path, run: RunId, shared: &Shared, base: &Base) -> Result<GitFolder, WorkspaceError> {
    let path = git_path(state, run);
    let collected = path.with_file_name(COLLECTED).exists();
    if collected && !path.exists() && shared.objects.is_dir() {
        return GitFolder::create(&path, &base.commit, &[&shared.objects], shared, Kind::Private);
    }
    Ok(GitFolder::existing(&path))
}

impl Repository {
    /// Whether it has one commit, no branch but the one that is checked out and those of runs, and no tag or stash.
    pub fn is_as_made(&self) -> Result<bool, WorkspaceError> {
        let git = self.git()?;
        let count = git.run(&["rev-list", "--count", "HEAD"])?;
        let head = self.branch()?.unwrap_or_default();
        let refs = git.run(&["for-each-ref", "--format=%(refname)"])?;
        let refs = String::from_utf8_lossy(&refs).into_owned();
        let made = |name: &str| {
            name == format!("refs/heads/{head}")
                || name.starts_with("refs/heads/tollgate/")
                || name.starts_with("refs/tollgate/")
        };
        Ok(count.trim_ascii() == b"1" && refs.lines().all(made))
    }
}
