//! The tree that a command checks: what it holds stays as it is while the command runs, so that no code under test rewrites the check.
//!
//! New paths may be written. A command that has to write the tree fails there and is run once more where it may: what it wrote is put
//! to a person.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::run::Run;
use tollgate_core::run::sandbox_record::HeldTree as Extent;
use tollgate_core::scope::{Area, Entry, area_of, literal, matches, protects};

use super::command_check::Check;
use super::{Failure, protected_paths};
use crate::git::{ObjectId, unquote};
use crate::sandbox::WriteSubset;
use crate::workspace::Workspace;
use crate::workspace::setup::LOCKS;

/// A tree with more paths is held in part: a mount for each would cost more than most commands.
const PATHS_MAX: usize = 50_000;
/// The area that stays as it is whatever the configuration lets commands write.
const TESTS: &str = "tests";
/// The mode by which git names a submodule: a folder that is empty in a copy.
const SUBMODULE: &str = "160000";
/// How many paths a note names.
const NAMED_MAX: usize = 3;

/// What of a tree is held.
pub(super) struct HeldTree {
    paths: BTreeSet<Name>,
    pub extent: Extent,
}

/// What decides it: the configuration, the protocol's areas and a person's answers.
struct Rules {
    areas: Vec<Area>,
    protected: Vec<Name>,
    /// Patterns that commands may write.
    writes: Vec<Name>,
}

impl Rules {
    fn of(run: &Run) -> Self {
        let list = run.opened.config.pointer("/checks/writes").and_then(|list| list.as_array());
        let configured = list.into_iter().flatten().filter_map(|glob| glob.as_str().map(Name::from));
        let allowed = run.command_writes().into_iter().map(|path| literal(path));
        let (areas, protected) = (run.area_patterns(), protected_paths::patterns(run));
        Self { areas, protected, writes: configured.chain(allowed).collect() }
    }

    /// Whether a path is a test or protected.
    fn guards(&self, path: &str) -> bool {
        area_of(&self.areas, path).is_some_and(|area| **area == *TESTS)
            || self.protected.iter().any(|pattern| protects(pattern, path))
    }

    /// Whether commands may write a path; one that is guarded only where it is named itself.
    fn lets_write(&self, path: &str) -> bool {
        let named = |pattern: &&Name| ***pattern == *path || **pattern == literal(path);
        self.writes.iter().any(|pattern| named(&pattern))
            || !self.guards(path) && self.writes.iter().any(|pattern| matches(pattern, path))
    }
}

impl HeldTree {
    /// What of a tree is held while a command runs.
    pub fn of(run: &Run, workspace: &Workspace, tree: &ObjectId, check: &Check) -> Result<Self, Failure> {
        Ok(Self::among(run, &workspace.entries(tree)?, check))
    }

    fn among(run: &Run, entries: &[Entry], check: &Check) -> Self {
        let rules = Rules::of(run);
        let extent = if entries.len() > PATHS_MAX { Extent::Part } else { Extent::Whole };
        let named = check.words();
        let counts = |path: &str| {
            extent == Extent::Whole
                || rules.guards(path)
                || LOCKS.iter().any(|lock| matches(&format!("**/{lock}"), path))
                || named.iter().any(|word| word.trim_start_matches("./") == path)
        };
        let files = entries.iter().filter(|entry| *entry.mode != *SUBMODULE).map(|entry| &entry.path);
        let paths = files.filter(|path| counts(path) && !rules.lets_write(path)).cloned().collect();
        Self { paths, extent }
    }

    /// What may be written of a copy of the tree.
    pub fn write_subset(&self, copy: &Path) -> WriteSubset {
        WriteSubset { writes: vec![copy.to_owned()], kept: self.paths.iter().map(|path| place(copy, path)).collect() }
    }

    /// How what is held lies in a copy in which it may be written.
    pub fn stamps(&self, copy: &Path) -> Stamps {
        self.paths.iter().map(|path| (path.clone(), stamp(&place(copy, path)))).collect()
    }

    /// What was written of it since, also where it was put back as it was: held, that would have failed.
    pub fn written(&self, copy: &Path, before: &Stamps) -> Vec<Name> {
        let is_same = |path: &&Name| before.get(*path) == Some(&stamp(&place(copy, path)));
        self.paths.iter().filter(|path| !is_same(path)).cloned().collect()
    }
}

/// Which file lies at each path, and when the system last saw it change: no program can set that time.
pub(super) type Stamps = BTreeMap<Name, Option<(u64, i64, i64)>>;

fn stamp(path: &Path) -> Option<(u64, i64, i64)> {
    let meta = path.symlink_metadata().ok()?;
    Some((meta.ino(), meta.ctime(), meta.ctime_nsec()))
}

fn place(copy: &Path, path: &Name) -> PathBuf {
    copy.join(OsStr::from_bytes(&unquote(path)))
}

/// Why a command that changes these cannot be observed.
pub(super) fn note(changes: &[Name]) -> String {
    let named: Vec<String> = changes.iter().take(NAMED_MAX).map(|path| format!("`{path}`")).collect();
    let more = changes.len().saturating_sub(NAMED_MAX);
    let are = if changes.len() == 1 { "is" } else { "are" };
    let and = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("it changes {}{and}, which {are} tracked", named.join(", "))
}
