//! Landing: bringing a unit's change into the run's tree, or saying where it cannot be.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::Arc;

use tollgate_core::Name;

use super::recent::recent_patch;
use super::repository::commit_on;
use super::{Signature, Workspace, WorkspaceError, safe_name};
use crate::git::{GitError, ObjectId, quote, unquote};
use crate::process::{End, Head, Output};

/// How many bytes of paths one command line is given.
const PATHS_BYTES_MAX: usize = 64 * 1024;

/// What came of a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// Both changes fit together.
    Landed {
        /// The tree that holds both.
        tree: ObjectId,
    },
    /// They do not; nothing moved.
    Conflict {
        /// The paths that conflict.
        paths: Vec<Name>,
        /// What became of each, a line each.
        how: String,
        /// A tree with conflict markers, to look at.
        marked: ObjectId,
    },
}

/// What the marks of a collision call the work that landed before, and how the name of a unit begins in them.
const LANDED: &str = "side/landed";
const SIDE: &str = "side/unit-";
/// How many messages about collisions are kept.
const MESSAGES_MAX: usize = 50;

/// Whether a file still holds marks that a landing made.
fn is_marked(bytes: &[u8]) -> bool {
    let begins = [format!("<<<<<<< {LANDED}"), format!(">>>>>>> {SIDE}")];
    bytes.split(|byte| *byte == b'\n').any(|line| begins.iter().any(|mark| line.starts_with(mark.as_bytes())))
}

/// The messages of `merge-tree` about collisions: each is a count, as many paths, a kind and a text.
fn messages<'a>(mut parts: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut found = Vec::new();
    while let Some(count) = parts.next().and_then(|count| str::from_utf8(count).ok()?.parse::<usize>().ok()) {
        let kind = parts.nth(count);
        let (Some(kind), Some(text)) = (kind, parts.next()) else { break };
        if kind.starts_with(b"CONFLICT") && found.len() < MESSAGES_MAX {
            found.push(String::from_utf8_lossy(text).trim_end().to_owned());
        }
    }
    found
}

impl Workspace {
    /// Lands a unit's change, unless one of the paths that collided before still holds the marks of it, or is exactly as it
    /// was `given` back where git cannot mark it: whoever left it so has mended nothing.
    pub fn land_whole(
        &self,
        unit: &str,
        [base, ours, theirs]: [&ObjectId; 3],
        collided: &[Name],
        given: Option<&ObjectId>,
    ) -> Result<MergeOutcome, WorkspaceError> {
        let landing = self.land(unit, base, ours, theirs)?;
        let (mut paths, mut how, marked) = match &landing {
            MergeOutcome::Landed { tree } => (Vec::new(), Vec::new(), tree),
            MergeOutcome::Conflict { paths, how, marked } => (paths.clone(), vec![how.clone()], marked),
        };
        let changed = given.map(|given| self.paths_between(given, theirs)).transpose()?;
        for path in collided {
            let left = if self.file(marked, path)?.is_some_and(|bytes| is_marked(&bytes)) {
                "still holds the marks of the collision"
            } else if changed.as_ref().is_some_and(|changed| changed.binary_search(path).is_err()) {
                "is as the collision left it, which git cannot mark: no one has chosen between the sides"
            } else {
                continue;
            };
            if !paths.contains(path) {
                paths.push(path.clone());
                how.push(format!("{path} {left}"));
            }
        }
        if paths.is_empty() {
            return Ok(landing);
        }
        Ok(MergeOutcome::Conflict { paths, how: how.join("\n"), marked: marked.clone() })
    }

    /// Merges what a unit changed from `base` to `theirs` into `ours`.
    pub fn land(
        &self,
        unit: &str,
        base: &ObjectId,
        ours: &ObjectId,
        theirs: &ObjectId,
    ) -> Result<MergeOutcome, WorkspaceError> {
        // Nothing to merge: the answer is at hand, and the same as git's.
        if theirs == base || theirs == ours {
            return Ok(MergeOutcome::Landed { tree: ours.clone() });
        }
        if ours == base {
            return Ok(MergeOutcome::Landed { tree: theirs.clone() });
        }
        // Git 2.39 takes the base of a merge from history alone, so both sides are made children of it. It has no parent
        // itself: nothing else of the history, which may be incomplete, is read.
        let base = self.in_progress(base, &[])?;
        let [ours, theirs] = [self.in_progress(ours, &[&base])?, self.in_progress(theirs, &[&base])?];
        // Marks and messages name the sides as they are given: by refs that say which is which.
        let sides = [LANDED.to_owned(), format!("{SIDE}{}", safe_name(unit))];
        for (side, commit) in sides.iter().zip([&ours, &theirs]) {
            self.git.run(&["update-ref", &format!("refs/{side}"), commit.as_str()])?;
        }
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", &sides[0], &sides[1]];
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
            return Ok(MergeOutcome::Landed { tree });
        }
        // The names end at an empty record; what follows is prose.
        let paths: Vec<Name> = parts.by_ref().take_while(|path| !path.is_empty()).map(quote).collect();
        let how = messages(parts).join("\n");
        Ok(MergeOutcome::Conflict { paths, how, marked: tree })
    }

    /// A commit on the base that holds a tree; the base itself when it is its tree. Depends on its arguments alone.
    pub(super) fn commit_of(&self, tree: &ObjectId) -> Result<ObjectId, WorkspaceError> {
        if *tree == self.base.tree {
            return Ok(self.base.commit.clone());
        }
        self.in_progress(tree, &[&self.base.commit])
    }

    /// A commit that nobody is shown.
    fn in_progress(&self, tree: &ObjectId, parents: &[&ObjectId]) -> Result<ObjectId, WorkspaceError> {
        let by = Signature { name: "Tollgate".to_owned(), email: "tollgate@localhost".to_owned(), at_s: 0 };
        let arguments = parents.iter().fold(tree.to_string(), |all, parent| format!("{all} {parent}"));
        self.commit_once(arguments, || commit_on(&self.git, tree, parents, "Work in progress", &by))
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
        if from == to {
            return Ok((Vec::new(), false));
        }
        recent_patch((from, to, only, limit), || {
            let kept = Head::new(limit);
            self.diff_into(from, to, only, &[], kept.clone())?;
            Ok(kept.take())
        })
    }

    /// The same with more flags, handed on piece by piece, however much it is.
    pub fn diff_into(
        &self,
        from: &ObjectId,
        to: &ObjectId,
        only: Option<&[&Name]>,
        more: &[&str],
        out: Arc<dyn Output>,
    ) -> Result<(), WorkspaceError> {
        let flags = ["diff-tree", "-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let paths =
            only.map(|only| only.iter().map(|path| OsString::from_vec(unquote(path).into_owned())).collect::<Vec<_>>());
        // A command line has room for so many paths at once.
        let groups: Vec<&[OsString]> = paths.as_deref().map_or_else(|| vec![&[][..]], groups);
        for group in groups {
            let mut args: Vec<&OsStr> = flags.map(OsStr::new).to_vec();
            args.extend(more.iter().map(OsStr::new));
            args.extend([from.as_ref(), to.as_ref(), OsStr::new("--")]);
            args.extend(group.iter().map(OsString::as_os_str));
            self.git.stream(&args, Vec::new(), Arc::clone(&out))?;
        }
        Ok(())
    }

    /// The contents of objects, one after the other as `git cat-file --batch` prints them.
    pub fn contents_into(&self, ids: &[String], out: Arc<dyn Output>) -> Result<(), WorkspaceError> {
        let stdin = ids.iter().flat_map(|id| [id.as_str(), "\n"]).collect::<String>();
        Ok(self.git.stream(&["cat-file", "--batch"], stdin.into_bytes(), out)?)
    }

    /// The content of one file of a tree; none when there is no such file.
    pub fn file(&self, tree: &ObjectId, path: &str) -> Result<Option<Vec<u8>>, WorkspaceError> {
        let mut name = OsString::from(format!("{tree}:"));
        name.push(OsStr::from_bytes(&unquote(path)));
        let kind = self.git.call(&[OsStr::new("cat-file"), OsStr::new("-t"), &name], Vec::new())?;
        if !kind.end.success() || kind.out.trim_ascii() != b"blob" {
            return Ok(None);
        }
        Ok(Some(self.git.run(&[OsStr::new("cat-file"), OsStr::new("blob"), &name])?))
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
