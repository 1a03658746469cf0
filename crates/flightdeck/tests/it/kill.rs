//! `kill -9` under load: acknowledged events survive, the board is the same, and no event counts twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flightdeck::clock;
use flightdeck::ingest::spool;
use flightdeck::store::Store;
use flightdeck_core::log::record::{EventId, Record, Source};
use flightdeck_core::rules::FoldSettings;
use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use flightdeck_sim::fleet::{FleetConfig, SimEvent, SimFleet};
use flightdeck_sim::rng::Rng;
use serde_json::{Value, json};

use crate::board;
use crate::home::test_home;

const SEED: u64 = 20261115;
const CONNECTIONS: usize = 6;
const EVENTS_PER_SECOND: u64 = 1000;

fn rules() -> FoldSettings {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    FoldSettings { host: Some(host), ..FoldSettings::default() }
}

/// The log of the dead daemon, read from a copy: the test must not repair it before the next start does.
fn log_of(home: &TestHome) -> Vec<Record> {
    let copy = tempfile::tempdir_in(home.path()).unwrap();
    let database = home.paths().database();
    for name in ["flightdeck.db", "flightdeck.db-wal"] {
        let from = database.with_file_name(name);
        if from.exists() {
            fs::copy(from, copy.path().join(name)).unwrap();
        }
    }
    read_log(&copy.path().join("flightdeck.db"))
}

fn read_log(path: &Path) -> Vec<Record> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let opened = Store::open(path).unwrap();
        assert_eq!(opened.set_aside, None);
        let mut replay = opened.store.replay(0).await.unwrap();
        let mut records = Vec::new();
        while let Some(page) = replay.next().await.unwrap() {
            assert_eq!(page.unreadable, 0);
            records.extend(page.records);
        }
        records
    })
}

/// A sent event: its id, and its sequence number once it was acknowledged.
#[derive(Clone, Debug)]
struct Sent {
    id: EventId,
    line: Value,
    seq: Option<u64>,
}

impl Sent {
    fn new(n: usize, event: &SimEvent) -> Self {
        let id = EventId::new(n as u64 + 1, SEED);
        let mut env = event.env.clone();
        env.insert("id".into(), json!(id.to_string()));
        env.insert("fired_at".into(), json!(clock::now().to_string()));
        Self { id, line: json!({ "cmd": "hook", "args": event.payload, "env": env }), seq: None }
    }
}

/// Sends its share of the events at the common rate until the daemon is gone.
fn work(
    home: &TestHome,
    share: Vec<(usize, SimEvent)>,
    began: Instant,
    acknowledged: &AtomicUsize,
) -> Vec<Sent> {
    let mut socket = home.socket();
    let mut sent = Vec::new();
    for (n, event) in share {
        let due = began + Duration::from_micros(1_000_000 / EVENTS_PER_SECOND * n as u64);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut one = Sent::new(n, &event);
        let answer = socket.send(&one.line).ok().and_then(|()| socket.line());
        one.seq = answer.map(|a| a["data"]["seq"].as_u64().unwrap());
        let gone = one.seq.is_none();
        sent.push(one);
        if gone {
            break;
        }
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
    sent
}

/// Three seconds of a busy fleet over several connections; the daemon is killed after `enough` acknowledgements.
fn load_and_kill(home: &TestHome, daemon: TestDaemon, enough: usize) -> Vec<Sent> {
    let config = FleetConfig { sessions: 54, seed: SEED, speed: 20.0, ..FleetConfig::default() };
    let mut shares = vec![Vec::new(); CONNECTIONS];
    for (n, event) in SimFleet::new(config).take(3 * EVENTS_PER_SECOND as usize).enumerate() {
        // One connection per session keeps its events in order.
        let share = event.session_id.bytes().map(usize::from).sum::<usize>() % CONNECTIONS;
        shares[share].push((n, event));
    }
    let acknowledged = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            shares.into_iter().map(|share| scope.spawn(|| work(home, share, began, &acknowledged))).collect();
        until("enough events are acknowledged", || {
            (acknowledged.load(Ordering::SeqCst) >= enough).then_some(())
        });
        let rate = acknowledged.load(Ordering::SeqCst) as f64 / began.elapsed().as_secs_f64();
        eprintln!("killed after {enough} events at {rate:.0} a second");
        daemon.kill();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn every_acknowledged_event_survives_kill_9_under_load_and_the_board_is_the_same() {
    let home = test_home();
    let mut rng = Rng::new(SEED);
    let sent = load_and_kill(&home, home.daemon(), rng.between(1200, 2400) as usize);
    let log = log_of(&home);
    let seqs: BTreeMap<EventId, u64> = log.iter().map(|r| (r.id, r.seq)).collect();
    assert_eq!(seqs.len(), log.len(), "an id stands twice in the log");
    for one in sent.iter().filter(|s| s.seq.is_some()) {
        assert_eq!(seqs.get(&one.id).copied(), one.seq);
    }

    let daemon = home.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(board::board_of(&log, rules(), clock::now())));
    assert!(daemon.board().len() > 20);

    // A sender without an acknowledgement sends again; duplicates must be recognised.
    let mut socket = home.socket();
    for one in &sent {
        let answer = socket.ask(&one.line);
        assert_eq!(answer["ok"], true);
        if let Some(seq) = seqs.get(&one.id) {
            assert_eq!(answer["data"]["seq"].as_u64(), Some(*seq));
        }
    }
    assert_eq!(hooks_of(&home), sent.len());

    // Again without events: first killed, then stopped properly (the start after that uses a snapshot).
    let before = daemon.board();
    daemon.kill();
    let daemon = home.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(before.clone()));
    assert!(daemon.stop().success());
    let daemon = home.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(before.clone()));
    assert_eq!(hooks_of(&home), sent.len());
}

/// Hook events only; the log also has our own events about abandoned hooks.
fn hooks_of(home: &TestHome) -> usize {
    log_of(home).iter().filter(|record| record.source == Source::Hook).count()
}

/// Removes the only allowed difference: the killed daemon held hooks, the next one holds none.
fn unheld(mut board: Vec<Value>) -> Vec<Value> {
    for ask in board.iter_mut().filter_map(|card| card["asks"].as_array_mut()).flatten() {
        ask["answerable"] = Value::Null;
        if ask["resolution"]["how"] == "answer_in_terminal" {
            ask["resolution"] = Value::Null;
        }
    }
    board
}

fn tool(n: usize) -> String {
    json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": format!("Tool{n:02}"), "tool_use_id": n})
        .to_string()
}

/// The tools of the session's events, in log order.
fn tools(daemon: &TestDaemon) -> Vec<String> {
    let page = daemon.get("/api/sessions/s/events?payload=1&limit=1000").json();
    let events = page["events"].as_array().unwrap().iter();
    events.map(|e| e["payload"]["tool_name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn events_spooled_while_the_daemon_was_dead_arrive_once_and_in_order() {
    let home = test_home();
    let daemon = home.daemon();
    home.hook(&tool(0));
    assert_eq!(tools(&daemon), ["Tool00"]);
    daemon.kill();

    (1..=12).for_each(|n| home.hook(&tool(n)));
    let spool_folder = home.paths().spool();
    let files = spool::list(&spool_folder).unwrap();
    assert_eq!(files.len(), 12);
    let kept = files.iter().map(|f| (f.path.clone(), fs::read(&f.path).unwrap())).collect::<Vec<_>>();

    let daemon = home.daemon();
    let expected: Vec<String> = (0..=12).map(|n| format!("Tool{n:02}")).collect();
    assert_eq!(tools(&daemon), expected);
    assert!(spool::list(&spool_folder).unwrap().is_empty());
    let before = daemon.board();
    daemon.kill();

    // As if it had been killed after the commit and before the files were removed.
    for (path, bytes) in &kept {
        fs::write(path, bytes).unwrap();
    }
    let daemon = home.daemon();
    until("the spool is empty", || spool::list(&spool_folder).unwrap().is_empty().then_some(()));
    assert_eq!(tools(&daemon), expected);
    assert_eq!(daemon.board(), before);
    let ids: BTreeSet<_> = log_of(&home).iter().map(|r| r.id).collect();
    assert_eq!(ids.len(), 13);
}

#[test]
fn a_spool_file_without_an_event_does_not_delay_the_others() {
    let home = test_home();
    home.daemon().kill();
    home.hook(&tool(1));
    let spool_folder = home.paths().spool();
    let earlier = spool::list(&spool_folder).unwrap()[0].fired_ns - 10;
    for (n, text) in [(1, r#"{"cmd":"hook","args":"#), (2, r#"{"cmd":"hook","args":{}}"#)] {
        fs::write(spool_folder.join(spool::file_name(earlier + n, EventId(n.into()))), text).unwrap();
    }
    let daemon = home.daemon();
    assert_eq!(tools(&daemon), ["Tool01"]);
    let stats = spool::stats(&spool_folder).unwrap();
    assert_eq!((stats.files, stats.rejected), (0, 2));
}
