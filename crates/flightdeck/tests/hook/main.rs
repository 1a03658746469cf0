//! Tests of `flightdeck hook`: the built binary, an empty environment, a throw-away home and a fake daemon.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at its first failure"
)]

#[cfg(target_os = "linux")]
mod code_placement;
mod stage;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use flightdeck::frame::EventFrame;
use flightdeck::ingest::spool;
use flightdeck_core::log::record::EventId;
use serde_json::Value;
use stage::{ACK, Stage};

const STOP: &str = r#"{"session_id":"s-1","hook_event_name":"Stop","cwd":"/w"}"#;

fn text(value: &serde_json::Map<String, Value>) -> String {
    Value::from(value.clone()).to_string()
}

// Delivery

#[test]
fn an_event_reaches_the_daemon_as_it_was_written() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| client.reply(ACK));
    stage.hook().patient().run(format!("{STOP}\n")).said_nothing();
    let line = daemon.join().unwrap();
    assert!(line.starts_with(&format!(r#"{{"cmd":"hook","args":{STOP},"env":{{"id":""#)), "{line}");
    assert!(stage.nothing_spooled());
}

#[test]
fn an_event_over_many_lines_arrives_as_one() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| client.reply(ACK));
    stage.hook().patient().run("{\n  \"session_id\": \"s\",\n  \"text\": \"a\\nb\"\n}\n").said_nothing();
    let frame = EventFrame::parse(daemon.join().unwrap().as_bytes()).unwrap();
    assert_eq!(text(&frame.args), r#"{"session_id":"s","text":"a\nb"}"#);
}

#[test]
fn an_event_of_20_mb_is_delivered_whole() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| client.reply(ACK));
    let payload = format!(r#"{{"session_id":"s","content":"{}"}}"#, "x".repeat(20 << 20));
    stage.hook().patient().run(payload.clone()).said_nothing();
    let line = daemon.join().unwrap();
    assert!(line[r#"{"cmd":"hook","args":"#.len()..].starts_with(&payload));
    assert!(stage.nothing_spooled());
}

#[test]
fn an_event_over_64_mb_arrives_without_its_large_parts() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| client.reply(ACK));
    let head = STOP.trim_end_matches('}');
    stage.hook().patient().run(format!(r#"{head},"content":"{}"}}"#, "x".repeat(65 << 20))).said_nothing();
    let frame = EventFrame::parse(daemon.join().unwrap().as_bytes()).unwrap();
    assert_eq!(text(&frame.args), format!(r#"{head},"truncated":true}}"#));
}

#[test]
fn empty_input_is_ignored() {
    let stage = Stage::new();
    stage.hook().run("").said_nothing();
    stage.hook().run(" \n").said_nothing();
    assert!(stage.nothing_spooled());
}

#[test]
fn a_writer_that_never_closes_is_not_waited_for() {
    let stage = Stage::new();
    stage.hook().run_unclosed(STOP).said_nothing();
    stage.hook().run_unclosed(r#"{"session_id":"half"#).said_nothing();
    let events = stage.spooled();
    assert_eq!(events.len(), 1);
    assert_eq!(text(&events[0].args), STOP);
}

// Verdicts

#[test]
fn a_verdict_is_printed_byte_for_byte() {
    let stage = Stage::new();
    let verdict = r#"{"b": 1.0, "a":"\u00e4\n", "c":[ ]}"#;
    let reply = format!(r#"{{"ok":true,"data":{{"seq":1,"hold_ms":0,"verdict":{verdict}}}}}"#);
    let daemon = stage.daemon(move |client| client.reply(&reply));
    stage.hook().patient().run(STOP).printed(verdict);
    daemon.join().unwrap();
}

#[test]
fn a_verdict_is_confirmed_once_it_is_printed() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| {
        client.reply(DENY);
        assert_eq!(client.line(), "{\"printed\":true}\n");
        client.wait_for_end();
    });
    stage.hook().patient().run(STOP).printed(r#"{"decision":"deny"}"#);
    let sent = EventFrame::parse(daemon.join().unwrap().as_bytes()).unwrap();
    assert_eq!(sent.env["confirms"], true);
}

#[test]
fn a_verdict_is_not_confirmed_if_the_client_has_stopped_listening() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| {
        client.reply(DENY);
        client.wait_for_end();
    });
    stage.hook().patient().run_without_listener(STOP);
    daemon.join().unwrap();
}

const DENY: &str = r#"{"ok":true,"data":{"seq":1,"hold_ms":0,"verdict":{"decision":"deny"}}}"#;

#[test]
fn a_hook_that_waits_for_a_verdict_says_so_and_no_other_does() {
    for waits in [false, true] {
        let stage = Stage::new();
        let daemon = stage.daemon(|client| client.reply(ACK));
        let hook = stage.hook().patient();
        if waits { hook.waiting_for_a_verdict() } else { hook }.run(STOP).said_nothing();
        let sent = EventFrame::parse(daemon.join().unwrap().as_bytes()).unwrap();
        assert_eq!(sent.env.get("waits"), waits.then_some(&true.into()));
    }
}

#[test]
fn a_late_verdict_lets_the_tool_run_and_the_event_waits_in_the_spool() {
    let stage = Stage::new();
    let (late, may_reply) = std::sync::mpsc::channel::<()>();
    let daemon = stage.daemon(move |client| {
        may_reply.recv().unwrap();
        client.reply(DENY);
    });
    stage.hook().waiting_for_a_verdict().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
    late.send(()).unwrap();
    daemon.join().unwrap();
}

const HOLD: &str = r#"{"ok":true,"data":{"seq":1,"hold_ms":60000,"verdict":null}}"#;

#[test]
fn a_held_hook_prints_the_answer_when_it_comes() {
    let stage = Stage::new();
    let acknowledged_within = Duration::from_secs(3);
    let daemon = stage.daemon(move |client| {
        client.reply(HOLD);
        // Longer than that time, which began before the hook sent anything.
        std::thread::sleep(acknowledged_within + Duration::from_millis(100));
        client.reply(r#"{"ok":true,"data":{"verdict":{"decision":"allow"}}}"#);
    });
    stage.hook().waiting(acknowledged_within).run(STOP).printed(r#"{"decision":"allow"}"#);
    daemon.join().unwrap();
}

#[test]
fn both_replies_may_arrive_in_one_read() {
    let stage = Stage::new();
    let both = format!("{HOLD}\n{}", r#"{"ok":true,"data":{"verdict":{"x":1}}}"#);
    let daemon = stage.daemon(move |client| client.reply(&both));
    stage.hook().patient().run(STOP).printed(r#"{"x":1}"#);
    daemon.join().unwrap();
}

#[test]
fn a_held_hook_prints_nothing_when_the_daemon_disconnects_or_has_no_verdict() {
    let no_verdict = r#"{"ok":true,"data":{"verdict":null}}"#;
    for second in [None, Some(no_verdict), Some(r#"{"ok":false,"error":"ALREADY_ENDED"}"#), Some("?")] {
        let stage = Stage::new();
        let daemon = stage.daemon(move |client| {
            client.reply(HOLD);
            second.into_iter().for_each(|line| client.reply(line));
        });
        stage.hook().patient().run(STOP).said_nothing();
        daemon.join().unwrap();
        assert!(stage.nothing_spooled());
    }
}

#[test]
fn a_held_hook_ends_when_its_client_is_gone() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| {
        client.reply(HOLD);
        client.wait_for_end();
    });
    stage.hook().patient().run_and_stop_listening(STOP);
    daemon.join().unwrap();
}

// Delivery fails

fn is_spooled_once(stage: &Stage) {
    let events = stage.spooled();
    assert_eq!(events.len(), 1);
    assert_eq!(text(&events[0].args), STOP);
}

#[test]
fn without_a_daemon_the_event_waits_in_the_spool() {
    let stage = Stage::new();
    stage.hook().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stage.spool()), 0o700);
    assert_eq!(mode(&spool::list(&stage.spool()).unwrap()[0].path), 0o600);
    assert_eq!(stage.names_in_spool().len(), 1);
}

#[test]
fn a_socket_left_by_a_dead_daemon_does_not_matter() {
    let stage = Stage::new();
    drop(stage.listen());
    assert!(stage.socket().exists());
    stage.hook().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
}

#[test]
fn a_daemon_that_never_replies_is_not_waited_for() {
    let stage = Stage::new();
    let _never_accepts = stage.listen();
    stage.hook().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
}

#[test]
fn a_daemon_too_busy_to_accept_is_not_waited_for() {
    let stage = Stage::new();
    let _full = stage.listen_with_full_backlog();
    stage.hook().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
}

#[test]
fn a_daemon_that_stops_reading_in_the_middle_is_not_waited_for() {
    let stage = Stage::new();
    let _never_reads = stage.listen();
    stage
        .hook()
        .run(format!(r#"{{"session_id":"s","x":"{}"}}"#, "x".repeat(2 << 20)))
        .at_once()
        .said_nothing();
    assert_eq!(stage.spooled().len(), 1);
}

#[test]
fn an_event_that_was_not_acknowledged_is_spooled_with_the_same_id() {
    for reply in ["", "garbage", r#"{"ok":false,"error":"HANDLER_ERROR","message":"disk"}"#, r#"{"ok":true"#]
    {
        let stage = Stage::new();
        let daemon = stage.daemon(move |client| client.reply(reply));
        stage.hook().patient().run(STOP).said_nothing();
        let sent = EventFrame::parse(daemon.join().unwrap().as_bytes()).unwrap();
        assert_eq!(stage.spooled(), [sent], "{reply}");
    }
}

#[test]
fn an_event_the_daemon_calls_invalid_is_not_spooled() {
    let stage = Stage::new();
    let daemon = stage.daemon(|client| {
        client.reply(r#"{"ok":false,"error":"VALIDATION_ERROR","message":"no session_id"}"#)
    });
    stage.hook().patient().run("{}").said_nothing();
    daemon.join().unwrap();
    assert!(stage.nothing_spooled());
}

#[test]
fn the_spool_keeps_the_order_of_firing_and_every_id_is_its_own() {
    let stage = Stage::new();
    for n in 0..50 {
        stage.hook().run(format!(r#"{{"session_id":"s","n":{n}}}"#)).said_nothing();
    }
    let events = stage.spooled();
    let order: Vec<_> = events.iter().map(|e| e.args["n"].as_u64().unwrap()).collect();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
    let ids: BTreeSet<_> = events.iter().map(|e| e.env["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 50);
}

#[test]
fn a_hook_drops_and_counts_events_that_are_too_old() {
    let stage = Stage::new();
    stage.hook().run(STOP).said_nothing();
    let fresh = &spool::list(&stage.spool()).unwrap()[0];
    let old =
        stage.spool().join(spool::file_name(fresh.fired_ns - 8 * 24 * 3_600_000_000_000, EventId(fresh.id)));
    std::fs::rename(&fresh.path, &old).unwrap();
    // Large enough to enforce the bounds every time.
    stage.hook().run(format!(r#"{{"session_id":"s","x":"{}"}}"#, "x".repeat(1 << 20))).said_nothing();
    let stats = spool::stats(&stage.spool()).unwrap();
    assert_eq!((stats.files, stats.dropped), (1, 1));
    assert!(!old.exists());
}

// The spool cannot be written

#[test]
fn a_removed_home_is_not_created_again() {
    let stage = Stage::new();
    std::fs::remove_dir_all(stage.home()).unwrap();
    stage.hook().run(STOP).at_once().said_nothing();
    assert!(!stage.home().exists());
}

#[test]
fn a_home_that_is_a_file_changes_nothing() {
    let stage = Stage::new();
    std::fs::remove_dir_all(stage.home()).unwrap();
    std::fs::write(stage.home(), "mine").unwrap();
    stage.hook().run(STOP).at_once().said_nothing();
    assert_eq!(std::fs::read(stage.home()).unwrap(), b"mine");
}

#[test]
fn a_disk_that_refuses_leaves_nothing_behind() {
    let stage = Stage::new();
    stage.hook_in_shell("ulimit -f 0; exec").run(STOP).at_once().said_nothing();
    assert_eq!(stage.names_in_spool(), [""; 0]);
}

#[test]
fn an_unwritable_home_is_survived() {
    let stage = Stage::new();
    std::fs::set_permissions(stage.home(), PermissionsExt::from_mode(0o500)).unwrap();
    stage.hook().run(STOP).said_nothing();
    std::fs::set_permissions(stage.home(), PermissionsExt::from_mode(0o700)).unwrap();
    // Root writes anyway.
    assert!(rustix::process::geteuid().is_root() || !stage.spool().exists());
}

#[test]
fn a_spool_that_is_a_link_to_another_users_folder_is_refused() {
    let stage = Stage::new();
    let Some(theirs) = stage.folder_of_another_user() else { return };
    std::os::unix::fs::symlink(&theirs, stage.spool()).unwrap();
    stage.hook().run(STOP).at_once().said_nothing();
    assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 0);
}

#[test]
fn a_socket_in_another_users_folder_gets_nothing() {
    let stage = Stage::new();
    let _listener = stage.listen();
    if !stage.give_away(stage.socket().parent().unwrap()) {
        return;
    }
    stage.hook().run(STOP).at_once().said_nothing();
    is_spooled_once(&stage);
}

// The environment of an event

#[test]
fn only_named_variables_are_sent_and_no_secret() {
    let stage = Stage::new();
    let mut hook = stage.hook();
    for (name, value) in [
        ("CLAUDE_CODE_MESSAGING_TOKEN", "sesame-1"),
        ("CLAUDE_CODE_MESSAGING_SOCKET", "sesame-2"),
        ("ANTHROPIC_API_KEY", "sesame-3"),
        ("PATH", "sesame-4"),
        ("TMUX", "/tmp/tmux-1/default,7,0"),
        ("TMUX_PANE", "%5"),
        ("AGENT_ID", "seat \"one\""),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ] {
        hook.env(name, value);
    }
    hook.run(STOP).said_nothing();
    let event = &stage.spooled()[0];
    assert!(!text(&event.env).contains("sesame"));
    assert_eq!(event.env["TMUX"], "/tmp/tmux-1/default,7,0");
    assert_eq!(event.env["TMUX_PANE"], "%5");
    assert_eq!(event.env["AGENT_ID"], "seat \"one\"");
    assert_eq!(event.env["CLAUDE_CODE_ENTRYPOINT"], "cli");
    assert!(!event.env.contains_key("FLIGHTDECK_SEAT"));
}

#[test]
fn a_variable_that_is_not_utf_8_is_sent_as_text() {
    let stage = Stage::new();
    let mut hook = stage.hook();
    hook.env("CLAUDE_PROJECT_DIR", std::ffi::OsString::from_vec(b"/w/\xff\"".to_vec()));
    hook.run(STOP).said_nothing();
    assert_eq!(stage.spooled()[0].env["CLAUDE_PROJECT_DIR"], "/w/\u{fffd}\"");
}

#[test]
fn the_stamp_has_the_time_and_the_file_has_its_name() {
    let stage = Stage::new();
    stage.hook().run(STOP).said_nothing();
    let file = &spool::list(&stage.spool()).unwrap()[0];
    let event = spool::read(file).unwrap();
    assert_eq!(event.env["id"], EventId(file.id).to_string());
    assert_eq!(event.env["fired_ns"], file.fired_ns.to_string());
    let fired_at = flightdeck_core::time::Timestamp::parse(event.env["fired_at"].as_str().unwrap()).unwrap();
    assert_eq!(fired_at.as_millis().cast_unsigned(), file.fired_ns / 1_000_000);
}

#[test]
fn the_client_is_the_process_in_claude_pid() {
    let stage = Stage::new();
    let mut client = Command::new("sleep").arg("60").spawn().unwrap();
    let mut hook = stage.hook();
    hook.env("CLAUDE_PID", client.id().to_string());
    hook.run(STOP).said_nothing();
    let event = &stage.spooled()[0];
    assert_eq!(event.env["pid"], client.id());
    if cfg!(target_os = "linux") {
        assert_eq!(event.env["proc_start"], stage::start_time_by_cut(client.id()));
    }
    client.kill().unwrap();
    client.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn without_claude_pid_the_client_is_the_ancestor_behind_the_shells() {
    let stage = Stage::new();
    stage.hook_in_shell("true; sh -c '\"$@\"; true' sh").run(STOP).said_nothing();
    let event = &stage.spooled()[0];
    assert_eq!(event.env["pid"], std::process::id());
    assert_eq!(event.env["proc_start"], stage::start_time_by_cut(std::process::id()));
}

#[cfg(target_os = "linux")]
#[test]
fn the_terminal_is_the_clients_own() {
    let stage = Stage::new();
    stage.hook().run(STOP).said_nothing();
    let tty = flightdeck::process::tty(std::process::id());
    assert_eq!(stage.spooled()[0].env.get("tty").and_then(Value::as_str), tty.as_deref());
}
