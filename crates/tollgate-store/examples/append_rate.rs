//! Measures what an append costs beside a raw commit: `cargo run --release -p tollgate-store --example append_rate [DIR]`.
//!
//! Pairs are interleaved one by one, so that the disk's mood falls on both sides.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement for people; it has nothing to recover")]

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_store::chain::{rows, verify_run};
use tollgate_store::{Append, Filter, Journal, Object, Options, SqliteJournal, SummaryText};

const PAIRS: u64 = 1000;
const THREADS: u64 = 200;
const APPENDS: u64 = 100;
const OBJECT_BYTES: usize = 4096;

fn main() {
    let root = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = root.join(format!("tollgate-append-rate-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    let raw = Connection::open(dir.join("raw.db")).unwrap();
    raw.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (a INTEGER, b BLOB);")
        .unwrap();
    let journal = SqliteJournal::open(&dir.join("state"), Options::default()).unwrap();
    single(&raw, &journal);
    group(&dir, &journal);
    lists(&journal);
    cold(&journal);
    drop(journal);
    std::fs::remove_dir_all(&dir).unwrap();
}

/// About what a step writes: two events of a few hundred bytes and a report of 4 KiB.
fn step(run: RunId, expected: u64) -> Append {
    let data = "x".repeat(200);
    let event = |seq| format!(r#"{{"v":1,"run":"{run}","seq":{seq},"data":"{data}"}}"#).into_bytes();
    let mut report = vec![b'r'; OBJECT_BYTES];
    report[..24].copy_from_slice(format!("{:>12}{expected:>12}", run.to_string()).as_bytes());
    Append {
        run,
        expected,
        fence: None,
        events: vec![event(expected + 1), event(expected + 2)],
        objects: vec![Object::new(report)],
        summary: SummaryText { status: "open".into(), body: vec![b's'; 200], ..SummaryText::default() },
        snapshot: None,
    }
}

fn single(raw: &Connection, journal: &SqliteJournal) {
    let (mut raw_time, mut ours) = (Duration::ZERO, Duration::ZERO);
    for i in 0..PAIRS {
        let start = Instant::now();
        raw.execute("INSERT INTO t VALUES (?1, ?2)", params![i, [0u8; 100]]).unwrap();
        raw_time += start.elapsed();
        let append = step(RunId::from_bits(1), 2 * i);
        let start = Instant::now();
        journal.append(append).unwrap();
        ours += start.elapsed();
    }
    let mean = |time: Duration| time.as_secs_f64() * 1e6 / PAIRS as f64;
    println!("raw_commit_us     {:.0}", mean(raw_time));
    println!("append_us         {:.0}", mean(ours));
    println!("append_ratio      {:.2}   (target <= 1.5)", mean(ours) / mean(raw_time));
}

fn group(dir: &Path, journal: &SqliteJournal) {
    let steps_of = |n| (0..APPENDS).map(|i| step(RunId::from_bits(1000 + n), 2 * i)).collect::<Vec<_>>();
    let steps: Vec<_> = (0..THREADS).map(steps_of).collect();
    let before = journal.commits();
    let start = Instant::now();
    thread::scope(|scope| {
        for steps in steps {
            scope.spawn(move || steps.into_iter().for_each(|step| assert!(journal.append(step).is_ok())));
        }
    });
    let ours = start.elapsed();
    let after = journal.commits();
    let per_commit = (after.0 - before.0) as f64 / (after.1 - before.1) as f64;
    let bare = bare_loop(&dir.join("bare.db"), per_commit.round() as u64);
    let rate = |time: Duration| (THREADS * APPENDS) as f64 / time.as_secs_f64();
    println!("appends_per_s     {:.0}", rate(ours));
    println!("bare_appends_per_s {:.0}", rate(bare));
    println!("group_ratio       {:.2}   (target >= 0.7)", rate(ours) / rate(bare));
    println!("appends_per_commit {per_commit:.1}  (target >= 20)");
}

/// The same rows, bytes and batch size, on one thread, with nothing checked and nothing hashed.
fn bare_loop(path: &Path, batch: u64) -> Duration {
    let bare = Connection::open(path).unwrap();
    bare.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").unwrap();
    bare.execute_batch(include_str!("../migrations/0001.sql")).unwrap();
    let all = (0..APPENDS).flat_map(|i| (0..THREADS).map(move |n| (n + 1, i)));
    let steps: Vec<_> = all.map(|(n, i)| (n, step(RunId::from_bits(n), 2 * i))).collect();
    let start = Instant::now();
    for chunk in steps.chunks(batch.max(1) as usize) {
        bare.execute_batch("BEGIN IMMEDIATE").unwrap();
        for (n, step) in chunk {
            let (object, head, bytes) = (&step.objects[0], Digest::default().0, step.events.join(&b'\n'));
            let sql = |text| bare.prepare_cached(text).unwrap();
            sql("INSERT INTO objects (digest, bytes) VALUES (?1, ?2)")
                .execute(params![object.digest.0, &object.bytes[..]])
                .unwrap();
            sql("INSERT INTO rows (run, first_seq, last_seq, head, bytes) VALUES (?1, ?2, ?3, ?4, ?5)")
                .execute(params![n, step.expected + 1, step.expected + 2, head, bytes])
                .unwrap();
            sql("INSERT OR REPLACE INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")
                .execute(params![n, step.run.digits(), step.expected, 1, head, "open", "", 0, step.summary.body])
                .unwrap();
        }
        bare.execute_batch("COMMIT").unwrap();
    }
    start.elapsed()
}

fn lists(journal: &SqliteJournal) {
    thread::scope(|scope| {
        for n in 0..THREADS {
            scope.spawn(move || {
                for i in 0..50 {
                    journal.append(step(RunId::from_bits(1_000_000 + n * 50 + i), 0)).unwrap();
                }
            });
        }
    });
    let start = Instant::now();
    let runs = journal.list(&Filter::default()).unwrap().len();
    println!("list_ms           {:.1}   ({runs} runs; target <= 100)", start.elapsed().as_secs_f64() * 1e3);
}

/// Reads 100,000 events as a cold start and `verify` do.
fn cold(journal: &SqliteJournal) {
    let run = RunId::from_bits(7);
    for i in 0..2000 {
        let event = |seq| format!(r#"{{"v":1,"run":"{run}","seq":{seq},"data":"{}"}}"#, "x".repeat(200)).into_bytes();
        let events = (50 * i + 1..=50 * (i + 1)).map(event).collect();
        journal.append(Append { events, objects: Vec::new(), ..step(run, 50 * i) }).unwrap();
    }
    let start = Instant::now();
    let events: usize = rows(journal, run, 0).map(|row| row.unwrap().events().count()).sum();
    println!("load_ms           {:.1}   ({events} events)", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    verify_run(journal, run).unwrap();
    println!("verify_chain_ms   {:.1}", start.elapsed().as_secs_f64() * 1e3);
}
