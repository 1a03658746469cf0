//! `kill -9` at the worst moment: what was acknowledged is there, the board is the same, and nothing counts twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use flightdeck::clock;
use flightdeck::inlet::spool;
use flightdeck::store::Store;
use flightdeck_core::record::{EventId, Record, Source};
use flightdeck_core::rules::Rules;
use flightdeck_sim::fleet::{Fleet, FleetConfig, SimEvent};
use flightdeck_sim::rng::Rng;
use serde_json::{Value, json};

use crate::board;
use crate::stage::{Daemon, Stage, until};

const SEED: u64 = 20261115;
const CONNECTIONS: usize = 6;
const EVENTS_PER_SECOND: u64 = 1000;

fn rules() -> Rules {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Rules { host: Some(host), ..Rules::default() }
}

/// The log as the dead daemon left it, read from a copy: the story must not mend what the next start has to.
fn log_of(stage: &Stage) -> Vec<Record> {
    let copy = tempfile::tempdir_in(stage.path()).unwrap();
    let database = stage.paths().database();
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

/// One event on its way: its id, and its place in the log once that was acknowledged.
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

/// Sends its share at the pace of the whole until the daemon is gone.
fn work(
    stage: &Stage,
    share: Vec<(usize, SimEvent)>,
    began: Instant,
    acknowledged: &AtomicUsize,
) -> Vec<Sent> {
    let mut socket = stage.socket();
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

/// Three seconds of a busy fleet over several connections, cut off once `enough` were acknowledged.
fn load_and_kill(stage: &Stage, daemon: Daemon, enough: usize) -> Vec<Sent> {
    let config = FleetConfig { sessions: 54, seed: SEED, speed: 20.0, ..FleetConfig::default() };
    let mut shares = vec![Vec::new(); CONNECTIONS];
    for (n, event) in Fleet::new(config).take(3 * EVENTS_PER_SECOND as usize).enumerate() {
        // One session, one connection: its own order holds.
        let share = event.session_id.bytes().map(usize::from).sum::<usize>() % CONNECTIONS;
        shares[share].push((n, event));
    }
    let acknowledged = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = shares
            .into_iter()
            .map(|share| scope.spawn(|| work(stage, share, began, &acknowledged)))
            .collect();
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
    let stage = Stage::new();
    let mut rng = Rng::new(SEED);
    let sent = load_and_kill(&stage, stage.daemon(), rng.between(1200, 2400) as usize);
    let log = log_of(&stage);
    let seqs: BTreeMap<EventId, u64> = log.iter().map(|r| (r.id, r.seq)).collect();
    assert_eq!(seqs.len(), log.len(), "an id stands twice in the log");
    for one in sent.iter().filter(|s| s.seq.is_some()) {
        assert_eq!(seqs.get(&one.id).copied(), one.seq);
    }

    let daemon = stage.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(board::of(&log, rules(), clock::now())));
    assert!(daemon.board().len() > 20);

    // A sender that was cut off sends again; so does one that only believes so.
    let mut socket = stage.socket();
    for one in &sent {
        let answer = socket.ask(&one.line);
        assert_eq!(answer["ok"], true);
        if let Some(seq) = seqs.get(&one.id) {
            assert_eq!(answer["data"]["seq"].as_u64(), Some(*seq));
        }
    }
    assert_eq!(hooks_of(&stage), sent.len());

    // Once more, with nobody speaking: killed, and then stopped in order (that start uses a snapshot).
    let before = daemon.board();
    daemon.kill();
    let daemon = stage.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(before.clone()));
    assert!(daemon.stop().success());
    let daemon = stage.daemon();
    board::assert_same(&unheld(daemon.board()), &unheld(before.clone()));
    assert_eq!(hooks_of(&stage), sent.len());
}

/// Beside them stand our own facts: that a held hook is gone.
fn hooks_of(stage: &Stage) -> usize {
    log_of(stage).iter().filter(|record| record.source == Source::Hook).count()
}

/// A daemon that was killed held hooks, and the next one holds none: the one thing in which the boards differ.
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

/// The tools of the session's events, in the order of the log.
fn tools(daemon: &Daemon) -> Vec<String> {
    let page = daemon.get("/api/sessions/s/events?payload=1&limit=1000").json();
    let events = page["events"].as_array().unwrap().iter();
    events.map(|e| e["payload"]["tool_name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_hooks_spooled_while_the_daemon_was_dead_arrives_in_order_and_once() {
    let stage = Stage::new();
    let daemon = stage.daemon();
    stage.hook(&tool(0));
    assert_eq!(tools(&daemon), ["Tool00"]);
    daemon.kill();

    (1..=12).for_each(|n| stage.hook(&tool(n)));
    let spool_folder = stage.paths().spool();
    let files = spool::list(&spool_folder).unwrap();
    assert_eq!(files.len(), 12);
    let kept = files.iter().map(|f| (f.path.clone(), fs::read(&f.path).unwrap())).collect::<Vec<_>>();

    let daemon = stage.daemon();
    let expected: Vec<String> = (0..=12).map(|n| format!("Tool{n:02}")).collect();
    assert_eq!(tools(&daemon), expected);
    assert!(spool::list(&spool_folder).unwrap().is_empty());
    let before = daemon.board();
    daemon.kill();

    // As if it had been killed after the commit and before the files were removed.
    for (path, bytes) in &kept {
        fs::write(path, bytes).unwrap();
    }
    let daemon = stage.daemon();
    until("the spool is empty", || spool::list(&spool_folder).unwrap().is_empty().then_some(()));
    assert_eq!(tools(&daemon), expected);
    assert_eq!(daemon.board(), before);
    let ids: BTreeSet<_> = log_of(&stage).iter().map(|r| r.id).collect();
    assert_eq!(ids.len(), 13);
}

#[test]
fn a_file_that_is_no_event_does_not_keep_the_others_waiting() {
    let stage = Stage::new();
    stage.daemon().kill();
    stage.hook(&tool(1));
    let spool_folder = stage.paths().spool();
    let earlier = spool::list(&spool_folder).unwrap()[0].fired_ns - 10;
    for (n, text) in [(1, r#"{"cmd":"hook","args":"#), (2, r#"{"cmd":"hook","args":{}}"#)] {
        fs::write(spool_folder.join(spool::file_name(earlier + n, EventId(n.into()))), text).unwrap();
    }
    let daemon = stage.daemon();
    assert_eq!(tools(&daemon), ["Tool01"]);
    let stats = spool::stats(&spool_folder).unwrap();
    assert_eq!((stats.files, stats.rejected), (0, 2));
}
