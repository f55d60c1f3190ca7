//! What was put into a work tree besides the files of its commit: for what it was made ready, and what counts for nobody.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tollgate_core::digest::Digest;
use tollgate_core::scope::matches;

use super::files::write_whole;
use super::setup::inside;
use super::{Repository, WorkTree, Workspace, WorkspaceError, at};
use crate::git::{quote, records};

/// Characters that begin a pattern, or that a pattern means something by.
const SPECIAL: &str = "\\*?[]!# ";

impl Workspace {
    fn mark(&self, tree: &WorkTree) -> PathBuf {
        self.run_folder().join("ready").join(tree.name())
    }

    /// What a work tree was made ready for; none: nobody came to the end of it.
    pub fn ready_for(&self, tree: &WorkTree) -> Option<Digest> {
        std::fs::read_to_string(self.mark(tree)).ok()?.parse().ok()
    }

    /// Writes down that a work tree is ready.
    pub fn mark_ready(&self, tree: &WorkTree, key: Digest) -> Result<(), WorkspaceError> {
        write_whole(&self.mark(tree), key.to_string().as_bytes())
    }

    /// Another folder takes the place of a work tree: nothing is ready there.
    pub(super) fn forget_ready(&self, tree: &WorkTree) -> Result<(), WorkspaceError> {
        let mark = self.mark(tree);
        match std::fs::remove_file(&mark) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => at(&mark, Err(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Has no measurement count these paths, unless a tree holds them.
    pub fn set_apart(&self, paths: &[String]) -> Result<(), WorkspaceError> {
        add_lines(&self.git_folder().join("info/exclude"), paths)
    }

    /// The same for whoever works in a tree that was just made: `git add -A` there leaves them alone.
    pub fn set_apart_in(&self, tree: &Path, paths: &[String]) -> Result<(), WorkspaceError> {
        add_lines(&tree.join(".git/info/exclude"), paths)
    }

    /// Whether a path of a tree lies in a folder that counts for nobody.
    pub(super) fn is_cache(&self, path: &str) -> bool {
        self.caches.iter().any(|cache| Path::new(path).starts_with(cache))
    }

    /// Takes the caches of a tree that was moved away over into the one that takes its place.
    pub(super) fn hand_on_caches(&self, from: &Path, to: &Path) {
        for cache in &self.caches {
            let cache = Path::new(cache);
            let (Ok(old), Ok(new)) = (inside(from, cache), inside(to, cache)) else { continue };
            let folder = old.symlink_metadata().is_ok_and(|meta| meta.is_dir());
            if folder && new.symlink_metadata().is_err() {
                new.parent().map(std::fs::create_dir_all);
                // What is lost of a cache is made again.
                std::fs::rename(&old, &new).ok();
            }
        }
    }
}

/// Adds paths to a list of what git passes over; each means itself and nothing else.
fn add_lines(file: &Path, paths: &[String]) -> Result<(), WorkspaceError> {
    let known = std::fs::read_to_string(file).unwrap_or_default();
    let line = |path: &String| {
        let escaped = path.chars().flat_map(|c| SPECIAL.contains(c).then_some('\\').into_iter().chain([c]));
        format!("/{}", escaped.collect::<String>())
    };
    let more: Vec<String> = paths.iter().map(line).filter(|line| !known.lines().any(|old| old == line)).collect();
    if more.is_empty() {
        return Ok(());
    }
    write_whole(file, format!("{known}{}\n", more.join("\n")).as_bytes())
}

impl Repository {
    /// The files of the checkout that git does not track, by patterns; and the plain paths among these that name nothing.
    pub fn untracked(&self, patterns: &[String]) -> Result<(Vec<PathBuf>, Vec<String>), WorkspaceError> {
        let before = |pattern: &str| {
            let plain = pattern.trim_start_matches("./");
            let end = plain
                .find(['*', '?', '[', '{', '\\', '!'])
                .map_or(plain.len(), |at| plain[..at].rfind('/').unwrap_or(0));
            plain[..end].trim_end_matches('/').to_owned()
        };
        let mut args = vec!["ls-files".to_owned(), "--others".to_owned(), "-z".to_owned(), "--".to_owned()];
        let begin: Vec<String> = patterns.iter().map(|pattern| before(pattern)).collect();
        // Only where they can lie: what else is untracked may be a great deal.
        args.extend(begin.iter().filter(|_| begin.iter().all(|path| !path.is_empty())).cloned());
        let git = self.git()?.on(&self.top, self.index_file()).env("GIT_LITERAL_PATHSPECS", "1");
        let listed = git.run(&args)?;
        let mut found: Vec<PathBuf> = Vec::new();
        for path in records(&listed).filter(|path| !path.ends_with(b"/")) {
            let name = quote(path);
            if patterns.iter().any(|pattern| matches(pattern, &name)) {
                found.push(PathBuf::from(OsStr::from_bytes(path)));
            }
        }
        found.sort();
        let is_plain = |pattern: &&String| !pattern.contains(['*', '?', '[', '{', '\\']) && !pattern.ends_with('/');
        let missing = patterns.iter().filter(is_plain).filter(|path| self.top.join(path).symlink_metadata().is_err());
        Ok((found, missing.cloned().collect()))
    }
}
