//! Places that no configuration gives away: the state directory, and where git keeps the repository of the work.

use std::path::{Path, PathBuf};

use super::{Asked, place};

/// What a worker is not given, whatever its `reads` and `writes` name.
#[derive(Debug, Clone, Default)]
pub struct Reserved {
    /// The state directory.
    pub state: PathBuf,
    /// The checkout: what lies in it may be named, not all of it.
    pub top: Option<PathBuf>,
    /// The git folders of the repository.
    pub git: Vec<PathBuf>,
}

impl Reserved {
    /// The first place that is asked for and cannot be given, and what lies there.
    pub fn clash<'a>(&self, reads: &'a [String], writes: &'a [String]) -> Option<(&'a str, &'static str)> {
        let wrong = |path: &'a String, why: fn(&Self, &Path) -> Option<&'static str>| {
            Some((path.as_str(), why(self, &place(path)?)?))
        };
        let write = writes.iter().find_map(|path| wrong(path, Self::not_written));
        write.or_else(|| reads.iter().find_map(|path| wrong(path, Self::not_read)))
    }

    /// The same wish without them. A link may have come into a place since the configuration was read.
    #[must_use]
    pub fn taken_out_of(&self, mut asked: Asked) -> Asked {
        asked.writes.retain(|path| place(path).is_none_or(|path| self.not_written(&path).is_none()));
        asked.reads.retain(|path| place(path).is_none_or(|path| self.not_read(&path).is_none()));
        asked
    }

    fn not_written(&self, path: &Path) -> Option<&'static str> {
        let path = real(path);
        let meets = |other: &Path| path.starts_with(other) || other.starts_with(&path);
        if meets(&real(&self.state)) {
            return Some("the state directory");
        }
        let whole = self.top.as_deref().is_some_and(|top| real(top).starts_with(&path));
        (whole || self.git.iter().any(|git| meets(&real(git)))).then_some("what git keeps of this repository")
    }

    /// What lies above the state directory is read without it.
    fn not_read(&self, path: &Path) -> Option<&'static str> {
        real(path).starts_with(real(&self.state)).then_some("the state directory")
    }
}

/// Where a path leads, as far as there is something.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let path = there.map_or_else(|| path.to_owned(), |(part, real)| real.join(path.strip_prefix(part).unwrap_or(path)));
    crate::by_names::by_names(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folder, write};

    #[test]
    fn what_is_reserved_is_given_by_no_name() {
        let root = folder("reserved").canonicalize().unwrap();
        for file in ["repo/.git/config", "state/db", "cache/x", "repo/target/x"] {
            write(&root, file, "");
        }
        std::os::unix::fs::symlink(root.join("repo"), root.join("link")).unwrap();
        let at = |path: &str| root.join(path).display().to_string();
        let reserved =
            Reserved { state: root.join("state"), top: Some(root.join("repo")), git: vec![root.join("repo/.git")] };
        for path in
            ["", "repo", "repo/", "repo/.git/", "link/.git/hooks/new/", "cache/../repo/.git", "state/", "state/new/"]
        {
            assert!(reserved.clash(&[], &[at(path)]).is_some(), "{path}");
            let asked = reserved.taken_out_of(Asked { writes: vec![at(path)], ..Asked::default() });
            assert_eq!(asked.writes, [""; 0]);
        }
        for path in ["cache", "new/", "repo/target/", "link/target"] {
            assert_eq!(reserved.clash(&[at(path)], &[at(path)]), None, "{path}");
        }
        assert_eq!(reserved.clash(&[at(""), at("repo")], &[]), None);
        assert!(reserved.clash(&[at("state/db")], &[]).is_some());
    }
}
