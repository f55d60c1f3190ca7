//! What a fresh work tree needs besides the files of its commit: `[worktree]` of a configuration.
//!
//! ```text
//! STATE/runs/RUN/ready/TREE   the key that a work tree was made ready for: written once it was, gone when the tree is made anew
//! STATE/runs/RUN/made/KEY/N   the caches as the setup left them on the content that the run began with; KEY-TREE: on another tree
//! STATE/runs/RUN/made/@cache  what the setup left in its cache (`XDG_CACHE_HOME`), run on the content that the run began with
//! ```

#![expect(clippy::disallowed_methods, reason = "this module owns the files that are put into a fresh work tree")]

pub mod caches;
pub mod copy;
pub mod locked_base;
pub mod values;

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::scope::{Entry, in_scope, pattern_problem};

use crate::workspace::SUBMODULE;

/// Files that say exactly what a setup is to fetch, wherever in a tree they lie.
const LOCKS: [&str; 14] = [
    "**/package-lock.json",
    "**/npm-shrinkwrap.json",
    "**/pnpm-lock.yaml",
    "**/yarn.lock",
    "**/bun.lock",
    "**/Cargo.lock",
    "**/uv.lock",
    "**/poetry.lock",
    "**/Pipfile.lock",
    "**/requirements.txt",
    "**/go.sum",
    "**/Gemfile.lock",
    "**/composer.lock",
    "**/gradle.lockfile",
];

/// What a run's first event says that a fresh work tree needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Files of the user's checkout that git does not track: patterns.
    pub copy: Vec<String>,
    /// The program that makes a tree ready, and its arguments.
    pub setup: Vec<String>,
    /// The files on whose content the setup depends: patterns.
    pub locks: Vec<Name>,
    /// Folders of the tree that are no part of the work.
    pub caches: Vec<String>,
}

/// A value and where it comes from, of which only the value counts.
#[derive(Deserialize)]
struct Setting {
    value: Vec<String>,
}

impl Settings {
    /// Reads what is in force; what is there and cannot be read, or leads out of the tree, is said.
    pub fn of(config: &Value) -> Result<Self, String> {
        let none = serde_json::Map::new();
        let table = match config.get("worktree") {
            None => &none,
            Some(worktree) => worktree.as_object().ok_or("it is no table")?,
        };
        let read = |key: &str| match table.get(key) {
            None => Ok(Vec::new()),
            Some(setting) => {
                Setting::deserialize(setting).map(|setting| setting.value).map_err(|e| format!("{key}: {e}"))
            }
        };
        let (copy, setup, caches) = (read("copy")?, read("setup")?, read("caches")?);
        let locks = Some(read("locks")?).filter(|locks| !locks.is_empty());
        let locks = locks.unwrap_or_else(|| LOCKS.map(str::to_owned).to_vec());
        let wrong = copy.iter().find_map(|one| Some((one, copy_problem(one)?)));
        let wrong = wrong.or_else(|| caches.iter().find_map(|one| Some((one, cache_problem(one)?))));
        if let Some((one, problem)) = wrong {
            return Err(format!("`{one}` {problem}"));
        }
        let caches = caches.iter().map(|cache| cache.trim_end_matches('/').to_owned()).collect();
        Ok(Self { copy, setup, locks: locks.iter().map(|lock| lock.as_str().into()).collect(), caches })
    }

    /// Whether a tree needs nothing.
    pub fn is_empty(&self) -> bool {
        self.copy.is_empty() && self.setup.is_empty() && self.caches.is_empty()
    }

    /// The lock files of a tree.
    pub fn locks_of<'a>(&'a self, entries: &'a [Entry]) -> impl Iterator<Item = &'a Entry> {
        entries.iter().filter(|entry| in_scope(&entry.path, &self.locks))
    }

    /// What a tree is made ready for: its lock files, what is run and what is copied. Another key needs another setup.
    pub fn key(&self, entries: &[Entry]) -> Digest {
        let locks: Vec<String> = self.locks_of(entries).map(|lock| format!("{} {}", lock.blob, lock.path)).collect();
        let said = serde_json::json!([self.setup, self.copy, self.caches, locks]);
        Digest::of(said.to_string().as_bytes())
    }

    /// The first file of a tree that lies in a cache. A submodule is an empty folder there, which a setup may fill.
    pub fn tracked_cache<'a>(&self, entries: &'a [Entry]) -> Option<&'a Name> {
        let below = |path: &str| self.caches.iter().any(|cache| Path::new(path).starts_with(cache));
        let files = entries.iter().filter(|entry| &*entry.mode != SUBMODULE);
        files.map(|entry| &entry.path).find(|path| below(path))
    }
}

/// What is wrong with a pattern of files that are copied.
pub fn copy_problem(pattern: &str) -> Option<&'static str> {
    let git = pattern.split('/').any(|part| part.eq_ignore_ascii_case(".git"));
    pattern_problem(pattern).or_else(|| git.then_some("names a git folder, which each tree has of its own"))
}

/// What is wrong with the path of a cache.
pub fn cache_problem(path: &str) -> Option<&'static str> {
    let plain = path.trim_end_matches('/');
    let first = plain.split('/').next().unwrap_or_default();
    if plain.is_empty() || plain == "." {
        Some("is the whole tree")
    } else if plain.contains(['*', '?', '[', '{', '\\']) || plain.chars().any(char::is_control) {
        Some("is a pattern, and a cache is one folder")
    } else if !Path::new(plain).components().all(|part| matches!(part, Component::Normal(_))) || plain.contains("//") {
        Some("leads out of the repository, or is no plain path from its root")
    } else if first.eq_ignore_ascii_case(".git") || first == ".tollgate" {
        Some("is not to be written by anybody who works")
    } else {
        None
    }
}

/// A place in a tree that no link leads away from: what is written there is in the tree.
pub(crate) fn inside(tree: &Path, path: &Path) -> Result<PathBuf, String> {
    let mut place = tree.to_owned();
    for part in path.components() {
        if place.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            return Err(format!("{} is a link, and may lead out of the tree", place.display()));
        }
        match part {
            Component::Normal(name) => place.push(name),
            _ => return Err(format!("`{}` leads out of the tree", path.display())),
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests;
