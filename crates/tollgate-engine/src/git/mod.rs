//! The one way to the `git` program: bounded, without the user's configuration (but for plain values that a caller asks for), without hooks.
//!
//! The engine's git never runs with a git folder, configuration, driver or hook that a worker could have written: it
//! works through private git folders of its own, with their own index files, and looks at work trees as plain files.

pub mod program;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use tollgate_core::Name;
use tollgate_core::code::Code;
pub use tollgate_core::path::{quote, unquote};
use tollgate_core::scope::Entry;

use crate::process::{End, Environment, Output, Program, Tail, run};
use program::{GitProgram, git_program};

const LIMIT_MS: u64 = 120_000;
const OUTPUT_BYTES_MAX: usize = 256 * 1024 * 1024;
const ERROR_BYTES_MAX: usize = 16 * 1024;

/// Settings that hold for every call: nothing is started, nothing is asked, nothing is cleaned up behind our back.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // A program that the repository's own configuration may name.
    "core.alternateRefsCommand=true",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.quotePath=false",
    // What the journal will name is on the disk first.
    "core.fsync=committed,loose-object",
    "core.fsyncMethod=batch",
    "commit.gpgSign=false",
    "protocol.allow=never",
    "protocol.file.allow=always",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "merge.directoryRenames=false",
];

/// Why git did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("`git` was not found on PATH")]
    Missing,
    /// It is another file than the one that was found first.
    #[error("{0} is not the `git` that it was when this process began")]
    Replaced(PathBuf),
    /// It could not be started.
    #[error("`git` could not be started: {0}")]
    Start(#[source] std::io::Error),
    /// It failed.
    #[error("`git {command}` {end}: {message}")]
    Failed {
        /// The command and its first arguments.
        command: String,
        /// How it ended.
        end: End,
        /// The end of what it said.
        message: String,
    },
    /// It printed more than can be read.
    #[error("`git {command}` printed more than {OUTPUT_BYTES_MAX} bytes")]
    TooMuch {
        /// The command.
        command: String,
    },
    /// It printed what was not expected.
    #[error("`git {command}` printed something unexpected: {what}")]
    Unexpected {
        /// The command.
        command: String,
        /// What it was.
        what: String,
    },
}

impl GitError {
    /// The code of the refusal.
    pub fn code(&self) -> Code {
        match self {
            Self::Replaced(_) => Code::GIT_REPLACED,
            Self::Missing | Self::Start(_) | Self::Failed { .. } | Self::TooMuch { .. } | Self::Unexpected { .. } => {
                Code::GIT_FAILED
            }
        }
    }
}

/// The id of a git object: 40 or 64 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(Name);

impl ObjectId {
    /// Reads an id; anything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (digits && matches!(text.len(), 40 | 64)).then(|| Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as a name.
    pub fn name(&self) -> Name {
        self.0.clone()
    }
}

impl std::fmt::Display for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<OsStr> for ObjectId {
    fn as_ref(&self) -> &OsStr {
        OsStr::new(&*self.0)
    }
}

/// What one call printed.
#[derive(Debug)]
pub struct Printed {
    /// How it ended.
    pub end: End,
    /// Its output.
    pub out: Vec<u8>,
    /// The end of its error output.
    pub err: String,
}

/// A git with its folder, work tree and index.
#[derive(Debug, Clone)]
pub struct Git {
    program: &'static GitProgram,
    cwd: PathBuf,
    git_dir: Option<PathBuf>,
    work_tree: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    excludes: Option<PathBuf>,
    settings: Vec<String>,
}

impl Git {
    /// Git in a folder, with whatever git folder it finds there.
    pub fn discover(cwd: &Path) -> Result<Self, GitError> {
        let program = git_program().ok_or(GitError::Missing)?;
        Ok(Self {
            program,
            cwd: cwd.to_owned(),
            git_dir: None,
            work_tree: None,
            env: Vec::new(),
            excludes: None,
            settings: Vec::new(),
        })
    }

    /// Git with this git folder.
    pub fn with_dir(git_dir: &Path) -> Result<Self, GitError> {
        let git = Self::discover(git_dir)?;
        Ok(Self { git_dir: Some(git_dir.to_owned()), ..git })
    }

    /// The same with a work tree and an index file.
    #[must_use]
    pub fn on(&self, work_tree: &Path, index: &Path) -> Self {
        let git = Self { work_tree: Some(work_tree.to_owned()), cwd: work_tree.to_owned(), ..self.clone() };
        git.env("GIT_INDEX_FILE", index)
    }

    /// The same with a variable.
    #[must_use]
    pub fn env(&self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let mut git = self.clone();
        git.env.push((name.into(), value.as_ref().into()));
        git
    }

    /// The same with a file of ignore rules besides those in the tree.
    #[must_use]
    pub fn excluding(&self, file: &Path) -> Self {
        Self { excludes: Some(file.to_owned()), ..self.clone() }
    }

    /// The same with settings, `name=value`, that take the place of ours.
    #[must_use]
    pub fn with(&self, settings: &[String]) -> Self {
        Self { settings: settings.to_vec(), ..self.clone() }
    }

    /// Runs a command that must succeed, and answers what it printed.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        self.feed(args, Vec::new())
    }

    /// Runs a command that must succeed, with an input.
    pub fn feed<S: AsRef<OsStr>>(&self, args: &[S], stdin: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let printed = self.call(args, stdin)?;
        if printed.end.success() { Ok(printed.out) } else { Err(self.failed(args, printed)) }
    }

    /// Runs a command that must succeed and prints one object id.
    pub fn id<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<ObjectId, GitError> {
        let out = self.run(args)?;
        let text = String::from_utf8_lossy(&out);
        ObjectId::parse(text.trim())
            .ok_or_else(|| GitError::Unexpected { command: summary(args), what: text.chars().take(80).collect() })
    }

    /// Runs a command, however it ends.
    pub fn call<S: AsRef<OsStr>>(&self, args: &[S], stdin: Vec<u8>) -> Result<Printed, GitError> {
        let out = Arc::new(Whole::default());
        let err = Tail::new(ERROR_BYTES_MAX);
        let end = run(self.program(args, stdin)?, out.clone(), err.clone()).map_err(GitError::Start)?;
        let out = out.take().ok_or_else(|| GitError::TooMuch { command: summary(args) })?;
        Ok(Printed { end, out, err: String::from_utf8_lossy(&err.take().0).trim().to_owned() })
    }

    /// Runs a command that must succeed, and hands on what it prints piece by piece, however much it is.
    pub fn stream<S: AsRef<OsStr>>(&self, args: &[S], stdin: Vec<u8>, out: Arc<dyn Output>) -> Result<(), GitError> {
        let err = Tail::new(ERROR_BYTES_MAX);
        let end = run(self.program(args, stdin)?, out, err.clone()).map_err(GitError::Start)?;
        let err = String::from_utf8_lossy(&err.take().0).trim().to_owned();
        if end.success() { Ok(()) } else { Err(self.failed(args, Printed { end, out: Vec::new(), err })) }
    }

    fn program<S: AsRef<OsStr>>(&self, args: &[S], stdin: Vec<u8>) -> Result<Program, GitError> {
        if !self.program.is_the_same() {
            return Err(GitError::Replaced(self.program.path().to_owned()));
        }
        let mut all: Vec<OsString> = Vec::new();
        for setting in SETTINGS {
            all.extend(["-c".into(), (*setting).into()]);
        }
        all.extend(self.settings.iter().flat_map(|setting| ["-c".into(), setting.into()]));
        if let Some(excludes) = &self.excludes {
            let mut setting = OsString::from("core.excludesFile=");
            setting.push(excludes);
            all.extend(["-c".into(), setting]);
        }
        let flag = |name: &str, path: &Path| {
            let mut flag = OsString::from(name);
            flag.push(path);
            flag
        };
        all.extend(self.git_dir.as_deref().map(|path| flag("--git-dir=", path)));
        all.extend(self.work_tree.as_deref().map(|path| flag("--work-tree=", path)));
        all.extend(args.iter().map(|arg| arg.as_ref().to_owned()));
        let mut env = fixed_environment();
        env.extend(self.env.iter().cloned());
        Ok(Program {
            path: self.program.path().to_owned(),
            args: all,
            cwd: self.cwd.clone(),
            env: Environment { set: env, ..Environment::default() },
            stdin,
            limit: Duration::from_millis(LIMIT_MS),
            control: None,
        })
    }

    /// The error for a call that failed.
    pub fn failed<S: AsRef<OsStr>>(&self, args: &[S], printed: Printed) -> GitError {
        GitError::Failed { command: summary(args), end: printed.end, message: printed.err }
    }

    /// Every file of a tree.
    pub fn list(&self, tree: &ObjectId) -> Result<Vec<Entry>, GitError> {
        let args = [OsStr::new("ls-tree"), OsStr::new("-r"), OsStr::new("-z"), tree.as_ref()];
        let out = self.run(&args)?;
        let unexpected = |what: &[u8]| GitError::Unexpected {
            command: summary(&args),
            what: String::from_utf8_lossy(what).into_owned(),
        };
        let mut entries = Vec::new();
        for record in records(&out) {
            let entry = (|| {
                let tab = record.iter().position(|byte| *byte == b'\t')?;
                let mut head = str::from_utf8(&record[..tab]).ok()?.split(' ');
                let (mode, _kind, blob) = (head.next()?, head.next()?, head.next()?);
                Some(Entry { path: quote(&record[tab + 1..]), mode: mode.into(), blob: blob.into() })
            })();
            entries.push(entry.ok_or_else(|| unexpected(record))?);
        }
        Ok(entries)
    }
}

fn fixed_environment() -> Vec<(OsString, OsString)> {
    let fixed = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_LITERAL_PATHSPECS", "1"),
        ("LC_ALL", "C"),
    ];
    fixed.map(|(name, value)| (name.into(), value.into())).into()
}

fn summary<S: AsRef<OsStr>>(args: &[S]) -> String {
    let words: Vec<String> = args.iter().take(3).map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    words.join(" ")
}

/// The records of a `-z` output.
pub(crate) fn records(out: &[u8]) -> impl Iterator<Item = &[u8]> {
    out.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

/// Keeps a whole output, up to the limit; past it, nothing.
#[derive(Default)]
struct Whole(Mutex<(Vec<u8>, bool)>);

impl Whole {
    fn take(&self) -> Option<Vec<u8>> {
        let mut kept = self.0.lock().ok()?;
        if kept.1 { None } else { Some(std::mem::take(&mut kept.0)) }
    }
}

impl Output for Whole {
    fn push(&self, bytes: &[u8]) {
        let Ok(mut kept) = self.0.lock() else { return };
        kept.1 |= kept.0.len() + bytes.len() > OUTPUT_BYTES_MAX;
        if !kept.1 {
            kept.0.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, repository};

    #[test]
    fn an_id_is_forty_or_sixty_four_digits() {
        assert!(ObjectId::parse(&"a".repeat(40)).is_some() && ObjectId::parse(&"0".repeat(64)).is_some());
        for bad in ["", "HEAD", "--all", &"g".repeat(40), &"A".repeat(40), &"a".repeat(41)] {
            assert_eq!(ObjectId::parse(bad), None);
        }
    }

    #[test]
    fn a_failure_says_what_git_said() {
        let root = folder("no-repository");
        let error = Git::with_dir(&root).unwrap().run(&["rev-parse", "HEAD"]).unwrap_err();
        assert!(error.to_string().contains("not a git repository"), "{error}");
        assert!(Code::find("TG0505").is_some_and(|code| code == error.code()));
    }

    #[test]
    fn hooks_and_programs_of_the_repository_do_not_run() {
        let root = repository("hooks", &[("a", "1")]);
        let hooks = root.join(".git/hooks");
        std::fs::create_dir_all(&hooks).unwrap();
        for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
            std::fs::write(hooks.join(hook), "#!/bin/sh\ntouch \"$0.ran\"\n").unwrap();
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(hooks.join(hook), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let git = Git::with_dir(&root.join(".git")).unwrap();
        git.run(&["update-ref", "refs/tollgate/x", "HEAD"]).unwrap();
        git.on(&root, &root.join(".git/other-index")).run(&["read-tree", "HEAD"]).unwrap();
        let ran =
            std::fs::read_dir(hooks).unwrap().flatten().any(|entry| entry.path().extension() == Some("ran".as_ref()));
        assert!(!ran);
    }
}
