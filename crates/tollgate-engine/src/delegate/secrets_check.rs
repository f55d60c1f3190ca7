//! Secrets in what a worker wrote. It works in the folder itself, so the lines of what held one before are remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_core::Name;
use tollgate_core::digest::Digest;
use tollgate_core::path::unquote;
use tollgate_core::redact::Secrets;
use tollgate_core::scope::matches;

/// How much of a file is looked through, and of all together before the worker begins.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
const BEFORE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Looks for secrets that were not there before.
#[derive(Debug)]
pub(super) struct Leaks {
    cwd: PathBuf,
    /// What stands before a path of the folder where it counts from the root of its repository.
    prefix: String,
    /// Where they are examples.
    examples: Vec<String>,
    secrets: Arc<Secrets>,
    /// The lines of the files that held one.
    before: BTreeMap<Name, BTreeSet<Digest>>,
}

impl Leaks {
    /// Looks at the files that may be changed; patterns of examples count from `top`.
    pub fn look<'p>(
        cwd: &Path,
        top: &Path,
        examples: &[String],
        secrets: &Arc<Secrets>,
        paths: impl Iterator<Item = &'p Name>,
    ) -> Self {
        let inside = top.canonicalize().ok().and_then(|top| cwd.strip_prefix(top).ok().map(Path::to_owned));
        let prefix = inside.and_then(|inside| inside.to_str().map(str::to_owned)).unwrap_or_default();
        let prefix = if prefix.is_empty() { prefix } else { format!("{prefix}/") };
        let (cwd, examples, before) = (cwd.to_owned(), examples.to_vec(), BTreeMap::new());
        let mut leaks = Self { cwd, prefix, examples, secrets: Arc::clone(secrets), before };
        let mut left = BEFORE_BYTES_MAX;
        for path in paths {
            let Some(bytes) = leaks.read(path, left) else { continue };
            left = left.saturating_sub(bytes.len() as u64);
            if leaks.secrets.found_in(&bytes).is_some() {
                leaks.before.insert(path.clone(), lines(&bytes).map(Digest::of).collect());
            }
        }
        leaks
    }

    /// What looks like a secret in the lines that a file got; none where they are examples.
    pub fn added(&self, path: &Name) -> Option<String> {
        if self.examples.iter().any(|pattern| matches(pattern, &format!("{}{path}", self.prefix))) {
            return None;
        }
        let bytes = self.read(path, FILE_BYTES_MAX)?;
        let Some(before) = self.before.get(path) else { return self.secrets.found_in(&bytes) };
        let added: Vec<&[u8]> = lines(&bytes).filter(|line| !before.contains(&Digest::of(line))).collect();
        self.secrets.found_in(&added.concat())
    }

    /// What looks like a secret in the name of a file.
    pub fn in_name(&self, path: &Name) -> Option<String> {
        self.secrets.found_in(&unquote(path)).map(|what| format!("{what}, in its name"))
    }

    /// A path without secrets.
    pub fn scrubbed(&self, path: &Name) -> String {
        self.secrets.scrubbed(path)
    }

    /// The content of a plain file, as far as it is looked through.
    fn read(&self, path: &str, most: u64) -> Option<Vec<u8>> {
        let place = self.cwd.join(OsStr::from_bytes(&unquote(path)));
        if !place.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            return None;
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let file = std::fs::File::options().read(true).custom_flags(flags.bits().cast_signed()).open(place).ok()?;
        let mut bytes = Vec::new();
        file.take(most.min(FILE_BYTES_MAX)).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}
