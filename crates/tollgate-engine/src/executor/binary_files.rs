//! Files that git shows no lines of, because a zero is in them or they are very large: their bytes are looked through, before and after.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_core::digest::Digest;
use tollgate_core::redact::Secrets;

use super::Failure;
use super::patch::{OVERLAP_BYTES, PIECE_BYTES};
use crate::process::Output;
use crate::workspace::Workspace;

/// How many secrets of one file are told apart.
const SECRETS_MAX: usize = 1_000;

/// The secrets of a content, by their names and what they are.
type Found = BTreeSet<(String, Digest)>;

/// What looks like a secret in files, by their contents before and after, and was not in them before.
pub(super) fn added(
    workspace: &Workspace,
    secrets: &Arc<Secrets>,
    files: &[(String, (String, String))],
) -> Result<Vec<String>, Failure> {
    let after = look(workspace, secrets, files.iter().map(|(_, (_, after))| after))?;
    let suspects: Vec<_> =
        files.iter().filter(|(_, (_, id))| after.get(id).is_some_and(|all| !all.is_empty())).collect();
    let before = look(workspace, secrets, suspects.iter().map(|(_, (before, _))| before))?;
    let new = |(path, (old, new)): &&(String, (String, String))| {
        let known = before.get(old);
        let found = after.get(new)?.iter().find(|one| known.is_none_or(|known| !known.contains(*one)))?;
        Some(format!("{} in {path}", found.0))
    };
    Ok(suspects.iter().copied().filter_map(|file| new(&file)).collect())
}

fn look<'i>(
    workspace: &Workspace,
    secrets: &Arc<Secrets>,
    ids: impl Iterator<Item = &'i String>,
) -> Result<BTreeMap<String, Found>, Failure> {
    // A file that is new or gone has no content there.
    let ids: BTreeSet<&String> = ids.filter(|id| id.bytes().any(|digit| digit != b'0')).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    let reader = Arc::new(Reader(Mutex::new(State::new(Arc::clone(secrets), PIECE_BYTES, OVERLAP_BYTES))));
    workspace.contents_into(&ids, Arc::clone(&reader) as Arc<dyn Output>)?;
    let found = std::mem::take(&mut reader.0.lock().unwrap_or_else(PoisonError::into_inner).found);
    match ids.iter().find(|id| !found.contains_key(*id)) {
        Some(id) => Err(Failure::Other(format!("the object {id} cannot be read"))),
        None => Ok(found),
    }
}

struct Reader(Mutex<State>);

impl Output for Reader {
    fn push(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

/// Reads `ID blob SIZE`, a line break, the content, and a line break, over and over.
struct State {
    secrets: Arc<Secrets>,
    found: BTreeMap<String, Found>,
    header: Vec<u8>,
    /// What is being read, and how much of it is left.
    id: String,
    left: u64,
    kept: Vec<u8>,
    piece: usize,
    overlap: usize,
}

impl State {
    fn new(secrets: Arc<Secrets>, piece: usize, overlap: usize) -> Self {
        let (found, header, id, kept) = (BTreeMap::new(), Vec::new(), String::new(), Vec::new());
        Self { secrets, found, header, id, left: 0, kept, piece, overlap }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(self.piece - self.kept.len());
                let (fits, rest) = bytes.split_at(bytes.len().min(most));
                self.kept.extend_from_slice(fits);
                self.left -= fits.len() as u64;
                bytes = rest;
                if self.left == 0 || self.kept.len() == self.piece {
                    self.look();
                }
                continue;
            }
            let end = memchr::memchr(b'\n', bytes);
            let (line, rest) = bytes.split_at(end.map_or(bytes.len(), |at| at + 1));
            self.header.extend_from_slice(line);
            bytes = rest;
            if end.is_some() {
                self.begin();
            }
        }
    }

    /// A content begins; the line break behind one is an empty line.
    fn begin(&mut self) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.header)).into_owned();
        let mut words = line.split_whitespace();
        let (Some(id), Some("blob"), Some(size)) = (words.next(), words.next(), words.next()) else { return };
        let Ok(size) = size.parse() else { return };
        (self.id, self.left) = (id.to_owned(), size);
        self.found.entry(self.id.clone()).or_default();
    }

    fn look(&mut self) {
        let found = self.found.entry(self.id.clone()).or_default();
        self.secrets.each_in(&self.kept, &mut |name, secret| {
            if found.len() < SECRETS_MAX {
                found.insert((name.to_owned(), Digest::of(secret)));
            }
        });
        // No secret is longer than what two pieces share.
        let shared = if self.left == 0 { 0 } else { self.overlap };
        self.kept.drain(..self.kept.len() - shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_looked_through_however_they_come() {
        let secrets = Arc::new(Secrets::new([("KEY".into(), "abcdefgh-12345678".to_owned())]).unwrap());
        let printed =
            b"11 blob 33\n\0\0\n\n1234 blob 9\nabcdefgh-12345678\n22 blob 0\n\n33 blob 5\nplain\n44 missing\n";
        for (at_once, piece) in [(1, 100), (7, 20), (printed.len(), 25)] {
            let mut state = State::new(Arc::clone(&secrets), piece, 18);
            printed.chunks(at_once).for_each(|bytes| state.push(bytes));
            let counts: Vec<(&str, usize)> = state.found.iter().map(|(id, found)| (id.as_str(), found.len())).collect();
            assert_eq!(counts, [("11", 1), ("22", 0), ("33", 0)], "{at_once} at once");
        }
    }
}
