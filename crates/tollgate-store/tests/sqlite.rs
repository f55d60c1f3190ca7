//! What only the journal in SQLite does: files, modes, schemas, locks, full disks, heads.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::run_secret::RunSecret;
use tollgate_store::chain::{rows, verify_run};
use tollgate_store::journal::SMALL_OBJECT_BYTES;
use tollgate_store::{
    Append, AppendError, Fault, Faults, Filter, HeadDamage, HeadRecord, Journal, LeaseRequest, OpenError, Options,
    Point, Said, Says, SqliteJournal, There, Total, Unrecorded,
};
use tollgate_testkit::journal_conformance::{Once, append, object, run};
use tollgate_testkit::temp::TempDir;

fn open(dir: &Path) -> SqliteJournal {
    SqliteJournal::open(dir, Options::default()).unwrap()
}

fn database(dir: &Path) -> Connection {
    Connection::open(dir.join("journal.db")).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nobody_else_can_read_the_state_directory() {
    let temp = TempDir::new();
    let dir = temp.path().join("a/state");
    fs::create_dir_all(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.join("journal.db"), b"").unwrap();
    fs::set_permissions(dir.join("journal.db"), fs::Permissions::from_mode(0o644)).unwrap();
    let journal = open(&dir);
    let large = object(SMALL_OBJECT_BYTES + 1, 1);
    journal.append(Append { objects: vec![large.clone()], ..append(run(1), 0, 1) }).unwrap();
    assert_eq!(mode(&dir), 0o700);
    for file in ["journal.db", "journal.db-wal", "journal.db-shm", "heads"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    let name = large.digest().to_string();
    assert_eq!(mode(&dir.join("objects").join(&name[..2]).join(&name)), 0o600);
    assert_eq!(fs::read_dir(dir.join("objects").join(&name[..2])).unwrap().count(), 1, "nothing unfinished is left");
}

#[test]
fn the_database_is_set_up_to_last() {
    let temp = TempDir::new();
    drop(open(temp.path()));
    let database = database(temp.path());
    let text = |pragma: &str| database.pragma_query_value(None, pragma, |row| row.get::<_, String>(0)).unwrap();
    let number = |pragma: &str| database.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("journal_mode"), "wal");
    assert_eq!(number("user_version"), 3);
    assert_eq!(number("application_id"), 0x546f_6c6c);
    assert_eq!(text("integrity_check"), "ok");
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let temp = TempDir::new();
    drop(open(temp.path()));
    database(temp.path()).pragma_update(None, "user_version", 7).unwrap();
    let before = fs::read(temp.path().join("journal.db")).unwrap();
    let refused = SqliteJournal::open(temp.path(), Options::default()).unwrap_err();
    assert!(matches!(refused, OpenError::Newer { found: 7, known: 3 }));
    assert_eq!(refused.code(), Code::STORE_NEWER);
    assert_eq!(fs::read(temp.path().join("journal.db")).unwrap(), before);
}

#[test]
fn a_journal_of_the_first_schema_is_brought_to_this_one() {
    let temp = TempDir::new();
    open(temp.path()).append(append(run(1), 0, 1)).unwrap();
    let old = database(temp.path());
    old.execute_batch("DROP TABLE shared; DROP TABLE shared_keys; DROP TABLE secrets; PRAGMA user_version = 1;")
        .unwrap();
    drop(old);
    let journal = open(temp.path());
    assert_eq!(journal.total("budget/1", run(2)).unwrap(), Total::default());
    assert_eq!(journal.secret(run(1)).unwrap(), None);
    let says = Says::from([("budget/1".to_owned(), Said { amounts: vec![3], note: Vec::new() })]);
    journal.append(Append { says, ..append(run(1), 1, 1) }).unwrap();
    assert_eq!(journal.total("budget/1", run(2)).unwrap().amounts, [3]);
}

#[test]
fn a_sum_that_cannot_be_read_is_made_again_from_its_parts() {
    let temp = TempDir::new();
    let journal = open(temp.path());
    let says = |amount| Says::from([("budget/1".to_owned(), Said { amounts: vec![amount], note: Vec::new() })]);
    journal.append(Append { says: says(3), ..append(run(1), 0, 1) }).unwrap();
    journal.append(Append { says: says(4), ..append(run(2), 0, 1) }).unwrap();
    database(temp.path()).execute_batch("UPDATE shared_keys SET total = 'no'").unwrap();
    assert_eq!(journal.total("budget/1", run(9)).unwrap().amounts, [7]);
    journal.append(Append { says: says(5), ..append(run(1), 1, 1) }).unwrap();
    assert_eq!(journal.total("budget/1", run(9)).unwrap().amounts, [9]);
}

#[test]
fn what_can_be_no_secret_is_as_good_as_none_and_is_replaced() {
    for damage in
        ["DELETE FROM secrets", "UPDATE secrets SET secret = x'00'", "UPDATE secrets SET secret = zeroblob(33)"]
    {
        let temp = TempDir::new();
        let journal = open(temp.path());
        let [first, second] = [1, 2].map(|byte| RunSecret::new([byte; 32]));
        journal.keep_secret(run(1), &first).unwrap();
        assert_eq!(database(temp.path()).execute(damage, []).unwrap(), 1);
        assert_eq!(journal.secret(run(1)).unwrap(), None, "{damage}");
        assert_eq!(journal.keep_secret(run(1), &second).unwrap(), second, "{damage}");
        assert_eq!(open(temp.path()).secret(run(1)).unwrap(), Some(second), "{damage}");
    }
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let temp = TempDir::new();
    database(temp.path()).execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = fs::read(temp.path().join("journal.db")).unwrap();
    let refused = SqliteJournal::open(temp.path(), Options::default()).unwrap_err();
    assert_eq!(refused.code(), Code::STORE_FOREIGN);
    assert_eq!(fs::read(temp.path().join("journal.db")).unwrap(), before);
}

#[test]
fn what_is_no_database_is_refused() {
    let temp = TempDir::new();
    fs::write(temp.path().join("journal.db"), b"some text that is long enough to be a header of a database").unwrap();
    let refused = SqliteJournal::open(temp.path(), Options::default()).unwrap_err();
    assert_eq!(refused.code(), Code::STORE_CORRUPT);
}

#[test]
fn a_journal_that_vanished_is_not_started_over() {
    let temp = TempDir::new();
    open(temp.path()).append(append(run(1), 0, 1)).unwrap();
    fs::remove_file(temp.path().join("journal.db")).unwrap();
    for _ in 0..2 {
        let refused = SqliteJournal::open(temp.path(), Options::default()).unwrap_err();
        assert!(matches!(refused, OpenError::Lost { runs: 1, .. }), "{refused}");
        assert_eq!(refused.code(), Code::STORE_LOST);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let temp = TempDir::new();
    fs::write(temp.path().join("file"), b"").unwrap();
    let refused = SqliteJournal::open(&temp.path().join("file/state"), Options::default()).unwrap_err();
    assert!(refused.to_string().contains("file/state"), "{refused}");
    assert_eq!(refused.code(), Code::STORE_FAILED);
}

#[test]
fn a_full_disk_loses_nothing_that_was_committed() {
    let temp = TempDir::new();
    let small = SqliteJournal::open(temp.path(), Options { pages_max: Some(60), ..Options::default() }).unwrap();
    let mut last = 0;
    let refused = loop {
        let objects = vec![object(4096, last as u8)];
        match small.append(Append { objects, ..append(run(1), last, 1) }) {
            Ok(appended) => last = appended.seq,
            Err(error) => break error,
        }
        assert!(last < 200, "the limit does not hold");
    };
    assert_eq!(refused.code(), Code::STORE_FULL, "{refused}");
    assert_eq!(verify_run(&small, run(1)).unwrap().seq, last);
    drop(small);
    let journal = open(temp.path());
    assert_eq!(journal.check_heads().unwrap(), []);
    assert_eq!(journal.append(append(run(1), last, 1)).unwrap().seq, last + 1);
}

#[test]
fn a_lock_is_waited_for_and_then_named() {
    let temp = TempDir::new();
    let options = Options { busy: Duration::from_millis(30), ..Options::default() };
    let journal = SqliteJournal::open(temp.path(), options).unwrap();
    let other = database(temp.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = journal.append(append(run(1), 0, 1)).unwrap_err();
    assert_eq!(refused.code(), Code::STORE_LOCKED, "{refused}");
    assert_eq!(journal.head(run(1)).unwrap(), None, "readers do not wait for writers");
    other.execute_batch("ROLLBACK").unwrap();
    journal.append(append(run(1), 0, 1)).unwrap();
}

#[test]
fn a_damaged_snapshot_is_as_good_as_none() {
    for damage in [
        "UPDATE snapshots SET bytes = x'00'",
        "UPDATE snapshots SET seq = 1",
        "DELETE FROM snapshots",
        "UPDATE snapshots SET head = zeroblob(32)",
        "UPDATE snapshots SET seal = x'00'",
    ] {
        let temp = TempDir::new();
        let journal = open(temp.path());
        journal.append(append(run(1), 0, 1)).unwrap();
        journal.append(Append { snapshot: Some(b"state".to_vec()), ..append(run(1), 1, 1) }).unwrap();
        assert!(journal.snapshot(run(1)).unwrap().is_some());
        assert_eq!(database(temp.path()).execute(damage, []).unwrap(), 1);
        assert_eq!(journal.snapshot(run(1)).unwrap(), None, "{damage}");
        journal.append(Append { snapshot: Some(b"state".to_vec()), ..append(run(1), 2, 1) }).unwrap();
        assert_eq!(journal.snapshot(run(1)).unwrap().unwrap().seq, 3);
    }
}

#[test]
fn a_changed_object_is_seen_and_mended_when_it_is_stored_again() {
    let temp = TempDir::new();
    let journal = open(temp.path());
    let (small, large) = (object(100, 1), object(SMALL_OBJECT_BYTES + 1, 2));
    journal.append(Append { objects: vec![small.clone(), large.clone()], ..append(run(1), 0, 1) }).unwrap();
    database(temp.path()).execute("UPDATE objects SET bytes = x'00'", []).unwrap();
    let name = large.digest().to_string();
    fs::write(temp.path().join("objects").join(&name[..2]).join(&name), b"changed").unwrap();
    for digest in [small.digest(), large.digest()] {
        assert_eq!(journal.object(digest).unwrap_err().code(), Code::OBJECT_CHANGED);
    }
    journal.append(Append { objects: vec![small.clone(), large.clone()], ..append(run(1), 1, 1) }).unwrap();
    for object in [small, large] {
        assert_eq!(journal.object(object.digest()).unwrap().as_deref(), Some(&object.bytes()[..]));
    }
}

#[test]
fn one_bad_row_of_a_run_or_a_lease_is_named_and_hides_no_other() {
    for (damage, named) in [
        ("UPDATE runs SET head = x'00' WHERE id = 2", Some(run(2))),
        ("UPDATE runs SET seq = -1 WHERE id = 2", Some(run(2))),
        ("UPDATE runs SET run = '!' WHERE id = 2", None),
        ("UPDATE leases SET until_ms = -1 WHERE run = (SELECT run FROM runs WHERE id = 2)", Some(run(2))),
    ] {
        let temp = TempDir::new();
        let journal = open(temp.path());
        for n in 1..=3 {
            journal.append(append(run(n), 0, 1)).unwrap();
            let request = LeaseRequest::Acquire { holder: "h".into(), now_ms: 5, ttl_ms: 10, over: None };
            journal.lease(run(n), request).unwrap();
        }
        assert_eq!(database(temp.path()).execute(damage, []).unwrap(), 1);
        let listed = journal.list(&Filter::default()).unwrap();
        assert_eq!(listed.runs.iter().map(|summary| summary.run).collect::<Vec<_>>(), [run(3), run(1)], "{damage}");
        let [damaged] = &listed.damaged[..] else { panic!("{damage}: {listed:?}") };
        assert_eq!(damaged.run, named, "{damage}");
        assert!(!damaged.why.is_empty() && damaged.named.starts_with("run_"), "{damaged:?}");
        // Nor does it keep the heads of the others from being compared.
        journal.check_heads().unwrap();
    }
}

#[test]
fn the_rows_before_one_that_cannot_be_read_are_read() {
    let temp = TempDir::new();
    let journal = open(temp.path());
    for seq in 0..5 {
        journal.append(append(run(1), seq, 1)).unwrap();
    }
    database(temp.path()).execute("UPDATE rows SET head = x'00' WHERE last_seq = 4", []).unwrap();
    assert_eq!(journal.load(run(1), 0, 100).unwrap().len(), 3);
    assert_eq!(journal.load(run(1), 3, 100).unwrap_err().code(), Code::STORE_CORRUPT);
    assert_eq!(rows(&journal, run(1), 0).filter(Result::is_ok).count(), 3);
    assert!(rows(&journal, run(1), 0).last().unwrap().is_err());
}

#[test]
fn a_record_of_heads_that_is_gone_or_junk_is_named_and_can_be_written_again() {
    let temp = TempDir::new();
    let journal = open(temp.path());
    let heads: Vec<_> = (1..=3).map(|n| journal.append(append(run(n), 0, 1)).unwrap().head).collect();
    assert_eq!(journal.unrecorded().unwrap(), []);
    let path = temp.path().join("heads");
    let mut bytes = fs::read(&path).unwrap();
    bytes[64 + 3] ^= 1;
    fs::write(&path, &bytes[..128]).unwrap();
    let unrecorded =
        [Unrecorded { run: run(2), there: There::Junk }, Unrecorded { run: run(3), there: There::Nothing }];
    assert_eq!(journal.unrecorded().unwrap(), unrecorded);
    for n in [2, 3] {
        journal.record_head(HeadRecord { run: run(n), seq: 1, head: heads[n as usize - 1] }).unwrap();
    }
    assert_eq!(journal.unrecorded().unwrap(), []);
    drop(journal);
    fs::remove_file(&path).unwrap();
    assert_eq!(open(temp.path()).unrecorded().unwrap().len(), 3);
}

#[test]
fn the_file_of_heads_shows_a_lost_tail() {
    let temp = TempDir::new();
    let journal = open(temp.path());
    for n in 1..=3 {
        journal.append(append(run(n), 0, 1)).unwrap();
        journal.append(append(run(n), 1, 2)).unwrap();
    }
    assert_eq!(journal.check_heads().unwrap(), []);
    let database = database(temp.path());
    // Run 1 loses its tail, run 2 its tail is replaced, run 3 vanishes.
    database
        .execute_batch(
            "DELETE FROM rows WHERE run = 1 AND last_seq = 3; UPDATE runs SET seq = 1 WHERE id = 1;
        UPDATE rows SET head = zeroblob(32) WHERE run = 2 AND last_seq = 3; DELETE FROM runs WHERE id = 3",
        )
        .unwrap();
    let check = |journal: &SqliteJournal| {
        let damage = journal.check_heads().unwrap();
        let [
            HeadDamage::LostTail { had: a, has: 1 },
            HeadDamage::Differs { had: b, has: Some(zero) },
            HeadDamage::LostTail { had: c, has: 0 },
        ] = &damage[..]
        else {
            panic!("{damage:?}")
        };
        assert_eq!((a.run, a.seq, b.run, b.seq, c.run, c.seq), (run(1), 3, run(2), 3, run(3), 3));
        assert_eq!(*zero, Digest::default());
    };
    check(&journal);
    // A new run does not take the place of the record that shows the loss.
    journal.append(append(run(9), 0, 1)).unwrap();
    check(&journal);
    drop(journal);
    check(&open(temp.path()));
}

#[test]
fn the_file_of_heads_may_lag_and_never_leads() {
    let temp = TempDir::new();
    open(temp.path()).append(append(run(1), 0, 1)).unwrap();
    let heads = || fs::read(temp.path().join("heads")).unwrap();
    let before = heads();
    for (point, committed) in [(Point::BeforeCommit, false), (Point::AfterCommit, true)] {
        let options = Options { faults: Some(Once::new(point, Fault::Crash, 1)), ..Options::default() };
        let journal = SqliteJournal::open(temp.path(), options).unwrap();
        journal.append(append(run(1), 1, 1)).unwrap_err();
        drop(journal);
        assert_eq!(heads(), before, "{point:?}");
        let journal = open(temp.path());
        assert_eq!(journal.head(run(1)).unwrap().unwrap().seq, 1 + u64::from(committed));
        assert_eq!(journal.check_heads().unwrap(), []);
    }
    open(temp.path()).append(append(run(1), 2, 1)).unwrap();
    assert_ne!(heads(), before);
}

/// Holds the writer before a commit until the test lets it go, so that what comes meanwhile is one batch.
struct Hold {
    point: Point,
    times: Mutex<u32>,
    reached: Barrier,
    go: Barrier,
    /// What happens to every later commit.
    then: Mutex<Option<Fault>>,
}

impl Faults for Hold {
    fn at(&self, point: Point) -> Option<Fault> {
        if point != self.point {
            return None;
        }
        let mut times = self.times.lock().unwrap();
        *times += 1;
        if *times > 1 {
            return *self.then.lock().unwrap();
        }
        self.reached.wait();
        self.go.wait();
        None
    }
}

/// Sends appends while the writer is held, so that they are committed together.
fn batch(then: Option<Fault>, appends: Vec<Append>) -> (TempDir, SqliteJournal, Vec<Result<u64, AppendError>>) {
    let temp = TempDir::new();
    let hold = Arc::new(Hold {
        point: Point::BeforeCommit,
        times: Mutex::new(0),
        reached: Barrier::new(2),
        go: Barrier::new(2),
        then: Mutex::new(then),
    });
    let options = Options { faults: Some(Arc::clone(&hold) as Arc<dyn Faults>), ..Options::default() };
    let journal = SqliteJournal::open(temp.path(), options).unwrap();
    let results = thread::scope(|scope| {
        let first = scope.spawn(|| journal.append(append(run(1000), 0, 1)).unwrap());
        hold.reached.wait();
        let count = appends.len();
        let sent: Vec<_> =
            appends.into_iter().map(|append| scope.spawn(|| journal.append(append).map(|done| done.seq))).collect();
        while journal.waiting() < count {
            thread::yield_now();
        }
        hold.go.wait();
        first.join().unwrap();
        sent.into_iter().map(|one| one.join().unwrap()).collect()
    });
    *hold.then.lock().unwrap() = None;
    (temp, journal, results)
}

#[test]
fn what_is_waiting_is_committed_together_and_a_refused_one_spoils_no_other() {
    let mut appends: Vec<Append> = (0..20).map(|n| append(run(n), 0, 2)).collect();
    appends.push(append(run(500), 7, 1));
    appends.push(Append { fence: Some(3), ..append(run(501), 0, 1) });
    appends.push(append(run(1000), 0, 1));
    let (_temp, journal, results) = batch(None, appends);
    assert!(results[..20].iter().all(|result| matches!(result, Ok(2))));
    assert!(matches!(results[20], Err(AppendError::Conflict { actual: 0, .. })));
    assert!(matches!(results[21], Err(AppendError::Fenced { epoch: 0, .. })));
    assert!(matches!(results[22], Err(AppendError::Conflict { actual: 1, .. })));
    let (appends, commits) = journal.commits();
    assert!(appends == 21 && commits <= 5, "{appends} appends in {commits} commits");
    for n in 0..20 {
        assert_eq!(verify_run(&journal, run(n)).unwrap().seq, 2);
    }
}

#[test]
fn a_commit_that_fails_fails_all_of_it() {
    let appends: Vec<Append> = (0..20).map(|n| append(run(n), 0, 2)).collect();
    let (_temp, journal, results) = batch(Some(Fault::Fail), appends);
    assert!(results.iter().all(|result| matches!(result, Err(AppendError::Store(_)))));
    assert_eq!(journal.place().unwrap(), 1);
    assert!((0..20).all(|n| journal.head(run(n)).unwrap().is_none()));
    journal.append(append(run(0), 0, 1)).unwrap();
}
