//! A hook payload as it arrives: the client's JSON and the environment that `flightdeck hook` sent beside it.

use serde_json::{Map, Value};

use crate::limits::SESSION_ID_BYTES_MAX;
use crate::time::Timestamp;
use crate::wire::hook_name::{HookForm, HookName};
use crate::wire::lenient::text;

const NAME: &str = "hook_event_name";
const FIRED_AT: &str = "fired_at";
const WAITS: &str = "waits";

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
    /// The event's part of the URL path as it was sent, used if the body has no name.
    pub name_in_path: Option<String>,
    pub payload: Map<String, Value>,
    /// The environment sent by `flightdeck hook`; empty for http hooks.
    pub env: Map<String, Value>,
    /// Size of the payload.
    pub bytes: usize,
}

impl HookDraft {
    /// If the path has an event name that we do not know and the body has none, adds this name to the payload, so that the record keeps it.
    /// Returns whether the payload was changed. If it was, the bytes that it was parsed from no longer match.
    #[must_use]
    pub fn add_unknown_name(&mut self) -> bool {
        if self.known_name_in_path().is_some() || text(&self.payload, NAME).is_some() {
            return false;
        }
        let Some(unknown) = self.name_in_path.take() else { return false };
        self.payload.insert(NAME.to_owned(), unknown.into());
        true
    }

    /// The name of the event: the name in the body or, if the body has none, the name in the path if we know it.
    pub fn name(&self) -> Option<String> {
        let in_path = || self.known_name_in_path().map(|name| name.as_str().to_owned());
        text(&self.payload, NAME).or_else(in_path)
    }

    fn known_name_in_path(&self) -> Option<HookName> {
        self.name_in_path.as_deref().and_then(HookName::from_kebab)
    }

    /// After how many seconds the client ends this hook, if the hook sent it.
    pub fn hold_timeout_s(&self) -> Option<u32> {
        self.env.get("hold_s").and_then(Value::as_u64).and_then(|seconds| u32::try_from(seconds).ok())
    }

    /// Whether the client waits for the reply to this hook and takes a verdict from it. An async handler has no reader for one.
    pub fn hears_verdict(&self) -> bool {
        let name = self.name().and_then(|name| HookName::parse(&name));
        let is_sync = name.is_some_and(|name| matches!(name.info().form, HookForm::Sync | HookForm::Held));
        is_sync || self.env.get(WAITS) == Some(&Value::Bool(true))
    }
}

/// Says in the environment of a hook that the client waits for the reply.
pub fn set_waits(env: &mut Map<String, Value>) {
    env.insert(WAITS.to_owned(), true.into());
}

/// Whether the environment of a hook says when it fired.
pub fn has_fired_at(env: &Map<String, Value>) -> bool {
    env.contains_key(FIRED_AT)
}

/// Sets when the hook fired.
pub fn set_fired_at(env: &mut Map<String, Value>, at: Timestamp) {
    env.insert(FIRED_AT.to_owned(), at.to_string().into());
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

/// `toolUseId` becomes `tool_use_id`.
pub fn snake_case(key: &str) -> String {
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
    fn an_async_hook_hears_no_verdict_unless_its_handler_says_that_the_client_waits() {
        let hears = |name: &str, env: Value| {
            let (Value::Object(payload), Value::Object(env)) = (json!({"hook_event_name": name}), env) else {
                unreachable!()
            };
            HookDraft { name_in_path: None, payload, env, bytes: 0 }.hears_verdict()
        };
        assert!(hears("SessionStart", json!({})) && hears("PermissionRequest", json!({})));
        assert!(!hears("PreToolUse", json!({})) && !hears("PreToolUse", json!({"waits": "yes"})));
        assert!(hears("PreToolUse", json!({"waits": true})));
    }

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
