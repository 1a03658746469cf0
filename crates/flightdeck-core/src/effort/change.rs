//! The changes of an effort, as the log stores them. The name of a record is the name of the change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::guard::GuardRule;
use super::{SkillSettings, WorkstreamAbout};
use crate::ids::{EffortId, InjectionId, SeatName, SessionId, WindowId};

/// The facts with which an effort begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffortOpening {
    /// The directory, a real path.
    pub workstream: String,
    pub skill: String,
    #[serde(default)]
    pub mode: Option<String>,
    #[serde(default)]
    pub seat: Option<SeatName>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub settings: SkillSettings,
    /// What the workstream is about. Empty fields leave its present description as it is.
    #[serde(default)]
    pub about: WorkstreamAbout,
    /// Data of the sender that identifies the effort for the sender.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// What a verdict gave to the agent. It is stored after the verdict was written, so that it is given again if the daemon crashes before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GivenByVerdict {
    pub effort: EffortId,
    pub window: WindowId,
    /// The call that was judged.
    pub tool_use_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub injections: Vec<InjectionId>,
    /// Guard rules that fired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The rule with `allow` and `once` that let the call pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
    /// Guard rules that fired although the reply had no field for their messages. A later hook gives the messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<String>,
    /// Guard rules whose owed message was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preloads: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub directives: Vec<String>,
    /// The rule that denied the call, or `heartbeat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub denied_by: Option<String>,
    /// The call that was denied or allowed, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warned: bool,
    /// Whether the verdict introduced the effort to the window.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub introduced: bool,
    /// Whether the verdict contained the handoff of the previous window.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub handoff: bool,
}

impl GivenByVerdict {
    /// Whether it contains anything that changes the effort.
    pub fn is_worth_noting(&self) -> bool {
        let lists = [&self.rules, &self.messages, &self.preloads, &self.directives];
        let gave = !self.injections.is_empty() || lists.iter().any(|list| !list.is_empty());
        gave || self.denied_by.is_some() || self.warned || self.introduced || self.handoff
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffortChange {
    EffortStarted(EffortOpening),
    PhaseEntered {
        phase: String,
        #[serde(default)]
        proof: Option<String>,
    },
    EffortLogged {
        text: String,
        /// The session that logs. Without it the heartbeat of every window is reset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    },
    EffortDehydrated {
        payload: String,
        /// The session that hands over. Without it the newest window ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
    },
    InjectionAdded {
        text: String,
    },
    PreloadsAdded {
        files: Vec<String>,
    },
    /// Real paths of directives that were found.
    DirectivesFound {
        files: Vec<String>,
    },
    EffortFinished {},
    GuardSet {
        rule: GuardRule,
    },
    GuardRemoved {
        rule_id: String,
    },
    WindowFinished {
        window: WindowId,
        #[serde(default)]
        payload: Option<String>,
    },
    MessageAppended {
        kind: String,
        text: String,
    },
    SeatClaimed {
        seat: SeatName,
    },
    SeatReleased {
        /// The seat that releases it. Older versions did not store it.
        #[serde(default)]
        seat: Option<SeatName>,
    },
    /// Sets the parent of a seat, which gets a message when the seat is idle. The subject of the record is the seat.
    SeatParent {
        seat: SeatName,
        parent: SeatName,
    },
    /// A verdict was given. The subject of the record is the session, so that the session's timeline shows it.
    VerdictGiven(GivenByVerdict),
}

impl EffortChange {
    /// The names of the records of all changes.
    pub const NAMES: [&str; 16] = [
        "effort_started",
        "phase_entered",
        "effort_logged",
        "effort_dehydrated",
        "injection_added",
        "preloads_added",
        "directives_found",
        "effort_finished",
        "guard_set",
        "guard_removed",
        "window_finished",
        "message_appended",
        "seat_claimed",
        "seat_released",
        "seat_parent",
        "verdict_given",
    ];

    /// Reads a change from the name and the payload of its record. `None` for a change that only a newer version knows: it has no effect.
    pub fn from_record(name: &str, payload: &Map<String, Value>) -> Option<Self> {
        let tagged: Map<String, Value> =
            [(name.to_owned(), Value::Object(payload.clone()))].into_iter().collect();
        serde_json::from_value(Value::Object(tagged)).ok()
    }

    /// The name and the payload of the record.
    pub fn into_record(self) -> Option<(String, Map<String, Value>)> {
        let Ok(Value::Object(tagged)) = serde_json::to_value(self) else { return None };
        match tagged.into_iter().next()? {
            (name, Value::Object(payload)) => Some((name, payload)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_its_name_in_the_list() {
        let unknown = serde_json::from_value::<EffortChange>(serde_json::json!({"no_change": {}}));
        let error = unknown.unwrap_err().to_string();
        let expected: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(expected, EffortChange::NAMES, "{error}");
    }
}
