//! A backend in memory, for tests and the demo. Clones share one log, so a test can "reopen" it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flightdeck_core::assignment::transition::Completion;
use flightdeck_core::assignment::{Messages, TimeSpan};
use flightdeck_core::effort::{ContextWindow, Effort, EffortMessage};
use flightdeck_core::ids::{AssignmentId, EffortId, MessageId, SessionId, WindowId};
use flightdeck_core::log::record::{EventId, Record, Verbatim};
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::enrichment::CountedMessage;
use serde_json::Map;

use super::counts::StoredCounts;
use super::{
    Appended, AssignmentCursor, AssignmentPage, Assignments, AssignmentsWanted, COUNT_SPAN, CompletedCount,
    EffortPage, EffortStore, EffortsWanted, EventLog, EventsNamed, EventsOf, FileRead, FleetSnapshot,
    HostState, HostStates, MessageRow, MessagesWanted, Oldest, OutboxEffect, OutboxKey, OutboxRows,
    OutboxStore, PAGE_ITEMS_MAX, PageFrom, PastSessions, ProjectTime, RecordPage, Result, RetainStep,
    RetentionPolicy, SLICE_EVENTS_MAX, SNAPSHOTS_KEPT, SaveStep, SessionCursor, SessionPage, SessionRead,
    SessionStretch, SessionUsage, Snapshots, StoredSession, StoredWorkstream, Title, TranscriptBatch,
    Transcripts,
};

/// The size of an event without its payload. A guess, so that retention by size works here too.
const EVENT_OVERHEAD_BYTES: u64 = 200;

#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<MemoryTables>>);

#[derive(Debug, Default)]
struct MemoryTables {
    log: BTreeMap<u64, (Record, u64)>,
    ids: HashMap<EventId, u64>,
    bytes: u64,
    last_seq: u64,
    counts: StoredCounts,
    snapshots: Vec<FleetSnapshot>,
    sessions: BTreeMap<SessionId, StoredSession>,
    assignments: BTreeMap<AssignmentId, SessionAssignment>,
    efforts: BTreeMap<EffortId, Effort>,
    windows: BTreeMap<WindowId, ContextWindow>,
    messages: BTreeMap<MessageId, MessageRow>,
    outbox: BTreeMap<OutboxKey, OutboxBody>,
    outbox_horizon: u64,
    transcripts: BTreeMap<SessionId, TranscriptBatch>,
    host_states: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
struct OutboxBody {
    body: String,
    done: bool,
}

impl Memory {
    fn data(&self) -> MutexGuard<'_, MemoryTables> {
        // No code below leaves the data half changed, so a poisoned lock can be used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryTables {
    fn push(&mut self, record: &Record) -> Appended {
        if let Some(&seq) = self.ids.get(&record.id) {
            return Appended { seq, duplicate: true };
        }
        self.last_seq += 1;
        let bytes = event_bytes(record);
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

    /// As in the SQLite backend: an effect that was carried out stays until every kept snapshot holds its event.
    fn remove_done_effects(&mut self) {
        let oldest = self.snapshots.iter().map(|s| s.seq).min().unwrap_or(0);
        let horizon = self.outbox_horizon.max(oldest);
        self.outbox_horizon = horizon;
        self.outbox.retain(|key, effect| !(effect.done && key.seq < horizon));
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
        Title::replace_if_better(&mut old.session.title, new.session.title.clone());
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

fn put_counted(all: &mut Vec<CountedMessage>, new: &CountedMessage) {
    match all.iter_mut().find(|c| c.key == new.key) {
        Some(old) if new.at >= old.at => *old = new.clone(),
        Some(_) => {}
        None => all.push(new.clone()),
    }
}

fn event_bytes(record: &Record) -> u64 {
    let payload = serde_json::to_vec(&record.payload).map_or(0, |json| json.len() as u64);
    EVENT_OVERHEAD_BYTES + payload
}

fn page<'a>(mut records: impl Iterator<Item = &'a Record>, limit: usize) -> RecordPage {
    let taken: Vec<_> = records.by_ref().take(limit).cloned().collect();
    let next = records.next().and_then(|_| taken.last()).map(|r| r.seq);
    RecordPage { records: taken, next, unreadable: 0 }
}

impl EventLog for Memory {
    fn append(&mut self, records: &[Record]) -> Result<Vec<Appended>> {
        let mut data = self.data();
        let appended: Vec<_> = records.iter().map(|r| data.push(r)).collect();
        let added = data.counts.count_batch(records, &appended);
        data.counts.add(added);
        Ok(appended)
    }

    fn events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        let data = self.data();
        Ok(page(data.log.range(after_seq.saturating_add(1)..).map(|(_, (r, _))| r), limit))
    }

    fn own_events_after(&mut self, after_seq: u64, limit: usize) -> Result<RecordPage> {
        let data = self.data();
        let later = data.log.range(after_seq.saturating_add(1)..).map(|(_, (r, _))| r);
        Ok(page(later.filter(|record| record.host.is_this()), limit))
    }

    fn count_own_events(&mut self, after_seq: u64, to_seq: u64) -> Result<u64> {
        let data = self.data();
        let between = data.log.iter().filter(|(seq, _)| **seq > after_seq && **seq <= to_seq);
        Ok(between.filter(|(_, (record, _))| record.host.is_this()).count() as u64)
    }

    fn events_of(&mut self, wanted: &EventsOf) -> Result<RecordPage> {
        let data = self.data();
        let of_session = |r: &&Record| r.session_id().is_some_and(|id| *id == wanted.session_id);
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

    fn events_named(&mut self, wanted: EventsNamed) -> Result<RecordPage> {
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

impl Snapshots for Memory {
    fn save_step(&mut self, snapshot: &FleetSnapshot) -> Result<SaveStep> {
        let mut data = self.data();
        data.snapshots.insert(0, snapshot.clone());
        data.snapshots.truncate(SNAPSHOTS_KEPT);
        data.remove_done_effects();
        Ok(SaveStep::Done)
    }

    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<FleetSnapshot>> {
        Ok(self.data().snapshots.iter().find(|s| s.rules_version == rules_version).cloned())
    }
}

impl PastSessions for Memory {
    fn put_sessions(&mut self, sessions: &[StoredSession]) -> Result<()> {
        self.data().sessions.extend(sessions.iter().map(|s| (s.id.clone(), s.clone())));
        Ok(())
    }

    fn stored_sessions(&mut self, before: Option<&SessionCursor>, limit: usize) -> Result<SessionPage> {
        let data = self.data();
        let mut sessions: Vec<_> = data.sessions.values().map(|s| (s.cursor(), s)).collect();
        sessions.sort_by(|a, b| b.0.cmp(&a.0));
        let earlier = sessions.into_iter().filter(|(cursor, _)| before.is_none_or(|b| cursor < b));
        Ok(SessionPage::from_rows(
            earlier.map(|(_, s)| s.clone()).take(limit.saturating_add(1)).collect(),
            limit,
        ))
    }

    fn stored_session(&mut self, id: &SessionId) -> Result<Option<StoredSession>> {
        Ok(self.data().sessions.get(id).cloned())
    }
}

impl Assignments for Memory {
    fn put_assignments(&mut self, rows: &[SessionAssignment]) -> Result<()> {
        let mut data = self.data();
        for row in rows {
            let (id, at) = (&row.assignment.id, row.assignment.opened_at);
            let is_before = |other: &&SessionAssignment| {
                let (other_id, a) = (&other.assignment.id, &other.assignment);
                other.session_id == row.session_id && other_id != id && a.opened_at < at
            };
            let before = data.assignments.values().filter(is_before).max_by_key(|a| a.assignment.opened_at);
            let begins_inside = before.and_then(|a| a.assignment.completed_at).is_some_and(|end| end > at);
            if !begins_inside {
                data.assignments.insert(id.clone(), row.clone());
            }
        }
        Ok(())
    }

    fn assignments(&mut self, wanted: &AssignmentsWanted) -> Result<AssignmentPage> {
        let data = self.data();
        let mut rows: Vec<_> = data.assignments.values().filter(|row| wanted.matches(row)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(AssignmentCursor::from_row(row)));
        let before = |row: &&SessionAssignment| {
            wanted.before.as_ref().is_none_or(|before| AssignmentCursor::from_row(row) < *before)
        };
        let rows = rows.into_iter().filter(before).take(wanted.limit.saturating_add(1));
        Ok(AssignmentPage::from_rows(rows.map(without_messages).collect(), wanted.limit))
    }

    fn assignment(&mut self, id: &AssignmentId) -> Result<Option<SessionAssignment>> {
        Ok(self.data().assignments.get(id).map(without_messages))
    }

    fn messages_of(&mut self, id: &AssignmentId) -> Result<Option<Messages>> {
        Ok(self.data().assignments.get(id).map(|row| row.assignment.messages.clone()))
    }

    fn completed_counts(&mut self, since: Timestamp) -> Result<Vec<CompletedCount>> {
        let data = self.data();
        let mut counts: BTreeMap<(String, i64), CompletedCount> = BTreeMap::new();
        for SessionAssignment { project, assignment: a, .. } in data.assignments.values() {
            let Some(at) = a.completed_at.filter(|at| *at >= since) else { continue };
            let span = at.as_millis() / COUNT_SPAN.0;
            let count = counts.entry((project.name().to_owned(), span)).or_default();
            count.project = project.name().to_owned();
            count.from = Timestamp::from_millis(span * COUNT_SPAN.0);
            count.completed += u64::from(a.outcome == Some(Completion::Completed));
            count.ended += u64::from(a.outcome == Some(Completion::Ended));
            count.died += u64::from(a.outcome == Some(Completion::Died));
        }
        Ok(counts.into_values().collect())
    }

    fn assignment_times(&mut self, since: Timestamp) -> Result<Vec<ProjectTime>> {
        let data = self.data();
        let times = data.assignments.values().flat_map(|row| {
            let time = |span: &TimeSpan| ProjectTime { project: row.project.name().to_owned(), span: *span };
            row.assignment.spans.iter().filter(|span| span.to > since).map(time)
        });
        let mut times: Vec<_> = times.collect();
        times.sort_by_key(|time| time.span.to);
        Ok(times)
    }
}

fn without_messages(row: &SessionAssignment) -> SessionAssignment {
    let mut row = row.clone();
    row.assignment.messages = row.assignment.messages.emptied();
    row
}

impl EffortStore for Memory {
    fn put_efforts(&mut self, rows: &[Effort]) -> Result<()> {
        let mut data = self.data();
        for row in rows {
            if data.efforts.get(&row.id).is_none_or(|known| known.seq <= row.seq) {
                data.efforts.insert(row.id.clone(), row.clone());
                data.windows.extend(row.windows.iter().map(|window| (window.id.clone(), window.clone())));
            }
        }
        Ok(())
    }

    fn put_effort_messages(&mut self, rows: &[MessageRow]) -> Result<()> {
        self.data().messages.extend(rows.iter().map(|row| (row.message.id.clone(), row.clone())));
        Ok(())
    }

    fn efforts(&mut self, wanted: &EffortsWanted) -> Result<EffortPage> {
        Ok(EffortPage::of(self.data().efforts.values(), wanted))
    }

    fn effort(&mut self, id: &EffortId) -> Result<Option<Effort>> {
        Ok(self.data().efforts.get(id).cloned())
    }

    fn window(&mut self, id: &WindowId) -> Result<Option<ContextWindow>> {
        Ok(self.data().windows.get(id).cloned())
    }

    fn workstreams(&mut self, limit: usize) -> Result<Vec<StoredWorkstream>> {
        let data = self.data();
        let mut newest: BTreeMap<&str, &Effort> = BTreeMap::new();
        for effort in data.efforts.values() {
            let known = newest.entry(&effort.workstream).or_insert(effort);
            if known.ordinal < effort.ordinal {
                *known = effort;
            }
        }
        let stored = newest.into_iter().take(limit).map(|(dir, effort)| StoredWorkstream {
            dir: dir.to_owned(),
            ordinal: effort.ordinal,
            about: effort.about.clone(),
        });
        Ok(stored.collect())
    }

    fn effort_messages(&mut self, wanted: &MessagesWanted) -> Result<Vec<EffortMessage>> {
        let data = self.data();
        let before = wanted.before.as_ref().and_then(|id| data.messages.get(id));
        let before = before.map(|row| (row.message.at, row.message.id.clone()));
        let of_kind = |row: &&MessageRow| wanted.kind.as_ref().is_none_or(|kind| *kind == row.message.kind);
        let mut rows: Vec<_> = data
            .messages
            .values()
            .filter(|row| row.effort == wanted.effort)
            .filter(of_kind)
            .map(|row| row.message.clone())
            .filter(|message| before.as_ref().is_none_or(|before| (message.at, message.id.clone()) < *before))
            .collect();
        rows.sort_by_key(|message| (message.at, message.id.clone()));
        Ok(rows.split_off(rows.len().saturating_sub(wanted.limit)))
    }
}

impl OutboxStore for Memory {
    fn put_outbox(&mut self, effects: &[OutboxEffect]) -> Result<()> {
        let mut data = self.data();
        let horizon = data.outbox_horizon;
        for OutboxEffect { key, body, .. } in effects.iter().filter(|e| e.repeatable || e.key.seq >= horizon)
        {
            let new = || OutboxBody { body: body.clone(), done: false };
            data.outbox.entry(key.clone()).or_insert_with(new);
        }
        Ok(())
    }

    fn outbox(&mut self) -> Result<Vec<OutboxEffect>> {
        let data = self.data();
        let waiting = data.outbox.iter().filter(|(_, effect)| !effect.done);
        let effect = |(key, effect): (&OutboxKey, &OutboxBody)| OutboxEffect {
            key: key.clone(),
            body: effect.body.clone(),
            repeatable: true,
        };
        Ok(waiting.map(effect).collect())
    }

    fn finish_outbox(&mut self, done: &[OutboxKey], rows: &OutboxRows) -> Result<()> {
        self.put_sessions(&rows.sessions)?;
        self.put_assignments(&rows.assignments)?;
        self.put_efforts(&rows.efforts)?;
        self.put_effort_messages(&rows.messages)?;
        let mut data = self.data();
        for key in done {
            if let Some(effect) = data.outbox.get_mut(key) {
                effect.done = true;
            }
        }
        Ok(())
    }
}

impl HostStates for Memory {
    fn put_host_states(&mut self, rows: &[HostState]) -> Result<()> {
        let rows = rows.iter().map(|HostState { name, body }| (name.clone(), body.clone()));
        self.data().host_states.extend(rows);
        Ok(())
    }

    fn host_states(&mut self) -> Result<BTreeMap<String, String>> {
        Ok(self.data().host_states.clone())
    }
}

impl Transcripts for Memory {
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

    fn transcript(&mut self, session_id: &SessionId) -> Result<Option<TranscriptBatch>> {
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

    fn usage_between(&mut self, stretches: &[SessionStretch]) -> Result<Vec<Option<Vec<CountedMessage>>>> {
        let data = self.data();
        let between = |SessionStretch { session_id, from, to }: &SessionStretch| {
            let counted = &data.transcripts.get(session_id)?.counted;
            Some(counted.iter().filter(|c| *from <= c.at && c.at < *to).cloned().collect())
        };
        Ok(stretches.iter().map(between).collect())
    }

    fn usage_of(&mut self, sessions: &[SessionId]) -> Result<Vec<SessionUsage>> {
        let data = self.data();
        let usage = |id: &SessionId| SessionUsage {
            session_id: id.clone(),
            counted: data.transcripts.get(id).map(|t| t.counted.clone()).unwrap_or_default(),
        };
        Ok(sessions.iter().map(usage).collect())
    }
}

fn end_of_step(removed: u64, held_back: bool) -> RetainStep {
    if removed > 0 { RetainStep::More { removed } } else { RetainStep::Done { held_back } }
}
