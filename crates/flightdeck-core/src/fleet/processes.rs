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

    /// Whether the session with this seat runs in this process.
    pub(super) fn is_process_of(&self, seat: &Seat) -> bool {
        seat.pid == Some(self.pid)
            && seat.proc_start.as_ref() == Some(&self.proc_start)
            && seat.host == self.host
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

/// The session with its process. `None` if the session has ended or its process is unknown.
pub(super) fn occupant(session: &Session) -> Option<Occupant> {
    let pid = session.seat.pid.filter(|_| !session.shown.state.is_ended())?;
    let seat = session.seat.clone();
    let (host, proc_start, pid_ns) = (seat.host, seat.proc_start, seat.pid_ns);
    Some(Occupant { session_id: session.id.clone(), host, pid, proc_start, pid_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_back_from_its_name_with_and_without_a_host() {
        for name in ["42@1234", "build-1/42@1234", "42@Tue Nov 17 19:40:07 2026", "7@a/b"] {
            let key = ProcessKey::parse(name).unwrap();
            assert_eq!(key.to_string(), name);
            let json = serde_json::to_string(&key).unwrap();
            assert_eq!(serde_json::from_str::<ProcessKey>(&json).unwrap(), key);
        }
        assert_eq!(ProcessKey::parse("42@1").unwrap().host, HostId::this());
        assert_ne!(ProcessKey::parse("a/42@1"), ProcessKey::parse("b/42@1"));
        assert_eq!(ProcessKey::parse("nothing"), None);
    }
}
