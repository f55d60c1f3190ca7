//! The folder in which a worker hands documents over, read as what it is: a place where it could put anything.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags, open, openat};
use rustix::io::Errno;
use tollgate_core::documents::is_name;

use super::RawReport;
use super::report_file::plain_file;
use crate::workspace::remove_tree;

/// Its name in an attempt's folder.
pub const NAME: &str = "out";
/// The most documents of one set.
const DOCUMENTS_MAX: usize = 200;
/// The most bytes of one set.
const BYTES_MAX: usize = 4 << 20;

/// The folder, held open so that nobody can put another in its place.
#[derive(Debug)]
pub struct HandedOver(OwnedFd);

/// Makes the folder, with nothing in it.
pub fn create(path: &Path) -> std::io::Result<()> {
    remove_tree(path).map_err(std::io::Error::other)?;
    std::fs::create_dir_all(path)
}

impl HandedOver {
    /// Opens the folder; none where the worker took it away.
    pub fn open(path: &Path) -> Option<Self> {
        open(path, FOLDER, Mode::empty()).ok().map(Self)
    }

    /// A document; none where there is none.
    pub fn document(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        document(&self.0, name, &format!("`{name}`"))
    }

    /// The documents of a set, by their names; none where there are none.
    pub fn documents(&self, name: &str) -> Result<Option<BTreeMap<String, Vec<u8>>>, String> {
        let folder = match openat(&self.0, name, FOLDER, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(_) => return Err(format!("`{name}` is not a folder with a file for each document")),
        };
        let mut found = BTreeMap::new();
        let (entries, mut bytes) = (Dir::read_from(&folder).map_err(|error| format!("`{name}`: {error}"))?, 0);
        for entry in entries {
            let entry = entry.map_err(|error| format!("`{name}`: {error}"))?;
            let Ok(file) = entry.file_name().to_str() else {
                return Err(format!("`{name}` holds a file whose name is not text"));
            };
            if file == "." || file == ".." {
                continue;
            }
            if !is_name(file) {
                return Err(format!(
                    "`{name}/{}` is no name for a document: letters, digits, `-`, `_` and `.`",
                    file.escape_debug()
                ));
            }
            let Some(text) = document(&folder, file, &format!("`{name}/{file}`"))? else { continue };
            bytes += text.len();
            found.insert(file.to_owned(), text);
            if found.len() > DOCUMENTS_MAX || bytes > BYTES_MAX {
                return Err(format!("`{name}` holds more than {DOCUMENTS_MAX} documents or {BYTES_MAX} bytes"));
            }
        }
        Ok((!found.is_empty()).then_some(found))
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn document(folder: &OwnedFd, name: &str, what: &str) -> Result<Option<Vec<u8>>, String> {
    match plain_file(folder, name, what) {
        RawReport::File(bytes) => Ok(Some(bytes)),
        RawReport::Refused(why) => Err(why),
        RawReport::Nothing | RawReport::Printed { .. } => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::folder;

    #[test]
    fn only_plain_files_with_plain_names_are_documents() {
        let root = folder("handed-over");
        let out = root.join(NAME);
        create(&out).unwrap();
        let handed = HandedOver::open(&out).unwrap();
        assert_eq!((handed.document("spec"), handed.documents("notes")), (Ok(None), Ok(None)));
        std::fs::write(out.join("spec"), "# Spec").unwrap();
        std::fs::create_dir(out.join("notes")).unwrap();
        assert_eq!(handed.documents("notes"), Ok(None));
        std::fs::write(out.join("notes/a.md"), "a").unwrap();
        assert_eq!(handed.document("spec"), Ok(Some(b"# Spec".to_vec())));
        assert_eq!(handed.documents("notes"), Ok(Some([("a.md".to_owned(), b"a".to_vec())].into())));
        assert!(handed.document("notes").unwrap_err().contains("plain file"));
        assert!(handed.documents("spec").unwrap_err().contains("folder"));
        std::fs::write(out.join("notes/a b.md"), "a").unwrap();
        assert!(handed.documents("notes").unwrap_err().contains("no name"));
        std::os::unix::fs::symlink("/etc/passwd", out.join("passwd")).unwrap();
        assert!(handed.document("passwd").unwrap_err().contains("link"));
        create(&out).unwrap();
        assert!(!out.join("spec").exists(), "what an earlier try left is gone");
        std::fs::remove_dir(&out).unwrap();
        std::os::unix::fs::symlink("/etc", &out).unwrap();
        assert!(HandedOver::open(&out).is_none());
    }
}
