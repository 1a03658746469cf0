//! The one line that goes to the daemon or into the spool: the payload as the client wrote it, and what the hook adds.

use crate::client;
use crate::event_head::truncated_event;
use crate::json::{is_whole, write_string};
use crate::limits::{HOOK_BODY_BYTES_MAX, STDIN_CHUNK_BYTES};
use crate::process;
use crate::stamp::{Stamp, write_rfc3339};
use crate::stdin::{self, Body};

const OPENING: &[u8] = br#"{"cmd":"hook","args":"#;

/// Built in one buffer: the payload is read behind the opening, and the environment is written behind the payload.
pub(crate) struct Frame(Vec<u8>);

impl Frame {
    /// Reads the event on stdin into a frame. `None` if there is no event.
    pub(crate) fn from_stdin(stamp: &Stamp, hold_s: Option<u32>, waits: bool) -> Option<Self> {
        let mut buffer = Vec::with_capacity(OPENING.len() + STDIN_CHUNK_BYTES);
        buffer.extend_from_slice(OPENING);
        let body = stdin::read_to_end(rustix::stdio::stdin(), &mut buffer, HOOK_BODY_BYTES_MAX);
        let mut frame = Self(buffer);
        frame.make_one_line(body)?;
        frame.add_environment(stamp, hold_s, waits);
        Some(frame)
    }

    /// A frame of another command; `args` is one line of JSON.
    pub(crate) fn new(cmd: &str, args: &[u8], stamp: &Stamp) -> Self {
        let mut frame = Self(format!(r#"{{"cmd":"{cmd}","args":"#).into_bytes());
        frame.0.extend_from_slice(args);
        frame.add_environment(stamp, None, false);
        frame
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn make_one_line(&mut self, body: Body) -> Option<()> {
        let payload = &mut self.0[OPENING.len()..];
        match body {
            Body::Whole => {}
            Body::TooLong => {
                let event = truncated_event(payload)?;
                self.0.truncate(OPENING.len());
                self.0.extend_from_slice(&event);
                return Some(());
            }
            // The client did not close stdin. The event counts if it is complete.
            Body::Stalled => is_whole(payload).then_some(())?,
        }
        let len = payload.trim_ascii_end().len();
        replace_newlines(&mut payload[..len]);
        self.0.truncate(OPENING.len() + len);
        (len > 0).then_some(())
    }

    fn add_environment(&mut self, stamp: &Stamp, hold_s: Option<u32>, waits: bool) {
        let variables = client::variables(|name| std::env::var_os(name));
        let claude_pid = variables.iter().find(|(name, _)| *name == "CLAUDE_PID").map(|(_, v)| v.as_str());
        let client = client::process(claude_pid);
        self.add_stamp(stamp);
        if self.0.starts_with(OPENING) {
            // A hook says when it has printed its verdict.
            self.0.extend_from_slice(b",\"confirms\":true");
        }
        if let Some(seconds) = hold_s {
            self.0.extend_from_slice(format!(",\"hold_s\":{seconds}").as_bytes());
        }
        if waits {
            self.0.extend_from_slice(b",\"waits\":true");
        }
        if let Some((pid, stat)) = client {
            self.0.extend_from_slice(format!(",\"pid\":{pid}").as_bytes());
            self.add_if_known("pid_ns", process::namespace().as_deref());
            if let Some(stat) = stat {
                self.add("proc_start", &stat.start_time);
                self.add_if_known("tty", stat.tty.as_deref());
            }
        }
        for (name, value) in &variables {
            self.add(name, value);
        }
        self.0.extend_from_slice(b"}}\n");
    }

    fn add_stamp(&mut self, stamp: &Stamp) {
        self.0.extend_from_slice(b",\"env\":{\"id\":\"");
        self.0.extend_from_slice(format!("{:032x}", stamp.id).as_bytes());
        self.0.extend_from_slice(b"\",\"fired_at\":\"");
        write_rfc3339(&mut self.0, stamp.fired_ms());
        self.0.extend_from_slice(b"\",\"fired_ns\":\"");
        self.0.extend_from_slice(stamp.fired_ns.to_string().as_bytes());
        self.0.push(b'"');
    }

    fn add_if_known(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn add(&mut self, name: &str, value: &str) {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        write_string(&mut self.0, value);
    }
}

/// In JSON a raw newline can only be between tokens, where a space means the same.
fn replace_newlines(json: &mut [u8]) {
    for byte in json.iter_mut().filter(|b| **b == b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::log::record::EventId;
    use flightdeck_core::time::Timestamp;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn one_line(payload: &[u8], body: Body) -> Option<String> {
        let mut frame = Frame([OPENING, payload].concat());
        frame.make_one_line(body)?;
        String::from_utf8(frame.0[OPENING.len()..].to_vec()).ok()
    }

    #[test]
    fn a_pretty_printed_payload_becomes_one_line() {
        assert_eq!(one_line(b"{\n \"a\": \"x\\ny\"\n}\r\n", Body::Whole).unwrap(), r#"{  "a": "x\ny" }"#);
    }

    #[test]
    fn an_empty_payload_is_no_event() {
        assert_eq!(one_line(b" \n", Body::Whole), None);
        assert_eq!(one_line(b"", Body::Whole), None);
    }

    #[test]
    fn a_stalled_writer_counts_only_if_it_had_written_everything() {
        assert_eq!(one_line(b"{\"a\":1}\n", Body::Stalled).unwrap(), "{\"a\":1}");
        assert_eq!(one_line(b"{\"a\":1", Body::Stalled), None);
    }

    /// The frame that serde_json would write of the same facts.
    #[test]
    fn a_frame_is_written_as_serde_json_writes_it() {
        let stamp = Stamp::new(1_794_768_451_273_456_789, 7);
        let frame = Frame::new("statusline", br#"{"a":1}"#, &stamp);
        let line = std::str::from_utf8(frame.as_bytes()).unwrap();
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line, format!("{value}\n"));
        assert_eq!((&value["cmd"], &value["args"]), (&"statusline".into(), &serde_json::json!({"a": 1})));
        assert_eq!(value["env"]["id"], EventId(stamp.id).to_string());
        assert_eq!(value["env"]["fired_at"], Timestamp::from_millis(1_794_768_451_273).to_string());
        assert_eq!(value["env"]["fired_ns"], "1794768451273456789");
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn one_line_means_the_same(value in json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let line = one_line(pretty.as_bytes(), Body::Whole).unwrap();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        }

        #[test]
        fn any_bytes_become_at_most_one_line(mut bytes: Vec<u8>) {
            replace_newlines(&mut bytes);
            prop_assert!(!bytes.contains(&b'\n'));
        }
    }
}
