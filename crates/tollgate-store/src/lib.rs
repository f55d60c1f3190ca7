//! The journal: an append-only, hash-chained list of opaque events per run, and the objects beside it.
//!
//! [`Journal`] is the trait; [`MemoryJournal`] and [`SqliteJournal`] implement it and pass one conformance suite. The store
//! knows nothing of what an event means: it reads `run` and `seq` of each, and keeps the bytes as they are.
//! Everything is synchronous: threads and channels of the standard library.
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests make files of their own")
)]

pub mod bundle;
pub mod chain;
mod envelope;
pub mod error;
pub mod faults;
mod heads;
pub mod journal;
pub mod lease;
pub mod memory;
mod objects;
pub mod shared;
pub mod sqlite;

pub use error::{AppendError, OpenError, ReadError, StoreError};
pub use faults::{Fault, Faults, Point, reach};
pub use heads::{HeadDamage, HeadRecord, There, Unrecorded};
pub use journal::{
    Append, Appended, Filter, Head, Journal, Listed, Object, Row, Snapshot, Summary, SummaryText, Unlisted,
};
pub use lease::{Lease, LeaseError, LeaseRequest};
pub use memory::MemoryJournal;
pub use shared::{Note, Notes, Said, Says, Total};
pub use sqlite::{Cut, Filed, Options, SqliteJournal, Stray};
