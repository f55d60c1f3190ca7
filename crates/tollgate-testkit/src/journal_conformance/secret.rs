//! The secret of a run: written once, kept for whoever drives the run, and nowhere in the journal.

use std::collections::BTreeSet;
use std::thread;

use tollgate_core::run_secret::RunSecret;
use tollgate_store::bundle::{self, Limits};
use tollgate_store::{Fault, Filter, Journal, Point};

use super::crash::Once;
use super::{Append, Store, append, run};

fn secret(byte: u8) -> RunSecret {
    RunSecret::new([byte; 32])
}

/// Whoever offers another one gets the first; each run has its own, also before its first event.
pub fn a_secret_is_written_once(store: &dyn Store) {
    let (a, b) = (store.connect(None), store.connect(None));
    assert_eq!(a.secret(run(1)).unwrap(), None);
    assert_eq!(a.keep_secret(run(1), &secret(1)).unwrap(), secret(1));
    a.append(append(run(1), 0, 1)).unwrap();
    assert_eq!(b.keep_secret(run(1), &secret(2)).unwrap(), secret(1));
    assert_eq!(b.keep_secret(run(2), &secret(3)).unwrap(), secret(3));
    let late = store.connect(None);
    assert_eq!([1, 2, 3].map(|n| late.secret(run(n)).unwrap()), [Some(secret(1)), Some(secret(3)), None]);
}

/// Drivers that are there at the same time are all given the same one.
pub fn one_secret_is_kept_of_many_that_are_offered(store: &dyn Store) {
    let offers: Vec<_> = (1..=8)
        .map(|n| {
            let journal = store.connect(None);
            thread::spawn(move || journal.keep_secret(run(1), &secret(n)).unwrap())
        })
        .collect();
    let kept: Vec<RunSecret> = offers.into_iter().map(|offer| offer.join().unwrap()).collect();
    let there = store.connect(None).secret(run(1)).unwrap().unwrap();
    assert!(kept.iter().all(|one| *one == there), "{kept:?}");
}

/// It is no event, no list shows it, and what is passed on of a run does not have it.
pub fn a_secret_is_beside_the_journal(store: &dyn Store) {
    let journal = store.connect(None);
    let hidden = RunSecret::new(*b"thirty-two bytes no one may read");
    journal.keep_secret(run(1), &hidden).unwrap();
    assert_eq!((journal.place().unwrap(), journal.head(run(1)).unwrap()), (0, None));
    journal.append(Append { snapshot: Some(b"state".to_vec()), ..append(run(1), 0, 1) }).unwrap();
    let mut file = Vec::new();
    bundle::write(&*journal, run(1), &BTreeSet::new(), &mut file).unwrap();
    let shown = format!("{:?} {:?} {:?}", journal.list(&Filter::default()), journal.load(run(1), 0, 9), hidden);
    for bytes in [&file[..], shown.as_bytes()] {
        assert!(!bytes.windows(32).any(|window| window == hidden.bytes()));
    }
    assert!(!shown.contains("116, 104, 105, 114"), "as numbers: {shown}");
    let (_, elsewhere) = bundle::read(&file[..], Limits::default()).unwrap();
    assert_eq!(elsewhere.secret(run(1)).unwrap(), None);
}

/// It is kept whole or not at all.
pub fn a_secret_survives_a_fault_whole_or_not_at_all(store: &dyn Store) {
    for (number, point) in (1..).zip([Point::BeforeRows, Point::BeforeCommit, Point::AfterCommit, Point::BeforeReply]) {
        let broken = store.connect(Some(Once::new(point, Fault::Crash, 1)));
        broken.keep_secret(run(number), &secret(1)).unwrap_err();
        let kept = store.connect(None).keep_secret(run(number), &secret(2)).unwrap();
        let committed = matches!(point, Point::AfterCommit | Point::BeforeReply);
        assert_eq!(kept, secret(if committed { 1 } else { 2 }), "{point:?}");
    }
}
