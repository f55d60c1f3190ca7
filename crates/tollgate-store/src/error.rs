//! What can go wrong, by operation; every error has a code.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate_core::code::Code;
use tollgate_core::digest::Digest;
use tollgate_core::id::RunId;

/// The store itself failed. Shared by every append of a batch, hence the counted sources.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// No room.
    #[error("the disk that holds the journal is full")]
    Full(#[source] Arc<rusqlite::Error>),
    /// No right to write.
    #[error("the journal cannot be written: the file or its folder is read-only")]
    ReadOnly(#[source] Arc<rusqlite::Error>),
    /// Another process has kept the database for too long.
    #[error("the journal is locked by another process")]
    Locked(#[source] Arc<rusqlite::Error>),
    /// The database is damaged, or is none.
    #[error("the journal's database is damaged")]
    Corrupt(#[source] Arc<rusqlite::Error>),
    /// Anything else SQLite answers.
    #[error("the journal's database failed")]
    Database(#[source] Arc<rusqlite::Error>),
    /// A file or folder of the state directory.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: Arc<io::Error>,
    },
    /// A stored value that cannot be: the database was changed by another hand.
    #[error("the journal holds a value that cannot be: {0}")]
    Impossible(String),
    /// A fault that a test asked for.
    #[error("a fault was injected")]
    Injected,
    /// The handle is closed: its writer has ended.
    #[error("this handle on the journal is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn io(what: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), source: Arc::new(source) }
    }

    /// What a journal that was opened to be read says to a writer.
    pub(crate) fn read_only() -> Self {
        let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_READONLY);
        Self::ReadOnly(Arc::new(rusqlite::Error::SqliteFailure(error, None)))
    }

    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Full(_) => Code::STORE_FULL,
            Self::ReadOnly(_) => Code::STORE_READ_ONLY,
            Self::Locked(_) => Code::STORE_LOCKED,
            Self::Corrupt(_) | Self::Impossible(_) => Code::STORE_CORRUPT,
            Self::Database(_) | Self::Injected | Self::Closed => Code::STORE_FAILED,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::STORE_FULL,
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Code::STORE_READ_ONLY,
                _ => Code::STORE_FAILED,
            },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error as Value;
        use rusqlite::ErrorCode as E;
        let code = error.sqlite_error_code();
        // A value of the wrong kind or size: no version of Tollgate wrote it.
        let odd = matches!(
            error,
            Value::FromSqlConversionFailure(..) | Value::IntegralValueOutOfRange(..) | Value::InvalidColumnType(..)
        );
        // The index beside the log is made as large as it must be at once: what fails then is the room for it.
        let no_room = matches!(
            &error,
            Value::SqliteFailure(failure, _) if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE
        );
        let error = Arc::new(error);
        match code {
            _ if odd => Self::Corrupt(error),
            _ if no_room => Self::Full(error),
            Some(E::DiskFull) => Self::Full(error),
            Some(E::ReadOnly | E::PermissionDenied | E::CannotOpen) => Self::ReadOnly(error),
            Some(E::DatabaseBusy | E::DatabaseLocked | E::FileLockingProtocolFailed) => Self::Locked(error),
            Some(E::DatabaseCorrupt | E::NotADatabase) => Self::Corrupt(error),
            _ => Self::Database(error),
        }
    }
}

/// Why a store cannot be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// A newer Tollgate wrote it.
    #[error("the journal has schema {found}; this version of Tollgate knows schemas up to {known}")]
    Newer {
        /// The schema of the database.
        found: u32,
        /// The newest one this version knows.
        known: u32,
    },
    /// Some other program's database.
    #[error("`{}` is a database, but not a journal of Tollgate", .0.display())]
    Foreign(PathBuf),
    /// The heads of chains are there and the chains are not.
    #[error("`{}` names {runs} runs, but the database beside it is new or empty: the journal was lost", path.display())]
    Lost {
        /// The file of heads.
        path: PathBuf,
        /// How many runs it names.
        runs: usize,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl OpenError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Newer { .. } => Code::STORE_NEWER,
            Self::Foreign(_) => Code::STORE_FOREIGN,
            Self::Lost { .. } => Code::STORE_LOST,
            Self::Store(error) => error.code(),
        }
    }
}

/// Why an append was not made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendError {
    /// Somebody else appended first: load what is new and decide again.
    #[error("{run} is at event {actual}, not {expected}: another writer was faster")]
    Conflict {
        /// The run.
        run: RunId,
        /// What the writer had seen.
        expected: u64,
        /// Where the run stands; 0 if there is none.
        actual: u64,
    },
    /// Another run changed a shared key from which the writer decided: read it and decide again.
    #[error("another run changed `{key}` while {run} decided from it")]
    Overtaken {
        /// The run.
        run: RunId,
        /// The key.
        key: String,
    },
    /// The writer's lease was taken over.
    #[error("{run} was taken over: epoch {fence} is stale, the run is at epoch {epoch}")]
    Fenced {
        /// The run.
        run: RunId,
        /// The writer's epoch.
        fence: u64,
        /// The run's epoch.
        epoch: u64,
    },
    /// The append breaks the journal's form.
    #[error("the append to {run} is refused: {reason}")]
    Refused {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        reason: String,
    },
    /// The store failed. Unless it says otherwise the append may or may not be there: load before trying again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl AppendError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Conflict { .. } | Self::Overtaken { .. } => Code::APPEND_CONFLICT,
            Self::Fenced { .. } => Code::APPEND_FENCED,
            Self::Refused { .. } => Code::APPEND_REFUSED,
            Self::Store(error) => error.code(),
        }
    }
}

/// Why something could not be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReadError {
    /// An object that must be there is not.
    #[error("object {digest} is not there")]
    Missing {
        /// The object's name.
        digest: Digest,
    },
    /// An object's stored bytes are not what its digest says.
    #[error("object {digest} was changed: its content has digest {actual}")]
    Changed {
        /// The object's name.
        digest: Digest,
        /// The digest of what is stored.
        actual: Digest,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ReadError {
    /// The code of the page that explains it.
    pub fn code(&self) -> Code {
        match self {
            Self::Missing { .. } => Code::OBJECT_MISSING,
            Self::Changed { .. } => Code::OBJECT_CHANGED,
            Self::Store(error) => error.code(),
        }
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn what_the_disk_and_sqlite_say_gets_a_code_of_its_own() {
        let sqlite = |code| StoreError::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).code();
        assert_eq!(sqlite(ffi::SQLITE_FULL), Code::STORE_FULL);
        assert_eq!(sqlite(ffi::SQLITE_READONLY), Code::STORE_READ_ONLY);
        assert_eq!(sqlite(ffi::SQLITE_CANTOPEN), Code::STORE_READ_ONLY);
        assert_eq!(sqlite(ffi::SQLITE_BUSY_SNAPSHOT), Code::STORE_LOCKED);
        assert_eq!(sqlite(ffi::SQLITE_IOERR_SHMSIZE), Code::STORE_FULL);
        assert_eq!(sqlite(ffi::SQLITE_IOERR_READ), Code::STORE_FAILED);
        assert_eq!(sqlite(ffi::SQLITE_CORRUPT), Code::STORE_CORRUPT);
        assert_eq!(sqlite(ffi::SQLITE_NOTADB), Code::STORE_CORRUPT);
        assert_eq!(sqlite(ffi::SQLITE_IOERR_READ), Code::STORE_FAILED);
        let io = |kind: io::ErrorKind| StoreError::io("write", Path::new("x"), kind.into()).code();
        assert_eq!(io(io::ErrorKind::StorageFull), Code::STORE_FULL);
        assert_eq!(io(io::ErrorKind::ReadOnlyFilesystem), Code::STORE_READ_ONLY);
        assert_eq!(io(io::ErrorKind::UnexpectedEof), Code::STORE_FAILED);
    }
}
