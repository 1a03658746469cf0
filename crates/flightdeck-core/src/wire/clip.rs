//! Cuts large tool payloads before they are stored *and* applied, so that the fold sees what the log has.
//!
//! Only what a tool returned, or was given after it ran, is ever cut. What a person has to decide on
//! (PermissionRequest, AskUserQuestion, ExitPlanMode) is kept whole.

use serde_json::{Map, Value, json};

use crate::limits::{CLIP_PAYLOAD_FROM_BYTES, CLIPPED_LIST_ITEMS_MAX, CLIPPED_STRING_BYTES_MAX};
use crate::wire::hook_name::HookName;
use crate::wire::lenient;

/// The key that marks a cut payload: `{"bytes": as it came, "input_digest": of the whole input}`.
pub const MARK: &str = "flightdeck_clipped";

/// Cuts `payload`, which was `bytes` long, if it is one of the large kinds. Says whether it did.
pub fn clip(name: Option<HookName>, payload: &mut Map<String, Value>, bytes: usize) -> bool {
    use HookName::{PostToolBatch, PostToolUse, PostToolUseFailure};
    if bytes < CLIP_PAYLOAD_FROM_BYTES
        || !matches!(name, Some(PostToolUse | PostToolUseFailure | PostToolBatch))
    {
        return false;
    }
    let mark =
        json!({ "bytes": bytes, "input_digest": format!("{:016x}", digest(payload.get("tool_input"))) });
    let keep_input = matches!(lenient::str(payload, "tool_name"), Some("AskUserQuestion" | "ExitPlanMode"));
    for (key, value) in payload.iter_mut() {
        if key != "tool_input" || !keep_input {
            clip_value(value);
        }
    }
    payload.insert(MARK.into(), mark);
    true
}

/// Cuts the longest strings of a map that is over `bytes`: what is left can be looked at, not used.
pub fn shorten(map: &mut Map<String, Value>, bytes: usize) {
    if serde_json::to_string(map).map_or(0, |json| json.len()) > bytes {
        map.values_mut().for_each(clip_value);
    }
}

fn clip_value(value: &mut Value) {
    match value {
        Value::String(s) => clip_string(s),
        Value::Array(items) => {
            let over = items.len().saturating_sub(CLIPPED_LIST_ITEMS_MAX);
            items.truncate(CLIPPED_LIST_ITEMS_MAX);
            items.iter_mut().for_each(clip_value);
            if over > 0 {
                items.push(json!(format!("…[{over} more clipped]")));
            }
        }
        Value::Object(map) => map.values_mut().for_each(clip_value),
        _ => {}
    }
}

fn clip_string(s: &mut String) {
    if s.len() <= CLIPPED_STRING_BYTES_MAX {
        return;
    }
    let end = s.floor_char_boundary(CLIPPED_STRING_BYTES_MAX);
    let cut = s.len() - end;
    s.truncate(end);
    s.push_str(&format!("…[{cut} bytes clipped]"));
    s.shrink_to_fit();
}

/// A fixed 64-bit hash of a tool's input: PermissionRequest has no call id and is matched by it.
pub fn digest(input: Option<&Value>) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    if let Some(input) = input {
        // Writing into a hash cannot fail.
        let _ = serde_json::to_writer(&mut hash, input);
    }
    hash.0
}

/// The digest of the payload's `tool_input` as it was before it was cut.
pub fn input_digest(payload: &Map<String, Value>) -> u64 {
    let marked = lenient::object(payload, MARK).and_then(|mark| lenient::str(mark, "input_digest"));
    match marked.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        Some(whole) => whole,
        None => digest(payload.get("tool_input")),
    }
}

struct Fnv(u64);

impl std::io::Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for b in bytes {
            self.0 = (self.0 ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(tool: &str) -> Map<String, Value> {
        let input = json!({"file_path": "a", "content": "é".repeat(20_000)});
        let Value::Object(map) =
            json!({"tool_name": tool, "tool_input": input, "tool_response": {"l": vec![1; 200]}})
        else {
            unreachable!()
        };
        map
    }

    #[test]
    fn a_large_tool_result_is_cut_with_a_mark_and_keeps_its_digest() {
        let whole = big("Write");
        let mut cut = whole.clone();
        assert!(clip(Some(HookName::PostToolUse), &mut cut, 40_100));
        assert!(serde_json::to_string(&cut).unwrap().len() < 5_000);
        assert!(cut["tool_input"]["content"].as_str().unwrap().ends_with("bytes clipped]"));
        assert_eq!(cut[MARK]["bytes"], 40_100);
        assert_eq!(input_digest(&cut), input_digest(&whole));
    }

    #[test]
    fn what_a_person_decides_on_is_never_cut() {
        let mut asked = big("Write");
        assert!(!clip(Some(HookName::PermissionRequest), &mut asked, 40_100));
        let mut plan = big("ExitPlanMode");
        clip(Some(HookName::PostToolUse), &mut plan, 40_100);
        assert_eq!(plan["tool_input"], big("ExitPlanMode")["tool_input"]);
    }

    #[test]
    fn a_small_payload_stays_as_it_came() {
        let mut small = big("Write");
        assert!(!clip(Some(HookName::PostToolUse), &mut small, 100));
        assert_eq!(small, big("Write"));
    }
}
