//! The one writer of a process: commits everything that is waiting as one transaction.
//!
//! Its thread gathers what many callers send. A caller that is alone uses the writer itself: two changes of thread cost as
//! much as a sync on a good disk.
//!
//! Each append is checked inside the transaction before it writes anything, so a refused one leaves nothing behind and
//! spoils no other. When the transaction fails, all of its appends fail and nothing is visible.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

use super::schema::begin;
use super::{reader, shared};
use crate::envelope::{Checked, seal};
use crate::error::{AppendError, StoreError};
use crate::faults::{Fault, Faults, Point, reach};
use crate::heads::{HeadRecord, Heads};
use crate::journal::Appended;
use crate::lease::{Lease, LeaseError, LeaseRequest, decide_lease};

/// The most appends in one transaction: while one is committed, those answered by the one before prepare the next. A
/// transaction that took everybody would leave all of them waiting, and then the writer.
const BATCH_MAX: usize = 64;
/// A transaction takes no more appends once it holds this many bytes.
const BATCH_BYTES: usize = 16 << 20;

/// What the writer and the handle share.
#[derive(Default)]
pub(crate) struct Shared {
    pub place: Mutex<u64>,
    pub grown: Condvar,
    pub crashed: AtomicBool,
    /// Jobs that were sent to the writer's thread and are not answered.
    pub waiting: AtomicUsize,
    pub appends: AtomicU64,
    pub commits: AtomicU64,
    pub faults: Option<Arc<dyn Faults>>,
}

impl Shared {
    pub(crate) fn fault(&self, point: Point) -> Result<(), StoreError> {
        reach(point);
        match self.faults.as_ref().and_then(|faults| faults.at(point)) {
            None => Ok(()),
            Some(Fault::Fail) => Err(StoreError::Injected),
            Some(Fault::Crash) => {
                self.crashed.store(true, Ordering::Release);
                Err(StoreError::Closed)
            }
        }
    }

    pub(crate) fn alive(&self) -> Result<(), StoreError> {
        if self.crashed.load(Ordering::Acquire) { Err(StoreError::Closed) } else { Ok(()) }
    }
}

/// One thing to write, and where its answer goes.
pub(crate) enum Job {
    Append(Box<Checked>, SyncSender<Result<Appended, AppendError>>),
    Lease(RunId, LeaseRequest, SyncSender<Result<Lease, LeaseError>>),
    Secret(RunId, RunSecret, SyncSender<Result<RunSecret, StoreError>>),
}

/// An append that is in the transaction.
pub(super) struct Done {
    pub slot: u64,
    run: RunId,
    pub appended: Appended,
}

/// What the database says of a run; of one that is not there, nothing.
#[derive(Default)]
struct Stored {
    id: Option<u64>,
    seq: u64,
    head: Digest,
    epoch: u64,
}

/// What became of a job inside the transaction; the answer is given after the commit.
enum Outcome {
    Append(Result<Done, AppendError>),
    Lease(Result<Lease, LeaseError>),
    Secret(RunSecret),
}

pub(crate) struct Writer {
    pub connection: Connection,
    pub heads: Arc<Heads>,
    pub shared: Arc<Shared>,
    pub busy: Duration,
}

/// Commits what is waiting until nobody can send any more, or a crash is injected.
pub(crate) fn run(writer: &Mutex<Writer>, shared: &Shared, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        // Taken before the batch is gathered: what comes while somebody else commits joins it.
        let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut size = weight(&first);
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX && size < BATCH_BYTES {
            let Ok(job) = jobs.try_recv() else { break };
            size += weight(&job);
            batch.push(job);
        }
        let count = batch.len();
        writer.commit(batch);
        shared.waiting.fetch_sub(count, Ordering::AcqRel);
        if shared.alive().is_err() {
            return;
        }
    }
}

impl Writer {
    /// Commits these jobs as one transaction and answers each.
    pub(crate) fn commit(&self, batch: Vec<Job>) {
        match self.transaction(&batch).and_then(|outcomes| self.publish(&outcomes).map(|()| outcomes)) {
            Ok(outcomes) => {
                for (job, outcome) in batch.into_iter().zip(outcomes) {
                    answer(job, outcome);
                }
            }
            Err(error) => batch.into_iter().for_each(|job| fail(job, &error)),
        }
    }

    fn transaction(&self, batch: &[Job]) -> Result<Vec<Outcome>, StoreError> {
        self.shared.alive()?;
        self.shared.fault(Point::BeforeRows)?;
        begin(&self.connection, self.busy)?;
        let written = self.write(batch).and_then(|outcomes| {
            self.shared.fault(Point::BeforeCommit)?;
            self.connection.prepare_cached("COMMIT")?.execute([])?;
            Ok(outcomes)
        });
        // SQLite has already rolled back after some errors; then there is nothing left to roll back.
        if written.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        written
    }

    fn write(&self, batch: &[Job]) -> Result<Vec<Outcome>, StoreError> {
        let mut outcomes = Vec::with_capacity(batch.len());
        for job in batch {
            outcomes.push(match job {
                Job::Append(append, _) => match self.append(append) {
                    Err(AppendError::Store(error)) => return Err(error),
                    done => Outcome::Append(done),
                },
                Job::Lease(run, request, _) => match self.lease(*run, request) {
                    Err(LeaseError::Store(error)) => return Err(error),
                    done => Outcome::Lease(done),
                },
                Job::Secret(run, offered, _) => Outcome::Secret(self.keep_secret(*run, offered)?),
            });
        }
        Ok(outcomes)
    }

    /// Tells the file of heads and the subscribers what was committed.
    fn publish(&self, outcomes: &[Outcome]) -> Result<(), StoreError> {
        self.shared.fault(Point::AfterCommit)?;
        let mut records = Vec::with_capacity(outcomes.len());
        let mut place = 0;
        for outcome in outcomes {
            if let Outcome::Append(Ok(done)) = outcome {
                let Appended { seq, head, .. } = done.appended;
                records.push((done.slot, HeadRecord { run: done.run, seq, head }));
                place = done.appended.place;
            }
        }
        self.shared.commits.fetch_add(1, Ordering::Relaxed);
        self.shared.appends.fetch_add(records.len() as u64, Ordering::Relaxed);
        if place > 0 {
            // The appends are committed, so they have succeeded; the file may lag, and the next append writes it again.
            let _ = self.heads.write(&mut records);
            *self.shared.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
            self.shared.grown.notify_all();
        }
        self.shared.fault(Point::BeforeReply)
    }

    fn append(&self, append: &Checked) -> Result<Done, AppendError> {
        let Stored { id, seq, head, epoch } = self.stored(append.run)?;
        append.admit(seq, head, epoch)?;
        append.admit_among(|key| Ok(shared::key(&self.connection, key)?.place))?;
        // Nothing below refuses: from here on the append either becomes whole or takes the batch with it.
        Ok(self.insert(append, id, append.chained(head))?)
    }

    pub(super) fn insert(&self, append: &Checked, known: Option<u64>, head: Digest) -> Result<Done, StoreError> {
        let sql = |text| self.connection.prepare_cached(text);
        for object in append.objects.iter().filter(|object| object.is_small()) {
            // One that is there is left alone unless it was damaged: its right content is at hand.
            sql("INSERT INTO objects (digest, bytes) VALUES (?1, ?2) \
                 ON CONFLICT (digest) DO UPDATE SET bytes = excluded.bytes WHERE bytes <> excluded.bytes")?
            .execute(params![object.digest().0, &object.bytes()[..]])?;
        }
        let slot = match known {
            Some(id) => id,
            None => {
                let most: u64 = sql("SELECT ifnull(max(id), 0) FROM runs")?.query_row([], |row| row.get(0))?;
                most.max(self.heads.slots()?) + 1
            }
        };
        sql("INSERT INTO rows (run, first_seq, last_seq, head, bytes) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![slot, append.expected + 1, append.last, head.0, append.bytes])?;
        let place = self.connection.last_insert_rowid().unsigned_abs();
        let text = &append.summary;
        let summary = params![
            slot,
            append.last,
            place,
            head.0,
            text.status,
            text.repository,
            text.at_ms,
            text.body,
            append.run.digits()
        ];
        match known {
            Some(_) => {
                sql("UPDATE runs SET seq = ?2, place = ?3, head = ?4, status = ?5, repository = ?6, at_ms = ?7, \
                            body = ?8 WHERE id = ?1 AND run = ?9")?
                .execute(summary)?
            }
            None => sql("INSERT INTO runs (id, seq, place, head, status, repository, at_ms, body, run) \
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
            .execute(summary)?,
        };
        shared::write(&self.connection, append.run, &append.says, place)?;
        if let Some(bytes) = &append.snapshot {
            let sealed = seal(append.last, head, bytes);
            sql("INSERT OR REPLACE INTO snapshots (run, seq, head, seal, bytes) VALUES (?1, ?2, ?3, ?4, ?5)")?
                .execute(params![slot, append.last, head.0, sealed.0, bytes])?;
            reach(Point::SnapshotWritten);
        }
        Ok(Done { slot, run: append.run, appended: Appended { place, seq: append.last, head } })
    }

    fn lease(&self, run: RunId, request: &LeaseRequest) -> Result<Lease, LeaseError> {
        let lease = decide_lease(run, self.leased(run)?, request.clone())?;
        let store = || -> rusqlite::Result<()> {
            let sql = "INSERT OR REPLACE INTO leases (run, epoch, holder, until_ms) VALUES (?1, ?2, ?3, ?4)";
            let values = params![run.digits(), lease.epoch, lease.holder, lease.until_ms];
            self.connection.prepare_cached(sql)?.execute(values).map(drop)
        };
        store().map_err(StoreError::from)?;
        Ok(lease)
    }

    /// A value that can be no secret is replaced, as one that is missing would be.
    fn keep_secret(&self, run: RunId, offered: &RunSecret) -> Result<RunSecret, StoreError> {
        if let Some(kept) = reader::secret(&self.connection, run)? {
            return Ok(kept);
        }
        let sql = "INSERT OR REPLACE INTO secrets (run, secret) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![run.digits(), offered.bytes()])?;
        Ok(offered.clone())
    }

    fn stored(&self, run: RunId) -> Result<Stored, StoreError> {
        // A lease may be taken before the run's first event.
        let sql = "SELECT r.id, ifnull(r.seq, 0), r.head, ifnull(l.epoch, 0) FROM (SELECT ?1 AS run) \
                   LEFT JOIN runs r USING (run) LEFT JOIN leases l USING (run)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let stored = statement.query_row([run.digits()], |row| {
            let head: Option<[u8; 32]> = row.get(2)?;
            Ok(Stored { id: row.get(0)?, seq: row.get(1)?, head: Digest(head.unwrap_or_default()), epoch: row.get(3)? })
        });
        Ok(stored?)
    }

    fn leased(&self, run: RunId) -> Result<Option<Lease>, StoreError> {
        let sql = "SELECT epoch, holder, until_ms FROM leases WHERE run = ?1";
        let lease = self.connection.prepare_cached(sql)?.query_row([run.digits()], |row| {
            Ok(Lease { epoch: row.get(0)?, holder: row.get(1)?, until_ms: row.get(2)? })
        });
        Ok(lease.optional()?)
    }
}

fn weight(job: &Job) -> usize {
    match job {
        Job::Append(append, _) => {
            let small = append.objects.iter().filter(|object| object.is_small()).map(|object| object.bytes().len());
            append.bytes.len() + append.snapshot.as_ref().map_or(0, Vec::len) + small.sum::<usize>()
        }
        Job::Lease(..) | Job::Secret(..) => 0,
    }
}

/// Gives an answer; a caller that no longer waits for it has lost nothing but the answer.
fn answer(job: Job, outcome: Outcome) {
    match (job, outcome) {
        (Job::Append(_, to), Outcome::Append(done)) => drop(to.send(done.map(|done| done.appended))),
        (Job::Lease(_, _, to), Outcome::Lease(done)) => drop(to.send(done)),
        (Job::Secret(_, _, to), Outcome::Secret(kept)) => drop(to.send(Ok(kept))),
        (job @ (Job::Append(..) | Job::Lease(..) | Job::Secret(..)), _) => fail(job, &StoreError::Closed),
    }
}

fn fail(job: Job, error: &StoreError) {
    match job {
        Job::Append(_, to) => drop(to.send(Err(error.clone().into()))),
        Job::Lease(_, _, to) => drop(to.send(Err(error.clone().into()))),
        Job::Secret(_, _, to) => drop(to.send(Err(error.clone()))),
    }
}
