//! Every store keeps the same rules.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use std::sync::Arc;

use tollgate_store::{Faults, Journal, MemoryJournal, Options, SqliteJournal};
use tollgate_testkit::journal_conformance;
use tollgate_testkit::journal_conformance::Store;
use tollgate_testkit::temp::TempDir;

struct Memory(MemoryJournal);

impl Store for Memory {
    fn connect(&self, faults: Option<Arc<dyn Faults>>) -> Arc<dyn Journal> {
        Arc::new(self.0.connect(faults))
    }
}

struct Sqlite(TempDir);

impl Store for Sqlite {
    fn connect(&self, faults: Option<Arc<dyn Faults>>) -> Arc<dyn Journal> {
        Arc::new(SqliteJournal::open(self.0.path(), Options { faults, ..Options::default() }).expect("opens"))
    }
}

journal_conformance!(memory, crate::Memory(tollgate_store::MemoryJournal::default()));
journal_conformance!(sqlite, crate::Sqlite(tollgate_testkit::temp::TempDir::new()));
