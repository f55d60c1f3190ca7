//! Git's own conversions between blobs and files: line endings, encodings and `$Id$`. None of them starts a program.
//!
//! Files are written as `git checkout` writes them. What was written is recorded as a tree of its own, so that a file counts as
//! changed when its bytes changed, and only then git's rules decide what its blob is.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;
use tollgate_core::run::data::{CheckoutRules, Filtered};
use tollgate_core::scope::Entry;

use super::delivery_checks::by_filter;
use super::files::write_whole;
use super::git_folder::{GitFolder, Kind, copy_index};
use super::measurement::{Measured, SUBMODULE, Status, update};
use super::{Repository, Workspace, WorkspaceError, at, engine_git};
use crate::git::{Git, GitError, ObjectId, quote, unquote};

/// The most bytes of `info/attributes` that a run is pinned to.
const ATTRIBUTES_BYTES_MAX: u64 = 64 * 1024;
/// How many files with a filter the first event names.
const FILTERED_SHOWN_MAX: usize = 20;
/// How many paths git is asked about at once, and how many one command line is given.
const ASKED_MAX: usize = 50_000;
const NAMED_MAX: usize = 500;
const ATTRIBUTES: &str = ".gitattributes";
/// The filter of Git LFS, whose pointers are what is worked on.
const LFS: &str = "lfs";
/// The settings that convert something, as they are pinned.
pub(super) const CONVERTING: [&str; 3] = ["core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf"];
const EXECUTABLE: u32 = 0o100;
/// The versions of an index file that hold every name whole.
const WHOLE_NAMES: [u8; 2] = [2, 3];

/// What a work tree was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// The tree that was checked out.
    pub start: ObjectId,
    /// The tree of the bytes that were written for it: another one only where git converted a file.
    pub bytes: ObjectId,
}

impl Written {
    /// A tree that was written byte for byte.
    pub fn exactly(tree: &ObjectId) -> Self {
        Self { start: tree.clone(), bytes: tree.clone() }
    }

    fn read(text: &str) -> Option<Self> {
        let (start, bytes) = text.trim_end().split_once(' ')?;
        Some(Self { start: ObjectId::parse(start)?, bytes: ObjectId::parse(bytes)? })
    }
}

/// Whether a path, quoted or not, may be a file of attributes.
fn is_attributes(path: &[u8]) -> bool {
    path.strip_suffix(b"\"").unwrap_or(path).ends_with(ATTRIBUTES.as_bytes())
}

/// Whether rules may convert a file of a tree that has no attributes.
fn converts(rules: &CheckoutRules) -> bool {
    !rules.settings.is_empty() || !rules.attributes.is_empty()
}

/// The settings of rules; another one that somebody wrote down has no effect.
pub(super) fn pinned(rules: &CheckoutRules) -> impl Iterator<Item = &str> {
    rules.settings.iter().map(|setting| &**setting).filter(|setting| CONVERTING.contains(setting))
}

/// The same for a git that converts as the rules say.
pub(super) fn settings(rules: Option<&CheckoutRules>) -> Vec<String> {
    // Without warnings of what it will convert the next time.
    rules.into_iter().flat_map(pinned).chain(["core.safecrlf=false"]).map(str::to_owned).collect()
}

/// What git says of attributes, a path, a name and a value at a time. No driver is started.
pub(super) fn attributes_of<'p>(
    git: &Git,
    names: &[&str],
    paths: impl Iterator<Item = &'p [u8]>,
    mut found: impl FnMut([&[u8]; 3]),
) -> Result<(), GitError> {
    let args = [&["check-attr", "-z", "--stdin"], names].concat();
    let paths: Vec<&[u8]> = paths.collect();
    for some in paths.chunks(ASKED_MAX) {
        let asked = some.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
        let out = git.feed(&args, asked)?;
        let fields: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
        fields.chunks_exact(3).for_each(|field| found([field[0], field[1], field[2]]));
    }
    Ok(())
}

impl Measured {
    /// The files of attributes that changed.
    pub fn attributes(&self) -> impl Iterator<Item = &Name> {
        let is_one =
            |path: &&Name| Path::new(OsStr::from_bytes(&unquote(path))).file_name() == Some(ATTRIBUTES.as_ref());
        self.changes.iter().map(|change| &change.path).filter(is_one)
    }
}

impl Repository {
    /// How its owner's git converts files, as far as it starts nothing.
    pub(super) fn checkout_rules(&self) -> Result<CheckoutRules, WorkspaceError> {
        let path = self.shared.common.join("info/attributes");
        let mut text = Vec::new();
        match std::fs::File::open(&path) {
            Ok(file) => drop(at(&path, file.take(ATTRIBUTES_BYTES_MAX + 1).read_to_end(&mut text))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return at(&path, Err(error)),
        }
        let attributes = String::from_utf8(text).ok().filter(|text| text.len() as u64 <= ATTRIBUTES_BYTES_MAX);
        let attributes = attributes.ok_or(WorkspaceError::Attributes { path, limit: ATTRIBUTES_BYTES_MAX })?;
        Ok(CheckoutRules { settings: self.settings.conversions(), attributes, filtered: Filtered::default() })
    }
}

impl Workspace {
    /// The rules that the run is pinned to, with the files among these that are not as a checkout has them.
    pub fn pinned_checkout(&self, entries: &[Entry]) -> Result<Option<CheckoutRules>, WorkspaceError> {
        let Some(rules) = &self.checkout else { return Ok(None) };
        let filtered = filtered(&self.filters(&self.base.tree, entries)?);
        Ok(Some(CheckoutRules { filtered, ..rules.clone() }))
    }

    /// The files of a tree that are not as a checkout has them.
    pub fn not_as_checked_out(&self, tree: &ObjectId) -> Result<Filtered, WorkspaceError> {
        Ok(filtered(&self.filters(tree, &self.list(tree)?)?))
    }

    /// Refuses a tree whose checkout would write one of these files by a filter that the user configured.
    pub(super) fn needs_no_filter(
        &self,
        tree: &ObjectId,
        changed: &[Name],
        repository: &Repository,
    ) -> Result<(), WorkspaceError> {
        let filters = self.filters(tree, &self.list(tree)?)?;
        let wanted: HashSet<&Name> = changed.iter().collect();
        let mut written =
            filters.iter().filter(|(path, filter)| wanted.contains(path) && repository.has_filter(filter));
        written.next().map_or(Ok(()), |(path, filter)| Err(by_filter(path, filter)))
    }

    /// The files of a tree that have a filter, by the attributes of that tree. No filter is started.
    fn filters(&self, tree: &ObjectId, entries: &[Entry]) -> Result<Vec<(Name, String)>, WorkspaceError> {
        let Some(rules) = self.checkout.as_ref().filter(|_| self.may_convert(entries, &[])) else {
            return Ok(Vec::new());
        };
        let objects = self.folder.objects();
        let place = self.folder.path().join("asking");
        let folder = GitFolder::create(&place, &self.base.commit, &[&objects], &self.shared, Kind::Asking(rules))?;
        let index = folder.index(&std::process::id().to_string());
        let git = engine_git(folder.path(), self.run)?.on(folder.path(), &index);
        let (paths, mut found) = (plain_files(entries), Vec::new());
        let asked = git.run(&["read-tree", tree.as_str()]).and_then(|_| {
            attributes_of(&git, &["--cached", "filter"], paths.iter().map(Vec::as_slice), |[path, _, filter]| {
                let is_none = ["unspecified", "unset", "set"].iter().any(|none| none.as_bytes() == filter);
                found.extend((!is_none).then(|| (quote(path), String::from_utf8_lossy(filter).into_owned())));
            })
        });
        std::fs::remove_file(index).ok();
        asked?;
        Ok(found)
    }

    /// Where it is recorded what a work tree was made of.
    pub(super) fn record(&self, place: &Path) -> PathBuf {
        self.run_folder().join("written").join(place.file_name().unwrap_or_default())
    }

    /// Records what the tree that is put at a place was made of. It is there before the tree is.
    pub(super) fn record_written(&self, place: &Path, written: &Written) -> Result<(), WorkspaceError> {
        match self.checkout {
            Some(_) => write_whole(&self.record(place), format!("{} {}\n", written.start, written.bytes).as_bytes()),
            None => Ok(()),
        }
    }

    /// What a work tree was made of; `base`, byte for byte, where nothing is recorded.
    pub(super) fn written(&self, place: &Path, base: &ObjectId) -> Written {
        let recorded = self.checkout.as_ref().and_then(|_| std::fs::read_to_string(self.record(place)).ok());
        // It may have been collected with the private git folder.
        let there = |written: &Written| written.bytes == written.start || self.has(&written.bytes);
        recorded.and_then(|text| Written::read(&text)).filter(there).unwrap_or_else(|| Written::exactly(base))
    }

    /// Whether git may convert anything in a work tree with these files.
    pub(super) fn may_convert(&self, entries: &[Entry], others: &[&[u8]]) -> bool {
        let mut paths = entries.iter().map(|entry| entry.path.as_bytes()).chain(others.iter().copied());
        self.checkout.as_ref().is_some_and(|rules| converts(rules) || paths.any(is_attributes))
    }

    /// A git that converts as the run's rules say, with the objects of the private git folder.
    fn converting(&self, rules: &CheckoutRules) -> Result<Git, WorkspaceError> {
        let path = self.folder.path().join("converting");
        let (objects, kind) = (self.folder.objects(), Kind::Converting(rules));
        let folder = GitFolder::create(&path, &self.base.commit, &[&objects], &self.shared, kind)?;
        let git = engine_git(folder.path(), self.run)?.env("GIT_OBJECT_DIRECTORY", &objects);
        Ok(git.with(&settings(Some(rules))))
    }

    /// Writes the index of what was just written from a tree to `to`, where it is to be measured by; answers what was written. `own` is
    /// the git that wrote it, with its index.
    pub(super) fn index_written(
        &self,
        own: &Git,
        (root, index): (&Path, &Path),
        tree: &ObjectId,
        to: &Path,
    ) -> Result<Written, WorkspaceError> {
        copy_index(to, index)?;
        let Some(rules) = &self.checkout else { return Ok(Written::exactly(tree)) };
        if !converts(rules) && !names_attributes(&at(index, std::fs::read(index))?) {
            return Ok(Written::exactly(tree));
        }
        let converted = converted(own, rules, &self.list(tree)?)?;
        if converted.is_empty() {
            return Ok(Written::exactly(tree));
        }
        let exact = self.git.on(root, to);
        // Taken out first: what it knows of them is what git converted them from.
        update(&exact, &["update-index", "--force-remove", "-z", "--stdin"], &converted)?;
        update(&exact, &["update-index", "--add", "-z", "--stdin"], &converted)?;
        Ok(Written { start: tree.clone(), bytes: exact.id(&["write-tree"])? })
    }

    /// Git with an index of what a work tree was made of, to take in what changed as `git add` does; none where nothing is converted.
    pub(super) fn taking_in(
        &self,
        root: &Path,
        index: &Path,
        written: &Written,
        entries: &[Entry],
        status: &mut Status,
    ) -> Result<Option<Git>, WorkspaceError> {
        let others: Vec<&[u8]> = [&status.present, &status.ignored].into_iter().flatten().map(Vec::as_slice).collect();
        let Some(rules) = self.checkout.as_ref().filter(|_| self.may_convert(entries, &others)) else {
            return Ok(None);
        };
        let git = self.converting(rules)?.on(root, index);
        git.run(&["read-tree", written.start.as_str()])?;
        let modes = self.only_modes(root, written, entries, status)?;
        if !modes.is_empty() {
            git.feed(&["update-index", "-z", "--index-info"], modes)?;
        }
        Ok(Some(git))
    }

    /// Takes the files out of a status of which nothing changed but the mode; answers them for an index, with the blobs that they had.
    fn only_modes(
        &self,
        root: &Path,
        written: &Written,
        entries: &[Entry],
        status: &mut Status,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let present: HashSet<Name> = status.present.iter().map(|path| quote(path)).collect();
        let other = |entry: &Entry| {
            let path = OsString::from_vec(unquote(&entry.path).into_owned());
            let meta = root.join(&path).symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
            let mode = if meta.permissions().mode() & EXECUTABLE == 0 { "100644" } else { "100755" };
            (entry.mode.starts_with("100") && &*entry.mode != mode).then(|| (path, mode, entry.clone()))
        };
        let listed = entries.iter().filter(|entry| present.contains(&entry.path));
        let other: Vec<(OsString, &str, Entry)> = listed.filter_map(other).collect();
        if other.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.list(&written.bytes)?;
        let bytes = if written.bytes == written.start { entries } else { &listed };
        let bytes: HashMap<&Name, &Name> = bytes.iter().map(|entry| (&entry.path, &entry.blob)).collect();
        let (mut same, mut lines) = (HashSet::new(), Vec::new());
        for some in other.chunks(NAMED_MAX) {
            let names = some.iter().map(|(path, ..)| path.clone());
            let args = ["hash-object", "--no-filters", "--"].map(OsString::from).into_iter().chain(names);
            let ids = self.git.on(root, &self.folder.index("none")).run(&args.collect::<Vec<_>>())?;
            for ((path, mode, entry), id) in some.iter().zip(String::from_utf8_lossy(&ids).lines()) {
                if bytes.get(&entry.path).is_some_and(|known| ***known == *id) {
                    let path = path.as_bytes().to_vec();
                    lines.extend([format!("{mode} {}\t", entry.blob).as_bytes(), &path, &[0]].concat());
                    same.insert(path);
                }
            }
        }
        status.present.retain(|path| !same.contains(path));
        Ok(lines)
    }
}

/// What is told of files with filters. Git LFS does not count: its pointers are what a run works on.
fn filtered(files: &[(Name, String)]) -> Filtered {
    let paths = files.iter().filter(|(_, filter)| filter != LFS).map(|(path, _)| path);
    Filtered { count: paths.clone().count() as u64, paths: paths.take(FILTERED_SHOWN_MAX).cloned().collect() }
}

/// The files that git may write otherwise than their blobs are.
fn converted(own: &Git, rules: &CheckoutRules, entries: &[Entry]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let crlf = rules.settings.iter().any(|setting| matches!(&**setting, "core.autocrlf=true" | "core.eol=crlf"));
    let (paths, mut found) = (plain_files(entries), Vec::<Vec<u8>>::new());
    let names = ["--cached", "text", "eol", "ident", "working-tree-encoding"];
    attributes_of(own, &names, paths.iter().map(Vec::as_slice), |[path, name, value]| {
        let converts = match name {
            b"text" => crlf && value != b"unset",
            b"eol" => value == b"crlf",
            b"ident" => value == b"set",
            _ => !matches!(value, b"unspecified" | b"unset"),
        };
        if converts && found.last().is_none_or(|last| last != path) {
            found.push(path.to_vec());
        }
    })?;
    Ok(found)
}

/// The paths of a tree that are no submodules, as git names them.
fn plain_files(entries: &[Entry]) -> Vec<Vec<u8>> {
    entries.iter().filter(|entry| &*entry.mode != SUBMODULE).map(|entry| unquote(&entry.path).into_owned()).collect()
}

/// Whether an index may have a file of attributes.
fn names_attributes(index: &[u8]) -> bool {
    let whole = matches!(index, [b'D', b'I', b'R', b'C', 0, 0, 0, version, ..] if WHOLE_NAMES.contains(version));
    !whole || memchr::memmem::find(index, ATTRIBUTES.as_bytes()).is_some()
}
