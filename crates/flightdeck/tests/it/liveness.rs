//! Who is dead: only by the process table, and only where its numbers mean the same.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use flightdeck::process;
use serde_json::{Value, json};

use crate::stage::{Daemon, PATIENT_HOOK, Stage, feed, until};

/// A process that is over: its pid, and when it started.
fn dead_process() -> (u32, String) {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let start = process::start_time(child.id()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    (child.id(), start)
}

fn starts(stage: &Stage, session: &str, env: Value) {
    let start =
        json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "/w"});
    assert_eq!(stage.socket().ask(&json!({"cmd": "hook", "args": start, "env": env}))["ok"], true);
}

fn end_reason(daemon: &Daemon, session: &str) -> Value {
    daemon.card(session)["end_reason"].clone()
}

#[test]
fn a_process_that_is_gone_before_its_hook_is_handled_ends_the_session_and_unknown_is_not_dead() {
    let stage = Stage::new();
    let daemon = stage.daemon();
    let seat = |ns: Option<&str>| {
        let (pid, start) = dead_process();
        json!({"pid": pid, "proc_start": start, "pid_ns": ns})
    };
    starts(&stage, "container", seat(Some("pid:[1]")));
    starts(&stage, "untold", seat(None));
    starts(&stage, "here", seat(process::namespace().as_deref()));
    until("the death is noticed", || (end_reason(&daemon, "here") == "process_died").then_some(()));
    // They came first, so they were looked at first.
    assert_eq!([end_reason(&daemon, "container"), end_reason(&daemon, "untold")], [Value::Null, Value::Null]);

    // A restart looks for everybody, and still cannot see into the container.
    drop(daemon);
    let daemon = stage.daemon();
    until("the restart looked", || (end_reason(&daemon, "untold") == "process_died").then_some(()));
    assert_eq!(end_reason(&daemon, "container"), Value::Null);
}

#[test]
fn the_hook_tells_in_which_namespace_its_pid_is_one() {
    let stage = Stage::new();
    let daemon = stage.daemon();
    let mut hook = stage.flightdeck(&PATIENT_HOOK);
    // Gone before the hook ran: only the namespace makes its absence a death.
    hook.env("CLAUDE_PID", dead_process().0.to_string());
    feed(&mut hook, r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"x"}"#);
    until("the death is noticed", || (end_reason(&daemon, "s") == "process_died").then_some(()));
}
