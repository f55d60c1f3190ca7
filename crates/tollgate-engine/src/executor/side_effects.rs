//! What an attempt did besides changing files of its tree: to the git folder, to ignored files, and as a judge to anything at all.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::run::decide::AttemptResult;
use tollgate_core::run::event::ChangeKind;
use tollgate_core::scope::in_scope;

use super::{Failure, failed};
use crate::git::{ObjectId, unquote};
use crate::workspace::{Change, GitState, Measured, TempCopy, Workspace};

/// How many files below ignored folders are looked at, and how many are named.
const LOOKED_MAX: usize = 200_000;
const SHOWN_MAX: usize = 20;
/// How many a reason names.
const NAMED_MAX: usize = 5;
/// Folders that tools fill by themselves wherever they run.
const CACHES: [&str; 10] = [
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".cache",
    ".nyc_output",
    "node_modules",
    "target",
];

/// What was there before an attempt.
pub(super) struct TreeBaseline {
    git: GitState,
    /// The time of the file system: what changed since has a later one, whatever times it claims.
    since: (i64, i64),
    /// Folders of the tree that count for nobody.
    caches: Vec<String>,
}

impl TreeBaseline {
    /// Looks at a tree; `scratch` is on the same file system, and `caches` are folders of the tree that count for nobody.
    pub fn look(tree: &Path, scratch: &Path, caches: Vec<String>) -> std::io::Result<Self> {
        std::fs::create_dir_all(scratch)?;
        let mark = scratch.join("began");
        std::fs::write(&mark, "")?;
        let meta = std::fs::metadata(&mark)?;
        std::fs::remove_file(&mark)?;
        Ok(Self { git: GitState::of(tree), since: (meta.ctime(), meta.ctime_nsec()), caches })
    }

    /// What is noticed after it, in words.
    pub fn after(&self, tree: &Path, measured: &Measured) -> Vec<String> {
        let git = self.git.changed(&GitState::of(tree)).into_iter().map(|what| format!("git: {what}"));
        // By them git converts files, also those that nobody changed.
        let attributes = measured.attributes().take(SHOWN_MAX).map(|path| format!("attributes: {path}"));
        let ignored = self.written(tree, &measured.ignored).into_iter().map(|path| format!("ignored: {path}"));
        git.chain(attributes).chain(ignored).collect()
    }

    /// The ignored files that are newer than its start. Of a folder that tools fill it counts that something in it is: a build is no reason
    /// to miss what else was written.
    fn written(&self, tree: &Path, ignored: &[Name]) -> Vec<String> {
        let (mut found, mut looked, mut filled) = (Vec::new(), 0, BTreeSet::new());
        let path_of = |name: &Name| PathBuf::from(OsStr::from_bytes(&unquote(name)));
        // The last is looked at first: files before folders.
        let (folders, files): (Vec<&Name>, Vec<&Name>) = ignored.iter().partition(|name| name.ends_with('/'));
        let mut open: Vec<PathBuf> = folders.into_iter().chain(files).map(path_of).collect();
        while let Some(path) = open.pop() {
            let by_tools = filled_by_tools(&path);
            if self.caches.iter().any(|cache| path.starts_with(cache)) || by_tools.is_some_and(|at| filled.contains(at))
            {
                continue;
            }
            looked += 1;
            if looked > LOOKED_MAX || found.len() == SHOWN_MAX {
                found.push("and perhaps more".to_owned());
                break;
            }
            let Ok(meta) = tree.join(&path).symlink_metadata() else { continue };
            if meta.is_dir() {
                let inner = std::fs::read_dir(tree.join(&path)).into_iter().flatten().flatten();
                open.extend(inner.map(|entry| path.join(entry.file_name())));
            } else if (meta.ctime(), meta.ctime_nsec()) >= self.since {
                found.push(by_tools.map_or_else(|| path.display().to_string(), |at| format!("{}/", at.display())));
                filled.extend(by_tools.map(Path::to_owned));
            }
        }
        found.sort();
        found
    }
}

/// The folder that tools fill in which a path lies.
fn filled_by_tools(path: &Path) -> Option<&Path> {
    let is_theirs = |path: &&Path| path.file_name().is_some_and(|name| CACHES.iter().any(|cache| name == *cache));
    path.ancestors().skip(1).filter(is_theirs).last()
}

/// A role that judges changes nothing, whatever it reports: not even in the copy that is thrown away. What tools leave where they run does not count.
pub(super) fn judge(
    workspace: &Workspace,
    copy: &TempCopy,
    start: &ObjectId,
    guarded: &[Name],
    before: &TreeBaseline,
    result: &mut AttemptResult,
) -> Result<(), Failure> {
    let measured = workspace.measure_copy(copy, start)?;
    // A file that was there before is the tree's, and one that is guarded is nobody's cache, wherever they lie.
    let is_cache = |path: &str| path.split('/').any(|part| CACHES.contains(&part));
    let is_guarded = |path: &str| !guarded.is_empty() && in_scope(path, guarded);
    let counts =
        |change: &&Change| change.kind != ChangeKind::Created || !is_cache(&change.path) || is_guarded(&change.path);
    result.noticed = before.after(copy.path(), &measured);
    let misplaced = measured.misplaced();
    let paths = measured.changes.iter().filter(counts).map(|change| &*change.path);
    let misplaced = misplaced.iter().map(|path| &**path).filter(|path| !is_cache(path) || is_guarded(path));
    let git = result.noticed.iter().filter(|what| what.starts_with("git: ")).map(String::as_str);
    let all: Vec<&str> = paths.chain(misplaced).chain(git).take(NAMED_MAX).collect();
    if !all.is_empty() {
        let reason = format!("it judges, and changed what it judges: {}", all.join(", "));
        result.report = failed("scope", reason.clone());
        result.diagnostics.push(reason);
    }
    Ok(())
}
