//! What changed between two commits, or a commit and the checkout: the paths by one call of git, the lines by one more.
//!
//! Git works in a folder of our own that borrows the repository's objects: no attribute, filter, driver or setting of the
//! repository has a say in what counts as a change.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_contract::scope::change::{Change, Content, Line, Mode, Moved, Sign};
use tollgate_core::Name;
use tollgate_core::scope::Entry;

use super::git_folder::{GitFolder, Kind};
use super::locks::Claim;
use super::measurement::PATHS_MAX;
use super::repository::Repository;
use super::unfinished_starts::scratch;
use super::{Workspace, WorkspaceError};
use crate::git::{Git, GitError, ObjectId, quote, records};

/// A larger file is not read: git calls it binary.
const FILE_SETTING: &str = "core.bigFileThreshold=1m";
/// How many new and removed files are compared with each other for renames; equal ones are found however many there are.
const RENAMES: &str = "-l400";
/// How many lines around a change are shown: all of a file, since a string or comment may begin anywhere in it.
const AROUND: &str = "-U2000000";
/// How many submodules are looked into.
const SUBMODULES_MAX: usize = 1_000;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where a change ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side<'a> {
    /// At a commit.
    Commit(&'a str),
    /// At the checkout as it is: staged, unstaged and untracked files, without ignored ones.
    Checkout,
}

/// One entry of git's list of changes.
#[derive(Debug)]
struct Raw {
    modes: (Mode, Mode),
    blobs: (Name, Name),
    path: Name,
    /// The old path of a rename.
    from: Option<Name>,
}

/// What differs between two trees, by its paths.
#[derive(Debug)]
pub struct Between {
    raw: Vec<Raw>,
    trees: (ObjectId, ObjectId),
    git: Git,
}

/// A change of the user's repository.
#[derive(Debug)]
pub struct Comparison {
    /// The commit that the change is measured from: the last one that base and head have in common.
    pub base: ObjectId,
    /// The commit it ends at; none for the checkout.
    pub head: Option<ObjectId>,
    /// Files that were asked to be left out of the checkout, and were.
    pub left_out: Vec<Name>,
    /// What differs.
    pub between: Between,
    /// The folder that git works in goes with this.
    _claim: Claim,
}

/// The lines of a change, as git printed them.
#[derive(Debug, Default)]
pub struct Patch {
    printed: Vec<u8>,
    /// Whether there was more than can be read: then nothing was.
    pub too_much: bool,
}

/// What a patch says of two blobs.
#[derive(Debug)]
enum Text<'a> {
    Lines(Vec<Line<'a>>),
    Binary,
}

/// The lines of a change by the two blobs that they lie between.
#[derive(Debug, Default)]
pub struct Texts<'a>(HashMap<(&'a str, &'a str), Text<'a>>);

impl Repository {
    /// Compares the commit that `base` and `head` have in common with `head`. Files in `apart` that the checkout has and git
    /// does not know are left out: what the caller itself was given.
    pub fn compare(
        mut self,
        base: &str,
        head: Side<'_>,
        apart: &[PathBuf],
        state: &Path,
    ) -> Result<Comparison, WorkspaceError> {
        let user = self.git()?;
        let named = |name: &str| {
            let asked = format!("{name}^{{commit}}");
            let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &asked];
            user.id(&args).map_err(|_| WorkspaceError::NoRevision { name: name.to_owned(), top: self.top.clone() })
        };
        let from = named(base)?;
        let (to, called) = match head {
            Side::Commit(name) => (named(name)?, name),
            Side::Checkout => (self.head.clone(), "HEAD"),
        };
        let common = user.call(&["merge-base", from.as_str(), to.as_str()], Vec::new())?;
        let common = String::from_utf8_lossy(&common.out).lines().next().and_then(ObjectId::parse);
        let common =
            common.ok_or_else(|| WorkspaceError::NoCommonCommit { base: base.to_owned(), head: called.to_owned() })?;
        let tree = |commit: &ObjectId| user.id(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")]);
        let before = tree(&common)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let claim = Claim::make(&scratch(state).join(format!("compare-{}-{number}", std::process::id())))?;
        let folder = claim.path().join("git");
        let folder = GitFolder::create(&folder, &to, &[&self.shared.objects], &self.shared, Kind::FileStats)?;
        let git = Git::with_dir(folder.path())?;
        let (after, head, left_out) = match head {
            Side::Commit(_) => (tree(&to)?, Some(to), Vec::new()),
            Side::Checkout => {
                self.read_settings()?;
                let unknown = self.unknown(&user, apart)?;
                let left_out = unknown.iter().map(|path| quote(path)).collect();
                (self.checkout_tree(&git, &folder, &unknown)?, None, left_out)
            }
        };
        let between = Between::of(&git, &before, &after)?;
        if head.is_none() {
            self.holds_what_is_staged(&user, &before, &between.raw)?;
        }
        Ok(Comparison { base: common, head, left_out, between, _claim: claim })
    }

    /// Refuses a checkout that has a path as it was and an index that has it otherwise: a commit would hold what was not looked at.
    fn holds_what_is_staged(&self, user: &Git, before: &ObjectId, raw: &[Raw]) -> Result<(), WorkspaceError> {
        let args = ["diff-index", "--cached", "-z", "--name-only", "--ignore-submodules", before.as_str()];
        let staged = user.on(&self.top, self.index_file()).run(&args)?;
        let seen: HashSet<&Name> = raw.iter().flat_map(|raw| raw.from.iter().chain([&raw.path])).collect();
        let unseen = records(&staged).map(quote).filter(|path| !seen.contains(path));
        self.not_taken(unseen.map(|path| format!("{path} is staged otherwise than the checkout has it")))
    }

    /// Those of some files that lie in the checkout and in no index, as git names them.
    fn unknown(&self, user: &Git, files: &[PathBuf]) -> Result<Vec<Vec<u8>>, WorkspaceError> {
        let top = self.top.canonicalize().unwrap_or_else(|_| self.top.clone());
        let index = self.index_file();
        let mut unknown = Vec::new();
        for file in files.iter().filter_map(|file| file.canonicalize().ok()) {
            let Ok(inside) = file.strip_prefix(&top) else { continue };
            let args = [OsStr::new("ls-files"), OsStr::new("-z"), OsStr::new("--"), inside.as_os_str()];
            if user.on(&self.top, index).run(&args)?.is_empty() {
                unknown.push(inside.as_os_str().as_bytes().to_vec());
            }
        }
        Ok(unknown)
    }

    /// Takes in what its owner's git is told not to look at: a file that is assumed to be unchanged may have changed. One that a sparse
    /// checkout leaves out and that is not there stays as it is.
    fn uncover(&self, checkout: &Git) -> Result<(), WorkspaceError> {
        let listed = checkout.run(&["ls-files", "-z", "--stage", "-v"])?;
        let is_there = |path: &[u8]| self.top.join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        let hidden = records(&listed).filter_map(covered);
        let hidden = hidden.filter(|(sparse, path)| !sparse || is_there(path)).map(|(_, path)| path);
        let paths: Vec<u8> = hidden.flat_map(|path| path.iter().copied().chain([0])).collect();
        if paths.is_empty() {
            return Ok(());
        }
        for flags in [&["--no-assume-unchanged"][..], &["--no-skip-worktree"], &["--add", "--remove"]] {
            checkout.feed(&[&["update-index"], flags, &["-z", "--stdin"]].concat(), paths.clone())?;
        }
        Ok(())
    }

    /// The tree of the checkout, submodules and other repositories inside of it by the commit that each stands at.
    fn checkout_tree(&self, git: &Git, folder: &GitFolder, left_out: &[Vec<u8>]) -> Result<ObjectId, WorkspaceError> {
        let (checkout, status, _) = self.stage(git, folder, true)?;
        self.uncover(&checkout)?;
        if !left_out.is_empty() {
            let paths = left_out.iter().flat_map(|path| path.iter().copied().chain([0])).collect();
            checkout.feed(&["update-index", "--force-remove", "-z", "--stdin"], paths)?;
        }
        let mut links = String::new().into_bytes();
        let mut replaced = Vec::new();
        let nested = status.nested().iter().map(|path| (path.strip_suffix(b"/").unwrap_or(path), None));
        let listed = checkout.run(&["ls-files", "-z", "--stage", "-t"])?;
        let submodules = records(&listed).filter_map(submodule);
        for (count, (path, known)) in submodules.chain(nested).enumerate() {
            if count >= SUBMODULES_MAX {
                return Err(WorkspaceError::TooMany { count, limit: SUBMODULES_MAX });
            }
            let place = self.top.join(OsStr::from_bytes(path));
            let now = match place.symlink_metadata() {
                Ok(meta) if !meta.is_dir() => {
                    replaced.extend(path.iter().copied().chain([0]));
                    continue;
                }
                Ok(_) => commit_of(&place, &self.top)?,
                Err(_) => Some("0".repeat(self.head.as_str().len())),
            };
            match (now, known) {
                (Some(now), known) if known != Some(now.as_str()) => {
                    let mode = if now.starts_with("0000000") { "0" } else { "160000" };
                    links.extend_from_slice(format!("{mode} {now}\t").as_bytes());
                    links.extend(path.iter().copied().chain([0]));
                }
                (None, None) => {
                    let why = format!("{} is a repository without a commit", quote(path));
                    return Err(WorkspaceError::Unmeasurable(why));
                }
                // Unchanged, or a submodule that is not checked out.
                (Some(_) | None, _) => {}
            }
        }
        if !links.is_empty() {
            checkout.feed(&["update-index", "-z", "--index-info"], links)?;
        }
        if !replaced.is_empty() {
            checkout.feed(&["update-index", "--add", "--replace", "-z", "--stdin"], replaced)?;
        }
        Ok(checkout.id(&["write-tree"])?)
    }
}

/// A file of an index that git does not look at, and whether it is one that a sparse checkout leaves out.
fn covered(record: &[u8]) -> Option<(bool, &[u8])> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut head = str::from_utf8(&record[..tab]).ok()?.split(' ');
    let (tag, mode) = (head.next()?, head.next()?);
    let is_covered = tag == "S" || tag.starts_with(|tag: char| tag.is_ascii_lowercase());
    (is_covered && mode != "160000").then_some((tag.eq_ignore_ascii_case("s"), &record[tab + 1..]))
}

/// A submodule of an index and its commit; one that is not checked out on purpose is passed over.
fn submodule(record: &[u8]) -> Option<(&[u8], Option<&str>)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let mut head = str::from_utf8(&record[..tab]).ok()?.split(' ');
    let (tag, mode, commit) = (head.next()?, head.next()?, head.next()?);
    (tag != "S" && mode == "160000").then_some((&record[tab + 1..], Some(commit)))
}

/// The commit that a repository inside the checkout stands at; none when there is no repository, or none with a commit.
fn commit_of(place: &Path, top: &Path) -> Result<Option<String>, WorkspaceError> {
    if place.join(".git").symlink_metadata().is_err() {
        return Ok(None);
    }
    // Never the repository around it.
    let git = Git::discover(place)?.env("GIT_CEILING_DIRECTORIES", place.parent().unwrap_or(top));
    let found = git.id(&["-c", "safe.directory=*", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    Ok(found.ok().map(|commit| commit.as_str().to_owned()))
}

fn list(git: &Git, before: &ObjectId, after: &ObjectId) -> Result<Vec<Raw>, WorkspaceError> {
    let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-M", RENAMES, before.as_str(), after.as_str()];
    let printed = git.run(&args)?;
    let unexpected = |what: &[u8]| GitError::Unexpected {
        command: "diff-tree".to_owned(),
        what: String::from_utf8_lossy(what).into_owned(),
    };
    let mut records = records(&printed);
    let mut found = Vec::new();
    while let Some(record) = records.next() {
        let mut words =
            str::from_utf8(record).ok().and_then(|line| line.strip_prefix(':')).unwrap_or_default().split(' ');
        let fields = (words.next(), words.next(), words.next(), words.next(), words.next());
        let (Some(old), Some(new), Some(from), Some(to), Some(status)) = fields else {
            return Err(unexpected(record).into());
        };
        let first = records.next().ok_or_else(|| unexpected(record))?;
        let second =
            if status.starts_with('R') { Some(records.next().ok_or_else(|| unexpected(record))?) } else { None };
        found.push(Raw {
            modes: (mode(old), mode(new)),
            blobs: (from.into(), to.into()),
            path: quote(second.unwrap_or(first)),
            from: second.map(|_| quote(first)),
        });
        if found.len() > PATHS_MAX {
            return Err(WorkspaceError::TooMany { count: found.len(), limit: PATHS_MAX });
        }
    }
    Ok(found)
}

fn mode(text: &str) -> Mode {
    match text {
        "000000" => Mode::Absent,
        "100755" => Mode::Program,
        "120000" => Mode::Link,
        "160000" => Mode::Submodule,
        _ => Mode::File,
    }
}

impl Workspace {
    /// What differs between two trees of the run.
    pub fn between(&self, from: &ObjectId, to: &ObjectId) -> Result<Between, WorkspaceError> {
        Between::of(&self.git, from, to)
    }
}

impl Between {
    fn of(git: &Git, before: &ObjectId, after: &ObjectId) -> Result<Self, WorkspaceError> {
        let git = git.with(&[FILE_SETTING.to_owned()]);
        Ok(Self { raw: list(&git, before, after)?, trees: (before.clone(), after.clone()), git })
    }

    /// The changed paths; a rename is two.
    pub fn paths(&self) -> impl Iterator<Item = &Name> {
        self.raw.iter().flat_map(|raw| raw.from.iter().chain([&raw.path]))
    }

    /// The files of the tree that the change begins at.
    pub fn files_before(&self) -> Result<Vec<Entry>, WorkspaceError> {
        Ok(self.git.list(&self.trees.0)?)
    }

    /// Reads the lines.
    pub fn read(&self) -> Result<Patch, WorkspaceError> {
        let (before, after) = (self.trees.0.as_str(), self.trees.1.as_str());
        let flags = ["--full-index", "--no-ext-diff", "--no-textconv", "--submodule=short", before, after];
        let args = [&["diff-tree", "-r", "-p", AROUND, "-M", RENAMES][..], &flags].concat();
        match self.git.run(&args) {
            Ok(printed) => Ok(Patch { printed, too_much: false }),
            Err(GitError::TooMuch { .. }) => Ok(Patch { printed: Vec::new(), too_much: true }),
            Err(error) => Err(error.into()),
        }
    }

    /// The change as the scope rules see it; without texts nothing of it counts as read.
    pub fn changes<'a>(&'a self, texts: &'a Texts<'a>) -> Vec<Change<'a>> {
        let mut changes = Vec::with_capacity(self.raw.len());
        for raw in &self.raw {
            let content = if raw.blobs.0 == raw.blobs.1 {
                Content::Same
            } else {
                match texts.0.get(&(&*raw.blobs.0, &*raw.blobs.1)) {
                    None | Some(Text::Binary) => Content::Unread,
                    // Only an empty file has no line.
                    Some(Text::Lines(lines)) if lines.is_empty() => Content::Same,
                    Some(Text::Lines(lines)) => Content::Lines(lines),
                }
            };
            let (before, after) = raw.modes;
            let change =
                |path: &Name, before, after, moved| Change { path: path.clone(), before, after, moved, content };
            match &raw.from {
                None => changes.push(change(&raw.path, before, after, None)),
                Some(from) => {
                    changes.push(change(from, before, Mode::Absent, Some(Moved::To(raw.path.clone()))));
                    changes.push(change(&raw.path, Mode::Absent, after, Some(Moved::From(from.clone()))));
                }
            }
        }
        changes
    }
}

impl Patch {
    /// The lines by blobs. A line begins with its sign, and a hunk says how many there are: nothing in a file can look like
    /// the head of another one.
    pub fn texts(&self) -> Texts<'_> {
        let mut texts = HashMap::new();
        let mut lines = self.printed.split(|byte| *byte == b'\n');
        let mut blobs: Option<(&str, &str)> = None;
        while let Some(line) = lines.next() {
            if line.starts_with(b"diff --git ") {
                blobs = None;
            } else if let Some(ids) = line.strip_prefix(b"index ") {
                blobs = ids_of(ids);
                if let Some(blobs) = blobs {
                    texts.insert(blobs, Text::Lines(Vec::new()));
                }
            } else if line.starts_with(b"Binary files ") {
                if let Some(blobs) = blobs {
                    texts.insert(blobs, Text::Binary);
                }
            } else if let Some((old, new)) = head(line) {
                let read = body(&mut lines, old, new);
                if let Some(Text::Lines(all)) = blobs.and_then(|blobs| texts.get_mut(&blobs)) {
                    all.extend(read);
                }
            }
        }
        Texts(texts)
    }
}

/// `OLD..NEW MODE`.
fn ids_of(line: &[u8]) -> Option<(&str, &str)> {
    let line = str::from_utf8(line).ok()?;
    line.split(' ').next()?.split_once("..")
}

/// `@@ -A,B +C,D @@`: how many lines of each side.
fn head(line: &[u8]) -> Option<(usize, usize)> {
    let rest = line.strip_prefix(b"@@ -")?;
    let end = rest.windows(3).position(|window| window == b" @@")?;
    let (old, new) = str::from_utf8(&rest[..end]).ok()?.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(old)?, count(new)?))
}

fn body<'a>(lines: &mut impl Iterator<Item = &'a [u8]>, mut old: usize, mut new: usize) -> Vec<Line<'a>> {
    let mut found = Vec::new();
    while old > 0 || new > 0 {
        let Some(line) = lines.next() else { break };
        let sign = match line.first() {
            Some(b'-') => Sign::Removed,
            Some(b'+') => Sign::Added,
            // No end of line at the end of the file.
            Some(b'\\') => continue,
            _ => Sign::Kept,
        };
        old = old.saturating_sub(usize::from(sign != Sign::Added));
        new = new.saturating_sub(usize::from(sign != Sign::Removed));
        found.push((sign, String::from_utf8_lossy(line.get(1..).unwrap_or_default())));
    }
    found
}
