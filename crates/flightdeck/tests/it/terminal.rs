//! Prompts, Esc and focus on a real tmux server, with a program that behaves like the client.

use std::fs;
use std::process::Stdio;

use flightdeck::client::BlockingClient;
use flightdeck_core::ids::HostId;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::{PATIENT_HOOK, TestDaemon, TestHome, run_hook, until};
use flightdeck_protocol::ErrorCode;
use flightdeck_protocol::terminal::Peek;
use serde_json::{Value, json};

use crate::asks::card;
use crate::home::test_home;
use crate::in_process::InProcessDaemon;
use crate::tmux::{Tmux, WithTmux};

const SESSION: &str = "0b5e7a11-aaaa-4bbb-8ccc-000000000001";

struct SessionTerminal {
    tmux: Tmux,
    daemon: TestDaemon,
    home: TestHome,
}

/// `None` where there is no tmux.
fn desk() -> Option<SessionTerminal> {
    let home = test_home();
    let tmux = home.tmux()?;
    let daemon = home.daemon();
    let desk = SessionTerminal { tmux, daemon, home };
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fake-client.sh");
    let binary = env!("CARGO_BIN_EXE_flightdeck");
    desk.tmux(&["new-session", "-d", "-s", "a", "-x", "90", "-y", "24", "bash", client, binary, SESSION]);
    until("the session is there", || {
        desk.daemon.board().iter().find(|c| c["id"] == SESSION).map(|card| {
            assert_eq!(card["agent_state"]["state"], "idle", "{card}");
            assert!(card["seat"]["pane"].is_string(), "{card}");
        })
    });
    until("its prompt box is drawn", || desk.screen().contains('❯').then_some(()));
    Some(desk)
}

impl SessionTerminal {
    #[track_caller]
    fn tmux(&self, args: &[&str]) -> String {
        self.tmux.run(args)
    }

    fn screen(&self) -> String {
        self.tmux.screen()
    }

    fn prompts(&self) -> String {
        fs::read_to_string(self.home.path().join("prompts")).unwrap_or_default()
    }

    fn post(&self, what: &str, body: &Value) -> (u16, Value) {
        let answer = self.daemon.post(&format!("/api/sessions/{SESSION}/{what}"), &body.to_string());
        (answer.status, answer.json())
    }

    #[track_caller]
    fn refused(&self, what: &str, body: &Value, error: &str) -> Value {
        let (status, answer) = self.post(what, body);
        assert_eq!((status, answer["error"].as_str()), (409, Some(error)), "{body}: {answer}");
        answer
    }

    /// Idle, with an idle screen.
    #[track_caller]
    fn rests(&self) {
        self.state("idle");
        until("its box is empty", || self.screen().lines().any(|l| l.trim_end() == "❯").then_some(()));
    }

    #[track_caller]
    fn state(&self, state: &str) {
        until(state, || (self.daemon.card(SESSION)["agent_state"]["state"] == state).then_some(()));
    }
}

#[test]
fn a_prompt_is_typed_once_and_logged() {
    let Some(desk) = desk() else { return };
    assert_eq!(
        desk.post("prompt", &json!({"text": "fix\nthe \"build\" \\"})),
        (202, json!({"confirmed": true, "message": "sent"}))
    );
    assert_eq!(desk.prompts(), "fix\nthe \"build\" \\ \n");
    desk.state("idle");
    assert_eq!(desk.daemon.card(SESSION)["turn_count"], 1);
    let events = desk.daemon.get(&format!("/api/sessions/{SESSION}/events?payload=1")).json();
    let ours: Vec<&Value> =
        events["events"].as_array().unwrap().iter().filter(|e| e["name"] == "prompted").collect();
    assert_eq!(ours.len(), 1);
    assert_eq!(ours[0]["payload"], json!({"chars": 17, "command": false, "confirmed": true}));
    assert_eq!(ours[0]["summary"], "17 characters typed into the terminal from here");
    assert_eq!(desk.post("prompt", &json!({"text": " \n"})).0, 400);
    assert_eq!(desk.post("prompt", &json!({"txt": "x"})).0, 400);
    assert_eq!(desk.post("prompt", &json!({"text": "x".repeat(300 << 10)})).0, 400);
}

#[test]
fn peek_reads_the_screen_of_the_sessions_own_pane() {
    let Some(desk) = desk() else { return };
    let mut client = BlockingClient::connect(&desk.home.paths()).unwrap();
    desk.tmux(&["send-keys", "-t", "=a:", "-l", "half a thought"]);
    let shown = until("the draft is in the pane", || {
        let screen = client.call(&Peek { session_id: SESSION.into() }).unwrap();
        screen.rows.iter().any(|row| row.ends_with("half a thought")).then_some(screen)
    });
    assert_eq!(shown.pane, desk.daemon.card(SESSION)["seat"]["pane"]);
    assert!(shown.rows.iter().all(|row| row.trim_end() == row), "{shown:?}");
    assert!(!shown.rows.last().unwrap().is_empty(), "{shown:?}");
    // The pane stays, but another program is in it.
    desk.tmux(&["respawn-pane", "-k", "-t", "=a:", "sleep 600"]);
    until("the session has left its pane", || {
        client.call(&Peek { session_id: SESSION.into() }).err().map(|refused| {
            assert_eq!(refused.code(), Some(ErrorCode::Refused), "{refused}");
        })
    });
}

#[test]
fn a_draft_is_reported_kept_or_replaced() {
    let Some(desk) = desk() else { return };
    desk.tmux(&["send-keys", "-t", "=a:", "-l", "half a thought"]);
    until("the draft is drawn", || desk.screen().contains("half a thought").then_some(()));
    let told = desk.refused("prompt", &json!({"text": "go"}), "draft");
    assert_eq!((&told["draft"], &told["choices"]), (&json!("half a thought"), &json!(["keep", "replace"])));
    assert_eq!(desk.post("prompt", &json!({"text": "go", "draft": "keep"})).0, 202);
    desk.state("idle");
    until("the draft is back", || desk.screen().contains("half a thought").then_some(()));
    assert_eq!(desk.post("prompt", &json!({"text": "on", "draft": "replace"})).0, 202);
    assert_eq!(desk.prompts(), "go\non\n");
}

#[test]
fn esc_needs_a_confirmation_and_something_to_interrupt() {
    let Some(desk) = desk() else { return };
    desk.refused("interrupt", &json!({"confirm": true}), "not_working");
    assert_eq!(desk.post("prompt", &json!({"text": "work"})).0, 202);
    desk.refused("prompt", &json!({"text": "more"}), "not_idle");
    let asked = desk.refused("interrupt", &json!({}), "confirm");
    assert_eq!(asked["confirm"], "interrupt");
    assert_eq!(
        desk.post("interrupt", &json!({"confirm": true})),
        (202, json!({"confirmed": true, "message": "interrupted"}))
    );
    desk.state("idle");
    assert_eq!(desk.refused("interrupt", &json!({"stop": true}), "confirm")["confirm"], "stop");
    assert_eq!(desk.post("interrupt", &json!({"stop": true, "confirm": true})).0, 202);
    desk.state("session_ended");
    let told = desk.refused("prompt", &json!({"text": "go"}), "ended");
    assert!(told["resume"].as_str().unwrap().ends_with(&format!("claude --resume {SESSION}")), "{told}");
}

#[test]
fn nothing_is_typed_into_a_pane_that_is_in_copy_mode_or_shared() {
    let Some(desk) = desk() else { return };
    desk.tmux(&["copy-mode", "-t", "=a:"]);
    desk.refused("prompt", &json!({"text": "go"}), "pane_not_free");
    desk.tmux(&["send-keys", "-t", "=a:", "-X", "cancel"]);
    desk.tmux(&["set-option", "-w", "-t", "=a:", "synchronize-panes", "on"]);
    desk.refused("prompt", &json!({"text": "go"}), "pane_not_free");
    desk.tmux(&["set-option", "-w", "-t", "=a:", "synchronize-panes", "off"]);
    assert_eq!(desk.post("prompt", &json!({"text": "go"})).0, 202);
    assert_eq!(desk.prompts(), "go\n");
}

#[test]
fn the_command_line_sends_and_interrupts_and_prints_refusals() {
    let Some(desk) = desk() else { return };
    let run = |args: &[&str]| desk.home.run(args);
    assert_eq!(run(&["send", &SESSION[..6], "fix", "the", "build"]).success(), "sent\n");
    desk.rests();
    assert_eq!(desk.prompts(), "fix the build\n");
    let said = run(&["send", "next", "/clear"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""));
    assert!(said.err.contains("the command /clear") && said.err.contains("--as command"), "{}", said.err);
    assert_eq!(
        run(&["send", "next", "--as", "command", "/clear"]).success(),
        "the client took it as a command\n"
    );
    let said = run(&["send", "--json", "next", "!ls"]);
    assert_eq!(
        (said.code, serde_json::from_str::<Value>(&said.out).unwrap()["confirm"].as_str()),
        (1, Some("command"))
    );
    desk.rests();
    let mut piped = desk.home.flightdeck(&["send", "--as", "text", "next", "-"]);
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"!work on\n").unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), "sent\n");
    desk.rests();
    assert_eq!(run(&["send", "next", "work"]).success(), "sent\n");
    let said = run(&["interrupt", &SESSION[..6]]);
    assert!(said.code == 1 && said.err.contains("--yes"), "{said:?}");
    assert_eq!(run(&["interrupt", &SESSION[..6], "--yes"]).success(), "interrupted\n");
    let said = run(&["focus", &SESSION[..6]]);
    assert!(said.code == 1 && said.err.contains("attach"), "{said:?}");
    assert!(run(&["focus", "unknown"]).err.contains("no session unknown"));
}

#[test]
fn without_a_pane_focus_prints_the_resume_command_or_runs_the_configured_one() {
    let home = test_home();
    let daemon = home.daemon();
    daemon.post("/api/live/hook", r#"{"session_id":"s","hook_event_name":"Stop","cwd":"/w/it's here"}"#);
    for what in ["prompt", "interrupt", "focus"] {
        let answer = daemon.post(&format!("/api/sessions/s/{what}"), r#"{"text":"go","confirm":true}"#);
        let told = answer.json();
        assert_eq!((answer.status, told["error"].as_str()), (409, Some("no_pane")), "{what}: {told}");
        assert_eq!(told["resume"], r#"cd "/w/it's here" && claude --resume s"#);
    }
    drop(daemon);
    let made = home.path().join("made");
    let config = format!("focus_command = \"touch '{}-{{session_id}}'\"\n", made.display());
    fs::write(home.paths().home.join("config.toml"), config).unwrap();
    let daemon = home.daemon();
    let mut hook = home.flightdeck(&PATIENT_HOOK);
    hook.env("CLAUDE_PID", std::process::id().to_string());
    run_hook(&mut hook, r#"{"session_id":"t","hook_event_name":"Stop","cwd":"/w"}"#);
    let answer = daemon.post("/api/sessions/t/focus", "{}");
    assert_eq!(answer.status, 202, "{}", answer.text());
    assert!(home.path().join("made-t").exists());
}

/// An event of a session whose process has a pid of this machine, but runs on another one.
fn on_build_1(name: &str, more: Value) -> Record {
    let object = |json: Value| json.as_object().cloned().unwrap();
    let mut payload = object(json!({"session_id": SESSION, "hook_event_name": name, "cwd": "/w/far"}));
    payload.extend(object(more));
    let env = object(
        json!({"pid": std::process::id(), "proc_start": "1", "TMUX": "/tmp/t,1,0", "TMUX_PANE": "%1"}),
    );
    let draft = HookDraft { name_in_path: None, payload, env, bytes: 0 };
    let id = EventId(if name == "SessionStart" { 1 } else { 2 });
    Record { host: HostId::new("build-1"), ..draft.into_record(id).unwrap() }
}

#[test]
fn keys_and_signals_do_not_reach_a_session_on_another_host() {
    let deck = InProcessDaemon::new();
    deck.append(vec![on_build_1("SessionStart", json!({"source": "startup"}))]).unwrap();
    let asked = |command: &str, args: &Value| {
        let reply = deck.socket().ask(&json!({"cmd": command, "args": args}));
        (reply["details"]["error"].clone(), reply["message"].as_str().unwrap_or_default().to_owned(), reply)
    };
    for (command, args) in [
        ("prompt", json!({"session_id": SESSION, "text": "go on"})),
        ("interrupt", json!({"session_id": SESSION, "confirm": true})),
        ("interrupt", json!({"session_id": SESSION, "stop": true, "confirm": true})),
        ("focus", json!({"session_id": SESSION})),
    ] {
        let (code, message, reply) = asked(command, &args);
        assert_eq!(code, "no_pane", "{command}: {reply}");
        assert!(message.starts_with("the session runs on build-1"), "{command}: {reply}");
    }
    assert_eq!(card(&deck, SESSION)["seat"]["host"], "build-1");
    deck.append(vec![on_build_1("SessionEnd", json!({"reason": "other"}))]).unwrap();
    let (code, message, _) = asked("focus", &json!({"session_id": SESSION}));
    assert_eq!(code, "ended");
    // This test's own process has the pid of that session, and its folder must not be named.
    assert_eq!(
        message,
        format!(
            "the session ended on build-1. Resume it in a terminal there: cd /w/far && claude --resume {SESSION}"
        )
    );
}
