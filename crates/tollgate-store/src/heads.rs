//! The heads of all chains in one small file beside the database: it may lag, it never leads, so that a lost tail is seen.
//!
//! One record of 64 bytes per run, at the run's slot: the id's eight digits, the last event (little endian), the head, and
//! the first 16 bytes of the digest of these. A record that was torn or never written does not match its check and says nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use crate::error::StoreError;

const RECORD_BYTES: usize = 64;
const CHECKED_BYTES: usize = 48;

/// What the file of heads says about a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadRecord {
    /// The run.
    pub run: RunId,
    /// An event that was committed.
    pub seq: u64,
    /// The chain's head at that event.
    pub head: Digest,
}

/// What the database lacks of what the file of heads says was committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeadDamage {
    /// The end of the run's chain is gone.
    #[error("{} had event {} and ends at event {has}", had.run, had.seq)]
    LostTail {
        /// What was committed.
        had: HeadRecord,
        /// The last event that is left; 0 if the run is gone.
        has: u64,
    },
    /// The chain has that event, but another head there.
    #[error("{}: event {} is not the one that was committed", had.run, had.seq)]
    Differs {
        /// What was committed.
        had: HeadRecord,
        /// The head that is there now; none if no row ends at that event.
        has: Option<Digest>,
    },
}

/// A run whose place in the file holds no record of it: the loss of its end could not be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// The run.
    pub run: RunId,
    /// What is in its place.
    pub there: There,
}

/// What is in the place of a run's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum There {
    /// The record.
    Whole(HeadRecord),
    /// Nothing: it was never written, or the file is gone.
    Nothing,
    /// Bytes that are no record.
    Junk,
}

impl HeadDamage {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        Code::TAIL_LOST
    }
}

impl HeadRecord {
    fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut record = [0u8; RECORD_BYTES];
        record[..8].copy_from_slice(self.run.digits().as_bytes());
        record[8..16].copy_from_slice(&self.seq.to_le_bytes());
        record[16..CHECKED_BYTES].copy_from_slice(&self.head.0);
        let check = Digest::of(&record[..CHECKED_BYTES]);
        record[CHECKED_BYTES..].copy_from_slice(&check.0[..RECORD_BYTES - CHECKED_BYTES]);
        record
    }

    fn decode(record: &[u8]) -> Option<Self> {
        let (checked, check) = record.split_at_checked(CHECKED_BYTES)?;
        if Digest::of(checked).0[..RECORD_BYTES - CHECKED_BYTES] != *check {
            return None;
        }
        Some(Self {
            run: format!("run_{}", str::from_utf8(&checked[..8]).ok()?).parse().ok()?,
            seq: u64::from_le_bytes(checked[8..16].try_into().ok()?),
            head: Digest(checked[16..].try_into().ok()?),
        })
    }
}

/// The open file of heads; none where there is none and none can be made.
#[derive(Debug)]
pub(crate) struct Heads {
    file: Option<File>,
    path: PathBuf,
}

impl Heads {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = crate::objects::private_file(path).map_err(|e| StoreError::io("open", path, e))?;
        Ok(Self { file: Some(file), path: path.to_owned() })
    }

    /// Opens the file as it is, for reading only; one that is not there names nothing.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        let file = crate::objects::file_if_any(path).map_err(|e| StoreError::io("open", path, e))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The slots in use: a new run takes none of them, even when the database has forgotten whose they are.
    pub(crate) fn slots(&self) -> Result<u64, StoreError> {
        let Some(file) = &self.file else { return Ok(0) };
        let metadata = file.metadata().map_err(|e| StoreError::io("read", &self.path, e))?;
        Ok(metadata.len().div_ceil(RECORD_BYTES as u64))
    }

    /// Writes records at their slots (from 1); neighbours go out in one write.
    pub(crate) fn write(&self, records: &mut [(u64, HeadRecord)]) -> io::Result<()> {
        let Some(file) = &self.file else { return Err(io::ErrorKind::ReadOnlyFilesystem.into()) };
        records.sort_by_key(|(slot, record)| (*slot, record.seq));
        let mut start = 0u64;
        let mut bytes: Vec<u8> = Vec::with_capacity(records.len() * RECORD_BYTES);
        for (slot, record) in records {
            let offset = (*slot - 1) * RECORD_BYTES as u64;
            let end = start + bytes.len() as u64;
            if !bytes.is_empty() && offset + RECORD_BYTES as u64 == end {
                // The same run again, later in the batch.
                bytes.truncate(bytes.len() - RECORD_BYTES);
            } else if bytes.is_empty() || offset != end {
                file.write_all_at(&bytes, start)?;
                bytes.clear();
                start = offset;
            }
            bytes.extend_from_slice(&record.encode());
        }
        file.write_all_at(&bytes, start)
    }

    /// Writes the record of one run.
    pub(crate) fn record(&self, slot: u64, record: HeadRecord) -> Result<(), StoreError> {
        self.write(&mut [(slot, record)]).map_err(|e| StoreError::io("write", &self.path, e))
    }

    /// What is in every place of the file, from the first on.
    pub(crate) fn read(&self) -> Result<Vec<There>, StoreError> {
        let failed = |e| StoreError::io("read", &self.path, e);
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        let mut buffer = vec![0u8; RECORD_BYTES * 1024];
        let mut offset = 0u64;
        loop {
            let mut filled = 0;
            while filled < buffer.len() {
                match file.read_at(&mut buffer[filled..], offset + filled as u64).map_err(failed)? {
                    0 => break,
                    read => filled += read,
                }
            }
            records.extend(buffer[..filled].chunks(RECORD_BYTES).map(There::of));
            offset += filled as u64;
            if filled < buffer.len() {
                return Ok(records);
            }
        }
    }

    /// Every record that is whole.
    pub(crate) fn records(&self) -> Result<Vec<HeadRecord>, StoreError> {
        let whole = |there| if let There::Whole(record) = there { Some(record) } else { None };
        Ok(self.read()?.into_iter().filter_map(whole).collect())
    }
}

impl There {
    fn of(place: &[u8]) -> Self {
        match HeadRecord::decode(place) {
            Some(record) => Self::Whole(record),
            None if place.iter().all(|byte| *byte == 0) => Self::Nothing,
            None => Self::Junk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bits: u64, seq: u64) -> HeadRecord {
        HeadRecord { run: RunId::from_bits(bits), seq, head: Digest::of(&seq.to_le_bytes()) }
    }

    #[test]
    fn a_record_reads_back_and_a_torn_one_says_nothing() {
        let good = record(7, 42);
        let bytes = good.encode();
        assert_eq!(HeadRecord::decode(&bytes), Some(good));
        assert_eq!(HeadRecord::decode(&bytes[..63]), None);
        for i in 0..RECORD_BYTES {
            let mut torn = bytes;
            torn[i] ^= 1;
            assert_eq!(HeadRecord::decode(&torn), None, "byte {i}");
        }
    }

    #[test]
    fn slots_apart_together_and_twice_all_land_where_they_belong() {
        let path = std::env::temp_dir().join(format!("tollgate-heads-{}", std::process::id()));
        let heads = Heads::open(&path).unwrap();
        let mut batch = [(2, record(2, 5)), (1, record(1, 1)), (2, record(2, 9)), (5, record(5, 3)), (2, record(2, 7))];
        heads.write(&mut batch).unwrap();
        assert_eq!(heads.records().unwrap(), [record(1, 1), record(2, 9), record(5, 3)]);
        assert_eq!(heads.read().unwrap()[2..4], [There::Nothing; 2]);
        assert_eq!(heads.slots().unwrap(), 5);
        std::fs::remove_file(&path).unwrap();
    }
}
