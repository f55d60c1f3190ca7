//! Git folders that the engine writes itself: no template, no hook, no configuration but its own.

use std::path::{Path, PathBuf};

use tollgate_core::run::data::CheckoutRules;

use super::conversions::pinned;
use super::files::{beside, remove_tree};
use super::repository::Shared;
use super::{WorkspaceError, at};
use crate::git::ObjectId;

/// Content is taken byte for byte: no line ending is changed, no filter and no driver is asked.
const EXACT: &str = "* -text !eol -ident -filter !working-tree-encoding !merge !diff\n";
/// The user's checkout is read as their git wrote it, but no filter and no driver is asked.
const AS_CHECKED_OUT: &str = "* -filter !merge !diff\n";

/// The most packs that measurements leave in a git folder; what comes after them are single objects.
const PACKS_MAX: usize = 32;

/// Whose git folder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// The engine's own, to measure work trees.
    Private,
    /// The engine's own, to look at the user's checkout.
    FileStats,
    /// The engine's own, to take files in as these rules convert them.
    Converting(&'a CheckoutRules),
    /// The engine's own, to ask for attributes, those of filters too. No file is written or read with it.
    Asking(&'a CheckoutRules),
    /// A work tree's, whose files are written by these rules.
    Work(Option<&'a CheckoutRules>),
}

/// A git folder that borrows objects from others.
#[derive(Debug)]
pub(super) struct GitFolder(PathBuf);

impl GitFolder {
    /// Makes a git folder at `path` whose HEAD is `head`, borrowing from `stores`; one that is there is left as it is.
    pub fn create(
        path: &Path,
        head: &ObjectId,
        stores: &[&Path],
        shared: &Shared,
        kind: Kind<'_>,
    ) -> Result<Self, WorkspaceError> {
        if path.exists() {
            return Ok(Self::existing(path));
        }
        let next = beside(path, "new");
        remove_tree(&next)?;
        Self::fill(&next, head, stores, shared, kind)?;
        at(path, std::fs::rename(&next, path))?;
        Ok(Self::existing(path))
    }

    /// The git folder at `path`.
    pub fn existing(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Writes the files of a git folder.
    pub fn fill(
        path: &Path,
        head: &ObjectId,
        stores: &[&Path],
        shared: &Shared,
        kind: Kind<'_>,
    ) -> Result<(), WorkspaceError> {
        for folder in ["objects/info", "objects/pack", "refs/heads", "info"] {
            let folder = path.join(folder);
            at(&folder, std::fs::create_dir_all(&folder))?;
        }
        let mut alternates = Vec::new();
        for store in stores {
            use std::os::unix::ffi::OsStrExt;
            let store = store.as_os_str().as_bytes();
            // Git reads one path a line, `#` as a comment and quotes in C's way.
            let plain = !store.contains(&b'\n') && !store.starts_with(b"\"") && !store.starts_with(b"#");
            if !plain {
                let why = format!("the path {} cannot be named to git", String::from_utf8_lossy(store));
                return Err(WorkspaceError::Unmeasurable(why));
            }
            alternates.extend_from_slice(store);
            alternates.push(b'\n');
        }
        let format = if head.as_str().len() == 64 {
            "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
        } else {
            "\trepositoryformatversion = 0\n"
        };
        let bare = !matches!(kind, Kind::Work(_));
        let attributes = match kind {
            // The repository's own come first: of two lines that say something of an attribute, the later one counts.
            Kind::FileStats => {
                let own = std::fs::read_to_string(shared.common.join("info/attributes")).unwrap_or_default();
                format!("{own}\n{AS_CHECKED_OUT}")
            }
            Kind::Converting(rules) | Kind::Work(Some(rules)) => format!("{}\n{AS_CHECKED_OUT}", rules.attributes),
            Kind::Asking(rules) => rules.attributes.clone(),
            Kind::Private | Kind::Work(None) => EXACT.to_owned(),
        };
        let mut config = format!("[core]\n\tbare = {bare}\n\tlogallrefupdates = false\n{format}");
        if let Kind::Work(Some(rules)) = kind {
            // Whatever the user's own configuration says of other repositories.
            config.push_str("[core]\n\tautocrlf = false\n\teol = native\n");
            let lines = pinned(rules).filter_map(|setting| setting.strip_prefix("core."));
            config.extend(lines.map(|line| format!("\t{line}\n")));
        }
        // A branch, where somebody works: so that a commit there has a name.
        let head_file = if bare { format!("{head}\n") } else { "ref: refs/heads/work\n".to_owned() };
        let files: [(&str, &[u8]); 4] = [
            ("objects/info/alternates", &alternates),
            ("config", config.as_bytes()),
            ("info/attributes", attributes.as_bytes()),
            ("HEAD", head_file.as_bytes()),
        ];
        for (name, bytes) in files {
            let file = path.join(name);
            at(&file, std::fs::write(&file, bytes))?;
        }
        if !bare {
            let file = path.join("refs/heads/work");
            at(&file, std::fs::write(&file, format!("{head}\n")))?;
        }
        // A shallow repository has no history before its boundary.
        let shallow = shared.common.join("shallow");
        if shallow.exists() {
            at(&shallow, std::fs::copy(&shallow, path.join("shallow")))?;
        }
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where its objects are.
    pub fn objects(&self) -> PathBuf {
        self.0.join("objects")
    }

    /// Whether one more pack costs nothing when objects are looked for.
    pub fn has_few_packs(&self) -> bool {
        let files = std::fs::read_dir(self.objects().join("pack")).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|kind| kind == "pack")).count() < PACKS_MAX
    }

    /// A private index file of this name.
    pub fn index(&self, name: &str) -> PathBuf {
        self.0.join(format!("index.{name}"))
    }

    /// Puts a copy of an index file in place.
    pub fn put_index(&self, name: &str, from: &Path) -> Result<(), WorkspaceError> {
        copy_index(&self.index(name), from)
    }

    /// Removes locks that a git left which was killed; nobody else works here while a driver holds the run.
    pub fn sweep_locks(&self) {
        let mut open = vec![self.0.clone(), self.0.join("refs")];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.extension().is_some_and(|extension| extension == "lock") {
                    std::fs::remove_file(&path).ok();
                } else if folder.starts_with(self.0.join("refs")) && path.is_dir() {
                    open.push(path);
                }
            }
        }
    }
}

/// Puts a copy of an index file in place, as old as the original: git trusts an index by its age. It need not outlive a power
/// failure: a damaged index is made again.
pub(super) fn copy_index(path: &Path, from: &Path) -> Result<(), WorkspaceError> {
    let next = beside(path, "new");
    let age = at(from, std::fs::metadata(from).and_then(|meta| meta.modified()))?;
    at(&next, std::fs::write(&next, at(from, std::fs::read(from))?))?;
    at(&next, std::fs::File::options().write(true).open(&next).and_then(|file| file.set_modified(age)))?;
    at(path, std::fs::rename(&next, path))
}
