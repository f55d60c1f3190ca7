//! Whether a delivery may move the user's checkout: the obstacles that can be found before anything is recorded.

use std::collections::BTreeSet;

use tollgate_core::Name;

use super::differences::Differences;
use super::repository::SHOWN_MAX;
use super::{Repository, WorkspaceError};
use crate::git::{Git, quote, records, unquote};

/// What git keeps in its folder while something is under way, and what that is.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase or `git am`"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick or revert"),
];

const BY_YOUR_OWN_GIT: &str = "land with `--as branch --to NAME` and merge the branch with your own git";

impl Repository {
    /// Refuses a repository in which something of its owner's is under way: where its branches stand is not settled.
    pub(super) fn is_at_rest(&self) -> Result<(), WorkspaceError> {
        match UNDER_WAY.iter().find(|(name, _)| self.git_dir().join(name).symlink_metadata().is_ok()) {
            Some((_, what)) => Err(WorkspaceError::LandTarget {
                why: format!("a {what} is under way in {}", self.top.display()),
                hint: "finish or abort it (`git status` says how), then land again",
            }),
            None => Ok(()),
        }
    }

    /// Refuses to change these files of the checkout where git would not, or would not as its owner wants it.
    pub(super) fn may_be_moved(&self, changed: &[Name]) -> Result<(), WorkspaceError> {
        self.is_at_rest()?;
        let refused = |why, hint| Err(WorkspaceError::LandTarget { why, hint });
        let mut lock = self.index_file().as_os_str().to_owned();
        lock.push(".lock");
        if std::path::Path::new(&lock).symlink_metadata().is_ok() {
            let hint = "another git is at work there; when none is, one that was killed left it: remove the file, then land again";
            return refused(format!("the index of the checkout is locked: {} is there", lock.display()), hint);
        }
        let sparse = self.git()?.call(&["config", "--type=bool", "--get", "core.sparseCheckout"], Vec::new())?;
        if sparse.out.trim_ascii() == b"true" {
            return refused(format!("{} is a sparse checkout", self.top.display()), BY_YOUR_OWN_GIT);
        }
        // Elsewhere git is told to pass over submodules.
        let staged = Differences::staged(&self.own_index()?, &self.head)?;
        let paths: Vec<Name> = staged.with_submodules().take(SHOWN_MAX).cloned().collect();
        if !paths.is_empty() {
            return Err(WorkspaceError::Dirty { top: self.top.clone(), paths, nested: false });
        }
        let wanted: BTreeSet<&Name> = changed.iter().collect();
        let flagged = self.flagged()?.into_iter().map(|path| quote(&path)).filter(|path| wanted.contains(path));
        let flagged: Vec<Name> = flagged.take(SHOWN_MAX).collect();
        if !flagged.is_empty() {
            let why = format!("git is configured to ignore files that would change: {}", flagged.join(", "));
            let hint = "`git update-index --no-skip-worktree --no-assume-unchanged FILE` takes that back; or leave the checkout \
                        alone: `--as branch --to NAME`";
            return refused(why, hint);
        }
        let paths: Vec<Vec<u8>> = changed.iter().map(|path| unquote(path).into_owned()).collect();
        match self.filtered(&paths)?.first() {
            Some((path, filter)) => Err(by_filter(path, filter)),
            None => Ok(()),
        }
    }

    fn own_index(&self) -> Result<Git, WorkspaceError> {
        Ok(Git::with_dir(self.git_dir())?.on(&self.top, self.index_file()))
    }

    /// The files that the index says are as they should be, whatever lies in the checkout.
    pub(super) fn flagged(&self) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let listed = self.own_index()?.run(&["ls-files", "-v", "-z"])?;
        let flagged = records(&listed).filter_map(|line| match line {
            [b'S' | b'a'..=b'z', b' ', path @ ..] => Some(path.to_vec()),
            _ => None,
        });
        Ok(flagged.collect())
    }
}

/// Why a file cannot be put into the user's checkout.
pub(super) fn by_filter(path: &Name, filter: &str) -> WorkspaceError {
    let why = format!("{path} is written by the filter `{filter}`, which a landing does not start");
    WorkspaceError::LandTarget { why, hint: BY_YOUR_OWN_GIT }
}
