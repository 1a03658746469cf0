//! Reads JSON whose shape may change: a number in place of a string, a missing field, another type.

use serde_json::{Map, Value};

use crate::text::one_line;

/// Field `name` as text. Numbers and booleans are converted; anything else counts as absent.
pub fn text(map: &Map<String, Value>, name: &str) -> Option<String> {
    value_as_text(map.get(name)?)
}

fn value_as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(s) if !s.is_empty() => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        _ => None,
    }
}

/// Field `name` as one line of at most `max` characters, safe to show.
pub fn line(map: &Map<String, Value>, name: &str, max: usize) -> Option<String> {
    value_as_line(map.get(name)?, max)
}

/// [`line`] of a field that was found already.
pub fn value_as_line(value: &Value, max: usize) -> Option<String> {
    value_as_line_or_empty(value, max).filter(|_| value.as_str() != Some(""))
}

/// Like [`value_as_line`], but keeps an empty string: for fields where empty has a meaning.
pub fn value_as_line_or_empty(value: &Value, max: usize) -> Option<String> {
    match value {
        Value::String(s) => Some(one_line(s, max)),
        other => value_as_text(other).map(|text| one_line(&text, max)),
    }
}

/// Borrowed text, for large fields.
pub fn borrowed_text<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    map.get(name)?.as_str()
}

pub fn flag(map: &Map<String, Value>, name: &str) -> bool {
    match map.get(name) {
        Some(Value::Bool(b)) => *b,
        Some(Value::String(s)) => s == "true",
        Some(Value::Number(n)) => n.as_f64() != Some(0.0),
        _ => false,
    }
}

pub fn whole_number(map: &Map<String, Value>, name: &str) -> Option<u64> {
    match map.get(name)? {
        Value::Number(n) => n.as_u64(),
        Value::String(s) => s.parse().ok(),
        _ => None,
    }
}

pub fn list<'a>(map: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    map.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn object<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    map.get(name)?.as_object()
}
