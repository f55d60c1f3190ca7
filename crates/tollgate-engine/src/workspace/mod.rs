//! Where the work lies: the user's repository, the run's private git folder, the work trees, and what changed in them.
//!
//! ```text
//! STATE/runs/RUN/git        private, bare: the engine's objects, index files and refs of this run
//! STATE/runs/RUN/copies/…   throw-away copies for those who judge and for commands that check
//! STATE/runs/RUN/lock       held by the one process that touches any of these
//! STATE/trees/RUN/UNIT      work trees (`@run` is the run's own), each with a git folder of its own
//! STATE/quarantine/…        what `gc` set aside because it is nowhere else
//! STATE/scratch/start-RUN   while a run is being started; one that nobody holds is cleaned up with all that was made
//! user's repository         refs/tollgate/RUN/base while it is needed, and in the end the branch tollgate/RUN; nothing else
//! ```

#![expect(clippy::disallowed_methods, reason = "the room of work trees and their git folders")]

mod apart;
mod checkout;
mod claim;
mod collect;
mod compare;
mod deliver;
mod files;
mod folder;
mod git_state;
mod land;
mod measure;
mod prepared;
mod ready;
mod repository;
mod seen;
mod settings;
mod shown;
mod since;
mod snapshot;
mod starts;
mod trees;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_core::run::Run;

pub use crate::git::{GitError, ObjectId};
#[cfg(debug_assertions)]
pub use claim::hold_for;
pub use claim::{Claim, Held};
pub use compare::{Comparison, Patch, Side, Texts};
pub use deliver::{Merged, PATCH_BYTES_MAX};
pub(crate) use files::write_whole;
pub use files::{remove_tree, safe_name};
pub use git_state::GitState;
pub use land::Landing;
pub use measure::{Change, ChangeKind, Measured};
pub use repository::Repository;
pub use snapshot::Snapshot;
pub use starts::{claim_start, left_over, start_of, sweep_starts, undo_start};
pub use trees::{Kept, Old, TempCopy, WorkTree};

use crate::git::Git;
use crate::process::MARKER;
use crate::setup::Settings;
use folder::{GitFolder, Kind};
use repository::{Shared, branch_ref};

/// Why something about the work could not be done.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is no repository.
    #[error("{0} is not inside a git repository")]
    NotARepository(PathBuf),
    /// It has no checkout.
    #[error("{0} is a bare repository: it has no checkout to start from")]
    Bare(PathBuf),
    /// It has no commit.
    #[error("the repository {0} has no commit yet")]
    Unborn(PathBuf),
    /// It has changes that are not committed.
    #[error("the checkout {top} has changes that are not committed: {}", shown(.paths))]
    Dirty {
        /// The checkout.
        top: PathBuf,
        /// The first of the changed paths.
        paths: Vec<Name>,
        /// Whether one of all is a repository of its own.
        nested: bool,
    },
    /// It has changes that are not to be taken as they are.
    #[error("the checkout {top} has changes that cannot be taken: {}", .paths.join(", "))]
    NotTaken {
        /// The checkout.
        top: PathBuf,
        /// The paths, each with what is wrong with it.
        paths: Vec<String>,
    },
    /// The work tree that a person was to mend was not there.
    #[error(
        "the work tree {0} was gone, and with it what was changed there; it is made again as it was when you were asked"
    )]
    Gone(PathBuf),
    /// A work tree that a person gives back holds what nobody was shown.
    #[error(
        "the work tree {0} is not as the run left it, and was not shown to you for this question: nothing is taken yet"
    )]
    NotShown(PathBuf),
    /// A name of a commit that names none.
    #[error("there is no commit `{name}` in {top}")]
    NoRevision {
        /// The name.
        name: String,
        /// The repository.
        top: PathBuf,
    },
    /// Two commits without a common one.
    #[error("`{base}` and `{head}` have no commit in common")]
    NoCommonCommit {
        /// Where the change is said to begin.
        base: String,
        /// Where it ends.
        head: String,
    },
    /// Something in the tree cannot be measured.
    #[error("the work tree cannot be measured: {0}")]
    Unmeasurable(String),
    /// Something in the tree is in no measurement, or leads out of it.
    #[error("the work tree holds a repository, a link that leads out of it or a special file: {}", shown(.0))]
    Misplaced(Vec<Name>),
    /// Something in the tree is too large to be kept.
    #[error("`{path}` has {bytes} bytes; a changed file may have at most {limit}")]
    TooLarge {
        /// The file.
        path: Name,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The changed files are too large together.
    #[error("the changed files have more than {bytes} bytes together; at most {limit} are kept")]
    TooMuch {
        /// How many were counted before it was given up.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// There are too many changed paths.
    #[error("{count} paths are changed or untracked; at most {limit} can be measured")]
    TooMany {
        /// How many there are.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// Somebody moved a ref that belongs to the run.
    #[error("`{name}` in {top} points to {found}, which this run did not put there")]
    RefMoved {
        /// The ref.
        name: String,
        /// The repository.
        top: PathBuf,
        /// What it points to.
        found: String,
    },
    /// A ref is where the refs of runs have to be.
    #[error(
        "`{name}` in {top} is in the way: the branch of a run is `tollgate/RUN`, and git keeps no ref below another"
    )]
    RefInTheWay {
        /// The ref.
        name: String,
        /// The repository.
        top: PathBuf,
    },
    /// A run cannot land there.
    #[error("{why}")]
    LandTarget {
        /// Why not.
        why: String,
        /// What to do.
        hint: &'static str,
    },
    /// A landing was cut off, and its checkout changed since.
    #[error("a landing in {top} was cut off in the middle, and these are neither as they were nor as they will be: {}", shown(.paths))]
    Halfway {
        /// The checkout.
        top: PathBuf,
        /// The first of the paths.
        paths: Vec<Name>,
    },
    /// Another process touches the work and does not let go.
    #[error("{holder} holds the work trees of {run} and does not let go of them")]
    Held {
        /// The run.
        run: RunId,
        /// Who has it.
        holder: String,
    },
    /// The files of a run are gone or damaged.
    #[error("the work of {run} cannot be opened: {why}")]
    Lost {
        /// The run.
        run: RunId,
        /// What is wrong.
        why: String,
    },
    /// The user's repository is not where it was.
    #[error("the repository that the run works for is gone: there is no folder {0}")]
    RepositoryGone(PathBuf),
    /// Git did not do it.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system did not do it.
    #[error("{path}: {source}")]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl WorkspaceError {
    /// The code of the refusal.
    pub fn code(&self) -> Code {
        match self {
            Self::NotARepository(_) => Code::NOT_A_REPOSITORY,
            Self::Bare(_) => Code::BARE_REPOSITORY,
            Self::Unborn(_) => Code::NO_COMMIT,
            Self::Dirty { .. } => Code::DIRTY_CHECKOUT,
            Self::NoRevision { .. } => Code::NO_REVISION,
            Self::NoCommonCommit { .. } => Code::NO_COMMON_COMMIT,
            Self::NotTaken { .. } => Code::CHECKOUT_NOT_TAKEN,
            Self::Unmeasurable(_) | Self::Misplaced(_) => Code::UNMEASURABLE,
            Self::TooLarge { .. } | Self::TooMuch { .. } | Self::TooMany { .. } => Code::TREE_TOO_LARGE,
            Self::LandTarget { .. } => Code::LAND_TARGET,
            Self::Halfway { .. } => Code::DIRTY_CHECKOUT,
            Self::RefMoved { .. } => Code::REF_MOVED,
            Self::RefInTheWay { .. } => Code::REF_IN_THE_WAY,
            Self::Held { .. } => Code::WORK_HELD,
            Self::NotShown(_) => Code::WORK_NOT_SHOWN,
            Self::Lost { .. } | Self::Gone(_) | Self::RepositoryGone(_) | Self::Io { .. } => Code::WORKSPACE_LOST,
            Self::Git(error) => error.code(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotARepository(_) => "change into a repository, or make one: `git init && git add -A && git commit`",
            Self::Bare(_) => "run Tollgate in a clone of it",
            Self::Unborn(_) => "make a first commit: `git add -A && git commit`",
            Self::NoRevision { .. } => {
                "`git branch -a` and `git log --oneline` show what there is; `git fetch` brings more"
            }
            Self::NoCommonCommit { .. } => {
                "name the commit that the work started from; in a shallow clone, `git fetch --unshallow` brings the history"
            }
            Self::Dirty { nested: true, .. } => {
                "commit or stash them; a repository inside the checkout can be neither, nor be taken along: move it out, or ignore \
                 it in `.gitignore` or `.git/info/exclude`"
            }
            Self::Dirty { .. } => "commit or stash them, or start with `--include-dirty`",
            Self::NotTaken { .. } => {
                "finish the merge, commit or stash the files, move a repository out or ignore it, then start again; `git status` \
                 first, if you did not change them"
            }
            Self::Gone(_) => "mend it there and answer again, or answer something else",
            Self::NotShown(_) => {
                "look at what it holds; it is left as it is, and when all of it is to count, type the same answer again"
            }
            Self::Misplaced(_) => "remove them from the work tree, then answer again",
            Self::Unmeasurable(_) | Self::TooLarge { .. } | Self::TooMuch { .. } | Self::TooMany { .. } => {
                "answering by hand: mend the work tree and answer again; `tollgate retry RUN` starts from the recorded tree \
                 and keeps aside what the work tree holds"
            }
            Self::LandTarget { hint, .. } => hint,
            Self::Halfway { .. } => "take your own changes to these files away, then `tollgate resume RUN`",
            Self::RefMoved { .. } => "rename or delete it, then `tollgate resume RUN`",
            Self::RefInTheWay { .. } => {
                "rename it, such as `git branch -m tollgate NAME`; then start again, or `tollgate resume RUN` if the run is over"
            }
            Self::Held { .. } => "let it go on (`fg`) or end it, then `tollgate resume RUN`",
            Self::Lost { .. } | Self::Io { .. } => {
                "look at the path; `tollgate verify RUN` says whether the journal is whole"
            }
            Self::RepositoryGone(_) => "move it back to where it was, then `tollgate resume RUN`",
            Self::Git(GitError::Failed { message, .. }) if message.contains(".lock': File exists") => {
                "when no git is at work in that repository, one that was killed left the lock: remove the file that is named, then \
                 `tollgate resume RUN`"
            }
            Self::Git(GitError::Failed { message, .. }) if message.contains("cannot lock ref") => {
                "another branch is in the way, such as one below it: rename the one that is named, then `tollgate resume RUN`"
            }
            Self::Git(_) => "`tollgate doctor` shows which git is used",
        }
    }
}

fn shown(paths: &[Name]) -> String {
    paths.join(", ")
}

/// Turns an error of the file system into ours.
fn at<T>(path: &Path, result: std::io::Result<T>) -> Result<T, WorkspaceError> {
    result.map_err(|source| WorkspaceError::Io { path: path.to_owned(), source })
}

/// What a run starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit; for a checkout with changes one that holds them.
    pub commit: ObjectId,
    /// Its tree.
    pub tree: ObjectId,
}

/// Where a run comes from, as its journal has it.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The top of the user's checkout.
    pub repository: &'a str,
    /// The commit it starts from.
    pub commit: &'a str,
    /// Its tree.
    pub tree: &'a str,
}

/// Who a commit is by, and when.
#[derive(Debug, Clone)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
    /// Seconds since 1970.
    pub at_s: u64,
}

/// What to do with changes that are not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirty {
    /// Refuse to start.
    Refuse,
    /// Start from a snapshot that holds them.
    Include,
}

/// The work of one run.
#[derive(Debug)]
pub struct Workspace {
    run: RunId,
    state: PathBuf,
    top: PathBuf,
    shared: Shared,
    folder: GitFolder,
    git: Git,
    base: Base,
    /// Folders of work trees that are kept when a tree is put back.
    caches: Vec<String>,
}

/// What is written down beside the private git folder, so that a later driver can go on.
#[derive(Serialize, Deserialize)]
struct Remembered {
    top: PathBuf,
    shared: Shared,
    commit: String,
    tree: String,
}

impl Workspace {
    /// Makes the work of a new run and pins its base. Doing it again answers the same.
    pub fn create(
        state: &Path,
        run: RunId,
        repository: Repository,
        dirty: Dirty,
        by: &Signature,
    ) -> Result<Self, WorkspaceError> {
        if let Some(made) = Self::remembered(state, run)? {
            let workspace = Self::reopen(state, run, made)?;
            workspace.pin()?;
            return Ok(workspace);
        }
        if dirty == Dirty::Refuse && !repository.dirty.is_empty() {
            let nested = !repository.nested.is_empty();
            return Err(WorkspaceError::Dirty { top: repository.top, paths: repository.dirty, nested });
        }
        let shared = &repository.shared;
        // Looked at before the work, not after it.
        repository.has_room(&branch_ref(run))?;
        let folder =
            GitFolder::create(&git_path(state, run), &repository.head, &[&shared.objects], shared, Kind::Private)?;
        let git = engine_git(folder.path(), run)?;
        let base = repository.snapshot(&git, &folder, by)?;
        let made = Remembered {
            top: repository.top.clone(),
            shared: shared.clone(),
            commit: base.commit.to_string(),
            tree: base.tree.to_string(),
        };
        let text =
            serde_json::to_string(&made).map_err(|error| WorkspaceError::Lost { run, why: error.to_string() })?;
        files::write_whole(&remembered_path(state, run), text.as_bytes())?;
        let Repository { top, shared, .. } = repository;
        let workspace = Self { run, state: state.to_owned(), top, shared, folder, git, base, caches: Vec::new() };
        workspace.pin()?;
        Ok(workspace)
    }

    /// Opens the work of a run that was created before, by whatever process. What is written down beside it must agree
    /// with the journal.
    pub fn open(state: &Path, run: RunId, origin: &Origin<'_>) -> Result<Self, WorkspaceError> {
        let lost = |why: String| WorkspaceError::Lost { run, why };
        let gone = || {
            let path = remembered_path(state, run);
            lost(format!("{} is gone; put its folder back, or close the run: `tollgate cancel {run}`", path.display()))
        };
        let made = Self::remembered(state, run)?.ok_or_else(gone)?;
        let top = made.top.display().to_string();
        let pairs = [
            ("the repository", top.as_str(), origin.repository),
            ("the base", &made.commit, origin.commit),
            ("the first tree", &made.tree, origin.tree),
        ];
        if let Some((what, found, recorded)) = pairs.into_iter().find(|(_, found, recorded)| found != recorded) {
            let path = remembered_path(state, run);
            let why = format!("{} names {found} as {what}, the journal {recorded}", path.display());
            return Err(lost(why));
        }
        Self::reopen(state, run, made)
    }

    /// Opens the work of a run.
    pub fn of(state: &Path, run: &Run) -> Result<Self, WorkspaceError> {
        let opened = &run.opened;
        let origin = Origin { repository: &opened.repository, commit: &opened.base, tree: &opened.content.tree };
        // What cannot be read is refused before anybody works; whoever only looks needs none of it.
        let caches = Settings::of(&opened.config).map(|settings| settings.caches).unwrap_or_default();
        Ok(Self { caches, ..Self::open(state, run.id, &origin)? })
    }

    fn remembered(state: &Path, run: RunId) -> Result<Option<Remembered>, WorkspaceError> {
        let path = remembered_path(state, run);
        if !path.exists() {
            return Ok(None);
        }
        let text = at(&path, std::fs::read(&path))?;
        let lost = |error| WorkspaceError::Lost { run, why: format!("{}: {error}", path.display()) };
        serde_json::from_slice(&text).map(Some).map_err(lost)
    }

    fn reopen(state: &Path, run: RunId, made: Remembered) -> Result<Self, WorkspaceError> {
        let damaged = || WorkspaceError::Lost { run, why: "its base is not a commit".to_owned() };
        let commit = ObjectId::parse(&made.commit).ok_or_else(damaged)?;
        let tree = ObjectId::parse(&made.tree).ok_or_else(damaged)?;
        let (base, shared) = (Base { commit, tree }, made.shared);
        let folder = collect::remake(state, run, &shared, &base)?;
        let git = engine_git(folder.path(), run)?;
        Ok(Self { run, state: state.to_owned(), top: made.top, shared, folder, git, base, caches: Vec::new() })
    }

    /// What the run started from.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The top of the user's checkout.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// What a work tree is read with: the user's checkout and git folder, and the objects that are borrowed.
    pub fn borrowed(&self) -> Vec<PathBuf> {
        let mut all =
            vec![self.top.clone(), self.shared.common.clone(), self.shared.objects.clone(), self.folder.objects()];
        // A clone may borrow in its turn.
        let further = std::fs::read_to_string(self.shared.objects.join("info/alternates")).unwrap_or_default();
        all.extend(further.lines().filter(|line| !line.starts_with('#')).map(|line| self.shared.objects.join(line)));
        all
    }

    /// The run's folder in the state directory.
    pub fn run_folder(&self) -> PathBuf {
        self.state.join("runs").join(self.run.to_string())
    }
}

/// Git with a folder of a run: marked, so that one that outlives its driver is ended with the workers.
fn engine_git(folder: &Path, run: RunId) -> Result<Git, GitError> {
    Ok(Git::with_dir(folder)?.env(MARKER, format!("{run}/engine")))
}

fn git_path(state: &Path, run: RunId) -> PathBuf {
    state.join("runs").join(run.to_string()).join("git")
}

fn remembered_path(state: &Path, run: RunId) -> PathBuf {
    state.join("runs").join(run.to_string()).join("workspace.json")
}

#[cfg(test)]
mod tests;
