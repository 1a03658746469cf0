//! Snapshots as tables: a snapshot is written in parts.

use rusqlite::{Connection, Row, Transaction, params};

use super::super::{FleetSnapshot, Result, SNAPSHOTS_KEPT, SaveStep, StoreError};
use super::{Sqlite, from_db, outbox, to_db};

/// Parts (of 64 KiB) written or removed in one step; an append waits for at most one.
const STEP_PARTS: usize = 8;

/// A snapshot that is not complete yet.
#[derive(Debug)]
pub(super) struct UnfinishedSnapshot {
    id: i64,
    written: usize,
}

impl Sqlite {
    pub(super) fn save_parts(&mut self, snapshot: &FleetSnapshot) -> Result<SaveStep> {
        // Without this wait the write-ahead log would grow faster than it is copied, until appends had to wait for the disk.
        if self.checkpointer.is_busy() {
            return Ok(SaveStep::More);
        }
        let Some(unfinished) = self.unfinished.take() else {
            if remove_leftovers(&self.conn)? == 0 {
                self.unfinished = Some(begin(&self.conn)?);
            }
            return Ok(SaveStep::More);
        };
        let tx = self.conn.transaction()?;
        let written = unfinished.written + write(&tx, snapshot, &unfinished)?;
        if snapshot.body.iter().nth(written).is_some() {
            tx.commit()?;
            self.unfinished = Some(UnfinishedSnapshot { written, ..unfinished });
            return Ok(SaveStep::More);
        }
        tx.execute(
            "INSERT INTO snapshots (id, seq, rules_version, checksum) VALUES (?1, ?2, ?3, ?4)",
            params![unfinished.id, to_db(snapshot.seq), snapshot.rules_version, snapshot.checksum()],
        )?;
        tx.execute(
            "DELETE FROM snapshots WHERE id NOT IN (SELECT id FROM snapshots ORDER BY id DESC LIMIT ?1)",
            [SNAPSHOTS_KEPT as i64],
        )?;
        outbox::remove_done(&tx)?;
        tx.commit()?;
        Ok(SaveStep::Done)
    }
}

/// Removes some parts of snapshots that are no longer kept or were never completed, and returns how many. Called before the
/// next snapshot is written, which uses their space.
pub(super) fn remove_leftovers(conn: &Connection) -> Result<usize> {
    let mut some = conn.prepare_cached(
        "DELETE FROM snapshot_parts WHERE rowid IN
            (SELECT rowid FROM snapshot_parts WHERE snapshot NOT IN (SELECT id FROM snapshots) LIMIT ?1)",
    )?;
    Ok(some.execute([STEP_PARTS as i64])?)
}

fn begin(conn: &Connection) -> Result<UnfinishedSnapshot> {
    let id = conn.query_row("SELECT coalesce(max(id), 0) + 1 FROM snapshots", [], |row| row.get(0))?;
    Ok(UnfinishedSnapshot { id, written: 0 })
}

fn write(
    tx: &Transaction<'_>,
    snapshot: &FleetSnapshot,
    UnfinishedSnapshot { id, written }: &UnfinishedSnapshot,
) -> Result<usize> {
    let mut insert =
        tx.prepare_cached("INSERT INTO snapshot_parts (snapshot, part, body) VALUES (?1, ?2, ?3)")?;
    let mut count = 0;
    for (part, body) in snapshot.body.iter().enumerate().skip(*written).take(STEP_PARTS) {
        insert.execute(params![id, part as i64, body])?;
        count += 1;
    }
    Ok(count)
}

pub(super) fn latest_snapshot(conn: &Connection, rules_version: &str) -> Result<Option<FleetSnapshot>> {
    let mut ids =
        conn.prepare_cached("SELECT id FROM snapshots WHERE rules_version = ?1 ORDER BY id DESC")?;
    let ids = ids.query_map([rules_version], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for id in ids {
        if let Some(snapshot) = read_snapshot(conn, id)? {
            return Ok(Some(snapshot));
        }
        tracing::warn!(id, "a snapshot is damaged and was skipped");
    }
    Ok(None)
}

/// `None` if the snapshot is damaged.
fn read_snapshot(conn: &Connection, id: i64) -> Result<Option<FleetSnapshot>> {
    let mut select =
        conn.prepare_cached("SELECT seq, rules_version, checksum FROM snapshots WHERE id = ?1")?;
    let mut parts =
        conn.prepare_cached("SELECT body FROM snapshot_parts WHERE snapshot = ?1 ORDER BY part")?;
    let mut read = || {
        let mut body = Vec::new();
        let mut rows = parts.query([id])?;
        while let Some(row) = rows.next()? {
            body.extend_from_slice(row.get_ref(0)?.as_blob()?);
        }
        select.query_row([id], |row| Ok((snapshot(row, body)?, row.get::<_, i64>(2)?)))
    };
    match read() {
        Ok((snapshot, checksum)) => Ok((snapshot.checksum() == checksum).then_some(snapshot)),
        Err(error) => match StoreError::from(error) {
            StoreError::Corrupt { .. } => Ok(None),
            error => Err(error),
        },
    }
}

fn snapshot(row: &Row<'_>, body: Vec<u8>) -> rusqlite::Result<FleetSnapshot> {
    Ok(FleetSnapshot { seq: from_db(row.get(0)?), rules_version: row.get(1)?, body: body.into() })
}
