//! What waits to be written, and who writes it.
//!
//! Whoever finds the writer free leads: commits everything that waits, its own among it. The others wait for their answer. A
//! thread stands by for what came while somebody led and nobody came after. So no commit waits for a thread to be
//! woken, and while one thread commits the others get on with their work.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::writer::{Job, Writer};

/// The most changes in one transaction.
const BATCH_MAX: usize = 512;
/// A transaction takes no more changes once it holds this many bytes.
const BATCH_BYTES: usize = 16 << 20;

/// The changes that wait. No longer than there are callers: each waits for the answer to its one change.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// How many are being committed.
    taken: usize,
    /// Whether the thread stands by, to be woken.
    standing_by: bool,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many changes wait or are being committed.
    pub(crate) fn len(&self) -> usize {
        let state = self.lock();
        state.jobs.len() + state.taken
    }

    /// Adds a change, and commits what waits if nobody else does.
    pub(crate) fn write(&self, job: Job, writer: &Mutex<Writer>) {
        self.lock().jobs.push_back(job);
        if let Ok(writer) = writer.try_lock() {
            return self.commit(&writer);
        }
        // Whoever holds the writer may have taken its batch before this came.
        let mut state = self.lock();
        if state.standing_by && !state.jobs.is_empty() {
            state.standing_by = false;
            drop(state);
            self.came.notify_one();
        }
    }

    /// Commits what waits as one transaction.
    fn commit(&self, writer: &Writer) {
        let mut state = self.lock();
        let mut batch = Vec::with_capacity(state.jobs.len().min(BATCH_MAX));
        let mut size = 0;
        while batch.len() < BATCH_MAX && size < BATCH_BYTES {
            let Some(job) = state.jobs.pop_front() else { break };
            size += job.weight();
            batch.push(job);
        }
        let count = batch.len();
        state.taken += count;
        drop(state);
        if count > 0 {
            writer.commit(batch);
            self.lock().taken -= count;
        }
    }

    /// Commits what nobody else does, until the queue is closed and empty.
    pub(crate) fn stand_by(&self, writer: &Mutex<Writer>) {
        loop {
            let mut state = self.lock();
            while state.jobs.is_empty() {
                if state.closed {
                    return;
                }
                state.standing_by = true;
                state = self.came.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.standing_by = false;
            drop(state);
            self.commit(&writer.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Lets the thread end after what is waiting.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_one();
    }
}
