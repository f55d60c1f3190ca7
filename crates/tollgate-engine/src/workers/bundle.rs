//! The bundle: the read-only folder with what one attempt is shown.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

use tollgate_contract::{Context, ReportDialect};
use tollgate_core::id::AttemptId;

use super::WorkerError;
use crate::workspace::remove_tree;

/// The JSON Schema of the report, among the files of a bundle; not there where a report is no JSON.
pub const SCHEMA: &str = "report.schema.json";
/// A longer one is handed to nobody: it would be an argument.
const SCHEMA_BYTES_MAX: u64 = 64 * 1024;

/// The schema that a bundle has.
pub fn schema(folder: &Path) -> Option<String> {
    let path = folder.join("files").join(SCHEMA);
    let short = path.metadata().is_ok_and(|meta| meta.len() <= SCHEMA_BYTES_MAX);
    short.then(|| std::fs::read_to_string(path).ok())?
}

/// The schema of a report that is JSON: what else is to be written can be held to none.
pub fn schema_of(dialect: &dyn ReportDialect) -> Option<String> {
    let is_json = dialect.template(&Context::default()).trim_start().starts_with('{');
    let mut schema = is_json.then(|| dialect.schema())?;
    // Agents know drafts by other names, and refuse what they do not know.
    schema.as_object_mut()?.remove("$schema");
    Some(schema.to_string())
}

/// Writes a bundle: `brief.md`, `manifest.json` and `files/…`, all read-only. Doing it again answers the same.
pub fn write(
    folder: &Path,
    brief: &str,
    manifest: &serde_json::Value,
    files: &[(String, Vec<u8>)],
) -> Result<(), WorkerError> {
    let next = folder.with_extension("new");
    let failed = |path: &Path, source| WorkerError::Start { path: path.to_owned(), source };
    for path in [&next, folder] {
        remove_tree(path).map_err(|error| failed(path, std::io::Error::other(error)))?;
    }
    let manifest = format!("{manifest:#}\n");
    put(&next, "brief.md", brief.as_bytes())?;
    put(&next, "manifest.json", manifest.as_bytes())?;
    for (name, bytes) in files {
        let inside = Path::new(name).components().all(|component| matches!(component, Component::Normal(_)));
        if name.is_empty() || !inside {
            return Err(WorkerError::BundleName(name.clone()));
        }
        put(&next.join("files"), name, bytes)?;
    }
    std::fs::create_dir_all(next.join("files")).map_err(|error| failed(&next, error))?;
    std::fs::rename(&next, folder).map_err(|error| failed(folder, error))?;
    protect(folder).map_err(|error| failed(folder, error))
}

/// The attempts of which there is a bundle: their workers may have been started.
pub fn prepared(bundles: &Path) -> BTreeSet<AttemptId> {
    let entries = std::fs::read_dir(bundles).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), WorkerError> {
    let path = folder.join(name);
    let write = || {
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(&path, bytes)
    };
    write().map_err(|source| WorkerError::Start { path: path.clone(), source })
}

/// Takes the right to write from everything below a folder that nobody else has seen yet.
fn protect(folder: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            protect(&entry.path())?;
        } else {
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o444))?;
        }
    }
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o555))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    #[test]
    fn a_bundle_is_read_only_and_can_be_written_again() {
        let root = folder("bundle");
        let bundle = root.join("att_1");
        let manifest = serde_json::json!({"items": []});
        for brief in ["one", "two"] {
            write(&bundle, brief, &manifest, &[("a/b.md".into(), b"x".to_vec())]).unwrap();
        }
        assert_eq!(std::fs::read_to_string(bundle.join("brief.md")).unwrap(), "two");
        assert_eq!(std::fs::read_to_string(bundle.join("files/a/b.md")).unwrap(), "x");
        let mode = |path: &str| bundle.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("brief.md"), mode("files/a"), mode("")), (0o444, 0o555, 0o555));
        remove_tree(&bundle).unwrap();
    }

    #[test]
    fn a_file_stays_inside_its_bundle() {
        let root = folder("bundle-names");
        let bundle = root.join("att_1");
        for name in ["../x", "/x", "", "a/../../x", "."] {
            let error = write(&bundle, "", &serde_json::json!({}), &[(name.into(), Vec::new())]).unwrap_err();
            assert_eq!(error.code().as_str(), "TG0515", "{name}");
        }
    }
}
