//! A change as lines that each file got and lost.

use std::collections::BTreeMap;

use super::Failure;
use crate::workspace::{ObjectId, Workspace};

/// How much of a change is looked through.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// What a change does to one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// The lines that it got.
    pub added: Vec<u8>,
    /// How many it lost.
    pub removed: usize,
    /// Whether it was there and is gone, changed its mode, or is no text.
    pub odd: bool,
}

/// Reads what lies between two trees, file by file.
pub(super) fn read(workspace: &Workspace, from: &ObjectId, to: &ObjectId) -> Result<BTreeMap<String, Lines>, Failure> {
    let (patch, _) = workspace.diff(from, to, None, BYTES_MAX)?;
    Ok(files(&patch))
}

fn files(patch: &[u8]) -> BTreeMap<String, Lines> {
    let mut files: BTreeMap<String, Lines> = BTreeMap::new();
    let (mut file, mut within) = (String::new(), false);
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if let Some(header) = line.strip_prefix(b"diff --git ") {
            within = false;
            file = path(&String::from_utf8_lossy(header.trim_ascii_end()));
            files.entry(file.clone()).or_default();
            continue;
        }
        let Some(known) = files.get_mut(&file) else { continue };
        match line.first() {
            Some(b'@') if line.starts_with(b"@@") => within = true,
            Some(b'+') if within => known.added.extend_from_slice(&line[1..]),
            Some(b'-') if within => known.removed += 1,
            _ if !within => {
                let odd = [&b"deleted file"[..], b"old mode", b"Binary files", b"GIT binary"];
                known.odd |= odd.iter().any(|start| line.starts_with(start));
            }
            _ => {}
        }
    }
    files
}

/// The path of `a/PATH b/PATH`, or of the two in git's quotes, as we write it.
fn path(header: &str) -> String {
    let half = header.get(..header.len() / 2).unwrap_or_default();
    match half.strip_prefix("\"a/") {
        Some(quoted) => format!("\"{quoted}"),
        None => half.strip_prefix("a/").unwrap_or(half).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_its_lines() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n-old\n same\n+new\n+++ odd\n--- gone\n\
            diff --git a/y y b/y y\nnew file mode 100644\n--- /dev/null\n+++ b/y y\n@@ -0,0 +1 @@\n+y\n\
            diff --git \"a/q\\012\" \"b/q\\012\"\ndeleted file mode 100644\n\
            diff --git a/bin b/bin\nindex 1..2\nBinary files a/bin and b/bin differ\n\
            diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
        let files = files(patch);
        let shown: Vec<(&str, &[u8], usize, bool)> =
            files.iter().map(|(path, file)| (&**path, &*file.added, file.removed, file.odd)).collect();
        let expected: [(&str, &[u8], usize, bool); 5] = [
            ("\"q\\012\"", b"", 0, true),
            ("bin", b"", 0, true),
            ("m", b"", 0, true),
            ("x", b"new\n++ odd\n", 2, false),
            ("y y", b"y\n", 0, false),
        ];
        assert_eq!(shown, expected);
    }
}
