//! Several processes on one database. A test starts itself again as the other process.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tollgate_store::chain::verify_run;
use tollgate_store::journal::SMALL_OBJECT_BYTES;
use tollgate_store::{Append, Journal, Options, SqliteJournal};
use tollgate_testkit::journal_conformance::{append, append_many, object, run};
use tollgate_testkit::temp::TempDir;

const CHILD: &str = "TOLLGATE_TEST_CHILD_OF";

/// The state directory this process was started for, if a test started it.
fn started_for() -> Option<PathBuf> {
    env::var_os(CHILD).map(PathBuf::from)
}

fn start(test: &str, dir: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(CHILD, dir).stdout(Stdio::piped()).spawn().unwrap()
}

fn open(dir: &Path) -> SqliteJournal {
    SqliteJournal::open(dir, Options::default()).unwrap()
}

#[test]
fn two_processes_write_one_journal_and_a_subscriber_misses_nothing() {
    if let Some(dir) = started_for() {
        let journal = open(&dir);
        append_many(&journal, run(1), 100);
        return append_many(&journal, run(2), 100);
    }
    let temp = TempDir::new();
    let mut children =
        [(); 2].map(|()| start("two_processes_write_one_journal_and_a_subscriber_misses_nothing", temp.path()));
    let journal = open(temp.path());
    let seen = thread::scope(|scope| {
        let subscriber = scope.spawn(|| {
            let mut seen = Vec::new();
            while seen.len() < 500 {
                let place = seen.last().copied().unwrap_or(0);
                let rows = journal.since(place, 16, Duration::from_secs(60)).unwrap();
                assert!(!rows.is_empty(), "nothing came for a minute after {} rows", seen.len());
                seen.extend(rows.into_iter().map(|row| row.place));
            }
            seen
        });
        append_many(&journal, run(1), 100);
        subscriber.join().unwrap()
    });
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(journal.place().unwrap(), *seen.last().unwrap());
    assert_eq!(verify_run(&journal, run(1)).unwrap().seq, 600);
    assert_eq!(verify_run(&journal, run(2)).unwrap().seq, 400);
    assert_eq!(journal.check_heads().unwrap(), []);
}

/// Appends until it is killed, and says what was acknowledged.
fn write_for_ever(dir: &Path) {
    let journal = open(dir);
    thread::scope(|scope| {
        for n in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                let mut last = journal.head(run(n)).unwrap().map_or(0, |head| head.seq);
                loop {
                    let large = object(SMALL_OBJECT_BYTES + 1 + n as usize, last as u8);
                    let objects = vec![object(300 + n as usize, last as u8), large];
                    let snapshot = Some(vec![last as u8; 100]);
                    last = journal.append(Append { objects, snapshot, ..append(run(n), last, 2) }).unwrap().seq;
                    println!("{n} {last}");
                }
            });
        }
    });
}

#[test]
fn a_process_killed_in_the_middle_of_writing_loses_nothing_it_acknowledged() {
    if let Some(dir) = started_for() {
        return write_for_ever(&dir);
    }
    let temp = TempDir::new();
    let mut acknowledged = [0u64; 4];
    for round in 0..5 {
        let mut child = start("a_process_killed_in_the_middle_of_writing_loses_nothing_it_acknowledged", temp.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut hear = |line: String| {
            if let Some((n, seq)) =
                line.split_once(' ').and_then(|(n, seq)| Some((n.parse::<usize>().ok()?, seq.parse().ok()?)))
            {
                acknowledged[n] = acknowledged[n].max(seq);
                return 1;
            }
            0
        };
        let mut heard = 0;
        while heard < 10 + 7 * round {
            heard += hear(lines.next().expect("the child writes on").unwrap());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said before it died counts, too.
        heard += lines.map_while(Result::ok).map(hear).sum::<i32>();
        assert!(heard > 0);

        let journal = open(temp.path());
        assert_eq!(journal.check_heads().unwrap(), []);
        for (n, acknowledged) in (0..).zip(acknowledged) {
            if acknowledged == 0 && journal.head(run(n)).unwrap().is_none() {
                continue;
            }
            let seq = verify_run(&journal, run(n)).unwrap().seq;
            assert!(seq >= acknowledged, "run {n} has {seq} of {acknowledged} events");
            let last = (seq - 2) as u8;
            assert_eq!(journal.snapshot(run(n)).unwrap().unwrap().bytes, vec![last; 100]);
            for size in [300 + n as usize, SMALL_OBJECT_BYTES + 1 + n as usize] {
                assert!(journal.object(object(size, last).digest()).unwrap().is_some());
            }
        }
    }
}
