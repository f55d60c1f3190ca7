//! What is read from the database, on connections of its own that never wait for the writer.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Params, params};
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;
use tollgate_core::run_secret::RunSecret;

use super::schema::{Access, connect};
use crate::envelope::{said, seal};
use crate::error::{ReadError, StoreError};
use crate::heads::{HeadDamage, HeadRecord};
use crate::journal::{Filter, Head, Listed, READ_BYTES, Row, Snapshot, Summary, SummaryText, Unlisted};
use crate::lease::Lease;

/// The most connections that read at once; further readers wait for one.
const READERS_MAX: usize = 8;

/// The connections that read.
#[derive(Debug)]
pub(crate) struct Readers {
    path: PathBuf,
    busy: Duration,
    access: Access,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct Pool {
    idle: Vec<Connection>,
    used: usize,
}

/// A place in the pool, free again when it is dropped, with the connection if there is one.
struct Slot<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock();
        pool.used -= 1;
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}

impl Readers {
    pub(crate) fn new(path: PathBuf, busy: Duration, access: Access) -> Self {
        Self { path, busy, access, pool: Mutex::default(), returned: Condvar::new() }
    }

    /// The file of the database.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        // Nothing panics while it holds the lock.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slot(&self) -> Slot<'_> {
        let free = self.returned.wait_while(self.lock(), |pool| pool.used >= READERS_MAX);
        let mut pool = free.unwrap_or_else(PoisonError::into_inner);
        pool.used += 1;
        Slot { readers: self, connection: pool.idle.pop() }
    }

    /// Reads with a connection nobody else uses meanwhile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let mut slot = self.slot();
        let connection = match slot.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = connect(&self.path, self.busy, self.access)?;
                connection.execute_batch("PRAGMA query_only = ON; PRAGMA cache_size = -2000;")?;
                connection
            }
        };
        read(slot.connection.insert(connection))
    }
}

pub(super) fn run_id(digits: &str) -> Result<RunId, StoreError> {
    format!("run_{digits}").parse().map_err(|_| StoreError::Impossible(format!("the run id `{digits}`")))
}

/// Collects rows up to a number and a size, at least one; a row that cannot be read ends the page before it, so that
/// the next page begins with it and says which it is.
fn page(connection: &Connection, sql: &str, limit: usize, values: impl Params) -> Result<Vec<Row>, ReadError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(values)?;
    let (mut rows, mut size) = (Vec::new(), 0);
    while rows.len() < limit && size <= READ_BYTES {
        let Some(row) = found.next()? else { break };
        match read_row(row) {
            Ok(row) => {
                size += row.bytes.len();
                rows.push(row);
            }
            Err(_) if !rows.is_empty() => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rows)
}

fn read_row(row: &rusqlite::Row<'_>) -> Result<Row, StoreError> {
    Ok(Row {
        place: row.get(0)?,
        run: run_id(row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
        first: row.get(2)?,
        last: row.get(3)?,
        head: Digest(row.get(4)?),
        bytes: row.get(5)?,
    })
}

pub(crate) fn load(connection: &Connection, run: RunId, after: u64, limit: usize) -> Result<Vec<Row>, ReadError> {
    let sql = "SELECT place, ?1, first_seq, last_seq, head, bytes FROM rows \
               WHERE run = (SELECT id FROM runs WHERE run = ?1) AND last_seq > ?2 ORDER BY last_seq";
    page(connection, sql, limit, params![run.digits(), bounded(after)])
}

pub(crate) fn since(connection: &Connection, place: u64, limit: usize) -> Result<Vec<Row>, ReadError> {
    // A row whose run is gone is an error, not left out: a subscriber must not skip damage.
    let sql = "SELECT rows.place, ifnull(runs.run, ''), first_seq, last_seq, rows.head, bytes FROM rows \
               LEFT JOIN runs ON runs.id = rows.run WHERE rows.place > ?1 ORDER BY rows.place";
    page(connection, sql, limit, params![bounded(place)])
}

/// The largest number SQLite holds is as good as any beyond it.
fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn place(connection: &Connection) -> Result<u64, ReadError> {
    let mut statement = connection.prepare_cached("SELECT ifnull(max(place), 0) FROM rows")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

pub(crate) fn head(connection: &Connection, run: RunId) -> Result<Option<Head>, ReadError> {
    let sql = "SELECT seq, place, head, ifnull(leases.epoch, 0) FROM runs LEFT JOIN leases USING (run) WHERE run = ?1";
    let head = connection.prepare_cached(sql)?.query_row([run.digits()], |row| {
        Ok(Head { seq: row.get(0)?, place: row.get(1)?, head: Digest(row.get(2)?), epoch: row.get(3)? })
    });
    Ok(head.optional()?)
}

pub(crate) fn list(connection: &Connection, filter: &Filter) -> Result<Listed, ReadError> {
    let sql = "SELECT runs.run, seq, place, head, status, repository, at_ms, body, epoch, holder, until_ms \
               FROM runs LEFT JOIN leases USING (run) \
               WHERE (?1 IS NULL OR substr(runs.run, 1, length(?1)) = ?1) AND (?2 IS NULL OR status = ?2) \
               AND (?3 IS NULL OR repository = ?3) ORDER BY place DESC LIMIT ?4";
    let limit = filter.limit.map_or(i64::MAX, |limit| bounded(limit as u64));
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = statement.query(params![filter.prefix, filter.status, filter.repository, limit])?;
    let mut listed = Listed::default();
    while let Some(row) = found.next()? {
        match summary(row) {
            Ok(summary) => listed.runs.push(summary),
            Err(error) => listed.damaged.push(unlisted(row, &error)),
        }
    }
    Ok(listed)
}

fn summary(row: &rusqlite::Row<'_>) -> Result<Summary, StoreError> {
    let lease = lease(row, 8)?;
    Ok(Summary {
        run: run_id(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?,
        head: Head {
            seq: row.get(1)?,
            place: row.get(2)?,
            head: Digest(row.get(3)?),
            epoch: lease.as_ref().map_or(0, |lease| lease.epoch),
        },
        text: SummaryText { status: row.get(4)?, repository: row.get(5)?, at_ms: row.get(6)?, body: row.get(7)? },
        lease,
    })
}

/// The lease in three columns from one on; none where the run never had one.
pub(super) fn lease(row: &rusqlite::Row<'_>, from: usize) -> rusqlite::Result<Option<Lease>> {
    let Some(epoch) = row.get(from)? else { return Ok(None) };
    Ok(Some(Lease { epoch, holder: row.get(from + 1)?, until_ms: row.get(from + 2)? }))
}

/// Names a run whose row cannot be read.
fn unlisted(row: &rusqlite::Row<'_>, error: &StoreError) -> Unlisted {
    let digits = row.get_ref(0).ok().and_then(|value| value.as_bytes().ok()).map(String::from_utf8_lossy);
    let digits = digits.unwrap_or_default();
    let why = match error {
        StoreError::Corrupt(source) => source.to_string(),
        other => other.to_string(),
    };
    Unlisted { run: run_id(&digits).ok(), named: format!("run_{digits}"), why }
}

/// A snapshot that is not whole, or not of this chain, is as good as none.
pub(crate) fn snapshot(connection: &Connection, run: RunId) -> Result<Option<Snapshot>, ReadError> {
    let sql = "SELECT s.seq, s.head, s.bytes, s.seal FROM runs JOIN snapshots s ON s.run = runs.id \
               JOIN rows r ON r.run = runs.id AND r.last_seq = s.seq AND r.head = s.head WHERE runs.run = ?1";
    let found = connection.prepare_cached(sql)?.query_row([run.digits()], |row| {
        let snapshot = Snapshot { seq: row.get(0)?, head: Digest(row.get(1)?), bytes: row.get(2)? };
        Ok((snapshot, Digest(row.get(3)?)))
    });
    match found {
        Ok((snapshot, sealed)) if sealed == seal(snapshot.seq, snapshot.head, &snapshot.bytes) => Ok(Some(snapshot)),
        Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(error) => match StoreError::from(error) {
            StoreError::Corrupt(_) => Ok(None),
            other => Err(other.into()),
        },
    }
}

/// The secret of a run; a value that can be no secret is as good as none.
pub(crate) fn secret(connection: &Connection, run: RunId) -> Result<Option<RunSecret>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT secret FROM secrets WHERE run = ?1")?;
    let found = statement.query_row([run.digits()], |row| Ok(row.get_ref(0)?.as_bytes().ok().map(TryInto::try_into)));
    Ok(found.optional()?.flatten().and_then(Result::ok).map(RunSecret::new))
}

pub(crate) fn object(connection: &Connection, digest: Digest) -> Result<Option<Arc<[u8]>>, ReadError> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM objects WHERE digest = ?1")?;
    Ok(statement.query_row([digest.0], |row| row.get(0)).optional()?)
}

/// The places of rows that belong to no run, or to no event of one, and the run that the first event of each names; the
/// first of many.
pub(crate) fn strays(connection: &Connection) -> Result<Vec<(u64, Option<RunId>)>, ReadError> {
    let sql =
        "SELECT place, bytes FROM rows WHERE run NOT IN (SELECT id FROM runs) OR last_seq < 1 ORDER BY place LIMIT 100";
    let mut statement = connection.prepare_cached(sql)?;
    let strays = statement.query_map([], |row| {
        let bytes = row.get_ref(1)?.as_bytes().unwrap_or_default();
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok((row.get(0)?, said(first).ok().map(|(run, _)| run)))
    })?;
    Ok(strays.collect::<rusqlite::Result<_>>()?)
}

/// The slot of every run whose row can be read.
pub(crate) fn slots(connection: &Connection) -> Result<Vec<(u64, RunId)>, ReadError> {
    let mut statement = connection.prepare_cached("SELECT id, run FROM runs ORDER BY id")?;
    let mut found = statement.query([])?;
    let mut slots = Vec::new();
    while let Some(row) = found.next()? {
        let read = || -> Result<_, StoreError> { Ok((row.get(0)?, run_id(&row.get::<_, String>(1)?)?)) };
        // One that cannot be read is named by `list`.
        slots.extend(read().ok());
    }
    Ok(slots)
}

/// What of a committed head the database lacks. Read from the rows: what the run's own row says is proved elsewhere, and
/// one that cannot be read must not hide the others.
pub(crate) fn compare(connection: &Connection, had: HeadRecord) -> Result<Option<HeadDamage>, ReadError> {
    let of_run = "FROM rows WHERE run = (SELECT id FROM runs WHERE run = ?1)";
    let mut statement = connection.prepare_cached(&format!("SELECT max(last_seq) {of_run}"))?;
    let has: Option<i64> = statement.query_row([had.run.digits()], |row| row.get(0))?;
    let has = has.and_then(|seq| u64::try_from(seq).ok()).unwrap_or(0);
    if has < had.seq {
        return Ok(Some(HeadDamage::LostTail { had, has }));
    }
    let mut statement = connection.prepare_cached(&format!("SELECT head {of_run} AND last_seq = ?2"))?;
    let there = statement.query_row(params![had.run.digits(), had.seq], |row| Ok(row.get(0).map(Digest).ok()));
    let there = there.optional()?.flatten();
    Ok((there != Some(had.head)).then_some(HeadDamage::Differs { had, has: there }))
}
