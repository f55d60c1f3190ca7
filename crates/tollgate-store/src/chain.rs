//! Proving a chain: names the first row that does not hold.

use std::sync::Arc;
use std::vec::IntoIter;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use crate::envelope::{check_event, said};
use crate::error::ReadError;
use crate::journal::{Journal, Row};

/// Rows asked for at a time.
const PAGE: usize = 256;

/// Why a chain does not hold. `seq` is the first event that is not proved.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ChainError {
    /// Events are not there.
    #[error("{run}: event {seq} is missing, the journal goes on with event {found}")]
    Missing {
        /// The run.
        run: RunId,
        /// The first event that is missing.
        seq: u64,
        /// What comes instead.
        found: u64,
    },
    /// An event is there twice.
    #[error("{run}: event {seq} is there twice")]
    Doubled {
        /// The run.
        run: RunId,
        /// The event.
        seq: u64,
    },
    /// A row holds what does not belong there.
    #[error("{run}: the row of event {seq} does not belong there: {reason}")]
    Foreign {
        /// The run.
        run: RunId,
        /// The first event of the row.
        seq: u64,
        /// What it says it is.
        reason: String,
    },
    /// The bytes are not those that were hashed.
    #[error("{run}: event {seq} does not chain: its row was changed, or the one before it")]
    Broken {
        /// The run.
        run: RunId,
        /// The first event of the row.
        seq: u64,
    },
    /// The chain holds, but is not the one that was expected.
    #[error("{run}: the chain ends at event {seq} with head {head}, not at event {expected_seq} with head {expected}")]
    Head {
        /// The run.
        run: RunId,
        /// Where the chain ends.
        seq: u64,
        /// Its head.
        head: Digest,
        /// Where it should end.
        expected_seq: u64,
        /// The head it should have.
        expected: Digest,
    },
    /// There is nothing to prove.
    #[error("{0} is not in the journal")]
    Absent(RunId),
    /// The journal could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl ChainError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. }
            | Self::Doubled { .. }
            | Self::Foreign { .. }
            | Self::Broken { .. }
            | Self::Absent(_) => Code::CHAIN_BROKEN,
            Self::Head { .. } => Code::CHAIN_HEAD,
            Self::Read(error) => error.code(),
        }
    }
}

/// A chain as far as it is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    run: RunId,
    /// The last event that is proved.
    pub seq: u64,
    /// The head at that event.
    pub head: Digest,
}

impl Chain {
    /// The chain of a run before its first event.
    pub fn new(run: RunId) -> Self {
        Self::at(run, 0, Digest::default())
    }

    /// A chain that is taken to hold up to an event: that of a snapshot.
    pub fn at(run: RunId, seq: u64, head: Digest) -> Self {
        Self { run, seq, head }
    }

    /// Proves one more row: the next events of this run, and the bytes that were hashed.
    pub fn link(&mut self, row: &Row) -> Result<(), ChainError> {
        self.link_said(row, row.events().map(said))
    }

    /// Proves one more row whose events were read: by what they say they are, one after the other.
    pub fn link_read(&mut self, row: &Row, read: impl Iterator<Item = (RunId, u64)>) -> Result<(), ChainError> {
        self.link_said(row, read.map(Ok))
    }

    fn link_said(
        &mut self,
        row: &Row,
        said: impl Iterator<Item = Result<(RunId, u64), String>>,
    ) -> Result<(), ChainError> {
        let (run, seq) = (self.run, self.seq + 1);
        if row.first > seq {
            return Err(ChainError::Missing { run, seq, found: row.first });
        }
        if row.first < seq {
            return Err(ChainError::Doubled { run, seq: row.first });
        }
        let mut last = self.seq;
        for said in said {
            last += 1;
            check_event(said, run, last).map_err(|reason| ChainError::Foreign { run, seq: last, reason })?;
        }
        if last != row.last || row.run != run {
            let reason = format!("it is filed as events {} to {} of {}", row.first, row.last, row.run);
            return Err(ChainError::Foreign { run, seq, reason });
        }
        let head = self.head.chain(&row.bytes);
        if head != row.head {
            return Err(ChainError::Broken { run, seq });
        }
        (self.seq, self.head) = (last, head);
        Ok(())
    }

    /// Compares the end of the chain with where it should end.
    pub fn ends(&self, expected_seq: u64, expected: Digest) -> Result<(), ChainError> {
        let Self { run, seq, head } = *self;
        if (seq, head) == (expected_seq, expected) {
            return Ok(());
        }
        Err(ChainError::Head { run, seq, head, expected_seq, expected })
    }
}

/// The rows of a run after an event, read page by page.
#[derive(Debug)]
pub struct Rows<'a, J: ?Sized> {
    journal: &'a J,
    run: RunId,
    after: u64,
    page: IntoIter<Row>,
    done: bool,
}

/// Reads the rows of a run that end after an event.
pub fn rows<J: Journal + ?Sized>(journal: &J, run: RunId, after: u64) -> Rows<'_, J> {
    Rows { journal, run, after, page: Vec::new().into_iter(), done: false }
}

impl<J: Journal + ?Sized> Iterator for Rows<'_, J> {
    type Item = Result<Row, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.len() == 0 && !self.done {
            match self.journal.load(self.run, self.after, PAGE) {
                Ok(page) => self.page = page.into_iter(),
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        let row = self.page.next();
        self.done |= row.is_none();
        // Never backwards, whatever a damaged store answers: reading ends.
        self.after = row.as_ref().map_or(self.after, |row| self.after.max(row.last));
        row.map(Ok)
    }
}

/// Proves the chain of rows from the first event on; the answer is where it ends.
pub fn verify_chain(run: RunId, rows: impl IntoIterator<Item = Result<Row, ReadError>>) -> Result<Chain, ChainError> {
    let mut chain = Chain::new(run);
    for row in rows {
        chain.link(&row?)?;
    }
    Ok(chain)
}

/// Proves the chain of a run in a journal, up to the head the journal has for it.
pub fn verify_run<J: Journal + ?Sized>(journal: &J, run: RunId) -> Result<Chain, ChainError> {
    // The head first: appends made meanwhile only make the chain longer.
    let end = journal.head(run)?.ok_or(ChainError::Absent(run))?;
    let mut chain = Chain::new(run);
    for row in rows(journal, run, 0) {
        let row = row?;
        if row.first > end.seq {
            break;
        }
        chain.link(&row)?;
    }
    chain.ends(end.seq, end.head)?;
    Ok(chain)
}

/// Reads an object that an event names: it must be there, as it was.
pub fn required<J: Journal + ?Sized>(journal: &J, digest: Digest) -> Result<Arc<[u8]>, ReadError> {
    journal.object(digest)?.ok_or(ReadError::Missing { digest })
}
