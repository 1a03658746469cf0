//! The errors of the store that callers tell apart.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{} is in use by another Flightdeck", path.display())]
    Busy { path: PathBuf },
    #[error("the disk is full: nothing was stored")]
    DiskFull,
    #[error("the database is damaged: {reason}")]
    Corrupt { reason: String },
    #[error(
        "{} was written by a newer Flightdeck (schema {found}, this one knows {known}): update Flightdeck, or move the file away",
        path.display()
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("cannot {doing} {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("the database reported an error: {0}")]
    Sqlite(#[source] rusqlite::Error),
    #[error("cannot write event {name} as JSON")]
    Unwritable { name: String, source: serde_json::Error },
    #[error("event {seq} is stored but cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
    #[error("old events are being removed already")]
    Retaining,
    /// The last command may or may not have taken effect. Sending the same events again is harmless.
    #[error("the store has stopped")]
    Closed,
}

impl StoreError {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io { doing, path, source },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase};
        match error.sqlite_error_code() {
            Some(DiskFull) => Self::DiskFull,
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt { reason: error.to_string() },
            _ => Self::Sqlite(error),
        }
    }
}
