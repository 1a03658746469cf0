//! Facts that most payloads contain beside the fields of their own event: folder, transcript, prompt and permission mode.

use serde_json::{Map, Value};

use super::record::Record;
use super::refusal::says_refused;
use crate::fnv::Fnv;
use crate::ids::AgentId;
use crate::limits::{CARD_PROMPT_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX};
use crate::text::lines;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{
    borrowed_text, flag, line, list, object, text, value_as_line, value_as_line_or_empty,
};
use crate::wire::tool_names::schedules_prompt;

/// Fields that almost every payload has.
#[derive(Clone, Debug, Default)]
pub struct CommonFacts {
    pub cwd: Option<String>,
    pub transcript_path: Option<String>,
    pub prompt_id: Option<String>,
    /// For an interrupt marker: the prompt of the next turn, which the client had taken out of its queue.
    pub next_prompt_id: Option<String>,
    pub permission_mode: Option<String>,
    /// The client's own title of the session.
    pub session_title: Option<String>,
    /// The type of the subagent, or the type with which `claude --agent` was started. It may be empty.
    pub agent_type: Option<String>,
    /// The subagent that a call left running in the background.
    pub background_agent: Option<AgentId>,
    /// Digest of the prompt that a call scheduled. The client will send it itself.
    pub scheduled_prompt: Option<u64>,
    /// Ids of calls that the person refused, from a PostToolBatch. The turn goes on after a refusal with words, and in a subagent.
    pub refused_calls: Vec<String>,
}

impl CommonFacts {
    /// Reads all fields in one pass. To find each field by its name would cost more than to translate the rest of the record.
    pub(super) fn from_record(record: &Record) -> Self {
        let scheduled_prompt = scheduled_by_call(record);
        let mut facts = Self { scheduled_prompt, refused_calls: refused_calls(record), ..Self::default() };
        for (name, value) in &record.payload {
            match name.as_str() {
                "cwd" => facts.cwd = value_as_line(value, PATH_CHARS_MAX),
                "transcript_path" => facts.transcript_path = value_as_line(value, PATH_CHARS_MAX),
                "prompt_id" => facts.prompt_id = value_as_line(value, ID_CHARS_MAX),
                "next_prompt_id" => facts.next_prompt_id = value_as_line(value, ID_CHARS_MAX),
                "permission_mode" => facts.permission_mode = value_as_line(value, NAME_CHARS_MAX),
                "session_title" => facts.session_title = value_as_line(value, CARD_PROMPT_CHARS_MAX),
                "agent_type" => facts.agent_type = value_as_line_or_empty(value, NAME_CHARS_MAX),
                "tool_response" => facts.background_agent = background_agent(value),
                _ => {}
            }
        }
        facts
    }
}

/// The subagent that a call started in the background, from the result of the call.
fn background_agent(response: &Value) -> Option<AgentId> {
    let response = response.as_object().filter(|response| flag(response, "isAsync"))?;
    line(response, "agentId", ID_CHARS_MAX).map(AgentId::from)
}

fn scheduled_by_call(record: &Record) -> Option<u64> {
    let p = &record.payload;
    if record.name != HookName::PostToolUse.as_str() || !schedules_prompt(borrowed_text(p, "tool_name")?) {
        return None;
    }
    text(object(p, "tool_input")?, "prompt").map(|prompt| prompt_digest(&prompt))
}

/// The digest by which a prompt is recognised: of its text, as far as an event keeps the text.
pub(super) fn prompt_digest(prompt: &str) -> u64 {
    Fnv::hash_bytes(lines(prompt, CARD_PROMPT_CHARS_MAX).as_bytes())
}

fn refused_calls(record: &Record) -> Vec<String> {
    if record.name != HookName::PostToolBatch.as_str() {
        return Vec::new();
    }
    let calls = list(&record.payload, "tool_calls").iter().filter_map(Value::as_object);
    let refused = |call: &&Map<String, Value>| borrowed_text(call, "tool_response").is_some_and(says_refused);
    calls.filter(refused).filter_map(|call| line(call, "tool_use_id", ID_CHARS_MAX)).collect()
}
