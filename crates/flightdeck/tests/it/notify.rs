//! Notifications: a simulated afternoon, targets that hang, fail or are missing, restarts, buttons, and what is not sent.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use flightdeck::store::Store;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::{EventId, Record};
use flightdeck_core::time::Millis;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_e2e::testkit::http::{self, Request};
use flightdeck_e2e::testkit::{TestDaemon, TestHome, until};
use serde_json::{Value, json};

use crate::asks::{bash, decision, held, object, tell};
use crate::home::test_home;
use crate::in_process::{InProcessDaemon, noon};

/// A server that takes notes and keeps them.
pub(crate) struct NoteServer {
    pub(crate) addr: SocketAddr,
    inside: Arc<Inside>,
    _runtime: tokio::runtime::Runtime,
}

struct Inside {
    /// The status of its replies.
    status: AtomicU16,
    taken: Mutex<Vec<(HeaderMap, String)>>,
}

impl NoteServer {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap())
    }

    fn start_at(addr: SocketAddr) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let inside = Arc::new(Inside { status: AtomicU16::new(200), taken: Mutex::default() });
        let routes = axum::Router::new().fallback(take).with_state(Arc::clone(&inside));
        let addr = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(addr).await.unwrap();
            let addr = listener.local_addr().unwrap();
            tokio::spawn(axum::serve(listener, routes).into_future());
            addr
        });
        Self { addr, inside, _runtime: runtime }
    }

    /// The bodies that came.
    pub(crate) fn taken(&self) -> Vec<Value> {
        let taken = self.inside.taken.lock().unwrap();
        taken.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect()
    }

    /// `event session` of each note that came.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.taken().iter().flat_map(notes_of).collect()
    }
}

async fn take(State(inside): State<Arc<Inside>>, headers: HeaderMap, body: String) -> StatusCode {
    let status = StatusCode::from_u16(inside.status.load(Ordering::SeqCst)).unwrap();
    if status.is_success() {
        inside.taken.lock().unwrap().push((headers, body));
    }
    status
}

/// `event session` of each note of a message.
pub(crate) fn notes_of(message: &Value) -> Vec<String> {
    let line = |note: &Value| {
        format!("{} {}", note["event"].as_str().unwrap(), note["session_id"].as_str().unwrap())
    };
    message["notes"].as_array().unwrap().iter().map(line).collect()
}

/// An executable file with this shell script.
pub(crate) fn script(folder: &Path, name: &str, body: &str) -> PathBuf {
    let file = folder.join(name);
    fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

pub(crate) fn hook(n: usize, session: &str, name: &str, rest: Value) -> Record {
    let mut payload = object(json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api"}));
    payload.extend(object(rest));
    let draft = HookDraft { name_in_path: None, payload, env: Default::default(), bytes: 0 };
    draft.into_record(EventId(n as u128 + 1)).unwrap()
}

/// A turn that ended.
pub(crate) fn turn(n: usize, session: &str) -> Vec<Record> {
    vec![
        hook(n, session, "UserPromptSubmit", json!({"prompt": "go"})),
        hook(n + 1, session, "Stop", json!({})),
    ]
}

fn webhook(server: &NoteServer) -> String {
    format!("targets = [{{ kind = \"webhook\", url = \"http://{}/hook\" }}]\nsettle_ms = 50", server.addr)
}

/// The rows of the outbox that are not done, without those of the target called `but`.
pub(crate) fn undone(deck: &InProcessDaemon, store: &Store, but: &str) -> usize {
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

#[test]
fn a_note_is_sent_once_with_project_reason_time_and_a_signature() {
    let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
    let settings = webhook(&server).replace("/hook\"", "/hook\", secret = \"quite a secret\"");
    let deck = InProcessDaemon::builder().store(store.clone()).notify(&settings).start();
    deck.append(turn(1, "s")).unwrap();
    assert_eq!(deck.block_on(store.outbox()).unwrap(), [], "the state has not settled");
    settle(&deck, &store);
    let taken = server.taken();
    let [message] = &taken[..] else { panic!("{taken:#?}") };
    assert_eq!(message["title"], "api: Finished: Waiting for your next prompt");
    assert_eq!(message["url"], "http://deck/#/session/s");
    assert_eq!(message["notes"][0]["since"], noon().to_string());
    let (headers, body) = server.inside.taken.lock().unwrap()[0].clone();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"quite a secret");
    let hex: String =
        ring::hmac::sign(&key, body.as_bytes()).as_ref().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(headers["x-flightdeck-signature"], format!("sha256={hex}"));
}

#[test]
fn several_sessions_at_once_become_one_message() {
    let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
    let settings = webhook(&server);
    let deck = InProcessDaemon::builder().store(store.clone()).notify(&settings).start();
    deck.append((0..4).flat_map(|n| turn(10 * n, &format!("s{n}"))).collect()).unwrap();
    settle(&deck, &store);
    let taken = server.taken();
    let [message] = &taken[..] else { panic!("{taken:#?}") };
    assert_eq!(message["title"], "4 sessions are finished");
    assert_eq!(message["url"], "http://deck");
    assert_eq!(server.notes(), ["completed s0", "completed s1", "completed s2", "completed s3"]);
}

#[test]
fn nothing_is_stored_where_no_target_is_configured() {
    let store = Store::in_memory().unwrap();
    let deck = InProcessDaemon::builder().store(store.clone()).notify("settle_ms = 0").start();
    deck.append(turn(1, "s")).unwrap();
    deck.pass(Millis::seconds(60));
    assert_eq!(deck.block_on(store.outbox()).unwrap(), []);
    let visible = http::post(deck.addr, "/api/notify/visible", "{\"viewer\":\"page\",\"visible\":true}");
    assert_eq!(visible.json()["wanted"], false);
}

#[test]
fn a_visible_board_a_muted_project_and_quiet_hours_suppress_the_note() {
    for (more, visible, expected) in [
        ("", json!({}), 1),
        ("mute_projects = [\"other\"]", json!({}), 1),
        ("mute_projects = [\"api\"]", json!({}), 0),
        ("mute_projects = [\"/w/api\"]", json!({}), 0),
        ("quiet_from = \"00:00\"\nquiet_to = \"00:00\"", json!({}), 0),
        ("events = [\"failed\"]", json!({}), 0),
        ("", json!({"viewer": "page", "visible": true}), 0),
        ("", json!({"viewer": "page", "visible": false}), 1),
        ("", json!({"viewer": "page", "visible": true, "sessions": ["s", "t"]}), 0),
        ("", json!({"viewer": "page", "visible": true, "sessions": ["t"]}), 1),
    ] {
        let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
        let settings = format!("{}\n{more}", webhook(&server));
        let deck = InProcessDaemon::builder().store(store.clone()).notify(&settings).start();
        if visible != json!({}) {
            let noted = http::post(deck.addr, "/api/notify/visible", &visible.to_string());
            assert_eq!((noted.status, &noted.json()["wanted"]), (200, &json!(true)));
        }
        deck.append(turn(1, "s")).unwrap();
        settle(&deck, &store);
        assert_eq!(server.notes().len(), expected, "{more} {visible}");
    }
}

#[test]
fn a_note_whose_state_has_passed_when_it_can_be_sent_is_no_news() {
    for moved_on in [false, true] {
        let store = Store::in_memory().unwrap();
        let addr = unused_addr();
        let settings = format!("targets = [{{ kind = \"webhook\", url = \"http://{addr}/\" }}]\nsettle_ms = 50");
        let deck = InProcessDaemon::builder().store(store.clone()).notify(&settings).start();
        deck.append(turn(1, "s")).unwrap();
        deck.pass(Millis::seconds(2));
        assert_eq!(undone(&deck, &store, "-"), 1, "no server takes it");
        let now = deck.now() + Millis::seconds(1);
        if moved_on {
            let mut prompt = hook(9, "s", "UserPromptSubmit", json!({"prompt": "b"}));
            stamp(&mut prompt, now, deck.now());
            deck.block_on(store.append(vec![prompt])).unwrap();
        }
        drop(deck);
        let server = NoteServer::start_at(addr);
        let deck = InProcessDaemon::builder().store(store.clone()).now(now).notify(&settings).start();
        settle(&deck, &store);
        assert_eq!(server.notes().len(), usize::from(!moved_on));
    }
}

#[test]
fn a_server_that_fails_gets_the_note_once_it_works_again() {
    let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
    server.inside.status.store(503, Ordering::SeqCst);
    let deck = InProcessDaemon::builder().store(store.clone()).notify(&webhook(&server)).start();
    deck.append(turn(1, "s")).unwrap();
    deck.pass(Millis::seconds(2));
    assert_eq!(undone(&deck, &store, "-"), 1);
    server.inside.status.store(200, Ordering::SeqCst);
    settle(&deck, &store);
    assert_eq!(server.notes(), ["completed s"]);
}

#[test]
fn a_refusal_is_final_and_shown_in_the_status() {
    let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
    server.inside.status.store(410, Ordering::SeqCst);
    let deck = InProcessDaemon::builder().store(store.clone()).notify(&webhook(&server)).start();
    deck.append(turn(1, "s")).unwrap();
    settle(&deck, &store);
    let status = deck.socket().ask(&json!({"cmd": "status", "args": {}}));
    let target = &status["data"]["notify"][0];
    assert_eq!((&target["undelivered"], &target["sent"]), (&json!(1), &json!(0)), "{target}");
    assert_eq!(target["last_undelivered"]["error"], "it replied 410 Gone");
}

/// A permission request that is held, and the note about it at an ntfy server.
fn asked(command: &str) -> (InProcessDaemon, flightdeck_e2e::testkit::SocketClient, Value) {
    let (server, store) = (NoteServer::start(), Store::in_memory().unwrap());
    let settings = format!(
        "targets = [{{ kind = \"ntfy\", url = \"http://{}/topic\", token = \"tk\" }}]\nsettle_ms = 50\n\
         public_url = \"https://deck.example.org\"",
        server.addr
    );
    let deck = InProcessDaemon::builder().store(store.clone()).notify(&settings).start();
    tell(&deck, &object(json!({"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "go"})));
    let mut request = bash("s", "PermissionRequest");
    request.insert("tool_input".into(), json!({ "command": command }));
    let (hook, _) = held(&deck, &request);
    settle(&deck, &store);
    let taken = server.taken();
    let [message] = &taken[..] else { panic!("{taken:#?}") };
    let headers = server.inside.taken.lock().unwrap()[0].0.clone();
    assert_eq!(headers["authorization"], "Bearer tk");
    (deck, hook, message.clone())
}

/// The path of a button, as the phone posts to it.
fn path(button: &Value) -> String {
    button["url"].as_str().unwrap().strip_prefix("https://deck.example.org").unwrap().to_owned()
}

#[test]
fn a_button_answers_the_held_hook_once() {
    let (deck, mut hook, message) = asked("make");
    assert_eq!((&message["topic"], &message["priority"]), (&json!("topic"), &json!(4)));
    assert_eq!(message["title"], "Unknown project: Permission for Bash: make");
    assert_eq!(message["click"], "https://deck.example.org/#/session/s");
    let [allow, deny] = &message["actions"].as_array().unwrap()[..] else { panic!("{message}") };
    assert_eq!((&allow["label"], &deny["label"]), (&json!("Allow"), &json!("Deny")));
    let answered = http::post(deck.addr, &path(allow), allow["body"].as_str().unwrap());
    assert_eq!((answered.status, &answered.json()["how"]), (200, &json!("allowed")));
    assert_eq!(decision(&hook.line().unwrap())["behavior"], "allow");
    for used in [allow, deny] {
        assert_eq!(http::post(deck.addr, &path(used), "{}").status, 404);
    }
}

#[test]
fn a_button_of_an_ask_that_is_over_changes_nothing() {
    let (deck, hook, message) = asked("make");
    // The person answered in the terminal: the client ends the hook.
    drop(hook);
    until("the ask is over", || {
        let asks = crate::asks::card(&deck, "s")["asks"].as_array().unwrap().clone();
        asks.iter().all(|ask| !ask["resolution"].is_null()).then_some(())
    });
    let late = http::post(deck.addr, &path(&message["actions"][1]), "{}");
    assert_eq!(late.status, 409, "{}", late.text());
}

#[test]
fn what_cannot_be_undone_is_not_allowed_with_one_touch() {
    let (_deck, _hook, message) = asked("rm -rf /");
    let labels: Vec<_> = message["actions"].as_array().unwrap().iter().map(|a| a["label"].clone()).collect();
    assert_eq!(labels, ["Deny"]);
}

#[test]
fn only_the_address_of_a_button_needs_no_token() {
    let deck = InProcessDaemon::builder().token("secret").start();
    let post = |path: &str| http::post(deck.addr, path, "{}").status;
    assert_eq!(post("/api/notify/answer/0123456789abcdef0123456789abcdef"), 404);
    for other in ["/api/notify/visible", "/api/notify/answer", "/api/asks/x/answer", "/api/live/hook"] {
        assert_eq!(post(other), 401, "{other}");
    }
    assert_eq!(http::get(deck.addr, "/api/notify/answer/0123456789abcdef").status, 401);
    let foreign =
        Request::post(deck.addr, "/api/notify/answer/k", "{}").header("origin", "https://evil.example");
    assert_eq!(foreign.send(deck.addr).status, 403);
}

/// A home whose daemon has only these programs on its PATH.
fn up(home: &TestHome, bin: &Path, config: &str) -> TestDaemon {
    fs::create_dir_all(home.flightdeck_home()).unwrap();
    fs::write(home.paths().config, config).unwrap();
    let mut command = home.flightdeck(&["up", "--port", "0", "--no-hooks"]);
    command.env("PATH", bin);
    home.start(command)
}

fn say(daemon: &TestDaemon, session: &str, name: &str) {
    let payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api", "prompt": "go"});
    assert_eq!(daemon.post("/api/live/hook", &payload.to_string()).status, 204);
}

fn end_a_turn(daemon: &TestDaemon, session: &str) {
    say(daemon, session, "UserPromptSubmit");
    say(daemon, session, "Stop");
}

fn lines(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn the_desktop_gets_a_note_from_the_program_on_the_path() {
    let home = test_home();
    let (bin, said) = (home.path().join("bin"), home.path().join("said"));
    fs::create_dir(&bin).unwrap();
    script(&bin, "notify-send", &format!("printf '%s|' \"$@\" >> {0}; echo >> {0}", said.display()));
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    until("the note is shown", || fs::read_to_string(&said).ok()?.ends_with("|\n").then_some(()));
    let text = fs::read_to_string(&said).unwrap();
    let head =
        "--app-name=Flightdeck|--urgency=normal|--|api: Finished: Waiting for your next prompt|go\nsince ";
    assert!(text.starts_with(head) && text.contains(&format!("{}/#/session/s|", daemon.url)), "{text}");
    let tested = home.run(&["notify", "test", "--target", "desktop"]);
    assert_eq!(tested.success(), "desktop: delivered\n");
}

#[test]
fn a_missing_program_is_one_line_in_the_status() {
    let home = test_home();
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let daemon = up(&home, &bin, "[notify]\ntargets = [\"desktop\"]\nsettle_ms = 50\n");
    end_a_turn(&daemon, "s");
    let missing = "notify-send was not found on the daemon's PATH";
    let status = until("the status names it", || {
        let status = home.run(&["status"]).success();
        status.contains(missing).then_some(status)
    });
    assert!(status.contains("notify    desktop: 0 sent, 1 not delivered"), "{status}");
    assert_eq!(status.matches(missing).count(), 1);
    let tested = home.run(&["notify", "test"]);
    assert_eq!((tested.code, tested.out), (1, format!("desktop: not delivered: {missing}\n")));
    let unknown = home.run(&["notify", "test", "--target", "phone"]);
    assert!(unknown.code == 1 && unknown.err.contains("no target is called \"phone\""), "{unknown:?}");
}

#[test]
fn after_kill_9_only_the_target_that_had_not_got_the_note_gets_it() {
    let home = test_home();
    let (bin, said) = (home.path().join("bin"), home.path().join("said"));
    fs::create_dir(&bin).unwrap();
    let teller = script(&bin, "teller", &format!("echo \"$FLIGHTDECK_NOTE_SESSION\" >> {}", said.display()));
    let addr = unused_addr();
    let config = format!(
        "[notify]\nsettle_ms = 50\ntargets = [{{ kind = \"webhook\", url = \"http://{addr}/\" }}, \
         {{ kind = \"command\", command = \"{}\" }}]\n",
        teller.display()
    );
    let daemon = up(&home, &bin, &config);
    end_a_turn(&daemon, "s");
    until("the command has run, and its row is marked", || {
        let status = home.run(&["status", "--json"]).json();
        (status["notify"][1]["sent"] == 1).then_some(())
    });
    // The mark follows the count; a later note of the same target shows that it is stored.
    end_a_turn(&daemon, "t");
    until("the second note has come", || (lines(&said).len() == 2).then_some(()));
    daemon.kill();
    let server = NoteServer::start_at(addr);
    let daemon = up(&home, &bin, &config);
    until("the webhook has both notes", || (server.notes().len() >= 2).then_some(()));
    end_a_turn(&daemon, "u");
    until("the third note has come", || (server.notes().len() >= 3).then_some(()));
    until("it has reached the command", || lines(&said).contains(&"u".to_owned()).then_some(()));
    let mut notes = server.notes();
    notes.sort();
    assert_eq!(notes, ["completed s", "completed t", "completed u"]);
    assert_eq!(lines(&said).iter().filter(|line| *line == "s").count(), 1, "{:?}", lines(&said));
}
