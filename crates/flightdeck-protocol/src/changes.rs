//! What the daemon sends to viewers: the events of the SSE stream and the frames of a subscription.

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::SessionId;
use flightdeck_core::view::assignment::AssignmentCard;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::effort::EffortCard;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::sessions::Snapshot;

/// `subscribe` on the socket: a snapshot, then every change, until the viewer closes the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Subscribe {
    /// The id of the last change that the viewer has. The daemon sends the changes after it, or `gap` and a snapshot.
    #[serde(alias = "lastEventId", skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<String>,
}

/// The name of a change, as it stands in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum ChangeName {
    Snapshot,
    SessionDiscovered,
    SessionUpdated,
    SessionCompleted,
    SessionRemoved,
    AskOpened,
    AskClosed,
    AssignmentUpdated,
    EffortUpdated,
    Gap,
}

impl ChangeName {
    pub const ALL: [Self; 10] = [
        Self::Snapshot,
        Self::SessionDiscovered,
        Self::SessionUpdated,
        Self::SessionCompleted,
        Self::SessionRemoved,
        Self::AskOpened,
        Self::AskClosed,
        Self::AssignmentUpdated,
        Self::EffortUpdated,
        Self::Gap,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::SessionDiscovered => "session_discovered",
            Self::SessionUpdated => "session_updated",
            Self::SessionCompleted => "session_completed",
            Self::SessionRemoved => "session_removed",
            Self::AskOpened => "ask_opened",
            Self::AskClosed => "ask_closed",
            Self::AssignmentUpdated => "assignment_updated",
            Self::EffortUpdated => "effort_updated",
            Self::Gap => "gap",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == name)
    }
}

/// One change of the board.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Change {
    /// The whole board.
    Snapshot(Snapshot),
    SessionDiscovered {
        session: Box<Card>,
    },
    SessionUpdated {
        session: Box<Card>,
    },
    /// The session left the live set; it stays on the board, in Done, until it is removed.
    SessionCompleted {
        session: Box<Card>,
    },
    SessionRemoved {
        id: SessionId,
    },
    AskOpened {
        ask: Box<AskCard>,
    },
    AskClosed {
        ask: Box<AskCard>,
    },
    /// An assignment was opened, moved on, got a message or was completed.
    AssignmentUpdated {
        assignment: Box<AssignmentCard>,
    },
    /// An effort was started, moved on or was finished. A heartbeat alone is sent with the next change of its session.
    EffortUpdated {
        effort: Box<EffortCard>,
    },
    /// Changes were lost; a snapshot follows.
    Gap {},
    /// A change of a newer daemon.
    Unknown {
        event: String,
    },
}

#[derive(Deserialize)]
struct SessionData {
    session: Box<Card>,
}

#[derive(Deserialize)]
struct AskData {
    ask: Box<AskCard>,
}

#[derive(Deserialize)]
struct AssignmentData {
    assignment: Box<AssignmentCard>,
}

#[derive(Deserialize)]
struct EffortData {
    effort: Box<EffortCard>,
}

#[derive(Deserialize)]
struct IdData {
    id: SessionId,
}

impl Change {
    /// From the name and the JSON of an SSE event or a frame.
    pub fn read(event: &str, data: &str) -> serde_json::Result<Self> {
        let session = || serde_json::from_str(data).map(|change: SessionData| change.session);
        let ask = || serde_json::from_str(data).map(|change: AskData| change.ask);
        Ok(match ChangeName::parse(event) {
            Some(ChangeName::Snapshot) => Self::Snapshot(serde_json::from_str(data)?),
            Some(ChangeName::SessionDiscovered) => Self::SessionDiscovered { session: session()? },
            Some(ChangeName::SessionUpdated) => Self::SessionUpdated { session: session()? },
            Some(ChangeName::SessionCompleted) => Self::SessionCompleted { session: session()? },
            Some(ChangeName::SessionRemoved) => {
                Self::SessionRemoved { id: serde_json::from_str::<IdData>(data)?.id }
            }
            Some(ChangeName::AskOpened) => Self::AskOpened { ask: ask()? },
            Some(ChangeName::AskClosed) => Self::AskClosed { ask: ask()? },
            Some(ChangeName::AssignmentUpdated) => {
                let change: AssignmentData = serde_json::from_str(data)?;
                Self::AssignmentUpdated { assignment: change.assignment }
            }
            Some(ChangeName::EffortUpdated) => {
                Self::EffortUpdated { effort: serde_json::from_str::<EffortData>(data)?.effort }
            }
            Some(ChangeName::Gap) => Self::Gap {},
            None => Self::Unknown { event: event.to_owned() },
        })
    }

    /// `None` for a change of a newer daemon.
    pub fn name(&self) -> Option<ChangeName> {
        Some(match self {
            Self::Snapshot(_) => ChangeName::Snapshot,
            Self::SessionDiscovered { .. } => ChangeName::SessionDiscovered,
            Self::SessionUpdated { .. } => ChangeName::SessionUpdated,
            Self::SessionCompleted { .. } => ChangeName::SessionCompleted,
            Self::SessionRemoved { .. } => ChangeName::SessionRemoved,
            Self::AskOpened { .. } => ChangeName::AskOpened,
            Self::AskClosed { .. } => ChangeName::AskClosed,
            Self::AssignmentUpdated { .. } => ChangeName::AssignmentUpdated,
            Self::EffortUpdated { .. } => ChangeName::EffortUpdated,
            Self::Gap {} => ChangeName::Gap,
            Self::Unknown { .. } => return None,
        })
    }
}

/// One line of a subscription: `{"event", "id", "data"}`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(as = "FrameOnTheWire"))]
pub struct ChangeFrame {
    /// `<boot>-<n>`: what a viewer that reconnects sends as `last_event_id`.
    pub id: String,
    pub change: Change,
}

/// The TypeScript declaration of [`ChangeFrame`].
#[cfg(feature = "ts")]
#[derive(ts_rs::TS)]
#[ts(rename = "ChangeFrame")]
#[expect(dead_code, reason = "only its declaration is used")]
struct FrameOnTheWire {
    event: ChangeName,
    id: String,
    data: Change,
}

#[derive(Serialize, Deserialize)]
struct BorrowedFrame<'a> {
    event: String,
    id: String,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl ChangeFrame {
    pub fn read(line: &[u8]) -> serde_json::Result<Self> {
        let frame: BorrowedFrame<'_> = serde_json::from_slice(line)?;
        Ok(Self { change: Change::read(&frame.event, frame.data.get())?, id: frame.id })
    }
}

impl Serialize for ChangeFrame {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let event = match (&self.change, self.change.name()) {
            (Change::Unknown { event }, _) => event.as_str(),
            (_, name) => name.map_or("", ChangeName::as_str),
        };
        let data = serde_json::value::to_raw_value(&self.change).map_err(serde::ser::Error::custom)?;
        BorrowedFrame { event: event.to_owned(), id: self.id.clone(), data: &data }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for ChangeFrame {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct OwnedFrame {
            event: String,
            id: String,
            data: Box<RawValue>,
        }
        let OwnedFrame { event, id, data } = OwnedFrame::deserialize(from)?;
        let change = Change::read(&event, data.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { id, change })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_reads_as_it_was_written() {
        let lines = [
            r#"{"event":"session_removed","id":"b-3","data":{"id":"s"}}"#,
            r#"{"event":"gap","id":"b-4","data":{}}"#,
            r#"{"event":"snapshot","id":"b-4","data":{"boot":"b","n":4,"sessions":[]}}"#,
        ];
        for line in lines {
            let frame = ChangeFrame::read(line.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&frame).unwrap(), line);
            assert_eq!(serde_json::from_str::<ChangeFrame>(line).unwrap(), frame);
        }
    }

    #[test]
    fn a_change_of_a_newer_daemon_is_kept_by_name() {
        let line = br#"{"event":"host_updated","id":"b-5","data":{"host":{}}}"#;
        let frame = ChangeFrame::read(line).unwrap();
        assert_eq!(frame.change, Change::Unknown { event: "host_updated".into() });
    }

    #[test]
    fn every_name_reads_as_it_is_written() {
        for name in ChangeName::ALL {
            assert_eq!(ChangeName::parse(name.as_str()), Some(name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
        }
    }
}
