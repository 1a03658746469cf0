//! Records for the engine's tests.
#![allow(clippy::unwrap_used, reason = "a test stops where it goes wrong")]

use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::Record;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::HookDraft;

/// A hook of session `s`, received at this time.
pub(super) fn hook_at(name: &str, ms: i64) -> Record {
    let payload = serde_json::json!({"session_id": "s", "hook_event_name": name, "prompt": "x"});
    let payload = payload.as_object().unwrap().clone();
    let draft = HookDraft { name_in_path: None, payload, env: Default::default(), bytes: 1 };
    let mut record = draft.into_record(crate::clock::fresh_id()).unwrap();
    stamp(&mut record, Timestamp::from_millis(ms), Timestamp::default());
    record
}
