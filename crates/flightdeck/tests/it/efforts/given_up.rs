//! A hook that gives up before it has the verdict: what waits for the agent still waits.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::{Deck, bash, context, denial, nothing_waits, payload};

const INJECTED: &str = "the key moved";

/// A deck with a session, and an injection that waits for it.
fn with_injection() -> (Deck, String) {
    let mut deck = Deck::new();
    let id = deck.start();
    deck.hook("s", "SessionStart", json!({"source": "startup"}));
    deck.data("effort.inject", json!({"id": id, "text": INJECTED}));
    (deck, id)
}

fn done(id: &str) -> Value {
    json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": "x"})
}

/// Sends a line on a connection of its own, and waits until the reply arrives. Only its first byte is read.
fn begin_to_read(deck: &Deck, line: &Value) -> UnixStream {
    let mut stream = UnixStream::connect(deck.daemon.socket_path()).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    stream.read_exact(&mut [0]).unwrap();
    stream
}

fn ended_call(deck: &Deck, id: &str, env: Value) -> Value {
    json!({"cmd": "hook", "args": payload(&deck.dir(), "s", "PostToolUse", done(id)), "env": env})
}

fn is_injected(deck: &mut Deck, id: &str) -> bool {
    context(&deck.hook("s", "PostToolUse", done(id))).contains(INJECTED)
}

#[test]
fn an_injection_waits_on_if_the_hook_gave_up_before_it_read_the_verdict() {
    for env in [json!({"waits": true}), json!({"waits": true, "confirms": true})] {
        let (mut deck, _) = with_injection();
        drop(begin_to_read(&deck, &ended_call(&deck, "t1", env)));
        assert!(is_injected(&mut deck, "t2"));
        assert!(!is_injected(&mut deck, "t3"), "the next line on the connection shows that it was read");
    }
}

#[test]
fn an_injection_waits_on_if_the_script_gave_up_before_it_read_the_reply() {
    let (mut deck, _) = with_injection();
    let mut args = payload(&deck.dir(), "s", "PostToolUse", done("t1"));
    args.remove("hook_event_name");
    drop(begin_to_read(&deck, &json!({"cmd": "hooks.postToolUse", "args": args})));
    assert!(is_injected(&mut deck, "t2"));
}

#[test]
fn a_hook_that_confirms_has_the_verdict_only_when_it_says_so() {
    let (mut deck, id) = with_injection();
    let env = json!({"waits": true, "confirms": true});
    let mut silent = deck.daemon.socket();
    assert!(
        context(&silent.ask(&ended_call(&deck, "t1", env.clone()))["data"]["verdict"]).contains(INJECTED)
    );
    // The hook was killed before it printed the verdict.
    drop(silent);
    let mut socket = deck.daemon.socket();
    let again = socket.ask(&ended_call(&deck, "t2", env));
    assert!(context(&again["data"]["verdict"]).contains(INJECTED));
    socket.send(&json!({"printed": true})).unwrap();
    flightdeck_e2e::testkit::until("it is given", || nothing_waits(&deck, &id).then_some(()));
    assert!(!is_injected(&mut deck, "t3"));
}

#[test]
fn a_sender_that_keeps_its_connection_has_read_the_verdict() {
    let (mut deck, id) = with_injection();
    assert!(is_injected(&mut deck, "t1"));
    flightdeck_e2e::testkit::until("it is given", || nothing_waits(&deck, &id).then_some(()));
    assert_eq!(denial(&deck.hook("s", "PreToolUse", bash("t2", "ls"))), None);
}
