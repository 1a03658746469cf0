//! The daemon's reply to a hook: `{"ok", "data": {"seq", "hold_ms", "verdict"}, "error"}`.

use std::time::Duration;

use crate::json::{is_whole, member};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DaemonReply {
    pub(crate) ok: bool,
    /// The payload is not an event: the daemon would refuse it again.
    pub(crate) is_invalid: bool,
    /// How long the daemon holds this hook for a person's answer.
    pub(crate) hold: Option<Duration>,
    /// The bytes of the verdict, as the daemon wrote them.
    pub(crate) verdict: Option<Vec<u8>>,
}

impl DaemonReply {
    /// Reads a line of the daemon. `None` if the line is not a reply.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        if !is_whole(line) {
            return None;
        }
        let ok = match member(line, "ok")? {
            b"true" => true,
            b"false" => false,
            _ => return None,
        };
        let error = present(line, "error");
        if error.is_some_and(|error| !error.starts_with(b"\"")) {
            return None;
        }
        let data = present(line, "data").unwrap_or(b"{}");
        if !data.starts_with(b"{") {
            return None;
        }
        let hold = present(data, "hold_ms").map(millis);
        let verdict = present(data, "verdict");
        if verdict.is_some_and(|verdict| std::str::from_utf8(verdict).is_err()) {
            return None;
        }
        Some(Self {
            ok,
            is_invalid: error == Some(b"\"VALIDATION_ERROR\""),
            hold: hold.map_or(Some(None), |hold| hold.map(Some))?,
            verdict: verdict.map(<[u8]>::to_vec),
        })
    }
}

/// The value of a member, unless the value is `null`.
fn present<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    member(object, name).filter(|value| *value != b"null")
}

fn millis(value: &[u8]) -> Option<Duration> {
    let digits = value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?;
    text.parse().ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<DaemonReply> {
        DaemonReply::parse(line.as_bytes())
    }

    #[test]
    fn a_verdict_keeps_its_spelling() {
        let reply = parse(r#"{"ok":true,"data":{"seq":1,"hold_ms":0,"verdict": {"b": 1.0, "a":"\u00e4"} }}"#)
            .unwrap();
        assert_eq!(reply.verdict.as_deref(), Some(r#"{"b": 1.0, "a":"\u00e4"}"#.as_bytes()));
        let none = parse(r#"{"ok":true,"data":{"seq":1,"hold_ms":9,"verdict":null}}"#).unwrap();
        assert_eq!((none.verdict, none.hold), (None, Some(Duration::from_millis(9))));
    }

    #[test]
    fn only_an_error_of_validation_means_that_the_payload_is_no_event() {
        let error = |error: &str| parse(&format!(r#"{{"ok":false,"error":{error},"message":"x"}}"#));
        assert!(error("\"VALIDATION_ERROR\"").unwrap().is_invalid);
        assert!(!error("\"HANDLER_ERROR\"").unwrap().is_invalid);
        assert!(!error("null").unwrap().is_invalid);
        assert_eq!(error("5"), None);
    }

    #[test]
    fn anything_else_is_no_reply() {
        for line in [
            "",
            "garbage",
            "{}",
            "[true]",
            r#"{"ok":1}"#,
            r#"{"ok":true"#,
            r#"{"ok":true,"data":[]}"#,
            r#"{"ok":true,"data":{"hold_ms":"9"}}"#,
            r#"{"ok":true,"data":{"hold_ms":-1}}"#,
            r#"{"ok":true,"data":{"hold_ms":1.0}}"#,
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
