//! Items of Out of Scope that speak of a file without its path: `auth.js` for `src/auth.js`, `src/auth` without its extension.
//!
//! Such an item excludes nothing by itself, as names are compared byte for byte. Whether it means a changed file is for a person.

use std::collections::{BTreeMap, BTreeSet};

use super::item::is_path;
use super::task::is_file;
use crate::Name;
use crate::contract::text::says_none;

/// How deep a path is compared: each folder above with each name below.
const DEPTH_MAX: usize = 64;

/// What items name, each with the item that does.
#[derive(Debug, Clone, Default)]
pub(super) struct Loose {
    /// Names that may end or hold a path, in lower case: one that ends in a slash is a folder.
    meant: BTreeMap<String, usize>,
    /// Paths of which it is not known yet whether a file has them, each behind the whole name that it may begin.
    unsure: Vec<(Name, Name, usize)>,
}

impl Loose {
    /// Takes in what may mean a file, however many have such a path.
    pub fn mean(&mut self, path: &str, at: usize) {
        let key = path.trim_start_matches("./").to_ascii_lowercase();
        self.meant.entry(key).or_insert(at);
    }

    /// Takes in what an item excludes, as far as it looks like a path; of one with spaces the first word is taken too.
    pub fn take<'p>(&mut self, paths: impl Iterator<Item = &'p String> + Clone, at: usize) {
        let whole = paths.clone().next().filter(|whole| whole.contains(' '));
        // A sentence ends behind a path, and has signs of its own.
        let is_said = |path: &str| path.ends_with('.') || says_none(path) || matches!(path, "e.g" | "i.e");
        for path in paths.filter(|path| is_path(path) && !path.contains(['*', '?', '{']) && !is_said(path)) {
            let whole = whole.filter(|whole| whole.starts_with(path.as_str()));
            self.unsure.push((whole.unwrap_or(path).as_str().into(), path.as_str().into(), at));
        }
    }

    /// Takes in words alone, each of which may be the name of a file or a folder.
    pub fn take_names(&mut self, names: &[String], at: usize) {
        self.unsure.extend(names.iter().map(|name| (name.as_str().into(), name.as_str().into(), at)));
    }

    /// Whether files or folders among these have every path that an item excludes.
    pub fn is_held(&self, files: &BTreeSet<&str>) -> bool {
        self.unsure.iter().all(|(whole, path, _)| is_there(whole, files) || is_there(path, files))
    }

    /// Holds the items against all files: a path that none has may mean another. Gives those back that are no prose, each with its item.
    pub fn settle(&mut self, files: &BTreeSet<&str>) -> Vec<(Name, usize)> {
        let mut missing = Vec::new();
        for (whole, path, at) in std::mem::take(&mut self.unsure) {
            if !is_there(&whole, files) && !is_there(&path, files) {
                self.mean(&path, at);
                // `CI/CD pipeline` is prose.
                if whole == path || is_file(&path) {
                    missing.push((path, at));
                }
            }
        }
        missing
    }

    /// The item that may mean a path: its end, without the extension or not, or a folder in it.
    pub fn find(&self, path: &str) -> Option<usize> {
        if self.meant.is_empty() {
            return None;
        }
        let path = path.to_ascii_lowercase();
        let starts = || std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).take(DEPTH_MAX);
        let bare = path.rfind('.').filter(|_| is_file(&path));
        let ends = path.rmatch_indices('/').take(DEPTH_MAX).flat_map(|(at, _)| [at, at + 1]);
        let mut ends = std::iter::once(path.len()).chain(bare).chain(ends);
        ends.find_map(|end| starts().filter(|start| *start < end).find_map(|start| self.meant.get(&path[start..end])))
            .copied()
    }
}

pub(super) fn is_there(path: &str, files: &BTreeSet<&str>) -> bool {
    let bare = path.trim_start_matches("./").trim_end_matches('/');
    let inside = format!("{bare}/");
    files.contains(bare) || files.range(&*inside..).next().is_some_and(|file| file.starts_with(&inside))
}
