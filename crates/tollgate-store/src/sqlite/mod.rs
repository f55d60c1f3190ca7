//! The journal in SQLite: one database per state directory, any number of processes.
//!
//! `journal.db` holds rows, runs, small objects, snapshots, leases, secrets and what runs say to each other; `objects/` the large objects; `heads` the heads of
//! the chains as far as they are known to be committed.

mod cut;
mod reader;
mod schema;
mod shared;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

use crate::envelope::Checked;
use crate::error::{AppendError, OpenError, ReadError, StoreError};
use crate::faults::{Faults, Point};
use crate::heads::{HeadDamage, HeadRecord, Heads, There, Unrecorded};
use crate::journal::{Append, Appended, Filter, Head, Journal, Listed, Row, Snapshot};
use crate::lease::{Lease, LeaseError, LeaseRequest};
use crate::objects::{ObjectFiles, checked, private_dir};
use crate::shared::{Notes, Says, Total};
pub use cut::{Cut, Filed, Stray};
use reader::Readers;
use schema::Access;
use writer::{Job, Shared, Writer};

/// Appends that may wait for the writer before a caller is held up.
const QUEUE_MAX: usize = 1024;
/// How long a subscriber may not notice what another process appended.
const POLL: Duration = Duration::from_millis(20);

/// How a journal is opened.
#[derive(Clone)]
pub struct Options {
    /// How long to wait for other processes before the journal counts as locked.
    pub busy: Duration,
    /// The most pages the database may grow to, for tests of a full disk.
    pub pages_max: Option<u32>,
    /// What goes wrong between two writes, for tests and the simulator.
    pub faults: Option<Arc<dyn Faults>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { busy: Duration::from_secs(10), pages_max: None, faults: None }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("busy", &self.busy).finish_non_exhaustive()
    }
}

/// One handle on a journal in SQLite. Threads share a handle; processes open one each.
pub struct SqliteJournal {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    /// None in a journal that was opened to be read.
    writer: Option<Arc<Mutex<Writer>>>,
    readers: Readers,
    objects: ObjectFiles,
    heads: Arc<Heads>,
    shared: Arc<Shared>,
}

impl fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteJournal").field("readers", &self.readers).finish_non_exhaustive()
    }
}

impl SqliteJournal {
    /// Opens the journal of a state directory, and makes it if it is not there.
    pub fn open(dir: &Path, options: Options) -> Result<Self, OpenError> {
        private_dir(dir)?;
        let path = dir.join("journal.db");
        let heads = Arc::new(Heads::open(&dir.join("heads"))?);
        // Looked at before the database is opened: what these name was committed, so the database cannot be new.
        let named = heads.slots()?;
        let may_be_new = || match if named == 0 { 0 } else { heads.records()?.len() } {
            0 => Ok(()),
            runs => Err(OpenError::Lost { path: dir.join("heads"), runs }),
        };
        let connection = schema::open(&path, options.busy, may_be_new)?;
        if let Some(pages) = options.pages_max {
            connection.pragma_update(None, "max_page_count", pages).map_err(StoreError::from)?;
        }
        let objects = ObjectFiles::open(dir.join("objects"))?;
        let shared = Arc::new(Shared { faults: options.faults, ..Shared::default() });
        let (jobs, queue) = sync_channel(QUEUE_MAX);
        let writer = Writer { connection, heads: Arc::clone(&heads), shared: Arc::clone(&shared), busy: options.busy };
        let writer = Arc::new(Mutex::new(writer));
        let (used, told) = (Arc::clone(&writer), Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("journal-writer".to_owned())
            .spawn(move || writer::run(&used, &told, &queue))
            .map_err(|e| StoreError::io("start the writer of", dir, e))?;
        let readers = Readers::new(path, options.busy, Access::Write);
        Ok(Self { jobs: Some(jobs), thread: Some(thread), writer: Some(writer), readers, objects, heads, shared })
    }

    /// Opens the journal of a state directory for somebody who only reads: one that cannot be written will do.
    pub fn open_to_read(dir: &Path, options: Options) -> Result<Self, OpenError> {
        let busy = options.busy;
        let refused = match Self::open(dir, options) {
            Err(error) if error.code() == Code::STORE_READ_ONLY => error,
            other => return other,
        };
        let path = dir.join("journal.db");
        let access = schema::open_to_read(&path, busy).map_err(|error| match error {
            OpenError::Store(StoreError::ReadOnly(_)) => refused,
            error => error,
        })?;
        Ok(Self {
            jobs: None,
            thread: None,
            writer: None,
            readers: Readers::new(path, busy, access),
            objects: ObjectFiles::open_to_read(dir.join("objects")),
            heads: Arc::new(Heads::open_to_read(&dir.join("heads"))?),
            shared: Arc::new(Shared::default()),
        })
    }

    /// Whether it can only be read.
    pub fn is_read_only(&self) -> bool {
        self.writer.is_none()
    }

    fn writable(&self) -> Result<(), StoreError> {
        self.shared.alive()?;
        if self.is_read_only() { Err(StoreError::read_only()) } else { Ok(()) }
    }

    /// Compares the database with the heads that were committed: names every run that lost its tail or differs.
    pub fn check_heads(&self) -> Result<Vec<HeadDamage>, ReadError> {
        self.shared.alive()?;
        let records = self.heads.records()?;
        self.readers.read(|connection| {
            records.into_iter().filter_map(|had| reader::compare(connection, had).transpose()).collect()
        })
    }

    /// The runs of which the file of heads has no record.
    pub fn unrecorded(&self) -> Result<Vec<Unrecorded>, ReadError> {
        self.shared.alive()?;
        // The runs first: what is appended meanwhile is recorded by its writer.
        let slots = self.readers.read(reader::slots)?;
        let places = self.heads.read()?;
        let there = |slot: u64| {
            let at = usize::try_from(slot).ok().and_then(|slot| slot.checked_sub(1));
            at.and_then(|at| places.get(at).copied()).unwrap_or(There::Nothing)
        };
        let missing = slots.into_iter().map(|(slot, run)| Unrecorded { run, there: there(slot) });
        Ok(missing.filter(|one| !matches!(one.there, There::Whole(record) if record.run == one.run)).collect())
    }

    /// Writes the record of a run whose chain was proved up to here, where there is none. It may lag, it never leads.
    pub fn record_head(&self, record: HeadRecord) -> Result<(), ReadError> {
        self.writable()?;
        let slots = self.readers.read(reader::slots)?;
        let Some((slot, _)) = slots.into_iter().find(|(_, run)| *run == record.run) else { return Ok(()) };
        self.heads.record(slot, record)?;
        Ok(())
    }

    /// The places of rows that belong to no run, and the run that each names.
    pub fn strays(&self) -> Result<Vec<(u64, Option<RunId>)>, ReadError> {
        self.shared.alive()?;
        self.readers.read(reader::strays)
    }

    /// How many appends this handle has committed, and in how many transactions.
    pub fn commits(&self) -> (u64, u64) {
        (self.shared.appends.load(Ordering::Relaxed), self.shared.commits.load(Ordering::Relaxed))
    }

    /// How many changes wait for the writer.
    pub fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Acquire)
    }

    /// The writer itself, when nobody else uses it or waits for it.
    fn alone(&self) -> Option<MutexGuard<'_, Writer>> {
        let writer = self.writer.as_ref()?.try_lock().ok()?;
        (self.waiting() == 0).then_some(writer)
    }

    fn ask<T, E: From<StoreError>>(&self, job: impl FnOnce(SyncSender<Result<T, E>>) -> Job) -> Result<T, E> {
        let (answer, answered) = sync_channel(1);
        let job = job(answer);
        if let Some(writer) = self.alone() {
            writer.commit(vec![job]);
        } else {
            let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
            self.shared.waiting.fetch_add(1, Ordering::AcqRel);
            jobs.send(job).map_err(|_| StoreError::Closed)?;
        }
        answered.recv().map_err(|_| StoreError::Closed)?
    }
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        // The writer ends when nobody can send any more, after what was sent before.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has answered nobody; its callers have seen `Closed`.
            let _ = thread.join();
        }
    }
}

impl Journal for SqliteJournal {
    fn append(&self, append: Append) -> Result<Appended, AppendError> {
        self.writable()?;
        let append = Box::new(Checked::new(append)?);
        for object in append.objects.iter().filter(|object| !object.is_small()) {
            self.shared.fault(Point::BeforeObject)?;
            self.objects.put(object)?;
        }
        self.ask(|answer| Job::Append(append, answer))
    }

    fn load(&self, run: RunId, after: u64, limit: usize) -> Result<Vec<Row>, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| reader::load(connection, run, after, limit))
    }

    fn since(&self, place: u64, limit: usize, wait: Duration) -> Result<Vec<Row>, ReadError> {
        let mut left = wait;
        loop {
            self.shared.alive()?;
            let rows = self.readers.read(|connection| reader::since(connection, place, limit))?;
            if !rows.is_empty() || left.is_zero() {
                return Ok(rows);
            }
            // This process's writer wakes us; another process's appends are found by looking again.
            let nap = left.min(POLL);
            left -= nap;
            let known = self.shared.place.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.shared.grown.wait_timeout_while(known, nap, |known| *known <= place));
        }
    }

    fn place(&self) -> Result<u64, ReadError> {
        self.shared.alive()?;
        self.readers.read(reader::place)
    }

    fn head(&self, run: RunId) -> Result<Option<Head>, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| reader::head(connection, run))
    }

    fn list(&self, filter: &Filter) -> Result<Listed, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| reader::list(connection, filter))
    }

    fn says(&self, run: RunId) -> Result<Says, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| Ok(shared::says(connection, run)?))
    }

    fn total(&self, key: &str, but: RunId) -> Result<Total, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| shared::total(connection, key, but))
    }

    fn notes(&self, key: &str, but: RunId) -> Result<Notes, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| shared::notes(connection, key, but))
    }

    fn snapshot(&self, run: RunId) -> Result<Option<Snapshot>, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| reader::snapshot(connection, run))
    }

    fn object(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, ReadError> {
        self.shared.alive()?;
        match self.readers.read(|connection| reader::object(connection, digest))? {
            Some(bytes) => checked(digest, bytes).map(Some),
            None => self.objects.get(digest),
        }
    }

    fn lease(&self, run: RunId, request: LeaseRequest) -> Result<Lease, LeaseError> {
        self.writable()?;
        self.ask(|answer| Job::Lease(run, request, answer))
    }

    fn secret(&self, run: RunId) -> Result<Option<RunSecret>, ReadError> {
        self.shared.alive()?;
        self.readers.read(|connection| Ok(reader::secret(connection, run)?))
    }

    fn keep_secret(&self, run: RunId, offered: &RunSecret) -> Result<RunSecret, StoreError> {
        self.writable()?;
        self.ask(|answer| Job::Secret(run, offered.clone(), answer))
    }
}
