//! The buttons of a note on a phone: a key answers one request once, and opens nothing else.

use flightdeck::store::Store;
use flightdeck_e2e::testkit::http::{self, HttpRequest};
use flightdeck_e2e::testkit::{SocketClient, until};
use serde_json::{Value, json};

use super::{NoteServer, settle};
use crate::asks::{bash, card, decision, held, object, tell};
use crate::in_process::InProcessDaemon;

/// A permission request that is held, and the note about it at an ntfy server.
fn asked(command: &str) -> (InProcessDaemon, SocketClient, Value) {
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
        let asks = card(&deck, "s")["asks"].as_array().unwrap().clone();
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
    // An address that only begins like that of a button.
    for other in
        ["/api/notify/answer/../visible", "/api/notify/answer/", "/api/notify/answer/ab/../../visible"]
    {
        assert_eq!(post(other), 401, "{other}");
    }
    let foreign =
        HttpRequest::post(deck.addr, "/api/notify/answer/ab", "{}").header("origin", "https://evil.example");
    assert_eq!(foreign.send(deck.addr).status, 403);
}

/// The status of a request to this host name.
fn status(deck: &InProcessDaemon, host: &str, method: &str, path: &str, token: Option<&str>) -> u16 {
    let mut request = HttpRequest::new(method, path).header("host", host);
    if let Some(token) = token {
        request = request.header("authorization", &format!("Bearer {token}"));
    }
    let request = if method == "POST" { request.json("{}") } else { request };
    request.send(deck.addr).status
}

const PUBLIC: &str = "public_url = \"https://deck.example.org\"";
const SOME_KEY: &str = "/api/notify/answer/0123456789abcdef0123456789abcdef";

#[test]
fn without_a_token_only_buttons_come_through_the_public_address() {
    let deck = InProcessDaemon::builder().notify(PUBLIC).start();
    assert_eq!(
        status(&deck, "deck.example.org", "POST", SOME_KEY, None),
        404,
        "admitted, and an unknown key"
    );
    for (method, path) in
        [("GET", "/"), ("GET", "/api/sessions"), ("POST", "/api/live/hook"), ("GET", SOME_KEY)]
    {
        assert_eq!(status(&deck, "deck.example.org", method, path, None), 421, "{method} {path}");
    }
    assert_eq!(status(&deck, "evil.example", "POST", SOME_KEY, None), 421);
    let unnamed = InProcessDaemon::new();
    assert_eq!(status(&unnamed, "deck.example.org", "POST", SOME_KEY, None), 421);
}

#[test]
fn with_a_token_the_board_is_at_the_public_address_too() {
    let deck = InProcessDaemon::builder().notify(PUBLIC).token("secret").start();
    assert_eq!(status(&deck, "deck.example.org", "GET", "/api/sessions", None), 401);
    assert_eq!(status(&deck, "deck.example.org", "GET", "/api/sessions", Some("secret")), 200);
    assert_eq!(status(&deck, "evil.example", "GET", "/api/sessions", Some("secret")), 421);
}
