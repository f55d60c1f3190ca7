//! How the user's own git takes their files, read from their configuration as plain values.
//!
//! Line endings and file modes decide what git calls a change: seen with other settings, a checkout that its owner calls clean is
//! not. Filters are programs: which are configured is read, and none is started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::git::{Git, GitError, records};

/// What is read: values that start nothing, the names of filters, and whether a remote is to have what is not here.
const WANTED: &str = r"^(core\.(autocrlf|eol|filemode|symlinks)|filter\..*\.(clean|process)|extensions\.partialclone|remote\..*\.promisor)$";

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
        take(&git.env("GIT_CONFIG_NOSYSTEM", "0"), &["--system".into()], &mut found);
        for file in user_files().into_iter().filter(|file| file.is_file()) {
            take(&git, &["--file".into(), file.into_os_string()], &mut found);
        }
        take(&git, &["--local".into()], &mut found);
        take(&git, &["--worktree".into()], &mut found);
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

/// Takes what one place says; a place that is not there, or says nothing, adds nothing.
fn take(git: &Git, place: &[OsString], found: &mut BTreeMap<String, String>) {
    let mut args: Vec<&OsStr> = vec![OsStr::new("config")];
    args.extend(place.iter().map(OsString::as_os_str));
    args.extend(["--includes", "-z", "--get-regexp", WANTED].map(OsStr::new));
    let Ok(out) = git.run(&args) else { return };
    for record in records(&out) {
        let Ok(text) = str::from_utf8(record) else { continue };
        // A name without a value says yes.
        let (name, value) = text.split_once('\n').unwrap_or((text, "true"));
        found.insert(name.to_owned(), value.to_owned());
    }
}
