//! Clips large payloads before they are stored *and* applied, so that the fold sees what the log has.
//!
//! A payload over its budget is copied with the mildest of the [`LEVELS`] that fits. The longest strings and lists are
//! shortened first; what the state machine reads (ids, names, flags) is shortened last.

use serde_json::{Map, Value, json};

use crate::fnv::Fnv;
use crate::limits::{
    CLIP_PAYLOAD_FROM_BYTES, CLIPPED_KEY_BYTES_MAX, OPEN_CALLS_MAX, OTHER_PAYLOAD_BYTES_MAX,
    PAYLOAD_BYTES_MAX, TOOL_PAYLOAD_BYTES_MAX,
};
use crate::wire::hook_name::HookName;
use crate::wire::lenient;

/// The key that marks a clipped payload: `{"bytes": original size, "input_digest": of the whole input}`.
pub const MARK: &str = "flightdeck_clipped";

/// Fields that are always kept, in the payload and in each call: the fold needs them, and they are small.
const KEPT: [&str; 26] = [
    "session_id",
    "hook_event_name",
    "transcript_path",
    "cwd",
    "new_cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "session_title",
    "tool_name",
    "tool_use_id",
    "source",
    "reason",
    "trigger",
    "notification_type",
    "is_interrupt",
    "stop_hook_active",
    "mcp_server_name",
    "model",
    "to_model",
    "task_id",
    "task_subject",
    "error",
    "type",
    "status",
];
/// Lists whose entries are all kept, up to the bound of the ledger.
const COUNTED: [&str; 2] = ["tool_calls", "background_tasks"];
/// Longest kept field, escaped: enough for a long path and any id.
const KEPT_STRING_BYTES_MAX: usize = 1024;
/// Longest kept field inside an entry of a counted list, escaped.
const KEPT_IN_LIST_BYTES_MAX: usize = 256;
/// Bytes reserved for the mark.
const MARK_BYTES: usize = 128;

/// The bounds of one level. Bytes are counted in JSON, including escapes.
#[derive(Clone, Copy, Debug)]
struct Level {
    string_bytes: usize,
    items: usize,
    depth: usize,
}

const LEVELS: [Level; 6] = [
    Level { string_bytes: 128 * 1024, items: 1024, depth: 64 },
    Level { string_bytes: 32 * 1024, items: 512, depth: 64 },
    Level { string_bytes: 8 * 1024, items: 256, depth: 32 },
    Level { string_bytes: 2 * 1024, items: 64, depth: 16 },
    Level { string_bytes: 512, items: 32, depth: 12 },
    Level { string_bytes: 128, items: 16, depth: 8 },
];

/// Clips `payload`, which was `bytes` long, if it is over its budget. Returns whether it did.
pub fn clip(name: Option<HookName>, payload: &mut Map<String, Value>, bytes: usize) -> bool {
    if bytes < CLIP_PAYLOAD_FROM_BYTES {
        return false;
    }
    let (budget, levels) = match name {
        _ if asks_person(name, payload) => (PAYLOAD_BYTES_MAX, &LEVELS[..]),
        Some(
            HookName::PreToolUse
            | HookName::PostToolUse
            | HookName::PostToolUseFailure
            | HookName::PostToolBatch,
        ) => (TOOL_PAYLOAD_BYTES_MAX, &LEVELS[3..]),
        _ => (OTHER_PAYLOAD_BYTES_MAX, &LEVELS[1..]),
    };
    if json_len(payload) <= budget {
        return false;
    }
    let cut = levels.iter().find_map(|level| Cut::new(*level, budget - MARK_BYTES).payload(payload));
    let mut cut = cut.unwrap_or_else(|| fields_of_the_fold(payload));
    mark_as_clipped(&mut cut, payload.get("tool_input"))["bytes"] = bytes.into();
    *payload = cut;
    true
}

/// Clips a payload to a budget other than that of the log, such as the message size of a server. `budget` is in bytes of JSON. A payload
/// that was clipped before keeps the digest of its whole input.
pub fn clip_to(payload: &mut Map<String, Value>, budget: usize) {
    let bytes = json_len(payload);
    let digest = input_digest(payload);
    let room = budget.saturating_sub(MARK_BYTES);
    let cut = LEVELS.iter().find_map(|level| Cut::new(*level, room).payload(payload));
    let mut cut = cut.unwrap_or_else(|| fields_of_the_fold(payload));
    cut.insert(MARK.into(), json!({ "input_digest": format!("{digest:016x}"), "bytes": bytes }));
    *payload = cut;
}

/// Clips the longest parts of a map that is over `bytes`, for display.
pub fn shorten(map: &mut Map<String, Value>, bytes: usize) {
    if json_len(map) > bytes {
        let cut = LEVELS.iter().find_map(|level| Cut::new(*level, bytes).object(map, 1));
        *map = cut.unwrap_or_default();
    }
}

/// Marks a clipped payload, or a clipped call in it, with the digest of its whole input.
fn mark_as_clipped<'a>(cut: &'a mut Map<String, Value>, input: Option<&Value>) -> &'a mut Value {
    cut.insert(MARK.into(), json!({ "input_digest": format!("{:016x}", digest(input)) }));
    &mut cut[MARK]
}

/// Whether a text or a key in the value was shortened. A text that contains the mark itself counts as shortened.
pub fn is_clipped(value: &Value) -> bool {
    match value {
        Value::String(text) => is_clipped_text(text),
        Value::Array(items) => items.iter().any(is_clipped),
        Value::Object(fields) => has_clipped_field(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// [`is_clipped`] for an object.
pub fn has_clipped_field(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(key, value)| is_clipped_text(key) || is_clipped(value))
}

/// Whether the text ends like a text that [`shortened`] cut, or like a note about omitted items.
fn is_clipped_text(text: &str) -> bool {
    text.ends_with(" clipped]") && text.contains("…[")
}

/// Whether the payload is a request that a person decides on, or the call or the result of such a request.
fn asks_person(name: Option<HookName>, payload: &Map<String, Value>) -> bool {
    matches!(name, Some(HookName::PermissionRequest | HookName::Elicitation))
        || matches!(lenient::borrowed_text(payload, "tool_name"), Some("AskUserQuestion" | "ExitPlanMode"))
}

/// One attempt: a copy within a level, abandoned when it is over the budget.
struct Cut {
    level: Level,
    left: usize,
}

impl Cut {
    fn new(level: Level, budget: usize) -> Self {
        Self { level, left: budget }
    }

    fn payload(&mut self, whole: &Map<String, Value>) -> Option<Map<String, Value>> {
        self.spend(2)?;
        let mut cut = Map::new();
        let mut others = 0;
        for (key, value) in whole {
            let small = KEPT.contains(&key.as_str());
            let value = match value {
                Value::String(s) if small => {
                    self.string(s, self.level.string_bytes.max(KEPT_STRING_BYTES_MAX))?
                }
                Value::Array(calls) if COUNTED.contains(&key.as_str()) => self.calls(calls)?,
                value => {
                    others += usize::from(!small);
                    if others > self.level.items {
                        continue;
                    }
                    self.value(value, 1)?
                }
            };
            let key = self.key(key)?;
            cut.insert(key, value);
        }
        self.add_omitted_count(others, &mut cut)?;
        Some(cut)
    }

    /// Each call keeps the digest of its own input, which may be the only link to the need it closes.
    fn calls(&mut self, calls: &[Value]) -> Option<Value> {
        let mut cut = Vec::new();
        for call in calls.iter().take(self.level.items.max(OPEN_CALLS_MAX)) {
            let mut kept = self.value(call, 2)?;
            if let (Some(input), Value::Object(kept)) = (call.get("tool_input"), &mut kept)
                && kept.get("tool_input") != Some(input)
            {
                self.spend(MARK_BYTES)?;
                mark_as_clipped(kept, Some(input));
            }
            self.spend(1)?;
            cut.push(kept);
        }
        self.spend(2)?;
        Some(cut.into())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Option<Value> {
        match value {
            Value::String(s) => self.string(s, self.level.string_bytes),
            Value::Array(_) | Value::Object(_) if depth > self.level.depth => {
                self.string("…[nested too deep: clipped]", usize::MAX)
            }
            Value::Array(items) => {
                let mut cut = Vec::new();
                for item in items.iter().take(self.level.items) {
                    cut.push(self.value(item, depth + 1)?);
                    self.spend(1)?;
                }
                let over = items.len() - cut.len();
                if over > 0 {
                    cut.push(self.string(&format!("…[{over} more clipped]"), usize::MAX)?);
                }
                self.spend(3)?;
                Some(cut.into())
            }
            Value::Object(fields) => self.object(fields, depth).map(Value::Object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.spend(value.to_string().len())?;
                Some(value.clone())
            }
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, depth: usize) -> Option<Map<String, Value>> {
        let mut cut = Map::new();
        for (key, value) in fields.iter().take(self.level.items) {
            let value = self.value(value, depth + 1)?;
            cut.insert(self.key(key)?, value);
        }
        self.add_omitted_count(fields.len(), &mut cut)?;
        self.spend(2)?;
        Some(cut)
    }

    fn string(&mut self, s: &str, bytes_max: usize) -> Option<Value> {
        let kept = shortened(s, bytes_max);
        self.spend(escaped_len(&kept) + 2)?;
        Some(kept.into())
    }

    /// Shortens a key. Its colon and comma count too.
    fn key(&mut self, key: &str) -> Option<String> {
        let kept = shortened(key, CLIPPED_KEY_BYTES_MAX);
        self.spend(escaped_len(&kept) + 4)?;
        Some(kept)
    }

    /// Adds a note with the number of omitted fields.
    fn add_omitted_count(&mut self, of: usize, cut: &mut Map<String, Value>) -> Option<()> {
        let over = of.saturating_sub(self.level.items);
        if over > 0 {
            let key = self.key("…")?;
            cut.insert(key, self.string(&format!("…[{over} more clipped]"), usize::MAX)?);
        }
        Some(())
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes)?;
        Some(())
    }
}

/// The result if no level fits: only the fields that the fold reads. The lists above bound it for any input.
fn fields_of_the_fold(payload: &Map<String, Value>) -> Map<String, Value> {
    let small = |map: &Map<String, Value>, bytes_max: usize| {
        let kept = KEPT.iter().filter_map(|key| Some((*key, map.get(*key)?)));
        let kept = kept.filter_map(|(key, value)| match value {
            Value::String(s) => Some((key.to_owned(), shortened(s, bytes_max).into())),
            Value::Array(_) | Value::Object(_) => None,
            value => Some((key.to_owned(), value.clone())),
        });
        kept.collect::<Map<String, Value>>()
    };
    let mut kept = small(payload, KEPT_STRING_BYTES_MAX);
    for list in COUNTED {
        let entries = lenient::list(payload, list).iter().take(OPEN_CALLS_MAX).filter_map(Value::as_object);
        let ids = |map: &Map<String, Value>| {
            let mut entry = small(map, KEPT_IN_LIST_BYTES_MAX);
            entry.retain(|key, _| matches!(key.as_str(), "tool_name" | "tool_use_id" | "type" | "status"));
            if let Some(input) = map.get("tool_input") {
                mark_as_clipped(&mut entry, Some(input));
            }
            Value::Object(entry)
        };
        let entries: Vec<Value> = entries.map(ids).collect();
        if !entries.is_empty() {
            kept.insert(list.to_owned(), entries.into());
        }
    }
    kept
}

/// The start of `s` that takes at most `bytes_max` in JSON, with a note of how much was cut.
fn shortened(s: &str, bytes_max: usize) -> String {
    // JSON is never shorter than the text itself.
    let mut left = bytes_max;
    for (at, c) in s.char_indices() {
        let cost = escaped_char_len(c);
        if cost > left {
            return format!("{}…[{} bytes clipped]", &s[..at], s.len() - at);
        }
        left -= cost;
    }
    s.to_owned()
}

fn escaped_len(s: &str) -> usize {
    s.chars().map(escaped_char_len).sum()
}

fn escaped_char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\u{0}'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

/// The length of the payload as JSON, as the log stores it.
fn json_len(payload: &Map<String, Value>) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut count, payload);
    count.0
}

/// A fixed 64-bit hash of a tool's input: PermissionRequest has no call id and is matched by it.
pub fn digest(input: Option<&Value>) -> u64 {
    let mut hash = Fnv::default();
    if let Some(input) = input {
        // Writing into a hash cannot fail.
        let _ = serde_json::to_writer(&mut hash, input);
    }
    hash.finish()
}

/// The digest of the payload's whole `tool_input`, from before it was clipped.
pub fn input_digest(payload: &Map<String, Value>) -> u64 {
    let marked = lenient::object(payload, MARK).and_then(|mark| lenient::borrowed_text(mark, "input_digest"));
    match marked.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        Some(whole) => whole,
        None => digest(payload.get("tool_input")),
    }
}

#[cfg(test)]
#[path = "clip_tests.rs"]
mod tests;
