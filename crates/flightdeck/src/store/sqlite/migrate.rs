//! The schema, as a list of steps. Steps are only ever added.

use std::path::Path;

use rusqlite::Connection;

use super::super::{Result, StoreError};
use super::assignment_search;

pub(super) const MIGRATIONS: [&str; 13] = [
    include_str!("../migrations/0001_log.sql"),
    include_str!("../migrations/0002_sessions.sql"),
    include_str!("../migrations/0003_transcripts.sql"),
    include_str!("../migrations/0004_shorter_stretches.sql"),
    include_str!("../migrations/0005_who_titled.sql"),
    include_str!("../migrations/0006_counted_to.sql"),
    include_str!("../migrations/0007_snapshots_in_parts.sql"),
    include_str!("../migrations/0008_host_and_subject.sql"),
    include_str!("../migrations/0009_outbox.sql"),
    include_str!("../migrations/0010_assignments.sql"),
    include_str!("../migrations/0011_efforts.sql"),
    include_str!("../migrations/0012_host_states.sql"),
    include_str!("../migrations/0013_assignment_words.sql"),
];
/// The step after which the stored assignments are put into the index of words. SQL alone cannot do that.
const INDEXES_WORDS: usize = 13;

/// How many steps the file has taken. Refuses a file of a newer version before anything is written to it.
pub(super) fn version(conn: &Connection, path: &Path) -> Result<usize> {
    let found: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let known = MIGRATIONS.len();
    match usize::try_from(found) {
        Ok(version) if version <= known => Ok(version),
        Ok(_) => Err(StoreError::Newer { path: path.to_owned(), found, known: known as i64 }),
        Err(_) => Err(StoreError::Corrupt { reason: format!("its schema version is {found}") }),
    }
}

pub(super) fn migrate(conn: &mut Connection, from: usize) -> Result<()> {
    for (done, step) in MIGRATIONS.iter().enumerate().skip(from) {
        let tx = conn.transaction()?;
        tx.execute_batch(step)?;
        if done + 1 == INDEXES_WORDS {
            assignment_search::index_all(&tx)?;
        }
        tx.pragma_update(None, "user_version", (done + 1) as i64)?;
        tx.commit()?;
    }
    Ok(())
}
