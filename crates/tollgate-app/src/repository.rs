//! The repository a command is typed in, seen through git: its root, its last commit, its `.tollgate/` folder.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_engine::git::{Git, GitError, Printed};
pub use tollgate_engine::workers::pinned_files::FOLDER;
use tollgate_engine::workers::pinned_files::PinnedFile;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;

/// The mode of a file that can be started.
const PROGRAM_MODE: &str = "100755";
/// The configuration in it.
pub const CONFIG_PATH: &str = ".tollgate/config.toml";
/// The oldest git that Tollgate works with.
pub const GIT_MIN: (u32, u32) = (2, 39);

const FOLDER_FILES_MAX: usize = 500;
const FOLDER_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A git repository with files.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    mode: String,
    blob: String,
    bytes: u64,
    path: String,
}

/// The `.tollgate/` folder of a commit: what can be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Of every file's mode, path and content.
    pub digest: Digest,
    files: BTreeMap<String, PinnedFile>,
}

impl Folder {
    /// Its files, by path from the repository's root.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Its files, by path from the repository's root, with their content.
    pub fn files(&self) -> impl Iterator<Item = (&str, &PinnedFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// A file, if it is there.
    pub fn file(&self, path: &str) -> Option<&PinnedFile> {
        self.files.get(path)
    }

    /// The text of a file, if it is there.
    pub fn text(&self, path: &str) -> Option<Result<String, Failure>> {
        let file = self.files.get(path)?;
        Some(String::from_utf8(file.bytes.clone()).map_err(|error| files::not_text(path, &error)))
    }
}

impl Repository {
    /// The repository that holds the working directory; none outside of one.
    pub fn find(environment: &Environment) -> Result<Option<Self>, Failure> {
        Self::holding(environment.directory())
    }

    /// The repository that holds a folder; none outside of one.
    pub fn holding(folder: &Path) -> Result<Option<Self>, Failure> {
        let output = git(folder, &["rev-parse", "--show-toplevel"])?;
        if !output.end.success() {
            let outside = output.err.contains("not a git repository");
            if output.err.contains("must be run in a work tree") {
                let message = format!("{} is in a bare repository: it has no checkout to start from", folder.display());
                let hint = "run Tollgate in a clone of it: `git clone PATH`, then `cd` there";
                return Err(Failure::environment(Code::BARE_REPOSITORY, message).hint(hint));
            }
            return if outside { Ok(None) } else { Err(failure(&output, "rev-parse")) };
        }
        let root = String::from_utf8_lossy(&output.out).trim_end_matches('\n').to_owned();
        Ok(Some(Self { root: PathBuf::from(root) }))
    }

    /// The repository that holds the working directory, or the failure that there is none.
    pub fn need(environment: &Environment) -> Result<Self, Failure> {
        Self::find(environment)?.ok_or_else(|| {
            Failure::environment(
                Code::NO_REPOSITORY,
                format!("{} is in no git repository", environment.directory().display()),
            )
            .hint("go to one, or make one with `git init`")
        })
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its last commit; none before the first.
    pub fn head(&self) -> Result<Option<String>, Failure> {
        let output = git(&self.root, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
        Ok(output.end.success().then(|| String::from_utf8_lossy(&output.out).trim().to_owned()))
    }

    /// The paths of the files of the last commit.
    pub fn files(&self) -> Result<Vec<String>, Failure> {
        let entries = self.entries(&["ls-tree", "-r", "-z", "--full-tree", "-l", "HEAD"])?;
        Ok(entries.into_iter().map(|entry| entry.path).collect())
    }

    /// The `.tollgate/` folder of the last commit, never of the working copy; none when it has none.
    pub fn folder(&self) -> Result<Option<Folder>, Failure> {
        let mut entries = match self.entries(&["ls-tree", "-r", "-z", "--full-tree", "-l", "HEAD", "--", FOLDER]) {
            Ok(entries) if entries.is_empty() => return Ok(None),
            Ok(entries) => entries,
            // Before the first commit there is nothing to list.
            Err(_) if self.head()?.is_none() => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let refuse = |message: String| {
            Failure::refused(Code::FOLDER, message).hint("keep only small plain files under .tollgate/")
        };
        if entries.len() > FOLDER_FILES_MAX {
            return Err(refuse(format!("{FOLDER}/ holds {} files, more than {FOLDER_FILES_MAX}", entries.len())));
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let mut files = BTreeMap::new();
        let mut listing = String::new();
        for entry in entries {
            if !entry.mode.starts_with("100") {
                return Err(refuse(format!("{} is a link or a submodule", entry.path)));
            }
            if entry.bytes > FOLDER_FILE_BYTES_MAX {
                return Err(refuse(format!("{} is larger than {} KiB", entry.path, FOLDER_FILE_BYTES_MAX / 1024)));
            }
            let bytes = need(git(&self.root, &["cat-file", "blob", &entry.blob])?, "cat-file")?;
            listing.push_str(&format!("{} {} {}\0", entry.mode, Digest::of(&bytes), entry.path));
            files.insert(entry.path, PinnedFile { bytes, executable: entry.mode == PROGRAM_MODE });
        }
        Ok(Some(Folder { digest: Digest::of(listing.as_bytes()), files }))
    }

    /// Writes a new configuration into its `.tollgate/` folder; answers where. Nothing is written through a link: git would commit the link
    /// alone.
    pub fn write_config(&self, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let (folder, path) = (self.root.join(FOLDER), self.root.join(CONFIG_PATH));
        if let Some(link) = [&folder, &path].into_iter().find(|path| files::is_link(path)) {
            return Err(Failure::refused(Code::FOLDER, format!("{} is a link", link.display()))
                .hint("git would commit the link, not what it leads to: remove it, then `tollgate init`"));
        }
        let taken = |path: &Path, hint: &str| {
            Failure::refused(Code::EXISTS, format!("{} is there already", path.display())).hint(hint)
        };
        match files::make_own_folder(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(taken(&folder, "it has to be a folder: move it away, then `tollgate init`"));
            }
            made => made.map_err(|error| files::cannot_write(&folder, error))?,
        }
        match files::write_new(&path, bytes) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Err(taken(&path, "edit it; `tollgate doctor` says whether it is valid"))
            }
            written => written.map(|()| path.clone()).map_err(|error| files::cannot_write(&path, error)),
        }
    }

    /// The files under `.tollgate/` whose working copy is not what the last commit holds.
    pub fn uncommitted(&self) -> Result<Vec<String>, Failure> {
        let arguments = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", FOLDER];
        let git = self.without_filters()?;
        let listing = need(git.call(&[&SAFE, &arguments[..]].concat(), Vec::new()).map_err(no_git)?, "status")?;
        let listing = String::from_utf8_lossy(&listing);
        Ok(listing.split('\0').filter_map(|entry| entry.get(3..)).map(str::to_owned).collect())
    }

    /// Git with every filter that the repository configures switched off: `git status` starts them to compare files.
    fn without_filters(&self) -> Result<Git, Failure> {
        let names = ["config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process|required)$"];
        // It fails where there are none.
        let listed = git(&self.root, &names)?.out;
        let mut git = Git::discover(&self.root).map_err(no_git)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut count = 0;
        for name in names {
            let value = if name.ends_with(b".required") { "false" } else { "" };
            git = git.env(&format!("GIT_CONFIG_KEY_{count}"), OsStr::from_bytes(name));
            git = git.env(&format!("GIT_CONFIG_VALUE_{count}"), value);
            count += 1;
        }
        Ok(git.env("GIT_CONFIG_COUNT", count.to_string()))
    }

    /// Whether a new file at this path would be seen by git as a change of the checkout.
    pub fn would_see(&self, path: &Path) -> Result<bool, Failure> {
        let path = files::canonical_as_far_as_it_is_there(path);
        let Ok(inside) = path.strip_prefix(&self.root) else { return Ok(false) };
        if inside.starts_with(".git") {
            return Ok(false);
        }
        // The one command that takes no literal paths.
        let git = Git::discover(&self.root).map_err(no_git)?.env("GIT_LITERAL_PATHSPECS", "0");
        let arguments = [SAFE[0], SAFE[1], "check-ignore", "-q", "--", &inside.to_string_lossy()];
        Ok(!git.call(&arguments, Vec::new()).map_err(no_git)?.end.success())
    }

    fn entries(&self, arguments: &[&str]) -> Result<Vec<Entry>, Failure> {
        let listing = need(git(&self.root, arguments)?, "ls-tree")?;
        // A path that is no text cannot be named in a pattern either; its bytes are shown as well as can be.
        let listing = String::from_utf8_lossy(&listing);
        let entry = |line: &str| {
            let (meta, path) = line.split_once('\t')?;
            let mut words = meta.split_ascii_whitespace();
            let (mode, _kind, blob, bytes) = (words.next()?, words.next()?, words.next()?, words.next()?);
            Some(Entry { mode: mode.into(), blob: blob.into(), bytes: bytes.parse().unwrap_or(0), path: path.into() })
        };
        Ok(listing.split('\0').filter_map(entry).collect())
    }
}

/// Whether a folder is the root of a repository.
pub fn is_root(folder: &Path) -> bool {
    files::exists(&folder.join(".git")).unwrap_or(true)
}

/// The version of git, `(major, minor)`.
pub fn git_version(environment: &Environment) -> Result<(u32, u32), Failure> {
    let output = need(git(environment.directory(), &["version"])?, "version")?;
    let text = String::from_utf8_lossy(&output);
    let number = text.split_ascii_whitespace().nth(2).unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => Ok((major, minor)),
        _ => Err(Failure::environment(Code::GIT, format!("`git version` said `{}`", text.trim()))),
    }
}

/// Whoever owns the repository: what is asked here starts nothing that it configures.
const SAFE: [&str; 2] = ["-c", "safe.directory=*"];

/// Git in a folder.
fn git(directory: &Path, arguments: &[&str]) -> Result<Printed, Failure> {
    let git = Git::discover(directory).map_err(no_git)?;
    git.call(&[&SAFE, arguments].concat(), Vec::new()).map_err(no_git)
}

fn no_git(error: GitError) -> Failure {
    let failure = Failure::environment(Code::GIT, "git could not be asked").cause(error);
    failure.hint(install_git())
}

/// What to do where git is missing or too old.
pub fn install_git() -> String {
    format!("install git {}.{} or newer", GIT_MIN.0, GIT_MIN.1)
}

fn need(printed: Printed, what: &str) -> Result<Vec<u8>, Failure> {
    if printed.end.success() { Ok(printed.out) } else { Err(failure(&printed, what)) }
}

fn failure(printed: &Printed, what: &str) -> Failure {
    Failure::environment(Code::GIT, format!("`git {what}` failed")).because(printed.err.trim().to_owned())
}
