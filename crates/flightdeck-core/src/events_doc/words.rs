//! Names as the wire spells them.

use serde::Serialize;
use serde_json::Value;

/// The name on the wire.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
