//! What fills a cache: the files that the run began with, and of the work what says which packages it needs.
//!
//! A setup runs what the tree holds (scripts of a package, a Makefile). On the files that the run began with it runs nothing that the
//! work wrote. What is taken of the work names packages, and no command that a package manager runs:
//!
//! ```text
//! a lock file that differs                     as the work has it, also where it is gone
//! a manifest of one, at or below its folder    as the work has it where it can hold no command (`Cargo.toml`, `go.mod`, …)
//! one that can                                 what names packages in it; its scripts stay as they were, and a new one has none
//! ```

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};
use tollgate_core::Name;
use tollgate_core::scope::{Entry, in_scope, matches};

use super::{LOCKS, Settings};
use crate::git::ObjectId;
use crate::workspace::measurement::index_line;
use crate::workspace::{Workspace, WorkspaceError, at};

/// What of a manifest is taken.
#[derive(Clone, Copy)]
enum Taken {
    Whole,
    Tables(&'static Tables),
}

/// The keys of a manifest under which packages are named; and of one that the run did not begin with, what it is called.
struct Tables {
    format: Format,
    packages: &'static [&'static str],
    name: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Format {
    Json,
    Toml,
}

const OF_NPM: Taken = Taken::Tables(&Tables {
    format: Format::Json,
    packages: &[
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "peerDependencies",
        "overrides",
        "resolutions",
        "workspaces",
    ],
    name: &["name", "version"],
});
const OF_COMPOSER: Taken =
    Taken::Tables(&Tables { format: Format::Json, packages: &["require", "require-dev"], name: &["name"] });
const OF_PYTHON: Taken = Taken::Tables(&Tables {
    format: Format::Toml,
    packages: &[
        "project.dependencies",
        "project.optional-dependencies",
        "dependency-groups",
        "tool.poetry.dependencies",
        "tool.poetry.dev-dependencies",
        "tool.poetry.extras",
        "tool.poetry.group",
        "tool.poetry.source",
        "tool.uv.constraint-dependencies",
        "tool.uv.dev-dependencies",
        "tool.uv.index",
        "tool.uv.override-dependencies",
        "tool.uv.sources",
        "tool.uv.workspace",
    ],
    name: &["project.name", "project.version", "project.requires-python"],
});

/// Lock files by their names, and what they are made from. A `Gemfile` and a `build.gradle` are programs.
const MANIFESTS: [(&str, &str, Taken); 11] = [
    ("package-lock.json", "package.json", OF_NPM),
    ("npm-shrinkwrap.json", "package.json", OF_NPM),
    ("pnpm-lock.yaml", "package.json", OF_NPM),
    ("yarn.lock", "package.json", OF_NPM),
    ("bun.lock", "package.json", OF_NPM),
    ("Cargo.lock", "Cargo.toml", Taken::Whole),
    ("uv.lock", "pyproject.toml", OF_PYTHON),
    ("poetry.lock", "pyproject.toml", OF_PYTHON),
    ("Pipfile.lock", "Pipfile", Taken::Whole),
    ("go.sum", "go.mod", Taken::Whole),
    ("composer.lock", "composer.json", OF_COMPOSER),
];

/// The modes of a plain file.
const PLAIN: [&str; 2] = ["100644", "100755"];

static NEXT_INDEX: AtomicU64 = AtomicU64::new(0);

/// The tree by which the caches for another tree are filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedBase {
    pub tree: ObjectId,
    /// The lock files in which it differs from the tree that the run began with.
    pub locks: Vec<Name>,
    /// The files that the setup names, and that the work has otherwise: it would not be the setup that the work asks for.
    pub named: Vec<Name>,
}

impl Settings {
    /// Whether a word of the setup names a file: by its path, or by its name in a folder that another word names. What it takes from
    /// `.tollgate/` is the trusted one in any case.
    fn names(&self, path: &str) -> bool {
        let is_apart = |c: char| c.is_whitespace() || "\"'`;&|<>()=:,".contains(c);
        let words = || {
            let parts = self.setup.iter().flat_map(|word| word.split(is_apart).chain([word.as_str()]));
            parts.map(|word| word.trim_start_matches("./").trim_end_matches('/')).filter(|word| !word.is_empty())
        };
        let below = |folder: &str| path.strip_prefix(folder)?.strip_prefix('/');
        let is_named = |word: &str| word == path || below(word).is_some_and(|rest| words().any(|word| word == rest));
        !Path::new(path).starts_with(".tollgate") && words().any(is_named)
    }

    /// Whether a file is taken as a lock file of the work. One that the setup names may be a program, unless its format is known.
    fn takes_lock(&self, path: &str) -> bool {
        in_scope(path, &self.locks) && (LOCKS.iter().any(|lock| matches(lock, path)) || !self.names(path))
    }
}

/// A path that differs between two trees.
struct Differing<'a> {
    path: &'a Name,
    before: Option<&'a Entry>,
    after: Option<&'a Entry>,
}

fn differing<'a>(before: &'a [Entry], after: &'a [Entry]) -> Vec<Differing<'a>> {
    let mut left: HashMap<&Name, &Entry> = before.iter().map(|entry| (&entry.path, entry)).collect();
    let mut found = Vec::new();
    for entry in after {
        let was = left.remove(&entry.path);
        if was != Some(entry) {
            found.push(Differing { path: &entry.path, before: was, after: Some(entry) });
        }
    }
    found.extend(left.into_values().map(|was| Differing { path: &was.path, before: Some(was), after: None }));
    found.sort_by_key(|one| one.path);
    found
}

fn is_plain(entry: &Entry) -> bool {
    PLAIN.contains(&&*entry.mode)
}

/// What of a manifest is taken, where one of these lock files is made from it.
fn taken_of(manifest: &str, locks: &[Name]) -> Option<Taken> {
    let (manifest, file) = (Path::new(manifest), Path::new(manifest).file_name()?);
    let of_lock = |lock: &Name| {
        let (folder, name) = (Path::new(&**lock).parent()?, Path::new(&**lock).file_name()?);
        let known = MANIFESTS.iter().find(|(lock, of, _)| name == *lock && file == *of);
        known.filter(|_| manifest.starts_with(folder)).map(|(_, _, taken)| *taken)
    };
    locks.iter().find_map(of_lock)
}

impl Format {
    fn read(self, bytes: &[u8]) -> Option<Map<String, Value>> {
        match self {
            Self::Json => serde_json::from_slice(bytes).ok(),
            Self::Toml => toml::from_str(str::from_utf8(bytes).ok()?).ok(),
        }
    }

    fn write(self, manifest: &Map<String, Value>) -> Option<Vec<u8>> {
        match self {
            Self::Json => serde_json::to_vec_pretty(manifest).ok(),
            Self::Toml => toml::to_string(manifest).map(String::into_bytes).ok(),
        }
    }
}

/// Has the value at a key, whose parts are divided by dots, as another manifest has it, also where it is gone.
fn take_over(all: &mut Map<String, Value>, other: &Map<String, Value>, key: &str) {
    let Some((table, rest)) = key.split_once('.') else {
        match other.get(key) {
            Some(value) => all.insert(key.to_owned(), value.clone()),
            None => all.remove(key),
        };
        return;
    };
    let none = Map::new();
    let other = other.get(table).and_then(Value::as_object).unwrap_or(&none);
    if !other.is_empty() || all.contains_key(table) {
        let inner = all.entry(table).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(inner) = inner {
            take_over(inner, other, rest);
        }
    }
}

/// A manifest of before with the packages of another one, as that is where nothing else differs. None where one of them cannot be read.
fn with_packages(before: Option<&[u8]>, after: &[u8], tables: &Tables) -> Option<Vec<u8>> {
    let read = |bytes| tables.format.read(bytes);
    let (mut all, other) = (before.map_or_else(|| Some(Map::new()), read)?, read(after)?);
    let name = if before.is_none() { tables.name } else { &[] };
    name.iter().chain(tables.packages).for_each(|key| take_over(&mut all, &other, key));
    if all == other { Some(after.to_vec()) } else { tables.format.write(&all) }
}

impl Workspace {
    /// The tree by which the caches for a tree are filled that was made from `base`, and what of the work it leaves out that the setup
    /// names.
    pub fn locked_base(
        &self,
        settings: &Settings,
        base: &ObjectId,
        tree: &ObjectId,
    ) -> Result<LockedBase, WorkspaceError> {
        let (before, after) = (self.entries(base)?, self.entries(tree)?);
        let changes = differing(&before, &after);
        let is_taken = |one: &&Differing<'_>| settings.takes_lock(one.path) && one.after.is_none_or(is_plain);
        let locks: Vec<Name> = changes.iter().filter(is_taken).map(|one| one.path.clone()).collect();
        let filled_by = if locks.is_empty() { base.clone() } else { self.with_locks(base, &changes, &locks)? };
        let held = self.entries(&filled_by)?;
        let left_out = differing(&held, &after);
        let named = left_out.iter().map(|one| one.path).filter(|path| settings.names(path)).cloned().collect();
        Ok(LockedBase { tree: filled_by, locks, named })
    }

    /// A tree with these lock files of another one, and what is taken of their manifests.
    fn with_locks(
        &self,
        base: &ObjectId,
        changes: &[Differing<'_>],
        locks: &[Name],
    ) -> Result<ObjectId, WorkspaceError> {
        let mut lines = Vec::new();
        for Differing { path, before, after } in changes {
            let taken = if locks.contains(path) { Some(Taken::Whole) } else { taken_of(path, locks) };
            let before = before.filter(|entry| is_plain(entry));
            match (taken, before, after) {
                (Some(Taken::Whole), _, Some(after)) if is_plain(after) => lines.extend(index_line(after)),
                (Some(Taken::Tables(tables)), _, Some(after)) if is_plain(after) => {
                    if let Some(blob) = self.merged_packages(before, after, tables)? {
                        lines.extend(index_line(&Entry { blob, ..(*after).clone() }));
                    }
                }
                (Some(_), Some(before), None) => {
                    lines.extend(index_line(&Entry { mode: "0".into(), ..before.clone() }))
                }
                (Some(_) | None, _, _) => {}
            }
        }
        let number = NEXT_INDEX.fetch_add(1, Ordering::Relaxed);
        let folder = self.run_folder().join("copies");
        at(&folder, std::fs::create_dir_all(&folder))?;
        let index = Index(folder.join(format!("{}-{number}.locks", std::process::id())));
        let git = self.git.on(&folder, &index.0);
        git.run(&["read-tree", base.as_str()])?;
        git.feed(&["update-index", "-z", "--index-info"], lines)?;
        Ok(git.id(&["write-tree"])?)
    }

    /// The blob of a manifest with the packages of another one.
    fn merged_packages(
        &self,
        before: Option<&Entry>,
        after: &Entry,
        tables: &Tables,
    ) -> Result<Option<Name>, WorkspaceError> {
        let blob = |entry: &Entry| self.git.run(&["cat-file", "blob", &*entry.blob]);
        let (before, after) = (before.map(blob).transpose()?, blob(after)?);
        let Some(merged) = with_packages(before.as_deref(), &after, tables) else { return Ok(None) };
        let id = self.git.feed(&["hash-object", "-w", "--stdin"], merged)?;
        Ok(ObjectId::parse(String::from_utf8_lossy(&id).trim()).map(|id| id.name()))
    }
}

/// An index of git for one use; it goes when this does.
struct Index(PathBuf);

impl Drop for Index {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}
