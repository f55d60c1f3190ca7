//! A run that grows: what a step costs early and late, and what opening a run of 100,000 events costs.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tollgate_core::id::RunId;
use tollgate_engine::clock::SystemClock;
use tollgate_engine::session::Session;
use tollgate_store::{Options, SqliteJournal};

use crate::Outcome;
use crate::figures::{Figures, median, trimmed_mean};
use crate::program::bytes_read;
use crate::world::{Runs, Stepper};

const EARLY: u64 = 100;
const LATE: u64 = 10_000;
/// Steps that count, on either side of where they are measured.
const AROUND: u64 = 50;
/// How many young runs the old one is compared with, one after the other.
const YOUNG: u64 = 10;
const EVENTS: u64 = 100_000;
const OPENINGS: usize = 15;
const OLD: u64 = 0;

/// Steps of one kind.
#[derive(Default)]
struct Taken {
    took_us: Vec<f64>,
    read: Vec<f64>,
}

impl Taken {
    fn step(&mut self, stepper: &mut Stepper, own_reading: u64) -> Outcome {
        let (before, start) = (bytes_read()?, Instant::now());
        stepper.step()?;
        self.took_us.push(start.elapsed().as_secs_f64() * 1e6);
        self.read.push((bytes_read()? - before).saturating_sub(own_reading) as f64);
        Ok(())
    }
}

/// Measures growth, and opening.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let state = dir.join("state");
    let journal = Arc::new(SqliteJournal::open(&state, Options::default())?);
    let runs = Runs::new(journal)?;
    let mut old = Stepper::take(runs.open(OLD)?)?;
    growth(&runs, &mut old, figures)?;
    while old.session.run().seq < EVENTS {
        old.step()?;
    }
    let id = old.session.run().id;
    drop((old, runs));
    figures.set("open_snapshot_ms", median(&open(&state, id)?));
    let snapshots = rusqlite::Connection::open(state.join("journal.db"))?;
    let gone = snapshots.execute("DELETE FROM snapshots", [])?;
    drop(snapshots);
    if gone == 0 {
        return Err("there was no snapshot to open the run from".into());
    }
    figures.set("open_cold_ms", median(&open(&state, id)?));
    Ok(())
}

fn growth(runs: &Runs, old: &mut Stepper, figures: &mut Figures) -> Outcome {
    for _ in 0..LATE - YOUNG * AROUND {
        old.step()?;
    }
    // Looking at what was read is reading, too.
    let before = bytes_read()?;
    let own_reading = bytes_read()? - before;
    let (mut early, mut late) = (Taken::default(), Taken::default());
    for number in 1..=YOUNG {
        let mut young = Stepper::take(runs.open(number)?)?;
        for _ in 0..EARLY - AROUND {
            young.step()?;
        }
        for _ in 0..2 * AROUND {
            early.step(&mut young, own_reading)?;
            late.step(old, own_reading)?;
        }
    }
    let (at_early, at_late) = (trimmed_mean(&early.took_us), trimmed_mean(&late.took_us));
    figures.set("growth_ratio", at_late / at_early);
    figures.set("step_100_us", at_early);
    figures.set("step_10000_us", at_late);
    figures.set("read_bytes_100", median(&early.read));
    figures.set("read_bytes_10000", median(&late.read));
    Ok(())
}

/// Opens the journal and the run, again and again; the first opening warms the cache.
fn open(state: &Path, id: RunId) -> Outcome<Vec<f64>> {
    let mut took = Vec::new();
    for opening in 0..=OPENINGS {
        let start = Instant::now();
        let journal = Arc::new(SqliteJournal::open(state, Options::default())?);
        let session = Session::load(journal, Arc::new(SystemClock), id)?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if session.run().seq < EVENTS {
            return Err(format!("{} events were read, not {EVENTS}", session.run().seq).into());
        }
        if opening > 0 {
            took.push(ms);
        }
    }
    Ok(took)
}
