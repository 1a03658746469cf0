//! How far transcripts were read, and their messages, as tables.

use flightdeck_core::ids::{AgentId, SessionId};
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use flightdeck_core::usage::price::Usage;
use flightdeck_core::wire::billed_usage::MessageKey;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::super::{
    FileRead, Result, SessionRead, SessionStretch, SessionUsage, Title, TitledBy, TranscriptBatch,
};
use super::{from_db, to_db};

/// Keeps the title as [`Title::keep`] does.
const PUT_SESSION: &str = "INSERT INTO transcript_sessions \
     (session_id, cwd, title, title_by, first_at, born_at, last_at, known) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (session_id) DO UPDATE SET \
     cwd = coalesce(cwd, excluded.cwd), \
     title = iif(excluded.title_by > title_by OR (excluded.title_by = title_by AND title_by > 1), \
         excluded.title, title), \
     title_by = max(title_by, excluded.title_by), \
     first_at = min(first_at, excluded.first_at), born_at = min(born_at, excluded.born_at), \
     last_at = max(last_at, excluded.last_at), known = excluded.known RETURNING id";

const PUT_FILE: &str = "INSERT OR REPLACE INTO transcript_files \
     (path, session_id, agent, dev, inode, read_to, mark) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

const PUT_USAGE: &str = "INSERT INTO usage (session, key, at, model, agent, input, output, cache_read, \
     cache_write_5m, cache_write_1h, web_searches) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
     ON CONFLICT (session, key) DO UPDATE SET at = excluded.at, model = excluded.model, agent = excluded.agent, \
     input = excluded.input, output = excluded.output, cache_read = excluded.cache_read, \
     cache_write_5m = excluded.cache_write_5m, cache_write_1h = excluded.cache_write_1h, \
     web_searches = excluded.web_searches WHERE excluded.at >= at";

const USAGE_OF: &str = "SELECT key, at, model, agent, input, output, cache_read, cache_write_5m, cache_write_1h, \
     web_searches FROM usage WHERE session = ?1";

pub(super) const USAGE_BETWEEN: &str = "SELECT key, at, model, agent, input, output, cache_read, cache_write_5m, \
     cache_write_1h, web_searches FROM usage WHERE session = ?1 AND at >= ?2 AND at < ?3";

const FILE: &str = "SELECT path, session_id, agent, dev, inode, read_to, mark FROM transcript_files";

pub(super) fn upsert_transcripts(conn: &mut Connection, batches: &[TranscriptBatch]) -> Result<()> {
    let tx = conn.transaction()?;
    for batch in batches {
        put_one(&tx, batch)?;
    }
    Ok(tx.commit()?)
}

fn put_one(tx: &Transaction<'_>, batch: &TranscriptBatch) -> Result<()> {
    if batch.anew {
        forget(tx, &batch.session.session_id)?;
    }
    let s = &batch.session;
    let id: i64 = tx.prepare_cached(PUT_SESSION)?.query_row(
        params![
            s.session_id.as_str(),
            s.cwd,
            s.title.as_ref().map(|title| &title.text),
            s.title.as_ref().map_or(0, |title| title.by as i64),
            s.first_at.as_millis(),
            s.born_at.as_millis(),
            s.last_at.as_millis(),
            batch.known,
        ],
        |row| row.get(0),
    )?;
    let mut put = tx.prepare_cached(PUT_FILE)?;
    for f in &batch.files {
        // Device and inode are bit patterns: they only have to be read back unchanged.
        let numbers = [f.dev as i64, f.inode as i64, to_db(f.read_to), f.mark as i64];
        let [dev, inode, read_to, mark] = numbers;
        put.execute(params![f.path, s.session_id.as_str(), f.agent.as_str(), dev, inode, read_to, mark])?;
    }
    let mut put = tx.prepare_cached(PUT_USAGE)?;
    for c in &batch.counted {
        let u = &c.usage;
        put.execute(params![
            id,
            c.key.0.to_be_bytes(),
            c.at.as_millis(),
            c.model,
            c.agent.as_str(),
            to_db(u.input),
            to_db(u.output),
            to_db(u.cache_read),
            to_db(u.cache_write_5m),
            to_db(u.cache_write_1h),
            to_db(u.web_searches),
        ])?;
    }
    Ok(())
}

fn forget(tx: &Transaction<'_>, session_id: &SessionId) -> Result<()> {
    tx.execute(
        "DELETE FROM usage WHERE session = (SELECT id FROM transcript_sessions WHERE session_id = ?1)",
        [session_id.as_str()],
    )?;
    tx.execute("DELETE FROM transcript_files WHERE session_id = ?1", [session_id.as_str()])?;
    tx.execute("DELETE FROM transcript_sessions WHERE session_id = ?1", [session_id.as_str()])?;
    Ok(())
}

pub(super) fn transcript_files(conn: &Connection) -> Result<Vec<FileRead>> {
    let mut select = conn.prepare_cached(FILE)?;
    Ok(select.query_map([], file)?.collect::<Result<_, _>>()?)
}

pub(super) fn find_transcript(conn: &Connection, session_id: &SessionId) -> Result<Option<TranscriptBatch>> {
    let query = "SELECT id, session_id, cwd, title, title_by, first_at, born_at, last_at, known \
                 FROM transcript_sessions \
                 WHERE session_id = ?1";
    let found = conn.prepare_cached(query)?.query_row([session_id.as_str()], |row| {
        Ok((row.get::<_, i64>(0)?, session(row)?, row.get::<_, Option<String>>(8)?))
    });
    let Some((id, session, known)) = found.optional()? else { return Ok(None) };
    let mut select = conn.prepare_cached(&format!("{FILE} WHERE session_id = ?1"))?;
    let files = select.query_map([session_id.as_str()], file)?.collect::<Result<_, _>>()?;
    let counted = usage_of(conn, id)?;
    Ok(Some(TranscriptBatch { anew: false, session, files, known, counted }))
}

pub(super) fn sessions_since(conn: &Connection, since: Timestamp) -> Result<Vec<SessionRead>> {
    let query = "SELECT id, session_id, cwd, title, title_by, first_at, born_at, last_at FROM transcript_sessions \
                 WHERE last_at >= ?1 ORDER BY first_at, born_at, session_id";
    let mut select = conn.prepare_cached(query)?;
    Ok(select.query_map([since.as_millis()], session)?.collect::<Result<_, _>>()?)
}

pub(super) fn usage_of_sessions(conn: &Connection, sessions: &[SessionId]) -> Result<Vec<SessionUsage>> {
    let mut find = conn.prepare_cached("SELECT id FROM transcript_sessions WHERE session_id = ?1")?;
    let mut all = Vec::with_capacity(sessions.len());
    for session_id in sessions {
        let id: Option<i64> = find.query_row([session_id.as_str()], |row| row.get(0)).optional()?;
        let counted = id.map_or(Ok(Vec::new()), |id| usage_of(conn, id))?;
        all.push(SessionUsage { session_id: session_id.clone(), counted });
    }
    Ok(all)
}

pub(super) fn usage_between(
    conn: &Connection,
    stretches: &[SessionStretch],
) -> Result<Vec<Option<Vec<CountedMessage>>>> {
    let mut find = conn.prepare_cached("SELECT id FROM transcript_sessions WHERE session_id = ?1")?;
    let mut select = conn.prepare_cached(USAGE_BETWEEN)?;
    let mut all = Vec::with_capacity(stretches.len());
    for SessionStretch { session_id, from, to } in stretches {
        let id: Option<i64> = find.query_row([session_id.as_str()], |row| row.get(0)).optional()?;
        all.push(match id {
            None => None,
            Some(id) => {
                let between = params![id, from.as_millis(), to.as_millis()];
                Some(select.query_map(between, counted)?.collect::<Result<_, _>>()?)
            }
        });
    }
    Ok(all)
}

fn usage_of(conn: &Connection, id: i64) -> Result<Vec<CountedMessage>> {
    let mut select = conn.prepare_cached(USAGE_OF)?;
    Ok(select.query_map([id], counted)?.collect::<Result<_, _>>()?)
}

fn counted(row: &Row<'_>) -> rusqlite::Result<CountedMessage> {
    let n = |column| row.get(column).map(from_db);
    Ok(CountedMessage {
        key: MessageKey(u128::from_be_bytes(row.get(0)?)),
        at: Timestamp::from_millis(row.get(1)?),
        model: row.get(2)?,
        agent: AgentId::new(row.get::<_, String>(3)?),
        usage: Usage {
            input: n(4)?,
            output: n(5)?,
            cache_read: n(6)?,
            cache_write_5m: n(7)?,
            cache_write_1h: n(8)?,
            web_searches: n(9)?,
        },
    })
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionRead> {
    let at = |column| row.get(column).map(Timestamp::from_millis);
    let by = match row.get(4)? {
        3 => TitledBy::Person,
        2 => TitledBy::Model,
        _ => TitledBy::FirstPrompt,
    };
    Ok(SessionRead {
        session_id: row.get::<_, String>(1)?.into(),
        cwd: row.get(2)?,
        title: row.get::<_, Option<String>>(3)?.map(|text| Title { text, by }),
        first_at: at(5)?,
        born_at: at(6)?,
        last_at: at(7)?,
    })
}

fn file(row: &Row<'_>) -> rusqlite::Result<FileRead> {
    Ok(FileRead {
        path: row.get(0)?,
        session_id: row.get::<_, String>(1)?.into(),
        agent: AgentId::new(row.get::<_, String>(2)?),
        dev: row.get::<_, i64>(3)? as u64,
        inode: row.get::<_, i64>(4)? as u64,
        read_to: from_db(row.get(5)?),
        mark: row.get::<_, i64>(6)? as u64,
    })
}
