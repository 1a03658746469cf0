//! Removes old events in small slices, so that an append never waits long.

use std::time::{Duration, Instant};

use flightdeck_core::time::Timestamp;

use super::super::{Result, RetainStep, RetentionPolicy, SLICE_EVENTS_MAX};
use super::{Sqlite, from_db, to_db};

/// The intended duration of a slice. An append waits for at most one slice.
const SLICE_TIME_AIM: Duration = Duration::from_millis(2);
/// Pages given back in one slice, at most: each page is moved by a write of its own.
pub(super) const SLICE_PAGES_MAX: usize = 64;
const SLICE_ITEMS_MIN: usize = 8;
/// Payload bytes removed in one slice: one large payload is a long chain of pages.
const SLICE_BYTES_MAX: u64 = 512 * 1024;
/// The bytes of an event without its payload, with its entries in two indexes.
const ROW_OVERHEAD_BYTES: u64 = 250;
/// One part in this many stays in the file as free space, so that appends need not grow it at once.
const SLACK: u64 = 16;

/// The size of a slice, adapted to how long the last slices took.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetentionPace {
    rows: usize,
    pages: usize,
}

impl Default for RetentionPace {
    fn default() -> Self {
        Self { rows: SLICE_EVENTS_MAX / 2, pages: SLICE_PAGES_MAX / 2 }
    }
}

fn adapt(items: &mut usize, max: usize, took: Duration) {
    if took > SLICE_TIME_AIM {
        *items = (*items / 2).max(SLICE_ITEMS_MIN);
    } else if took < SLICE_TIME_AIM / 4 {
        *items = (*items * 2).min(max);
    }
}

/// The first rows of the log that one slice removes.
#[derive(Default)]
struct EventsToRemove {
    last_seq: Option<u64>,
    /// The next event is old enough, but it must stay.
    held_back: bool,
}

/// The bytes that removing an event gives back. Rows do not use the rest of a page that is too small for another row.
fn bytes_on_disk(payload: u64, page_bytes: u64) -> u64 {
    let row = payload + ROW_OVERHEAD_BYTES;
    match page_bytes / row {
        0 => row.div_ceil(page_bytes) * page_bytes,
        rows_a_page => page_bytes / rows_a_page,
    }
}

struct FileSpace {
    page_bytes: u64,
    pages: u64,
    free: u64,
}

impl Sqlite {
    pub(super) fn step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep> {
        // Without this wait the write-ahead log would grow faster than it is copied, until appends had to wait for the disk.
        if self.checkpointer.is_busy() {
            return Ok(RetainStep::Wait);
        }
        let started = Instant::now();
        let doomed = self.next_to_delete(now - policy.max_age, policy)?;
        if let Some(seq) = doomed.last_seq {
            self.tally.write_if_due(&mut self.conn, self.last_seq, seq)?;
            let removed =
                self.conn.prepare_cached("DELETE FROM events WHERE seq <= ?1")?.execute([to_db(seq)])?;
            adapt(&mut self.pace.rows, SLICE_EVENTS_MAX, started.elapsed());
            self.shrinking = true;
            return Ok(RetainStep::More { removed: removed as u64 });
        }
        if self.give_back_pages()? {
            adapt(&mut self.pace.pages, SLICE_PAGES_MAX, started.elapsed());
            self.shrinking = true;
            return Ok(RetainStep::More { removed: 0 });
        }
        // The file shrinks only with a checkpoint.
        if self.shrinking && !self.checkpointer.has_emptied() {
            return Ok(RetainStep::Wait);
        }
        self.shrinking = false;
        Ok(RetainStep::Done { held_back: doomed.held_back })
    }

    /// The next events to remove. `received_at` never goes back in the log, so the oldest events come first.
    fn next_to_delete(&self, cutoff: Timestamp, policy: &RetentionPolicy) -> Result<EventsToRemove> {
        let keep_after = self.keep_after(policy)?;
        let FileSpace { page_bytes, .. } = self.room()?;
        let mut excess = self.excess_bytes(policy)?;
        let mut first = self.conn.prepare_cached(
            "SELECT seq, received_at, octet_length(payload) FROM events ORDER BY seq LIMIT ?1",
        )?;
        let mut rows = first.query([self.pace.rows as i64])?;
        let (mut doomed, mut bytes) = (EventsToRemove::default(), 0);
        while let Some(row) = rows.next()? {
            let (seq, received_at) = (from_db(row.get(0)?), Timestamp::from_millis(row.get(1)?));
            if (received_at >= cutoff && excess == 0) || bytes > SLICE_BYTES_MAX {
                break;
            }
            if seq > keep_after {
                doomed.held_back = seq < self.last_seq;
                break;
            }
            let payload = from_db(row.get(2)?);
            bytes += payload;
            excess = excess.saturating_sub(bytes_on_disk(payload, page_bytes));
            doomed.last_seq = Some(seq);
        }
        Ok(doomed)
    }

    /// The `seq` after which events are kept. It keeps at least the newest event, because the next `seq` is counted from it.
    fn keep_after(&self, policy: &RetentionPolicy) -> Result<u64> {
        let mut oldest = self.conn.prepare_cached("SELECT min(seq) FROM snapshots")?;
        let in_snapshots =
            oldest.query_row([], |row| row.get::<_, Option<i64>>(0))?.map_or(u64::MAX, from_db);
        Ok(policy.keep_after_seq.min(in_snapshots).min(self.last_seq.saturating_sub(1)))
    }

    fn room(&self) -> Result<FileSpace> {
        let pragma = |name| self.conn.pragma_query_value(None, name, |row| row.get(0)).map(from_db);
        Ok(FileSpace {
            page_bytes: pragma("page_size")?,
            pages: pragma("page_count")?,
            free: pragma("freelist_count")?,
        })
    }

    /// Used bytes beyond the policy, and the slack that stays in the file.
    fn excess_bytes(&self, policy: &RetentionPolicy) -> Result<u64> {
        let room = self.room()?;
        let used = (room.pages - room.free.min(room.pages)) * room.page_bytes;
        Ok(used.saturating_sub(policy.max_bytes - policy.max_bytes / SLACK))
    }

    /// False once only the slack is left, or if the file was created without incremental vacuum.
    fn give_back_pages(&self) -> Result<bool> {
        let room = self.room()?;
        let spare = room.free.saturating_sub(room.pages / SLACK);
        if spare == 0 {
            return Ok(false);
        }
        let pages = spare.min(self.pace.pages as u64);
        let mut vacuum = self.conn.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
        // Each row gives back one page.
        let mut rows = vacuum.query([])?;
        while rows.next()?.is_some() {}
        drop(rows);
        Ok(self.room()?.free < room.free)
    }
}
