//! The tree that a command checks: what it holds stays as it is while the command runs, so that no code under test rewrites the check.
//!
//! New paths may be written. A command that has to write the tree fails there and is run once more where it may: what it wrote is put
//! to a person.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tollgate_core::Name;
use tollgate_core::run::Run;
use tollgate_core::run::command_permission::{self, GIT_FOLDER};
use tollgate_core::run::sandbox_record::HeldTree as Extent;
use tollgate_core::scope::{Area, Entry, area_of, in_scope, literal, matches, protects};

use super::command_check::Check;
use super::confinement::setting;
use super::{Failure, protected_paths};
use crate::git::{ObjectId, unquote};
use crate::sandbox::WriteSubset;
use crate::workers::WorkerError;
use crate::workspace::setup::Settings;
use crate::workspace::{SUBMODULE, Workspace};

/// A tree with more paths is held in part: a mount for each would cost more than most commands.
const PATHS_MAX: usize = 50_000;
/// The area that stays as it is whatever the configuration lets commands write.
const TESTS: &str = "tests";

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
    fn of(run: &Run) -> Result<Self, WorkerError> {
        let configured = configured(&run.opened.config)?.into_iter().map(Name::from);
        let allowed = run.command_writes().into_iter().map(|path| literal(path));
        let (areas, protected) = (run.area_patterns(), protected_paths::patterns(run));
        Ok(Self { areas, protected, writes: configured.chain(allowed).collect() })
    }

    /// Whether a path is a test, protected, or git's own.
    fn guards(&self, path: &str) -> bool {
        path == GIT_FOLDER
            || area_of(&self.areas, path).is_some_and(|area| **area == *TESTS)
            || self.protected.iter().any(|pattern| protects(pattern, path))
    }

    /// Whether commands may write a path; one that is guarded only where it is named itself.
    fn lets_write(&self, path: &str) -> bool {
        let named = |pattern: &&Name| ***pattern == *path || **pattern == literal(path);
        self.writes.iter().any(|pattern| named(&pattern))
            || !self.guards(path) && self.writes.iter().any(|pattern| matches(pattern, path))
    }
}

/// What the configuration lets commands write.
fn configured(config: &Value) -> Result<Vec<String>, WorkerError> {
    Ok(setting(config, &["checks", "writes"])?.unwrap_or_default())
}

impl HeldTree {
    /// What of a tree is held while a command runs.
    pub fn of(
        run: &Run,
        settings: &Settings,
        workspace: &Workspace,
        tree: &ObjectId,
        check: &Check,
    ) -> Result<Self, Failure> {
        Ok(Self::among(&workspace.entries(tree)?, &Rules::of(run)?, &settings.locks, &check.words()))
    }

    /// The same of these files: with lock files by these patterns, for a command of these words.
    fn among(entries: &[Entry], rules: &Rules, locks: &[Name], words: &[String]) -> Self {
        let extent = if entries.len() > PATHS_MAX { Extent::Part } else { Extent::Whole };
        let counts = |path: &str| {
            extent == Extent::Whole
                || rules.guards(path)
                || in_scope(path, locks)
                || words.iter().any(|word| word.trim_start_matches("./") == path)
        };
        let files = entries.iter().filter(|entry| *entry.mode != *SUBMODULE).map(|entry| entry.path.clone());
        let git = Name::from(GIT_FOLDER);
        let paths = files.filter(|path| counts(path)).chain([git]).filter(|path| !rules.lets_write(path)).collect();
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

    /// What was written of it since, also where it was put back as it was: held, that would have failed. Git's folder counts where nothing
    /// else does: `git diff` notes there by itself that a file was written.
    pub fn written(&self, copy: &Path, before: &Stamps) -> Vec<Name> {
        let is_same = |path: &&Name| before.get(*path) == Some(&stamp(&place(copy, path)));
        let written: Vec<Name> = self.paths.iter().filter(|path| !is_same(path)).cloned().collect();
        let (git, tracked): (Vec<Name>, Vec<Name>) = written.into_iter().partition(|path| **path == *GIT_FOLDER);
        if tracked.is_empty() { git } else { tracked }
    }
}

/// Which file lies at each path, and when the system last saw it change: no program can set that time. Of a folder, what lies in it.
pub(super) type Stamps = BTreeMap<Name, Vec<(u64, i64, i64)>>;

fn stamp(path: &Path) -> Vec<(u64, i64, i64)> {
    let Ok(meta) = path.symlink_metadata() else { return Vec::new() };
    let mut inner: Vec<PathBuf> = match std::fs::read_dir(path) {
        Ok(entries) if meta.is_dir() => entries.flatten().map(|entry| entry.path()).collect(),
        Ok(_) | Err(_) => Vec::new(),
    };
    inner.sort();
    let own = (meta.ino(), meta.ctime(), meta.ctime_nsec());
    std::iter::once(own).chain(inner.iter().flat_map(|path| stamp(path))).collect()
}

fn place(copy: &Path, path: &Name) -> PathBuf {
    copy.join(OsStr::from_bytes(&unquote(path)))
}

/// Why a command that changes these cannot be observed.
pub(super) fn note(paths: &[Name]) -> String {
    format!("it {}", command_permission::changes(&paths.iter().collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tollgate_core::diagnostic::Place;

    use super::*;

    fn rules(writes: &[&str]) -> Rules {
        let area = Area { name: TESTS.into(), patterns: vec!["tests/**".into()], place: Place::default() };
        Rules {
            areas: vec![area],
            protected: Vec::new(),
            writes: writes.iter().map(|glob| Name::from(*glob)).collect(),
        }
    }

    fn held(count: usize, writes: &[&str], config: &Value) -> Vec<String> {
        let named = ["deps.lock", "src/a", "tests/a", "run.sh", "Cargo.lock"].map(str::to_owned);
        let others = (named.len()..count).map(|number| format!("many/{number}"));
        let entry = |path: String| Entry { path: path.as_str().into(), mode: "100644".into(), blob: "b".into() };
        let entries: Vec<Entry> = named.into_iter().chain(others).map(entry).collect();
        let locks = Settings::of(config).unwrap().locks;
        let held = HeldTree::among(&entries, &rules(writes), &locks, &["sh".to_owned(), "./run.sh".to_owned()]);
        held.paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn of_a_large_tree_what_the_run_calls_lock_files_is_held() {
        let own = json!({"worktree": {"locks": {"value": ["**/deps.lock"], "from": "user"}}});
        let large = PATHS_MAX + 1;
        assert_eq!(held(large, &[], &own), [".git", "deps.lock", "run.sh", "tests/a"]);
        assert_eq!(held(large, &[], &json!({})), [".git", "Cargo.lock", "run.sh", "tests/a"]);
        assert_eq!(held(5, &[], &own), [".git", "Cargo.lock", "deps.lock", "run.sh", "src/a", "tests/a"]);
    }

    #[test]
    fn what_commands_may_write_is_read_or_refused() {
        assert_eq!(configured(&Value::Null).unwrap(), [""; 0]);
        assert_eq!(configured(&json!({"checks": {"writes": ["gen/**"]}})).unwrap(), ["gen/**"]);
        for (config, what) in [
            (json!({"checks": {"writes": "gen/**"}}), "checks.writes"),
            (json!({"checks": {"writes": {"value": ["gen/**"]}}}), "checks.writes"),
            (json!({"checks": ["gen/**"]}), "checks"),
        ] {
            let refused = configured(&config).unwrap_err();
            assert!(matches!(&refused, WorkerError::Unreadable { what: found, .. } if found == what), "{refused}");
        }
    }

    #[test]
    fn a_pattern_opens_neither_tests_nor_git_in_passing() {
        assert_eq!(held(5, &["**"], &json!({})), [".git", "tests/a"]);
        assert_eq!(held(5, &["**", "tests/a", ".git"], &json!({})), [""; 0]);
    }
}
