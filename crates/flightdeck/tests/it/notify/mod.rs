//! Notifications: what the tests of them share.

mod afternoon;
mod buttons;
mod live;
mod programs;
mod sending;
mod tls;

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::serve::Listener;
use flightdeck::store::Store;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::time::Millis;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::until;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::asks::object;
use crate::in_process::InProcessDaemon;

/// A server that takes notes and keeps them.
struct NoteServer {
    addr: SocketAddr,
    inside: Arc<Inside>,
    _runtime: tokio::runtime::Runtime,
}

struct Inside {
    /// The status of its replies.
    status: AtomicU16,
    taken: Mutex<Vec<(HeaderMap, String)>>,
}

impl NoteServer {
    fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    fn start_at(addr: SocketAddr) -> Self {
        Self::start_with(addr, |listener| listener)
    }

    /// `listen` may put TLS around the connections.
    fn start_with<L>(addr: SocketAddr, listen: impl FnOnce(TcpListener) -> L) -> Self
    where
        L: Listener,
        L::Addr: std::fmt::Debug,
    {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let inside = Arc::new(Inside { status: AtomicU16::new(200), taken: Mutex::default() });
        let routes = axum::Router::new().fallback(accept_note).with_state(Arc::clone(&inside));
        let addr = runtime.block_on(async {
            let listener = TcpListener::bind(addr).await.unwrap();
            let addr = listener.local_addr().unwrap();
            tokio::spawn(axum::serve(listen(listener), routes).into_future());
            addr
        });
        Self { addr, inside, _runtime: runtime }
    }

    /// The bodies that came.
    fn taken(&self) -> Vec<Value> {
        let taken = self.inside.taken.lock().unwrap();
        taken.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect()
    }

    /// `event session` of each note that came.
    fn notes(&self) -> Vec<String> {
        self.taken().iter().flat_map(notes_of).collect()
    }
}

async fn accept_note(State(inside): State<Arc<Inside>>, headers: HeaderMap, body: String) -> StatusCode {
    let status = StatusCode::from_u16(inside.status.load(Ordering::SeqCst)).unwrap();
    if status.is_success() {
        inside.taken.lock().unwrap().push((headers, body));
    }
    status
}

/// `event session` of each note of a message.
fn notes_of(message: &Value) -> Vec<String> {
    let line = |note: &Value| {
        format!("{} {}", note["event"].as_str().unwrap(), note["session_id"].as_str().unwrap())
    };
    message["notes"].as_array().unwrap().iter().map(line).collect()
}

/// `event session` of each note that a program wrote to this file, one message on each line.
fn notes_in_file(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().flat_map(|line| notes_of(&serde_json::from_str(line).unwrap())).collect()
}

/// An executable file with this shell script.
fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn hook(n: usize, session: &str, name: &str, rest: Value) -> Record {
    let mut payload = object(json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"}));
    payload.extend(object(rest));
    let draft = HookDraft { name_in_path: None, payload, env: Default::default(), bytes: 0 };
    draft.into_record(EventId(n as u128 + 1)).unwrap()
}

/// A turn that ended.
fn turn(n: usize, session: &str) -> Vec<Record> {
    vec![
        hook(n, session, "UserPromptSubmit", json!({"prompt": "go"})),
        hook(n + 1, session, "Stop", json!({})),
    ]
}

fn webhook(server: &NoteServer) -> String {
    format!("targets = [{{ kind = \"webhook\", url = \"http://{}/hook\" }}]\nsettle_ms = 50", server.addr)
}

/// The rows of the outbox that are not done, without those of the target called `but`.
fn undone(deck: &InProcessDaemon, store: &Store, but: &str) -> usize {
    let rows = deck.block_on(store.outbox()).unwrap();
    rows.iter().filter(|row| !row.key.subject.ends_with(&format!(" {but}"))).count()
}

/// A port on which no server listens yet.
fn unused_addr() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Waits until every note is sent or dropped.
fn settle(deck: &InProcessDaemon, store: &Store) {
    deck.pass(Millis::seconds(2));
    until("every note is done", || (undone(deck, store, "-") == 0).then_some(()));
}
