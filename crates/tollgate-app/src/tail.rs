//! Watching runs: one thread follows the journal, and wakes everyone who watches a run that was appended to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tollgate_core::code::Code;
use tollgate_core::id::RunId;
use tollgate_store::{Journal, ReadError};

use crate::failure::Failure;

/// How long one look at the journal takes at most: so long the thread may outlive its last watcher.
const WAIT: Duration = Duration::from_millis(100);
/// Rows of the journal that are read at once.
const ROWS: usize = 256;

/// The thread that follows a journal, as long as this is kept.
#[derive(Debug)]
pub struct Tail {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    watchers: Mutex<Watchers>,
}

#[derive(Debug, Default)]
struct Watchers {
    /// A full channel has its watcher woken already.
    all: Vec<(RunId, SyncSender<()>)>,
    /// Why the journal is no longer followed.
    failed: Option<(Code, String)>,
}

impl Shared {
    fn watchers(&self) -> MutexGuard<'_, Watchers> {
        self.watchers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, journal: &dyn Journal, mut place: u64) {
        while !self.stop.load(Ordering::Relaxed) {
            match journal.since(place, ROWS, WAIT) {
                Ok(rows) => {
                    place = rows.last().map_or(place, |row| row.place);
                    let named = |run: RunId| rows.iter().any(|row| row.run == run);
                    // One that is no longer listened to is forgotten when its run is next appended to.
                    self.watchers().all.retain(|(run, wake)| !named(*run) || !is_gone(wake));
                }
                Err(error) => {
                    let mut watchers = self.watchers();
                    watchers.failed = Some((error.code(), error.to_string()));
                    watchers.all.clear();
                    return;
                }
            }
        }
    }
}

/// Wakes a watcher; says whether it has gone.
fn is_gone(wake: &SyncSender<()>) -> bool {
    matches!(wake.try_send(()), Err(std::sync::mpsc::TrySendError::Disconnected(())))
}

impl Tail {
    /// Follows a journal from its end on.
    pub fn start(journal: Arc<dyn Journal>) -> Result<Self, ReadError> {
        let place = journal.place()?;
        let shared = Arc::<Shared>::default();
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.follow(&*journal, place)
        });
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Watches a run. What is appended before this call is for the caller to read after it.
    pub fn watch(&self, run: RunId) -> Subscription {
        let (wake, woken) = sync_channel(1);
        let mut watchers = self.shared.watchers();
        if watchers.failed.is_none() {
            watchers.all.push((run, wake));
        }
        Subscription { shared: Arc::clone(&self.shared), woken }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

/// Who watches one run.
#[derive(Debug)]
pub struct Subscription {
    shared: Arc<Shared>,
    woken: Receiver<()>,
}

impl Subscription {
    /// Waits so long for something to be appended to the run; says whether something was.
    pub fn wait(&self, time: Duration) -> Result<bool, Failure> {
        match self.woken.recv_timeout(time) {
            Ok(()) => Ok(true),
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => {
                let (code, why) = self.shared.watchers().failed.clone().unwrap_or((Code::INTERNAL, String::new()));
                Err(Failure::environment(code, "the journal cannot be read").because(why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tollgate_store::MemoryJournal;
    use tollgate_testkit::journal_conformance::append;

    use super::*;

    #[test]
    fn every_watcher_of_a_run_is_woken_and_no_other() {
        let journal = Arc::new(MemoryJournal::open(None));
        let (one, other) = (RunId::from_bits(1), RunId::from_bits(2));
        journal.append(append(one, 0, 1)).unwrap();
        let tail = Tail::start(journal.clone()).unwrap();
        let (first, second, stranger) = (tail.watch(one), tail.watch(one), tail.watch(other));
        journal.append(append(one, 1, 1)).unwrap();
        let long = Duration::from_secs(60);
        assert!(first.wait(long).unwrap() && second.wait(long).unwrap());
        assert!(!stranger.wait(Duration::ZERO).unwrap() && !first.wait(Duration::ZERO).unwrap());
        drop(second);
        journal.append(append(one, 2, 1)).unwrap();
        journal.append(append(other, 0, 1)).unwrap();
        assert!(stranger.wait(long).unwrap() && first.wait(long).unwrap());
    }
}
