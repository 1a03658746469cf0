//! The log as a table: appends records and reads them back unchanged.

use flightdeck_core::ids::HostId;
use flightdeck_core::log::record::{EventId, Record, Source, Verbatim};
use flightdeck_core::time::Timestamp;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Rows, ToSql, Transaction, TransactionBehavior, params};

use super::super::{
    Appended, EventsNamed, EventsOf, Oldest, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, PageFrom, RecordPage, Result,
    SCAN_EVENTS_MAX, StoreError,
};
use super::{Sqlite, explain, from_db, subject, to_db};

/// The index by session is divided into stretches of `1 << STRETCH_BITS` events. The SQL below has the same number.
const STRETCH_BITS: u32 = 7;

const INSERT: &str = "INSERT INTO events \
     (seq, id, fired_at, received_at, source, name, session_id, agent_id, envelope, payload, host, subject) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (id) DO NOTHING";

macro_rules! select {
    ($payload:literal, $($rest:literal),+) => {
        concat!(
            "SELECT seq, id, fired_at, received_at, source, name, session_id, agent_id, envelope, ",
            $payload,
            ", host, subject FROM events ",
            $($rest),+
        )
    };
}

macro_rules! of_session {
    ($payload:literal, $rest:literal) => {
        select!($payload, "INDEXED BY events_by_session WHERE seq >> 7 = ?1 AND session_id = ?2 AND ", $rest)
    };
}

impl Sqlite {
    pub(super) fn append_batch(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let tx = self.conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let appended = insert_all(&tx, records, self.last_seq)?;
        tx.commit()?;
        // Only after the commit: a failed transaction must leave no gap.
        self.tally.add(self.tally.count_batch(records, &appended));
        self.last_seq += appended.iter().filter(|a| !a.duplicate).count() as u64;
        if let Err(error) = self.tally.write_if_due(&mut self.conn, self.last_seq, 0) {
            // The events are stored. The totals are written with a later batch.
            let error = explain(&self.path, error);
            tracing::warn!(%error, "the totals of events could not be written");
        }
        Ok(appended)
    }
}

fn insert_all(tx: &Transaction<'_>, records: &[Record], mut last_seq: u64) -> Result<Vec<Appended>> {
    let mut insert = tx.prepare_cached(INSERT)?;
    let mut find = tx.prepare_cached("SELECT seq FROM events WHERE id = ?1")?;
    let mut texts = Texts::default();
    let mut appended = Vec::with_capacity(records.len());
    for record in records {
        let (envelope, payload) = texts.write(record)?;
        let id = record.id.0.to_be_bytes();
        let inserted = insert.execute(params![
            to_db(last_seq + 1),
            id,
            record.fired_at.as_millis(),
            record.received_at.as_millis(),
            record.source.as_str(),
            record.name,
            record.session_id().map(|id| id.as_str()).unwrap_or_default(),
            record.agent_id.as_deref(),
            envelope,
            payload,
            (!record.host.is_this()).then_some(record.host.as_str()),
            subject::to_column(&record.subject),
        ])?;
        last_seq += inserted as u64;
        let seq = if inserted == 1 { last_seq } else { from_db(find.query_row([id], |row| row.get(0))?) };
        appended.push(Appended { seq, duplicate: inserted == 0 });
    }
    Ok(appended)
}

/// Buffers that are reused for every record of a batch.
#[derive(Default)]
struct Texts {
    envelope: Vec<u8>,
    payload: Vec<u8>,
}

impl Texts {
    /// The envelope and the payload as they are stored.
    fn write<'a>(&'a mut self, record: &'a Record) -> Result<(Json<'a>, Json<'a>)> {
        let unwritable = |source| StoreError::Unwritable { name: record.name.clone(), source };
        self.envelope.clear();
        serde_json::to_writer(&mut self.envelope, &record.envelope).map_err(unwritable)?;
        if let Some(payload) = record.verbatim.json() {
            return Ok((Json(&self.envelope), Json(payload)));
        }
        self.payload.clear();
        serde_json::to_writer(&mut self.payload, &record.payload).map_err(unwritable)?;
        Ok((Json(&self.envelope), Json(&self.payload)))
    }
}

/// JSON bytes as TEXT. They are always UTF-8 and are not checked again.
struct Json<'a>(&'a [u8]);

impl ToSql for Json<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

pub(super) fn events_after(conn: &Connection, after_seq: u64, limit: usize) -> Result<RecordPage> {
    let mut select = conn.prepare_cached(select!("payload", "WHERE seq > ?1 ORDER BY seq"))?;
    let mut page = Reading::new(limit);
    page.read(select.query([to_db(after_seq)])?)?;
    Ok(page.page)
}

/// Skips events of other hosts without reading their payloads, a bounded number in one call.
pub(super) fn own_after(
    conn: &Connection,
    after_seq: u64,
    limit: usize,
    last_seq: u64,
) -> Result<RecordPage> {
    let mut select = conn
        .prepare_cached(select!("payload", "WHERE seq > ?1 AND seq <= ?2 AND host IS NULL ORDER BY seq"))?;
    // Retention may have removed the start of the log.
    let from = oldest(conn)?.map_or(0, |o| o.seq.saturating_sub(1)).max(after_seq);
    let to = from.saturating_add(SCAN_EVENTS_MAX);
    let mut page = Reading::new(limit);
    page.read(select.query(params![to_db(from), to_db(to)])?)?;
    let rest = Some(to).filter(|to| *to < last_seq);
    Ok(RecordPage { next: page.page.next.or(rest), ..page.page })
}

pub(super) fn count_own(conn: &Connection, after_seq: u64, to_seq: u64) -> Result<u64> {
    let mut count =
        conn.prepare_cached("SELECT count(*) FROM events WHERE seq > ?1 AND seq <= ?2 AND host IS NULL")?;
    Ok(from_db(count.query_row([to_db(after_seq), to_db(to_seq)], |row| row.get(0))?))
}

pub(super) fn of_session(conn: &Connection, wanted: &EventsOf, last_seq: u64) -> Result<RecordPage> {
    let oldest = oldest(conn)?.map_or(0, |o| o.seq);
    let (first, last, edge) = match wanted.from {
        PageFrom::After(seq) => (oldest.max(seq.saturating_add(1)), last_seq, seq),
        PageFrom::Before(seq) => (oldest, last_seq.min(seq.saturating_sub(1)), seq),
    };
    let mut select = conn.prepare_cached(match (wanted.with_payload, wanted.from) {
        (true, PageFrom::After(_)) => of_session!("payload", "seq > ?3 ORDER BY seq"),
        (false, PageFrom::After(_)) => of_session!("'{}'", "seq > ?3 ORDER BY seq"),
        (true, PageFrom::Before(_)) => of_session!("payload", "seq < ?3 ORDER BY seq DESC"),
        (false, PageFrom::Before(_)) => of_session!("'{}'", "seq < ?3 ORDER BY seq DESC"),
    })?;
    let mut page = Reading::new(wanted.limit);
    let mut stretches: Vec<u64> = (first >> STRETCH_BITS..=last >> STRETCH_BITS).collect();
    let backwards = matches!(wanted.from, PageFrom::Before(_));
    if backwards {
        stretches.reverse();
    }
    for stretch in stretches {
        page.read(select.query(params![to_db(stretch), wanted.session_id.as_str(), to_db(edge)])?)?;
        if page.is_cut() {
            break;
        }
    }
    if backwards {
        page.page.records.reverse();
    }
    Ok(page.page)
}

pub(super) fn events_named(conn: &Connection, wanted: EventsNamed, last_seq: u64) -> Result<RecordPage> {
    let mut select = conn.prepare_cached(select!(
        "payload",
        "WHERE seq > ?1 AND seq <= ?2 AND name IN (SELECT value FROM json_each(?3)) ORDER BY seq"
    ))?;
    // Retention may have removed the start of the log.
    let from = oldest(conn)?.map_or(0, |o| o.seq.saturating_sub(1)).max(wanted.after_seq);
    let to = from.saturating_add(SCAN_EVENTS_MAX);
    let names = serde_json::json!(wanted.names).to_string();
    let mut page = Reading::new(PAGE_ITEMS_MAX);
    page.read(select.query(params![to_db(from), to_db(to), names])?)?;
    let rest = Some(to).filter(|to| *to < last_seq);
    Ok(RecordPage { next: page.page.next.or(rest), ..page.page })
}

pub(super) fn find_event(conn: &Connection, seq: u64) -> Result<Option<Record>> {
    let mut select = conn.prepare_cached(select!("payload", "WHERE seq = ?1"))?;
    let mut rows = select.query([to_db(seq)])?;
    match rows.next()? {
        Some(row) => {
            record(row).map(Some).map_err(|bad| StoreError::Unreadable { seq, reason: bad.to_string() })
        }
        None => Ok(None),
    }
}

pub(super) fn oldest(conn: &Connection) -> Result<Option<Oldest>> {
    let mut select = conn.prepare_cached("SELECT seq, received_at FROM events ORDER BY seq LIMIT 1")?;
    let oldest = |row: &Row<'_>| {
        Ok(Oldest { seq: from_db(row.get(0)?), received_at: Timestamp::from_millis(row.get(1)?) })
    };
    Ok(select.query_row([], oldest).optional()?)
}

/// A page being filled. Statements have no LIMIT: rows are read one at a time, and one more row shows that there is another
/// page.
struct Reading {
    page: RecordPage,
    limit: usize,
    read: usize,
    bytes: usize,
    last_seq: Option<u64>,
}

impl Reading {
    fn new(limit: usize) -> Self {
        Self { page: RecordPage::default(), limit, read: 0, bytes: 0, last_seq: None }
    }

    fn is_cut(&self) -> bool {
        self.page.next.is_some()
    }

    fn read(&mut self, mut rows: Rows<'_>) -> Result<()> {
        while let Some(row) = rows.next()? {
            if self.read >= self.limit || self.bytes >= PAGE_BYTES_MAX {
                self.page.next = self.last_seq;
                break;
            }
            self.push(row)?;
        }
        Ok(())
    }

    fn push(&mut self, row: &Row<'_>) -> Result<()> {
        self.read += 1;
        self.bytes += row.get_ref(9)?.as_bytes().map_or(0, <[u8]>::len);
        self.last_seq = Some(from_db(row.get(0)?));
        match record(row) {
            Ok(record) => self.page.records.push(record),
            Err(bad) => {
                tracing::warn!(seq = self.last_seq, %bad, "an event in the log cannot be read");
                self.page.unreadable += 1;
            }
        }
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
enum BadRow {
    #[error("{0}")]
    Column(#[from] rusqlite::Error),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("unknown source {0:?}")]
    Source(String),
    #[error("unknown subject {0:?}")]
    Subject(String),
}

fn record(row: &Row<'_>) -> Result<Record, BadRow> {
    let source: String = row.get(4)?;
    Ok(Record {
        seq: from_db(row.get(0)?),
        id: EventId(u128::from_be_bytes(row.get(1)?)),
        fired_at: Timestamp::from_millis(row.get(2)?),
        received_at: Timestamp::from_millis(row.get(3)?),
        source: Source::parse(&source).ok_or(BadRow::Source(source))?,
        name: row.get(5)?,
        host: row.get::<_, Option<String>>(10)?.map_or(HostId::this_machine(), Into::into),
        subject: subject::from_columns(row.get(6)?, row.get(11)?).map_err(BadRow::Subject)?,
        agent_id: row.get::<_, Option<String>>(7)?.map(Into::into),
        envelope: serde_json::from_slice(text(row, 8)?)?,
        payload: serde_json::from_slice(text(row, 9)?)?,
        verbatim: Verbatim::default(),
    })
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], BadRow> {
    Ok(row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?)
}
