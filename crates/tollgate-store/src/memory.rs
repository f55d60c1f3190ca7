//! The journal in memory: the same rules, for tests, the simulator and bundles that are only looked at.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

use crate::envelope::{Checked, seal};
use crate::error::{AppendError, ReadError, StoreError};
use crate::faults::{Fault, Faults, Point};
use crate::journal::{
    Append, Appended, Filter, Head, Journal, Listed, READ_BYTES, Row, Snapshot, Summary, SummaryText,
};
use crate::lease::{Lease, LeaseError, LeaseRequest, decide_lease};
use crate::objects::checked;
use crate::shared::{Note, Notes, Said, Says, Total, changed, replace};

#[derive(Debug, Clone)]
struct StoredRun {
    /// Where its rows are in the order over all runs.
    rows: Vec<usize>,
    head: Digest,
    seq: u64,
    place: u64,
    summary: SummaryText,
    says: Says,
    snapshot: Option<(Snapshot, Digest)>,
}

#[derive(Debug, Default)]
struct State {
    runs: BTreeMap<RunId, StoredRun>,
    order: Vec<Row>,
    objects: HashMap<Digest, Arc<[u8]>>,
    leases: HashMap<RunId, Lease>,
    secrets: HashMap<RunId, RunSecret>,
    shared: BTreeMap<String, Total>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    grown: Condvar,
}

/// One handle on a journal in memory; handles made by [`MemoryJournal::connect`] act like connections to one database.
pub struct MemoryJournal {
    shared: Arc<Shared>,
    faults: Option<Arc<dyn Faults>>,
    crashed: AtomicBool,
}

impl fmt::Debug for MemoryJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryJournal").field("crashed", &self.crashed).finish_non_exhaustive()
    }
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::open(None)
    }
}

impl MemoryJournal {
    /// An empty journal.
    pub fn open(faults: Option<Arc<dyn Faults>>) -> Self {
        Self { shared: Arc::default(), faults, crashed: AtomicBool::new(false) }
    }

    /// Another handle on the same journal, with faults of its own; also after a crash of this one.
    #[must_use]
    pub fn connect(&self, faults: Option<Arc<dyn Faults>>) -> Self {
        Self { shared: Arc::clone(&self.shared), faults, crashed: AtomicBool::new(false) }
    }

    /// A journal of rows and objects as they were found, unchecked.
    pub(crate) fn of(rows: Vec<Row>, objects: HashMap<Digest, Arc<[u8]>>) -> Self {
        let journal = Self::default();
        let mut state = journal.lock();
        for row in rows {
            // Places belong to a store: this one counts its own.
            let place = state.order.len() as u64 + 1;
            state.push(Row { place, ..row }, SummaryText::default());
        }
        state.objects = objects;
        drop(state);
        journal
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock and has half of a change in place.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self) -> Result<(), StoreError> {
        if self.crashed.load(Ordering::Acquire) { Err(StoreError::Closed) } else { Ok(()) }
    }

    fn fault(&self, point: Point) -> Result<(), StoreError> {
        match self.faults.as_ref().and_then(|faults| faults.at(point)) {
            None => Ok(()),
            Some(Fault::Fail) => Err(StoreError::Injected),
            Some(Fault::Crash) => {
                self.crashed.store(true, Ordering::Release);
                Err(StoreError::Closed)
            }
        }
    }
}

impl State {
    fn epoch(&self, run: RunId) -> u64 {
        self.leases.get(&run).map_or(0, |lease| lease.epoch)
    }

    fn push(&mut self, row: Row, summary: SummaryText) {
        let stored = self.runs.entry(row.run).or_insert_with(|| StoredRun {
            rows: Vec::new(),
            head: Digest::default(),
            seq: 0,
            place: 0,
            summary: SummaryText::default(),
            says: Says::default(),
            snapshot: None,
        });
        stored.rows.push(self.order.len());
        (stored.head, stored.seq, stored.place, stored.summary) = (row.head, row.last, row.place, summary);
        self.order.push(row);
    }

    /// Takes over what a run says from its last append on.
    fn share(&mut self, run: RunId, says: Says) {
        let Some(stored) = self.runs.get_mut(&run) else { return };
        for (key, before, now) in changed(&stored.says, &says) {
            let amounts = |said: Option<&Said>| said.map_or_else(Vec::new, |said| said.amounts.clone());
            let shared = self.shared.entry(key.to_owned()).or_default();
            shared.amounts = replace(&shared.amounts, &amounts(before), &amounts(now));
            shared.place = stored.place;
        }
        stored.says = says;
    }

    fn head(&self, run: RunId) -> Option<Head> {
        let stored = self.runs.get(&run)?;
        Some(Head { seq: stored.seq, place: stored.place, head: stored.head, epoch: self.epoch(run) })
    }
}

/// Takes rows up to a number and a size, at least one.
fn page<'a>(rows: impl Iterator<Item = &'a Row>, limit: usize) -> Vec<Row> {
    let mut size = 0;
    let mut taken = Vec::new();
    for row in rows.take(limit) {
        size += row.bytes.len();
        taken.push(row.clone());
        if size > READ_BYTES {
            break;
        }
    }
    taken
}

impl Journal for MemoryJournal {
    fn append(&self, append: Append) -> Result<Appended, AppendError> {
        self.alive()?;
        let append = Checked::new(append)?;
        let (small, large): (Vec<_>, Vec<_>) = append.objects.iter().partition(|object| object.is_small());
        for object in large {
            self.fault(Point::BeforeObject)?;
            self.lock().objects.insert(object.digest(), Arc::clone(object.bytes()));
        }
        self.fault(Point::BeforeRows)?;
        let mut state = self.lock();
        let before = state.head(append.run);
        let stored = before.map_or_else(Digest::default, |head| head.head);
        append.admit(before.map_or(0, |head| head.seq), stored, state.epoch(append.run))?;
        append.admit_among(|key| Ok(state.shared.get(key).map_or(0, |shared| shared.place)))?;
        self.fault(Point::BeforeCommit)?;
        let head = append.chained(stored);
        let place = state.order.len() as u64 + 1;
        let (run, first, last) = (append.run, append.expected + 1, append.last);
        state.objects.extend(small.into_iter().map(|object| (object.digest(), Arc::clone(object.bytes()))));
        state.push(Row { place, run, first, last, head, bytes: append.bytes }, append.summary);
        state.share(run, append.says);
        if let (Some(bytes), Some(stored)) = (append.snapshot, state.runs.get_mut(&run)) {
            let sealed = seal(last, head, &bytes);
            stored.snapshot = Some((Snapshot { seq: last, head, bytes }, sealed));
        }
        drop(state);
        self.shared.grown.notify_all();
        self.fault(Point::AfterCommit)?;
        self.fault(Point::BeforeReply)?;
        Ok(Appended { place, seq: last, head })
    }

    fn load(&self, run: RunId, after: u64, limit: usize) -> Result<Vec<Row>, ReadError> {
        self.alive()?;
        let state = self.lock();
        let rows = state.runs.get(&run).map_or(&[][..], |stored| &stored.rows);
        let from = rows.partition_point(|index| state.order[*index].last <= after);
        Ok(page(rows[from..].iter().map(|index| &state.order[*index]), limit))
    }

    fn since(&self, place: u64, limit: usize, wait: Duration) -> Result<Vec<Row>, ReadError> {
        self.alive()?;
        let from = usize::try_from(place).unwrap_or(usize::MAX);
        let waited = self.shared.grown.wait_timeout_while(self.lock(), wait, |state| state.order.len() <= from);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Ok(page(state.order.iter().skip(from), limit))
    }

    fn place(&self) -> Result<u64, ReadError> {
        self.alive()?;
        Ok(self.lock().order.len() as u64)
    }

    fn head(&self, run: RunId) -> Result<Option<Head>, ReadError> {
        self.alive()?;
        Ok(self.lock().head(run))
    }

    fn list(&self, filter: &Filter) -> Result<Listed, ReadError> {
        self.alive()?;
        let state = self.lock();
        let given = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|wanted| wanted == value);
        let mut found: Vec<(&RunId, &StoredRun)> = state
            .runs
            .iter()
            .filter(|(run, stored)| {
                filter.prefix.as_deref().is_none_or(|prefix| run.digits().starts_with(prefix))
                    && given(&filter.status, &stored.summary.status)
                    && given(&filter.repository, &stored.summary.repository)
            })
            .collect();
        found.sort_by_key(|(_, stored)| std::cmp::Reverse(stored.place));
        let summary = |(run, stored): (&RunId, &StoredRun)| Summary {
            run: *run,
            head: Head { seq: stored.seq, place: stored.place, head: stored.head, epoch: state.epoch(*run) },
            text: stored.summary.clone(),
            lease: state.leases.get(run).cloned(),
        };
        let runs = found.into_iter().take(filter.limit.unwrap_or(usize::MAX)).map(summary).collect();
        Ok(Listed { runs, damaged: Vec::new() })
    }

    fn says(&self, run: RunId) -> Result<Says, ReadError> {
        self.alive()?;
        Ok(self.lock().runs.get(&run).map_or_else(Says::new, |stored| stored.says.clone()))
    }

    fn total(&self, key: &str, but: RunId) -> Result<Total, ReadError> {
        self.alive()?;
        let state = self.lock();
        let Total { place, amounts } = state.shared.get(key).cloned().unwrap_or_default();
        let own = state.runs.get(&but).and_then(|stored| stored.says.get(key));
        Ok(Total { place, amounts: replace(&amounts, own.map_or(&[], |said| &said.amounts), &[]) })
    }

    fn notes(&self, key: &str, but: RunId) -> Result<Notes, ReadError> {
        self.alive()?;
        let state = self.lock();
        let place = state.shared.get(key).map_or(0, |shared| shared.place);
        let others = state.runs.iter().filter(|(run, _)| **run != but);
        let notes = others.filter_map(|(run, stored)| {
            let said = stored.says.get(key).filter(|said| !said.note.is_empty())?;
            Some(Note { run: *run, note: said.note.clone(), lease: state.leases.get(run).cloned() })
        });
        Ok(Notes { place, notes: notes.collect() })
    }

    fn snapshot(&self, run: RunId) -> Result<Option<Snapshot>, ReadError> {
        self.alive()?;
        let state = self.lock();
        let Some(stored) = state.runs.get(&run) else { return Ok(None) };
        let whole = |(snapshot, sealed): &&(Snapshot, Digest)| {
            let on_chain = stored.rows.binary_search_by_key(&snapshot.seq, |index| state.order[*index].last);
            *sealed == seal(snapshot.seq, snapshot.head, &snapshot.bytes)
                && on_chain.is_ok_and(|at| state.order[stored.rows[at]].head == snapshot.head)
        };
        Ok(stored.snapshot.as_ref().filter(whole).map(|(snapshot, _)| snapshot.clone()))
    }

    fn object(&self, digest: Digest) -> Result<Option<Arc<[u8]>>, ReadError> {
        self.alive()?;
        let found = self.lock().objects.get(&digest).cloned();
        found.map(|bytes| checked(digest, bytes)).transpose()
    }

    fn lease(&self, run: RunId, request: LeaseRequest) -> Result<Lease, LeaseError> {
        self.alive()?;
        self.fault(Point::BeforeRows)?;
        let mut state = self.lock();
        let lease = decide_lease(run, state.leases.get(&run).cloned(), request)?;
        self.fault(Point::BeforeCommit)?;
        state.leases.insert(run, lease.clone());
        drop(state);
        self.fault(Point::AfterCommit)?;
        self.fault(Point::BeforeReply)?;
        Ok(lease)
    }

    fn secret(&self, run: RunId) -> Result<Option<RunSecret>, ReadError> {
        self.alive()?;
        Ok(self.lock().secrets.get(&run).cloned())
    }

    fn keep_secret(&self, run: RunId, offered: &RunSecret) -> Result<RunSecret, StoreError> {
        self.alive()?;
        self.fault(Point::BeforeRows)?;
        let mut state = self.lock();
        self.fault(Point::BeforeCommit)?;
        let kept = state.secrets.entry(run).or_insert_with(|| offered.clone()).clone();
        drop(state);
        self.fault(Point::AfterCommit)?;
        self.fault(Point::BeforeReply)?;
        Ok(kept)
    }
}
