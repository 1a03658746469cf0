//! A hook payload as it arrives: the client's JSON and the environment that `flightdeck hook` sent beside it.

use serde_json::{Map, Value};

use crate::limits::SESSION_ID_BYTES_MAX;
use crate::wire::hook_name::HookName;

/// Why a payload is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHook {
    #[error("the payload has no session_id")]
    NoSession,
    #[error("session_id is {0} bytes long; at most {SESSION_ID_BYTES_MAX} are taken")]
    SessionTooLong(usize),
    #[error("the event has no name: neither hook_event_name in the body nor an event in the path")]
    NoName,
}

/// A received payload, before it is a record.
#[derive(Clone, Debug)]
pub struct HookDraft {
    /// The name in the URL path, used if the body has none.
    pub name_in_path: Option<HookName>,
    pub payload: Map<String, Value>,
    /// The environment sent by `flightdeck hook`; empty for http hooks.
    pub env: Map<String, Value>,
    /// Size of the payload.
    pub bytes: usize,
}

/// Renames the keys of a payload in camelCase, as scripts of other tools send it: `sessionId` becomes `session_id`. The client
/// itself writes snake_case, and its payloads stay as they are. True if keys were renamed.
pub fn rename_camel_case(payload: &mut Map<String, Value>) -> bool {
    if payload.contains_key("session_id") || !payload.contains_key("sessionId") {
        return false;
    }
    let old = std::mem::take(payload);
    payload.extend(old.into_iter().map(|(key, value)| (snake_case(&key), value)));
    true
}

fn snake_case(key: &str) -> String {
    let mut name = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_keys_of_a_payload_in_camel_case_are_renamed() {
        let Value::Object(mut payload) = json!({
            "sessionId": "s", "hookEventName": "PreToolUse", "toolInput": {"filePath": "a"}, "cwd": "/w"
        }) else {
            unreachable!()
        };
        assert!(rename_camel_case(&mut payload));
        let renamed = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_input": {"filePath": "a"}, "cwd": "/w"});
        assert_eq!(Value::Object(payload.clone()), renamed);
        payload.insert("mixedCase".into(), json!(1));
        assert!(!rename_camel_case(&mut payload) && payload.contains_key("mixedCase"));
    }
}
