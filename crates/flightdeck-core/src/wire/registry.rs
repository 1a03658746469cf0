//! The client's own list of live sessions, `sessions/<pid>.json`.
//!
//! The list shows what hooks do not report: an Esc, and sessions older than the registered hooks. `log/from_registry.rs`
//! turns a changed file into a record.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::{Millis, Timestamp};
use crate::wire::lenient::{text, whole_number};

/// The client's entry about one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryReport {
    pub status: ClientStatus,
    /// When the client set it, by its own clock.
    pub status_at: Timestamp,
    pub started_at: Timestamp,
}

impl RegistryReport {
    /// The report with its times corrected, if the clock that wrote them was `ahead`.
    #[must_use]
    pub fn corrected(self, ahead: Millis) -> Self {
        Self { status_at: self.status_at - ahead, started_at: self.started_at - ahead, ..self }
    }

    /// Whether the entry shows that the session is alive after it ended. The client writes a last `idle` a few milliseconds after its end, so
    /// only work or a new process counts.
    pub fn is_life_after(&self, ended: Timestamp) -> bool {
        let works = matches!(self.status, ClientStatus::Busy | ClientStatus::Waiting(_));
        self.started_at > ended || (works && self.status_at > ended)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientStatus {
    Idle,
    /// Idle, but a background shell runs.
    Shell,
    Busy,
    Waiting(WaitingFor),
}

impl ClientStatus {
    /// No turn runs.
    pub fn is_idle(&self) -> bool {
        matches!(self, Self::Idle | Self::Shell)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    Permission,
    Input,
    /// A permission that belongs to no call of this session: a teammate asks for it, or Claude proposes a goal.
    OtherPermission,
    /// An unspecified dialog, perhaps opened by the person.
    Dialog,
}

/// Reads the entry of a stored payload.
pub fn parse_report(payload: &Map<String, Value>) -> Option<RegistryReport> {
    let status = match text(payload, "status")?.as_str() {
        "idle" => ClientStatus::Idle,
        "shell" => ClientStatus::Shell,
        "busy" => ClientStatus::Busy,
        "waiting" => ClientStatus::Waiting(match text(payload, "waitingFor").as_deref() {
            Some("permission prompt" | "sandbox request") => WaitingFor::Permission,
            Some("input needed") => WaitingFor::Input,
            Some("worker request" | "goal proposal") => WaitingFor::OtherPermission,
            _ => WaitingFor::Dialog,
        }),
        // An unknown status changes nothing.
        _ => return None,
    };
    let started_at = millis(payload, "startedAt").unwrap_or_default();
    Some(RegistryReport {
        status,
        status_at: millis(payload, "statusUpdatedAt").unwrap_or(started_at),
        started_at,
    })
}

pub(crate) fn millis(map: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    whole_number(map, name).and_then(|ms| i64::try_from(ms).ok()).map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_it_waits_for_is_read_and_an_unknown_status_is_nothing() {
        let says = |text: &str| parse_report(&entry(text)).map(|w| w.status);
        let waiting = |what: &str| says(&format!(r#"{{"status": "waiting", "waitingFor": "{what}"}}"#));
        assert_eq!(waiting("permission prompt"), Some(ClientStatus::Waiting(WaitingFor::Permission)));
        assert_eq!(waiting("sandbox request"), Some(ClientStatus::Waiting(WaitingFor::Permission)));
        assert_eq!(waiting("input needed"), Some(ClientStatus::Waiting(WaitingFor::Input)));
        assert_eq!(waiting("worker request"), Some(ClientStatus::Waiting(WaitingFor::OtherPermission)));
        assert_eq!(waiting("goal proposal"), Some(ClientStatus::Waiting(WaitingFor::OtherPermission)));
        assert_eq!(waiting("dialog open"), Some(ClientStatus::Waiting(WaitingFor::Dialog)));
        assert_eq!(says(r#"{"status": "levitating"}"#), None);
    }
}
