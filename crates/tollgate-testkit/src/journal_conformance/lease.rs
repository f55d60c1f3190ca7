//! Who may drive a run, and that a former driver cannot write.

use std::sync::Arc;
use std::thread;

use tollgate_core::code::Code;
use tollgate_store::{Append, AppendError, Journal, Lease, LeaseError, LeaseRequest};

use super::{Store, append, run};

pub(super) fn acquire(
    journal: &dyn Journal,
    holder: &str,
    now_ms: u64,
    over: Option<u64>,
) -> Result<Lease, LeaseError> {
    journal.lease(run(1), LeaseRequest::Acquire { holder: holder.into(), now_ms, ttl_ms: 100, over })
}

fn renew(journal: &dyn Journal, epoch: u64, now_ms: u64) -> Result<Lease, LeaseError> {
    journal.lease(run(1), LeaseRequest::Renew { epoch, now_ms, ttl_ms: 100 })
}

/// The epoch is compared in the transaction of the append: after a take-over the former driver writes nothing.
pub fn a_stale_epoch_is_refused(store: &dyn Store) {
    let (old, new) = (store.connect(None), store.connect(None));
    old.append(append(run(1), 0, 1)).unwrap();
    let fenced = |expected, fence| Append { fence: Some(fence), ..append(run(1), expected, 1) };
    assert!(matches!(old.append(fenced(1, 1)), Err(AppendError::Fenced { fence: 1, epoch: 0, .. })));
    let first = acquire(&*old, "old", 0, None).unwrap();
    old.append(fenced(1, first.epoch)).unwrap();
    let second = acquire(&*new, "new", 200, None).unwrap();
    assert!(second.epoch > first.epoch);
    let refused = old.append(fenced(2, first.epoch)).unwrap_err();
    assert_eq!(refused.code(), Code::APPEND_FENCED);
    assert!(matches!(refused, AppendError::Fenced { fence: 1, epoch: 2, .. }));
    assert!(matches!(new.append(fenced(2, 9)), Err(AppendError::Fenced { fence: 9, epoch: 2, .. })));
    new.append(fenced(2, second.epoch)).unwrap();
    // Who does not drive may still append what is allowed to anybody.
    old.append(append(run(1), 3, 1)).unwrap();
    assert_eq!(new.head(run(1)).unwrap().unwrap().epoch, 2);
}

/// A lease keeps others out until it passes or is given back; renewing it writes no event.
pub fn a_lease_is_taken_renewed_released_and_passes(store: &dyn Store) {
    let (a, b) = (store.connect(None), store.connect(None));
    a.append(append(run(1), 0, 1)).unwrap();
    assert_eq!(acquire(&*a, "a", 0, None).unwrap(), Lease { epoch: 1, holder: "a".into(), until_ms: 100 });
    let refused = acquire(&*b, "b", 99, None).unwrap_err();
    assert_eq!(refused.code(), Code::LEASE_HELD);
    assert!(matches!(refused, LeaseError::Held { held, .. } if held.holder == "a" && held.until_ms == 100));
    assert_eq!(renew(&*a, 1, 90).unwrap().until_ms, 190);
    assert!(acquire(&*b, "b", 189, None).is_err());
    assert_eq!(acquire(&*b, "b", 190, None).unwrap().epoch, 2);
    assert_eq!(b.lease(run(1), LeaseRequest::Release { epoch: 2 }).unwrap().until_ms, 0);
    assert_eq!(acquire(&*a, "a", 191, None).unwrap().epoch, 3);
    // The same holder again: a new epoch, so that two of its threads cannot both drive.
    assert_eq!(acquire(&*a, "a", 192, None).unwrap().epoch, 4);
    // Late, but nobody came in between.
    assert_eq!(renew(&*a, 4, 5000).unwrap().until_ms, 5100);
    assert_eq!(a.place().unwrap(), 1, "leases are no events");
}

/// Who knows that a holder is dead need not wait; what it knows must be about the lease there is.
pub fn a_dead_holder_is_taken_over_at_once(store: &dyn Store) {
    let journal = store.connect(None);
    acquire(&*journal, "dead", 0, None).unwrap();
    assert!(acquire(&*journal, "b", 1, Some(7)).is_err());
    assert_eq!(acquire(&*journal, "b", 1, Some(1)).unwrap().epoch, 2);
    assert!(acquire(&*journal, "c", 2, Some(1)).is_err(), "b was faster");
}

/// Stale holders learn that their lease is gone.
pub fn a_lease_that_is_gone_cannot_be_renewed_or_released(store: &dyn Store) {
    let journal = store.connect(None);
    assert_eq!(renew(&*journal, 1, 0).unwrap_err().code(), Code::LEASE_GONE);
    acquire(&*journal, "a", 0, None).unwrap();
    acquire(&*journal, "b", 500, None).unwrap();
    for gone in [renew(&*journal, 1, 501), journal.lease(run(1), LeaseRequest::Release { epoch: 1 })] {
        assert!(matches!(gone, Err(LeaseError::Gone { epoch: 1, actual: 2, .. })));
    }
    journal.lease(run(1), LeaseRequest::Release { epoch: 2 }).unwrap();
    assert!(matches!(renew(&*journal, 2, 502), Err(LeaseError::Gone { epoch: 2, actual: 2, .. })));
}

/// A driver takes the lease first and starts the run under it.
pub fn a_run_can_be_leased_before_its_first_event(store: &dyn Store) {
    let journal = store.connect(None);
    let lease = acquire(&*journal, "a", 0, None).unwrap();
    assert_eq!(journal.head(run(1)).unwrap(), None);
    journal.append(Append { fence: Some(lease.epoch), ..append(run(1), 0, 1) }).unwrap();
    assert_eq!(journal.head(run(1)).unwrap().unwrap().epoch, lease.epoch);
}

/// Drivers that fight for a run never share an epoch.
pub fn two_drivers_never_hold_one_epoch(store: &dyn Store) {
    let drivers: Vec<_> = (0..4)
        .map(|n| {
            let journal: Arc<dyn Journal> = store.connect(None);
            thread::spawn(move || -> Vec<u64> {
                let taken = (0..50).filter_map(|i| acquire(&*journal, &format!("{n}"), i * 60, None).ok());
                taken.map(|lease| lease.epoch).collect()
            })
        })
        .collect();
    let mut epochs: Vec<u64> = drivers.into_iter().flat_map(|driver| driver.join().unwrap()).collect();
    epochs.sort_unstable();
    assert_eq!(epochs, (1..=epochs.len() as u64).collect::<Vec<u64>>());
}
