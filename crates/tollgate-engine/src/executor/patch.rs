//! A change as lines that each file got and lost. It is read as it comes, however large it is: nothing is left out.

use std::sync::{Arc, Mutex, PoisonError};

use super::Failure;
use crate::process::Output;
use crate::workspace::{ObjectId, Workspace};

/// How much of one file is looked at at once.
pub(super) const PIECE_BYTES: usize = 8 * 1024 * 1024;
/// How much of that is looked at again with what follows: no secret and no word is longer.
pub(super) const OVERLAP_BYTES: usize = 64 * 1024;
/// How much is kept of a line that is no content: it names a file, or what became of it.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// What a change does to one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileLines {
    pub path: String,
    /// The lines that it got; of a large file a piece of them, which begins with the end of the one before.
    pub added: Vec<u8>,
    /// How many it has lost so far.
    pub removed: usize,
    /// Whether it was there and is gone, changed its mode, or is no text.
    pub odd: bool,
    /// The contents before and after where git shows no lines of it.
    pub blobs: Option<(String, String)>,
}

/// Looks at the files of a change, one after the other; at a large one several times.
pub(super) trait PatchVisitor: Send + 'static {
    fn visit(&mut self, lines: &FileLines);
}

/// Reads what lies between two trees.
pub(super) fn read<L: PatchVisitor>(
    workspace: &Workspace,
    from: &ObjectId,
    to: &ObjectId,
    visitor: L,
) -> Result<L, Failure> {
    let reader = Arc::new(Reader(Mutex::new(Some(State::new(visitor, PIECE_BYTES, OVERLAP_BYTES)))));
    workspace.diff_into(from, to, None, &["--full-index"], Arc::clone(&reader) as Arc<dyn Output>)?;
    let state = reader.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let state = state.ok_or_else(|| Failure::Other("the change was read twice".to_owned()))?;
    Ok(state.end())
}

struct Reader<L>(Mutex<Option<State<L>>>);

impl<L: PatchVisitor> Output for Reader<L> {
    fn push(&self, bytes: &[u8]) {
        if let Some(state) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            state.push(bytes);
        }
    }
}

/// What the line is that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    /// It is kept until it ends.
    Header,
    Added,
    Skipped,
}

struct State<L> {
    visitor: L,
    file: Option<FileLines>,
    /// Whether the lines are those of the file.
    within: bool,
    at: At,
    header: Vec<u8>,
    /// The contents of the file before and after.
    index: Option<(String, String)>,
    piece: usize,
    overlap: usize,
}

impl<L: PatchVisitor> State<L> {
    const fn new(visitor: L, piece: usize, overlap: usize) -> Self {
        Self { visitor, file: None, within: false, at: At::Start, header: Vec::new(), index: None, piece, overlap }
    }

    fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if self.at == At::Start {
                self.at = match first {
                    b'+' if self.within => At::Added,
                    b'-' | b' ' | b'\\' if self.within => At::Skipped,
                    _ => At::Header,
                };
                match (self.at, &mut self.file) {
                    // The mark is no part of the line.
                    (At::Added, _) => rest = &rest[1..],
                    (At::Skipped, Some(file)) if *first == b'-' => file.removed += 1,
                    _ => {}
                }
            }
            let end = memchr::memchr(b'\n', rest);
            let (line, after) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
            rest = after;
            match self.at {
                At::Added => self.added(line),
                At::Header => self.header.extend(line.iter().take(HEADER_BYTES_MAX.saturating_sub(self.header.len()))),
                At::Start | At::Skipped => {}
            }
            if end.is_some() {
                self.line_ends();
            }
        }
    }

    fn added(&mut self, mut bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        while !bytes.is_empty() {
            let (fits, rest) = bytes.split_at(bytes.len().min(self.piece - file.added.len()));
            file.added.extend_from_slice(fits);
            bytes = rest;
            if file.added.len() == self.piece {
                self.visitor.visit(file);
                file.added.drain(..self.piece - self.overlap);
            }
        }
    }

    fn line_ends(&mut self) {
        if self.at == At::Header {
            let line = std::mem::take(&mut self.header);
            if let Some(names) = line.strip_prefix(b"diff --git ") {
                self.file_ends();
                self.within = false;
                let path = path(&String::from_utf8_lossy(names.trim_ascii_end()));
                self.file = Some(FileLines { path, ..FileLines::default() });
            } else if line.starts_with(b"@@") {
                self.within = true;
            } else if let Some(ids) = line.strip_prefix(b"index ") {
                self.index = index(&String::from_utf8_lossy(ids));
            } else if let Some(file) = &mut self.file {
                let odd = [&b"deleted file"[..], b"old mode", b"Binary files", b"GIT binary"];
                file.odd |= odd.iter().any(|start| line.starts_with(start));
                if line.starts_with(b"Binary files") {
                    file.blobs = self.index.take();
                }
            }
        }
        self.at = At::Start;
    }

    fn file_ends(&mut self) {
        if let Some(file) = self.file.take() {
            self.visitor.visit(&file);
        }
    }

    fn end(mut self) -> L {
        self.file_ends();
        self.visitor
    }
}

/// The two ids of `ID..ID MODE`.
fn index(ids: &str) -> Option<(String, String)> {
    let (before, after) = ids.split_whitespace().next()?.split_once("..")?;
    Some((before.to_owned(), after.to_owned()))
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

    impl PatchVisitor for Vec<FileLines> {
        fn visit(&mut self, lines: &FileLines) {
            self.push(lines.clone());
        }
    }

    /// What is seen of a patch that comes in pieces of so many bytes.
    fn seen(patch: &[u8], at_once: usize, piece: usize, overlap: usize) -> Vec<FileLines> {
        let mut state = State::new(Vec::new(), piece, overlap);
        patch.chunks(at_once).for_each(|bytes| state.push(bytes));
        state.end()
    }

    #[test]
    fn each_file_has_its_lines_however_they_come() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n-old\n same\n+new\n+++ odd\n--- gone\n\
            @@ -9 +9 @@\n-\n+more\n\\ No newline at end of file\n\
            diff --git a/y y b/y y\nnew file mode 100644\n--- /dev/null\n+++ b/y y\n@@ -0,0 +1 @@\n+y\n\
            diff --git \"a/q\\012\" \"b/q\\012\"\ndeleted file mode 100644\n\
            diff --git a/bin b/bin\nindex 1..2\nBinary files a/bin and b/bin differ\n\
            diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
        let expected: [(&str, &[u8], usize, bool); 5] = [
            ("x", b"new\n++ odd\nmore\n", 3, false),
            ("y y", b"y\n", 0, false),
            ("\"q\\012\"", b"", 0, true),
            ("bin", b"", 0, true),
            ("m", b"", 0, true),
        ];
        for at_once in [1, 2, 7, patch.len()] {
            let files = seen(patch, at_once, 1000, 10);
            let shown: Vec<(&str, &[u8], usize, bool)> =
                files.iter().map(|file| (&*file.path, &*file.added, file.removed, file.odd)).collect();
            assert_eq!(shown, expected, "{at_once} at once");
            let blobs = files.iter().map(|file| file.blobs.is_some()).collect::<Vec<_>>();
            assert_eq!(blobs, [false, false, false, true, false]);
        }
    }

    #[test]
    fn a_large_file_comes_in_pieces_that_share_their_ends() {
        let patch = b"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+0123456789\n+abc\n-b\n";
        for at_once in [1, 3, patch.len()] {
            let files = seen(patch, at_once, 8, 3);
            let pieces: Vec<&[u8]> = files.iter().map(|file| &*file.added).collect();
            assert_eq!(pieces, [&b"01234567"[..], b"56789\nab", b"\nabc\n"], "{at_once} at once");
            assert_eq!(files.last().unwrap().removed, 2);
        }
    }
}
