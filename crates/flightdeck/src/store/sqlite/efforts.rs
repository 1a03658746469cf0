//! Efforts, windows and messages as tables.

use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::ids::{EffortId, WindowId};
use flightdeck_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::de::DeserializeOwned;

use super::super::efforts::lifecycle_name;
use super::super::{
    EffortFilter, EffortPage, EffortsWanted, MessageRow, MessagesWanted, Result, StoredWorkstream,
};
use super::to_db;

const PUT: &str = "INSERT INTO efforts (id, workstream, skill, ordinal, lifecycle, phase, seat, started_at, finished_at, seq, body) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
     ON CONFLICT (id) DO UPDATE SET lifecycle = excluded.lifecycle, phase = excluded.phase, seat = excluded.seat, \
     finished_at = excluded.finished_at, seq = excluded.seq, body = excluded.body WHERE excluded.seq >= efforts.seq";

const PUT_WORKSTREAM: &str = "INSERT INTO workstreams (dir, ordinal) VALUES (?1, ?2) \
     ON CONFLICT (dir) DO UPDATE SET ordinal = max(ordinal, excluded.ordinal)";

const PUT_WINDOW: &str = "INSERT INTO windows (id, effort, session_id, agent_id, previous, heartbeat, started_at, ended_at, body) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE SET heartbeat = excluded.heartbeat, \
     ended_at = excluded.ended_at, body = excluded.body";

const PUT_MESSAGE: &str = "INSERT INTO messages (id, effort, kind, at, body) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (id) DO UPDATE SET body = excluded.body";

const PAGE: &str = "SELECT body FROM efforts WHERE (?1 IS NULL OR lifecycle = ?1) AND (started_at, id) < (?2, ?3) \
     AND (?5 IS NULL OR substr(rtrim(?5, '/') || '/', 1, length(rtrim(workstream, '/')) + 1) = rtrim(workstream, '/') || '/') \
     AND (?6 IS NULL OR skill = ?6) AND (?7 IS NULL OR seat = ?7) ORDER BY started_at DESC, id DESC LIMIT ?4";

const WORKSTREAMS: &str = "SELECT workstreams.dir, workstreams.ordinal, json_extract(efforts.body, '$.about') FROM workstreams \
     LEFT JOIN efforts ON efforts.workstream = workstreams.dir AND efforts.ordinal = workstreams.ordinal \
     ORDER BY efforts.started_at DESC LIMIT ?1";

const MESSAGES: &str = "SELECT body FROM messages WHERE effort = ?1 AND (?2 IS NULL OR kind = ?2) \
     AND (?3 IS NULL OR (at, id) < (SELECT at, id FROM messages WHERE id = ?3)) ORDER BY at DESC, id DESC LIMIT ?4";

pub(super) fn put_in(tx: &Transaction<'_>, rows: &[Effort]) -> Result<()> {
    rows.iter().try_for_each(|row| put_one(tx, row))
}

pub(super) fn upsert_efforts(conn: &mut Connection, rows: &[Effort]) -> Result<()> {
    let tx = conn.transaction()?;
    put_in(&tx, rows)?;
    Ok(tx.commit()?)
}

fn put_one(tx: &Transaction<'_>, effort: &Effort) -> Result<()> {
    let changed = tx.prepare_cached(PUT)?.execute(params![
        effort.id.as_str(),
        effort.workstream,
        effort.skill,
        effort.ordinal,
        lifecycle_name(effort.lifecycle),
        effort.phase().map(|phase| phase.name.as_str()),
        effort.seat.as_deref(),
        effort.started_at.as_millis(),
        effort.finished_at.map(Timestamp::as_millis),
        to_db(effort.seq),
        json(effort)?,
    ])?;
    if changed == 0 {
        return Ok(());
    }
    tx.prepare_cached(PUT_WORKSTREAM)?.execute(params![effort.workstream, effort.ordinal])?;
    effort.windows.iter().try_for_each(|window| put_window(tx, &effort.id, window))
}

fn put_window(tx: &Transaction<'_>, effort: &EffortId, window: &ContextWindow) -> Result<()> {
    tx.prepare_cached(PUT_WINDOW)?.execute(params![
        window.id.as_str(),
        effort.as_str(),
        window.session_id.as_str(),
        window.agent_id.as_deref(),
        window.previous.as_deref(),
        window.heartbeat,
        window.started_at.as_millis(),
        window.ended_at.map(Timestamp::as_millis),
        json(window)?,
    ])?;
    Ok(())
}

pub(super) fn put_messages_in(tx: &Transaction<'_>, rows: &[MessageRow]) -> Result<()> {
    let mut put = tx.prepare_cached(PUT_MESSAGE)?;
    for MessageRow { effort, message } in rows {
        let at = message.at.as_millis();
        put.execute(params![message.id.as_str(), effort.as_str(), message.kind, at, json(message)?])?;
    }
    Ok(())
}

pub(super) fn upsert_messages(conn: &mut Connection, rows: &[MessageRow]) -> Result<()> {
    let tx = conn.transaction()?;
    put_messages_in(&tx, rows)?;
    Ok(tx.commit()?)
}

pub(super) fn effort_page(conn: &Connection, wanted: &EffortsWanted) -> Result<EffortPage> {
    let (at, id) = match &wanted.before {
        Some(before) => (before.started_at.as_millis(), before.id.to_string()),
        None => (i64::MAX, String::new()),
    };
    let limit = i64::try_from(wanted.limit).unwrap_or(i64::MAX).saturating_add(1);
    let lifecycle = wanted.lifecycle.map(lifecycle_name);
    let mut select = conn.prepare_cached(PAGE)?;
    let EffortFilter { dir, skill, seat } = &wanted.filter;
    let wanted_rows = params![lifecycle, at, id, limit, dir, skill, seat];
    let rows = select.query_map(wanted_rows, body)?.collect::<Result<Vec<_>, _>>()?;
    Ok(EffortPage::from_rows(rows.into_iter().flatten().collect(), wanted.limit))
}

pub(super) fn find_effort(conn: &Connection, id: &EffortId) -> Result<Option<Effort>> {
    let mut select = conn.prepare_cached("SELECT body FROM efforts WHERE id = ?1")?;
    Ok(select.query_row([id.as_str()], body).optional()?.flatten())
}

pub(super) fn find_window(conn: &Connection, id: &WindowId) -> Result<Option<ContextWindow>> {
    let mut select = conn.prepare_cached("SELECT body FROM windows WHERE id = ?1")?;
    Ok(select.query_row([id.as_str()], body).optional()?.flatten())
}

pub(super) fn newest_workstreams(conn: &Connection, limit: usize) -> Result<Vec<StoredWorkstream>> {
    let mut select = conn.prepare_cached(WORKSTREAMS)?;
    let rows = select.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
        let about: Option<String> = row.get(2)?;
        // An effort stored by an older version does not have this field.
        let about = about.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        Ok(StoredWorkstream { dir: row.get(0)?, ordinal: row.get(1)?, about })
    })?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?)
}

pub(super) fn effort_messages(conn: &Connection, wanted: &MessagesWanted) -> Result<Vec<EffortMessage>> {
    let before = wanted.before.as_deref();
    let limit = i64::try_from(wanted.limit).unwrap_or(i64::MAX);
    let mut select = conn.prepare_cached(MESSAGES)?;
    let rows = select.query_map(params![wanted.effort.as_str(), wanted.kind, before, limit], body)?;
    let mut messages: Vec<EffortMessage> =
        rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    messages.reverse();
    Ok(messages)
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// Parses the body of a row. A row that cannot be read is logged and left out.
fn body<T: DeserializeOwned>(row: &Row<'_>) -> rusqlite::Result<Option<T>> {
    let text: String = row.get(0)?;
    let read = serde_json::from_str(&text);
    if let Err(error) = &read {
        tracing::error!(%error, "a row of efforts cannot be read and is left out");
    }
    Ok(read.ok())
}
