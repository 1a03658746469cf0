//! The one line that goes to the daemon, or into the spool: the payload as it came, and what the shim adds.

use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::limits::HOOK_BODY_BYTES_MAX;
use flightdeck_core::record::EventId;
use flightdeck_core::time::Timestamp;
use serde::de::IgnoredAny;

use super::client;
use super::limits::STDIN_CHUNK_BYTES;
use super::pick::truncated;
use super::stdin::{self, Body};
use crate::{clock, process};

const OPENING: &[u8] = br#"{"cmd":"hook","args":"#;

/// When the hook fired, and the name of its event for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) fired_ns: u64,
    pub(crate) id: EventId,
}

impl Stamp {
    pub(super) fn now() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let fired_ns = u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX);
        Self { fired_ns, id: EventId::new(fired_ns, clock::random()) }
    }

    pub(super) fn fired_at(&self) -> Timestamp {
        Timestamp::from_millis(i64::try_from(self.fired_ns / 1_000_000).unwrap_or(i64::MAX))
    }
}

/// Built in one buffer: the payload is read behind the opening, and the environment written behind it.
pub(super) struct Frame(Vec<u8>);

impl Frame {
    /// `None` if stdin brings no event.
    pub(super) fn from_stdin(stamp: &Stamp, hold_s: Option<u32>) -> Option<Self> {
        let mut buffer = Vec::with_capacity(OPENING.len() + STDIN_CHUNK_BYTES);
        buffer.extend_from_slice(OPENING);
        let body = stdin::read_to_end(rustix::stdio::stdin(), &mut buffer, HOOK_BODY_BYTES_MAX);
        let mut frame = Self(buffer);
        frame.settle(body)?;
        frame.add_environment(stamp, hold_s)?;
        Some(frame)
    }

    /// A frame of another command; `args` is one line of JSON.
    pub(super) fn of(cmd: &str, args: &[u8], stamp: &Stamp) -> Option<Self> {
        let mut frame = Self(format!(r#"{{"cmd":"{cmd}","args":"#).into_bytes());
        frame.0.extend_from_slice(args);
        frame.add_environment(stamp, None)?;
        Some(frame)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Makes one line of what was read.
    fn settle(&mut self, body: Body) -> Option<()> {
        let payload = &mut self.0[OPENING.len()..];
        match body {
            Body::Whole => {}
            Body::TooLong => {
                let event = serde_json::to_vec(&truncated(payload)?).ok()?;
                self.0.truncate(OPENING.len());
                self.0.extend_from_slice(&event);
                return Some(());
            }
            // The client forgot to close: all of an event is one nevertheless.
            Body::Stalled => drop(serde_json::from_slice::<IgnoredAny>(payload).ok()?),
        }
        let len = payload.trim_ascii_end().len();
        flatten(&mut payload[..len]);
        self.0.truncate(OPENING.len() + len);
        (len > 0).then_some(())
    }

    fn add_environment(&mut self, stamp: &Stamp, hold_s: Option<u32>) -> Option<()> {
        let variables = client::variables(|name| std::env::var_os(name));
        let claude_pid = variables.iter().find(|(name, _)| *name == "CLAUDE_PID").map(|(_, v)| v.as_str());
        let client = client::process(claude_pid);
        self.0.extend_from_slice(b",\"env\":{\"id\":\"");
        self.0.extend_from_slice(stamp.id.to_string().as_bytes());
        self.0.push(b'"');
        self.add("fired_at", &stamp.fired_at().to_string())?;
        self.add("fired_ns", &stamp.fired_ns.to_string())?;
        if let Some(seconds) = hold_s {
            self.0.extend_from_slice(format!(",\"hold_s\":{seconds}").as_bytes());
        }
        if let Some((pid, stat)) = client {
            self.0.extend_from_slice(format!(",\"pid\":{pid}").as_bytes());
            process::namespace().map_or(Some(()), |ns| self.add("pid_ns", &ns))?;
            if let Some(stat) = stat {
                self.add("proc_start", &stat.start_time)?;
                stat.tty.map_or(Some(()), |tty| self.add("tty", &tty))?;
            }
        }
        for (name, value) in &variables {
            self.add(name, value)?;
        }
        self.0.extend_from_slice(b"}}\n");
        Some(())
    }

    fn add(&mut self, name: &str, value: &str) -> Option<()> {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        serde_json::to_writer(&mut self.0, value).ok()
    }
}

/// One line: in JSON a raw newline can only stand between tokens, where a space means the same.
fn flatten(json: &mut [u8]) {
    for byte in json.iter_mut().filter(|b| **b == b'\n') {
        *byte = b' ';
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn settled(payload: &[u8], body: Body) -> Option<String> {
        let mut frame = Frame([OPENING, payload].concat());
        frame.settle(body)?;
        String::from_utf8(frame.0[OPENING.len()..].to_vec()).ok()
    }

    #[test]
    fn a_pretty_printed_payload_becomes_one_line() {
        assert_eq!(settled(b"{\n \"a\": \"x\\ny\"\n}\r\n", Body::Whole).unwrap(), r#"{  "a": "x\ny" }"#);
    }

    #[test]
    fn no_payload_is_no_event() {
        assert_eq!(settled(b" \n", Body::Whole), None);
        assert_eq!(settled(b"", Body::Whole), None);
    }

    #[test]
    fn a_stalled_writer_counts_only_if_it_had_said_everything() {
        assert_eq!(settled(b"{\"a\":1}\n", Body::Stalled).unwrap(), "{\"a\":1}");
        assert_eq!(settled(b"{\"a\":1", Body::Stalled), None);
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
        fn flattening_loses_nothing(value in json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let line = settled(pretty.as_bytes(), Body::Whole).unwrap();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
        }

        #[test]
        fn any_bytes_become_at_most_one_line(mut bytes: Vec<u8>) {
            flatten(&mut bytes);
            prop_assert!(!bytes.contains(&b'\n'));
        }
    }
}
