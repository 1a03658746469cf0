//! Why a session waits for the person, in the words of its card.

use serde::{Deserialize, Serialize};

use crate::assignment::intent::Intent;
use crate::session::Session;
use crate::session::agent::{AgentState, IdleReason};
use crate::session::state_name::StateName;

/// Kinds of waiting, most urgent first. A session that blocks or asks is counted as a need; the others are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum WaitKind {
    /// The agent waits for the person in the middle of a turn.
    Blocks,
    /// The turn ended with a question.
    Asks,
    Failed,
    Interrupted,
    Idle,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Waiting"))]
pub struct WaitingCard {
    pub kind: WaitKind,
    /// The headline of a card that shows no ask, such as `Asks you`, `Finished` or `Waiting for your next prompt`.
    pub label: String,
    pub icon: String,
    /// Whether the header counts it: it blocks or asks.
    pub counts: bool,
}

/// Why the session waits. `None` while it works and after its end. `said` is the last message of the agent.
pub fn waiting_card(session: &Session, said: Option<&str>) -> Option<WaitingCard> {
    let (kind, label, icon) = match &session.shown.state {
        AgentState::Idle(IdleReason::TurnEnded | IdleReason::EndedAway) if asks_person(session, said) => {
            (WaitKind::Asks, "Asks you", "asks")
        }
        AgentState::Idle(IdleReason::TurnEnded) if is_finished(session) => {
            (WaitKind::Idle, "Finished", "finished")
        }
        AgentState::Idle(IdleReason::TurnEnded) => {
            (WaitKind::Idle, StateName::Idle.title(), StateName::Idle.icon())
        }
        AgentState::Idle(IdleReason::EndedAway) => {
            (WaitKind::Idle, "Ended while Flightdeck was away", "finished")
        }
        AgentState::Idle(IdleReason::Fresh) => (WaitKind::Idle, "Ready", "fresh"),
        AgentState::Idle(IdleReason::Interrupted { .. }) => (WaitKind::Interrupted, "Interrupted", "pause"),
        AgentState::Idle(IdleReason::StoppedByHook { blocked_prompt: false }) => {
            (WaitKind::Idle, "Stopped by a hook", "pause")
        }
        AgentState::Idle(IdleReason::StoppedByHook { blocked_prompt: true }) => {
            (WaitKind::Idle, "Prompt blocked by a hook", "pause")
        }
        AgentState::Idle(IdleReason::Failed { .. }) => (WaitKind::Failed, "Failed", "triangle"),
        AgentState::Blocked(_) => {
            (WaitKind::Blocks, "Blocked", StateName::from_state(&session.shown.state).icon())
        }
        AgentState::Working(_) | AgentState::Ended(_) => return None,
    };
    let counts = matches!(kind, WaitKind::Blocks | WaitKind::Asks);
    Some(WaitingCard { kind, label: label.to_owned(), icon: icon.to_owned(), counts })
}

/// Whether the last message says that the work is finished. If it does not, the session waits for the next prompt.
fn is_finished(session: &Session) -> bool {
    session.idle_intent().is_some_and(|found| found.intent.is_finished())
}

/// Whether the session asks the person something. The intent of the last Stop's message decides; if there is none, the form of the last
/// message decides.
fn asks_person(session: &Session, said: Option<&str>) -> bool {
    match session.idle_intent() {
        Some(found) => found.intent == Intent::Question,
        None => said.is_some_and(ends_in_a_question),
    }
}

/// Whether the last sentence is a question. Marks of Markdown and closing signs after it do not count.
pub fn ends_in_a_question(text: &str) -> bool {
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || "*_`~)]}\"'”’»".contains(c));
    end.ends_with(['?', '？', '؟'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_recognised_behind_markdown_and_closing_signs() {
        for text in ["Shall I?", "Done. **Drop it now?**\n", "Is `a` right (or `b`?)", "続けますか？"] {
            assert!(ends_in_a_question(text), "{text}");
        }
        for text in ["", "Why? Because.", "Is it? I fixed it.", "`a ? b : c`"] {
            assert!(!ends_in_a_question(text), "{text}");
        }
    }
}
