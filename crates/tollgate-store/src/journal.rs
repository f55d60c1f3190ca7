//! The trait every store implements, and what goes in and out of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

use crate::error::{AppendError, ReadError, StoreError};
use crate::lease::{Lease, LeaseError, LeaseRequest};
use crate::shared::{Notes, Says, Total};

/// Objects up to this size are committed with the event that names them; larger ones are files, synced before it.
pub const SMALL_OBJECT_BYTES: usize = 64 * 1024;
/// The largest object.
pub const OBJECT_BYTES_MAX: usize = 256 << 20;
/// The largest append: all its events together.
pub const APPEND_BYTES_MAX: usize = 8 << 20;
/// The most events in one append.
pub const APPEND_EVENTS_MAX: usize = 10_000;
/// The largest snapshot; a run that outgrows it is loaded from its events.
pub const SNAPSHOT_BYTES_MAX: usize = 64 << 20;
/// The largest body of a summary.
pub const SUMMARY_BYTES_MAX: usize = 64 * 1024;
/// A read stops after the row that passes this many bytes, whatever its limit in rows.
pub const READ_BYTES: usize = 4 << 20;

/// Content named by its digest. Made in one way, so that the name is always right and never worked out twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    digest: Digest,
    bytes: Arc<[u8]>,
}

impl Object {
    /// Names some content.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { digest: Digest::of(&bytes), bytes }
    }

    /// The SHA-256 of the bytes.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// The content.
    pub const fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Whether it is committed with the event that names it.
    pub fn is_small(&self) -> bool {
        self.bytes.len() <= SMALL_OBJECT_BYTES
    }
}

/// What a writer says about a run for lists: written with every append, in its transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryText {
    /// One word lists can be narrowed to.
    pub status: String,
    /// The repository of the run; lists can be narrowed to it.
    pub repository: String,
    /// When the run last changed.
    pub at_ms: u64,
    /// Everything else a list shows; opaque to the store.
    pub body: Vec<u8>,
}

/// One change of one run: objects, events, summary and snapshot become visible together or not at all.
#[derive(Debug, Clone)]
pub struct Append {
    /// The run that changes.
    pub run: RunId,
    /// The last event the writer has seen; 0 starts the run.
    pub expected: u64,
    /// The head the writer has seen; refused when the run's is another one, so that nothing is chained onto damage.
    pub head: Option<Digest>,
    /// The epoch under which the writer acts; refused in the same transaction when it is not the run's.
    pub fence: Option<u64>,
    /// The shared keys from which the writer decided, each with the place at which it was read; refused when one changed since.
    pub seen: BTreeMap<String, u64>,
    /// One JSON text per event without a raw newline, naming `run` and `seq` from `expected + 1` on.
    pub events: Vec<Vec<u8>>,
    /// What the events name.
    pub objects: Vec<Object>,
    /// What lists show from now on.
    pub summary: SummaryText,
    /// Everything that the run says to other runs from now on.
    pub says: Says,
    /// The state after the last of the events.
    pub snapshot: Option<Vec<u8>>,
}

/// Where an append ended up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Its place in the order over all runs.
    pub place: u64,
    /// The run's last event.
    pub seq: u64,
    /// The head of the run's chain.
    pub head: Digest,
}

/// One append as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its place in the order over all runs.
    pub place: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// Its first event.
    pub first: u64,
    /// Its last event.
    pub last: u64,
    /// The chain's head after it: sha256(previous head ‖ bytes).
    pub head: Digest,
    /// The texts of its events, joined by newlines.
    pub bytes: Vec<u8>,
}

impl Row {
    /// The texts of its events.
    pub fn events(&self) -> impl Iterator<Item = &[u8]> {
        let ends = memchr::memchr_iter(b'\n', &self.bytes).chain([self.bytes.len()]);
        let mut start = 0;
        ends.map(move |end| &self.bytes[std::mem::replace(&mut start, end + 1)..end])
    }
}

/// A state that saves replaying what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The last event in it.
    pub seq: u64,
    /// The chain's head at that event.
    pub head: Digest,
    /// The state; opaque to the store.
    pub bytes: Vec<u8>,
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its last event.
    pub seq: u64,
    /// The place of its last append.
    pub place: u64,
    /// The head of its chain.
    pub head: Digest,
    /// Its epoch; 0 until it is leased.
    pub epoch: u64,
}

/// One run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// Where it stands.
    pub head: Head,
    /// What its last writer said.
    pub text: SummaryText,
    /// Its lease, if it ever had one; it may have passed.
    pub lease: Option<Lease>,
}

/// A run that no list can show: a value of its row cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlisted {
    /// The run, where its id can be read.
    pub run: Option<RunId>,
    /// How its row names itself.
    pub named: String,
    /// What is wrong.
    pub why: String,
}

/// The runs that meet a filter, and those of them that cannot be shown: one bad row hides no other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// The last changed first.
    pub runs: Vec<Summary>,
    /// What is damaged.
    pub damaged: Vec<Unlisted>,
}

/// Which runs to list: those that meet all that is given, the last changed first.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// How the id begins, without `run_`.
    pub prefix: Option<String>,
    /// The status.
    pub status: Option<String>,
    /// The repository.
    pub repository: Option<String>,
    /// At most this many.
    pub limit: Option<usize>,
}

/// A journal of many runs. Any number of handles, threads and processes may use one store.
pub trait Journal: Send + Sync {
    /// Appends if the run is at the expected event and the epoch is the run's; returns after the commit.
    fn append(&self, append: Append) -> Result<Appended, AppendError>;

    /// Rows of a run that end after an event, in order; empty at the end of the journal.
    fn load(&self, run: RunId, after: u64, limit: usize) -> Result<Vec<Row>, ReadError>;

    /// Rows of all runs after a place, in order; waits so long for the first one.
    fn since(&self, place: u64, limit: usize, wait: Duration) -> Result<Vec<Row>, ReadError>;

    /// The last place in the order over all runs; 0 in an empty store.
    fn place(&self) -> Result<u64, ReadError>;

    /// Where a run stands; none if there is no such run.
    fn head(&self, run: RunId) -> Result<Option<Head>, ReadError>;

    /// The runs that meet a filter, the last changed first.
    fn list(&self, filter: &Filter) -> Result<Listed, ReadError>;

    /// What a run says to others since its last append.
    fn says(&self, run: RunId) -> Result<Says, ReadError>;

    /// The amounts under a shared key, of all runs but one.
    fn total(&self, key: &str, but: RunId) -> Result<Total, ReadError>;

    /// The notes under a shared key, of all runs but one.
    fn notes(&self, key: &str, but: RunId) -> Result<Notes, ReadError>;

    /// The last snapshot of a run, if there is one that is whole and lies on the run's chain.
    fn snapshot(&self, run: RunId) -> Result<Option<Snapshot>, ReadError>;

    /// The bytes of an object, compared with their digest.
    fn object(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, ReadError>;

    /// Takes, prolongs or gives back the lease of a run.
    fn lease(&self, run: RunId, request: LeaseRequest) -> Result<Lease, LeaseError>;

    /// The secret of a run, if it has one. It is beside the journal: no row, no summary and no snapshot has it.
    fn secret(&self, run: RunId) -> Result<Option<RunSecret>, ReadError>;

    /// Keeps the secret of a run, unless it has one; returns the one that is kept, after the commit.
    fn keep_secret(&self, run: RunId, offered: &RunSecret) -> Result<RunSecret, StoreError>;
}
