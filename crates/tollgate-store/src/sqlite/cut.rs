//! Cutting a run back to the rows that verify: in one transaction with the append that says so.
//!
//! What is cut is kept in a file beside the journal first, so that nothing that could still be read is gone.
#![expect(clippy::disallowed_methods, reason = "the room of the files that keep what was cut")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

use super::SqliteJournal;
use super::schema::begin;
use super::writer::{Done, Writer};
use crate::envelope::{Checked, said};
use crate::error::{AppendError, ReadError, StoreError};
use crate::heads::{HeadRecord, There};
use crate::journal::{Append, Appended};
use crate::objects::{private_dir, sync_dir, write_synced};

/// The folder of the files that keep what was cut.
const FOLDER: &str = "cuts";

/// A row that does not belong to what verifies, as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its place in the order over all runs.
    pub place: i64,
    /// Whose row it is, by its column.
    pub filed: Filed,
    /// What its columns hold, in the form of the file that keeps it.
    pub line: serde_json::Value,
    /// The texts of its events; one that is none of ours is there as it is.
    pub events: Vec<Vec<u8>>,
}

/// Whose row one is that names a run in its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filed {
    /// That run's.
    Here,
    /// Another run's.
    Under(RunId),
    /// Nobody's that is known.
    Nowhere,
}

/// What of a run is cut, and what is kept.
#[derive(Debug, Clone, Default)]
pub struct Cut {
    /// The places of the rows that verify.
    pub kept: BTreeSet<u64>,
    /// The places of the rows that go; another row than these and those kept is refused.
    pub strays: BTreeSet<i64>,
    /// The places of rows that name the run and are not filed under it; they go too.
    pub foreign: BTreeSet<i64>,
    /// The epoch of the run from now on.
    pub epoch: u64,
}

/// The slot of a run: by its row, else by its record in the file of heads.
fn slot(connection: &Connection, run: RunId, places: &[There]) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT id FROM runs WHERE run = ?1";
    let known = connection.query_row(sql, [run.digits()], |row| row.get::<_, u64>(0)).optional()?;
    let recorded = || places.iter().position(|there| matches!(there, There::Whole(record) if record.run == run));
    Ok(known.or_else(|| recorded().map(|at| at as u64 + 1)))
}

/// The rows of a run that are not among those kept, and those whose events all name it but whose column does not.
fn strays(
    connection: &Connection,
    run: RunId,
    places: &[There],
    kept: &BTreeSet<u64>,
) -> Result<Vec<Stray>, ReadError> {
    let Some(slot) = slot(connection, run, places)? else { return Ok(Vec::new()) };
    let slots: BTreeMap<u64, RunId> = super::reader::slots(connection)?.into_iter().collect();
    let sql = "SELECT place, first_seq, last_seq, head, bytes, run FROM rows WHERE run = ?1 OR instr(bytes, ?2) > 0 \
               ORDER BY place";
    let mut statement = connection.prepare(sql)?;
    let mut found = statement.query(params![slot, run.to_string().into_bytes()])?;
    let mut strays = Vec::new();
    while let Some(row) = found.next()? {
        let place: i64 = row.get(0)?;
        if u64::try_from(place).is_ok_and(|place| kept.contains(&place)) {
            continue;
        }
        let bytes = row.get_ref(4)?.as_bytes().unwrap_or_default();
        let events: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let filed = match row.get::<_, u64>(5) {
            Ok(found) if found == slot => Filed::Here,
            Ok(other) => slots.get(&other).map_or(Filed::Nowhere, |other| Filed::Under(*other)),
            Err(_) => Filed::Nowhere,
        };
        // Others may speak of it: only a row that is one of its own in all but the column is.
        if filed != Filed::Here && !events.iter().all(|event| said(event).is_ok_and(|(named, _)| named == run)) {
            continue;
        }
        let mut line = serde_json::json!({
            "place": place,
            "first": shown(row.get_ref(1)?),
            "last": shown(row.get_ref(2)?),
            "head": shown(row.get_ref(3)?),
            "bytes": shown(row.get_ref(4)?),
        });
        if filed != Filed::Here {
            line["filed"] = shown(row.get_ref(5)?);
        }
        strays.push(Stray { place, filed, line, events });
    }
    Ok(strays)
}

/// A value of a column as it is: text as text, other bytes as `{"hex": …}`.
fn shown(value: ValueRef<'_>) -> serde_json::Value {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.to_string().into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => serde_json::json!({ "hex": hex(bytes) }),
        },
    }
}

/// Keeps bytes in a file beside the journal, named by what they are of and by their content; it is on the disk when
/// this returns.
fn keep(dir: &Path, run: RunId, seq: u64, bytes: &[u8]) -> Result<PathBuf, StoreError> {
    let folder = dir.join(FOLDER);
    private_dir(&folder)?;
    sync_dir(dir)?;
    let path = folder.join(format!("{run}-after-{seq}-{}.jsonl", Digest::of(bytes).short()));
    let written = match write_synced(&path, bytes) {
        // The same cut was begun before, and may have been cut off itself.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let whole = std::fs::read(&path).is_ok_and(|there| there == bytes);
            if whole { Ok(()) } else { std::fs::remove_file(&path).and_then(|()| write_synced(&path, bytes)) }
        }
        other => other,
    };
    written.map_err(|error| StoreError::io("write", &path, error))?;
    sync_dir(&folder)?;
    Ok(path)
}

/// Cuts and appends in one transaction, then tells the file of heads.
fn cut_within(writer: &Writer, cut: &Cut, append: &Checked) -> Result<Done, AppendError> {
    begin(&writer.connection, writer.busy)?;
    let written = within(writer, cut, append).and_then(|done| {
        writer.connection.execute_batch("COMMIT").map_err(StoreError::from)?;
        Ok(done)
    });
    if written.is_err() && !writer.connection.is_autocommit() {
        writer.connection.execute_batch("ROLLBACK").map_err(StoreError::from)?;
    }
    let done = written?;
    let record = HeadRecord { run: append.run, seq: done.appended.seq, head: done.appended.head };
    writer.heads.record(done.slot, record)?;
    Ok(done)
}

fn within(writer: &Writer, cut: &Cut, append: &Checked) -> Result<Done, AppendError> {
    let connection = &writer.connection;
    let run = append.run;
    let refused = |reason: &str| AppendError::Refused { run, reason: reason.to_owned() };
    let sql = |error: rusqlite::Error| StoreError::from(error);
    let places = writer.heads.read()?;
    let slot = slot(connection, run, &places)?.ok_or_else(|| refused("there is no such run"))?;
    let there: BTreeSet<i64> = connection
        .prepare("SELECT place FROM rows WHERE run = ?1")
        .and_then(|mut statement| statement.query_map([slot], |row| row.get(0))?.collect())
        .map_err(sql)?;
    let kept = cut.kept.iter().filter_map(|place| i64::try_from(*place).ok());
    if there != kept.chain(cut.strays.iter().copied()).collect() {
        let actual =
            connection.query_row("SELECT ifnull(max(last_seq), 0) FROM rows WHERE run = ?1", [slot], |row| row.get(0));
        return Err(AppendError::Conflict { run, expected: append.expected, actual: actual.unwrap_or(0) });
    }
    let last = cut.kept.last().copied().ok_or_else(|| refused("nothing of it would be left"))?;
    let kept_head = connection
        .query_row("SELECT last_seq, head FROM rows WHERE place = ?1", [last], |row| {
            Ok((row.get::<_, u64>(0)?, row.get(1).map(Digest)?))
        })
        .map_err(sql)?;
    if (kept_head.0, Some(kept_head.1)) != (append.expected, append.head) {
        return Err(refused("the last row that is kept is not the one that was proved"));
    }
    // Read before anything goes: a place is never used twice, or subscribers would miss what takes it.
    let most: i64 = connection.query_row("SELECT max(place) FROM rows", [], |row| row.get(0)).map_err(sql)?;
    for place in &cut.strays {
        connection.execute("DELETE FROM rows WHERE place = ?1", [place]).map_err(sql)?;
    }
    for place in &cut.foreign {
        connection.execute("DELETE FROM rows WHERE place = ?1 AND run IS NOT ?2", params![place, slot]).map_err(sql)?;
    }
    connection.execute("DELETE FROM snapshots WHERE run = ?1", [slot]).map_err(sql)?;
    connection.execute("DELETE FROM runs WHERE run = ?1 OR id = ?2", params![run.digits(), slot]).map_err(sql)?;
    let empty = "INSERT INTO runs (id, run, seq, place, head, status, repository, at_ms, body) \
                 VALUES (?1, ?2, 0, 0, x'', '', '', 0, x'')";
    connection.execute(empty, params![slot, run.digits()]).map_err(sql)?;
    let lease = "INSERT OR REPLACE INTO leases (run, epoch, holder, until_ms) VALUES (?1, ?2, 'repair', 0)";
    connection.execute(lease, params![run.digits(), cut.epoch]).map_err(sql)?;
    let mut done = writer.insert(append, Some(slot), append.chained(kept_head.1))?;
    let next = most.checked_add(1).and_then(|next| u64::try_from(next).ok()).unwrap_or(0);
    if next > done.appended.place {
        connection
            .execute("UPDATE rows SET place = ?1 WHERE place = ?2", params![next, done.appended.place])
            .and_then(|_| connection.execute("UPDATE runs SET place = ?1 WHERE id = ?2", params![next, slot]))
            .map_err(sql)?;
        done.appended.place = next;
    }
    Ok(done)
}

impl SqliteJournal {
    /// The record of a run in the file of heads.
    pub fn committed(&self, run: RunId) -> Result<Option<HeadRecord>, ReadError> {
        self.shared.alive()?;
        Ok(self.heads.records()?.into_iter().find(|record| record.run == run))
    }

    /// The runs that the file of heads names.
    pub fn recorded(&self) -> Result<Vec<RunId>, ReadError> {
        self.shared.alive()?;
        Ok(self.heads.records()?.into_iter().map(|record| record.run).collect())
    }

    /// Makes the row of a run anew when it is gone and the file of heads still names the run, so that its rows are found.
    pub fn adopt(&self, run: RunId) -> Result<(), ReadError> {
        self.writable()?;
        let places = self.heads.read()?;
        let found = places.iter().enumerate().find_map(|(at, there)| match there {
            There::Whole(record) if record.run == run => Some((at as u64 + 1, *record)),
            _ => None,
        });
        let Some((slot, record)) = found else { return Ok(()) };
        let sql = "INSERT OR REPLACE INTO runs (id, run, seq, place, head, status, repository, at_ms, body) \
                   SELECT ?1, ?2, ?3, ifnull((SELECT max(place) FROM rows WHERE run = ?1), 0), ?4, 'halted', '', 0, x'' \
                   WHERE NOT EXISTS (SELECT 1 FROM runs WHERE run = ?2)";
        let writer = self.locked()?;
        begin(&writer.connection, writer.busy)?;
        let done = writer.connection.execute(sql, params![slot, run.digits(), record.seq, record.head.0]);
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        writer.connection.execute_batch(end).map_err(StoreError::from)?;
        done.map_err(StoreError::from)?;
        Ok(())
    }

    /// The rows of a run that are not among those kept, as far as they can be read, also where they are filed elsewhere.
    pub fn strays_of(&self, run: RunId, kept: &BTreeSet<u64>) -> Result<Vec<Stray>, ReadError> {
        self.shared.alive()?;
        let places = self.heads.read()?;
        self.readers.read(|connection| strays(connection, run, &places, kept))
    }

    /// Keeps what is about to be cut in a file beside the journal; it is on the disk when this returns.
    pub fn keep_cut(&self, run: RunId, seq: u64, bytes: &[u8]) -> Result<PathBuf, ReadError> {
        self.writable()?;
        let dir = self.readers.path().parent().unwrap_or(Path::new("."));
        Ok(keep(dir, run, seq, bytes)?)
    }

    /// Cuts a run back to the rows that are kept and appends behind them, in one transaction; whoever drives the run is
    /// fenced off. After an error the cut may or may not be there.
    pub fn cut(&self, cut: &Cut, append: Append) -> Result<Appended, AppendError> {
        self.writable()?;
        let append = Checked::new(append)?;
        let writer = self.locked()?;
        Ok(cut_within(&writer, cut, &append)?.appended)
    }

    fn locked(&self) -> Result<MutexGuard<'_, Writer>, StoreError> {
        let writer = self.writer.as_ref().ok_or_else(StoreError::read_only)?;
        Ok(writer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
