//! Efforts over the socket, HTTP and the command line: verdicts, handoffs, restarts and everything that fails open.

mod commands;
mod fail_open;
mod given_up;
mod requests;
mod restarts;
mod script_hooks;
mod verdicts;

use std::path::{Path, PathBuf};

use flightdeck::store::Store;
use flightdeck_e2e::testkit::SocketClient;
use serde_json::{Map, Value, json};

use crate::in_process::InProcessDaemon;

/// A daemon, a directory for efforts, and one connection.
struct Deck {
    daemon: InProcessDaemon,
    dir: tempfile::TempDir,
    socket: SocketClient,
}

impl Deck {
    fn new() -> Self {
        Self::on(Store::in_memory().unwrap())
    }

    fn on(store: Store) -> Self {
        let daemon = InProcessDaemon::builder().store(store).start();
        let socket = daemon.socket();
        Self { daemon, dir: tempfile::tempdir().unwrap(), socket }
    }

    fn dir(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn ask(&mut self, cmd: &str, args: Value) -> Value {
        self.socket.ask(&json!({"cmd": cmd, "args": args}))
    }

    /// The data of a reply that must be a success.
    fn data(&mut self, cmd: &str, args: Value) -> Value {
        let reply = self.ask(cmd, args);
        assert_eq!(reply["ok"], true, "{cmd}: {reply}");
        reply["data"].clone()
    }

    fn start(&mut self) -> String {
        self.start_with(json!({}))
    }

    fn start_with(&mut self, more: Value) -> String {
        let mut args = json!({"dir": self.dir(), "skill": "implement"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.data("effort.start", args)["id"].as_str().unwrap().to_owned()
    }

    /// A hook that waits, from the directory of the effort: the verdict, or null.
    fn hook(&mut self, session: &str, event: &str, more: Value) -> Value {
        let dir = self.dir();
        self.hook_in(&dir, session, event, more, json!({}))
    }

    fn hook_in(&mut self, dir: &Path, session: &str, event: &str, more: Value, env: Value) -> Value {
        let payload = payload(dir, session, event, more);
        let mut env = env.as_object().unwrap().clone();
        env.insert("waits".to_owned(), true.into());
        let reply = self.socket.ask(&json!({"cmd": "hook", "args": payload, "env": env}));
        assert_eq!(reply["ok"], true, "{reply}");
        reply["data"]["verdict"].clone()
    }

    fn call(&mut self, session: &str, id: &str) -> Value {
        self.hook(session, "PreToolUse", bash(id, "cargo test"))
    }

    fn show(&mut self, id: &str) -> Value {
        self.data("effort.show", json!({ "id": id }))
    }
}

fn payload(dir: &Path, session: &str, event: &str, more: Value) -> Map<String, Value> {
    let mut payload = json!({"session_id": session, "hook_event_name": event, "cwd": dir, "permission_mode": "default",
        "transcript_path": "/nowhere.jsonl"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.as_object().unwrap().clone()
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id})
}

fn denial(verdict: &Value) -> Option<String> {
    let output = &verdict["hookSpecificOutput"];
    (output["permissionDecision"] == "deny")
        .then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
}

fn nothing_waits(deck: &Deck, id: &str) -> bool {
    deck.daemon.get(&format!("/api/efforts/{id}")).json()["pending_injections"] == 0
}

fn context(verdict: &Value) -> String {
    verdict["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}
