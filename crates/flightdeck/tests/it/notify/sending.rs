//! What is sent, to whom and when: one note, several at once, what suppresses a note, and servers that fail.

use std::sync::atomic::Ordering;

use flightdeck::store::Store;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::time::Millis;
use flightdeck_e2e::testkit::http;
use serde_json::json;

use super::{NoteServer, hook, settle, turn, undone, unused_addr, webhook};
use crate::in_process::{InProcessDaemon, noon};

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
    assert_eq!(message["title"], "api: Waiting for your next prompt");
    assert_eq!(message["url"], format!("http://{}/#/session/s", deck.addr));
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
    assert_eq!(message["title"], "4 sessions wait for your next prompt");
    assert_eq!(message["url"], format!("http://{}", deck.addr));
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
        let settings =
            format!("targets = [{{ kind = \"webhook\", url = \"http://{addr}/\" }}]\nsettle_ms = 50");
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
