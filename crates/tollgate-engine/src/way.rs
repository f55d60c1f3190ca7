//! The way of a path, link by link: where it ends, and which links it leads over.

#![expect(clippy::disallowed_methods, reason = "this module owns links")]

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// The most links of one way, as the system has it.
const LINKS_MAX: usize = 40;

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Way {
    /// The links, each by where it lies.
    pub links: Vec<PathBuf>,
    /// Its end; what is not there yet is taken by its name.
    pub end: PathBuf,
}

/// The way of an absolute path; none where it goes round in a circle.
pub(crate) fn way(path: &Path) -> Option<Way> {
    let mut way = Way { links: Vec::new(), end: PathBuf::from("/") };
    let mut open: Vec<OsString> = parts(path).rev().collect();
    while let Some(name) = open.pop() {
        if name == ".." {
            way.end.pop();
            continue;
        }
        let next = way.end.join(&name);
        match std::fs::read_link(&next) {
            Err(_) => way.end = next,
            Ok(_) if way.links.len() == LINKS_MAX => return None,
            Ok(target) => {
                way.links.push(next);
                if target.is_absolute() {
                    way.end = PathBuf::from("/");
                }
                open.extend(parts(&target).rev());
            }
        }
    }
    Some(way)
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
    fn a_way_leads_over_links_to_its_end() {
        let root = folder("way").canonicalize().unwrap();
        write(&root, "real/deep/file", "");
        for (link, target) in [("a", "b/deep"), ("b", "real"), ("up", "real/../a"), ("round", "round")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let at = |path: &str| root.join(path);
        let found = |path: &str| way(&at(path));
        let is =
            |links: &[&str], end: &str| Some(Way { links: links.iter().map(|link| at(link)).collect(), end: at(end) });
        assert_eq!(found("real/deep/../deep/./file"), is(&[], "real/deep/file"));
        assert_eq!(found("a/file"), is(&["a", "b"], "real/deep/file"));
        assert_eq!(found("a/../new/file"), is(&["a", "b"], "real/new/file"), "the folder above is that of the end");
        assert_eq!(found("up/x"), is(&["up", "a", "b"], "real/deep/x"));
        assert_eq!(found("round/x"), None);
    }
}
