//! A store that forgets at the end: for tests and the demo. Clones share one log, so a test can "reopen" it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flightdeck_core::enrichment::Counted;
use flightdeck_core::record::{EventId, Record, Verbatim};
use flightdeck_core::time::Timestamp;
use serde_json::Map;

use super::backend::{Backend, Counts, RetainStep, SaveStep};
use super::{
    Appended, EventPage, EventsNamed, EventsOf, FileRead, Oldest, PAGE_ITEMS_MAX, PageFrom, Result,
    RetentionPolicy, SLICE_EVENTS_MAX, SNAPSHOTS_KEPT, SessionCursor, SessionPage, SessionRead, SessionUsage,
    Snapshot, StoredSession, Title, TranscriptBatch,
};

/// What an event weighs beside its texts: a guess, so that retention by size means something here too.
const EVENT_OVERHEAD_BYTES: u64 = 200;

#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Data>>);

#[derive(Debug, Default)]
struct Data {
    log: BTreeMap<u64, (Record, u64)>,
    ids: HashMap<EventId, u64>,
    bytes: u64,
    last_seq: u64,
    counts: Counts,
    snapshots: Vec<Snapshot>,
    sessions: BTreeMap<String, StoredSession>,
    transcripts: BTreeMap<String, TranscriptBatch>,
}

impl Memory {
    fn data(&self) -> MutexGuard<'_, Data> {
        // Nothing below can leave the data half changed, so a poisoned lock is as good as a clean one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Data {
    fn push(&mut self, record: &Record) -> Appended {
        if let Some(&seq) = self.ids.get(&record.id) {
            return Appended { seq, duplicate: true };
        }
        self.last_seq += 1;
        let bytes = weight(record);
        self.bytes += bytes;
        self.ids.insert(record.id, self.last_seq);
        let mut record = Record { seq: self.last_seq, ..record.clone() };
        record.verbatim = Verbatim::default();
        self.log.insert(self.last_seq, (record, bytes));
        Appended { seq: self.last_seq, duplicate: false }
    }

    fn remove(&mut self, seq: u64) {
        if let Some((record, bytes)) = self.log.remove(&seq) {
            self.ids.remove(&record.id);
            self.bytes -= bytes;
        }
    }

    fn put_transcript(&mut self, new: &TranscriptBatch) {
        let id = &new.session.session_id;
        if new.anew {
            self.transcripts.remove(id);
        }
        let Some(old) = self.transcripts.get_mut(id) else {
            let mut first = TranscriptBatch { anew: false, counted: Vec::new(), ..new.clone() };
            new.counted.iter().for_each(|c| put_counted(&mut first.counted, c));
            self.transcripts.insert(id.clone(), first);
            return;
        };
        old.session.cwd = old.session.cwd.take().or_else(|| new.session.cwd.clone());
        Title::keep(&mut old.session.title, new.session.title.clone());
        old.session.first_at = old.session.first_at.min(new.session.first_at);
        old.session.born_at = old.session.born_at.min(new.session.born_at);
        old.session.last_at = old.session.last_at.max(new.session.last_at);
        old.known.clone_from(&new.known);
        for file in &new.files {
            old.files.retain(|f| f.path != file.path);
            old.files.push(file.clone());
        }
        new.counted.iter().for_each(|c| put_counted(&mut old.counted, c));
    }

    fn keep_after(&self, policy: &RetentionPolicy) -> u64 {
        let snapshots = self.snapshots.iter().map(|s| s.seq);
        snapshots.chain([policy.keep_after_seq, self.last_seq.saturating_sub(1)]).min().unwrap_or(0)
    }
}

fn put_counted(all: &mut Vec<Counted>, new: &Counted) {
    match all.iter_mut().find(|c| c.key == new.key) {
        Some(old) if new.at >= old.at => *old = new.clone(),
        Some(_) => {}
        None => all.push(new.clone()),
    }
}

fn weight(record: &Record) -> u64 {
    let payload = serde_json::to_vec(&record.payload).map_or(0, |json| json.len() as u64);
    EVENT_OVERHEAD_BYTES + payload
}

fn page<'a>(mut records: impl Iterator<Item = &'a Record>, limit: usize) -> EventPage {
    let taken: Vec<_> = records.by_ref().take(limit).cloned().collect();
    let next = records.next().and_then(|_| taken.last()).map(|r| r.seq);
    EventPage { records: taken, next, unreadable: 0 }
}

impl Backend for Memory {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let mut data = self.data();
        let appended: Vec<_> = records.iter().map(|r| data.push(r)).collect();
        let added = data.counts.of_batch(records, &appended);
        data.counts.add(added);
        Ok(appended)
    }

    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<EventPage> {
        let data = self.data();
        Ok(page(data.log.range(after_seq.saturating_add(1)..).map(|(_, (r, _))| r), limit))
    }

    fn events_of(&mut self, wanted: &EventsOf) -> Result<EventPage> {
        let data = self.data();
        let of_session = |r: &&Record| r.session_id == wanted.session_id;
        let mut page = match wanted.from {
            PageFrom::After(seq) => {
                let later = data.log.range(seq.saturating_add(1)..).map(|(_, (r, _))| r);
                page(later.filter(of_session), wanted.limit)
            }
            PageFrom::Before(seq) => {
                let earlier = data.log.range(..seq).rev().map(|(_, (r, _))| r);
                let mut page = page(earlier.filter(of_session), wanted.limit);
                page.records.reverse();
                page
            }
        };
        if !wanted.with_payload {
            page.records.iter_mut().for_each(|r| r.payload = Map::new());
        }
        Ok(page)
    }

    fn events_named(&mut self, wanted: EventsNamed) -> Result<EventPage> {
        let data = self.data();
        let later = data.log.range(wanted.after_seq.saturating_add(1)..).map(|(_, (r, _))| r);
        Ok(page(later.filter(|r| wanted.names.contains(&r.name.as_str())), PAGE_ITEMS_MAX))
    }

    fn event(&mut self, seq: u64) -> Result<Option<Record>> {
        Ok(self.data().log.get(&seq).map(|(r, _)| r.clone()))
    }

    fn last_seq(&mut self) -> Result<u64> {
        Ok(self.data().last_seq)
    }

    fn oldest(&mut self) -> Result<Option<Oldest>> {
        let data = self.data();
        Ok(data.log.first_key_value().map(|(&seq, (r, _))| Oldest { seq, received_at: r.received_at }))
    }

    fn counts_by_name(&mut self) -> Result<BTreeMap<String, u64>> {
        Ok(self.data().counts.0.clone())
    }

    fn size_bytes(&mut self) -> Result<u64> {
        Ok(self.data().bytes)
    }

    fn save_step(&mut self, snapshot: &Snapshot) -> Result<SaveStep> {
        let mut data = self.data();
        data.snapshots.insert(0, snapshot.clone());
        data.snapshots.truncate(SNAPSHOTS_KEPT);
        Ok(SaveStep::Done)
    }

    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<Snapshot>> {
        Ok(self.data().snapshots.iter().find(|s| s.rules_version == rules_version).cloned())
    }

    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.data().sessions.extend(sessions.iter().map(|s| (s.id.clone(), s.clone())));
        Ok(())
    }

    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        let data = self.data();
        let mut sessions: Vec<_> = data.sessions.values().map(|s| (s.cursor(), s)).collect();
        sessions.sort_by(|a, b| b.0.cmp(&a.0));
        let earlier = sessions.into_iter().filter(|(cursor, _)| before.is_none_or(|b| cursor < b));
        Ok(SessionPage::cut(earlier.map(|(_, s)| s.clone()).take(limit.saturating_add(1)).collect(), limit))
    }

    fn stored_session(&mut self, id: &str) -> Result<Option<StoredSession>> {
        Ok(self.data().sessions.get(id).cloned())
    }

    fn put_transcripts(&mut self, batches: &[TranscriptBatch]) -> Result<()> {
        let mut data = self.data();
        for batch in batches {
            data.put_transcript(batch);
        }
        Ok(())
    }

    fn transcript_files(&mut self) -> Result<Vec<FileRead>> {
        Ok(self.data().transcripts.values().flat_map(|t| t.files.clone()).collect())
    }

    fn transcript(&mut self, session_id: &str) -> Result<Option<TranscriptBatch>> {
        Ok(self.data().transcripts.get(session_id).cloned())
    }

    fn transcript_sessions(&mut self, since: Timestamp) -> Result<Vec<SessionRead>> {
        let data = self.data();
        let all = data.transcripts.values().map(|t| &t.session);
        let mut sessions: Vec<_> = all.filter(|s| s.last_at >= since).cloned().collect();
        sessions.sort_by(|a, b| {
            (a.first_at, a.born_at, &a.session_id).cmp(&(b.first_at, b.born_at, &b.session_id))
        });
        Ok(sessions)
    }

    fn usage_of(&mut self, sessions: &[String]) -> Result<Vec<SessionUsage>> {
        let data = self.data();
        let usage = |id: &String| SessionUsage {
            session_id: id.clone(),
            counted: data.transcripts.get(id).map(|t| t.counted.clone()).unwrap_or_default(),
        };
        Ok(sessions.iter().map(usage).collect())
    }

    fn retain_step(&mut self, now: Timestamp, policy: &RetentionPolicy) -> Result<RetainStep> {
        let mut data = self.data();
        let (cutoff, keep_after) = (now - policy.max_age, data.keep_after(policy));
        for removed in 0..SLICE_EVENTS_MAX as u64 {
            let over = data.bytes > policy.max_bytes;
            let first = data.log.first_key_value().map(|(&seq, (r, _))| (seq, r.received_at));
            let Some((seq, _)) = first.filter(|&(_, at)| over || at < cutoff) else {
                return Ok(end_of_step(removed, false));
            };
            if seq > keep_after {
                return Ok(end_of_step(removed, seq < data.last_seq));
            }
            data.remove(seq);
        }
        Ok(RetainStep::More { removed: SLICE_EVENTS_MAX as u64 })
    }
}

fn end_of_step(removed: u64, held_back: bool) -> RetainStep {
    if removed > 0 { RetainStep::More { removed } } else { RetainStep::Done { held_back } }
}
