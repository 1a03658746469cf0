//! Snapshots of the fleet, so that a start need not read the whole log.

use rusqlite::blob::ZeroBlob;
use rusqlite::{Connection, MAIN_DB, Row, params};

use super::super::{Result, SNAPSHOTS_KEPT, Snapshot, StoreError};
use super::{from_db, to_db};

pub(super) fn save(conn: &mut Connection, snapshot: &Snapshot) -> Result<()> {
    let tx = conn.transaction()?;
    let (size, sum) = (ZeroBlob(snapshot.body.len() as u64), snapshot.checksum());
    tx.execute(
        "INSERT INTO snapshots (seq, rules_version, checksum, body) VALUES (?1, ?2, ?3, ?4)",
        params![to_db(snapshot.seq), snapshot.rules_version, sum, size],
    )?;
    // Written in place, part by part: bound as a value it would be copied whole, twice.
    let mut body = tx.blob_open(MAIN_DB, "snapshots", "body", tx.last_insert_rowid(), false)?;
    let mut at = 0;
    for part in snapshot.body.iter() {
        body.write_all_at(part, at)?;
        at += part.len();
    }
    body.close()?;
    tx.execute(
        "DELETE FROM snapshots WHERE id NOT IN (SELECT id FROM snapshots ORDER BY id DESC LIMIT ?1)",
        [SNAPSHOTS_KEPT as i64],
    )?;
    Ok(tx.commit()?)
}

pub(super) fn latest(conn: &Connection, rules_version: &str) -> Result<Option<Snapshot>> {
    let mut ids =
        conn.prepare_cached("SELECT id FROM snapshots WHERE rules_version = ?1 ORDER BY id DESC")?;
    let ids = ids.query_map([rules_version], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    for id in ids {
        if let Some(snapshot) = whole(conn, id)? {
            return Ok(Some(snapshot));
        }
        tracing::warn!(id, "a snapshot is damaged and was passed over");
    }
    Ok(None)
}

/// `None` if the snapshot does not read back as it was written.
fn whole(conn: &Connection, id: i64) -> Result<Option<Snapshot>> {
    let mut select =
        conn.prepare_cached("SELECT seq, rules_version, body, checksum FROM snapshots WHERE id = ?1")?;
    match select.query_row([id], |row| Ok((snapshot(row)?, row.get::<_, i64>(3)?))) {
        Ok((snapshot, checksum)) => Ok((snapshot.checksum() == checksum).then_some(snapshot)),
        Err(error) => match StoreError::from(error) {
            StoreError::Corrupt { .. } => Ok(None),
            error => Err(error),
        },
    }
}

fn snapshot(row: &Row<'_>) -> rusqlite::Result<Snapshot> {
    Ok(Snapshot {
        seq: from_db(row.get(0)?),
        rules_version: row.get(1)?,
        body: row.get::<_, Vec<u8>>(2)?.into(),
    })
}
