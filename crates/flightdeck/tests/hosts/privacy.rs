//! `share = "no_payloads"`, checked on the bytes that reach the server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use std::cell::Cell;
use std::fs;

use flightdeck_core::wire::hook_name::HookName;
use flightdeck_e2e::testkit::NatsServer;
use serde_json::{Map, Value, json};

use crate::fleet::{Host, until};

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

/// Makes texts that are words, so that no rule about spaces or slashes removes them, and each of which is told apart.
#[derive(Default)]
struct Secrets(Cell<u32>);

/// Every secret begins with it.
const SECRET: &str = "hush";

impl Secrets {
    fn next(&self) -> String {
        self.0.set(self.0.get() + 1);
        format!("{SECRET}{}word", self.0.get())
    }

    /// Puts a secret in place of every `"*"`, at every depth.
    fn fill(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text == "*" => self.next().into(),
            Value::Array(items) => items.into_iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| (key, self.fill(value))).collect())
            }
            other => other,
        }
    }

    /// Every field of the contract as a text, as an object, or as a list of objects.
    fn fields(&self, shape: Shape) -> Map<String, Value> {
        let object = |depth: u32| {
            let inner = FIELDS.iter().map(|key| ((*key).to_owned(), self.next().into()));
            let mut object: Map<String, Value> = inner.collect();
            object.insert(self.next(), self.next().into());
            if depth > 0 {
                object.insert("current_usage".into(), json!({ self.next(): 1, "input_tokens": self.next() }));
            }
            Value::Object(object)
        };
        let value = || match shape {
            Shape::Text => self.next().into(),
            Shape::Object => object(1),
            Shape::List => json!([object(0), self.next(), 7]),
        };
        FIELDS.iter().map(|key| ((*key).to_owned(), value())).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Text,
    Object,
    List,
}

/// Every field that section 3 of the client's contract names, those of a status line, of the registry and of this daemon's own records,
/// and one of a later client. Without the id of the session and the name of the event, which are sent.
const FIELDS: &[&str] = &[
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "effort",
    "source",
    "model",
    "session_title",
    "trigger",
    "file_path",
    "memory_type",
    "load_reason",
    "globs",
    "trigger_file_path",
    "parent_file_path",
    "prompt",
    "expansion_type",
    "command_name",
    "command_args",
    "command_source",
    "tool_name",
    "tool_input",
    "tool_use_id",
    "mcp_server",
    "permission_suggestions",
    "reason",
    "tool_response",
    "error",
    "tool_calls",
    "message",
    "title",
    "notification_type",
    "last_assistant_message",
    "background_tasks",
    "session_crons",
    "error_details",
    "agent_transcript_path",
    "custom_instructions",
    "compact_summary",
    "from_model",
    "to_model",
    "requested_model",
    "cache_ttl",
    "pricing",
    "task_id",
    "task_subject",
    "task_description",
    "teammate_name",
    "team_name",
    "mcp_server_name",
    "mode",
    "url",
    "elicitation_id",
    "requested_schema",
    "action",
    "content",
    "old_cwd",
    "new_cwd",
    "event",
    "directory",
    "name",
    "worktree_path",
    "turn_id",
    "message_id",
    "delta",
    "id",
    "type",
    "status",
    "description",
    "command",
    "server",
    "tool",
    "workspace",
    "version",
    "cost",
    "context_window",
    "rate_limits",
    "prompt_cache",
    "worktree",
    "branch",
    "waitingFor",
    "procStart",
    "why",
    "from",
    "by",
    "ask_id",
    "answer",
    "until",
    "flightdeck_clipped",
    "tmux_pane",
    "pid",
    "is_interrupt",
    "stop_hook_active",
    "a_field_of_a_later_client",
];

fn event(session: &str, name: &str, fields: Map<String, Value>) -> Value {
    let mut payload = fields;
    payload.insert("session_id".into(), session.into());
    payload.insert("hook_event_name".into(), name.into());
    Value::Object(payload)
}

fn without_payloads(nats: &NatsServer) -> (Host, Arc<Mutex<Vec<u8>>>) {
    let (port, sent) = recording_proxy(nats.port());
    let url = format!("nats://127.0.0.1:{port}");
    (Host::stopped(&url, "a", false, "share = \"no_payloads\"").started(), sent)
}

#[track_caller]
fn assert_no_secret(sent: &Mutex<Vec<u8>>) {
    let text = String::from_utf8_lossy(&sent.lock().unwrap()).into_owned();
    let found: Vec<&str> = text.lines().filter(|line| line.to_lowercase().contains(SECRET)).collect();
    assert!(found.is_empty(), "{} messages have a secret, such as {}", found.len(), found[0]);
}

#[test]
fn no_text_of_any_field_of_any_event_is_sent_without_payloads() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, sent) = without_payloads(&nats);
    let secrets = Secrets::default();
    let known = HookName::ALL.iter().map(|info| info.name.as_str());
    for name in known.chain(["StatusLine", "FutureEvent"]) {
        for shape in [Shape::Text, Shape::Object, Shape::List] {
            a.post(&event(&format!("{name}-{shape:?}"), name, secrets.fields(shape)));
        }
    }
    let odd = secrets.next();
    a.post(&event("odd", &odd, secrets.fields(Shape::Text)));
    // What the hook of the client adds from its environment.
    let env = [
        "FLIGHTDECK_SEAT",
        "CLAUDE_PROJECT_DIR",
        "CLAUDE_CODE_ENTRYPOINT",
        "TMUX",
        "TMUX_PANE",
        "tty",
        "pid_ns",
        "proc_start",
    ];
    let env: Map<String, Value> =
        env.into_iter().map(|key| (key.to_owned(), format!("a {} of mine", secrets.next()).into())).collect();
    let start = event("env", "SessionStart", secrets.fields(Shape::Text));
    a.home.socket().hook(start.as_object().unwrap(), &env);
    a.works("last", &secrets.next());
    a.until_forwarded();
    assert_no_secret(&sent);
    let text = String::from_utf8_lossy(&sent.lock().unwrap()).into_owned();
    for name in ["PermissionDenied", "MessageDisplay", "FutureEvent", "UnknownEvent"] {
        assert!(text.contains(name), "{name} was sent");
    }
}

#[test]
fn a_hub_shows_the_states_of_a_host_without_payloads() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, sent) = without_payloads(&nats);
    let hub = Host::hub(&nats, "desk");
    let secrets = Secrets::default();
    let cwd = format!("/home/{}/api/.claude/worktrees/{}", secrets.next(), secrets.next());
    let post = |session: &str, name: &str, fields: Value| {
        let mut fields = secrets.fill(fields).as_object().unwrap().clone();
        fields.insert("cwd".into(), cwd.clone().into());
        a.post(&event(session, name, fields));
    };
    let call = json!({"tool_name": "Bash", "tool_use_id": "*", "tool_input": {"command": "*"}});
    let begin = |session: &str| {
        post(session, "SessionStart", json!({"source": "startup", "session_title": "*", "model": "*"}));
        post(session, "UserPromptSubmit", json!({"prompt": "*", "permission_mode": "plan"}));
    };
    let sessions =
        ["asks", "denied", "fails", "ends", "question", "shells", "agents", "failed", "form", "todo"];
    sessions.into_iter().for_each(begin);
    let fixed = secrets.fill(call.clone());
    post("asks", "PreToolUse", fixed.clone());
    let mut request = fixed.clone();
    request.as_object_mut().unwrap().remove("tool_use_id");
    post("asks", "PermissionRequest", request.clone());
    post("denied", "PreToolUse", fixed.clone());
    let mut refused = fixed.clone();
    refused["reason"] = "*".into();
    post("denied", "PermissionDenied", refused);
    post("denied", "PostToolUse", fixed.clone());
    post("fails", "PreToolUse", fixed.clone());
    post(
        "fails",
        "PostToolUseFailure",
        json!({"tool_name": "Bash", "tool_use_id": fixed["tool_use_id"], "error": "*", "is_interrupt": true}),
    );
    post("ends", "SessionEnd", json!({"reason": "prompt_input_exit"}));
    post(
        "question",
        "Stop",
        json!({"last_assistant_message": format!("{}. Should I delete it or keep it?", secrets.next())}),
    );
    post(
        "shells",
        "Stop",
        json!({"background_tasks": [{"id": "*", "type": "shell", "status": "running", "command": "*"}]}),
    );
    post("agents", "SubagentStart", json!({"agent_id": "a1", "agent_type": "Explore"}));
    let mut inner = fixed.clone();
    inner["agent_id"] = "a1".into();
    inner["agent_type"] = "Explore".into();
    post("agents", "PreToolUse", inner.clone());
    inner.as_object_mut().unwrap().remove("tool_use_id");
    post("agents", "PermissionRequest", inner);
    post("failed", "StopFailure", json!({"error": "rate_limit", "error_details": "*"}));
    post("form", "Elicitation", json!({"mcp_server_name": "*", "message": "*", "url": "*"}));
    post("todo", "TaskCreated", json!({"task_id": "*", "task_subject": "*"}));
    a.until_forwarded();
    let shown = |card: &Value| {
        let state = &card["agent_state"];
        let tools = card["asks"].as_array().unwrap().iter().map(|ask| ask["tool_name"].clone());
        json!([
            state["state"],
            state["group"],
            state["since"],
            card["waiting"]["kind"],
            card["turn_count"],
            card["ended_at"],
            card["background"],
            tools.collect::<Vec<_>>(),
            card["permission_mode"],
            card["project"]["name"],
            card["todos"].as_array().map(Vec::len),
        ])
    };
    for session in sessions {
        let own = until("the owner shows it", || Some(a.daemon().card(session)));
        let id = format!("{session}@a");
        let there = hub.until_card(&id, |card| shown(card) == shown(&own));
        assert_eq!(shown(&there), shown(&own), "{session}");
    }
    assert_no_secret(&sent);
}

#[test]
fn of_a_transcript_without_payloads_only_numbers_are_sent() {
    let Some(nats) = NatsServer::start() else { return };
    let (a, sent) = without_payloads(&nats);
    let (hub, secrets) = (Host::hub(&nats, "desk"), Secrets::default());
    let path = a.home.path().join("s.jsonl");
    let lines = [
        json!({"type": "user", "message": {"role": "user", "content": "*"}, "cwd": "/home/hush/api", "gitBranch": "*", "uuid": "u",
            "sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z"}),
        json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "model": "*", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "*"}], "usage": {"input_tokens": 4321, "output_tokens": 5}},
            "requestId": "r", "uuid": "v", "sessionId": "s", "timestamp": "2026-01-01T00:00:01.000Z"}),
        json!({"type": "ai-title", "aiTitle": "*", "sessionId": "s"}),
        json!({"type": "custom-title", "customTitle": "*", "sessionId": "s"}),
    ];
    let lines: Vec<String> = lines.into_iter().map(|line| secrets.fill(line).to_string() + "\n").collect();
    fs::write(&path, lines.concat()).unwrap();
    let start = json!({"source": "startup", "transcript_path": path, "cwd": "/home/hush/api"});
    a.post(&event("s", "SessionStart", start.as_object().unwrap().clone()));
    a.post(&event("s", "Stop", json!({"transcript_path": path}).as_object().unwrap().clone()));
    let own = until("the owner has read the transcript", || {
        Some(a.daemon().card("s")).filter(|card| card["tokens"].to_string().contains("4321"))
    });
    hub.until_card("s@a", |card| card["tokens"] == own["tokens"]);
    a.until_forwarded();
    assert_no_secret(&sent);
}
