//! Landing: bringing a unit's change into the run's tree, or saying where it cannot be.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt as _;

use tollgate_core::Name;

use super::repository::commit;
use super::{Signature, Workspace, WorkspaceError};
use crate::git::{GitError, ObjectId, quote, unquote};
use crate::process::End;

/// How many bytes of paths one command line is given.
const PATHS_BYTES_MAX: usize = 64 * 1024;

/// What came of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landing {
    /// Both changes fit together.
    Landed {
        /// The tree that holds both.
        tree: ObjectId,
    },
    /// They do not; nothing moved.
    Conflict {
        /// The paths that conflict.
        paths: Vec<Name>,
        /// A tree with conflict markers, to look at.
        marked: ObjectId,
    },
}

impl Workspace {
    /// Merges what changed from `base` to `theirs` into `ours`.
    pub fn land(&self, base: &ObjectId, ours: &ObjectId, theirs: &ObjectId) -> Result<Landing, WorkspaceError> {
        // Nothing to merge: the answer is at hand, and the same as git's.
        if theirs == base || theirs == ours {
            return Ok(Landing::Landed { tree: ours.clone() });
        }
        if ours == base {
            return Ok(Landing::Landed { tree: theirs.clone() });
        }
        let [base, ours, theirs] = [self.commit_of(base)?, self.commit_of(ours)?, self.commit_of(theirs)?];
        let merge_base = format!("--merge-base={base}");
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", &merge_base, ours.as_str(), theirs.as_str()];
        let printed = self.git.call(&args, Vec::new())?;
        let clean = match printed.end {
            End::Exited(0) => true,
            End::Exited(1) => false,
            _ => return Err(self.git.failed(&args, printed).into()),
        };
        let mut parts = printed.out.split(|byte| *byte == 0);
        let tree = parts.next().and_then(|id| ObjectId::parse(str::from_utf8(id).ok()?));
        let tree =
            tree.ok_or_else(|| GitError::Unexpected { command: "merge-tree".to_owned(), what: "no tree".to_owned() })?;
        if clean {
            return Ok(Landing::Landed { tree });
        }
        // The names end at an empty record; what follows is prose.
        let paths = parts.take_while(|path| !path.is_empty()).map(quote).collect();
        Ok(Landing::Conflict { paths, marked: tree })
    }

    /// A commit on the base that holds a tree; the base itself when it is its tree. Depends on its arguments alone.
    pub(super) fn commit_of(&self, tree: &ObjectId) -> Result<ObjectId, WorkspaceError> {
        if *tree == self.base.tree {
            return Ok(self.base.commit.clone());
        }
        let by = Signature { name: "Tollgate".to_owned(), email: "tollgate@localhost".to_owned(), at_s: 0 };
        commit(&self.git, tree, &self.base.commit, "Work in progress", &by)
    }

    /// The difference between two trees as a patch, cut after `limit` bytes; and whether it was cut. With `only`, that of
    /// these paths.
    pub fn diff(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        only: Option<&[&Name]>,
        limit: usize,
    ) -> Result<(Vec<u8>, bool), WorkspaceError> {
        let flags = ["diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let paths = only.map(|only| only.iter().map(|path| OsString::from_vec(unquote(path))).collect::<Vec<_>>());
        // A command line has room for so many paths at once.
        let groups: Vec<&[OsString]> = paths.as_deref().map_or_else(|| vec![&[][..]], groups);
        let mut patch = Vec::new();
        for group in groups {
            let mut args: Vec<&OsStr> = flags.map(OsStr::new).to_vec();
            args.extend([from.as_ref(), to.as_ref(), OsStr::new("--")]);
            args.extend(group.iter().map(OsString::as_os_str));
            patch.extend(self.git.run(&args)?);
            if patch.len() > limit {
                patch.truncate(limit);
                return Ok((patch, true));
            }
        }
        Ok((patch, false))
    }

    /// The content of one file of a tree; none when there is no such file.
    pub fn file(&self, tree: &ObjectId, path: &str) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let name = format!("{tree}:{path}");
        let kind = self.git.call(&["cat-file", "-t", &name], Vec::new())?;
        if !kind.end.success() || kind.out.trim_ascii() != b"blob" {
            return Ok(None);
        }
        Ok(Some(self.git.run(&["cat-file", "blob", &name])?))
    }
}

/// Paths in groups that fit a command line.
fn groups(paths: &[OsString]) -> Vec<&[OsString]> {
    let (mut groups, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (index, path) in paths.iter().enumerate() {
        bytes += path.len() + 1;
        if bytes > PATHS_BYTES_MAX && index > start {
            groups.push(&paths[start..index]);
            (start, bytes) = (index, path.len() + 1);
        }
    }
    if start < paths.len() {
        groups.push(&paths[start..]);
    }
    groups
}
