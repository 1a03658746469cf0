//! A line of the socket: our reader accepts what a strict JSON reader accepts, with the same meaning.

use flightdeck::frame::EventFrame;
use flightdeck_core::limits::PAYLOAD_DEPTH_MAX;
use flightdeck_core::wire::clip::MARK;
use serde_json::{Map, Value, json};

use crate::fuzz;
use crate::hook::CAPTURES;

fn captured() -> Vec<Vec<u8>> {
    let hooks = CAPTURES.iter().flat_map(|s| s.hooks.iter());
    let hooks = hooks.map(|h| json!({"cmd": "hook", "args": h.event, "env": h.env}).to_string().into_bytes());
    let asks =
        ["ping", "sessions", "session", "explain", "events", "subscribe", "status", "usage", "index", "seen"];
    let asks =
        asks.map(|cmd| json!({"cmd": cmd, "args": {"session_id": "s", "limit": 3}}).to_string().into_bytes());
    hooks.chain(asks).collect()
}

/// The line as a plain JSON reader sees it; `None` if a part is not an object or is duplicated.
fn strictly(line: &[u8]) -> Option<(String, Map<String, Value>)> {
    let frame: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let args = match frame.get("args") {
        None | Some(Value::Null) => Map::new(),
        Some(args) => args.as_object()?.clone(),
    };
    let env = frame.get("env");
    let fine = env.is_none_or(|env| env.is_null() || env.is_object());
    fine.then_some((frame.get("cmd")?.as_str()?.to_owned(), args))
}

fn twice(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    ["\"cmd\"", "\"args\"", "\"env\""].iter().any(|key| text.matches(key).count() > 1)
}

/// Nesting depth of lists and objects.
fn depth<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    let below = |value: &Value| match value {
        Value::Array(items) => 1 + depth(items.iter()),
        Value::Object(fields) => 1 + depth(fields.values()),
        _ => 0,
    };
    values.map(below).max().unwrap_or_default()
}

#[test]
fn rpc() {
    fuzz("rpc", captured(), |line| {
        let parsed = EventFrame::parse(line);
        if let Some((cmd, args)) = strictly(line).filter(|_| !twice(line)) {
            let frame = parsed.as_ref().unwrap();
            assert_eq!(frame.cmd, cmd);
            if depth(args.values()) < PAYLOAD_DEPTH_MAX {
                assert_eq!(frame.args, args);
            } else {
                assert!(depth(frame.args.values()) < PAYLOAD_DEPTH_MAX && frame.args.contains_key(MARK));
            }
        }
        if let Ok(frame) = parsed {
            let again = json!({"cmd": frame.cmd, "args": frame.args, "env": frame.env}).to_string();
            assert_eq!(EventFrame::parse(again.as_bytes()).unwrap(), frame);
        }
    });
}
