//! The rows of past sessions.

use flightdeck_core::ids::SessionId;
use flightdeck_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::super::{Result, SessionCursor, SessionPage, StoredSession};

const PUT: &str = "INSERT INTO sessions (id, project, title, started_at, last_activity_at, ended_at, card) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET \
     project = excluded.project, title = excluded.title, started_at = excluded.started_at, \
     last_activity_at = excluded.last_activity_at, ended_at = excluded.ended_at, card = excluded.card";

const PAGE: &str = "SELECT id, project, title, started_at, last_activity_at, ended_at, card FROM sessions \
     WHERE (last_activity_at, id) < (?1, ?2) ORDER BY last_activity_at DESC, id DESC LIMIT ?3";

const ONE: &str =
    "SELECT id, project, title, started_at, last_activity_at, ended_at, card FROM sessions WHERE id = ?1";

pub(super) fn upsert_sessions(conn: &mut Connection, sessions: &[StoredSession]) -> Result<()> {
    let tx = conn.transaction()?;
    put_in(&tx, sessions)?;
    Ok(tx.commit()?)
}

pub(super) fn put_in(tx: &Transaction<'_>, sessions: &[StoredSession]) -> Result<()> {
    let mut put = tx.prepare_cached(PUT)?;
    for s in sessions {
        put.execute(params![
            s.id.as_str(),
            s.project,
            s.title,
            s.started_at.as_millis(),
            s.last_activity_at.as_millis(),
            s.ended_at.map(Timestamp::as_millis),
            s.card,
        ])?;
    }
    Ok(())
}

pub(super) fn session_page(
    conn: &Connection,
    before: Option<&SessionCursor>,
    limit: usize,
) -> Result<SessionPage> {
    // No time is later than this one, so the first page comes before it.
    let (at, id) = before.map_or((i64::MAX, ""), |b| (b.last_activity_at.as_millis(), b.id.as_str()));
    let one_more = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut select = conn.prepare_cached(PAGE)?;
    let sessions = select.query_map(params![at, id, one_more], session)?.collect::<Result<_, _>>()?;
    Ok(SessionPage::from_rows(sessions, limit))
}

pub(super) fn find_session(conn: &Connection, id: &SessionId) -> Result<Option<StoredSession>> {
    Ok(conn.prepare_cached(ONE)?.query_row([id.as_str()], session).optional()?)
}

fn session(row: &Row<'_>) -> rusqlite::Result<StoredSession> {
    Ok(StoredSession {
        id: row.get::<_, String>(0)?.into(),
        project: row.get(1)?,
        title: row.get(2)?,
        started_at: Timestamp::from_millis(row.get(3)?),
        last_activity_at: Timestamp::from_millis(row.get(4)?),
        ended_at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_millis),
        card: row.get(6)?,
    })
}
