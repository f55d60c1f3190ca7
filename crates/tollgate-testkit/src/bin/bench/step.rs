//! One run and raw commits, interleaved one by one.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rusqlite::{Connection, params};
use tollgate_core::run::{Effect, Run};
use tollgate_engine::driver::{DriveOutcome, Driver, EffectReply, Executor, ExecutorError, WhenIdle};
use tollgate_engine::session::Session;
use tollgate_store::{Options, SqliteJournal};

use crate::Outcome;
use crate::figures::{Figures, mean, median};
use crate::world::{self, REPORT_BYTES, Runs, Unwatched};

const PAIRS: usize = 2_000;
/// Before it counts: the first commits grow files and fill caches.
const WARM_UP: usize = 200;
/// What a row holds when it holds next to nothing.
const TINY_BYTES: usize = 100;

/// A database with one table, to commit single rows to.
struct Raw {
    connection: Connection,
    bytes: Vec<u8>,
    took_us: Vec<f64>,
}

impl Raw {
    fn new(path: &Path, size: usize) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);",
        )?;
        Ok(Self { connection, bytes: vec![b'.'; size], took_us: Vec::new() })
    }

    fn commit(&mut self) -> rusqlite::Result<()> {
        let start = Instant::now();
        self.connection.prepare_cached("INSERT INTO t (bytes) VALUES (?1)")?.execute(params![self.bytes])?;
        self.took_us.push(micros(start));
        Ok(())
    }
}

/// Commits raw rows between two steps: a step lasts from when its report is made to when the next lease is performed.
struct Interleaving {
    state: Mutex<State>,
    stop: Arc<AtomicBool>,
}

struct State {
    raw: Raw,
    tiny: Raw,
    since: Option<Instant>,
    steps_us: Vec<f64>,
    failed: Option<rusqlite::Error>,
}

impl State {
    fn raws(&mut self) -> rusqlite::Result<()> {
        self.raw.commit()?;
        self.tiny.commit()
    }
}

impl Executor for Interleaving {
    fn recover(&self, _: &Run, _: u64) -> Result<(), ExecutorError> {
        Ok(())
    }

    fn start(&self, run: &Run, effect: &Effect, token: u64, done: EffectReply) {
        let Effect::Dispatch { attempt, .. } = effect else { return self.stop.store(true, Ordering::Relaxed) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = state.since {
            state.steps_us.push(micros(since));
        }
        state.failed = state.raws().err();
        if state.failed.is_some() || state.steps_us.len() == WARM_UP + PAIRS {
            self.stop.store(true, Ordering::Relaxed);
            return;
        }
        state.since = Some(Instant::now());
        done.send(world::finished(run, *attempt, token));
    }

    fn cancel(&self, _: u64) {}
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

/// Measures what a step costs beside a raw commit.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let journal = Arc::new(SqliteJournal::open(&dir.join("state"), Options::default())?);
    let session: Session = Runs::new(journal)?.open(1)?;
    let stop = Arc::new(AtomicBool::new(false));
    let state = State {
        raw: Raw::new(&dir.join("raw.db"), REPORT_BYTES)?,
        tiny: Raw::new(&dir.join("tiny.db"), TINY_BYTES)?,
        since: None,
        steps_us: Vec::new(),
        failed: None,
    };
    let executor = Arc::new(Interleaving { state: Mutex::new(state), stop: Arc::clone(&stop) });
    let mut driver = Driver::take(session, executor.clone(), "bench", stop, &mut Unwatched)?;
    let rest = driver.drive(WhenIdle::WaitForTimer, &mut Unwatched)?;
    let mut state = executor.state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed.take() {
        return Err(error.into());
    }
    if rest != DriveOutcome::Stopped {
        return Err(format!("the run came to rest by itself: {rest:?}").into());
    }
    let steps = &state.steps_us[WARM_UP..];
    let raw = mean(&state.raw.took_us[WARM_UP..]);
    figures.set("step_ratio", mean(steps) / raw);
    figures.set("step_ratio_tiny", mean(steps) / mean(&state.tiny.took_us[WARM_UP..]));
    figures.set("step_p50_us", median(steps));
    figures.set("step_mean_us", mean(steps));
    figures.set("raw_mean_us", raw);
    Ok(())
}
