//! Which sessions are dead: only by the process table, and only in the same pid namespace.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use crate::home::test_home;
use flightdeck::process;
use flightdeck_e2e::testkit::{PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use serde_json::{Value, json};

/// A process that has ended: its pid and start time.
fn dead_process() -> (u32, String) {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let start = process::start_time(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    (child.id(), start)
}

fn starts(home: &TestHome, session: &str, env: Value) {
    let start =
        json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/w"});
    assert_eq!(home.socket().ask(&json!({"cmd": "hook", "args": start, "env": env}))["ok"], true);
}

fn end_reason(daemon: &TestDaemon, session: &str) -> Value {
    daemon.card(session)["end_reason"].clone()
}

#[test]
fn a_process_that_is_gone_before_its_hook_is_handled_ends_the_session_and_unknown_is_not_dead() {
    let home = test_home();
    let daemon = home.daemon();
    let seat = |ns: Option<&str>| {
        let (pid, start) = dead_process();
        json!({"pid": pid, "proc_start": start, "pid_ns": ns})
    };
    starts(&home, "container", seat(Some("pid:[1]")));
    starts(&home, "untold", seat(None));
    starts(&home, "here", seat(process::namespace().as_deref()));
    until("the death is noticed", || (end_reason(&daemon, "here") == "process_died").then_some(()));
    // These two sessions arrived first, so they were checked first.
    assert_eq!([end_reason(&daemon, "container"), end_reason(&daemon, "untold")], [Value::Null, Value::Null]);

    // A restart checks every session, and still cannot see into the container.
    drop(daemon);
    let daemon = home.daemon();
    until("the restart looked", || (end_reason(&daemon, "untold") == "process_died").then_some(()));
    assert_eq!(end_reason(&daemon, "container"), Value::Null);
}

#[test]
fn the_hook_reports_the_namespace_of_its_pid() {
    let home = test_home();
    let daemon = home.daemon();
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    // The process was gone before the hook ran; only a known namespace makes that a death.
    hook.env("CLAUDE_PID", dead_process().0.to_string());
    run_hook(&mut hook, r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}"#);
    until("the death is noticed", || (end_reason(&daemon, "s") == "process_died").then_some(()));
}
