//! Many writers and readers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tollgate_store::chain::verify_run;
use tollgate_store::{AppendError, Journal, Row};

use super::{Store, append, run};

/// Appends with the version it last saw until so many of its appends went in.
pub fn append_many(journal: &dyn Journal, run: tollgate_core::id::RunId, times: u64) {
    let mut expected = 0;
    let mut done = 0;
    while done < times {
        match journal.append(append(run, expected, 2)) {
            Ok(appended) => {
                expected = appended.seq;
                done += 1;
            }
            Err(AppendError::Conflict { actual, .. }) => expected = actual,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Every append of every writer is there once, in one chain.
pub fn writers_of_one_run_take_turns(store: &dyn Store) {
    let writers: Vec<_> = (0..4)
        .map(|_| {
            let journal: Arc<dyn Journal> = store.connect(None);
            thread::spawn(move || append_many(&*journal, run(1), 25))
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    let journal = store.connect(None);
    assert_eq!(verify_run(&*journal, run(1)).unwrap().seq, 200);
}

/// A subscriber sees every row once, in the order of places, whoever wrote it and however it pages.
pub fn subscribers_miss_nothing_under_concurrent_writers(store: &dyn Store) {
    let handles = [store.connect(None), store.connect(None)];
    let stop = Arc::new(AtomicBool::new(false));
    let subscribers: Vec<_> = [(0, 1), (1, 7), (1, 1000)]
        .into_iter()
        .map(|(handle, limit)| {
            let (journal, stop) = (Arc::clone(&handles[handle]), Arc::clone(&stop));
            thread::spawn(move || {
                let mut seen: Vec<Row> = Vec::new();
                loop {
                    // Asked before the last look, so that nothing can come after it.
                    let last = stop.load(Ordering::Acquire);
                    let place = seen.last().map_or(0, |row| row.place);
                    let rows = journal.since(place, limit, Duration::from_millis(5)).unwrap();
                    if rows.is_empty() && last {
                        return seen;
                    }
                    seen.extend(rows);
                }
            })
        })
        .collect();
    let writers: Vec<_> = (0..8)
        .map(|n| {
            let journal = Arc::clone(&handles[n as usize % 2]);
            thread::spawn(move || append_many(&*journal, run(n), 25))
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    stop.store(true, Ordering::Release);
    for subscriber in subscribers {
        let seen = subscriber.join().unwrap();
        assert_eq!(seen.len(), 200);
        assert!(seen.windows(2).all(|pair| pair[0].place < pair[1].place));
        for n in 0..8 {
            let mut of_run = seen.iter().filter(|row| row.run == run(n)).cloned();
            let loaded = handles[0].load(run(n), 0, 1000).unwrap();
            assert!(loaded.into_iter().eq(of_run.by_ref()) && of_run.next().is_none());
        }
    }
}

/// Waiting ends when something is appended, through this handle or another, and when the time is over.
pub fn a_subscriber_that_waits_is_woken(store: &dyn Store) {
    let (here, there) = (store.connect(None), store.connect(None));
    assert_eq!(here.since(0, 10, Duration::from_millis(1)).unwrap(), []);
    for (n, writer) in [(1, Arc::clone(&here)), (2, there)] {
        let journal = Arc::clone(&here);
        let place = here.place().unwrap();
        let waiting = thread::spawn(move || journal.since(place, 10, Duration::from_secs(600)).unwrap());
        writer.append(append(run(n), 0, 1)).unwrap();
        let rows = waiting.join().unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].run, run(n));
    }
}
