//! The name of a value on the wire, for the tables of `docs/events.md`.

use serde::Serialize;
use serde_json::Value;

/// The value as JSON, without quotes if it is a text.
pub(super) fn wire_name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
