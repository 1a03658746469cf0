//! A full context: the supervisor of the client starts it fresh, and the client's hook is held until the client is gone.

use flightdeck_e2e::testkit::{SocketClient, until};
use serde_json::{Value, json};

use super::{Deck, payload};

/// A session with an effort whose client is this process, and the connection of its supervisor.
fn supervised() -> (Deck, SocketClient) {
    let mut deck = Deck::new();
    deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    let mut supervisor = deck.daemon.socket();
    let group = rustix::process::getpgrp().as_raw_nonzero().get();
    supervisor.send(&json!({"cmd": "supervise", "args": {"group": group}})).unwrap();
    (deck, supervisor)
}

/// The first reply to the hook before an automatic compaction.
fn compacts(deck: &mut Deck) -> Value {
    let payload = payload(&deck.dir(), "s", "PreCompact", json!({"trigger": "auto"}));
    deck.socket.ask(&json!({"cmd": "hook", "args": payload, "env": {"pid": std::process::id()}}))
}

/// The same, once the daemon has noticed the supervisor.
fn held(deck: &mut Deck) -> u64 {
    until("the hook is held", || compacts(deck)["data"]["hold_ms"].as_u64().filter(|ms| *ms > 0))
}

#[test]
fn the_hook_of_a_supervised_client_ends_when_the_client_is_gone() {
    let (mut deck, mut supervisor) = supervised();
    let hold_ms = held(&mut deck);
    assert!(hold_ms <= 3_000, "{hold_ms}");
    let order = supervisor.line().unwrap();
    assert!(order["data"]["prompt"].as_str().unwrap().contains("Go on with the effort"), "{order}");
    supervisor.send(&json!({"accepted": true})).unwrap();
    // The supervisor closes its connection when the client has ended.
    drop(supervisor);
    assert_eq!(deck.socket.line().unwrap()["data"]["hold_ms"], 0);
    // The next client has no supervisor yet.
    assert_eq!(compacts(&mut deck)["data"]["hold_ms"], 0);
}

#[test]
fn the_hook_of_a_client_whose_supervisor_declines_ends_and_the_client_compacts() {
    let (mut deck, mut supervisor) = supervised();
    held(&mut deck);
    supervisor.line().unwrap();
    supervisor.send(&json!({"accepted": false})).unwrap();
    assert_eq!(deck.socket.line().unwrap()["data"]["hold_ms"], 0);
    // The supervisor is still there for the next context window.
    deck.hook("s", "SessionStart", json!({"source": "compact"}));
    held(&mut deck);
}
