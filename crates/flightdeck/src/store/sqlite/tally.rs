//! How many events of each name were ever appended. The totals are written now and then, so that an append has a page less to
//! write. Later events are counted in the log at the next start.

use std::collections::BTreeMap;

use flightdeck_core::log::record::Record;
use rusqlite::{Connection, params};

use super::super::counts::StoredCounts;
use super::super::{Appended, Result};
use super::{from_db, to_db};

/// Events that a start has to count, at most.
const UNWRITTEN_MAX: u64 = 1024;

#[derive(Debug)]
pub(super) struct StoredTally {
    all: StoredCounts,
    unwritten: BTreeMap<String, u64>,
    written_to: u64,
}

impl StoredTally {
    pub(super) fn load(conn: &Connection, last_seq: u64) -> Result<Self> {
        let written_to = from_db(conn.query_row("SELECT seq FROM counted_to", [], |row| row.get(0))?);
        // If another program removed events from the end of the log, counting continues from there.
        let written_to = written_to.min(last_seq);
        let mut select = conn.prepare("SELECT name, total FROM event_counts")?;
        let totals = select.query_map([], |row| Ok((row.get(0)?, from_db(row.get(1)?))))?;
        let mut tally = Self {
            all: StoredCounts(totals.collect::<Result<_, _>>()?),
            unwritten: BTreeMap::new(),
            written_to,
        };
        let mut since = conn.prepare("SELECT name FROM events WHERE seq > ?1 ORDER BY seq")?;
        let mut rows = since.query([to_db(written_to)])?;
        while let Some(row) = rows.next()? {
            let added = tally.all.count_names([row.get_ref(0)?.as_str().unwrap_or_default()].into_iter());
            tally.add(added);
        }
        Ok(tally)
    }

    pub(super) fn all(&self) -> &BTreeMap<String, u64> {
        &self.all.0
    }

    pub(super) fn count_batch(&self, records: &[Record], appended: &[Appended]) -> BTreeMap<String, u64> {
        self.all.count_batch(records, appended)
    }

    /// Called once the events are stored.
    pub(super) fn add(&mut self, added: BTreeMap<String, u64>) {
        for (name, count) in &added {
            *self.unwritten.entry(name.clone()).or_default() += count;
        }
        self.all.add(added);
    }

    /// Writes the totals if many events were appended since, or if events that are not counted in them are about to be removed.
    pub(super) fn write_if_due(
        &mut self,
        conn: &mut Connection,
        last_seq: u64,
        removed_to: u64,
    ) -> Result<()> {
        if removed_to <= self.written_to && last_seq.saturating_sub(self.written_to) < UNWRITTEN_MAX {
            return Ok(());
        }
        let tx = conn.transaction()?;
        {
            let mut add = tx.prepare_cached(
                "INSERT INTO event_counts (name, total) VALUES (?1, ?2) \
                 ON CONFLICT (name) DO UPDATE SET total = total + excluded.total",
            )?;
            for (name, count) in &self.unwritten {
                add.execute(params![name, to_db(*count)])?;
            }
            tx.prepare_cached("UPDATE counted_to SET seq = ?1")?.execute([to_db(last_seq)])?;
        }
        tx.commit()?;
        self.unwritten.clear();
        self.written_to = last_seq;
        Ok(())
    }
}
