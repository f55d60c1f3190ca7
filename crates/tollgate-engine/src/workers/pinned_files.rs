//! Files of the repository's `.tollgate/` folder that a command names: a run uses them as they were trusted when it started,
//! never as they lie in the checkout or in a work tree.
//!
//! A word such as `.tollgate/agent.sh` or `--rules=.tollgate/rules.md` names one. The whole folder is pinned in the first
//! event, and each use gets a copy of its own: a worker may have written to the copy before.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::run::Run;

use crate::workspace::{WorkspaceError, remove_tree, write_whole};

/// The folder whose files act only as they were trusted.
pub const FOLDER: &str = ".tollgate";

const PROGRAM: &str = "program:";
const FILE: &str = "file:";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// A file of the folder as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedFile {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it can be started.
    pub executable: bool,
}

/// The name under which a file of the folder is pinned.
pub fn pin(path: &str, executable: bool) -> Name {
    format!("{}{path}", if executable { PROGRAM } else { FILE }).into()
}

/// What stands before it and the path from the repository's root, where a word names something in the folder.
pub fn named_by(word: &str) -> Option<(&str, &str)> {
    let inside = |path: &str| path.strip_prefix(FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if inside(word) {
        return Some(("", word));
    }
    let at = word.find('=')? + 1;
    inside(&word[at..]).then(|| word.split_at(at))
}

/// A copy of the pinned folder for one use; it goes when this does.
#[derive(Debug)]
pub struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What cannot be removed now is swept with the other copies at the next start.
        remove_tree(&self.root).ok();
    }
}

/// Why the pinned folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PinnedError {
    /// Its copy cannot be made.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The run has no such file.
    #[error("`{0}` is not among the files of {FOLDER}/ that were trusted")]
    NotPinned(String),
    /// A pinned file is gone.
    #[error("the object {1} of `{0}` is missing")]
    Missing(String, Digest),
}

/// The words of a command, with what they name in the folder taken from a fresh copy under `copies`.
pub fn resolve(
    run: &Run,
    words: &[String],
    copies: &Path,
    object: &dyn Fn(Digest) -> Option<Vec<u8>>,
) -> Result<(Vec<OsString>, Option<Copy>), PinnedError> {
    let pinned = run.opened.pins.iter().filter_map(|(name, digest)| {
        let program = name.strip_prefix(PROGRAM);
        let path = program.or_else(|| name.strip_prefix(FILE))?;
        let bytes = object(*digest).ok_or_else(|| PinnedError::Missing(path.to_owned(), *digest));
        Some(bytes.map(|bytes| (path, PinnedFile { bytes, executable: program.is_some() })))
    });
    resolve_among(words, copies, pinned)
}

/// The same, among files that somebody has at hand.
pub fn resolve_among<'f>(
    words: &[String],
    copies: &Path,
    files: impl IntoIterator<Item = Result<(&'f str, PinnedFile), PinnedError>>,
) -> Result<(Vec<OsString>, Option<Copy>), PinnedError> {
    if words.iter().all(|word| named_by(word).is_none()) {
        return Ok((words.iter().map(OsString::from).collect(), None));
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let copy = Copy { root: copies.join(format!("pinned-{}-{number}", std::process::id())) };
    remove_tree(&copy.root)?;
    for file in files {
        let (path, file) = file?;
        let to = copy.root.join(path);
        write_whole(&to, &file.bytes)?;
        let mode = if file.executable { 0o555 } else { 0o444 };
        std::fs::set_permissions(&to, std::fs::Permissions::from_mode(mode))
            .map_err(|source| WorkspaceError::Io { path: to, source })?;
    }
    let word = |word: &String| match named_by(word) {
        None => Ok(word.into()),
        Some((before, path)) => {
            let to = copy.root.join(path);
            let mut whole = OsString::from(before);
            whole.push(&to);
            if to.exists() { Ok(whole) } else { Err(PinnedError::NotPinned(path.to_owned())) }
        }
    };
    let words = words.iter().map(word).collect::<Result<_, _>>()?;
    Ok((words, Some(copy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_the_folder_alone_or_after_an_equals_sign() {
        assert_eq!(named_by(".tollgate/a.sh"), Some(("", ".tollgate/a.sh")));
        assert_eq!(named_by(".tollgate"), Some(("", ".tollgate")));
        assert_eq!(named_by("--rules=.tollgate/a=b"), Some(("--rules=", ".tollgate/a=b")));
        for word in ["a.sh", ".tollgate.d/a", "x/.tollgate/a", "--a=b=.tollgate/c", "", "="] {
            assert_eq!(named_by(word), None, "{word}");
        }
    }
}
