//! The small fields of a payload that is too large to send: they say which session and which event it is.

use crate::json::{Scanner, is_named, unescaped, write_string};
use crate::limits::HEAD_TEXT_BYTES_MAX;

/// The fields that are kept: session, event and place. Also the agent and the tool call: without them a subagent's call would count
/// as a call of its parent.
const WANTED: [&str; 10] = [
    "session_id",
    "hook_event_name",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "agent_id",
    "agent_type",
    "tool_name",
    "tool_use_id",
];

/// The wanted fields that were found, in the order of the payload.
type Picked = Vec<(&'static str, String)>;

/// The event as JSON without its large parts, marked `truncated`. `None` if session or event are not among the bytes.
pub(crate) fn truncated_event(beginning: &[u8]) -> Option<Vec<u8>> {
    let mut picked = Picked::new();
    // Stops where the bytes end. The fields found until then are used.
    let _ = pick_all(beginning, &mut picked);
    let has = |wanted: &str| picked.iter().any(|(name, _)| *name == wanted);
    (has("session_id") && has("hook_event_name")).then(|| event_json(&picked))
}

fn pick_all(beginning: &[u8], picked: &mut Picked) -> Option<()> {
    let mut scanner = Scanner::new(beginning);
    scanner.expect(b'{')?;
    loop {
        let key = scanner.key()?;
        if scanner.peek()? == b'"' {
            keep_if_wanted(key, scanner.string()?, picked);
        } else {
            scanner.value()?;
        }
        scanner.expect(b',')?;
    }
}

fn keep_if_wanted(key: &[u8], string: &[u8], picked: &mut Picked) {
    let Some(name) = WANTED.into_iter().find(|name| is_named(key, name)) else { return };
    // The bound is for the text with its quotes.
    if string.len() + 2 > HEAD_TEXT_BYTES_MAX {
        return;
    }
    let read = unescaped(string);
    if read.repaired {
        return;
    }
    match picked.iter_mut().find(|(known, _)| *known == name) {
        Some((_, text)) => *text = read.text,
        None => picked.push((name, read.text)),
    }
}

fn event_json(picked: &Picked) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (name, text) in picked {
        write_string(&mut out, name);
        out.push(b':');
        write_string(&mut out, text);
        out.push(b',');
    }
    out.extend_from_slice(br#""truncated":true}"#);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    fn check(beginning: &str, expected: Option<&str>) {
        let event = truncated_event(beginning.as_bytes());
        assert_eq!(event.map(|json| String::from_utf8(json).unwrap()).as_deref(), expected);
    }

    #[test]
    fn the_named_fields_survive_a_cut_inside_the_tool_response() {
        check(
            r#"{"session_id":"s","cwd":"/a \"b\"", "effort":{"level":["x",{}]},"n":1, "hook_event_name" :"PostToolUse","tool_response":{"session_id":"no","content":"aaa"#,
            Some(r#"{"session_id":"s","cwd":"/a \"b\"","hook_event_name":"PostToolUse","truncated":true}"#),
        );
    }

    #[test]
    fn fields_after_the_large_part_are_found_too() {
        check(
            r#"{"tool_input":{"content":"x\\"},"session_id":"s","hook_event_name":"Stop"}"#,
            Some(r#"{"session_id":"s","hook_event_name":"Stop","truncated":true}"#),
        );
    }

    #[test]
    fn without_session_or_name_there_is_no_event() {
        check(r#"{"session_id":"s","cwd":"/a","#, None);
        check(r#"{"session_id":4,"hook_event_name":"Stop","#, None);
        check(r#"[{"session_id":"s","hook_event_name":"Stop"}]"#, None);
        check("", None);
    }

    #[test]
    fn a_long_or_damaged_text_is_left_out_and_the_last_of_two_counts() {
        let long = "x".repeat(HEAD_TEXT_BYTES_MAX);
        check(
            &format!(
                r#"{{"cwd":"{long}","agent_id":"\ud83d","session_id":"a","hook_event_name":"Stop","session_id":"b","x":"#
            ),
            Some(r#"{"session_id":"b","hook_event_name":"Stop","truncated":true}"#),
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            truncated_event(&bytes);
        }

        #[test]
        fn anything_like_json_is_survived(
            bytes in prop::collection::vec(prop::sample::select(br#"{}[]",:\ a1"#.to_vec()), 0..80)
        ) {
            truncated_event(&[b"{\"session_id\":", bytes.as_slice()].concat());
        }

        #[test]
        fn the_fields_are_right_wherever_the_payload_is_cut(cut in 0_usize..200) {
            let whole = r#"{"x":[{"session_id":"no"}],"session_id":"s","hook_event_name":"Stop","cwd":"/tmp","last":"y"}"#;
            let event = truncated_event(&whole.as_bytes()[..cut.min(whole.len())]);
            let event: Map<String, Value> = event.map(|json| serde_json::from_slice(&json).unwrap()).unwrap_or_default();
            for (key, value) in event {
                let expected = match key.as_str() {
                    "session_id" => "s".into(),
                    "hook_event_name" => "Stop".into(),
                    "cwd" => "/tmp".into(),
                    _ => Value::Bool(true),
                };
                prop_assert_eq!(value, expected);
            }
        }

        #[test]
        fn the_event_is_written_as_serde_json_writes_it(texts: [String; 3]) {
            let [id, cwd, name] = texts;
            let whole = serde_json::json!({"session_id": id, "cwd": cwd, "hook_event_name": name, "truncated": true});
            let mut payload = whole.clone();
            payload["truncated"] = "x".into();
            prop_assert_eq!(truncated_event(payload.to_string().as_bytes()), Some(whole.to_string().into_bytes()));
        }
    }
}
