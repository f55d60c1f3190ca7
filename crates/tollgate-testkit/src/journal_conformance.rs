//! The rules every journal keeps, as tests that run on each store.
//!
//! `journal_conformance!(name, store)` makes a module of tests; `store` is an expression that makes a new empty [`Store`].

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are bodies of tests")]

mod concurrency;
mod crash;
mod lease;
mod reading;
mod secret;
mod shared;
mod writing;

use std::collections::BTreeMap;
use std::sync::Arc;

use tollgate_core::id::RunId;
use tollgate_store::{Append, Faults, Journal, Object, Says, SummaryText};

pub use concurrency::*;
pub use crash::*;
pub use lease::*;
pub use reading::*;
pub use secret::*;
pub use shared::*;
pub use writing::*;

/// A store under test: every handle it opens is a connection to the same journal.
pub trait Store {
    /// Opens one more handle.
    fn connect(&self, faults: Option<Arc<dyn Faults>>) -> Arc<dyn Journal>;
}

/// The run number `n` of a test.
pub fn run(n: u64) -> RunId {
    RunId::from_bits(n)
}

/// The text of one event.
pub fn event(run: RunId, seq: u64, data: &str) -> Vec<u8> {
    format!(r#"{{"v":1,"run":"{run}","seq":{seq},"type":"test.noted","data":"{data}"}}"#).into_bytes()
}

/// An append of so many events, with nothing else.
pub fn append(run: RunId, expected: u64, events: u64) -> Append {
    Append {
        run,
        expected,
        head: None,
        fence: None,
        seen: BTreeMap::new(),
        events: (expected + 1..=expected + events).map(|seq| event(run, seq, "x")).collect(),
        objects: Vec::new(),
        summary: SummaryText { status: "open".into(), ..SummaryText::default() },
        says: Says::new(),
        snapshot: None,
    }
}

/// An object of so many bytes that no other number gives.
pub fn object(bytes: usize, number: u8) -> Object {
    Object::new(vec![number; bytes])
}

/// Makes a module that runs every rule on a store.
#[macro_export]
macro_rules! journal_conformance {
    ($name:ident, $store:expr) => {
        $crate::journal_conformance!(@cases $name, $store,
            an_append_is_loaded_as_it_was_written,
            a_writer_that_has_not_seen_everything_is_refused_and_leaves_nothing,
            what_breaks_the_form_is_refused,
            objects_of_both_sizes_read_back,
            a_summary_changes_with_its_append,
            lists_are_narrowed_and_the_last_changed_comes_first,
            a_snapshot_lies_on_the_chain,
            reading_is_paged_by_rows_and_by_bytes,
            a_stale_epoch_is_refused,
            a_lease_is_taken_renewed_released_and_passes,
            a_dead_holder_is_taken_over_at_once,
            a_lease_that_is_gone_cannot_be_renewed_or_released,
            a_run_can_be_leased_before_its_first_event,
            two_drivers_never_hold_one_epoch,
            writers_of_one_run_take_turns,
            subscribers_miss_nothing_under_concurrent_writers,
            a_subscriber_that_waits_is_woken,
            what_runs_say_is_added_up_and_replaced,
            a_note_comes_with_the_lease_of_its_run,
            a_writer_is_refused_when_a_key_it_decided_from_has_changed,
            a_secret_is_written_once,
            one_secret_is_kept_of_many_that_are_offered,
            a_secret_is_beside_the_journal,
            a_fault_leaves_an_append_whole_or_absent,
            a_crashed_handle_answers_nothing,
            a_lease_survives_a_fault_whole_or_not_at_all,
            a_secret_survives_a_fault_whole_or_not_at_all,
        );
    };
    (@cases $name:ident, $store:expr, $($case:ident,)*) => {
        mod $name {
            $(#[test]
            fn $case() {
                $crate::journal_conformance::$case(&$store);
            })*
        }
    };
}
