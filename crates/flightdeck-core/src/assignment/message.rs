//! The messages of an assignment: what the person and the agent said.

use serde::{Deserialize, Serialize};

use super::intent::{DetectedIntent, Evidence, Intent};
use super::transition::Actor;
use crate::limits::ASSIGNMENT_MESSAGES_MAX;
use crate::time::Timestamp;

/// One message of the person or of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssignmentMessage {
    /// `seq` of the event that contained it.
    pub seq: u64,
    pub actor: Actor,
    pub intent: Intent,
    /// From 0 to 1. An intent that follows from the kind of the event is certain.
    pub confidence: f64,
    /// `None` if the intent follows from the kind of the event.
    pub evidence: Option<Evidence>,
    pub text: String,
    pub at: Timestamp,
}

impl AssignmentMessage {
    /// A message whose intent follows from the kind of its event.
    pub fn certain(seq: u64, at: Timestamp, actor: Actor, intent: Intent, text: String) -> Self {
        Self { seq, actor, intent, confidence: 1.0, evidence: None, text, at }
    }

    /// The message that ended a turn.
    pub fn of_agent(seq: u64, at: Timestamp, found: &DetectedIntent, text: String) -> Self {
        let DetectedIntent { intent, confidence, evidence } = found.clone();
        Self { seq, actor: Actor::Agent, intent, confidence, evidence: Some(evidence), text, at }
    }
}

/// The first message and the newest ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Messages {
    kept: Vec<AssignmentMessage>,
    /// How many were dropped after the first.
    #[serde(default)]
    dropped: u32,
}

impl Messages {
    /// Adds a message. At the bound, the oldest message after the first is dropped. The first stays, because it is the command
    /// that the others are about.
    pub fn push(&mut self, message: AssignmentMessage) {
        if self.kept.len() == ASSIGNMENT_MESSAGES_MAX {
            self.kept.remove(1);
            self.dropped += 1;
        }
        self.kept.push(message);
    }

    pub fn iter(&self) -> impl Iterator<Item = &AssignmentMessage> {
        self.kept.iter()
    }
    pub fn len(&self) -> usize {
        self.kept.len()
    }
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
    pub fn dropped(&self) -> u32 {
        self.dropped
    }
}

/// For a store that keeps the messages in a table of their own.
impl Messages {
    /// A copy without messages, which keeps the number of dropped ones.
    pub fn emptied(&self) -> Self {
        Self { kept: Vec::new(), dropped: self.dropped }
    }
    pub fn filled(self, kept: Vec<AssignmentMessage>) -> Self {
        Self { kept, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_and_the_newest_messages_are_kept() {
        let mut messages = Messages::default();
        for seq in 0..ASSIGNMENT_MESSAGES_MAX as u64 + 3 {
            let at = Timestamp::from_millis(seq as i64);
            messages.push(AssignmentMessage::certain(seq, at, Actor::User, Intent::Answer, String::new()));
        }
        let kept: Vec<u64> = messages.iter().map(|message| message.seq).collect();
        assert_eq!((kept.len(), messages.dropped()), (ASSIGNMENT_MESSAGES_MAX, 3));
        assert_eq!(kept[..2], [0, 4]);
        assert_eq!(kept.last(), Some(&(ASSIGNMENT_MESSAGES_MAX as u64 + 2)));
    }
}
