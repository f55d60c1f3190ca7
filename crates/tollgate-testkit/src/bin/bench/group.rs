//! Two hundred runs at once, and a bare loop that commits the same rows, bytes and batch sizes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use tollgate_core::run::{Effect, Run};
use tollgate_engine::driver::{Done, Driver, Hands, HandsError, Patience};
use tollgate_store::{Journal, Options, SqliteJournal};

use crate::figures::{Figures, median};
use crate::world::{self, Runs, Unwatched};
use crate::{Outcome, program};

/// The argument under which this program measures the runs alone, in a process whose memory is theirs.
pub const CHILD: &str = "group-child";

const RUNS: u64 = 200;
const STEPS: usize = 100;
const ROUNDS: usize = 5;

/// What the child process saw.
#[derive(Serialize, Deserialize)]
struct Seen {
    seconds: f64,
    appends: u64,
    commits: u64,
    /// The last row before the steps.
    place: u64,
    peak_kib: f64,
}

/// Answers at once, so many times.
struct Paced {
    begun: AtomicUsize,
    stop: Arc<AtomicBool>,
}

impl Hands for Paced {
    fn settle(&self, _: &Run, _: u64) -> Result<(), HandsError> {
        Ok(())
    }

    fn begin(&self, run: &Run, effect: &Effect, token: u64, done: Done) {
        // The lease that follows the last step shows that it is done.
        let begun = self.begun.fetch_add(1, Ordering::Relaxed);
        match effect {
            Effect::Dispatch { attempt, .. } if begun < STEPS => done.say(world::finished(run, *attempt, token)),
            _ => self.stop.store(true, Ordering::Relaxed),
        }
    }

    fn end(&self, _: u64) {}
}

/// Measures the runs in a process of their own, and the bare loop after each.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let (mut ours, mut bare, mut ratios, mut per_commit, mut peak) = (vec![], vec![], vec![], vec![], 0f64);
    for round in 0..ROUNDS {
        let state = dir.join(format!("state-{round}"));
        let output = Command::new(std::env::current_exe()?).arg(CHILD).arg(&state).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            return Err(format!("the process that drives the runs ended with {}", output.status).into());
        }
        let seen: Seen = serde_json::from_slice(&output.stdout)?;
        let steps = RUNS as f64 * STEPS as f64;
        if seen.appends as f64 != steps {
            return Err(format!("{} appends for {steps} steps", seen.appends).into());
        }
        let took = Bare::read(&state.join("journal.db"), &seen)?.commit(&dir.join(format!("bare-{round}.db")))?;
        ours.push(steps / seen.seconds);
        bare.push(steps / took.as_secs_f64());
        ratios.push(took.as_secs_f64() / seen.seconds);
        per_commit.push(seen.appends as f64 / seen.commits as f64);
        peak = peak.max(seen.peak_kib / 1024.0);
        std::fs::remove_dir_all(&state)?;
    }
    figures.set("group_ratio", median(&ratios));
    figures.set("appends_per_commit", median(&per_commit));
    figures.set("steps_per_s", median(&ours));
    figures.set("bare_steps_per_s", median(&bare));
    figures.set("rss_mib", peak);
    Ok(())
}

/// Drives the runs and prints what was seen.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
pub fn child(state: &Path) -> Outcome {
    let journal = Arc::new(SqliteJournal::open(state, Options::default())?);
    let runs = Runs::new(journal.clone())?;
    let ready = Barrier::new(RUNS as usize + 1);
    let (place, before, start) = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..RUNS {
            let (runs, ready) = (&runs, &ready);
            threads.push(scope.spawn(move || drive(runs, number, ready)));
        }
        ready.wait();
        let begun = (journal.place(), journal.commits(), Instant::now());
        ready.wait();
        for thread in threads {
            thread.join().map_err(|_| "a driver panicked")??;
        }
        Outcome::Ok(begun)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let after = journal.commits();
    let seen = Seen {
        seconds,
        appends: after.0 - before.0,
        commits: after.1 - before.1,
        place: place?,
        peak_kib: program::peak_kib()?,
    };
    println!("{}", serde_json::to_string(&seen)?);
    Ok(())
}

fn drive(runs: &Runs, number: u64, ready: &Barrier) -> Outcome {
    let stop = Arc::new(AtomicBool::new(false));
    let hands = Arc::new(Paced { begun: AtomicUsize::new(0), stop: Arc::clone(&stop) });
    let taken = runs.open(number).and_then(|session| {
        let name = format!("bench {number}");
        Ok(Driver::take(session, hands, &name, stop, &mut Unwatched)?)
    });
    // Also by one that failed: the others must not wait for it for ever.
    ready.wait();
    ready.wait();
    taken?.drive(Patience::Leave, &mut Unwatched)?;
    Ok(())
}

/// Everything that the steps wrote, ready to be written again with nothing checked, hashed or decided.
struct Bare {
    schema: Vec<String>,
    runs: Vec<RunRow>,
    rows: Vec<Row>,
    commits: usize,
}

struct RunRow {
    id: i64,
    run: String,
    status: String,
    repository: String,
    body: Vec<u8>,
    snapshot: Vec<u8>,
}

struct Row {
    run: usize,
    first: i64,
    last: i64,
    head: Vec<u8>,
    bytes: Vec<u8>,
    digest: Vec<u8>,
    object: Vec<u8>,
}

impl Bare {
    fn read(path: &Path, seen: &Seen) -> Outcome<Self> {
        let db = Connection::open(path)?;
        let mut tables = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
        let schema = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let sql = "SELECT r.id, r.run, r.status, r.repository, r.body, ifnull(s.bytes, x'') \
                   FROM runs r LEFT JOIN snapshots s ON s.run = r.id ORDER BY r.id";
        let mut runs = db.prepare(sql)?;
        let runs = runs.query_map([], |row| {
            Ok(RunRow {
                id: row.get(0)?,
                run: row.get(1)?,
                status: row.get(2)?,
                repository: row.get(3)?,
                body: row.get(4)?,
                snapshot: row.get(5)?,
            })
        })?;
        let runs = runs.collect::<Result<Vec<RunRow>, _>>()?;
        // Every step stored one object, in the order of the rows; the protocol is the one before them.
        let sql = "SELECT r.run, r.first_seq, r.last_seq, r.head, r.bytes, o.digest, o.bytes FROM \
                     (SELECT *, row_number() OVER (ORDER BY place) AS n FROM rows WHERE place > ?1) r JOIN \
                     (SELECT *, row_number() OVER (ORDER BY id) AS n FROM objects WHERE id > 1) o USING (n) ORDER BY n";
        let mut rows = db.prepare(sql)?;
        let rows = rows.query_map([i64::try_from(seen.place)?], |row| {
            let id: i64 = row.get(0)?;
            Ok(Row {
                run: runs.iter().position(|run| run.id == id).unwrap_or_default(),
                first: row.get(1)?,
                last: row.get(2)?,
                head: row.get(3)?,
                bytes: row.get(4)?,
                digest: row.get(5)?,
                object: row.get(6)?,
            })
        })?;
        let rows = rows.collect::<Result<Vec<Row>, _>>()?;
        if rows.len() as u64 != seen.appends {
            return Err(format!("{} rows and objects for {} appends", rows.len(), seen.appends).into());
        }
        Ok(Self { schema, runs, rows, commits: usize::try_from(seen.commits)? })
    }

    /// Writes it all with as many commits, under the settings of the journal.
    fn commit(&self, path: &Path) -> Outcome<Duration> {
        let db = Connection::open(path)?;
        db.set_prepared_statement_cache_capacity(32);
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
             PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;",
        )?;
        db.execute_batch(&self.schema.join(";"))?;
        for run in &self.runs {
            db.execute(
                "INSERT INTO runs (id, seq, place, head, status, repository, at_ms, body, run) \
                 VALUES (?1, 1, 1, x'00', ?2, ?3, 1, ?4, ?5)",
                params![run.id, run.status, run.repository, run.body, run.run],
            )?;
        }
        let start = Instant::now();
        for batch in 0..self.commits {
            let at = |batch: usize| batch * self.rows.len() / self.commits;
            db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for row in &self.rows[at(batch)..at(batch + 1)] {
                self.write(&db, row)?;
            }
            db.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(start.elapsed())
    }

    fn write(&self, db: &Connection, row: &Row) -> Outcome {
        let run = &self.runs[row.run];
        let (id, first, last) = (run.id, row.first, row.last);
        db.prepare_cached("INSERT INTO objects (digest, bytes) VALUES (?1, ?2)")?
            .execute(params![row.digest, row.object])?;
        db.prepare_cached("INSERT INTO rows (run, first_seq, last_seq, head, bytes) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![id, first, last, row.head, row.bytes])?;
        let place = db.last_insert_rowid();
        let sql = "UPDATE runs SET seq = ?2, place = ?3, head = ?4, status = ?5, repository = ?6, at_ms = ?7, \
                   body = ?8 WHERE id = ?1";
        db.prepare_cached(sql)?.execute(params![id, last, place, row.head, run.status, run.repository, 1, run.body])?;
        if tollgate_engine::session::takes_snapshot(first.unsigned_abs() - 1, last.unsigned_abs()) {
            let sql = "INSERT OR REPLACE INTO snapshots (run, seq, head, seal, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
            db.prepare_cached(sql)?.execute(params![id, last, row.head, row.head, run.snapshot])?;
        }
        Ok(())
    }
}
