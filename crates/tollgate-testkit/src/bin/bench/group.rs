//! Two hundred runs at once, and a bare loop that commits the same rows, bytes and batch sizes.
//!
//! They take turns, a leg each: so the disk's mood, and whoever else is on the machine, falls on both.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use tollgate_core::run::{Effect, Run};
use tollgate_engine::driver::{Driver, EffectReply, Executor, ExecutorError, WhenIdle};
use tollgate_store::{Journal, Options, SqliteJournal};

use crate::figures::{Figures, median};
use crate::world::{self, Runs, Unwatched};
use crate::{Outcome, program};

/// The argument under which this program measures the runs alone, in a process whose memory is theirs.
pub const CHILD: &str = "group-child";

const RUNS: u64 = 200;
const STEPS: usize = 100;
const LEG: usize = 20;
const ROUNDS: usize = 7;

/// What the child process saw in one leg.
#[derive(Serialize, Deserialize)]
struct Leg {
    seconds: f64,
    appends: u64,
    commits: u64,
    /// The last row before it.
    place: u64,
    peak_kib: f64,
}

/// Answers at once, so many times; after every leg it waits for all the others.
struct Paced {
    begun: AtomicUsize,
    stop: Arc<AtomicBool>,
    turn: Arc<Barrier>,
}

impl Executor for Paced {
    fn recover(&self, _: &Run, _: u64) -> Result<(), ExecutorError> {
        Ok(())
    }

    fn start(&self, run: &Run, effect: &Effect, token: u64, done: EffectReply) {
        // The lease that follows the last step of a leg shows that it is done.
        let begun = self.begun.fetch_add(1, Ordering::Relaxed);
        if begun.is_multiple_of(LEG) {
            self.turn.wait();
            self.turn.wait();
        }
        match effect {
            Effect::Dispatch { attempt, .. } if begun < STEPS => done.send(world::finished(run, *attempt, token)),
            _ => self.stop.store(true, Ordering::Relaxed),
        }
    }

    fn cancel(&self, _: u64) {}
}

/// Measures the runs in a process of their own, and the bare loop after each leg.
pub fn measure(dir: &Path, figures: &mut Figures) -> Outcome {
    let (mut ours, mut bare, mut ratios, mut per_commit, mut peak) = (vec![], vec![], vec![], vec![], 0f64);
    let steps = RUNS as f64 * STEPS as f64;
    for number in 0..ROUNDS {
        let state = dir.join(format!("state-{number}"));
        let round = round(&state, &dir.join(format!("bare-{number}.db")))?;
        ours.push(steps / round.ours);
        bare.push(steps / round.bare);
        ratios.push(round.bare / round.ours);
        per_commit.push(steps / round.commits as f64);
        peak = peak.max(round.peak_kib / 1024.0);
        std::fs::remove_dir_all(&state)?;
    }
    figures.set("group_ratio", median(&ratios));
    figures.set("appends_per_commit", median(&per_commit));
    figures.set("steps_per_s", median(&ours));
    figures.set("bare_steps_per_s", median(&bare));
    figures.set("rss_mib", peak);
    Ok(())
}

/// The sums of a round's legs, in seconds.
#[derive(Default)]
struct Round {
    ours: f64,
    bare: f64,
    commits: u64,
    peak_kib: f64,
}

fn round(state: &Path, bare: &Path) -> Outcome<Round> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(CHILD).arg(state).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let (Some(mut turn), Some(said)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the process that drives the runs has no pipes".into());
    };
    let (mut round, mut db) = (Round::default(), None);
    for line in BufReader::new(said).lines() {
        let leg: Leg = serde_json::from_str(&line?)?;
        let written = Bare::read(&state.join("journal.db"), &leg)?;
        let db = match &mut db {
            Some(db) => db,
            none => none.insert(written.open(bare)?),
        };
        round.ours += leg.seconds;
        round.bare += written.commit(db)?.as_secs_f64();
        round.commits += leg.commits;
        round.peak_kib = leg.peak_kib;
        turn.write_all(b"\n")?;
    }
    match child.wait()? {
        status if status.success() => Ok(round),
        status => Err(format!("the process that drives the runs ended with {status}").into()),
    }
}

/// Drives the runs, prints what was seen of each leg, and goes on with the next when it is told to.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
#[expect(clippy::exit, reason = "the threads wait for each other, and would for one that failed")]
pub fn child(state: &Path) -> Outcome {
    let journal = Arc::new(SqliteJournal::open(state, Options::default())?);
    let runs = Runs::new(journal.clone())?;
    let turn = Arc::new(Barrier::new(RUNS as usize + 1));
    std::thread::scope(|scope| {
        for number in 0..RUNS {
            let (runs, turn) = (&runs, Arc::clone(&turn));
            scope.spawn(move || {
                if let Err(error) = drive(runs, number, turn) {
                    eprintln!("{error}");
                    std::process::exit(1);
                }
            });
        }
        turn.wait();
        for _ in 0..STEPS / LEG {
            let (place, before) = (journal.place()?, journal.commits());
            let start = Instant::now();
            turn.wait();
            turn.wait();
            let seconds = start.elapsed().as_secs_f64();
            let after = journal.commits();
            let (appends, commits) = (after.0 - before.0, after.1 - before.1);
            let leg = Leg { seconds, appends, commits, place, peak_kib: program::peak_kib()? };
            println!("{}", serde_json::to_string(&leg)?);
            std::io::stdin().read_line(&mut String::new())?;
        }
        turn.wait();
        Ok(())
    })
}

fn drive(runs: &Runs, number: u64, turn: Arc<Barrier>) -> Outcome {
    let stop = Arc::new(AtomicBool::new(false));
    let executor = Arc::new(Paced { begun: AtomicUsize::new(0), stop: Arc::clone(&stop), turn });
    let session = runs.open(number)?;
    let name = format!("bench {number}");
    Driver::take(session, executor, &name, stop, &mut Unwatched)?.drive(WhenIdle::WaitForTimer, &mut Unwatched)?;
    Ok(())
}

/// Everything that the steps wrote, ready to be written again with nothing checked, hashed or decided.
struct Bare {
    schema: Vec<String>,
    runs: Vec<RunRow>,
    rows: Vec<Row>,
    commits: u64,
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
    fn read(path: &Path, leg: &Leg) -> Outcome<Self> {
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
        // Every step stored one object, in the order of the rows: the newest are the leg's.
        let sql = "SELECT r.run, r.first_seq, r.last_seq, r.head, r.bytes, o.digest, o.bytes FROM \
                     (SELECT *, row_number() OVER (ORDER BY place) AS n FROM rows WHERE place > ?1) r JOIN \
                     (SELECT *, row_number() OVER (ORDER BY id) AS n FROM \
                     (SELECT * FROM objects ORDER BY id DESC LIMIT ?2)) o USING (n) ORDER BY n";
        let mut rows = db.prepare(sql)?;
        let rows = rows.query_map([i64::try_from(leg.place)?, i64::try_from(leg.appends)?], |row| {
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
        if (rows.len(), leg.appends) != (RUNS as usize * LEG, RUNS * LEG as u64) {
            return Err(format!("{} rows and objects for {} appends", rows.len(), leg.appends).into());
        }
        Ok(Self { schema, runs, rows, commits: leg.commits })
    }

    /// An empty database with the settings of the journal, its tables and its runs.
    fn open(&self, path: &Path) -> Outcome<Connection> {
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
        Ok(db)
    }

    /// Writes it all with as many commits.
    fn commit(&self, db: &Connection) -> Outcome<Duration> {
        let start = Instant::now();
        let commits = usize::try_from(self.commits)?;
        for batch in 0..commits {
            let at = |batch: usize| batch * self.rows.len() / commits;
            db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
            for row in &self.rows[at(batch)..at(batch + 1)] {
                self.write(db, row)?;
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
