//! The question that a hook asks the effort of its session.

use super::record::{Record, Source};
use super::tool::ToolUse;
use crate::effort::{Carries, HookQuestion, JudgedEvent};

/// The question that this event asks. `None` for an event on which no effort gives a verdict.
pub fn hook_question(record: &Record, program: &str) -> Option<HookQuestion> {
    let event = JudgedEvent::parse(&record.name).filter(|_| record.source == Source::Hook)?;
    let tool = ToolUse::from_payload(&record.payload);
    Some(HookQuestion {
        event,
        session_id: record.session_id()?.clone(),
        agent_id: record.agent_id.clone(),
        call: tool.label(),
        tool_use_id: tool.id,
        payload: record.payload.clone(),
        exempt: record.envelope.exempt,
        program: program.to_owned(),
        carries: Carries::ALL,
    })
}
