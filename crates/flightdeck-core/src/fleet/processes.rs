//! Which session runs in which process.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{HostId, SessionId};
use crate::session::{Seat, Session};

/// Identifies one process. The pid alone is not enough: pids are reused, and each host has pids of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProcessKey {
    host: HostId,
    pid: u32,
    /// Start time in the unit of the host's kernel.
    proc_start: String,
}

/// A session and the process in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    pub session_id: SessionId,
    pub host: HostId,
    pub pid: u32,
    pub proc_start: Option<String>,
    /// The pid namespace in which `pid` is valid, if the hook sent it.
    pub pid_ns: Option<String>,
}

impl ProcessKey {
    pub(super) fn new(host: &HostId, pid: u32, proc_start: &str) -> Self {
        Self { host: host.clone(), pid, proc_start: proc_start.to_owned() }
    }

    /// `None` while the pid or the start time is unknown.
    pub(super) fn of_seat(seat: &Seat) -> Option<Self> {
        Some(Self::new(&seat.host, seat.pid?, seat.proc_start.as_ref()?))
    }

    /// The place of this process in the session, if it is one of its processes.
    pub(super) fn seat_in<'a>(&self, session: &'a Session) -> Option<&'a Seat> {
        session.seats().find(|seat| {
            seat.pid == Some(self.pid)
                && seat.proc_start.as_ref() == Some(&self.proc_start)
                && seat.host == self.host
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let on_host = |host: &str, text: &str| {
            let (pid, proc_start) = text.split_once('@')?;
            Some(Self::new(&host.into(), pid.parse().ok()?, proc_start))
        };
        on_host("", text).or_else(|| text.split_once('/').and_then(|(host, rest)| on_host(host, rest)))
    }
}

/// `42@1234`, and `build-1/42@1234` for another host.
impl fmt::Display for ProcessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.host.is_this() {
            write!(f, "{}/", self.host)?;
        }
        write!(f, "{}@{}", self.pid, self.proc_start)
    }
}

impl Serialize for ProcessKey {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ProcessKey {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom(format!("not a process key (PID@START): {text}")))
    }
}

/// The known processes of the session, first the shown one; none if the session has ended.
pub(super) fn occupants(session: &Session) -> impl Iterator<Item = Occupant> {
    let lives = !session.shown.state.is_ended();
    session.seats().filter(move |_| lives).filter_map(|seat| occupant(session, seat))
}

fn occupant(session: &Session, seat: &Seat) -> Option<Occupant> {
    let pid = seat.pid?;
    let Seat { host, proc_start, pid_ns, .. } = seat.clone();
    Some(Occupant { session_id: session.id.clone(), host, pid, proc_start, pid_ns })
}

/// The processes of a session before an event.
pub(super) struct ProcessesBefore {
    shown: ProcessBefore,
    /// Usually none, and then nothing is allocated.
    beside: Vec<ProcessBefore>,
}

struct ProcessBefore {
    host: HostId,
    pid: Option<u32>,
    proc_start: Option<String>,
    pid_ns: Option<String>,
}

impl ProcessBefore {
    fn new(seat: &Seat) -> Self {
        let Seat { host, pid, proc_start, pid_ns, .. } = seat;
        Self { host: host.clone(), pid: *pid, proc_start: proc_start.clone(), pid_ns: pid_ns.clone() }
    }

    fn is_of(&self, seat: &Seat) -> bool {
        self.host == seat.host
            && self.pid == seat.pid
            && self.proc_start == seat.proc_start
            && self.pid_ns == seat.pid_ns
    }
}

impl ProcessesBefore {
    pub(super) fn new(session: &Session) -> Self {
        let beside = session.beside.iter().map(|process| ProcessBefore::new(&process.seat)).collect();
        Self { shown: ProcessBefore::new(&session.seat), beside }
    }

    /// The processes that the session did not have before.
    pub(super) fn added_since(&self, session: &Session) -> impl Iterator<Item = Occupant> {
        let lives = !session.shown.state.is_ended();
        let added = session.seats().filter(move |seat| lives && !self.contains(seat));
        added.filter_map(|seat| occupant(session, seat))
    }

    fn contains(&self, seat: &Seat) -> bool {
        self.shown.is_of(seat) || self.beside.iter().any(|process| process.is_of(seat))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fleet::{Effect, Fleet};
    use crate::log::event::Event;
    use crate::log::record::{EventId, Record};
    use crate::rules::FoldSettings;
    use crate::wire::hook::HookDraft;

    #[test]
    fn a_process_reads_back_from_its_name_with_and_without_a_host() {
        for name in ["42@1234", "build-1/42@1234", "42@Tue Nov 17 19:40:07 2026", "7@a/b"] {
            let key = ProcessKey::parse(name).unwrap();
            assert_eq!(key.to_string(), name);
            let json = serde_json::to_string(&key).unwrap();
            assert_eq!(serde_json::from_str::<ProcessKey>(&json).unwrap(), key);
        }
        assert_eq!(ProcessKey::parse("42@1").unwrap().host, HostId::this_machine());
        assert_ne!(ProcessKey::parse("a/42@1"), ProcessKey::parse("b/42@1"));
        assert_eq!(ProcessKey::parse("nothing"), None);
    }
    /// A tool call in process 42, which started at the same time on each host.
    fn tool_call_on(host: HostId, id: u128) -> Event {
        let object = |json: serde_json::Value| json.as_object().cloned().unwrap();
        let draft = HookDraft {
            name_in_path: None,
            payload: object(json!({"session_id": "s", "hook_event_name": "PreToolUse"})),
            env: object(json!({"pid": 42, "proc_start": "7"})),
            bytes: 0,
        };
        Event::from_record(&Record { host, ..draft.into_record(EventId(id)).unwrap() })
    }

    #[test]
    fn a_process_with_the_same_pid_on_another_host_is_a_new_process() {
        let mut fleet = Fleet::new(FoldSettings::default());
        let mut seated = |event: &Event| {
            let of_host = |effect| match effect {
                Effect::Seated(occupant) => Some(occupant.host),
                _ => None,
            };
            fleet.apply(event).into_iter().filter_map(of_host).collect::<Vec<_>>()
        };
        let (here, there) = (HostId::this_machine(), HostId::new("build-1"));
        assert_eq!(seated(&tool_call_on(here.clone(), 1)), std::slice::from_ref(&here));
        assert!(seated(&tool_call_on(here.clone(), 2)).is_empty());
        assert_eq!(seated(&tool_call_on(there.clone(), 3)), std::slice::from_ref(&there));
        assert!(seated(&tool_call_on(there, 4)).is_empty());
        assert!(seated(&tool_call_on(here, 5)).is_empty());
    }
}
