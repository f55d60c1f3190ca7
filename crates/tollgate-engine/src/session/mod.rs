//! A session: one run, loaded, and the only way to change it: decide, append, and go on from what was appended.

pub mod kept_run;
pub mod other_runs;
pub mod pinned_protocol;
pub mod summary;

use std::collections::BTreeMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, OnceLock};

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run::event::{By, ByKind, Unreadable};
use tollgate_core::run::invariants::{self, Violation};
use tollgate_core::run::pool::Around;
use tollgate_core::run::{self, Command, Decided, Event, Recorded, Rejection, Run, Stamp};
use tollgate_store::chain::{self, Chain, ChainError};
use tollgate_store::{Append, AppendError, Journal, Object, Point, ReadError, Row, reach};

use crate::clock::Clock;

/// How often a command is decided again after somebody else was faster.
const TRIES_MAX: u32 = 16;
/// A snapshot is written about once in so many events.
const SNAPSHOT_EVERY: u64 = 256;
/// Rows read at once.
const PAGE_ROWS: usize = 2_048;

/// Why a run could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// The store failed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The chain does not hold.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// An event was written by a newer version.
    #[error("event {seq} (`{kind}`, version {v}) was written by a newer version of Tollgate")]
    Newer {
        /// The event.
        seq: u64,
        /// Its type.
        kind: String,
        /// Its version.
        v: u32,
    },
    /// An event is not what its version writes.
    #[error("event {seq} cannot be read: {why}")]
    Damaged {
        /// The event.
        seq: u64,
        /// Why not.
        why: String,
    },
    /// The protocol it is pinned to is missing or cannot be read.
    #[error("the protocol {digest} of this run cannot be read: {why}")]
    Protocol {
        /// The digest it is pinned to.
        digest: Digest,
        /// Why not.
        why: String,
    },
    /// An invariant does not hold.
    #[error("event {}: invariant {} does not hold: {}", .0.seq, .0.invariant, .0.what)]
    Broken(Violation),
}

impl LoadError {
    /// The code of its page.
    pub fn code(&self) -> Code {
        match self {
            Self::NoRun(_) => Code::NO_RUN,
            Self::Read(error) => error.code(),
            Self::Chain(error) => error.code(),
            Self::Newer { .. } => Code::NEWER_EVENT,
            Self::Damaged { .. } => Code::DAMAGED_EVENT,
            Self::Protocol { .. } => Code::NO_PROTOCOL_OBJECT,
            Self::Broken(_) => Code::BROKEN_HISTORY,
        }
    }

    /// The first event that does not hold, where it is known.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Self::Newer { seq, .. } | Self::Damaged { seq, .. } => Some(*seq),
            Self::Broken(violation) => Some(violation.seq),
            Self::Chain(
                ChainError::Missing { seq, .. }
                | ChainError::Doubled { seq, .. }
                | ChainError::Foreign { seq, .. }
                | ChainError::Broken { seq, .. },
            ) => Some(*seq),
            Self::Chain(_) | Self::NoRun(_) | Self::Read(_) | Self::Protocol { .. } => None,
        }
    }
}

/// Why a command did not change the run.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// The kernel says no.
    #[error("{0}")]
    Rejected(Rejection),
    /// Another driver has taken the run over.
    #[error("another driver has taken the run over (epoch {epoch})")]
    Fenced {
        /// Its epoch.
        epoch: u64,
    },
    /// Others were faster, again and again.
    #[error("the run changed {TRIES_MAX} times while this was being decided")]
    Busy,
    /// The store failed.
    #[error(transparent)]
    Append(AppendError),
    /// The run could not be loaded again.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An event could not be written as JSON.
    #[error("an event could not be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

impl CommandError {
    /// The code of its page.
    pub fn code(&self) -> Code {
        match self {
            Self::Rejected(rejection) => rejection.code(),
            Self::Fenced { .. } => Code::FENCED_DRIVER,
            Self::Busy => Code::RUN_BUSY,
            Self::Append(error) => error.code(),
            Self::Load(error) => error.code(),
            Self::Unwritable(_) => Code::INTERNAL,
        }
    }
}

/// A loaded run and the journal it is in.
#[derive(Clone)]
pub struct Session {
    journal: Arc<dyn Journal>,
    clock: Arc<dyn Clock>,
    run: Run,
    head: Digest,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("run", &self.run.id).field("seq", &self.run.seq).finish_non_exhaustive()
    }
}

impl Session {
    /// Begins a run: its first events, with the objects they name.
    pub fn open(
        journal: Arc<dyn Journal>,
        clock: Arc<dyn Clock>,
        open: run::decide::Open,
        person: &str,
        objects: Vec<Object>,
    ) -> Result<(Self, Vec<Recorded>), CommandError> {
        let by = By { kind: ByKind::Person, name: person.into() };
        let stamp = Stamp { now_ms: clock.now_ms(), by, epoch: 0, around: Around::default() };
        let Decided { events, run, .. } = run::open(open, &stamp).map_err(CommandError::Rejected)?;
        let append = Append {
            run: run.id,
            expected: 0,
            head: None,
            fence: None,
            events: texts(&events)?,
            objects,
            summary: summary::text(&run, stamp.now_ms),
            says: other_runs::said(&run),
            seen: BTreeMap::new(),
            snapshot: None,
        };
        let appended = journal.append(append).map_err(CommandError::Append)?;
        Ok((Self { journal, clock, run, head: appended.head }, events))
    }

    /// Loads a run: from its snapshot if there is a good one, else from its first event.
    pub fn load(journal: Arc<dyn Journal>, clock: Arc<dyn Clock>, id: RunId) -> Result<Self, LoadError> {
        let mut replay = match from_snapshot(&*journal, id)? {
            Some(replay) => replay,
            None => Replay::new(id),
        };
        replay.read_on(&*journal)?;
        let Replay { run: Some(run), chain, .. } = replay else { return Err(LoadError::NoRun(id)) };
        if let Some(violation) = invariants::state(&run).into_iter().next() {
            return Err(LoadError::Broken(violation));
        }
        Ok(Self { journal, clock, run, head: chain.head })
    }

    /// The run as it is known here.
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The head of its chain.
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// The journal it is in.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// The time now.
    pub fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// Reads what others have appended; the events, in order.
    pub fn refresh(&mut self) -> Result<Vec<Recorded>, LoadError> {
        // Mostly nothing is new, and the run need not be copied to find that out.
        if self.journal.load(self.run.id, self.run.seq, 1)?.is_empty() {
            return Ok(Vec::new());
        }
        let mut replay = Replay {
            id: self.run.id,
            chain: Chain::at(self.run.id, self.run.seq, self.head),
            run: Some(self.run.clone()),
            seen: Some(Vec::new()),
            audit: false,
        };
        replay.read_on(&*self.journal)?;
        if let Some(run) = replay.run {
            self.run = run;
        }
        self.head = replay.chain.head;
        Ok(replay.seen.unwrap_or_default())
    }

    /// Decides a command and appends what it changes; decided again when somebody else was faster.
    ///
    /// A driver names the epoch it acts under: the append is refused in the same transaction when that is not the
    /// run's. Returns the events, and the refusal where one was recorded.
    pub fn command(
        &mut self,
        command: &Command,
        by: &By,
        epoch: Option<u64>,
        objects: &[Object],
    ) -> Result<Outcome, CommandError> {
        for tries in 1..=TRIES_MAX {
            let now_ms = self.clock.now_ms();
            let (around, seen) = other_runs::read(&*self.journal, &self.run, by, now_ms).map_err(LoadError::from)?;
            let stamp = Stamp { now_ms, by: by.clone(), epoch: epoch.unwrap_or(self.run.epoch), around };
            let decided = run::decide(&self.run, command.clone(), &stamp).map_err(CommandError::Rejected)?;
            if decided.events.is_empty() {
                return Ok(Outcome { events: Vec::new(), refusal: decided.refusal });
            }
            let starts = decided.events.iter().any(|event| matches!(event.event, Event::AttemptStarted(_)));
            if starts {
                reach(Point::BeforeStarted);
            }
            let due = takes_snapshot(self.run.seq, decided.run.seq);
            let snapshot = if due { Some(kept_run::to_bytes(&decided.run)?) } else { None };
            let append = Append {
                run: self.run.id,
                expected: self.run.seq,
                head: Some(self.head),
                fence: epoch,
                // Who is overtaken again and again goes on all the same.
                seen: if starts && tries < TRIES_MAX { seen } else { BTreeMap::new() },
                events: texts(&decided.events)?,
                objects: objects.to_vec(),
                summary: summary::text(&decided.run, stamp.now_ms),
                says: other_runs::said(&decided.run),
                snapshot,
            };
            match self.journal.append(append) {
                Ok(appended) => {
                    self.head = appended.head;
                    self.run = decided.run;
                    return Ok(Outcome { events: decided.events, refusal: decided.refusal });
                }
                Err(AppendError::Conflict { .. } | AppendError::Overtaken { .. }) => drop(self.refresh()?),
                Err(AppendError::Fenced { epoch, .. }) => return Err(CommandError::Fenced { epoch }),
                Err(error) => return Err(CommandError::Append(error)),
            }
        }
        Err(CommandError::Busy)
    }
}

static SNAPSHOTS: OnceLock<u64> = OnceLock::new();

/// Has snapshots written so often in this process: for the simulator and for tests, whose runs are short.
pub fn snapshot_every(events: u64) {
    SNAPSHOTS.set(events.max(1)).ok();
}

/// Whether the append that leads from one event to another carries a snapshot.
pub fn takes_snapshot(from: u64, to: u64) -> bool {
    let every = SNAPSHOTS.get().copied().unwrap_or(SNAPSHOT_EVERY);
    to / every > from / every
}

/// What a command changed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The events that were appended.
    pub events: Vec<Recorded>,
    /// A refusal that was recorded all the same.
    pub refusal: Option<Rejection>,
}

fn texts(events: &[Recorded]) -> Result<Vec<Vec<u8>>, serde_json::Error> {
    events.iter().map(Recorded::to_bytes).collect()
}

/// Replays rows into a run, checking chain and, when auditing, every event against the invariants.
#[derive(Debug)]
pub struct Replay {
    id: RunId,
    chain: Chain,
    run: Option<Run>,
    seen: Option<Vec<Recorded>>,
    audit: bool,
}

impl Replay {
    /// A replay from the first event.
    pub fn new(id: RunId) -> Self {
        Self { id, chain: Chain::new(id), run: None, seen: None, audit: false }
    }

    /// A replay from the first event that checks every event, as `verify` does.
    pub fn auditing(id: RunId) -> Self {
        Self { audit: true, ..Self::new(id) }
    }

    /// The run so far.
    pub const fn run(&self) -> Option<&Run> {
        self.run.as_ref()
    }

    /// The run, once everything is replayed.
    pub fn into_run(self) -> Option<Run> {
        self.run
    }

    /// The head so far.
    pub fn head(&self) -> Digest {
        self.chain.head
    }

    fn read_on(&mut self, journal: &dyn Journal) -> Result<(), LoadError> {
        let id = self.id;
        let load = |after: u64| journal.load(id, after, PAGE_ROWS);
        let last = |rows: &[Row]| rows.last().map(|row| row.last);
        let first = load(self.run.as_ref().map_or(0, |run| run.seq))?;
        let Some(after) = last(&first) else { return Ok(()) };
        let second = load(after);
        if second.as_ref().is_ok_and(Vec::is_empty) {
            return self.page(journal, &first);
        }
        // While a page is replayed, the next one is read.
        std::thread::scope(|scope| {
            let (pages, read) = sync_channel(1);
            scope.spawn(move || {
                let mut page = second;
                loop {
                    let next = page.as_ref().ok().and_then(|rows| last(rows));
                    if pages.send(page).is_err() {
                        return;
                    }
                    let Some(after) = next else { return };
                    page = load(after);
                }
            });
            self.page(journal, &first)?;
            read.iter().try_for_each(|rows| self.page(journal, &rows?))
        })
    }

    fn page(&mut self, journal: &dyn Journal, rows: &[Row]) -> Result<(), LoadError> {
        rows.iter().try_for_each(|row| self.row(row, &mut |digest| Ok(journal.object(digest)?)))
    }

    /// Takes one row; objects are needed for the protocol the run is pinned to.
    pub fn row(
        &mut self,
        row: &Row,
        object: &mut dyn FnMut(Digest) -> Result<Option<Arc<[u8]>>, LoadError>,
    ) -> Result<(), LoadError> {
        let read = (row.first..).zip(row.events()).map(|(seq, text)| {
            Recorded::from_bytes(text).map_err(|error| match error {
                Unreadable::Newer { v, kind } => LoadError::Newer { seq, kind, v },
                Unreadable::Damaged(why) => LoadError::Damaged { seq, why },
            })
        });
        let events = match read.collect::<Result<Vec<Recorded>, _>>() {
            Ok(events) => events,
            // What does not chain is named as that, whatever else is wrong with it.
            Err(error) => return self.chain.link(row).map_err(LoadError::from).and(Err(error)),
        };
        self.chain.link_read(row, events.iter().map(|recorded| (recorded.run, recorded.seq)))?;
        for recorded in events {
            self.event(recorded, object)?;
        }
        if self.audit
            && let Some(violation) = self.run.as_ref().and_then(|run| invariants::state(run).into_iter().next())
        {
            return Err(LoadError::Broken(violation));
        }
        Ok(())
    }

    fn event(
        &mut self,
        recorded: Recorded,
        object: &mut dyn FnMut(Digest) -> Result<Option<Arc<[u8]>>, LoadError>,
    ) -> Result<(), LoadError> {
        match (&mut self.run, &recorded.event) {
            (None, Event::RunOpened(opened)) => {
                let protocol = pinned_protocol::protocol_of(opened, object)?;
                self.run = Some(run::begin(&recorded, opened, protocol));
            }
            (None, _) => {
                return Err(LoadError::Damaged { seq: recorded.seq, why: "the first event opens no run".to_owned() });
            }
            (Some(run), _) => {
                if self.audit
                    && let Some(violation) = invariants::event(run, &recorded).into_iter().next()
                {
                    return Err(LoadError::Broken(violation));
                }
                run::evolve(run, &recorded);
            }
        }
        if let Some(seen) = &mut self.seen {
            seen.push(recorded);
        }
        Ok(())
    }
}

/// A snapshot can always be thrown away: one that is not good is passed over.
fn from_snapshot(journal: &dyn Journal, id: RunId) -> Result<Option<Replay>, LoadError> {
    let Some(snapshot) = journal.snapshot(id)? else { return Ok(None) };
    let Some(mut run) = kept_run::from_bytes(&snapshot.bytes) else { return Ok(None) };
    if run.id != id || run.seq != snapshot.seq {
        return Ok(None);
    }
    run.protocol = pinned_protocol::protocol_of(&run.opened, &mut |digest| Ok(journal.object(digest)?))?;
    let chain = Chain::at(id, snapshot.seq, snapshot.head);
    Ok(Some(Replay { id, chain, run: Some(run), seen: None, audit: false }))
}

/// The events of a run after one and up to another.
pub fn events(journal: &dyn Journal, id: RunId, after: u64, last: u64) -> Result<Vec<Recorded>, LoadError> {
    let mut found = Vec::new();
    for row in chain::rows(journal, id, after) {
        let row = row?;
        for (seq, text) in (row.first..).zip(row.events()).filter(|(seq, _)| *seq > after) {
            if seq > last {
                return Ok(found);
            }
            found.push(
                Recorded::from_bytes(text).map_err(|_| LoadError::Damaged { seq, why: "unreadable".to_owned() })?,
            );
        }
    }
    Ok(found)
}
