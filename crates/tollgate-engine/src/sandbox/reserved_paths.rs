//! Places that no configuration gives away: the state directory, where git keeps the repository of the work, and the configuration itself;
//! nor whatever a link leads to that a worker can have laid.

use std::path::{Path, PathBuf};

use super::{SandboxRequest, place, program_folders, visible_paths};
use crate::paths::trace_links;

/// What a worker is not given, whatever its `reads` and `writes` name.
#[derive(Debug, Clone, Default)]
pub struct ReservedPaths {
    /// The state directory.
    pub state: PathBuf,
    /// The checkout: what lies in it may be named, not all of it.
    pub top: Option<PathBuf>,
    /// The git folders of the repository.
    pub git: Vec<PathBuf>,
    /// What workers write, by where it lies: a link inside of it is nobody's word.
    pub written: Vec<PathBuf>,
    /// Whether folders of programs are kept as they are by mounts.
    pub programs: ProgramFolders,
}

/// What keeps folders of programs as they are, inside of what a worker may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProgramFolders {
    /// Mounts do.
    #[default]
    Protected,
    /// Nothing does: what holds one cannot be given.
    Unprotected,
}

/// A place that cannot be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathConflict<'a> {
    /// As it is named.
    pub place: &'a str,
    pub why: String,
    /// What to do about it.
    pub next: &'static str,
}

const NARROW: &str = "name the folders that it needs in `reads` and `writes`, not one that holds everything";
/// What to do about a link that nobody can vouch for.
const LOOK: &str = "look where it leads; put back what was there, or name the place itself in the configuration";

impl ReservedPaths {
    /// The same, where workers write these places: of a configuration, and those that their programs have to themselves.
    #[must_use]
    pub fn where_written<'a>(
        mut self,
        writes: impl IntoIterator<Item = &'a String>,
        own: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let all =
            writes.into_iter().filter_map(|path| place(path)).chain(own.into_iter().filter_map(visible_paths::own));
        self.written.extend(all.map(|path| real(&path)));
        self
    }

    /// Whether a worker that writes these would write a folder of programs, if no mount kept it.
    pub fn holds_programs<'a>(places: impl IntoIterator<Item = &'a String>) -> bool {
        places.into_iter().filter_map(|path| place(path)).any(|path| program_folders::held_by(&path).is_some())
    }

    /// The folder of programs that a place holds which an agent has to itself.
    pub fn programs_in(own: &str) -> Option<PathBuf> {
        program_folders::held_by(&visible_paths::own(own)?)
    }

    /// The first place that is asked for and cannot be given.
    pub fn clash<'a>(&self, reads: &'a [String], writes: &'a [String]) -> Option<PathConflict<'a>> {
        let wrong = |path: &'a String, why: fn(&Self, &Path) -> Option<&'static str>| {
            let at = place(path)?;
            let lies = why(self, &at).map(|what| (format!("{what} lies there"), NARROW));
            let (why, next) = lies.or_else(|| Some((self.laid(&at)?, LOOK)))?;
            Some(PathConflict { place: path, why, next })
        };
        let write = writes.iter().find_map(|path| wrong(path, Self::not_written));
        write.or_else(|| reads.iter().find_map(|path| wrong(path, Self::not_read)))
    }

    /// The same wish without them. A link may have come into a place since the configuration was read.
    #[must_use]
    pub fn taken_out_of(&self, mut asked: SandboxRequest) -> SandboxRequest {
        asked.writes.retain(|path| place(path).is_none_or(|path| self.not_written(&path).is_none()));
        asked.reads.retain(|path| place(path).is_none_or(|path| self.not_read(&path).is_none()));
        asked
    }

    /// Why a place is not given: the way there leads over a link that a worker can have laid.
    fn laid(&self, path: &Path) -> Option<String> {
        let laid = |link: &PathBuf| self.written.iter().any(|place| link.starts_with(place) && link != place);
        let link = trace_links(path)?.links.into_iter().find(laid)?;
        Some(format!("{} is a link, and a worker that writes there can have laid it", link.display()))
    }

    /// The first of these that is not given for that reason.
    pub fn laid_in<'a>(&self, asked: &'a SandboxRequest, own: &[&'a str]) -> Option<PathConflict<'a>> {
        let named = asked.writes.iter().chain(&asked.reads).map(|path| (path.as_str(), place(path)));
        let own = own.iter().map(|path| (*path, visible_paths::own(path)));
        named.chain(own).find_map(|(place, at)| Some(PathConflict { place, why: self.laid(&at?)?, next: LOOK }))
    }

    fn not_written(&self, path: &Path) -> Option<&'static str> {
        if self.programs == ProgramFolders::Unprotected && program_folders::held_by(path).is_some() {
            return Some("a folder of PATH, and this machine has no private mounts to keep that as it is,");
        }
        let path = real(path);
        let meets = |other: &Path| path.starts_with(other) || other.starts_with(&path);
        if meets(&real(&self.state)) {
            return Some("the state directory");
        }
        if visible_paths::configured().iter().any(|folder| meets(&real(folder))) {
            return Some("the configuration of Tollgate itself");
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
    trace_links(path).map_or_else(|| path.to_owned(), |trace| trace.end)
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
        let reserved = ReservedPaths {
            state: root.join("state"),
            top: Some(root.join("repo")),
            git: vec![root.join("repo/.git")],
            ..ReservedPaths::default()
        };
        for path in
            ["", "repo", "repo/", "repo/.git/", "link/.git/hooks/new/", "cache/../repo/.git", "state/", "state/new/"]
        {
            assert!(reserved.clash(&[], &[at(path)]).is_some(), "{path}");
            let asked = reserved.taken_out_of(SandboxRequest { writes: vec![at(path)], ..SandboxRequest::default() });
            assert_eq!(asked.writes, [""; 0]);
        }
        for path in ["cache", "new/", "repo/target/", "link/target"] {
            assert_eq!(reserved.clash(&[at(path)], &[at(path)]), None, "{path}");
        }
        assert_eq!(reserved.clash(&[at(""), at("repo")], &[]), None);
        assert!(reserved.clash(&[at("state/db")], &[]).is_some());
        // A link is the person's word, but not where a worker writes.
        std::os::unix::fs::symlink(root.join("repo/target"), root.join("cache/laid")).unwrap();
        assert_eq!(reserved.clash(&[], &[at("cache/laid/")]), None);
        let reserved = reserved.where_written([&at("cache/"), &at("link")], []);
        for path in ["cache/laid", "cache/laid/", "cache/laid/new/deep/"] {
            assert!(reserved.clash(&[at(path)], &[]).is_some() && reserved.clash(&[], &[at(path)]).is_some(), "{path}");
        }
        assert_eq!(reserved.clash(&[at("cache/x"), at("link/target")], &[at("link/target/")]), None);
    }
}
