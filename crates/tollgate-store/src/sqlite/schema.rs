//! Opening the database: whose it is, which schema it has, how it is set up.
#![expect(clippy::disallowed_methods, reason = "the room of the database's file")]

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{OpenError, StoreError};
use crate::objects::private_file;

/// `Toll`, so that the database can be told from other programs' databases.
const APPLICATION_ID: i64 = 0x546f_6c6c;
/// The schema grows by numbered steps; a database remembers the last one it has.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001.sql"),
    include_str!("../../migrations/0002.sql"),
    include_str!("../../migrations/0003.sql"),
];
/// A checkpoint writes each page once however often it changed: with room for 16 MiB in the log, the pages that every append
/// changes are written a quarter as often as by default.
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -8000;
    PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;";
/// How often a held lock is tried again within the time a caller is ready to wait.
const RETRY: Duration = Duration::from_millis(1);

/// Opens the database and brings it to the newest schema; `may_be_new` is asked before anything is written to a new one.
pub(crate) fn open(
    path: &Path,
    busy: Duration,
    may_be_new: impl FnOnce() -> Result<(), OpenError>,
) -> Result<Connection, OpenError> {
    private_file(path).map_err(|e| StoreError::io("open", path, e))?;
    let connection = connect(path, busy, Access::Write)?;
    // Before anything is written: what is not ours stays as it is.
    // In one transaction: another process may be making it, and half of what it says would be of another database.
    connection.execute_batch("BEGIN").map_err(StoreError::from)?;
    let found = schema(&connection, path);
    connection.execute_batch("COMMIT").map_err(StoreError::from)?;
    let found = found?;
    if found == 0 {
        may_be_new()?;
    }
    migrate(&connection, path, busy, found)?;
    Ok(connection)
}

/// Finds out how a database that cannot be written can be read, and whether it is one that this version knows.
pub(crate) fn open_to_read(path: &Path, busy: Duration) -> Result<Access, OpenError> {
    let try_to = |access| schema(&connect(path, busy, access)?, path).map(|found| (access, found));
    let (access, found) = match try_to(Access::Read) {
        // Without the right to make the log's index there is nothing to read but the database itself; with a log
        // beside it that would be a lie.
        Err(OpenError::Store(StoreError::ReadOnly(_))) if !has_log(path) => try_to(Access::ReadUnchanging)?,
        other => other?,
    };
    if found == 0 {
        return Err(OpenError::Store(StoreError::read_only()));
    }
    Ok(access)
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// How a database is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To read and to write.
    Write,
    /// To read what others may be writing.
    Read,
    /// To read what nobody can change.
    ReadUnchanging,
}

/// Opens one more connection to a database that is known to be good.
pub(crate) fn connect(path: &Path, busy: Duration, access: Access) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match access {
        Access::Write => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE),
        Access::Read => Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY),
        Access::ReadUnchanging => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri(path), flags)
        }
    }?;
    connection.busy_timeout(busy)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch(SETTINGS)?;
    Ok(connection)
}

/// The address of a file that nobody changes.
fn uri(path: &Path) -> String {
    let path = path.as_os_str().as_encoded_bytes();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let escaped: String = path
        .iter()
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    format!("file:{escaped}?immutable=1")
}

/// Starts a transaction that writes, waiting a bounded time for other processes.
pub(crate) fn begin(connection: &Connection, busy: Duration) -> Result<(), StoreError> {
    retry(busy, || connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop))
}

/// Tries again while another process holds the lock. SQLite's own waiting grows to a tenth of a second, which lets one
/// of two busy processes starve.
fn retry(busy: Duration, mut attempt: impl FnMut() -> rusqlite::Result<()>) -> Result<(), StoreError> {
    let mut left = busy.as_millis() / RETRY.as_millis();
    loop {
        match attempt().map_err(StoreError::from) {
            Err(StoreError::Locked(_)) if left > 0 => {
                left -= 1;
                sleep(RETRY);
            }
            done => return done,
        }
    }
}

fn number(connection: &Connection, pragma: &str) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, pragma, |row| row.get(0))?)
}

fn schema(connection: &Connection, path: &Path) -> Result<usize, OpenError> {
    let (id, version) = (number(connection, "application_id")?, number(connection, "user_version")?);
    let known = MIGRATIONS.len();
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(count, [], |row| row.get(0)).map_err(StoreError::from)?;
    match usize::try_from(version) {
        Ok(0) if id == 0 && tables == 0 => Ok(0),
        _ if id != APPLICATION_ID => Err(OpenError::Foreign(path.to_owned())),
        Ok(version) if version <= known => Ok(version),
        _ => Err(OpenError::Newer { found: u32::try_from(version).unwrap_or(u32::MAX), known: known as u32 }),
    }
}

fn migrate(connection: &Connection, path: &Path, busy: Duration, found: usize) -> Result<(), OpenError> {
    // From here on the writer waits by itself.
    connection.busy_timeout(Duration::ZERO).map_err(StoreError::from)?;
    retry(busy, || connection.pragma_update(None, "journal_mode", "WAL"))?;
    if found == MIGRATIONS.len() {
        return Ok(());
    }
    begin(connection, busy)?;
    let migrated = migrate_within(connection, path);
    connection.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" }).map_err(StoreError::from)?;
    migrated
}

fn migrate_within(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    // Another process may have been faster.
    let from = schema(connection, path)?;
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(from) {
        connection.execute_batch(sql).map_err(StoreError::from)?;
        connection.pragma_update(None, "user_version", step as u32 + 1).map_err(StoreError::from)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).map_err(StoreError::from)?;
    Ok(())
}
