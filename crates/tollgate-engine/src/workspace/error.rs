//! What can go wrong with work trees, and what to do about it.

use std::path::PathBuf;

use tollgate_core::Name;
use tollgate_core::code::Code;
use tollgate_core::id::RunId;

use crate::git::GitError;

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
    /// It is a partial clone that lacks files of the commit.
    #[error("the repository {top} is a partial clone that lacks {count} of the files of its commit{}", begin(.paths))]
    Absent {
        /// The checkout.
        top: PathBuf,
        /// How many are missing.
        count: usize,
        /// The first of their paths.
        paths: Vec<Name>,
    },
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
    /// What lies where its submodules are would be lost.
    #[error("in the checkout {top} the change puts something else where submodules are, and what lies there would be lost: {}", shown(.paths))]
    Displaced {
        /// The checkout.
        top: PathBuf,
        /// The first of the submodules.
        paths: Vec<Name>,
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
    /// A work tree that a person gives back is a worker's.
    #[error("somebody works in {0}, or was cut off there")]
    WorkedIn(PathBuf),
    /// A work tree that a person gives back holds what nobody was shown.
    #[error(
        "the work tree {} did not hold what the run has; nothing of it is taken, and it is kept: {}",
        path.display(), kept.display()
    )]
    NotShown {
        /// The work tree, which holds what the run has now.
        path: PathBuf,
        /// Where that is, and under which ids `tollgate show` says.
        kept: PathBuf,
    },
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
    /// The repository's attributes are not to be pinned.
    #[error("{} is no text, or has more than {limit} bytes", path.display())]
    Attributes {
        /// The file.
        path: PathBuf,
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
    Locked {
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
            Self::Absent { .. } => Code::FILES_ABSENT,
            Self::Dirty { .. } | Self::Displaced { .. } => Code::DIRTY_CHECKOUT,
            Self::NoRevision { .. } => Code::NO_REVISION,
            Self::NoCommonCommit { .. } => Code::NO_COMMON_COMMIT,
            Self::NotTaken { .. } => Code::CHECKOUT_NOT_TAKEN,
            Self::Unmeasurable(_) | Self::Misplaced(_) => Code::UNMEASURABLE,
            Self::TooLarge { .. } | Self::TooMuch { .. } | Self::TooMany { .. } | Self::Attributes { .. } => {
                Code::TREE_TOO_LARGE
            }
            Self::LandTarget { .. } => Code::LAND_TARGET,
            Self::Halfway { .. } => Code::DIRTY_CHECKOUT,
            Self::RefMoved { .. } => Code::REF_MOVED,
            Self::RefInTheWay { .. } => Code::REF_IN_THE_WAY,
            Self::Locked { .. } | Self::WorkedIn(_) => Code::WORK_HELD,
            Self::NotShown { .. } => Code::WORK_NOT_SHOWN,
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
            Self::Absent { .. } => {
                "`git fetch --refetch --no-filter` brings all of them, without a change of the checkout; then start again"
            }
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
            Self::Displaced { .. } => {
                "move them away first (`git submodule deinit PATH` empties one without changes), or leave the checkout alone: \
                 `--as branch --to NAME`"
            }
            Self::NotTaken { .. } => {
                "finish the merge, commit or stash the files, move a repository out or ignore it, then start again; `git status` \
                 first, if you did not change them"
            }
            Self::Gone(_) => "fix it there and answer again, or answer something else",
            Self::WorkedIn(_) => "`tollgate resume RUN` goes on with it; answer when it is done",
            Self::NotShown { .. } => {
                "it is shown to you now as the run has it: fix it there, and answer again; `tollgate show RUN` names what was put aside"
            }
            Self::Misplaced(_) => "remove them from the work tree, then answer again",
            Self::Unmeasurable(_) | Self::TooLarge { .. } | Self::TooMuch { .. } | Self::TooMany { .. } => {
                "answering by hand: fix the work tree and answer again; `tollgate retry RUN` starts from the recorded tree \
                 and keeps aside what the work tree holds"
            }
            Self::Attributes { .. } => "move attributes that are for everybody into `.gitattributes`, then start again",
            Self::LandTarget { hint, .. } => hint,
            Self::Halfway { .. } => "take your own changes to these files away, then `tollgate resume RUN`",
            Self::RefMoved { .. } => "rename or delete it, then `tollgate resume RUN`",
            Self::RefInTheWay { .. } => {
                "rename it, such as `git branch -m tollgate NAME`; then start again, or `tollgate resume RUN` if the run is over"
            }
            Self::Locked { .. } => "let it go on (`fg`) or end it, then `tollgate resume RUN`",
            Self::Lost { .. } | Self::Io { .. } => {
                "look at the path; `tollgate verify RUN` says whether the journal is whole"
            }
            Self::RepositoryGone(_) => {
                "move it back to where it was, then `tollgate resume RUN`; `tollgate cancel RUN` closes the run without it"
            }
            Self::Git(GitError::Failed { message, .. }) if message.contains(".lock': File exists") => {
                "when no git is at work in that repository, one that was killed left the lock: remove the file that is named, then \
                 `tollgate resume RUN`"
            }
            Self::Git(GitError::Failed { message, .. }) if message.contains("cannot lock ref") => {
                "another branch is in the way, such as one below it: rename the one that is named, then `tollgate resume RUN`"
            }
            Self::Git(GitError::Replaced(_)) => {
                "look whether you changed it; then `tollgate resume RUN` uses the new one"
            }
            Self::Git(_) => "`tollgate doctor` shows which git is used",
        }
    }
}

fn shown(paths: &[Name]) -> String {
    paths.join(", ")
}

/// The first of many paths, where any is known.
fn begin(paths: &[Name]) -> String {
    if paths.is_empty() { String::new() } else { format!(", such as {}", shown(paths)) }
}
