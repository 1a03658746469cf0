//! Brings the fleet back after a start: the newest snapshot, and the log after it.

use std::collections::BTreeMap;

use flightdeck_core::assignment::intent;
use flightdeck_core::effort::Lifecycle;
use flightdeck_core::fleet::{Effect, Fleet};
use flightdeck_core::ids::SessionId;
use flightdeck_core::limits::{
    EFFORTS_MAX, ENDED_IDS_MAX, FINISHED_EFFORTS_MAX, NOTE_LIVES, WORKSTREAMS_MAX,
};
use flightdeck_core::log::event::Event;
use flightdeck_core::notify::Note;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::usage::enrichment::{Enrichment, Summary};
use flightdeck_core::usage::price::PriceTable;

use super::effects::CausedEffect;
use super::{Outbox, effects, outbox, snapshots};
use crate::store::{EffortsWanted, RecordPage, Store, StoreError};

/// Events between two log messages about a long replay: a second or two.
const PROGRESS_EVERY_EVENTS: u64 = 100_000;

/// The fleet, and how it was restored: for the log and `status`.
#[derive(Debug)]
pub struct Restored {
    pub fleet: Fleet,
    pub from_snapshot: bool,
    pub replayed: u64,
    pub unreadable: u64,
    /// Effects that could not be carried out, for [`super::EngineParts`].
    pub outbox: Outbox,
}

/// Restores the fleet from the newest snapshot of these settings and the log after it. Without a snapshot, from the whole log.
pub async fn restore(store: &Store, settings: FoldSettings) -> Result<Restored, StoreError> {
    restore_with(store, settings, PriceTable::shipped(), Outbox::default()).await
}

/// Restores the fleet as [`restore`] does. `prices` are used for the rows of past sessions that the replay writes, and `outbox`
/// takes the effects of the replay.
pub async fn restore_with(
    store: &Store,
    settings: FoldSettings,
    prices: &PriceTable,
    outbox: Outbox,
) -> Result<Restored, StoreError> {
    prepare_intents();
    let (fleet, from_snapshot) = newest_snapshot_or_empty(store, settings).await?;
    replay(store, fleet, from_snapshot, prices, outbox).await
}

/// Builds the patterns of the intent detector in a thread, because that takes some tenths of a second. If a message is read before the
/// thread is done, only the patterns for that message are built first.
fn prepare_intents() {
    let spawned = std::thread::Builder::new().name("intents".to_owned()).spawn(intent::prepare);
    if let Err(error) = spawned {
        tracing::warn!(%error, "could not start a thread for the intent detector; the first messages are read slowly");
    }
}

/// The fleet to replay the log into, and whether it is from a snapshot of these settings.
pub(super) async fn newest_snapshot_or_empty(
    store: &Store,
    settings: FoldSettings,
) -> Result<(Fleet, bool), StoreError> {
    let snapshot = store.latest_snapshot(&settings.fold_version()).await?;
    let known = snapshot.as_ref().and_then(|s| match snapshots::unpack(&s.body.joined()) {
        Ok(fleet) => Some(fleet.with_settings(settings.clone())),
        Err(error) => {
            tracing::warn!(%error, seq = s.seq, "a snapshot cannot be read; the log is replayed instead");
            None
        }
    });
    drop(snapshot);
    match known {
        Some(fleet) => Ok((fleet, true)),
        None => Ok((empty_fleet(store, settings).await?, false)),
    }
}

/// An empty fleet that knows which sessions ended before the log begins: a late hook must not bring them back. All other
/// sessions follow from the log.
async fn empty_fleet(store: &Store, settings: FoldSettings) -> Result<Fleet, StoreError> {
    let mut fleet = Fleet::new(settings);
    let log_begins = match store.oldest().await? {
        Some(oldest) if oldest.seq == 1 => return Ok(fleet),
        oldest => oldest.map(|o| o.received_at),
    };
    let (mut before, mut known) = (None, 0);
    while known < ENDED_IDS_MAX {
        let page = store.stored_sessions(before, ENDED_IDS_MAX - known).await?;
        known += page.sessions.len();
        for session in page.sessions {
            if let Some(ended) = session.ended_at
                && log_begins.is_none_or(|begins| session.started_at < begins)
            {
                fleet.remember_ended(session.id, ended);
            }
        }
        before = page.next_before;
        if before.is_none() {
            break;
        }
    }
    remember_efforts(store, &mut fleet).await?;
    Ok(fleet)
}

/// Loads the stored efforts, which may outlive their events in the log. Each ignores the events that it already contains.
async fn remember_efforts(store: &Store, fleet: &mut Fleet) -> Result<(), StoreError> {
    for workstream in store.workstreams(WORKSTREAMS_MAX).await? {
        fleet.remember_workstream(workstream.dir, workstream.ordinal, workstream.about);
    }
    let finished = EffortsWanted {
        lifecycle: Some(Lifecycle::Finished),
        limit: FINISHED_EFFORTS_MAX,
        ..EffortsWanted::default()
    };
    let active =
        EffortsWanted { lifecycle: Some(Lifecycle::Active), limit: EFFORTS_MAX, ..EffortsWanted::default() };
    for wanted in [finished, active] {
        store
            .efforts(wanted)
            .await?
            .efforts
            .into_iter()
            .rev()
            .for_each(|effort| fleet.remember_effort(effort));
    }
    Ok(())
}

async fn replay(
    store: &Store,
    mut fleet: Fleet,
    from_snapshot: bool,
    prices: &PriceTable,
    mut outbox: Outbox,
) -> Result<Restored, StoreError> {
    let mut pages = store.replay(fleet.last_seq()).await?;
    let (mut replayed, mut unreadable, mut notes) = (0, 0, Vec::new());
    while let Some(page) = pages.next().await? {
        unreadable += page.unreadable;
        replayed += page.records.len() as u64;
        notes.extend(apply_page(store, prices, &mut fleet, &mut outbox, &page).await?);
        outbox.flush_if_due(store).await;
        // The note of an old event is of no use, and a replay of the whole log makes very many of them.
        notes.retain(|(_, note)| note.at + NOTE_LIVES > fleet.now());
        if replayed % PROGRESS_EVERY_EVENTS < page.records.len() as u64 {
            tracing::info!(replayed, "replaying the event log");
        }
    }
    notes.iter().for_each(|(seq, note)| outbox.add_note(*seq, note));
    outbox.recover(store).await?;
    Ok(Restored { fleet, from_snapshot, replayed, unreadable, outbox })
}

/// Applies the events of a page. Only effects of the outbox may have been lost with the last daemon: the rows of sessions that
/// left the board and of completed assignments are added to it, and the notes are returned.
pub(super) async fn apply_page(
    store: &Store,
    prices: &PriceTable,
    fleet: &mut Fleet,
    outbox: &mut Outbox,
    page: &RecordPage,
) -> Result<Vec<(u64, Note)>, StoreError> {
    let (mut forgotten, mut notes, mut efforts) = (Vec::new(), Vec::new(), BTreeMap::new());
    for record in &page.records {
        for caused in effects::apply(fleet, &Event::from_record(record)) {
            let row = outbox::final_assignment(&caused.effect);
            outbox.add(row.and_then(|row| outbox::assignment_row(caused.seq, row)));
            match caused.effect {
                Effect::Forgotten(_) => forgotten.push(caused),
                Effect::Notify(note) => notes.push((caused.seq, note)),
                Effect::EffortChanged { id, numbers_only: false } => _ = efforts.insert(id, caused.seq),
                Effect::EffortMessage(id, message) => {
                    outbox.add(outbox::effort_message_row(caused.seq, &id, &message));
                }
                _ => {}
            }
        }
    }
    let changed = efforts.iter().filter_map(|(id, seq)| outbox::effort_row(*seq, fleet.effort(id)?));
    outbox.add(changed.collect::<Vec<_>>());
    queue_past_sessions(store, prices, fleet, outbox, forgotten).await?;
    Ok(notes)
}

/// Adds the rows of sessions that left the board to the outbox.
pub(super) async fn queue_past_sessions(
    store: &Store,
    prices: &PriceTable,
    fleet: &Fleet,
    outbox: &mut Outbox,
    caused: impl IntoIterator<Item = CausedEffect>,
) -> Result<(), StoreError> {
    for CausedEffect { seq, effect } in caused {
        let Effect::Forgotten(mut session) = effect else { continue };
        session.enrichment = summary_before_restart(store, &session.id, prices).await?.map(Box::new);
        // No timer has set this mark, because only sessions with transcript data have timers for the cache.
        session.cache_is_cold = session.cache_expires_at().is_some_and(|expires| expires <= fleet.now());
        outbox.add(outbox::past_session_row(seq, &session, fleet.settings()));
    }
    Ok(())
}

/// What was read of the session's transcripts before the restart. Transcripts of a session that left the board are not read again.
async fn summary_before_restart(
    store: &Store,
    id: &SessionId,
    prices: &PriceTable,
) -> Result<Option<Summary>, StoreError> {
    let Some(read) = store.transcript(id).await? else { return Ok(None) };
    let whole = read.known.as_deref().and_then(|json| serde_json::from_str(json).ok());
    Ok(Some(Summary::with_prices(whole.unwrap_or_else(|| Enrichment::from_counted(&read.counted)), prices)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::hook_at;
    use super::*;
    use crate::store::{PAGE_ITEMS_MAX, RetentionPolicy, SessionRead, StoredSession, TranscriptBatch};
    use flightdeck_core::ids::{AgentId, EffortId};
    use flightdeck_core::log::record::{EventId, Record, Source};
    use flightdeck_core::log::subject::Subject;
    use flightdeck_core::time::{Millis, Timestamp};
    use flightdeck_core::usage::enrichment::CountedMessage;
    use flightdeck_core::usage::price::Usage;
    use flightdeck_core::wire::billed_usage::MessageKey;

    fn stored(n: usize) -> StoredSession {
        let at = Timestamp::from_millis(n as i64);
        let (id, card) = (format!("s{n}").into(), "{}".to_owned());
        StoredSession {
            id,
            project: None,
            title: None,
            started_at: at,
            last_activity_at: at,
            ended_at: Some(at),
            card,
        }
    }

    #[tokio::test]
    async fn every_ended_session_is_remembered_over_any_number_of_pages() {
        let store = Store::in_memory().unwrap();
        let count = 2 * PAGE_ITEMS_MAX + 1;
        store.put_sessions((0..count).map(stored).collect()).await.unwrap();
        let fleet =
            serde_json::to_value(empty_fleet(&store, FoldSettings::default()).await.unwrap()).unwrap();
        assert_eq!(fleet["ended"].as_object().unwrap().len(), count);
    }

    #[tokio::test]
    async fn without_the_beginning_of_the_log_only_sessions_that_ended_before_it_are_remembered() {
        let store = Store::in_memory().unwrap();
        let hour = Millis::hours(1).0;
        store
            .append(vec![hook_at("UserPromptSubmit", 0), hook_at("UserPromptSubmit", 10 * hour)])
            .await
            .unwrap();
        let sessions = [
            StoredSession { id: "before".into(), ..stored(0) },
            StoredSession { id: "made room".into(), ended_at: None, ..stored(0) },
            StoredSession { id: "in the log".into(), ..stored(11 * hour as usize) },
        ];
        store.put_sessions(sessions.into()).await.unwrap();
        let remembered = async || {
            let fleet = empty_fleet(&store, FoldSettings::default()).await.unwrap();
            let fleet = serde_json::to_value(fleet).unwrap();
            fleet["ended"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(remembered().await, Vec::<String>::new(), "the log is whole");
        let policy =
            RetentionPolicy { max_age: Millis(hour), keep_after_seq: 1, ..RetentionPolicy::default() };
        store.retain(Timestamp::from_millis(10 * hour), policy).await.unwrap();
        assert_eq!(store.oldest().await.unwrap().unwrap().seq, 2);
        assert_eq!(remembered().await, ["before"]);
    }

    #[tokio::test]
    async fn a_row_that_is_written_during_a_replay_has_its_numbers() {
        let store = Store::in_memory().unwrap();
        let later = FoldSettings::default().done_keeps.0 + 60_000;
        let records =
            vec![hook_at("UserPromptSubmit", 1), hook_at("SessionEnd", 2), hook_at("SessionStart", later)];
        let records: Vec<_> = records
            .into_iter()
            .enumerate()
            .map(|(n, mut record)| {
                if n == 2 {
                    record.subject = SessionId::from("other").into();
                }
                record
            })
            .collect();
        store.append(records).await.unwrap();
        let usage = Usage { output: 1000, ..Usage::default() };
        let (key, at) = (MessageKey(7), Timestamp::from_millis(1));
        let counted =
            CountedMessage { key, model: "claude-opus-5-5".to_owned(), agent: AgentId::default(), at, usage };
        let session = SessionRead { session_id: "s".into(), ..SessionRead::default() };
        let batch =
            TranscriptBatch { anew: true, session, files: Vec::new(), known: None, counted: vec![counted] };
        store.put_transcripts(vec![batch]).await.unwrap();
        restore(&store, FoldSettings::default()).await.unwrap();
        let kept = store.stored_sessions(None, 10).await.unwrap().sessions;
        let card: serde_json::Value = serde_json::from_str(&kept[0].card).unwrap();
        assert_eq!((&card["id"], &card["cost"]["usd_micros"]), (&"s".into(), &20_000.into()), "{card:#}");
    }

    #[tokio::test]
    async fn a_workstream_whose_efforts_left_the_log_and_the_fleet_goes_on_with_its_numbers() {
        let store = Store::in_memory().unwrap();
        let change = |n: usize, effort: usize, name: &str, payload: serde_json::Value| {
            let subject = Subject::Effort(EffortId::new(format!("e-{}", EventId(effort as u128 + 1))));
            let payload = payload.as_object().cloned().unwrap_or_default();
            let mut record =
                Record::noticed_here(Source::User, name, subject, payload, EventId(n as u128 + 1));
            record.received_at = Timestamp::from_millis(n as i64 + 1);
            record.fired_at = record.received_at;
            record
        };
        // One in the old directory, and then so many in another one that the fleet forgets it.
        let count = FINISHED_EFFORTS_MAX + 1;
        let start = |n: usize| {
            let dir = if n == 0 { "/w/old" } else { "/w/new" };
            change(
                n,
                n,
                "effort_started",
                serde_json::json!({"workstream": dir, "skill": "fix", "title": "Taxes"}),
            )
        };
        let finish = |n: usize| change(count + n, n, "effort_finished", serde_json::json!({}));
        let first: Vec<Record> = (0..count).map(start).chain([finish(0)]).collect();
        let others: Vec<Record> = (1..count).map(finish).collect();
        for records in [first, others] {
            store.append(records).await.unwrap();
            restore(&store, FoldSettings::default()).await.unwrap();
        }
        store.append(vec![hook_at("UserPromptSubmit", Millis::hours(10).0)]).await.unwrap();
        let policy = RetentionPolicy {
            max_age: Millis::hours(1),
            keep_after_seq: 2 * count as u64,
            ..RetentionPolicy::default()
        };
        store.retain(Timestamp::from_millis(Millis::hours(10).0), policy).await.unwrap();
        assert_ne!(store.oldest().await.unwrap().unwrap().seq, 1, "the log has lost its beginning");
        let fleet = empty_fleet(&store, FoldSettings::default()).await.unwrap();
        let old = fleet.workstreams().find(|(dir, _)| *dir == "/w/old").unwrap().1;
        assert_eq!((old.ordinal, old.about.title.as_deref()), (1, Some("Taxes")));
    }
}
