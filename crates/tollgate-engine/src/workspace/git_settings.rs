//! How the user's own git takes their files, read from their configuration as plain values.
//!
//! Line endings and file modes decide what git calls a change: seen with other settings, a checkout that its owner calls clean is
//! not. Filters are programs: which are configured is read, and none is started.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tollgate_core::Name;

use super::conversions::CONVERTING;
use crate::git::{Git, GitError, records};
use crate::process::End;

/// What is read: values that start nothing, the names of filters, and whether a remote is to have what is not here.
const WANTED: &str = r"^(core\.(autocrlf|eol|filemode|symlinks)|filter\..*\.(clean|process)|extensions\.partialclone|remote\..*\.promisor)$";

/// What names other files of configuration, and where hooks lie.
const NAMING: &str = r"^(core\.hookspath|include\.path|includeif\..*\.path)$";

/// The most files that are asked for such names, and how much of each is looked at first.
const NAMING_FILES_MAX: usize = 1024;
const NAMING_BYTES_MAX: u64 = 1024 * 1024;

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
        let mut settings = Self::default();
        for (name, value) in values(&Git::with_dir(git_dir)?, WANTED) {
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

impl Settings {
    /// What of it converts line endings, as a run is pinned to it.
    pub fn conversions(&self) -> Vec<Name> {
        let value = |name: &str| {
            let found = self.plain.iter().find_map(|setting| setting.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or_default().to_ascii_lowercase()
        };
        let (autocrlf, eol) = (value("core.autocrlf"), value("core.eol"));
        // Any number but zero says yes.
        let is_yes =
            matches!(&*autocrlf, "true" | "yes" | "on") || autocrlf.parse().is_ok_and(|number: i64| number != 0);
        let autocrlf = if is_yes { "true" } else { &*autocrlf };
        let all = [format!("core.autocrlf={autocrlf}"), format!("core.eol={eol}")];
        all.into_iter().filter(|setting| CONVERTING.contains(&&**setting)).map(Name::from).collect()
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

/// What files of configuration name, and those that they name in turn: each condition counts as if it held.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    /// Folders of hooks, as they are written.
    pub hooks: Vec<PathBuf>,
    /// Files of configuration, the first ones too.
    pub files: BTreeSet<PathBuf>,
}

impl Naming {
    /// By the system's configuration and the user's.
    pub fn of_user(git: &Git) -> Self {
        let mut found = Self::default();
        let open = found.take(git, &["--system".into()]);
        found.follow(git, [user_files(), open].concat());
        found
    }

    /// By these files.
    pub fn of(git: &Git, files: Vec<PathBuf>) -> Self {
        let mut found = Self::default();
        found.follow(git, files);
        found
    }

    fn follow(&mut self, git: &Git, mut open: Vec<PathBuf>) {
        let mut read = BTreeSet::new();
        while let Some(file) = open.pop() {
            // One file may have many names, but for those that lead nowhere each is read once.
            let real = file.canonicalize();
            if real.is_ok_and(|real| read.len() < NAMING_FILES_MAX && read.insert(real)) && may_name(&file) {
                open.extend(self.take(git, &["--file".into(), file.clone().into()]));
            }
            self.files.insert(file);
        }
    }

    /// Takes the hooks that one place names; the files that it names are handed on.
    fn take(&mut self, git: &Git, place: &[OsString]) -> Vec<PathBuf> {
        let out = ask(git, place, &["--no-includes", "--show-origin", "--type=path"], NAMING);
        let fields: Vec<&[u8]> = out.split(|byte| *byte == 0).collect();
        let mut files = Vec::new();
        for pair in fields.chunks_exact(2) {
            let (Some(origin), Some(at)) = (pair[0].strip_prefix(b"file:"), pair[1].iter().position(|b| *b == b'\n'))
            else {
                continue;
            };
            let (name, value) = pair[1].split_at(at);
            let value = Path::new(OsStr::from_bytes(&value[1..]));
            match name {
                b"core.hookspath" => self.hooks.push(value.to_owned()),
                // Looked up from the file that names it.
                _ => files.extend(Path::new(OsStr::from_bytes(origin)).parent().map(|from| from.join(value))),
            }
        }
        files
    }
}

/// Whether a file of configuration may name anything: to ask git costs more than a look.
fn may_name(file: &Path) -> bool {
    let mut text = Vec::new();
    // Nobody waits at a pipe.
    let opened = file.is_file().then(|| std::fs::File::open(file).ok()).flatten();
    let read = opened.is_some_and(|file| file.take(NAMING_BYTES_MAX).read_to_end(&mut text).is_ok());
    read && (text.len() as u64 == NAMING_BYTES_MAX || text.windows(4).any(|word| word.eq_ignore_ascii_case(b"path")))
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
    args.extend(["-z"].into_iter().chain(how.iter().copied()).map(OsStr::new));
    args.extend(["--get-regexp", names].map(OsStr::new));
    git.env("GIT_CONFIG_NOSYSTEM", "0").run(&args).unwrap_or_default()
}

/// What holds in a git folder of the names that match: the value of the strongest place.
pub(super) fn values(git: &Git, names: &str) -> BTreeMap<String, String> {
    if let Some(found) = values_at_once(git, names) {
        return found;
    }
    let mut found = BTreeMap::new();
    for place in places() {
        found.extend(records(&ask(git, &place, &["--includes"], names)).filter_map(value));
    }
    found
}

/// The same with one process; none where the user has two files, of which git is told one, or where one place cannot be read.
fn values_at_once(git: &Git, names: &str) -> Option<BTreeMap<String, String>> {
    let files: Vec<PathBuf> = user_files().into_iter().filter(|file| file.is_file()).collect();
    let git = match files.as_slice() {
        [] => git.clone(),
        [file] => git.env("GIT_CONFIG_GLOBAL", file),
        [_, ..] => return None,
    };
    let args = ["config", "-z", "--show-scope", "--includes", "--get-regexp", names];
    let printed = git.env("GIT_CONFIG_NOSYSTEM", "0").call(&args, Vec::new()).ok()?;
    // It exits with 1 where nothing matches.
    matches!(printed.end, End::Exited(0 | 1)).then_some(())?;
    let fields: Vec<&[u8]> = records(&printed.out).collect();
    // What we told git ourselves is no configuration of the user's.
    let theirs = fields.chunks_exact(2).filter(|pair| pair[0] != b"command");
    Some(theirs.filter_map(|pair| value(pair[1])).collect())
}

fn value(record: &[u8]) -> Option<(String, String)> {
    let text = str::from_utf8(record).ok()?;
    // A name without a value says yes.
    let (name, value) = text.split_once('\n').unwrap_or((text, "true"));
    Some((name.to_owned(), value.to_owned()))
}
