//! A disk that refuses writes: no event is acknowledged, hooks spool, the daemon reports it and recovers.

use std::path::Path;
use std::process::Command;

use crate::home::test_home;
use flightdeck::ingest::spool;
use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

/// A daemon that gets an error at its file size limit instead of a signal.
fn daemon_with_limits(home: &TestHome) -> TestDaemon {
    let mut command: Command = home.bare(Path::new("/bin/sh"));
    command.env("FLIGHTDECK_HOME", home.paths().home);
    command.args([
        "-c",
        "trap '' XFSZ; exec \"$0\" up --no-hooks --port 0",
        env!("CARGO_BIN_EXE_flightdeck"),
    ]);
    home.start(command)
}

fn set_file_size_limit(daemon: &TestDaemon, bytes: Option<u64>) {
    let pid = Pid::from_raw(daemon.pid() as i32);
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

/// Number of failed appends.
fn failures(daemon: &TestDaemon) -> u64 {
    let metrics = daemon.get("/metrics").text();
    let line = metrics.lines().find_map(|l| l.strip_prefix("flightdeck_store_failures_total "));
    line.unwrap().parse().unwrap()
}

fn event(n: usize) -> String {
    json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": format!("Tool{n}"), "tool_use_id": n}).to_string()
}

#[test]
fn a_store_that_cannot_write_acknowledges_nothing_and_recovers_by_itself() {
    let home = test_home();
    let daemon = daemon_with_limits(&home);
    assert_eq!(daemon.post("/api/live/hook", &event(0)).status, 204);
    let before = daemon.card("s");

    set_file_size_limit(&daemon, Some(64));
    let refused = daemon.post("/api/live/hook", &event(1));
    assert_eq!(refused.status, 503);
    assert!(refused.error().starts_with("the event could not be stored: "), "{}", refused.error());
    let answer =
        home.socket().ask(&json!({"cmd": "hook", "args": {"session_id": "s", "hook_event_name": "Stop"}}));
    assert_eq!((&answer["ok"], &answer["error"]), (&json!(false), &json!("HANDLER_ERROR")));
    (2..=4).for_each(|n| home.hook(&event(n)));
    assert_eq!(spool::list(&home.paths().spool()).unwrap().len(), 3);
    assert_eq!(daemon.card("s"), before);

    let health = daemon.get("/healthz");
    assert_eq!((health.status, &health.json()["status"]), (503, &json!("degraded")));
    let reason = health.json()["reasons"][0].as_str().unwrap().to_owned();
    assert!(reason.starts_with("events cannot be stored: "), "{reason}");
    assert!(daemon.get("/metrics").text().contains("flightdeck_healthy 0\n"));
    let status = home.run(&["status"]);
    assert_eq!(status.code, 1);
    assert!(status.out.contains("degraded") && status.out.contains(&reason), "{}", status.out);

    // The daemon has also failed to store the spooled events, so only a retry can store them.
    until("the spool was tried", || (failures(&daemon) > 5).then_some(()));
    set_file_size_limit(&daemon, None);
    until("the spool is empty", || spool::list(&home.paths().spool()).unwrap().is_empty().then_some(()));
    assert_eq!(daemon.get("/healthz").status, 200);
    let events = daemon.get("/api/sessions/s/events").json()["events"].clone();
    let said: Vec<_> = events.as_array().unwrap().iter().map(|e| e["summary"].as_str().unwrap()).collect();
    assert_eq!(said, ["Tool0", "Tool2", "Tool3", "Tool4"]);
}
