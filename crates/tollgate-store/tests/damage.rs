//! Damage of every kind is found, and the first event that does not hold is named.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test makes files of its own and fails by panicking"
)]

use rusqlite::Connection;
use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_store::chain::{Chain, ChainError, rows, verify_chain, verify_run};
use tollgate_store::{Append, Filter, Journal, Options, Row, SqliteJournal};
use tollgate_testkit::journal_conformance::{append, event, run};
use tollgate_testkit::temp::TempDir;

/// Two runs of five rows; each row has two events, the first one three.
fn journal(temp: &TempDir) -> SqliteJournal {
    let journal = SqliteJournal::open(temp.path(), Options::default()).unwrap();
    for n in [1, 2] {
        journal.append(append(run(n), 0, 3)).unwrap();
        for i in 0..4 {
            let seq = 3 + 2 * i;
            let events = vec![event(run(n), seq + 1, &format!("a{n}{i}")), event(run(n), seq + 2, "b")];
            journal.append(Append { events, ..append(run(n), seq, 2) }).unwrap();
        }
    }
    journal
}

/// Damages the database and says what verifying run 1 answers.
fn after(damage: &str) -> ChainError {
    let temp = TempDir::new();
    let journal = journal(&temp);
    Connection::open(temp.path().join("journal.db")).unwrap().execute_batch(damage).unwrap();
    verify_run(&journal, run(1)).expect_err(damage)
}

#[test]
fn a_whole_chain_holds_from_the_start_and_from_a_snapshot() {
    let temp = TempDir::new();
    let journal = journal(&temp);
    let whole = verify_run(&journal, run(1)).unwrap();
    assert_eq!(whole.seq, 11);
    assert_eq!(verify_chain(run(1), rows(&journal, run(1), 0)).unwrap(), whole);
    let some: Vec<Row> = journal.load(run(1), 0, 2).unwrap();
    let mut chain = Chain::at(run(1), some[1].last, some[1].head);
    rows(&journal, run(1), some[1].last).for_each(|row| chain.link(&row.unwrap()).unwrap());
    assert_eq!(chain, whole);
    whole.ends(11, whole.head).unwrap();
    assert_eq!(whole.ends(11, Digest::default()).unwrap_err().code(), Code::CHAIN_HEAD);
}

#[test]
fn changed_bytes_are_named() {
    let error = after("UPDATE rows SET bytes = CAST(replace(CAST(bytes AS TEXT), 'a11', 'a19') AS BLOB)");
    assert!(matches!(error, ChainError::Broken { seq: 6, .. }), "{error}");
    assert_eq!(error.code(), Code::CHAIN_BROKEN);
    let error = after("UPDATE rows SET bytes = substr(bytes, 1, 20) WHERE run = 1 AND last_seq = 7");
    assert!(matches!(error, ChainError::Foreign { seq: 6, .. }), "{error}");
    let error = after("UPDATE rows SET head = zeroblob(32) WHERE run = 1 AND last_seq = 7");
    assert!(matches!(error, ChainError::Broken { seq: 6, .. }), "{error}");
}

#[test]
fn a_chain_hashed_again_from_a_change_on_still_breaks_the_head_that_is_known() {
    let temp = TempDir::new();
    let journal = journal(&temp);
    let known = verify_run(&journal, run(1)).unwrap();
    let (mut head, mut forged) = (Digest::default(), Chain::new(run(1)));
    for row in rows(&journal, run(1), 0) {
        let mut row = row.unwrap();
        row.bytes = String::from_utf8(row.bytes).unwrap().replace("a11", "a19").into_bytes();
        head = head.chain(&row.bytes);
        row.head = head;
        forged.link(&row).unwrap();
    }
    let error = forged.ends(known.seq, known.head).unwrap_err();
    assert!(matches!(error, ChainError::Head { seq: 11, expected_seq: 11, .. }), "{error}");
}

#[test]
fn missing_doubled_and_swapped_rows_are_named() {
    let error = after("DELETE FROM rows WHERE run = 1 AND last_seq = 5");
    assert!(matches!(error, ChainError::Missing { seq: 4, found: 6, .. }), "{error}");
    let error = after("DELETE FROM rows WHERE run = 1 AND last_seq = 3");
    assert!(matches!(error, ChainError::Missing { seq: 1, found: 4, .. }), "{error}");
    let error = after("DELETE FROM rows WHERE run = 1 AND last_seq = 11");
    assert!(matches!(error, ChainError::Head { seq: 9, expected_seq: 11, .. }), "{error}");
    let error = after(
        "DROP INDEX rows_of_run; INSERT INTO rows (run, first_seq, last_seq, head, bytes)
         SELECT run, first_seq, last_seq, head, bytes FROM rows WHERE run = 1 AND last_seq = 7",
    );
    assert!(matches!(error, ChainError::Doubled { seq: 6, .. }), "{error}");
    let error = after(
        "UPDATE rows SET first_seq = 106, last_seq = 107 WHERE run = 1 AND last_seq = 7;
         UPDATE rows SET first_seq = 6, last_seq = 7 WHERE run = 1 AND last_seq = 9;
         UPDATE rows SET first_seq = 8, last_seq = 9 WHERE run = 1 AND last_seq = 107",
    );
    assert!(matches!(error, ChainError::Foreign { seq: 6, .. }), "{error}");
}

#[test]
fn rows_of_another_run_are_named() {
    let error = after(
        "UPDATE rows SET bytes = (SELECT bytes FROM rows WHERE run = 2 AND last_seq = 7),
         head = (SELECT head FROM rows WHERE run = 2 AND last_seq = 7) WHERE run = 1 AND last_seq = 7",
    );
    assert!(matches!(&error, ChainError::Foreign { seq: 6, reason, .. } if reason.contains("run_00000002")), "{error}");
    let error = after("UPDATE rows SET last_seq = 6 WHERE run = 1 AND last_seq = 7");
    assert!(matches!(error, ChainError::Foreign { seq: 6, .. }), "{error}");
}

#[test]
fn a_run_that_is_gone_is_named() {
    let error = after("DELETE FROM runs WHERE id = 1");
    assert!(matches!(error, ChainError::Absent(_)), "{error}");
    let temp = TempDir::new();
    let journal = journal(&temp);
    Connection::open(temp.path().join("journal.db")).unwrap().execute("DELETE FROM runs WHERE id = 1", []).unwrap();
    let error = journal.since(0, 100, std::time::Duration::ZERO).unwrap_err();
    assert_eq!(error.code(), Code::STORE_CORRUPT, "a subscriber does not pass over it");
}

/// Everything a verifier reads, as far as it can be read.
fn read_all(temp: &TempDir) -> Result<Vec<Row>, Code> {
    let journal = SqliteJournal::open(temp.path(), Options::default()).map_err(|e| e.code())?;
    if let Some(damage) = journal.check_heads().map_err(|e| e.code())?.first() {
        return Err(damage.code());
    }
    let listed = journal.list(&Filter::default()).map_err(|e| e.code())?;
    if !listed.damaged.is_empty() {
        return Err(Code::RUN_ROW_DAMAGED);
    }
    let mut all = Vec::new();
    for n in [1, 2] {
        verify_run(&journal, run(n)).map_err(|e| e.code())?;
        // A cache: damaged or not, it must not get in the way.
        journal.snapshot(run(n)).map_err(|e| e.code())?;
        for row in rows(&journal, run(n), 0) {
            all.push(row.map_err(|e| e.code())?);
        }
    }
    assert!(listed.runs.len() <= 2);
    Ok(all)
}

#[test]
fn no_byte_of_the_database_can_change_what_verifies() {
    let temp = TempDir::new();
    let events = |journal: &SqliteJournal| -> Vec<Row> {
        [1, 2].iter().flat_map(|n| journal.load(run(*n), 0, 100).unwrap()).collect()
    };
    let whole = events(&journal(&temp));
    let path = temp.path().join("journal.db");
    let good = std::fs::read(&path).unwrap();
    let mut found = 0;
    // Every page, and within it head, middle and end.
    for at in (0..good.len()).step_by(211) {
        let mut bad = good.clone();
        bad[at] ^= 0x41;
        std::fs::write(&path, &bad).unwrap();
        match read_all(&temp) {
            Ok(rows) => {
                let same = |a: &Row, b: &Row| {
                    (a.run, a.first, a.last, a.head, &a.bytes) == (b.run, b.first, b.last, b.head, &b.bytes)
                };
                assert!(rows.len() == whole.len() && rows.iter().zip(&whole).all(|(a, b)| same(a, b)), "byte {at}");
            }
            Err(_) => found += 1,
        }
    }
    assert!(found > 10, "only {found} changes were found");
}
