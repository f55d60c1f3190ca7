//! How the user's own git takes their files, read from their configuration as plain values.
//!
//! Line endings and file modes decide what git calls a change: seen with other settings, a checkout that its owner calls clean is
//! not. Filters are programs: which are configured is read, and none is started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::{Git, GitError, records};

/// What is read: values that start nothing, the names of filters, and whether a remote is to have what is not here.
const WANTED: &str = r"^(core\.(autocrlf|eol|filemode|symlinks)|filter\..*\.(clean|process)|extensions\.partialclone|remote\..*\.promisor)$";

/// What names other files of configuration, and where hooks lie.
const NAMING: &str = r"^(core\.hookspath|include\.path|includeif\..*\.path)$";

/// What the configuration of a checkout says about its files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Settings {
    /// `name=value`, for those that are set.
    pub plain: Vec<String>,
    /// Filters that a file may be written by.
    pub filters: BTreeSet<String>,
    /// Whether it is a partial clone.
    pub partial: bool,
}

impl Settings {
    /// Reads what holds in a git folder: the system's configuration, then the user's, then the repository's and the checkout's.
    pub fn read(git_dir: &Path) -> Result<Self, GitError> {
        let git = Git::with_dir(git_dir)?;
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for place in places() {
            take(&git, &place, &mut found);
        }
        let mut settings = Self::default();
        for (name, value) in found {
            if name.starts_with("remote.") || name.starts_with("extensions.") {
                settings.partial |= value != "false";
                continue;
            }
            match name.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) {
                Some((filter, _)) => drop(settings.filters.insert(filter.to_owned())),
                None => settings.plain.push(format!("{name}={value}")),
            }
        }
        Ok(settings)
    }
}

/// The folder in which the user keeps what concerns git.
pub(super) fn user_folder() -> PathBuf {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    config.unwrap_or_else(|| home().join(".config")).join("git")
}

fn home() -> PathBuf {
    std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default()
}

/// The user's files of configuration, the stronger one last.
pub(super) fn user_files() -> Vec<PathBuf> {
    match std::env::var_os("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file.into()],
        None => vec![user_folder().join("config"), home().join(".gitconfig")],
    }
}

/// The hooks and the files of configuration that a configuration names.
pub(super) fn named_places(git_dir: &Path, top: &Path) -> Vec<PathBuf> {
    let Ok(git) = Git::with_dir(git_dir) else { return Vec::new() };
    let mut found = Vec::new();
    for place in places() {
        let out = ask(&git, &place, &["--show-origin", "--type=path"], NAMING);
        let fields: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
        for pair in fields.chunks_exact(2) {
            let (Some(origin), Some(at)) = (pair[0].strip_prefix(b"file:"), pair[1].iter().position(|b| *b == b'\n'))
            else {
                continue;
            };
            let (name, value) = pair[1].split_at(at);
            let origin = git_dir.join(OsStr::from_bytes(origin));
            // Hooks are looked up from where they run, a file from the one that names it.
            let from = if name == b"core.hookspath" { top } else { origin.parent().unwrap_or(top) };
            found.push(from.join(OsStr::from_bytes(&value[1..])));
        }
    }
    found
}

/// Where a configuration is read from, the stronger one last.
fn places() -> Vec<Vec<OsString>> {
    let files = user_files().into_iter().filter(|file| file.is_file());
    let mut places = vec![vec!["--system".into()]];
    places.extend(files.map(|file| vec!["--file".into(), file.into_os_string()]));
    places.extend([vec!["--local".into()], vec!["--worktree".into()]]);
    places
}

/// What one place says of these names; a place that is not there says nothing.
fn ask(git: &Git, place: &[OsString], how: &[&str], names: &str) -> Vec<u8> {
    let mut args: Vec<&OsStr> = vec![OsStr::new("config")];
    args.extend(place.iter().map(OsString::as_os_str));
    args.extend(["--includes", "-z"].into_iter().chain(how.iter().copied()).map(OsStr::new));
    args.extend(["--get-regexp", names].map(OsStr::new));
    git.env("GIT_CONFIG_NOSYSTEM", "0").run(&args).unwrap_or_default()
}

/// Takes what one place says.
fn take(git: &Git, place: &[OsString], found: &mut BTreeMap<String, String>) {
    for record in records(&ask(git, place, &[], WANTED)) {
        let Ok(text) = str::from_utf8(record) else { continue };
        // A name without a value says yes.
        let (name, value) = text.split_once('\n').unwrap_or((text, "true"));
        found.insert(name.to_owned(), value.to_owned());
    }
}
