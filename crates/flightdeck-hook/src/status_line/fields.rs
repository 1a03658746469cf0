//! The fields of a status line that the daemon keeps. The hook sends only these, so that the frame stays small.

use crate::json::{member, members, unescaped, whole_object, write_string};
use crate::limits::STATUS_LINE_TEXT_BYTES_MAX;

/// Paths of the fields, in the order in which the daemon stores them. A test compares them with the core's.
const KEPT: &[&[&str]] = &[
    &["session_id"],
    &["transcript_path"],
    &["cwd"],
    &["version"],
    &["model", "id"],
    &["cost", "total_cost_usd"],
    &["context_window", "context_window_size"],
    &["context_window", "used_percentage"],
    &["context_window", "current_usage", "input_tokens"],
    &["context_window", "current_usage", "cache_creation_input_tokens"],
    &["context_window", "current_usage", "cache_read_input_tokens"],
    &["prompt_cache", "warm"],
    &["prompt_cache", "ttl"],
    &["prompt_cache", "expires_at"],
    &["rate_limits", "five_hour", "used_percentage"],
    &["rate_limits", "five_hour", "resets_at"],
    &["rate_limits", "seven_day", "used_percentage"],
    &["rate_limits", "seven_day", "resets_at"],
    &["worktree", "name"],
    &["worktree", "branch"],
    &["workspace", "git_worktree"],
];

/// The kept fields as one line of JSON. `None` if the payload is not a JSON object.
pub fn kept_fields(payload: &[u8]) -> Option<Vec<u8>> {
    let payload = whole_object(payload)?;
    let top = top_level(payload);
    let mut out = br#"{"hook_event_name":"StatusLine""#.to_vec();
    let mut open: &[&str] = &[];
    for path in KEPT {
        let Some((name, folders)) = path.split_last() else { continue };
        let Some(value) = field(&top, path).and_then(scalar) else { continue };
        open_folders(&mut out, open, folders);
        open = folders;
        write_name(&mut out, name);
        out.extend_from_slice(&value);
    }
    open_folders(&mut out, open, &[]);
    out.push(b'}');
    Some(out)
}

/// The members that matter. They are collected once, because the payload may be large.
fn top_level(payload: &[u8]) -> Vec<(&'static str, &[u8])> {
    let mut top = Vec::new();
    members(payload, |key, value| {
        let name = KEPT.iter().map(|path| path[0]).find(|name| crate::json::is_named(key, name));
        top.extend(name.map(|name| (name, value)));
    });
    top
}

fn field<'a>(top: &[(&str, &'a [u8])], path: &[&str]) -> Option<&'a [u8]> {
    let (first, rest) = path.split_first()?;
    let (_, value) = top.iter().rfind(|(name, _)| name == first)?;
    rest.iter().try_fold(*value, |object, name| member(object, name))
}

/// A value as it is sent. A number keeps its bytes; a string is encoded again.
fn scalar(value: &[u8]) -> Option<Vec<u8>> {
    match value.first()? {
        b'"' => {
            let text = unescaped(value.get(1..value.len() - 1)?).text;
            let mut out = Vec::with_capacity(text.len() + 2);
            write_string(&mut out, &text);
            (text.len() <= STATUS_LINE_TEXT_BYTES_MAX).then_some(out)
        }
        b'{' | b'[' | b'n' => None,
        _ => Some(value.to_vec()),
    }
}

/// Closes the JSON objects that contain the last field but not the next one, and opens those that the next field needs.
fn open_folders(out: &mut Vec<u8>, open: &[&str], wanted: &[&str]) {
    let common = open.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    out.extend(std::iter::repeat_n(b'}', open.len() - common));
    for folder in &wanted[common..] {
        write_name(out, folder);
        out.push(b'{');
    }
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    write_string(out, name);
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use flightdeck_core::wire::status_line;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    /// The core's own reduction, as serde_json writes it.
    fn as_the_core_keeps_it(payload: &Map<String, Value>) -> String {
        Value::Object(status_line::status_line_draft(payload, Map::new()).payload).to_string()
    }

    fn check(payload: &Value, text: &str) {
        let kept = kept_fields(text.as_bytes()).map(|json| String::from_utf8(json).unwrap());
        assert_eq!(kept, payload.as_object().map(as_the_core_keeps_it), "{text}");
    }

    #[test]
    fn a_captured_status_line_is_reduced_as_the_core_reduces_it() {
        let payload = serde_json::json!({
            "session_id": "s", "prompt_id": "p", "cwd": "/w/\"ä\"\n", "model": {"id": "opus", "display_name": "Opus"},
            "version": "x".repeat(STATUS_LINE_TEXT_BYTES_MAX + 1), "cost": {"total_cost_usd": 0.064524},
            "context_window": {"context_window_size": 1_000_000, "used_percentage": null, "current_usage":
                {"input_tokens": 9, "output_tokens": 21, "cache_read_input_tokens": 150_000}},
            "prompt_cache": {"warm": true, "expires_at": 1_794_767_794, "hit_ratio": 0.97},
            "rate_limits": {"seven_day": {"used_percentage": 41.5}}, "worktree": "no", "workspace": {"git_worktree": ""},
        });
        check(&payload, &payload.to_string());
        check(&payload, &serde_json::to_string_pretty(&payload).unwrap());
        check(&serde_json::json!({}), " {} ");
    }

    #[test]
    fn other_input_is_no_status_line() {
        for text in ["", "garbage", "[1]", "\"x\"", "{", "{} {}", "{\"a\":\u{1}}"] {
            assert_eq!(kept_fields(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn lone_surrogates_and_bytes_that_are_not_utf8_are_replaced() {
        let kept = kept_fields(b"{\"cwd\":\"a\\ud83d\",\"version\":\"\xff\"}").unwrap();
        let expected = r#"{"hook_event_name":"StatusLine","cwd":"a�","version":"�"}"#;
        assert_eq!(String::from_utf8(kept).unwrap(), expected);
    }

    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        let key = prop::sample::select(KEPT.concat());
        leaf.prop_recursive(4, 24, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..2).prop_map(Value::from),
                prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn any_status_line_is_reduced_as_the_core_reduces_it(value in anything(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            check(&value, &text);
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            kept_fields(&bytes);
        }
    }
}
