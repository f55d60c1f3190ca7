//! The user's repository: looked at, pinned, published to, and otherwise left alone.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_store::{Point, reach};

use super::conversions::attributes_of;
use super::git_folder::{GitFolder, Kind};
use super::git_settings::{Settings, user_files, user_folder};
use super::measurement::{self, Status};
use super::refs::{base_ref, branch_ref, folders, handed_ref, has_room, in_the_way, left_lock, resolve};
use super::{Base, Signature, Workspace, WorkspaceError, at, engine_git};
use crate::git::{Git, GitError, ObjectId, quote};

/// The message of the commit that holds a checkout with changes, as a run starts from it.
pub(super) const SNAPSHOT: &str = "The checkout as it was when the run started, with changes that were not committed";
/// How many changed paths a refusal names.
pub(super) const SHOWN_MAX: usize = 10;

static NEXT_LOOK: AtomicU64 = AtomicU64::new(0);

/// Where the user's repository keeps what all its checkouts share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shared {
    /// The git folder.
    pub common: PathBuf,
    /// Its objects.
    pub objects: PathBuf,
}

/// The user's repository, as it was found.
#[derive(Debug)]
pub struct Repository {
    /// The top of the checkout.
    pub top: PathBuf,
    /// The commit that is checked out.
    pub head: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
    /// The first paths with changes that are not committed.
    pub dirty: Vec<Name>,
    /// The first folders in the checkout that are repositories of their own, tracked by nobody.
    pub(super) nested: Vec<Name>,
    pub(super) shared: Shared,
    pub(super) git_dir: PathBuf,
    index: PathBuf,
    excludes: PathBuf,
    pub(super) settings: Settings,
}

impl Repository {
    /// Finds the repository around a path and looks for changes that are not committed.
    ///
    /// `scratch` is a folder of the state directory in which it may work; nothing stays there.
    pub fn open(path: &Path, scratch: &Path) -> Result<Self, WorkspaceError> {
        Self::find(path)?.looked_at(scratch)
    }

    /// The same repository, looked at for changes that are not committed.
    pub fn looked_at(self, scratch: &Path) -> Result<Self, WorkspaceError> {
        self.looked_at_with(&[], scratch)
    }

    /// The same, and also at the files in the checkout that git is told not to look at.
    pub fn looked_through(self, scratch: &Path) -> Result<Self, WorkspaceError> {
        let mut flagged = self.flagged()?;
        // One that a sparse checkout leaves out is not there, and so is no change.
        flagged.retain(|path| self.top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok());
        self.looked_at_with(&flagged, scratch)
    }

    fn looked_at_with(mut self, flagged: &[Vec<u8>], scratch: &Path) -> Result<Self, WorkspaceError> {
        self.read_settings()?;
        let number = NEXT_LOOK.fetch_add(1, Ordering::Relaxed);
        let folder = scratch.join(format!("look-{}-{number}", std::process::id()));
        super::remove_tree(&folder)?;
        let looked = self.look(&folder, flagged);
        super::remove_tree(&folder)?;
        let status = looked?;
        self.dirty = status.changed().take(SHOWN_MAX).collect();
        self.nested = status.nested().iter().take(SHOWN_MAX).map(|path| quote(path)).collect();
        Ok(self)
    }

    /// Reads how the user's git takes their files.
    pub(super) fn read_settings(&mut self) -> Result<(), WorkspaceError> {
        self.settings = Settings::read(&self.git_dir)?;
        Ok(())
    }

    /// Whether a remote is to have what is not here.
    pub(super) fn is_partial(&self) -> bool {
        self.settings.partial
    }

    /// Its own git folder, as git of ours.
    pub(super) fn git(&self) -> Result<Git, WorkspaceError> {
        Ok(Git::with_dir(&self.git_dir)?)
    }

    /// Its own git folder.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The index of the checkout.
    pub(super) fn index_file(&self) -> &Path {
        &self.index
    }

    /// Finds the repository around a path, and does not look at its files.
    pub fn find(path: &Path) -> Result<Self, WorkspaceError> {
        if !path.is_dir() {
            return Err(WorkspaceError::NotARepository(path.to_owned()));
        }
        let git = Git::discover(path)?;
        // The owner does not matter to a command that starts nothing.
        let find = ["-c", "safe.directory=*", "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
        let find = [&find[..], &["--git-path", "index", "--git-path", "objects"]].concat();
        let ask = |more: &[&str]| git.call(&[&find[..], more].concat(), Vec::new());
        let found = ask(&["--show-toplevel", "HEAD^{commit}", "HEAD^{tree}"])?;
        let [git_dir, common, index, objects, top, head, tree] = &lines(&found.out)[..] else {
            // It names the first thing that is missing, and prints what comes before it.
            let found = ask(&[])?;
            return Err(match &lines(&found.out)[..] {
                _ if !found.end.success() => WorkspaceError::NotARepository(path.to_owned()),
                [git_dir, ..] => match lines(&ask(&["--show-toplevel"])?.out).get(4) {
                    Some(top) => WorkspaceError::Unborn(top.clone()),
                    None => WorkspaceError::Bare(git_dir.clone()),
                },
                [] => WorkspaceError::NotARepository(path.to_owned()),
            });
        };
        let id = |line: &Path| line.to_str().and_then(ObjectId::parse);
        let (Some(head), Some(tree)) = (id(head), id(tree)) else {
            let what = String::from_utf8_lossy(&found.out).into_owned();
            return Err(GitError::Unexpected { command: "rev-parse".to_owned(), what }.into());
        };
        let excludes = user_excludes(common);
        let shared = Shared { common: common.clone(), objects: objects.clone() };
        let (top, git_dir, index, settings) = (top.clone(), git_dir.clone(), index.clone(), Settings::default());
        let (dirty, nested) = (Vec::new(), Vec::new());
        Ok(Self { top, shared, head, tree, dirty, nested, git_dir, index, excludes, settings })
    }

    /// Refuses a repository in which a ref of this name cannot be made.
    pub(super) fn has_room(&self, name: &str) -> Result<(), WorkspaceError> {
        has_room(&Git::with_dir(&self.shared.common)?, &self.top, name)
    }

    /// The status of the checkout, through a git folder of our own, so that no filter of the checkout is started.
    fn look(&self, folder: &Path, flagged: &[Vec<u8>]) -> Result<Status, WorkspaceError> {
        let folder = GitFolder::create(folder, &self.head, &[&self.shared.objects], &self.shared, Kind::FileStats)?;
        Ok(self.status(&Git::with_dir(folder.path())?, &folder, Some(flagged))?.1)
    }

    /// The status of the checkout against its commit, from a copy of its index if wanted, in which these files are looked at
    /// whatever it says of them; and the git that has that copy.
    fn status(
        &self,
        git: &Git,
        folder: &GitFolder,
        index: Option<&[Vec<u8>]>,
    ) -> Result<(Git, Status), WorkspaceError> {
        let git = self.looking(git, folder)?;
        if let Some(flagged) = index.filter(|_| self.index.exists()) {
            folder.put_index("checkout", &self.index)?;
            if let Ok(status) = unflag(&git, flagged).and_then(|()| measurement::status(&git)) {
                return Ok((git, status));
            }
        }
        // No index, or one that only its own git folder can read (a split one): look at every file instead.
        std::fs::remove_file(folder.index("checkout")).ok();
        git.run(&["read-tree", self.head.as_str()])?;
        let status = measurement::status(&git)?;
        Ok((git, status))
    }

    /// Git on the checkout with an index of our own, as the user's settings take their files.
    pub(super) fn looking(&self, git: &Git, folder: &GitFolder) -> Result<Git, WorkspaceError> {
        let git = git.on(&self.top, &folder.index("checkout")).excluding(&self.ignore_rules(folder)?);
        Ok(git.with(&self.settings.plain))
    }

    /// The ignore rules that hold in the checkout besides its own files: the repository's and the user's.
    fn ignore_rules(&self, folder: &GitFolder) -> Result<PathBuf, WorkspaceError> {
        let mut rules = std::fs::read(self.shared.common.join("info/exclude")).unwrap_or_default();
        rules.push(b'\n');
        rules.extend(std::fs::read(&self.excludes).unwrap_or_default());
        let path = folder.path().join("info/checkout-excludes");
        at(&path, std::fs::write(&path, rules))?;
        Ok(path)
    }

    /// The base of a run: the commit, or a commit on it that holds the changes of the checkout.
    pub(super) fn snapshot(&self, git: &Git, folder: &GitFolder, by: &Signature) -> Result<Base, WorkspaceError> {
        if self.dirty.is_empty() {
            return Ok(Base { commit: self.head.clone(), tree: self.tree.clone() });
        }
        // Its index may name objects that are cleaned away meanwhile; without it, every changed file is read and written.
        let first = self.staged(git, folder, by, true);
        match first {
            Err(WorkspaceError::Git(_)) => self.staged(git, folder, by, false),
            other => other,
        }
    }

    /// Takes the checkout into a copy of its index, as `git add -A` would but for repositories inside of it and what is no
    /// file, which are named.
    pub(super) fn stage(
        &self,
        git: &Git,
        look: &GitFolder,
        index: bool,
    ) -> Result<(Git, Status, Vec<Name>), WorkspaceError> {
        let (checkout, status) = self.status(git, look, index.then_some(&[]))?;
        self.can_be_taken(&status)?;
        let special = measurement::stage(&checkout, &self.top, &status)?;
        Ok((checkout, status, special))
    }

    /// What `git add -A` would make of the checkout, in an index of our own, as a commit.
    fn staged(&self, git: &Git, folder: &GitFolder, by: &Signature, index: bool) -> Result<Base, WorkspaceError> {
        let look = folder.path().join("checkout");
        super::remove_tree(&look)?;
        let look = GitFolder::create(&look, &self.head, &[&self.shared.objects], &self.shared, Kind::FileStats)?;
        let own = Git::with_dir(look.path())?.env("GIT_OBJECT_DIRECTORY", folder.objects());
        let (checkout, status, special) = self.stage(&own, &look, index)?;
        let nested = status.nested().iter().map(|path| format!("{} is a repository of its own", quote(path)));
        let special = special.into_iter().map(|path| format!("{path} is no file"));
        self.not_taken(nested.chain(special))?;
        let tree = checkout.id(&["write-tree"])?;
        super::remove_tree(look.path())?;
        let commit = commit(git, &tree, &self.head, SNAPSHOT, by)?;
        own_objects(git, folder, &commit, &self.head)?;
        Ok(Base { commit, tree })
    }
}

impl Repository {
    /// Refuses changes whose content is not what belongs into a commit: both sides of a merge, and what a filter wrote.
    fn can_be_taken(&self, status: &Status) -> Result<(), WorkspaceError> {
        let merging = status.unmerged().map(|path| format!("{path} is in the middle of a merge"));
        let filtered = self.filtered(status.present())?.into_iter();
        let filtered = filtered.map(|(path, filter)| format!("{path} is written by the filter `{filter}`"));
        self.not_taken(merging.chain(filtered))
    }

    pub(super) fn not_taken(&self, paths: impl Iterator<Item = String>) -> Result<(), WorkspaceError> {
        let paths: Vec<String> = paths.take(SHOWN_MAX).collect();
        if paths.is_empty() { Ok(()) } else { Err(WorkspaceError::NotTaken { top: self.top.clone(), paths }) }
    }

    /// Whether the user configured a filter of this name.
    pub(super) fn has_filter(&self, name: &str) -> bool {
        self.settings.filters.contains(name)
    }

    /// The files that a configured filter writes. Attributes are looked up, no filter is started.
    pub(super) fn filtered(&self, paths: &[Vec<u8>]) -> Result<Vec<(Name, String)>, WorkspaceError> {
        if self.settings.filters.is_empty() || paths.is_empty() {
            return Ok(Vec::new());
        }
        let git = Git::with_dir(&self.git_dir)?.on(&self.top, &self.index);
        let mut found = Vec::new();
        attributes_of(&git, &["filter"], paths.iter().map(Vec::as_slice), |[path, _, filter]| {
            let filter = String::from_utf8_lossy(filter).into_owned();
            found.extend(self.settings.filters.contains(&filter).then(|| (quote(path), filter)));
        })?;
        Ok(found)
    }
}

/// Has an index of ours say of files that they are to be looked at.
fn unflag(git: &Git, paths: &[Vec<u8>]) -> Result<(), WorkspaceError> {
    if paths.is_empty() {
        return Ok(());
    }
    // Git heeds one of them at a time.
    for flag in ["--no-skip-worktree", "--no-assume-unchanged"] {
        let paths = paths.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        git.feed(&["update-index", flag, "-z", "--stdin"], paths)?;
    }
    Ok(())
}

/// The user's file of ignore rules, read from the configuration without starting anything.
fn user_excludes(common: &Path) -> PathBuf {
    for file in user_files().into_iter().rev().filter(|file| file.is_file()) {
        let mut args: Vec<&OsStr> = ["config", "--type=path", "--file"].map(OsStr::new).to_vec();
        args.extend([file.as_os_str(), OsStr::new("core.excludesFile")]);
        let asked = Git::discover(common).and_then(|git| git.run(&args));
        if let Some(path) = asked.ok().and_then(|out| lines(&out).into_iter().next()) {
            return path;
        }
    }
    user_folder().join("ignore")
}

fn lines(out: &[u8]) -> Vec<PathBuf> {
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| PathBuf::from(OsString::from_vec(line.to_vec()))).collect()
}

/// Copies what a commit adds to its base into the private git folder, also what the user's repository has: there it may be
/// in reach of no ref, and be cleaned away before it is pinned.
fn own_objects(git: &Git, folder: &GitFolder, commit: &ObjectId, base: &ObjectId) -> Result<(), WorkspaceError> {
    let pack = folder.objects().join("pack/pack");
    let args = ["pack-objects", "--revs", "--non-empty", "--quiet"].map(OsStr::new);
    git.feed(&[&args[..], &[pack.as_os_str()]].concat(), format!("{commit}\n^{base}\n").into_bytes())?;
    Ok(())
}

/// Makes a commit that depends on its arguments alone.
pub(super) fn commit(
    git: &Git,
    tree: &ObjectId,
    parent: &ObjectId,
    message: &str,
    by: &Signature,
) -> Result<ObjectId, WorkspaceError> {
    commit_on(git, tree, &[parent], message, by)
}

/// The same with any number of parents.
pub(super) fn commit_on(
    git: &Git,
    tree: &ObjectId,
    parents: &[&ObjectId],
    message: &str,
    by: &Signature,
) -> Result<ObjectId, WorkspaceError> {
    let date = format!("@{} +0000", by.at_s);
    let git = git
        .env("GIT_AUTHOR_NAME", &by.name)
        .env("GIT_AUTHOR_EMAIL", &by.email)
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_NAME", &by.name)
        .env("GIT_COMMITTER_EMAIL", &by.email)
        .env("GIT_COMMITTER_DATE", &date);
    let parents = parents.iter().flat_map(|parent| ["-p", parent.as_str()]);
    let args: Vec<&str> = ["commit-tree", tree.as_str()].into_iter().chain(parents).chain(["-m", message]).collect();
    Ok(git.id(&args)?)
}

impl Workspace {
    /// Pins the base in the user's repository, so that nothing there is cleaned away while the run needs it.
    pub(super) fn pin(&self) -> Result<(), WorkspaceError> {
        self.hand(&self.base.commit, &base_ref(self.run), &[])
    }

    /// Commits a tree on the base as the branch `tollgate/RUN` of the user's repository. Doing it again changes nothing.
    pub fn publish(&self, tree: &ObjectId, message: &str, by: &Signature) -> Result<ObjectId, WorkspaceError> {
        let commit = commit(&self.git, tree, &self.base.commit, message, by)?;
        let ours = resolve(&self.git, &["refs/published", "refs/publishing"])?;
        let ours: Vec<ObjectId> = ours.into_iter().flatten().collect();
        // Written before the branch: after a crash in between, the branch is either the old one or this one.
        self.git.run(&["update-ref", "refs/publishing", commit.as_str()])?;
        reach(Point::CommitMade);
        self.hand(&commit, &branch_ref(self.run), &ours)?;
        reach(Point::BranchMade);
        self.git.run(&["update-ref", "refs/published", commit.as_str()])?;
        Ok(commit)
    }

    /// Where the branch `tollgate/RUN` of the user's repository stands, if there is one.
    pub fn published(&self) -> Option<ObjectId> {
        let user = Git::with_dir(&self.shared.common).ok()?;
        user.id(&["rev-parse", "--verify", "--quiet", &branch_ref(self.run)]).ok()
    }

    /// Brings a commit into the user's repository under a ref that is absent, the same, or one that we put there.
    pub(super) fn hand(&self, commit: &ObjectId, name: &str, ours: &[ObjectId]) -> Result<(), WorkspaceError> {
        let (user, handed) = (self.user()?, handed_ref(self.run));
        let folders: Vec<&str> = folders(name).collect();
        let mut all = resolve(&user, &[&[name, commit.as_str()], &folders[..]].concat())?.into_iter();
        let (found, is_there) = (all.next().flatten(), all.next().flatten().is_some());
        match &found {
            Some(found) if found == commit => return Ok(user.run(&["update-ref", "-d", &handed]).map(drop)?),
            Some(found) if !ours.contains(found) => {
                let (top, found) = (self.top.clone(), found.to_string());
                return Err(WorkspaceError::RefMoved { name: name.to_owned(), top, found });
            }
            Some(_) => {}
            None => in_the_way(&self.top, &folders, all)?,
        }
        if !is_there {
            self.git.run(&["update-ref", "refs/handed", commit.as_str()])?;
            // Never unpacked: a pack is kept from being cleaned away until a ref points to it, loose objects are not.
            let flags = ["-c", "fetch.unpackLimit=1", "fetch", "--no-recurse-submodules", "--quiet", "--no-tags"];
            let more = ["--no-write-fetch-head", "--no-auto-maintenance", "--refmap="];
            let mut args: Vec<&OsStr> = flags.into_iter().chain(more).map(OsStr::new).collect();
            let refs = format!("+refs/handed:{handed}");
            args.extend([self.folder.path().as_os_str(), OsStr::new(&refs)]);
            user.run(&args)?;
        }
        let before = found.map_or_else(|| "0".repeat(commit.as_str().len()), |id| id.to_string());
        let steps = format!("update {name} {commit} {before}\ndelete {handed}\n");
        user.feed(&["update-ref", "--stdin"], steps.into_bytes())?;
        Ok(())
    }

    /// Takes the pin of the base back. Nothing happens when somebody else moved it.
    pub(super) fn unpin(&self) -> Result<(), WorkspaceError> {
        let user = self.user()?;
        let (name, handed) = (base_ref(self.run), handed_ref(self.run));
        let mut steps = format!("delete {handed}\n");
        if resolve(&user, &[&name])?.contains(&Some(self.base.commit.clone())) {
            steps.push_str(&format!("delete {name} {}\n", self.base.commit));
        }
        user.feed(&["update-ref", "--stdin"], steps.into_bytes())?;
        Ok(())
    }

    /// Takes the pin of the base back unless something needs it: content that is kept, or a tree with work that has not
    /// landed. Both borrow from the user's repository.
    pub fn release(&self, landed: bool) -> Result<(), WorkspaceError> {
        let trees = self.state.join("trees").join(self.run.to_string());
        let has_trees = std::fs::read_dir(trees).is_ok_and(|mut entries| entries.next().is_some());
        let kept = self.git.run(&["for-each-ref", "--count=1", "refs/kept"])?;
        if kept.is_empty() && (landed || !has_trees) { self.unpin() } else { Ok(()) }
    }

    /// Removes the locks of the run's own refs that a git left which was killed. Only the holder of the run may call it, and
    /// nobody else writes these refs; any other lock in the repository is its owner's, and stays.
    pub(super) fn sweep_ref_locks(&self) {
        let names = [branch_ref(self.run), base_ref(self.run), handed_ref(self.run)];
        let left: Vec<PathBuf> = names.iter().filter_map(|name| left_lock(&self.shared.common, name)).collect();
        if left.is_empty() || self.user().is_err() {
            return;
        }
        for lock in left {
            std::fs::remove_file(lock).ok();
        }
    }

    /// The folder of the user's repository that is not there any more, if one is not.
    pub fn gone(&self) -> Option<&Path> {
        let folders = [&self.top, &self.shared.common, &self.shared.objects];
        folders.into_iter().map(PathBuf::as_path).find(|folder| !folder.is_dir())
    }

    /// Git in the user's repository. What is written down beside the run is not enough to write there: it must be the
    /// repository of the checkout.
    pub(super) fn user(&self) -> Result<Git, WorkspaceError> {
        if Repository::find(&self.top)?.shared != self.shared {
            let why = format!("{} is not the git folder of {}", self.shared.common.display(), self.top.display());
            return Err(WorkspaceError::Lost { run: self.run, why });
        }
        Ok(engine_git(&self.shared.common, self.run)?)
    }
}
