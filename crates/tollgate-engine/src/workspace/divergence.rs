//! What a run started from and a branch does not hold: commits, and changes that were not committed.

use tollgate_core::Name;

use super::repository::SNAPSHOT;
use super::{Workspace, WorkspaceError};
use crate::git::{GitError, ObjectId};

/// How many commits, and how many files, are named.
const SHOWN_MAX: usize = 5;
/// How much of the first line of a commit's message is shown.
const SUBJECT_CHARS_MAX: usize = 60;

impl Workspace {
    /// What the run started from and a commit does not hold, a phrase each; empty: it holds all of it.
    ///
    /// Changes that were not committed are held where the same content was committed since.
    pub(super) fn lacking(&self, at: &ObjectId) -> Result<Vec<Name>, WorkspaceError> {
        let base = &self.base.commit;
        if self.is_in(base, at)? {
            return Ok(Vec::new());
        }
        let Some(start) = self.committed_start()? else { return Ok(vec![self.missing_commits(base, at)?]) };
        let mut lacks = Vec::new();
        if !self.is_in(&start, at)? {
            lacks.push(self.missing_commits(&start, at)?);
        }
        let uncommitted = self.paths_between(&self.tree_at(&start)?, &self.base.tree)?;
        let others = self.paths_between(&self.tree_at(at)?, &self.base.tree)?;
        let missing: Vec<Name> = uncommitted.into_iter().filter(|path| others.binary_search(path).is_ok()).collect();
        if !missing.is_empty() {
            lacks.push(
                format!("changes that were not committed when it started, in {}", some(&missing, missing.len())).into(),
            );
        }
        Ok(lacks)
    }

    /// The commit of the checkout that a run started from with changes; none when it started from a commit alone.
    fn committed_start(&self) -> Result<Option<ObjectId>, WorkspaceError> {
        let base = self.base.commit.as_str();
        let made = self.git.run(&["show", "-s", "--format=%ce%n%s", base])?;
        let ours = made.trim_ascii() == format!("tollgate@localhost\n{SNAPSHOT}").as_bytes();
        let parent = || self.git.id(&["rev-parse", "--verify", "--quiet", &format!("{base}^")]);
        Ok(if ours { Some(parent()?) } else { None })
    }

    /// The commits up to one that another does not hold, and what they changed.
    fn missing_commits(&self, start: &ObjectId, at: &ObjectId) -> Result<Name, WorkspaceError> {
        let between = [start.as_str(), "--not", at.as_str()];
        let count = self.git.run(&[&["rev-list", "--count"], &between[..]].concat())?;
        let count = String::from_utf8_lossy(&count)
            .trim()
            .parse::<usize>()
            .map_err(|_| GitError::Unexpected { command: "rev-list".to_owned(), what: "no number".to_owned() })?;
        let first = format!("--max-count={SHOWN_MAX}");
        let listed =
            self.git.run(&[&["log", "--no-show-signature", "--format=%h %s", &first], &between[..]].concat())?;
        let subject = |line: &str| Name::from(line.chars().take(SUBJECT_CHARS_MAX).collect::<String>());
        let commits: Vec<Name> = String::from_utf8_lossy(&listed).lines().map(subject).collect();
        let common = self.git.call(&["merge-base", start.as_str(), at.as_str()], Vec::new())?;
        let common = String::from_utf8_lossy(&common.out).lines().next().and_then(ObjectId::parse);
        let files = match common {
            Some(common) => self.paths_between(&self.tree_at(&common)?, &self.tree_at(start)?)?,
            None => Vec::new(),
        };
        let files =
            if files.is_empty() { String::new() } else { format!(", which changed {}", some(&files, files.len())) };
        let word = if count == 1 { "commit" } else { "commits" };
        Ok(format!("{count} {word} ({}){files}", some(&commits, count)).into())
    }

    /// The paths that differ between two trees, in order.
    pub(super) fn paths_between(&self, from: &ObjectId, to: &ObjectId) -> Result<Vec<Name>, WorkspaceError> {
        Ok(self.changes(from, to)?.into_iter().map(|change| change.path).collect())
    }
}

/// The first of so many, and how many more there are.
fn some(names: &[Name], of: usize) -> String {
    let shown = names.iter().take(SHOWN_MAX).map(|name| &**name).collect::<Vec<_>>().join(", ");
    match of.saturating_sub(SHOWN_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
