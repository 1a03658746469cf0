//! `share = "no_payloads"`, checked on the bytes that reach the server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flightdeck_e2e::testkit::NatsServer;
use serde_json::json;

use crate::fleet::Host;

/// Passes bytes to the server and keeps a copy of everything that is sent to it.
fn recording_proxy(to: u16) -> (u16, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, sent) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<u8>>>::default());
    let copy = Arc::clone(&sent);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = TcpStream::connect(("127.0.0.1", to)).unwrap();
            let (up, down) = ((client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client));
            let copy = Arc::clone(&copy);
            std::thread::spawn(move || pass(up, Some(&copy)));
            std::thread::spawn(move || pass(down, None));
        }
    });
    (port, sent)
}

fn pass((mut from, mut to): (TcpStream, TcpStream), copy: Option<&Mutex<Vec<u8>>>) {
    let mut bytes = [0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if let Some(copy) = copy {
            copy.lock().unwrap().extend_from_slice(&bytes[..n]);
        }
        if to.write_all(&bytes[..n]).is_err() {
            return;
        }
    }
}

#[test]
fn a_host_without_payloads_sends_no_prompt_command_path_or_output() {
    let Some(nats) = NatsServer::start() else { return };
    let (port, sent) = recording_proxy(nats.port());
    let a = Host::stopped(
        &format!("nats://127.0.0.1:{port}"),
        "a",
        false,
        "share = \"no_payloads\"\naccept = [\"answer\", \"prompt\"]",
    )
    .started();
    let hub = Host::hub(&nats, "desk");
    let base = |name: &str| json!({"session_id": "s", "hook_event_name": name, "cwd": "/home/SECRET/billing", "transcript_path": "/SECRET/t.jsonl"});
    let with = |name: &str, more: serde_json::Value| {
        let mut payload = base(name);
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload
    };
    let call = json!({"tool_name": "Bash", "tool_use_id": "t0", "tool_input": {"command": "SECRET"}, "tool_response": "SECRET"});
    a.post(&with("SessionStart", json!({"source": "startup", "session_title": "SECRET"})));
    a.post(&with("UserPromptSubmit", json!({"prompt": "SECRET"})));
    a.post(&with("PreToolUse", call.clone()));
    a.post(&with("PostToolUse", call));
    a.post(&with("Stop", json!({"last_assistant_message": "SECRET", "background_tasks": [{"type": "shell", "command": "SECRET"}]})));
    let (_hook, ask) = a.asks("t", "rm -rf SECRET");
    let card =
        hub.until_card("s@a", |card| card["owner"]["shares_payloads"] == false && card["turn_count"] == 1);
    assert_eq!(
        (&card["project"]["name"], &card["last_user_message"]),
        (&json!("billing"), &json!("(not shared)"))
    );
    let asking = hub.until_card("t@a", |card| card["asks"][0]["id"] == ask.as_str());
    assert_eq!(
        (&asking["asks"][0]["tool_name"], &asking["agent_state"]["state"]),
        (&json!("Bash"), &json!("needs_permission"))
    );

    let answer = |decision: &str| {
        let body = json!({"decision": decision}).to_string();
        hub.daemon().post(&format!("/api/asks/{ask}/answer"), &body)
    };
    let refused = answer("allow");
    assert_eq!(refused.status, 409);
    let why = refused.json()["message"].as_str().unwrap().to_owned();
    assert_eq!(why, "a shares no payloads, so its requests can be allowed only there");
    let told = hub.home.run(&["answer", "t@a", "allow", "--yes"]);
    assert!(told.code == 1 && told.err.contains("can be allowed only there"), "{told:?}");
    assert_eq!(answer("deny").status, 200, "a refusal is safe without knowing the command");
    // The session has no pane; on the host itself the refusal names the folder.
    let prompt = |host: &Host, id: &str| {
        host.daemon().post(&format!("/api/sessions/{id}/prompt"), r#"{"text": "go on"}"#).json()
    };
    let (own, there) = (prompt(&a, "s"), prompt(&hub, "s@a"));
    assert!(own["message"].as_str().unwrap().contains("SECRET"), "{own}");
    assert_eq!((&there["error"], &there["resume"]), (&json!("no_pane"), &json!(null)), "{there}");
    assert!(there["message"].as_str().unwrap().starts_with("a refused (no pane)"), "{there}");
    a.until_forwarded();
    let bytes = sent.lock().unwrap().clone();
    assert!(bytes.len() > 4_000, "the proxy saw the log: {}", bytes.len());
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("UserPromptSubmit") && !text.contains("SECRET"), "{text}");
}
