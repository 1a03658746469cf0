//! Turns a hook's payload into a record, and sets the two clocks of a record.

use serde_json::{Map, Value};

use super::record::{Envelope, EventId, Record, Source, Verbatim};
use super::subject::Subject;
use crate::ids::{AgentId, HostId, SeatName};
use crate::limits::{ID_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX, SESSION_ID_BYTES_MAX};
use crate::text::one_line;
use crate::time::{Millis, Timestamp};
use crate::wire::clip;
use crate::wire::hook::{BadHook, HookDraft};
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{line, text, whole_number};

impl HookDraft {
    /// Checks and clips the draft and turns it into a record. The engine sets `seq` and `received_at`. An event without an id
    /// gets `fresh`.
    pub fn into_record(mut self, fresh: EventId) -> Result<Record, BadHook> {
        let session_id = text(&self.payload, "session_id").ok_or(BadHook::NoSession)?;
        if session_id.len() > SESSION_ID_BYTES_MAX {
            return Err(BadHook::SessionTooLong(session_id.len()));
        }
        let session_id = one_line(&session_id, SESSION_ID_BYTES_MAX);
        if session_id.is_empty() {
            return Err(BadHook::NoSession);
        }
        let name = self
            .name()
            .map(|name| one_line(&name, NAME_CHARS_MAX))
            .filter(|name| !name.is_empty())
            .ok_or(BadHook::NoName)?;
        clip::clip(HookName::parse(&name), &mut self.payload, self.bytes);
        let fired_at = text(&self.env, "fired_at").and_then(|t| Timestamp::parse(&t));
        Ok(Record {
            seq: 0,
            id: text(&self.env, "id").and_then(|id| EventId::parse(&id)).unwrap_or(fresh),
            fired_at: fired_at.unwrap_or_default(),
            received_at: Timestamp::default(),
            source: Source::Hook,
            name,
            host: HostId::this_machine(),
            subject: Subject::Session(session_id.into()),
            agent_id: line(&self.payload, "agent_id", ID_CHARS_MAX).map(AgentId::from),
            envelope: Envelope { has_fired_at: fired_at.is_some(), ..envelope(&self.env, &self.payload) },
            payload: self.payload,
            verbatim: Verbatim::default(),
        })
    }
}

/// The envelope from the environment that the hook sent. `TMUX` is `socket,pid,session`; only the socket is used, because the pane has its own
/// variable. A script that sends the hook with `curl` has no such variables and may put `pid` and `tmux_pane` into the payload.
fn envelope(env: &Map<String, Value>, payload: &Map<String, Value>) -> Envelope {
    let pid = whole_number(env, "pid")
        .or_else(|| whole_number(env, "CLAUDE_PID"))
        .or_else(|| whole_number(payload, "pid"));
    let text = |env: &Map<String, Value>, name: &str| line(env, name, PATH_CHARS_MAX);
    Envelope {
        pid: pid.and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0),
        proc_start: text(env, "proc_start"),
        pid_ns: text(env, "pid_ns"),
        tmux_socket: text(env, "TMUX")
            .and_then(|t| t.split(',').next().map(str::to_owned))
            .filter(|t| !t.is_empty()),
        pane: text(env, "TMUX_PANE").or_else(|| text(payload, "tmux_pane")),
        tty: text(env, "tty"),
        seat: text(env, "FLIGHTDECK_SEAT").or_else(|| text(env, "AGENT_ID")).map(SeatName::new),
        project_dir: text(env, "CLAUDE_PROJECT_DIR"),
        entrypoint: text(env, "CLAUDE_CODE_ENTRYPOINT"),
        ..Envelope::default()
    }
}

/// Oldest `fired_at` accepted: a spooled event may be that old, an older time means a wrong clock.
const FIRED_BEFORE_RECEIVED_MAX: Millis = Millis::hours(24);
/// A wall clock this far behind `received_at` was set back; a smaller difference is jitter.
const CLOCK_BACK_FROM: Millis = Millis::seconds(2);

/// Sets both clocks of a record. `wall` is the wall clock, `last` the newest `received_at` so far.
pub fn stamp(record: &mut Record, wall: Timestamp, last: Timestamp) {
    let received = wall.max(last);
    record.received_at = received;
    record.envelope.clock_back = last - wall > CLOCK_BACK_FROM;
    if !record.host.is_this() {
        // The daemon of that host checked the time. A host that was offline for days sends events of days ago.
        record.fired_at = record.fired_at.min(received);
        return;
    }
    if !record.envelope.has_fired_at {
        record.fired_at = received;
    }
    record.fired_at = record.fired_at.clamp(received - FIRED_BEFORE_RECEIVED_MAX, received);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SessionId;
    use serde_json::json;

    fn draft(payload: Value, env: Value) -> HookDraft {
        let (Value::Object(payload), Value::Object(env)) = (payload, env) else { unreachable!() };
        HookDraft { name_in_path: None, payload, env, bytes: 10 }
    }

    #[test]
    fn a_number_where_a_string_was_is_read_as_text() {
        let record = draft(json!({"session_id": 7, "hook_event_name": "Stop"}), json!({"CLAUDE_PID": "42"}))
            .into_record(EventId(1))
            .unwrap();
        assert_eq!(
            (record.subject, record.envelope.pid, record.id),
            (SessionId::from("7").into(), Some(42), EventId(1))
        );
    }

    #[test]
    fn a_script_may_put_pid_and_pane_into_the_body() {
        let body = json!({"session_id": "s", "hook_event_name": "Stop", "pid": 42, "tmux_pane": "%3"});
        let seat = |env: Value| {
            let envelope = draft(body.clone(), env).into_record(EventId(1)).unwrap().envelope;
            (envelope.pid, envelope.pane)
        };
        assert_eq!(seat(json!({})), (Some(42), Some("%3".to_owned())));
        assert_eq!(seat(json!({"pid": 7, "TMUX_PANE": "%1"})), (Some(7), Some("%1".to_owned())));
    }

    #[test]
    fn the_path_names_the_event_only_if_the_body_does_not() {
        let mut nameless = draft(json!({"session_id": "s"}), json!({}));
        assert_eq!(nameless.clone().into_record(EventId(1)).unwrap_err(), BadHook::NoName);
        nameless.name_in_path = Some("stop".to_owned());
        assert!(!nameless.add_unknown_name(), "a known name is not written into the payload");
        assert_eq!(nameless.into_record(EventId(1)).unwrap().name, "Stop");
    }

    #[test]
    fn an_unknown_name_in_the_path_is_kept_in_the_payload_if_the_body_has_none() {
        let mut draft = draft(json!({"session_id": "s"}), json!({}));
        draft.name_in_path = Some("future-event".to_owned());
        let mut named = draft.clone();
        named.payload.insert("hook_event_name".to_owned(), json!("Stop"));
        assert!(!named.add_unknown_name());
        assert_eq!(named.into_record(EventId(1)).unwrap().name, "Stop");

        assert!(draft.add_unknown_name());
        let record = draft.into_record(EventId(1)).unwrap();
        assert_eq!(
            (&*record.name, &record.payload["hook_event_name"]),
            ("future-event", &json!("future-event"))
        );
    }

    #[test]
    fn the_timeout_of_a_hook_is_a_whole_number_of_seconds() {
        let timeout = |env| draft(json!({}), env).hold_timeout_s();
        assert_eq!(timeout(json!({"hold_s": 600})), Some(600));
        for none in
            [json!({}), json!({"hold_s": "600"}), json!({"hold_s": -1}), json!({"hold_s": 1_u64 << 40})]
        {
            assert_eq!(timeout(none), None);
        }
    }

    #[test]
    fn no_session_or_an_endless_one_is_refused_with_a_reason() {
        let none = draft(json!({"hook_event_name": "Stop"}), json!({})).into_record(EventId(1));
        assert_eq!(none.unwrap_err().to_string(), "the payload has no session_id");
        let long = draft(json!({"hook_event_name": "Stop", "session_id": "x".repeat(129)}), json!({}));
        assert_eq!(long.into_record(EventId(1)).unwrap_err(), BadHook::SessionTooLong(129));
    }

    #[test]
    fn fired_at_is_believed_for_a_day_and_never_from_the_future() {
        let at = Timestamp::from_millis;
        let mut record = draft(
            json!({"session_id": "s", "hook_event_name": "Stop"}),
            json!({"fired_at": "2026-01-01T00:00:00.000Z"}),
        )
        .into_record(EventId(1))
        .unwrap();
        let fired = record.fired_at;
        stamp(&mut record, fired + Millis::hours(1), at(0));
        assert_eq!(record.fired_at, fired);
        stamp(&mut record, fired + Millis::hours(40), at(0));
        assert_eq!(record.fired_at, fired + Millis::hours(16));
        stamp(&mut record, fired, at(0));
        assert_eq!(record.fired_at, fired);
    }

    #[test]
    fn received_at_never_goes_back_and_a_clock_set_back_is_marked() {
        let at = Timestamp::from_millis;
        let mut record = draft(json!({"session_id": "s", "hook_event_name": "Stop"}), json!({}))
            .into_record(EventId(1))
            .unwrap();
        stamp(&mut record, at(5_000_000), at(5_001_000));
        assert_eq!((record.received_at, record.envelope.clock_back), (at(5_001_000), false));
        stamp(&mut record, at(1_000_000), at(5_001_000));
        assert_eq!((record.received_at, record.envelope.clock_back), (at(5_001_000), true));
    }
}
