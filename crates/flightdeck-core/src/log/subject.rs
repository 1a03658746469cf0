//! What a record is about, and on which machine.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{EffortId, HostId, SeatId, SessionId};

/// What a record or a timer is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    Session(SessionId),
    Seat(SeatId),
    Effort(EffortId),
    Host(HostId),
    /// Nothing in particular: the daemon itself.
    #[default]
    None,
}

impl Subject {
    pub fn session_id(&self) -> Option<&SessionId> {
        match self {
            Self::Session(id) => Some(id),
            _ => None,
        }
    }
}

impl From<SessionId> for Subject {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl From<&SessionId> for Subject {
    fn from(id: &SessionId) -> Self {
        Self::Session(id.clone())
    }
}

/// A session is its bare id, as in snapshots from before there were other subjects. Any other is `{"seat": id}`.
impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Session(id) => id.serialize(s),
            Self::Seat(id) => s.serialize_newtype_variant("Subject", 1, "seat", id),
            Self::Effort(id) => s.serialize_newtype_variant("Subject", 2, "effort", id),
            Self::Host(id) => s.serialize_newtype_variant("Subject", 3, "host", id),
            Self::None => s.serialize_none(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SubjectJson {
    Session(SessionId),
    Other(Other),
    None,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Other {
    Seat(SeatId),
    Effort(EffortId),
    Host(HostId),
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Ok(match SubjectJson::deserialize(d)? {
            SubjectJson::Session(id) => Self::Session(id),
            SubjectJson::Other(Other::Seat(id)) => Self::Seat(id),
            SubjectJson::Other(Other::Effort(id)) => Self::Effort(id),
            SubjectJson::Other(Other::Host(id)) => Self::Host(id),
            SubjectJson::None => Self::None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_reads_back_and_a_session_is_its_bare_id() {
        let subjects = [
            (Subject::Session("s".into()), r#""s""#),
            (Subject::Seat("t".into()), r#"{"seat":"t"}"#),
            (Subject::Effort("e".into()), r#"{"effort":"e"}"#),
            (Subject::Host("h".into()), r#"{"host":"h"}"#),
            (Subject::None, "null"),
        ];
        for (subject, json) in subjects {
            assert_eq!(serde_json::to_string(&subject).unwrap(), json);
            assert_eq!(serde_json::from_str::<Subject>(json).unwrap(), subject, "{json}");
        }
    }
}
