//! Where a simulation plays: the stores and what goes wrong in them, the clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tollgate_engine::clock::Clock;
use tollgate_store::{Fault, Faults, Journal, MemoryJournal, Options, Point, SqliteJournal};

use crate::temp::TempDir;

/// The time in a simulation.
#[derive(Debug, Default)]
pub struct FakeClock(AtomicU64);

impl FakeClock {
    /// Lets time pass.
    pub fn pass(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

impl Clock for FakeClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What goes wrong at the next write of one handle.
#[derive(Debug, Default)]
pub struct Mishap(Mutex<Option<(Point, Fault)>>);

impl Mishap {
    /// Something will go wrong.
    pub fn arm(&self, point: Point, fault: Fault) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((point, fault));
    }

    /// It will not happen.
    pub fn disarm(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it still has to happen.
    pub fn is_armed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

impl Faults for Mishap {
    fn at(&self, point: Point) -> Option<Fault> {
        let mut armed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *armed {
            Some((wanted, fault)) if wanted == point => {
                *armed = None;
                Some(fault)
            }
            _ => None,
        }
    }
}

/// The store of one simulation: in memory, or a database that several handles open.
#[derive(Debug)]
pub enum Store {
    /// In memory.
    Memory(MemoryJournal),
    /// SQLite in a folder of its own.
    Sqlite(TempDir),
}

impl Store {
    /// A new, empty store.
    pub fn new(sqlite: bool) -> Self {
        if sqlite { Self::Sqlite(TempDir::new()) } else { Self::Memory(MemoryJournal::default()) }
    }

    /// Another handle, with mishaps of its own.
    pub fn connect(&self, mishap: Option<Arc<Mishap>>) -> Result<Arc<dyn Journal>, String> {
        let faults = mishap.map(|mishap| mishap as Arc<dyn Faults>);
        match self {
            Self::Memory(journal) => Ok(Arc::new(journal.connect(faults))),
            Self::Sqlite(folder) => SqliteJournal::open(folder.path(), Options { faults, ..Options::default() })
                .map(|journal| Arc::new(journal) as Arc<dyn Journal>)
                .map_err(|error| error.to_string()),
        }
    }
}
