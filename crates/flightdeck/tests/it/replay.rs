//! Replaying the log, from the start or from a snapshot, gives the live fleet byte for byte.

use flightdeck::engine::restore::restore;
use flightdeck::store::Store;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_sim::fleet::{FleetConfig, SimEvent, SimFleet as Sim};
use proptest::prelude::*;
use serde_json::json;

use crate::in_process::InProcessDaemon;

/// How one part of a day is played, and how the daemon ends after it.
#[derive(Clone, Debug)]
struct Stretch {
    events: usize,
    /// Events per batch; each batch is one transaction.
    batch: usize,
    /// One of so many events is sent twice.
    twice_every: usize,
    /// Quiet time at the end, in which timers run.
    silence: Millis,
}

fn stretches() -> impl Strategy<Value = Vec<Stretch>> {
    let one = (
        1..120_usize,
        1..20_usize,
        2..9_usize,
        prop_oneof![0..5_000_i64, 55_000..70_000_i64, 1_700_000..2_000_000_i64],
    );
    let one = one.prop_map(|(events, batch, twice_every, ms)| Stretch {
        events,
        batch,
        twice_every,
        silence: Millis(ms),
    });
    prop::collection::vec(one, 1..4)
}

fn record(n: usize, event: &SimEvent) -> Record {
    let mut env = event.env.clone();
    env.insert("fired_at".into(), json!(Timestamp::from_millis(event.fired_ms).to_string()));
    let bytes = serde_json::to_vec(&event.payload).unwrap().len();
    let draft = HookDraft { name_in_path: None, payload: event.payload.clone(), env, bytes };
    draft.into_record(EventId(n as u128 + 1)).unwrap()
}

/// Plays the day with one daemon per part; returns the last daemon's clock.
fn live(store: &Store, seed: u64, stretches: &[Stretch]) -> Timestamp {
    let config =
        FleetConfig { sessions: 9, seed, speed: 8.0, pids_from: Some(1000), ..FleetConfig::default() };
    let mut sim = Sim::new(config).enumerate();
    let mut now = Timestamp::from_millis(FleetConfig::default().start_ms);
    for stretch in stretches {
        let deck = InProcessDaemon::builder()
            .store(store.clone())
            .now(now)
            .heartbeat_every(std::time::Duration::from_secs(60))
            .start();
        let events: Vec<_> = sim.by_ref().take(stretch.events).collect();
        for batch in events.chunks(stretch.batch) {
            now = now.max(Timestamp::from_millis(batch.last().unwrap().1.at_ms));
            deck.set_clock(now);
            let mut records: Vec<_> = batch.iter().map(|(n, event)| record(*n, event)).collect();
            if batch[0].0 % stretch.twice_every == 0 {
                records.push(records[0].clone());
            }
            deck.append(records).unwrap();
        }
        now = now + stretch.silence;
        deck.pass(stretch.silence);
        deck.stop();
    }
    now
}

async fn log(store: &Store) -> Vec<Record> {
    let mut replay = store.replay(0).await.unwrap();
    let mut records = Vec::new();
    while let Some(page) = replay.next().await.unwrap() {
        records.extend(page.records);
    }
    records
}

/// Compares at the same `now`: a daemon runs its timers a moment after they are due.
fn bytes(mut fleet: Fleet, now: Timestamp) -> String {
    let _ = fleet.tick(now);
    serde_json::to_string(&fleet).unwrap()
}

fn fold(records: &[Record], rules: FoldSettings, now: Timestamp) -> String {
    let mut fleet = Fleet::new(rules);
    records.iter().for_each(|r| drop(fleet.apply(&Event::from_record(r))));
    bytes(fleet, now)
}

fn check(store: &Store, seed: u64, stretches: &[Stretch]) {
    let now = live(store, seed, stretches);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let rules = FoldSettings::default();
        let records = log(store).await;
        let lived = store.latest_snapshot(&rules.fold_version()).await.unwrap().unwrap();
        let lived: Fleet = flightdeck::engine::snapshots::unpack(&lived.body.joined()).unwrap();
        let lived = bytes(lived, now);
        assert_eq!(records.len(), stretches.iter().map(|s| s.events).sum::<usize>());
        assert_eq!(fold(&records, rules.clone(), now), lived, "folded from the start");

        let restored = restore(store, rules).await.unwrap();
        assert!(restored.from_snapshot);
        assert_eq!(bytes(restored.fleet, now), lived, "from the snapshot");

        let other = FoldSettings { tool_failure_needs_you: true, ..FoldSettings::default() };
        let restored = restore(store, other.clone()).await.unwrap();
        assert_eq!((restored.from_snapshot, restored.replayed), (false, records.len() as u64));
        assert_eq!(bytes(restored.fleet, now), fold(&records, other, now), "under other rules");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_replay_of_any_day_gives_the_live_fleet(seed in any::<u64>(), stretches in stretches()) {
        check(&Store::in_memory().unwrap(), seed, &stretches);
    }
}

#[test]
fn a_replay_from_disk_gives_the_live_fleet() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
    let day = |events, batch| Stretch { events, batch, twice_every: 3, silence: Millis(61_000) };
    check(&store, 7, &[day(700, 16), day(400, 1), day(1100, 64)]);
}

/// Found by the property above: a session's first event came before its start, and the session has left the board since.
#[test]
fn a_session_that_left_is_replayed_from_its_first_event() {
    let first = Stretch { events: 69, batch: 1, twice_every: 2, silence: Millis(1_800_010) };
    let second = Stretch { events: 115, batch: 2, twice_every: 4, silence: Millis(68_380) };
    check(&Store::in_memory().unwrap(), 3275878682649255682, &[first, second]);
}
