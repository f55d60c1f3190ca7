//! Delivering a run: its tree goes to the branch or patch that a person asked for, and nowhere else.
//!
//! ```text
//! target   the branch, and its commit as it is found
//! merged   the tree that holds the run's change and what the branch has now, made in the private git folder
//! deliver  a commit of that tree: on a new branch, on a branch that nobody has checked out, or in the checkout
//! ```
//!
//! No hook, filter or driver is started, whatever the trees say of attributes. Each step is the same when it is done again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::run::event::{LandAs, LandTarget};
use tollgate_store::{Point, reach};

use super::checkout_update::Checkout;
use super::locks::Claim;
use super::refs::branch_ref;
use super::repository::{commit, commit_on};
use super::unfinished_starts::scratch;
use super::{MergeOutcome, Repository, Signature, Workspace, WorkspaceError};
use crate::git::{Git, GitError, ObjectId, records};

const HEADS: &str = "refs/heads/";
const NAME_A_BRANCH: &str = "`git branch` lists them; `--onto BRANCH` names the one to land on";
/// A longer patch is refused: half of one is worse than none.
pub const PATCH_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How many paths of a conflict are named.
const PATHS_SHOWN: usize = 20;

/// What came of merging a run's tree onto a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeliveryMerge {
    /// The commit holds the run's already.
    AlreadyContained,
    /// Both fit together.
    Clean {
        /// The tree that holds both.
        tree: ObjectId,
        /// The run's files that the other side changed, too.
        touched: Vec<Name>,
        /// What the run started from and the other side does not hold, a phrase each.
        lacks: Vec<Name>,
    },
    /// They do not.
    Conflict {
        /// The paths that conflict.
        paths: Vec<Name>,
        /// What became of each, a line each.
        how: String,
        /// What the run started from and the other side does not hold, a phrase each.
        lacks: Vec<Name>,
    },
}

impl Workspace {
    /// The branch that a landing starts from and its commit, and the branch that it makes or moves: `onto` or the one that is
    /// checked out, and `to` or the run's own.
    pub fn target(&self, how: LandAs, onto: Option<&str>, to: Option<&str>) -> Result<LandTarget, WorkspaceError> {
        let user = self.user()?;
        let checked_out = Repository::find(&self.top)?.branch()?;
        let onto = onto.map(|name| self.resolved(&user, name)).transpose()?.or(checked_out);
        let to = to.map(|name| self.resolved(&user, name)).transpose()?;
        let (name, at) = match onto {
            Some(name) => {
                let at = self.branch(&user, &name)?.ok_or_else(|| self.no_branch(&name))?;
                (name, at)
            }
            None if how == LandAs::Merge => {
                let why = format!("no branch is checked out in {}", self.top.display());
                return Err(WorkspaceError::LandTarget { why, hint: "name one: `--onto BRANCH`" });
            }
            None => ("HEAD".to_owned(), Repository::find(&self.top)?.head),
        };
        let own = branch_ref(self.run);
        let branch = match how {
            LandAs::Patch => None,
            LandAs::Merge => Some(name.clone()),
            LandAs::Branch => Some(to.unwrap_or_else(|| own[HEADS.len()..].to_owned())),
        };
        let found = match &branch {
            Some(branch) => self.branch(&user, branch)?,
            None => None,
        };
        Ok(LandTarget {
            how,
            onto: name.into(),
            at: at.name(),
            branch: branch.map(Into::into),
            found: found.map(|id| id.name()),
            tree: self.base.tree.name(),
            touched: Vec::new(),
            apart: false,
            lacks: Vec::new(),
            file: None,
        })
    }

    fn no_branch(&self, name: &str) -> WorkspaceError {
        let why = format!("there is no branch `{name}` in {}", self.top.display());
        WorkspaceError::LandTarget { why, hint: NAME_A_BRANCH }
    }

    /// The branch that a name means: what a symbolic branch points to is moved, checked out and written down in its place.
    fn resolved(&self, user: &Git, name: &str) -> Result<String, WorkspaceError> {
        let target = symbolic_target(user, &format!("{HEADS}{name}"))?.unwrap_or_else(|| format!("{HEADS}{name}"));
        target.strip_prefix(HEADS).map(str::to_owned).ok_or_else(|| {
            let why = format!("`{name}` points to {target}, which is no branch");
            WorkspaceError::LandTarget { why, hint: NAME_A_BRANCH }
        })
    }

    /// Where a branch stands; none when there is no such branch. A name that git will not have is refused.
    fn branch(&self, user: &Git, name: &str) -> Result<Option<ObjectId>, WorkspaceError> {
        let full = format!("{HEADS}{name}");
        if !user.call(&["check-ref-format", &full], Vec::new())?.end.success()
            || name.starts_with('-')
            || name == "HEAD"
        {
            let why = format!("`{name}` cannot be the name of a branch");
            return Err(WorkspaceError::LandTarget {
                why,
                hint: "`git help check-ref-format` says what a name may be",
            });
        }
        Ok(user.id(&["rev-parse", "--verify", "--quiet", &format!("{full}^{{commit}}")]).ok())
    }

    /// Refuses the name of a new branch that is taken, or that git cannot keep beside the others.
    fn has_place(&self, user: &Git, branch: &str, there: bool) -> Result<(), WorkspaceError> {
        let taken = |why| Err(WorkspaceError::LandTarget { why, hint: "name another: `--to NAME`" });
        if branch_ref(self.run)[HEADS.len()..] == *branch {
            return Ok(());
        }
        if there {
            return taken(format!("the branch `{branch}` is there already"));
        }
        for (end, _) in branch.match_indices('/') {
            let above = &branch[..end];
            if self.branch(user, above)?.is_some() {
                return taken(format!(
                    "the branch `{above}` is in the way of `{branch}`: git keeps no ref below another"
                ));
            }
        }
        let below = user.run(&["for-each-ref", "--count=1", &format!("{HEADS}{branch}/")])?;
        match below.is_empty() {
            true => Ok(()),
            false => taken(format!("branches below `{branch}` are in the way of it: git keeps no ref above others")),
        }
    }

    /// Refuses a branch that another checkout stands on: it would be moved under it.
    fn not_elsewhere(
        &self,
        user: &Git,
        how: LandAs,
        branch: &str,
        checked_out: Option<&str>,
    ) -> Result<(), WorkspaceError> {
        let here = how == LandAs::Merge && checked_out == Some(branch);
        let elsewhere =
            self.checkouts(user)?.into_iter().find(|(place, name)| name == branch && !(here && *place == self.top));
        match elsewhere {
            Some((place, _)) => Err(WorkspaceError::LandTarget {
                why: format!("the branch `{branch}` is checked out in {}", place.display()),
                hint: "check out another branch there, or land with `--as branch --to NAME` and merge it there",
            }),
            None => Ok(()),
        }
    }

    /// Every checkout of the repository that stands on a branch.
    fn checkouts(&self, user: &Git) -> Result<Vec<(PathBuf, String)>, WorkspaceError> {
        let listed = user.run(&["worktree", "list", "--porcelain", "-z"])?;
        let (mut place, mut found) = (PathBuf::new(), Vec::new());
        for line in records(&listed) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                place = Path::new(OsStr::from_bytes(path)).to_owned();
            } else if let Some(name) = line.strip_prefix(b"branch refs/heads/") {
                found.push((place.clone(), String::from_utf8_lossy(name).into_owned()));
            }
        }
        Ok(found)
    }

    /// The commit of the run's tree on its own branch; refused when it is not there or holds another tree.
    pub fn closing(&self, commit: &str, tree: &ObjectId) -> Result<ObjectId, WorkspaceError> {
        let lost = |why: String| WorkspaceError::Lost { run: self.run, why };
        let commit = ObjectId::parse(commit).ok_or_else(|| lost(format!("`{commit}` is no commit")))?;
        let found = self.git.id(&["rev-parse", "--verify", "--quiet", &format!("{commit}^{{tree}}")]);
        match found {
            Ok(found) if found == *tree => Ok(commit),
            Ok(found) => Err(lost(format!("the commit {commit} holds {found} instead of {tree}"))),
            Err(_) => Err(lost(format!("the commit {commit} of its tree is not there"))),
        }
    }

    /// Whether a commit is another or in its history.
    pub fn holds_commit(&self, old: &ObjectId, new: &ObjectId) -> bool {
        self.is_in(old, new).unwrap_or(false)
    }

    pub(super) fn is_in(&self, old: &ObjectId, new: &ObjectId) -> Result<bool, WorkspaceError> {
        let args = ["merge-base", "--is-ancestor", old.as_str(), new.as_str()];
        Ok(self.git.call(&args, Vec::new())?.end.success())
    }

    /// The tree of a commit.
    pub fn tree_at(&self, commit: &ObjectId) -> Result<ObjectId, WorkspaceError> {
        Ok(self.git.id(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?)
    }

    /// Merges the closing commit of the run onto another.
    pub fn merged(&self, closing: &ObjectId, at: &ObjectId) -> Result<DeliveryMerge, WorkspaceError> {
        if self.is_in(closing, at)? {
            return Ok(DeliveryMerge::AlreadyContained);
        }
        // Merged from where the run started, wherever the histories parted: what lands is the run's own change alone.
        let [base, ours, theirs] = [self.base.tree.clone(), self.tree_at(at)?, self.tree_at(closing)?];
        let lacks = self.lacking(at)?;
        let tree = match self.land("run", &base, &ours, &theirs)? {
            MergeOutcome::Landed { tree } => tree,
            MergeOutcome::Conflict { mut paths, how, .. } => {
                paths.truncate(PATHS_SHOWN);
                return Ok(DeliveryMerge::Conflict { paths, how, lacks });
            }
        };
        let own = self.paths_between(&base, &theirs)?;
        let (other, lands) = (self.paths_between(&base, &ours)?, self.paths_between(&ours, &tree)?);
        // The patch is the same when it is the run's files that change, and nobody else changed any of them.
        let mut touched: Vec<Name> = own.iter().filter(|path| other.binary_search(path).is_ok()).cloned().collect();
        touched.extend(lands.iter().filter(|path| own.binary_search(path).is_err()).cloned());
        Ok(DeliveryMerge::Clean { tree, touched, lacks })
    }

    /// The change that lands, as a patch that `git apply` takes on the commit it lands on.
    pub fn patch(&self, target: &LandTarget) -> Result<Vec<u8>, WorkspaceError> {
        let (at, tree) = (self.named(&target.at)?, self.named(&target.tree)?);
        let flags =
            ["diff-tree", "-r", "-p", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
        let from = self.tree_at(&at)?;
        let args = [&flags[..], &["--no-renames", from.as_str(), tree.as_str()]].concat();
        let patch = self.git.run(&args)?;
        if patch.len() > PATCH_BYTES_MAX {
            let (bytes, limit) = (patch.len() as u64, PATCH_BYTES_MAX as u64);
            return Err(WorkspaceError::TooMuch { bytes, limit });
        }
        Ok(patch)
    }

    fn named(&self, name: &str) -> Result<ObjectId, WorkspaceError> {
        let lost = || WorkspaceError::Lost { run: self.run, why: format!("`{name}` names nothing in git") };
        ObjectId::parse(name).ok_or_else(lost)
    }

    /// Refuses what can be known to be in the way before anything is asked: a branch of that name, a checkout on it, changes in
    /// the checkout that would be moved.
    pub fn may_deliver(&self, target: &LandTarget) -> Result<(), WorkspaceError> {
        let (user, repository) = (self.user()?, Repository::find(&self.top)?);
        repository.is_at_rest()?;
        let (at, tree) = (self.named(&target.at)?, self.named(&target.tree)?);
        if let Some(branch) = &target.branch {
            if target.how == LandAs::Branch {
                self.has_place(&user, branch, target.found.is_some())?;
                self.keeps_its_own(branch, target)?;
            }
            self.not_elsewhere(&user, target.how, branch, repository.branch()?.as_deref())?;
        }
        if target.how != LandAs::Merge || repository.branch()?.as_deref() != target.branch.as_deref() {
            return Ok(());
        }
        let claim = Claim::make(&scratch(&self.state).join(format!("land-{}", self.run)))?;
        let repository = repository.looked_at(claim.path())?;
        if repository.dirty.is_empty() {
            let from = self.tree_at(&at)?;
            self.displaces_nothing(self.displaced(&from, &tree)?)?;
            let changed = self.paths_between(&from, &tree)?;
            self.needs_no_filter(&tree, &changed, &repository)?;
            return repository.may_be_moved(&changed);
        }
        let Repository { top, dirty, nested, .. } = repository;
        Err(WorkspaceError::Dirty { top, paths: dirty, nested: !nested.is_empty() })
    }

    /// Refuses to put something in the place of submodules with something in them.
    pub(super) fn displaces_nothing(&self, paths: Vec<Name>) -> Result<(), WorkspaceError> {
        if paths.is_empty() { Ok(()) } else { Err(WorkspaceError::Displaced { top: self.top.clone(), paths }) }
    }

    /// Refuses to move the run's own branch to a commit that does not hold the run's: it would be on no branch any more.
    fn keeps_its_own(&self, branch: &str, target: &LandTarget) -> Result<(), WorkspaceError> {
        if branch_ref(self.run)[HEADS.len()..] != *branch || self.joins(target)? {
            return Ok(());
        }
        let why = format!("`{branch}` keeps the run's own commit, and what lands here is on top of another one");
        Err(WorkspaceError::LandTarget { why, hint: "name another branch: `--to NAME`" })
    }

    /// Whether the run's own commit becomes part of the history it lands on; else it would bring along what it was built on.
    pub fn joins(&self, target: &LandTarget) -> Result<bool, WorkspaceError> {
        self.is_in(&self.base.commit, &self.named(&target.at)?)
    }

    /// Puts the tree of a landing on its branch, and into the checkout where that stands on it. Doing it again changes nothing.
    pub fn deliver(
        &self,
        target: &LandTarget,
        closing: &ObjectId,
        message: &str,
        by: &Signature,
    ) -> Result<ObjectId, WorkspaceError> {
        let (at, tree) = (self.named(&target.at)?, self.named(&target.tree)?);
        let commit = if at == self.base.commit && self.tree_at(closing)? == tree {
            // On top of what it lands on already: nothing is merged.
            closing.clone()
        } else if self.joins(target)? {
            commit_on(&self.git, &tree, &[&at, closing], message, by)?
        } else {
            commit(&self.git, &tree, &at, message, by)?
        };
        let Some(branch) = target.branch.as_deref() else { return Ok(commit) };
        let name = format!("{HEADS}{branch}");
        let found = target.found.as_deref().map(|found| self.named(found)).transpose()?;
        reach(Point::LandMerged);
        let user = self.user()?;
        let now = self.branch(&user, branch)?;
        let resolved = self.resolved(&user, branch)?;
        if resolved != branch {
            let (name, top) = (branch.to_owned(), self.top.clone());
            return Err(WorkspaceError::RefMoved { name, top, found: resolved });
        }
        if now.as_ref() != found.as_ref() && now.as_ref() != Some(&commit) {
            let found = now.map_or_else(|| "nothing".to_owned(), |now| now.to_string());
            return Err(WorkspaceError::RefMoved { name: branch.to_owned(), top: self.top.clone(), found });
        }
        let checked_out = Repository::find(&self.top)?.branch()?;
        self.not_elsewhere(&user, target.how, branch, checked_out.as_deref())?;
        if target.how == LandAs::Merge && checked_out.as_deref() == Some(branch) {
            Checkout::of(self, &at, &commit)?.advance(|| self.hand(&commit, &name, std::slice::from_ref(&at)))?;
        } else {
            self.hand(&commit, &name, found.as_slice())?;
        }
        reach(Point::LandPut);
        Ok(commit)
    }
}

impl Repository {
    /// The branch that is checked out; none when it is a commit.
    pub fn branch(&self) -> Result<Option<String>, WorkspaceError> {
        Ok(symbolic_target(&self.git()?, "HEAD")?.and_then(|name| name.strip_prefix(HEADS).map(str::to_owned)))
    }
}

/// The ref that a symbolic one leads to in the end; none when it is not symbolic, or leads nowhere.
fn symbolic_target(git: &Git, name: &str) -> Result<Option<String>, WorkspaceError> {
    let printed = git.call(&["symbolic-ref", "--quiet", name], Vec::new())?;
    let target = String::from_utf8(printed.out)
        .map_err(|_| GitError::Unexpected { command: "symbolic-ref".to_owned(), what: "no text".to_owned() })?;
    Ok(Some(target.trim_end().to_owned()).filter(|target| !target.is_empty()))
}
