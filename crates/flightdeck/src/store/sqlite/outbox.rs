//! The outbox as a table.

use rusqlite::{Connection, Row, Transaction, params};

use super::super::{OutboxEffect, OutboxKey, OutboxRows, Result};
use super::{assignments, efforts, from_db, sessions, to_db};

/// Inserts an effect that is not there yet. Effects before the horizon were carried out long ago, so only repeatable ones are inserted.
const PUT: &str = "INSERT INTO outbox (seq, kind, subject, body) SELECT ?1, ?2, ?3, ?4 \
     WHERE ?5 OR ?1 >= (SELECT seq FROM outbox_horizon) ON CONFLICT (seq, kind, subject) DO NOTHING";

const FINISH: &str = "UPDATE outbox SET done = 1 WHERE seq = ?1 AND kind = ?2 AND subject = ?3";

const WAITING: &str = "SELECT seq, kind, subject, body FROM outbox WHERE NOT done ORDER BY seq";

pub(super) fn upsert_effects(conn: &mut Connection, effects: &[OutboxEffect]) -> Result<()> {
    let tx = conn.transaction()?;
    let mut put = tx.prepare_cached(PUT)?;
    for OutboxEffect { key, body, repeatable } in effects {
        put.execute(params![to_db(key.seq), key.kind, key.subject, body, repeatable])?;
    }
    drop(put);
    Ok(tx.commit()?)
}

pub(super) fn unfinished_effects(conn: &Connection) -> Result<Vec<OutboxEffect>> {
    let mut select = conn.prepare_cached(WAITING)?;
    Ok(select.query_map([], effect)?.collect::<Result<_, _>>()?)
}

fn effect(row: &Row<'_>) -> rusqlite::Result<OutboxEffect> {
    let key = OutboxKey { seq: from_db(row.get(0)?), kind: row.get(1)?, subject: row.get(2)? };
    Ok(OutboxEffect { key, body: row.get(3)?, repeatable: true })
}

pub(super) fn finish_rows(conn: &mut Connection, done: &[OutboxKey], rows: &OutboxRows) -> Result<()> {
    let tx = conn.transaction()?;
    sessions::put_in(&tx, &rows.sessions)?;
    assignments::put_in(&tx, &rows.assignments)?;
    efforts::put_in(&tx, &rows.efforts)?;
    efforts::put_messages_in(&tx, &rows.messages)?;
    let mut finish = tx.prepare_cached(FINISH)?;
    for OutboxKey { seq, kind, subject } in done {
        finish.execute(params![to_db(*seq), kind, subject])?;
    }
    drop(finish);
    Ok(tx.commit()?)
}

/// Removes effects that no replay can produce again: those of events that every kept snapshot contains. Called when a snapshot is complete.
/// Effects of a snapshot's own last event stay, because a timer may cause one after the snapshot was taken.
pub(super) fn remove_done(tx: &Transaction<'_>) -> Result<()> {
    tx.execute("UPDATE outbox_horizon SET seq = max(seq, (SELECT min(seq) FROM snapshots))", [])?;
    tx.execute("DELETE FROM outbox WHERE done AND seq < (SELECT seq FROM outbox_horizon)", [])?;
    Ok(())
}
