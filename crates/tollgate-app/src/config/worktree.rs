//! `[worktree]`: what a fresh work tree needs besides the files of its commit.

use serde::{Deserialize, Serialize};
use tollgate_core::code::Code;
use tollgate_engine::workspace::setup::{cache_problem, copy_problem};
use toml::Spanned;
use toml::de::DeValue;

use super::parser::Reader;
use super::{Config, Setting};

/// What one source says of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Needed {
    /// Files of the checkout that git does not track: patterns.
    pub copy: Option<Vec<String>>,
    /// Program and arguments.
    pub setup: Option<Vec<String>>,
    /// The files that the setup depends on: patterns.
    pub locks: Option<Vec<String>>,
    /// Folders that are no part of the work.
    pub caches: Option<Vec<String>>,
}

/// What is in force, each with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Worktree {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<Setting<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setting<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Setting<Vec<String>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches: Option<Setting<Vec<String>>>,
}

impl Worktree {
    /// Whether nobody says anything.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Config {
    /// What a fresh work tree needs; of each the strongest source.
    pub fn worktree(&self) -> Worktree {
        let mut force = Worktree::default();
        for (from, layer) in &self.layers {
            let set = |value: &Option<Vec<String>>, into: &mut Option<Setting<Vec<String>>>| {
                if let Some(value) = value.clone() {
                    *into = Some(Setting { value, from: *from });
                }
            };
            set(&layer.worktree.copy, &mut force.copy);
            set(&layer.worktree.setup, &mut force.setup);
            set(&layer.worktree.locks, &mut force.locks);
            set(&layer.worktree.caches, &mut force.caches);
        }
        force
    }
}

impl Reader<'_> {
    pub(super) fn worktree(&mut self, value: &Spanned<DeValue<'_>>) -> Needed {
        let mut needed = Needed::default();
        self.each(value, "worktree", |reader, key, value| match &**key.get_ref() {
            "copy" => needed.copy = reader.within(value, copy_problem, "write it like `\".env\"`"),
            "setup" => needed.setup = reader.strings(value, "program and arguments"),
            "locks" => needed.locks = reader.patterns(value),
            "caches" => needed.caches = reader.within(value, cache_problem, "write it like `\"node_modules\"`"),
            _ => reader.unknown((key, value), "worktree.", &["copy", "setup", "locks", "caches"]),
        });
        needed
    }

    /// Paths that stay within the repository.
    fn within(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        problem: fn(&str) -> Option<&'static str>,
        hint: &str,
    ) -> Option<Vec<String>> {
        let paths = self.strings(value, "paths")?;
        match paths.iter().find_map(|path| Some((path, problem(path)?))) {
            None => Some(paths),
            Some((path, problem)) => self.breach(&value.span(), Code::CONFIG, format!("`{path}` {problem}"), hint),
        }
    }
}
