//! One run in one file: `FILE.tar` with everything that is needed to verify it elsewhere.
//!
//! In this order: `manifest.json` (format, run, last event, head, number of rows), `rows.jsonl` (per row: first and last
//! event, size, head), `journal.jsonl` (the rows' bytes as they are, a newline after each) and `objects/DIGEST`. Nothing
//! depends on the time or the user, so the same run gives the same file. A file that is read comes from anywhere: names, order, sizes
//! and numbers are bounded and checked before anything is believed; whether the chain holds is for [`crate::chain`] to say.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use crate::chain::{Chain, ChainError, required, rows};
use crate::error::ReadError;
use crate::journal::{APPEND_BYTES_MAX, Journal, OBJECT_BYTES_MAX, Row};
use crate::memory::MemoryJournal;

/// The format this version writes, and the newest it reads.
const FORMAT: u32 = 1;
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;
const ROW_LINE_BYTES_MAX: usize = 512;

/// How much of a bundle is read before it is refused.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// All bytes together.
    pub bytes: u64,
    /// Rows.
    pub rows: u64,
    /// Objects.
    pub objects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 30, rows: 1_000_000, objects: 100_000 }
    }
}

/// What a bundle says it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the form.
    pub format: u32,
    /// The run.
    pub run: RunId,
    /// Its last event.
    pub seq: u64,
    /// The head of its chain at that event.
    pub head: Digest,
    /// How many rows there are.
    pub rows: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowLine {
    first: u64,
    last: u64,
    bytes: usize,
    head: Digest,
}

/// Why a bundle cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The run does not verify, so it is not passed on.
    #[error("the run does not verify")]
    Chain(#[from] ChainError),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file could not be read or written.
    #[error("the bundle cannot be read or written")]
    Io(#[from] io::Error),
    /// The file is no bundle.
    #[error("not a bundle: {0}")]
    Invalid(String),
    /// A newer Tollgate wrote it.
    #[error("the bundle has format {found}; this version of Tollgate knows formats up to {FORMAT}")]
    Newer {
        /// Its format.
        found: u32,
    },
}

impl BundleError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Invalid(_) => Code::BUNDLE_INVALID,
            Self::Chain(error) => error.code(),
            Self::Read(error) => error.code(),
            Self::Io(_) => Code::STORE_FAILED,
            Self::Newer { .. } => Code::BUNDLE_NEWER,
        }
    }
}

/// Writes a run and these objects. The chain is proved on the way: what does not verify here is not passed on.
pub fn write<J: Journal + ?Sized>(
    journal: &J,
    run: RunId,
    objects: &BTreeSet<Digest>,
    to: impl Write,
) -> Result<Manifest, BundleError> {
    let end = journal.head(run)?.ok_or(ChainError::Absent(run))?;
    let mut chain = Chain::new(run);
    let (mut index, mut size, mut count) = (Vec::new(), 0u64, 0);
    for row in rows(journal, run, 0) {
        let row = row?;
        // What was appended since belongs to the next bundle.
        if row.first > end.seq {
            break;
        }
        chain.link(&row)?;
        let line = RowLine { first: row.first, last: row.last, bytes: row.bytes.len(), head: row.head };
        serde_json::to_writer(&mut index, &line).map_err(io::Error::from)?;
        index.push(b'\n');
        size += row.bytes.len() as u64 + 1;
        count += 1;
    }
    chain.ends(end.seq, end.head)?;
    let manifest = Manifest { format: FORMAT, run, seq: end.seq, head: end.head, rows: count };
    let mut tar = tar::Builder::new(to);
    let text = serde_json::to_vec(&manifest).map_err(io::Error::from)?;
    entry(&mut tar, "manifest.json", text.len() as u64, &text[..])?;
    entry(&mut tar, "rows.jsonl", index.len() as u64, &index[..])?;
    let mut bytes = RowBytes { rows: rows(journal, run, 0), current: io::Cursor::default() };
    entry(&mut tar, "journal.jsonl", size, (&mut bytes).take(size))?;
    for digest in objects {
        let bytes = required(journal, *digest)?;
        entry(&mut tar, &format!("objects/{digest}"), bytes.len() as u64, &bytes[..])?;
    }
    tar.into_inner()?.flush()?;
    Ok(manifest)
}

fn entry(tar: &mut tar::Builder<impl Write>, name: &str, size: u64, data: impl Read) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_size(size);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_entry_type(tar::EntryType::Regular);
    tar.append_data(&mut header, name, data)
}

/// The bytes of rows one after the other, a newline after each.
struct RowBytes<R> {
    rows: R,
    current: io::Cursor<Vec<u8>>,
}

impl<R: Iterator<Item = Result<Row, ReadError>>> Read for RowBytes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.current.position() == self.current.get_ref().len() as u64 {
            let Some(row) = self.rows.next() else { return Ok(0) };
            let mut bytes = row.map_err(io::Error::other)?.bytes;
            bytes.push(b'\n');
            self.current = io::Cursor::new(bytes);
        }
        self.current.read(buffer)
    }
}

/// Reads a bundle into a journal in memory, as it is. The next thing to do is `verify_run(&journal, manifest.run)`, and
/// [`Chain::ends`] with the manifest's event and head.
pub fn read(from: impl Read, limits: Limits) -> Result<(Manifest, MemoryJournal), BundleError> {
    let mut archive = tar::Archive::new(from.take(limits.bytes));
    // Raw: extensions that rename or resize the next entry are entries like any other, and refused as such.
    let mut entries = archive.entries()?.raw(true);
    let mut next = |wanted: &str| -> Result<Option<tar::Entry<'_, _>>, BundleError> {
        let Some(entry) = entries.next().transpose()? else { return Ok(None) };
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let plain = entry.header().entry_type() == tar::EntryType::Regular;
        if !plain || !(name == wanted || wanted == "objects/" && name.starts_with(wanted)) {
            return Err(invalid(format!("`{name}` is not expected where `{wanted}` is")));
        }
        Ok(Some(entry))
    };
    let mut must = |wanted: &str| next(wanted)?.ok_or_else(|| invalid(format!("it ends before `{wanted}`")));

    let manifest = manifest(must("manifest.json")?, limits)?;
    let lines = row_lines(must("rows.jsonl")?, &manifest)?;
    let rows = journal_rows(must("journal.jsonl")?, manifest.run, lines)?;
    let mut objects: HashMap<Digest, Arc<[u8]>> = HashMap::new();
    while let Some(entry) = next("objects/")? {
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let digest = name.strip_prefix("objects/").and_then(|name| name.parse::<Digest>().ok());
        let digest = digest.ok_or_else(|| invalid(format!("`{name}` has no place in a bundle")))?;
        if objects.len() == limits.objects {
            return Err(invalid(format!("it has more than {} objects", limits.objects)));
        }
        let bytes = whole(entry, OBJECT_BYTES_MAX as u64)?;
        if objects.insert(digest, bytes.into()).is_some() {
            return Err(invalid(format!("object {digest} is there twice")));
        }
    }
    let mut rest = archive.into_inner();
    let behind = behind(&mut rest)?;
    // The limit looks like the end of the file; it must not pass for it.
    if rest.limit() == 0 {
        return Err(invalid(format!("it has more than {} bytes", limits.bytes)));
    }
    if behind {
        return Err(invalid("there are bytes after the end of the archive".to_owned()));
    }
    Ok((manifest, MemoryJournal::of(rows, objects)))
}

/// Whether anything but zeros stands behind the last entry: an archive is filled up with them.
fn behind(rest: &mut impl Read) -> Result<bool, BundleError> {
    let mut piece = [0u8; 8 * 1024];
    loop {
        match rest.read(&mut piece)? {
            0 => return Ok(false),
            read if piece[..read].iter().any(|byte| *byte != 0) => return Ok(true),
            _ => {}
        }
    }
}

fn invalid(reason: String) -> BundleError {
    BundleError::Invalid(reason)
}

/// Reads an entry whole. Memory grows with what is there, never with what a header says.
fn whole(entry: tar::Entry<'_, impl Read>, most: u64) -> Result<Vec<u8>, BundleError> {
    let size = entry.size();
    if size > most {
        return Err(invalid(format!("an entry has {size} bytes; at most {most} are allowed")));
    }
    let mut bytes = Vec::new();
    entry.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != size {
        return Err(invalid("it is cut off".to_owned()));
    }
    Ok(bytes)
}

fn manifest(entry: tar::Entry<'_, impl Read>, limits: Limits) -> Result<Manifest, BundleError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let text = whole(entry, MANIFEST_BYTES_MAX)?;
    let wrong = |error: serde_json::Error| invalid(format!("manifest.json: {error}"));
    // The format first: a newer manifest may have fields that this version does not know.
    let Format { format: found } = serde_json::from_slice(&text).map_err(wrong)?;
    if found > FORMAT {
        return Err(BundleError::Newer { found });
    }
    let manifest: Manifest = serde_json::from_slice(&text).map_err(wrong)?;
    if manifest.rows > limits.rows {
        return Err(invalid(format!("it has {} rows; at most {} are allowed", manifest.rows, limits.rows)));
    }
    Ok(manifest)
}

fn row_lines(entry: tar::Entry<'_, impl Read>, manifest: &Manifest) -> Result<Vec<RowLine>, BundleError> {
    let text = whole(entry, manifest.rows.saturating_mul(ROW_LINE_BYTES_MAX as u64))?;
    let mut lines: Vec<RowLine> = Vec::new();
    for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n') {
        let at = lines.len() + 1;
        let line: RowLine =
            serde_json::from_slice(line).map_err(|error| invalid(format!("rows.jsonl line {at}: {error}")))?;
        if line.bytes > APPEND_BYTES_MAX {
            return Err(invalid(format!("rows.jsonl line {at}: a row of {} bytes", line.bytes)));
        }
        // A journal is read by the last event of its rows, so these must rise; what is missing the chain will say.
        if line.last <= lines.last().map_or(0, |before| before.last) {
            return Err(invalid(format!("rows.jsonl line {at}: event {} comes too late", line.last)));
        }
        lines.push(line);
    }
    if lines.len() as u64 != manifest.rows {
        return Err(invalid(format!("it has {} rows; its manifest says {}", lines.len(), manifest.rows)));
    }
    Ok(lines)
}

fn journal_rows(
    mut entry: tar::Entry<'_, impl Read>,
    run: RunId,
    lines: Vec<RowLine>,
) -> Result<Vec<Row>, BundleError> {
    let expected: u64 = lines.iter().map(|line| line.bytes as u64 + 1).sum();
    if entry.size() != expected {
        return Err(invalid(format!("journal.jsonl has {} bytes; its rows have {expected}", entry.size())));
    }
    let mut rows = Vec::new();
    for RowLine { first, last, bytes: size, head } in lines {
        let mut bytes = Vec::new();
        entry.by_ref().take(size as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() != size + 1 || bytes.pop() != Some(b'\n') {
            return Err(invalid(format!("journal.jsonl: the row of event {first} is cut off")));
        }
        rows.push(Row { place: 0, run, first, last, head, bytes });
    }
    Ok(rows)
}
