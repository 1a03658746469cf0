//! Opens the database: for one process at a time, checked within a time limit, and set aside (never deleted) if damaged.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::super::{Result, SetAside, StoreError};
use super::checkpoint::Checkpointer;
use super::tally::StoredTally;
use super::{Sqlite, explain, file_bytes, from_db, migrate, retain, suspect_mark, with_suffix};

/// Three typical events fit into a page. With SQLite's default of 4 KiB half a page would stay empty, and a third more would
/// be written.
const DB_PAGE_BYTES: i64 = 8192;
/// Longest check of the file's structure at start. A larger file is checked in part.
const CHECK_TIME_MAX: Duration = Duration::from_millis(200);
/// How long to wait for another program that reads the file (`sqlite3`, a backup).
const BUSY_TIME_MAX: Duration = Duration::from_secs(2);
/// The write-ahead log's file is cut to this size after a large transaction.
const WAL_BYTES_KEPT: i64 = 64 * 1024 * 1024;
/// Page cache in KiB. Writes touch few pages: the ends of two trees and one leaf a session.
const CACHE_KIB: i64 = 4096;
/// More than the number of statements in the store.
const STATEMENTS_CACHED: usize = 32;
/// SQLite asks after this many of its steps whether the check may continue.
const CHECK_STEPS: i32 = 1000;

pub(in super::super) fn open(path: &Path) -> Result<(Sqlite, Option<SetAside>)> {
    let lock = lock(path)?;
    let mut aside = set_aside_stray_wal(path)?;
    let prepared = match prepare(path) {
        Err(StoreError::Corrupt { reason }) => {
            aside = Some(set_aside(path, reason)?);
            prepare(path)
        }
        other => other,
    };
    let (mut conn, last_seq, tally) = prepared.map_err(|error| explain(path, error))?;
    let checkpointer = Checkpointer::start(path, &mut conn, connect(path)?)?;
    // The file is sound, or the damaged one was set aside.
    let _ = fs::remove_file(suspect_mark(path));
    let pace = retain::RetentionPace::default();
    let path = path.to_owned();
    let (shrinking, unfinished) = (false, None);
    let sqlite =
        Sqlite { conn, path, last_seq, tally, pace, shrinking, unfinished, checkpointer, _lock: lock };
    Ok((sqlite, aside))
}

/// Released when dropped. Closing the file is not enough: a forked child that has not yet called `exec` still holds it.
#[derive(Debug)]
pub(super) struct DatabaseLock(File);

impl Drop for DatabaseLock {
    fn drop(&mut self) {
        // The lock ends with the process at the latest.
        let _ = self.0.unlock();
    }
}

fn lock(path: &Path) -> Result<DatabaseLock> {
    let lock_path = with_suffix(path, ".lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&lock_path)
        .map_err(StoreError::io("open", &lock_path))?;
    match file.try_lock() {
        Ok(()) => Ok(DatabaseLock(file)),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StoreError::io("lock", &lock_path)(source)),
    }
}

fn prepare(path: &Path) -> Result<(Connection, u64, StoredTally)> {
    make_private(path)?;
    let mut conn = connect(path)?;
    let version = migrate::version(&conn, path)?;
    if version == 0 {
        check_empty(&conn)?;
        // These have no effect once there is a table.
        conn.pragma_update(None, "page_size", DB_PAGE_BYTES)?;
        conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    } else {
        check_structure(&mut conn, suspect_mark(path).exists())?;
    }
    set_up(&conn)?;
    migrate::migrate(&mut conn, version).map_err(not_ours)?;
    let (last_seq, tally) = load(&conn).map_err(not_ours)?;
    Ok((conn, last_seq, tally))
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIME_MAX)?;
    // Whether a checkpoint syncs to disk; each connection has its own setting.
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "journal_size_limit", WAL_BYTES_KEPT)?;
    Ok(conn)
}

/// The database holds prompts. SQLite gives its `-wal` and `-shm` the mode of the file itself.
fn make_private(path: &Path) -> Result<()> {
    let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(path);
    file.and_then(|file| file.set_permissions(Permissions::from_mode(0o600)))
        .map_err(StoreError::io("open", path))
}

fn set_up(conn: &Connection) -> Result<()> {
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // A mapped file counts as resident memory, and if another program truncates it the process is killed.
    conn.pragma_update(None, "mmap_size", 0)?;
    Ok(())
}

/// A new file has no tables. A file with tables belongs to another program and is not written to.
fn check_empty(conn: &Connection) -> Result<()> {
    match conn
        .query_row("SELECT name FROM sqlite_schema LIMIT 1", [], |row| row.get::<_, String>(0))
        .optional()?
    {
        None => Ok(()),
        Some(table) => Err(foreign(format_args!("it has {table:?}"))),
    }
}

/// A table or column is missing: the version is ours, the schema is not.
fn not_ours(error: StoreError) -> StoreError {
    let StoreError::Sqlite(sqlite) = &error else { return error };
    let no_such_thing = matches!(sqlite, rusqlite::Error::SqlInputError { .. })
        || sqlite.sqlite_error_code() == Some(ErrorCode::Unknown);
    if no_such_thing { foreign(format_args!("{sqlite}")) } else { error }
}

fn foreign(why: fmt::Arguments<'_>) -> StoreError {
    StoreError::Corrupt { reason: format!("it is not a Flightdeck database: {why}") }
}

fn load(conn: &Connection) -> Result<(u64, StoredTally)> {
    let last_seq = conn.query_row("SELECT coalesce(max(seq), 0) FROM events", [], |row| row.get(0))?;
    let last_seq = from_db(last_seq);
    Ok((last_seq, StoredTally::load(conn, last_seq)?))
}

/// Checks the structure until the time is up, or completely if the last run met damage.
fn check_structure(conn: &mut Connection, to_the_end: bool) -> Result<()> {
    let started = Instant::now();
    conn.progress_handler(CHECK_STEPS, Some(move || !to_the_end && started.elapsed() > CHECK_TIME_MAX))?;
    let found = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    conn.progress_handler(0, None::<fn() -> bool>)?;
    match found {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(reason) => Err(StoreError::Corrupt { reason }),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// SQLite silently deletes a write-ahead log that it cannot use. This keeps it under another name.
fn set_aside_stray_wal(path: &Path) -> Result<Option<SetAside>> {
    let wal = with_suffix(path, "-wal");
    let reason = match wal_magic(&wal)? {
        None => return Ok(None),
        Some(_) if file_bytes(path) == 0 => "its database is gone",
        Some([0x37, 0x7f, 0x06, 0x82 | 0x83]) => return Ok(None),
        Some(_) => {
            // The transactions of the write-ahead log are missing from the database: have the whole file checked.
            let _ = File::create(suspect_mark(path));
            "it is not a write-ahead log"
        }
    };
    let to = free_name(&with_suffix(&wal, &corrupt_suffix()));
    fs::rename(&wal, &to).map_err(StoreError::io("set aside", &wal))?;
    Ok(Some(SetAside { path: to, reason: reason.to_owned() }))
}

/// The first bytes of the log. `None` if it is empty, as after a clean stop or a kill right after its creation.
fn wal_magic(wal: &Path) -> Result<Option<[u8; 4]>> {
    let mut magic = [0; 4];
    match File::open(wal).and_then(|mut file| file.read_exact(&mut magic)) {
        Ok(()) => Ok(Some(magic)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => Ok(None),
        Err(e) => Err(StoreError::io("read", wal)(e)),
    }
}

/// Renames the three files of a database together, so that they can still be opened for a rescue.
fn set_aside(path: &Path, reason: String) -> Result<SetAside> {
    let to = free_name(&with_suffix(path, &corrupt_suffix()));
    for suffix in ["", "-wal", "-shm"] {
        let from = with_suffix(path, suffix);
        match fs::rename(&from, with_suffix(&to, suffix)) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(StoreError::io("set aside", from)(e)),
            _ => {}
        }
    }
    Ok(SetAside { path: to, reason })
}

fn corrupt_suffix() -> String {
    jiff::Timestamp::now().strftime(".corrupt-%Y%m%dT%H%M%SZ").to_string()
}

/// Two files of the same second must not overwrite each other.
fn free_name(wanted: &Path) -> PathBuf {
    let numbered = (2..).map(|n| with_suffix(wanted, &format!(".{n}")));
    let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
    names.find(|name| !name.exists()).unwrap_or_else(|| wanted.to_owned())
}
