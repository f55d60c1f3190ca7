//! Paths: without `.` and `..`, and with the symbolic links that they pass.

#![expect(clippy::disallowed_methods, reason = "this module owns links")]

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// How many links one path may pass: the limit of the system.
const LINKS_MAX: usize = 40;

/// Where a path leads, and over which links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LinkTrace {
    /// The links that it passes, each by its own path.
    pub links: Vec<PathBuf>,
    /// Where it ends; components that do not exist are taken by their names.
    pub end: PathBuf,
}

/// Follows the links of an absolute path; none when they form a loop.
pub(crate) fn trace_links(path: &Path) -> Option<LinkTrace> {
    let mut trace = LinkTrace { links: Vec::new(), end: PathBuf::from("/") };
    let mut open: Vec<OsString> = parts(path).rev().collect();
    while let Some(name) = open.pop() {
        if name == ".." {
            trace.end.pop();
            continue;
        }
        let next = trace.end.join(&name);
        match std::fs::read_link(&next) {
            Err(_) => trace.end = next,
            Ok(_) if trace.links.len() == LINKS_MAX => return None,
            Ok(target) => {
                trace.links.push(next);
                if target.is_absolute() {
                    trace.end = PathBuf::from("/");
                }
                open.extend(parts(&target).rev());
            }
        }
    }
    Some(trace)
}

/// A path without `.` and `..`, by its names alone: no link is followed, and nothing has to exist.
pub fn lexical(path: &Path) -> PathBuf {
    let mut names = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(names.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => names.push(part),
        }
    }
    names
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    let named = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    named.map(|part| part.as_os_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn links_are_followed_to_the_end() {
        let root = folder("links").canonicalize().unwrap();
        write(&root, "real/deep/file", "");
        for (link, target) in [("a", "b/deep"), ("b", "real"), ("up", "real/../a"), ("round", "round")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let at = |path: &str| root.join(path);
        let found = |path: &str| trace_links(&at(path));
        let is = |links: &[&str], end: &str| {
            Some(LinkTrace { links: links.iter().map(|link| at(link)).collect(), end: at(end) })
        };
        assert_eq!(found("real/deep/../deep/./file"), is(&[], "real/deep/file"));
        assert_eq!(found("a/file"), is(&["a", "b"], "real/deep/file"));
        assert_eq!(found("a/../new/file"), is(&["a", "b"], "real/new/file"), "the folder above is that of the end");
        assert_eq!(found("up/x"), is(&["up", "a", "b"], "real/deep/x"));
        assert_eq!(found("round/x"), None);
    }
}
