//! What every backend must do: the same tests run on each of them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use flightdeck_core::log::record::Record;
use flightdeck_core::time::{Millis, Timestamp};
use proptest::test_runner::{Config, TestRunner};

use super::faulty::{Fault, Faulty};
use super::testing::{all_records, any_record, large, record, records, start, stored};
use super::*;

type Open<'a> = &'a dyn Fn() -> Store;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn one_life(open: Open<'_>) {
    let store = open();
    an_append_gives_dense_numbers(&store).await;
    a_resend_keeps_its_number(&store).await;
    pages_of_a_session(&store).await;
    a_snapshot_is_chosen(&store).await;
    sessions_are_kept(&store).await;
    store.close().await.unwrap();
    let store = open();
    everything_is_there_after_a_reopen(&store).await;
    old_events_go(&store).await;
    the_largest_log_is_cut(&store).await;
    a_reopen_counts_on(store, open).await;
}

/// Runs a test on every backend. A new backend has a line here.
fn on_every_backend(test: impl Fn(Open<'_>)) {
    let memory = Memory::default();
    test(&|| Store::with_backend(Box::new(memory.clone())).unwrap());
    let folder = tempfile::tempdir().unwrap();
    test(&|| Store::open(&folder.path().join("flightdeck.db")).unwrap().store);
}

#[test]
fn every_backend_behaves_the_same_over_its_life() {
    on_every_backend(|open| block_on(one_life(open)));
}

#[test]
fn any_record_is_read_back_exactly_as_it_was_appended() {
    on_every_backend(|open| {
        let store = open();
        TestRunner::new(Config::with_cases(300))
            .run(&any_record(), |record| {
                let (seq, back) = block_on(async {
                    let seq = store.append(vec![record.clone()]).await.unwrap()[0].seq;
                    (seq, all_records(&store, seq - 1).await.unwrap())
                });
                proptest::prop_assert_eq!(back, [Record { seq, ..record }]);
                Ok(())
            })
            .unwrap();
    });
}

#[test]
fn a_replay_of_many_chunks_misses_nothing_and_repeats_nothing() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            store.append(records(1..=2500)).await.unwrap();
            let mut replay = store.replay(0).await.unwrap();
            let mut sizes = Vec::new();
            while let Some(page) = replay.next().await.unwrap() {
                sizes.push(page.records.len());
            }
            assert_eq!(sizes, [1000, 1000, 500]);
            let seqs: Vec<_> = all_records(&store, 0).await.unwrap().iter().map(|r| r.seq).collect();
            assert_eq!(seqs, (1..=2500).collect::<Vec<_>>());
        });
    });
}

#[test]
fn a_session_is_read_page_by_page_through_a_long_log() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            store.append(records(1..=5000)).await.unwrap();
            let (mut after_seq, mut seqs) = (0, Vec::new());
            loop {
                let session_id = "session-1".into();
                let wanted = EventsOf {
                    session_id,
                    from: PageFrom::After(after_seq),
                    limit: usize::MAX,
                    with_payload: false,
                };
                let page = store.events_of(wanted).await.unwrap();
                assert!(page.records.len() <= PAGE_ITEMS_MAX);
                seqs.extend(page.records.iter().map(|r| r.seq));
                let Some(next) = page.next else { break };
                after_seq = next;
            }
            assert_eq!(seqs, (1..=5000).filter(|n| n % 3 == 1).collect::<Vec<_>>());
        });
    });
}

#[test]
fn events_are_found_by_name_page_by_page_through_a_long_log() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            let named = |n: u64| Record { name: format!("name-{}", n % 1000), ..record(n) };
            for from in (0..45_000).step_by(1000) {
                store.append((from + 1..=from + 1000).map(named).collect::<Vec<_>>()).await.unwrap();
            }
            let (mut next, mut seqs) = (Some(0), Vec::new());
            while let Some(after_seq) = next {
                let wanted = EventsNamed { names: &["name-7", "name-9"], after_seq };
                let page = store.events_named(wanted).await.unwrap();
                seqs.extend(page.records.iter().map(|r| r.seq));
                next = page.next;
            }
            assert_eq!(seqs, (1..=45_000).filter(|n| [7, 9].contains(&(n % 1000))).collect::<Vec<_>>());
        });
    });
}

#[test]
fn appends_are_served_while_old_events_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Store::sqlite_backend(&folder.path().join("flightdeck.db")).unwrap();
    for backend in [Box::new(Memory::default()) as Box<dyn Backend>, sqlite] {
        // On one thread both sides get their turns, on a slow machine too.
        let (store, work) = Store::as_task(backend, async || {});
        let test = async move {
            for from in (0..20_000).step_by(1000) {
                store.append(records(from + 1..=from + 1000)).await.unwrap();
            }
            let policy = RetentionPolicy { max_age: Millis(0), keep_after_seq: 20_000, ..Default::default() };
            let retaining = store.retain(Timestamp::from_millis(i64::MAX), policy);
            let appending = async {
                let mut seen_midway = 0;
                // Until the old events are gone: retention first waits for a checkpoint, which a busy machine delays.
                for n in 20_001..=40_000 {
                    store.append(vec![record(n)]).await.unwrap();
                    let oldest = store.oldest().await.unwrap().map_or(0, |o| o.seq);
                    if oldest > 20_000 {
                        break;
                    }
                    seen_midway += u32::from(oldest > 1);
                }
                seen_midway
            };
            let (report, seen_midway) = tokio::join!(retaining, appending);
            assert_eq!(report.unwrap().removed, 20_000);
            assert!(seen_midway > 0, "no append was served before retention had ended");
        };
        block_on(async { tokio::join!(test, work) });
    }
}

#[test]
fn a_second_retention_is_refused_while_one_is_under_way() {
    // Both are requested before the store runs.
    let (store, work) = Store::as_task(Box::new(Memory::default()), async || {});
    let test = async move {
        store.append(records(1..=3000)).await.unwrap();
        let policy = RetentionPolicy { max_age: Millis(0), keep_after_seq: 3000, ..Default::default() };
        let retain = || store.retain(Timestamp::from_millis(i64::MAX), policy);
        let (first, second) = tokio::join!(retain(), retain());
        assert_eq!(first.unwrap().removed, 2999);
        assert!(matches!(second, Err(StoreError::Retaining)));
    };
    block_on(async { tokio::join!(test, work) });
}

#[test]
fn a_full_disk_stores_nothing_and_the_same_batch_goes_in_later() {
    block_on(async {
        let backend = Faulty::new(Box::new(Memory::default()), [(1, Fault::DiskFull)]);
        let store = Store::with_backend(Box::new(backend)).unwrap();
        assert!(matches!(store.append(records(1..=3)).await, Err(StoreError::DiskFull)));
        assert_eq!(store.last_seq().await.unwrap(), 0);
        assert_eq!(store.append(records(1..=3)).await.unwrap()[2], Appended { seq: 3, duplicate: false });
    });
}

#[test]
fn events_that_were_stored_but_never_acknowledged_are_duplicates_when_sent_again() {
    block_on(async {
        let memory = Memory::default();
        let faults = [(1, Fault::Delay(Duration::from_millis(1))), (2, Fault::DieAfterCommit)];
        let store = Store::with_backend(Box::new(Faulty::new(Box::new(memory.clone()), faults))).unwrap();
        store.append(records(1..=2)).await.unwrap();
        assert!(matches!(store.append(records(3..=4)).await, Err(StoreError::Closed)));
        assert!(matches!(store.last_seq().await, Err(StoreError::Closed)));
        let store = Store::with_backend(Box::new(memory)).unwrap();
        let answers = store.append(records(3..=5)).await.unwrap();
        assert_eq!(pairs(&answers), [(3, true), (4, true), (5, false)]);
    });
}

#[test]
fn a_closed_store_returns_an_error_to_every_handle() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            store.clone().close().await.unwrap();
            assert!(matches!(store.append(records(1..=1)).await, Err(StoreError::Closed)));
        });
    });
}

#[test]
fn invented_event_names_do_not_grow_the_counts_without_bound() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            let made_up = |n| Record { name: format!("Made{n}"), ..record(n) };
            store.append((1..=200).map(made_up).collect::<Vec<_>>()).await.unwrap();
            store.append((201..=1000).map(made_up).collect::<Vec<_>>()).await.unwrap();
            let counts = store.counts_by_name().await.unwrap();
            assert!(counts.len() <= 257 && counts["(other)"] > 700, "{}", counts.len());
            assert_eq!(counts.values().sum::<u64>(), 1000);
        });
    });
}

fn effect(seq: u64, repeatable: bool) -> OutboxEffect {
    let key = OutboxKey { seq, kind: "test".to_owned(), subject: "s".to_owned() };
    OutboxEffect { key, body: format!("body {seq}"), repeatable }
}

#[test]
fn the_outbox_knows_an_effect_until_every_kept_snapshot_holds_its_event() {
    on_every_backend(|open| {
        block_on(async {
            let store = open();
            let waiting =
                async || store.outbox().await.unwrap().iter().map(|e| e.key.seq).collect::<Vec<_>>();
            store.put_outbox(vec![effect(5, true), effect(2, true)]).await.unwrap();
            assert_eq!(store.outbox().await.unwrap(), [effect(2, true), effect(5, true)]);
            let rows = OutboxRows { sessions: vec![session(1)], ..OutboxRows::default() };
            store.finish_outbox(vec![effect(2, true).key], rows).await.unwrap();
            assert_eq!(store.stored_session(&"s-1".into()).await.unwrap(), Some(session(1)));

            // A replay brings it again: it was carried out.
            store.put_outbox(vec![effect(2, true)]).await.unwrap();
            assert_eq!(waiting().await, [5]);

            // With its event in both kept snapshots no replay brings it, unless the whole log is replayed.
            for seq in [3, 4] {
                let (rules_version, body) = ("1".into(), Parts::default());
                store.save_snapshot(FleetSnapshot { seq, rules_version, body }).await.unwrap();
            }
            store.put_outbox(vec![effect(2, false), effect(3, false)]).await.unwrap();
            assert_eq!(waiting().await, [3, 5]);
            store.put_outbox(vec![effect(2, true)]).await.unwrap();
            assert_eq!(waiting().await, [2, 3, 5]);
            store.clone().close().await.unwrap();
            assert_eq!(open().outbox().await.unwrap().len(), 3);
        });
    });
}

fn pairs(answers: &[Appended]) -> Vec<(u64, bool)> {
    answers.iter().map(|a| (a.seq, a.duplicate)).collect()
}

async fn an_append_gives_dense_numbers(store: &Store) {
    assert_eq!((store.last_seq().await.unwrap(), store.oldest().await.unwrap()), (0, None));
    assert_eq!(store.append(Vec::new()).await.unwrap(), []);
    let seqs: Vec<_> = store.append(records(1..=5)).await.unwrap().iter().map(|a| a.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
    assert_eq!(store.last_seq().await.unwrap(), 5);
    assert_eq!(store.event(3).await.unwrap(), Some(stored(3, 3)));
    assert_eq!(store.event(99).await.unwrap(), None);
}

async fn a_resend_keeps_its_number(store: &Store) {
    let batch = Arc::new(vec![record(2), record(6), record(6), record(7)]);
    let answers = store.append(Arc::clone(&batch)).await.unwrap();
    assert_eq!(pairs(&answers), [(2, true), (6, false), (6, true), (7, false)]);
    assert!(Arc::try_unwrap(batch).is_ok(), "the store still holds the records");
    let counts = store.counts_by_name().await.unwrap();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("PostToolUse".into(), 4), ("PreToolUse".into(), 3)]);
}

async fn pages_of_a_session(store: &Store) {
    let wanted =
        |from, with_payload| EventsOf { session_id: "session-1".into(), from, limit: 2, with_payload };
    let page = store.events_of(wanted(PageFrom::After(0), true)).await.unwrap();
    assert_eq!((page.records, page.next), (vec![stored(1, 1), stored(4, 4)], Some(4)));
    let page = store.events_of(wanted(PageFrom::After(4), false)).await.unwrap();
    assert_eq!((page.records.len(), page.next), (1, None));
    assert_eq!((page.records[0].seq, page.records[0].payload.len()), (7, 0));
    // The newest page first; its events are oldest first.
    let page = store.events_of(wanted(PageFrom::Before(u64::MAX), false)).await.unwrap();
    assert_eq!((page.records.iter().map(|r| r.seq).collect::<Vec<_>>(), page.next), (vec![4, 7], Some(4)));
    let page = store.events_of(wanted(PageFrom::Before(4), true)).await.unwrap();
    assert_eq!((page.records, page.next), (vec![stored(1, 1)], None));
}

async fn a_snapshot_is_chosen(store: &Store) {
    let snapshot = |seq, rules: &str| FleetSnapshot {
        seq,
        rules_version: rules.into(),
        body: vec![seq as u8; 9].into(),
    };
    assert_eq!(store.latest_snapshot("1").await.unwrap(), None);
    for (seq, rules) in [(2, "1"), (3, "1"), (5, "2")] {
        store.save_snapshot(snapshot(seq, rules)).await.unwrap();
    }
    assert_eq!(store.latest_snapshot("2").await.unwrap(), Some(snapshot(5, "2")));
    assert_eq!(store.latest_snapshot("1").await.unwrap(), Some(snapshot(3, "1")));
    assert_eq!(store.latest_snapshot("3").await.unwrap(), None);
    store.save_snapshot(snapshot(6, "2")).await.unwrap();
    assert_eq!(store.latest_snapshot("1").await.unwrap(), None, "only the last two are kept");
}

fn session(n: i64) -> StoredSession {
    StoredSession {
        id: format!("s-{n}").into(),
        project: Some("api".into()),
        title: (n != 2).then(|| format!("Título {n}")),
        started_at: start(),
        last_activity_at: start() + Millis::seconds(n / 2),
        ended_at: (n == 1).then(start),
        card: format!(r#"{{"n":{n}}}"#),
    }
}

async fn sessions_are_kept(store: &Store) {
    store.put_sessions(vec![session(9), session(1), session(2), session(3), session(4)]).await.unwrap();
    store.put_sessions(vec![StoredSession { id: "s-9".into(), ..session(5) }]).await.unwrap();
    let first = store.stored_sessions(None, 3).await.unwrap();
    let ids = |page: &SessionPage| page.sessions.iter().map(|s| s.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&first), ["s-9", "s-4", "s-3"]);
    let cursor = first.next_before.map(|c| c.to_string()).and_then(|text| SessionCursor::parse(&text));
    let second = store.stored_sessions(cursor, 3).await.unwrap();
    assert_eq!((ids(&second), second.next_before), (vec!["s-2".into(), "s-1".into()], None));
    assert_eq!(store.stored_session(&"s-1".into()).await.unwrap(), Some(session(1)));
    assert_eq!(store.stored_session(&"unknown".into()).await.unwrap(), None);
}

async fn everything_is_there_after_a_reopen(store: &Store) {
    let expected: Vec<_> = (1..=7).map(|n| stored(n, n)).collect();
    assert_eq!(all_records(store, 0).await.unwrap(), expected);
    assert_eq!(all_records(store, 5).await.unwrap(), expected[5..]);
    assert_eq!(store.counts_by_name().await.unwrap()["PostToolUse"], 4);
    assert_eq!(store.latest_snapshot("2").await.unwrap().map(|s| s.seq), Some(6));
    assert_eq!(store.stored_session(&"s-2".into()).await.unwrap(), Some(session(2)));
    assert!(store.append(vec![record(3)]).await.unwrap()[0].duplicate);
}

async fn old_events_go(store: &Store) {
    let month = RetentionPolicy::default();
    let later = |minutes| start() + month.max_age + Millis::minutes(minutes);
    let policy = |keep_after_seq| RetentionPolicy { keep_after_seq, ..month };
    // According to the caller no snapshot holds an event.
    let report = store.retain(later(4), policy(0)).await.unwrap();
    assert_eq!((report.removed, report.held_back), (0, true));
    let report = store.retain(later(4), policy(7)).await.unwrap();
    assert_eq!((report.removed, report.held_back), (3, false));
    assert_eq!(store.oldest().await.unwrap().map(|o| o.seq), Some(4));
    // The older of the kept snapshots ends at 5: falling back on it needs 6 and 7.
    let report = store.retain(later(100), policy(7)).await.unwrap();
    assert_eq!((report.removed, report.held_back), (2, true));
    assert_eq!(all_records(store, 0).await.unwrap(), [stored(6, 6), stored(7, 7)]);
    assert_eq!(store.stored_sessions(None, 9).await.unwrap().sessions.len(), 5);
    assert_eq!(store.counts_by_name().await.unwrap()["PostToolUse"], 4, "removed events are counted too");
}

async fn the_largest_log_is_cut(store: &Store) {
    for start in (8..1008).step_by(100) {
        store.append((start..start + 100).map(|n| large(n, 4000)).collect::<Vec<_>>()).await.unwrap();
    }
    for seq in [1007, 1007] {
        store
            .save_snapshot(FleetSnapshot { seq, rules_version: "2".into(), body: Parts::default() })
            .await
            .unwrap();
    }
    let policy =
        RetentionPolicy { max_bytes: 1024 * 1024, keep_after_seq: 1007, ..RetentionPolicy::default() };
    let report = store.retain(start(), policy).await.unwrap();
    assert!(report.bytes_before > 4_000_000 && report.bytes_after <= policy.max_bytes, "{report:?}");
    assert!((600..1000).contains(&report.removed) && !report.held_back, "{report:?}");
    assert_eq!(all_records(store, 0).await.unwrap().last().map(|r| r.seq), Some(1007));
}

async fn a_reopen_counts_on(store: Store, open: Open<'_>) {
    let everything =
        RetentionPolicy { max_age: Millis(0), keep_after_seq: u64::MAX, ..RetentionPolicy::default() };
    store.retain(Timestamp::from_millis(i64::MAX), everything).await.unwrap();
    assert_eq!(all_records(&store, 0).await.unwrap().len(), 1, "the newest stays");
    store.close().await.unwrap();
    assert_eq!(open().append(vec![record(5000)]).await.unwrap()[0].seq, 1008);
}
