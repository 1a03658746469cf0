//! Settings that change while the daemon runs: the board is then that of a restart.

use std::fs;

use flightdeck::config::Config;
use flightdeck::store::Store;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::http::HttpRequest;
use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use flightdeck_sim::Map;
use flightdeck_sim::fleet::{FleetConfig, SimFleet as Sim};
use serde_json::{Value, json};

use crate::asks::object;
use crate::home::test_home;
use crate::in_process::InProcessDaemon;

/// Events of the simulated day; some sessions have ended by then, and some tools have failed.
const EVENTS: usize = 3_000;

fn rules_of(settings: &str) -> FoldSettings {
    toml::from_str::<Config>(settings).unwrap().fold_settings(None)
}

fn record(n: usize, payload: Map, mut env: Map, fired_ms: i64) -> Record {
    env.insert("fired_at".into(), json!(Timestamp::from_millis(fired_ms).to_string()));
    let draft = HookDraft { name_in_path: None, payload, env, bytes: 100 };
    draft.into_record(EventId(n as u128 + 1)).unwrap()
}

/// A request of `claude -p`, which is shown only with `hold_print`.
fn print_request(fired_ms: i64) -> Record {
    let request = json!({"session_id": "print", "hook_event_name": "PermissionRequest", "cwd": "/w/api",
        "tool_name": "Bash", "tool_input": {"command": "make"}});
    record(EVENTS, object(request), object(json!({"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"})), fired_ms)
}

/// A session whose tool fails.
fn failure(session: &str, first: usize, at_ms: i64) -> Vec<Record> {
    let names = ["UserPromptSubmit", "PreToolUse", "PostToolUseFailure"];
    let event = |(n, name): (usize, &&str)| {
        let payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api", "prompt": "go",
            "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make"}, "error": "no rule"});
        record(first + n, object(payload), Map::new(), at_ms + n as i64)
    };
    names.iter().enumerate().map(event).collect()
}

/// A daemon without settings, in the middle of a day.
fn busy(store: &Store) -> InProcessDaemon {
    let config = FleetConfig { sessions: 9, seed: 4, speed: 30.0, ..FleetConfig::default() };
    let deck =
        InProcessDaemon::builder().store(store.clone()).now(Timestamp::from_millis(config.start_ms)).start();
    let mut last_ms = config.start_ms;
    for (n, event) in Sim::new(config).take(EVENTS).enumerate() {
        last_ms = last_ms.max(event.at_ms);
        deck.set_clock(Timestamp::from_millis(last_ms));
        deck.append(vec![record(n, event.payload, event.env, event.fired_ms)]).unwrap();
    }
    deck.append(vec![print_request(last_ms)]).unwrap();
    deck.append(failure("failed", EVENTS + 1, last_ms)).unwrap();
    deck
}

fn sessions(deck: &InProcessDaemon) -> Value {
    deck.board()["sessions"].clone()
}

fn restarted(store: &Store, settings: &str, now: Timestamp) -> InProcessDaemon {
    InProcessDaemon::builder()
        .store(store.clone())
        .now(now)
        .fold_settings(rules_of(settings))
        .keeping_old_holds()
        .start()
}

#[test]
fn the_board_after_a_change_of_rules_is_the_board_of_a_restart() {
    let store = Store::in_memory().unwrap();
    let deck = busy(&store);
    let mut before = sessions(&deck);
    for settings in [
        "done_minutes = 0\n",
        "done_minutes = 600\n",
        "done_minutes = 600\ntool_failure = \"needs_you\"\n",
        "done_minutes = 600\nhold_print = true\n",
        "",
    ] {
        deck.change_settings(settings);
        let after = sessions(&deck);
        assert_ne!(before, after, "{settings:?} changes nothing");
        assert_eq!(after, sessions(&restarted(&store, settings, deck.now())), "{settings:?}");
        before = after;
    }
}

#[test]
fn after_a_change_of_rules_events_and_timers_go_on_and_a_snapshot_of_the_new_rules_is_written() {
    let (store, settings) =
        (Store::in_memory().unwrap(), "done_minutes = 600\ntool_failure = \"needs_you\"\n");
    let deck = busy(&store);
    deck.change_settings(settings);
    deck.append(failure("late", EVENTS + 10, deck.now().as_millis())).unwrap();
    let late = |deck: &InProcessDaemon| deck.get("/api/sessions/late").json()["agent_state"]["group"].clone();
    assert_eq!(late(&deck), "needs_you");
    deck.pass(Millis::minutes(45));
    let live = sessions(&deck);
    assert_eq!(live, sessions(&restarted(&store, settings, deck.now())));
    deck.stop();
    let snapshot = deck.block_on(store.latest_snapshot(&rules_of(settings).fold_version())).unwrap();
    assert!(snapshot.is_some());
    assert_eq!(live, sessions(&restarted(&store, settings, deck.now())), "from the snapshot");
}

#[test]
fn a_viewer_gets_the_cards_that_other_rules_remove_and_bring_back() {
    let store = Store::in_memory().unwrap();
    let deck = busy(&store);
    let mut viewer = deck.socket();
    viewer.send(&json!({"cmd": "subscribe"})).unwrap();
    assert_eq!(viewer.line().unwrap()["event"], "snapshot");
    let mut next = |wanted: &str| -> Value {
        loop {
            let line = viewer.line().unwrap();
            if line["event"] == wanted {
                return line["data"].clone();
            }
        }
    };
    deck.change_settings("done_minutes = 0\n");
    let removed = next("session_removed")["id"].clone();
    deck.change_settings("done_minutes = 600\n");
    assert_eq!(next("session_discovered")["session"]["id"], removed);
}

fn write_config(home: &TestHome, text: &str) {
    fs::write(home.paths().config, text).unwrap();
}

fn host_is_accepted(daemon: &TestDaemon, host: &str) -> bool {
    let addr = daemon.url.trim_start_matches("http://").parse().unwrap();
    HttpRequest::new("GET", "/api/health").header("host", host).send(addr).status != 421
}

#[test]
fn the_running_daemon_applies_every_setting_that_needs_no_restart() {
    let home = test_home();
    let daemon = home.daemon();
    let hook = |name: &str, more: &str| {
        let body = format!(r#"{{"session_id":"s","hook_event_name":"{name}","cwd":"/w"{more}}}"#);
        assert_eq!(daemon.post("/api/live/hook", &body).status, 204);
    };
    hook("UserPromptSubmit", r#","prompt":"go""#);
    hook("SessionEnd", r#","reason":"other""#);
    assert_eq!(daemon.board().len(), 1);
    assert!(!host_is_accepted(&daemon, "box.test:80"));
    write_config(&home, "done_minutes = 0\nhosts = [\"box.test:80\"]\nport = 1\nkeep.days = 3\n");
    until("the card left", || daemon.board().is_empty().then_some(()));
    until("the host name is accepted", || host_is_accepted(&daemon, "box.test:80").then_some(()));
    let said = home.run(&["status"]).success();
    assert!(
        said.contains("\nconfig    after a restart: port (the daemon listens where it was started)\n"),
        "{said}"
    );
    write_config(&home, "");
    until("the card is back", || (daemon.board().len() == 1).then_some(()));
    until("the host name is refused", || (!host_is_accepted(&daemon, "box.test:80")).then_some(()));
    let board = daemon.board();
    assert!(daemon.stop().success());
    assert_eq!(home.daemon().board(), board);
}

#[test]
fn another_waiting_time_is_written_into_the_hooks_of_the_running_daemon() {
    let home = test_home();
    let daemon = home.up(&[]);
    let registered = || fs::read_to_string(home.settings()).unwrap();
    assert!(registered().contains("--hold-s 600"), "{}", registered());
    write_config(&home, "hold_seconds = 77\n");
    until("the hooks have it", || registered().contains("--hold-s 77").then_some(()));
    assert!(!registered().contains("--hold-s 600"));
    assert!(daemon.stop().success());
    assert!(!fs::read_to_string(home.settings()).unwrap_or_default().contains("--hold-s"));
}

#[test]
fn another_focus_command_is_run_at_once() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", r#"{"session_id":"s","hook_event_name":"Stop","cwd":"/w"}"#);
    assert_eq!(daemon.post("/api/sessions/s/focus", "{}").status, 409);
    let made = home.path().join("made");
    write_config(&home, &format!("focus_command = \"touch '{}'\"\n", made.display()));
    until("the command ran", || {
        daemon.post("/api/sessions/s/focus", "{}");
        made.exists().then_some(())
    });
}
