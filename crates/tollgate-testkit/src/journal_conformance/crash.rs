//! A fault between any two writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tollgate_store::chain::verify_run;
use tollgate_store::journal::SMALL_OBJECT_BYTES;
use tollgate_store::{Append, AppendError, Fault, Faults, LeaseError, LeaseRequest, Point, StoreError};

use super::{Store, append, object, run};

/// Goes wrong once, at one point.
#[derive(Debug)]
pub struct Once {
    point: Point,
    fault: Fault,
    left: AtomicU32,
}

impl Once {
    /// The nth time this point is reached, this goes wrong.
    pub fn new(point: Point, fault: Fault, nth: u32) -> Arc<Self> {
        Arc::new(Self { point, fault, left: AtomicU32::new(nth) })
    }
}

impl Faults for Once {
    fn at(&self, point: Point) -> Option<Fault> {
        let due = point == self.point && self.left.fetch_sub(1, Ordering::Relaxed) == 1;
        due.then_some(self.fault)
    }
}

fn committed(point: Point) -> bool {
    matches!(point, Point::AfterCommit | Point::BeforeReply)
}

/// Whatever goes wrong wherever: afterwards the append is there with its objects, summary and snapshot, or nothing is.
pub fn a_fault_leaves_an_append_whole_or_absent(store: &dyn Store) {
    let mut number = 0;
    for point in Point::STORE {
        for fault in [Fault::Fail, Fault::Crash] {
            number += 1;
            let (id, small) = (run(number), object(100, number as u8));
            let large = object(SMALL_OBJECT_BYTES + 1, number as u8);
            store.connect(None).append(append(id, 0, 1)).unwrap();
            let whole = Append {
                objects: vec![small.clone(), large.clone()],
                snapshot: Some(b"state".to_vec()),
                ..append(id, 1, 3)
            };
            let broken = store.connect(Some(Once::new(point, fault, 1)));
            let failed = broken.append(whole.clone()).unwrap_err();
            assert!(matches!(failed, AppendError::Store(StoreError::Injected | StoreError::Closed)), "{failed}");

            let after = store.connect(None);
            let there = after.head(id).unwrap().unwrap().seq == 4;
            assert_eq!(there, committed(point), "{point:?} {fault:?}");
            assert_eq!(after.object(small.digest()).unwrap().is_some(), there);
            assert_eq!(after.snapshot(id).unwrap().is_some(), there);
            assert_eq!(after.load(id, 0, 10).unwrap().len(), 1 + usize::from(there));
            if there {
                assert!(after.object(large.digest()).unwrap().is_some());
                assert!(matches!(after.append(whole), Err(AppendError::Conflict { actual: 4, .. })));
            } else {
                after.append(whole).unwrap();
            }
            assert_eq!(verify_run(&*after, id).unwrap().seq, 4);
        }
    }
}

/// After a crash the handle is as dead as its process would be; a failure it survives.
pub fn a_crashed_handle_answers_nothing(store: &dyn Store) {
    let failed = store.connect(Some(Once::new(Point::BeforeCommit, Fault::Fail, 1)));
    assert!(failed.append(append(run(1), 0, 1)).is_err());
    failed.append(append(run(1), 0, 1)).unwrap();

    let crashed = store.connect(Some(Once::new(Point::AfterCommit, Fault::Crash, 2)));
    crashed.append(append(run(1), 1, 1)).unwrap();
    assert!(crashed.append(append(run(1), 2, 1)).is_err());
    assert!(matches!(crashed.append(append(run(2), 0, 1)), Err(AppendError::Store(StoreError::Closed))));
    assert!(crashed.head(run(1)).is_err());
    assert!(crashed.load(run(1), 0, 1).is_err());
    let request = LeaseRequest::Release { epoch: 1 };
    assert!(matches!(crashed.lease(run(1), request), Err(LeaseError::Store(StoreError::Closed))));
    assert_eq!(store.connect(None).head(run(1)).unwrap().unwrap().seq, 3);
}

/// A lease is taken or it is not; an epoch is never given out twice.
pub fn a_lease_survives_a_fault_whole_or_not_at_all(store: &dyn Store) {
    let request = |holder: &str| LeaseRequest::Acquire { holder: holder.into(), now_ms: 0, ttl_ms: 100, over: None };
    for (number, point) in (1..).zip([Point::BeforeRows, Point::BeforeCommit, Point::AfterCommit, Point::BeforeReply]) {
        let broken = store.connect(Some(Once::new(point, Fault::Crash, 1)));
        broken.lease(run(number), request("a")).unwrap_err();
        let next = store.connect(None).lease(run(number), request("b"));
        match next {
            Ok(lease) => assert_eq!((lease.epoch, committed(point)), (1, false)),
            Err(LeaseError::Held { held, .. }) => assert_eq!((held.epoch, committed(point)), (1, true)),
            Err(other) => panic!("{other}"),
        }
    }
}
