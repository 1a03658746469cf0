//! One line of the socket, and the content of one spool file: `{"cmd", "args", "env"}`.

mod repair;

use std::borrow::Cow;

use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::log::record::Verbatim;
use flightdeck_core::wire::clip::MARK;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::repair::{repaired, shallow};

/// Longest frame: the largest hook body, and room for what the hook program adds (seven variables of 4 KB, escaped).
pub const FRAME_BYTES_MAX: usize = HOOK_BODY_BYTES_MAX + 256 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct EventFrame {
    pub cmd: String,
    pub args: Map<String, Value>,
    pub env: Map<String, Value>,
}

/// The message names the column: a frame is one line, so that is the byte.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("not a frame: {0}")]
    Malformed(#[source] serde_json::Error),
    #[error("{part} is not a JSON object: {source}")]
    NotAnObject { part: &'static str, source: serde_json::Error },
}

#[derive(Deserialize)]
struct FrameFields<'a> {
    #[serde(borrow)]
    cmd: Cow<'a, str>,
    #[serde(borrow, default)]
    args: Option<&'a RawValue>,
    #[serde(borrow, default)]
    env: Option<&'a RawValue>,
}

impl EventFrame {
    pub fn parse(line: &[u8]) -> Result<Self, FrameError> {
        Self::parse_strictly(line).or_else(|error| match repaired(line) {
            Some(line) => Self::parse_strictly(&line),
            None => Err(error),
        })
    }

    fn parse_strictly(line: &[u8]) -> Result<Self, FrameError> {
        let wire: FrameFields<'_> = serde_json::from_slice(line).map_err(FrameError::Malformed)?;
        let cut = wire.args.and_then(|args| without_depth(args.get().as_bytes()));
        Ok(Self {
            args: cut.map_or_else(|| object("args", wire.args), Ok)?,
            env: object("env", wire.env)?,
            cmd: wire.cmd.into_owned(),
        })
    }
}

/// Parsed on its own, so that a payload may be nested as deep in a frame as in an HTTP body.
fn object(part: &'static str, json: Option<&RawValue>) -> Result<Map<String, Value>, FrameError> {
    match json {
        Some(json) => {
            serde_json::from_str(json.get()).map_err(|source| FrameError::NotAnObject { part, source })
        }
        None => Ok(Map::new()),
    }
}

/// Cuts what is nested too deep and marks the payload; `None` if nothing is. Cards and snapshots embed payloads, and must
/// stay readable for a parser that goes no deeper than ours. A hook cannot report that its event was refused, so its
/// payload is cut; a sender over HTTP gets an error where our parser gives up.
fn without_depth(json: &[u8]) -> Option<Map<String, Value>> {
    let mut args: Map<String, Value> = serde_json::from_slice(&shallow(json)?).ok()?;
    args.insert(MARK.to_owned(), json!({ "bytes": json.len() }));
    Some(args)
}

/// A hook body as HTTP brings it, read with the same leniency as a frame.
pub fn parse_body(body: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    parse_verbatim(body).map(|(payload, _)| payload)
}

/// Parses a hook body as [`parse_body`] does. Also returns its bytes if the body needed no repair.
pub fn parse_verbatim(body: &[u8]) -> Result<(Map<String, Value>, Verbatim), serde_json::Error> {
    match serde_json::from_slice(body) {
        Ok(payload) => Ok(match without_depth(body) {
            Some(cut) => (cut, Verbatim::default()),
            None => (payload, Verbatim::from_json(body)),
        }),
        Err(error) => {
            let body = repaired(body).ok_or(error)?;
            let payload = serde_json::from_slice(&body)?;
            Ok((without_depth(&body).unwrap_or(payload), Verbatim::default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::limits::PAYLOAD_DEPTH_MAX;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_frame_keeps_payload_and_environment_apart() {
        let frame =
            EventFrame::parse(br#"{"cmd":"hook","args":{"b":1,"a":[null]},"env":{"id":"x"}}"#).unwrap();
        assert_eq!(frame.cmd, "hook");
        assert_eq!(Value::from(frame.args).to_string(), r#"{"b":1,"a":[null]}"#);
        assert_eq!(Value::from(frame.env).to_string(), r#"{"id":"x"}"#);
    }

    #[test]
    fn absent_parts_are_empty_and_unknown_parts_are_ignored() {
        let frame = EventFrame::parse(br#"{"cmd":"fleet.list","args":null,"v":2}"#).unwrap();
        assert!(frame.args.is_empty() && frame.env.is_empty());
    }

    #[test]
    fn a_payload_cannot_bring_an_environment_of_its_own() {
        assert!(EventFrame::parse(br#"{"cmd":"hook","args":{},"env":{"id":"fake"},"env":{}}"#).is_err());
    }

    #[test]
    fn a_payload_is_cut_where_it_is_nested_too_deep_and_marked() {
        let deep = |n: usize| format!(r#"{{"tool_use_id":"t","a":{}1{}}}"#, "[".repeat(n), "]".repeat(n));
        let framed = |n: usize| format!(r#"{{"cmd":"hook","args":{}}}"#, deep(n));
        for n in [1, 99, 100, 120, 125, 126, 127, 128, 100_000] {
            let args = EventFrame::parse(framed(n).as_bytes()).unwrap().args;
            if let Ok((body, verbatim)) = parse_verbatim(deep(n).as_bytes()) {
                assert_eq!(args, body, "{n}");
                assert_eq!(verbatim.json().is_some(), n < PAYLOAD_DEPTH_MAX, "{n}");
            }
            let cut = (n >= PAYLOAD_DEPTH_MAX).then(|| json!({ "bytes": deep(n).len() }));
            assert_eq!((&args["tool_use_id"], args.get(MARK)), (&json!("t"), cut.as_ref()), "{n}");
            // A card, the board and a reply of the socket nest it deeper.
            let wrapped = format!("{}{}{}", "[".repeat(20), Value::from(args), "]".repeat(20));
            assert!(serde_json::from_str::<Value>(&wrapped).is_ok(), "{n}");
        }
        assert!(parse_body(deep(120).as_bytes()).is_ok());
        assert!(parse_body(deep(128).as_bytes()).is_err());
    }

    #[test]
    fn text_cut_in_the_middle_of_an_emoji_is_still_taken() {
        let frame =
            EventFrame::parse(br#"{"cmd":"hook","args":{"t":"cut \ud83d","u":"\ud83d\ude00"}}"#).unwrap();
        assert_eq!(frame.args["t"], "cut \u{fffd}");
        assert_eq!(frame.args["u"], "😀");
    }

    #[test]
    fn an_error_names_the_part_and_the_place() {
        let error = EventFrame::parse(br#"{"cmd":"hook","args":[1]}"#).unwrap_err().to_string();
        assert!(error.contains("args") && error.contains("column"), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes: Vec<u8>) {
            let _ = EventFrame::parse(&bytes);
            let _ = parse_body(&bytes);
        }
    }
}
