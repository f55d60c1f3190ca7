//! What differs between two trees: asked of git, or worked out from what is known of both already.

use std::collections::{BTreeMap, HashMap, HashSet};

use tollgate_core::Name;
use tollgate_core::run::event::ChangeKind;
use tollgate_core::scope::Entry;

use super::WorkspaceError;
use super::measurement::{Change, SUBMODULE};
use crate::git::{Git, GitError, ObjectId, quote, records, unquote};

/// How much of a blob's id names it beside its path. Two contents with one name would be taken for the same, which only
/// asks a question too many.
const BLOB_CHARS: usize = 16;

/// What a tree has at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub mode: Name,
    pub blob: Name,
}

impl Content {
    pub fn of(entry: &Entry) -> Self {
        Self { mode: entry.mode.clone(), blob: entry.blob.clone() }
    }

    /// A name that tells it from what else was at its path.
    fn short(&self) -> Name {
        format!("{} {:.BLOB_CHARS$}", self.mode, &*self.blob).into()
    }
}

/// What the two trees have at a path, the earlier one first; never the same.
type Pair = (Option<Content>, Option<Content>);

/// What differs from a tree, by path as git quotes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Differences {
    pub from: ObjectId,
    paths: BTreeMap<Name, Pair>,
}

impl Differences {
    pub fn none(from: &ObjectId) -> Self {
        Self { from: from.clone(), paths: BTreeMap::new() }
    }

    /// Of pairs that are known; those that are the same are left out.
    pub fn known(from: &ObjectId, pairs: impl IntoIterator<Item = (Name, Pair)>) -> Self {
        Self { from: from.clone(), paths: pairs.into_iter().filter(|(_, (was, now))| was != now).collect() }
    }

    /// As git tells them. It passes over the folders that are the same.
    pub fn between(git: &Git, from: &ObjectId, to: &ObjectId) -> Result<Self, WorkspaceError> {
        if from == to {
            return Ok(Self::none(from));
        }
        Self::told(git, from, &["diff-tree", "-r", from.as_str(), to.as_str()])
    }

    /// By what both trees hold.
    pub fn of_entries(from: &ObjectId, before: &[Entry], after: &[Entry]) -> Self {
        Self::known(from, pairs(before, after).into_iter().map(|(path, pair)| (path.clone(), pair)))
    }

    /// What the index of a git has otherwise than a commit; no file is looked at.
    pub fn staged(git: &Git, from: &ObjectId) -> Result<Self, WorkspaceError> {
        Self::told(git, from, &["diff-index", "--cached", from.as_str()])
    }

    fn told(git: &Git, from: &ObjectId, args: &[&str]) -> Result<Self, WorkspaceError> {
        let (command, more) = args.split_at(1);
        let out = git.run(&[command, &["-z", "--no-renames", "--ignore-submodules=none"], more].concat())?;
        let mut records = records(&out);
        let mut pairs = Vec::new();
        while let Some(head) = records.next() {
            // `:OLDMODE MODE OLDBLOB BLOB LETTER`, and the path as a record of its own.
            let pair = (|| {
                let mut words = str::from_utf8(head).ok()?.strip_prefix(':')?.split(' ');
                let (old_mode, mode, old_blob, blob) = (words.next()?, words.next()?, words.next()?, words.next()?);
                let content = |mode: &str, blob: &str| Content { mode: mode.into(), blob: blob.into() };
                let (was, now) = (content(old_mode, old_blob), content(mode, blob));
                let pair = match words.next()? {
                    "A" => (None, Some(now)),
                    "D" => (Some(was), None),
                    "M" | "T" => (Some(was), Some(now)),
                    _ => return None,
                };
                Some((quote(records.next()?), pair))
            })();
            let unexpected =
                || GitError::Unexpected { command: command.concat(), what: String::from_utf8_lossy(head).into_owned() };
            pairs.push(pair.ok_or_else(unexpected)?);
        }
        Ok(Self::known(from, pairs))
    }

    /// What differs after a further step, which began where these end.
    #[must_use]
    pub fn then(mut self, step: &Self) -> Self {
        for (path, (was, now)) in &step.paths {
            let first = self.paths.remove(path).map_or_else(|| was.clone(), |(first, _)| first);
            if first != *now {
                self.paths.insert(path.clone(), (first, now.clone()));
            }
        }
        self
    }

    /// The same as changes.
    pub fn changes(&self) -> Vec<Change> {
        self.paths.iter().filter_map(|(path, pair)| change(path, pair)).collect()
    }

    /// The entries of the later tree by those of the earlier one.
    pub fn applied(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        if self.paths.is_empty() {
            return entries;
        }
        entries.retain(|entry| !self.paths.contains_key(&entry.path));
        entries.extend(self.paths.iter().filter_map(|(path, (_, now))| {
            let Content { mode, blob } = now.clone()?;
            Some(Entry { path: path.clone(), mode, blob })
        }));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        entries
    }

    /// Whether a submodule is among what differs, then or now.
    pub fn touch_submodules(&self) -> bool {
        self.with_submodules().next().is_some()
    }

    /// The paths that are a submodule before or now.
    pub fn with_submodules(&self) -> impl Iterator<Item = &Name> {
        self.paths.iter().filter(|(_, (was, now))| is_submodule(was) || is_submodule(now)).map(|(path, _)| path)
    }

    /// The submodules of the earlier tree that differ, and whether something else comes where they are, or below.
    pub fn submodules(&self) -> impl Iterator<Item = (&Name, bool)> {
        let differ = self.paths.iter().filter(|(_, (was, _))| is_submodule(was));
        differ.map(|(path, (_, now))| (path, if now.is_some() { !is_submodule(now) } else { self.comes_below(path) }))
    }

    fn comes_below(&self, path: &Name) -> bool {
        let folder = [&*unquote(path), b"/"].concat();
        self.paths.iter().any(|(other, (_, now))| now.is_some() && unquote(other).starts_with(&folder))
    }
}

/// What two lists of entries have at each path that is not the same in both.
fn pairs<'a>(before: &'a [Entry], after: &'a [Entry]) -> BTreeMap<&'a Name, Pair> {
    let mut pairs: BTreeMap<&Name, Pair> = BTreeMap::new();
    let was: HashMap<&Name, &Entry> = before.iter().map(|entry| (&entry.path, entry)).collect();
    let mut same = HashSet::new();
    for entry in after {
        match was.get(&entry.path) {
            Some(known) if *known == entry => drop(same.insert(&entry.path)),
            known => drop(pairs.insert(&entry.path, (known.map(|known| Content::of(known)), Some(Content::of(entry))))),
        }
    }
    for entry in before.iter().filter(|entry| !same.contains(&entry.path)) {
        pairs.entry(&entry.path).or_insert_with(|| (Some(Content::of(entry)), None));
    }
    pairs
}

/// What differs between two lists of entries, by path.
pub(super) fn between(before: &[Entry], after: &[Entry]) -> Vec<Change> {
    pairs(before, after).into_iter().filter_map(|(path, pair)| change(path, &pair)).collect()
}

/// What a path has before and after, as a change; none where it has nothing.
fn change(path: &Name, pair: &Pair) -> Option<Change> {
    let (kind, content) = match pair {
        (None, Some(now)) => (ChangeKind::Created, now),
        (Some(was), None) => (ChangeKind::Deleted, was),
        (_, Some(now)) => (ChangeKind::Modified, now),
        (None, None) => return None,
    };
    let (was, now) = (pair.0.as_ref().map(Content::short), pair.1.as_ref().map(Content::short));
    Some(Change { path: path.clone(), kind, mode: content.mode.clone(), was, now })
}

fn is_submodule(content: &Option<Content>) -> bool {
    content.as_ref().is_some_and(|content| &*content.mode == SUBMODULE)
}
