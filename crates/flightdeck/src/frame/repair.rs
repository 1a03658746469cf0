//! JSON that the client may write and our parser refuses: text that was cut inside a character, and too deep nesting.
//!
//! JavaScript cuts strings between the halves of an emoji and then writes the lone half as `\ud83d`.

use flightdeck_core::limits::PAYLOAD_DEPTH_MAX;

/// Replaces what was nested deeper than [`PAYLOAD_DEPTH_MAX`].
const TOO_DEEP: &[u8] = "\"…[nested too deep: clipped]\"".as_bytes();

/// The same JSON without what is nested too deep, or `None` if nothing is. `json` is complete: its brackets match.
pub(super) fn shallow(json: &[u8]) -> Option<Vec<u8>> {
    // Nearly every payload has fewer brackets than that, and counting them is cheap.
    if json.iter().filter(|byte| matches!(byte, b'[' | b'{')).count() <= PAYLOAD_DEPTH_MAX {
        return None;
    }
    let mut out = Vec::new();
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    // Start of the part that is kept next.
    let mut kept_from = 0;
    for (at, byte) in json.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                if depth == PAYLOAD_DEPTH_MAX {
                    out.extend_from_slice(&json[kept_from..at]);
                    out.extend_from_slice(TOO_DEEP);
                }
                depth += 1;
            }
            b']' | b'}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == PAYLOAD_DEPTH_MAX {
                    kept_from = at + 1;
                }
            }
            _ => {}
        }
    }
    if kept_from == 0 {
        return None;
    }
    out.extend_from_slice(&json[kept_from..]);
    Some(out)
}

/// The same JSON with `U+FFFD` for each lone surrogate and each byte that is not UTF-8, or `None` if there is neither.
pub(super) fn repaired(json: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(json);
    let mut out = Vec::with_capacity(text.len());
    let mut changed = matches!(text, std::borrow::Cow::Owned(_));
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b == b'\\') {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before);
        let len = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => 0,
            // A backslash escapes the next byte, which may be another backslash.
            _ => escape.len().min(2),
        };
        if len == 0 {
            out.extend_from_slice(b"\\ufffd");
            changed = true;
        }
        out.extend_from_slice(&escape[..len]);
        rest = &escape[if len == 0 { 6 } else { len }..];
    }
    out.extend_from_slice(rest);
    changed.then_some(out)
}

/// The number in `\uXXXX`, if `escape` begins with one.
fn unit(escape: &[u8]) -> Option<u16> {
    let hex = escape.strip_prefix(b"\\u")?.get(..4)?;
    // `from_str_radix` would take a sign.
    let hex = std::str::from_utf8(hex).ok().filter(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(hex, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(json: &[u8], expected: Option<&str>) {
        assert_eq!(repaired(json).map(|b| String::from_utf8(b).unwrap()).as_deref(), expected);
    }

    #[test]
    fn half_characters_become_a_mark_and_whole_ones_stay() {
        check(br#""\ud83d""#, Some(r#""\ufffd""#));
        check(br#""\ude00 \ud83d\ude00 \ud83d\n""#, Some(r#""\ufffd \ud83d\ude00 \ufffd\n""#));
        check(br#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(br#""\ud83d\ude00 \u00e4""#, None);
    }

    #[test]
    fn an_escaped_backslash_starts_no_escape() {
        check(br#""C:\\ud83d""#, None);
        check(br#""\\\ud83d""#, Some(r#""\\\ufffd""#));
    }

    #[test]
    fn bytes_that_are_not_utf_8_become_a_mark() {
        check(b"\"\xff\"", Some("\"\u{fffd}\""));
    }

    #[test]
    fn what_is_nested_too_deep_becomes_a_mark_and_the_rest_stays() {
        let nest = |n: usize| format!(r#"{{"a":"[\"[","b":{}1{},"c":[{{}}]}}"#, "[".repeat(n), "]".repeat(n));
        assert_eq!(shallow(nest(PAYLOAD_DEPTH_MAX - 1).as_bytes()), None);
        for n in [PAYLOAD_DEPTH_MAX, 127, 500_000] {
            let read: serde_json::Value =
                serde_json::from_slice(&shallow(nest(n).as_bytes()).unwrap()).unwrap();
            assert_eq!((&read["a"], &read["c"]), (&"[\"[".into(), &serde_json::json!([{}])));
            assert!(read["b"].to_string().contains("nested too deep"));
        }
    }

    proptest! {
        #[test]
        fn once_repaired_nothing_is_left_to_repair(
            bytes in prop::collection::vec(prop::sample::select(b"\\ud83e0 \"\xffx".to_vec()), 0..60)
        ) {
            if let Some(once) = repaired(&bytes) {
                prop_assert_eq!(repaired(&once), None);
            }
        }
    }
}
