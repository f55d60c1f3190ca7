//! Which states of which repositories' `.tollgate/` folders may act. One small file per trusted state.

use std::path::{Path, PathBuf};

use tollgate_api::TrustEntry;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;

use crate::environment::Environment;
use crate::failure::Failure;
use crate::files;
use crate::format::list;
use crate::repository::{Folder, Repository};

/// How many files are named in a sentence.
const SHOWN_MAX: usize = 5;
const ENTRY_BYTES_MAX: u64 = 1024 * 1024;

/// The trusted states, kept in the user's state directory.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
}

impl Trust {
    /// Opens the store; it is made when something is first trusted.
    pub fn in_state_dir(state: &Path) -> Self {
        Self { folder: state.join("trust") }
    }

    /// Whether this state of this repository was trusted.
    pub fn holds(&self, repository: &Repository, folder: &Folder) -> Result<bool, Failure> {
        files::exists(&self.path(repository, folder))
    }

    /// Trusts a state.
    pub fn add(&self, repository: &Repository, folder: &Folder, now_ms: u64) -> Result<TrustEntry, Failure> {
        let entry = TrustEntry {
            repository: repository.root().display().to_string(),
            digest: folder.digest.to_string(),
            files: folder.paths().map(str::to_owned).collect(),
            at_ms: now_ms,
        };
        let path = self.path(repository, folder);
        let bytes = serde_json::to_vec(&entry)
            .map_err(|error| Failure::internal("an entry could not be written").cause(error))?;
        files::write(&path, &bytes).map_err(|error| files::cannot_write(&path, error))?;
        Ok(entry)
    }

    /// Every trusted state, by repository.
    pub fn list(&self) -> Result<Vec<TrustEntry>, Failure> {
        let mut entries = Vec::new();
        for name in files::names(&self.folder)?.unwrap_or_default() {
            let path = self.folder.join(name);
            let text = files::read_text(&path, ENTRY_BYTES_MAX)?;
            let entry: TrustEntry = serde_json::from_str(&text).map_err(|error| {
                let failure = Failure::environment(Code::STATE, format!("{} is damaged", path.display())).cause(error);
                failure.hint("delete this file; then `tollgate trust` in its repository")
            })?;
            entries.push(entry);
        }
        entries.sort_by(|a, b| (&a.repository, a.at_ms, &a.digest).cmp(&(&b.repository, b.at_ms, &b.digest)));
        Ok(entries)
    }

    /// Takes every state of a repository back; says which there were.
    pub fn remove(&self, repository: &Repository) -> Result<Vec<TrustEntry>, Failure> {
        let root = repository.root().display().to_string();
        let entries: Vec<_> = self.list()?.into_iter().filter(|entry| entry.repository == root).collect();
        for entry in &entries {
            let path = self.folder.join(name(&entry.repository, &entry.digest));
            files::remove(&path)?;
        }
        Ok(entries)
    }

    fn path(&self, repository: &Repository, folder: &Folder) -> PathBuf {
        self.folder.join(name(&repository.root().display().to_string(), &folder.digest.to_string()))
    }
}

fn name(repository: &str, digest: &str) -> String {
    format!("{}.json", Digest::of(format!("{repository}\0{digest}").as_bytes()))
}

/// How the repository that holds the working directory stands.
#[derive(Debug)]
pub enum Standing {
    /// There is no repository.
    NoRepository,
    /// It has no `.tollgate/` folder in its last commit.
    NoFolder(Repository),
    /// It has one that must not act.
    Untrusted(Repository, Folder),
    /// It has one that may act.
    Trusted(Repository, Folder),
}

impl Standing {
    /// Looks at the last commit and at what was trusted.
    pub fn look(environment: &Environment) -> Result<Self, Failure> {
        Self::of(Repository::find(environment)?, environment)
    }

    /// The same for another repository.
    pub fn of(repository: Option<Repository>, environment: &Environment) -> Result<Self, Failure> {
        let Some(repository) = repository else { return Ok(Self::NoRepository) };
        let Some(folder) = repository.folder()? else { return Ok(Self::NoFolder(repository)) };
        let trust = Trust::in_state_dir(&environment.state_dir()?);
        let trusted = trust.holds(&repository, &folder)?;
        Ok(if trusted { Self::Trusted(repository, folder) } else { Self::Untrusted(repository, folder) })
    }

    /// The repository, if there is one.
    pub fn repository(&self) -> Option<&Repository> {
        match self {
            Self::NoRepository => None,
            Self::NoFolder(repository) | Self::Untrusted(repository, _) | Self::Trusted(repository, _) => {
                Some(repository)
            }
        }
    }

    /// The folder, if it may act.
    pub fn trusted(&self) -> Option<&Folder> {
        match self {
            Self::Trusted(_, folder) => Some(folder),
            Self::NoRepository | Self::NoFolder(_) | Self::Untrusted(..) => None,
        }
    }
}

/// Says that files of the folder do not act because they differ from the last commit.
pub fn ignored(files: &[String]) -> String {
    match files {
        [one] => format!("{one} is not committed yet, so it is ignored"),
        several => {
            format!("{} are not committed yet, so they are ignored", list(&several[..several.len().min(SHOWN_MAX)]))
        }
    }
}

/// The refusal to use a file of the folder that the last commit does not hold.
pub fn uncommitted(path: &str) -> Failure {
    Failure::refused(Code::UNTRUSTED, format!("{path} is not in the last commit, and only what is committed acts"))
        .hint("`git add .tollgate && git commit`, then `tollgate trust`")
}

/// The refusal to use a file of an untrusted folder.
pub fn refusal(path: &str) -> Failure {
    Failure::refused(Code::UNTRUSTED, format!("{path} is not trusted as it is committed"))
        .hint(format!("read it (`git show HEAD:{path}`), then `tollgate trust`"))
}
