//! The conversation of a session, as its transcript has it: what the person and the agent said, tool calls in one line each.
//!
//! Left out: thinking, subagents, results of tools that succeeded, and prompts that the client wrote itself. Messages are in
//! the order of the file. After a rewind the file has both branches, and so has the conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::{FAILURE_CHARS_MAX, MESSAGE_CHARS_MAX, MESSAGES_PER_LINE_MAX};
use crate::log::refusal::says_refused;
use crate::log::tool::ToolUse;
use crate::text::{lines, one_line};
use crate::time::Timestamp;
use crate::wire::client_notices::is_client_notice;
use crate::wire::lenient::{borrowed_text, flag, object};
use crate::wire::tokens::SYNTHETIC_MODEL;
use crate::wire::transcript::{LineKind, TranscriptLine};

/// A part of a conversation, oldest message first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ConversationPage {
    pub messages: Vec<ConversationMessage>,
    /// The cursor of the page before this one; `null` on the first page of the conversation.
    pub next_before: Option<u64>,
    /// Why there is no conversation to read, as a sentence; `null` if there is one.
    pub missing: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ConversationMessage {
    /// Unique in its conversation, and the same in every reply.
    pub id: String,
    pub at: Option<Timestamp>,
    pub role: Speaker,
    pub kind: MessageKind,
    pub text: String,
    /// Only of a tool call.
    pub tool_name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Speaker {
    User,
    Assistant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum MessageKind {
    /// A prompt or an answer, in Markdown.
    Text,
    /// A tool call in one line.
    Tool,
    /// A call that failed or was refused, or an answer that the API refused.
    Failure,
    /// An interrupt or a compaction.
    Notice,
}

/// The messages of one line. `begins_at` is the position of the line in its file. Empty if the line is no part of the conversation or is
/// not complete JSON.
pub fn messages_of_line(line: &[u8], begins_at: u64) -> Vec<ConversationMessage> {
    let Ok(parsed) = TranscriptLine::parse(line) else { return Vec::new() };
    if parsed.sidechain {
        return Vec::new();
    }
    let said = said_in(&parsed.kind, line);
    let message = |(n, said): (usize, Said)| ConversationMessage {
        id: format!("{begins_at}.{n}"),
        at: parsed.at,
        role: said.role,
        kind: said.kind,
        text: said.text,
        tool_name: said.tool_name,
    };
    let said = said.into_iter().filter(|said| !said.text.is_empty());
    said.take(MESSAGES_PER_LINE_MAX).enumerate().map(message).collect()
}

/// A message without its id and time.
struct Said {
    role: Speaker,
    kind: MessageKind,
    text: String,
    tool_name: Option<String>,
}

impl Said {
    fn new(role: Speaker, kind: MessageKind, text: String) -> Self {
        Self { role, kind, text, tool_name: None }
    }

    fn prompt(text: &str) -> Self {
        Self::new(Speaker::User, MessageKind::Text, lines(text, MESSAGE_CHARS_MAX))
    }

    fn notice(role: Speaker, text: &str) -> Self {
        Self::new(role, MessageKind::Notice, text.to_owned())
    }

    fn failure(text: &str) -> Self {
        Self::new(Speaker::Assistant, MessageKind::Failure, one_line(text, FAILURE_CHARS_MAX))
    }

    fn call(block: &mut Map<String, Value>) -> Self {
        let fields = [("tool_name", "name"), ("tool_input", "input")];
        let payload =
            fields.map(|(ours, theirs)| (ours.to_owned(), block.remove(theirs).unwrap_or_default()));
        let call = ToolUse::from_payload(&Map::from_iter(payload));
        let tool_name = Some(call.name.clone());
        Self { tool_name, ..Self::new(Speaker::Assistant, MessageKind::Tool, call.label()) }
    }
}

fn said_in(kind: &LineKind<'_>, line: &[u8]) -> Vec<Said> {
    match kind {
        LineKind::Prompt(text) if !is_client_notice(text) => vec![Said::prompt(text)],
        // A prompt typed ahead has no line of its own if the running turn took it.
        LineKind::Unqueued { text: Some(text), absorbed: true } if !is_client_notice(text) => {
            vec![Said::prompt(text)]
        }
        LineKind::ShellCommand(command) => vec![Said::prompt(&format!("! {command}"))],
        LineKind::Interrupted => vec![Said::notice(Speaker::User, "Interrupted")],
        LineKind::Compacted => vec![Said::notice(Speaker::Assistant, "The conversation was compacted")],
        LineKind::Assistant { .. } => answered(line).unwrap_or_default(),
        LineKind::Tool(_) | LineKind::Other => failed_results(line).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The texts and tool calls of an answer.
fn answered(line: &[u8]) -> Option<Vec<Said>> {
    let mut line = parse(line)?;
    let refused = flag(&line, "isApiErrorMessage");
    let message = line.get_mut("message")?.as_object_mut()?;
    // The client's own placeholders, such as "No response requested.".
    if !refused && borrowed_text(message, "model") == Some(SYNTHETIC_MODEL) {
        return None;
    }
    let text = |text: &str| match refused {
        true => Said::failure(text),
        false => Said::new(Speaker::Assistant, MessageKind::Text, lines(text, MESSAGE_CHARS_MAX)),
    };
    let said = |block: &mut Value| {
        let block = block.as_object_mut()?;
        match borrowed_text(block, "type")? {
            "text" => borrowed_text(block, "text").map(text),
            "tool_use" | "server_tool_use" | "mcp_tool_use" => Some(Said::call(block)),
            _ => None,
        }
    };
    match message.get_mut("content")? {
        Value::String(content) => Some(vec![text(content)]),
        content => Some(content.as_array_mut()?.iter_mut().filter_map(said).collect()),
    }
}

/// The tool calls that failed, from a line with results of tool calls. Most lines have no failed call and are not parsed.
fn failed_results(line: &[u8]) -> Option<Vec<Said>> {
    memchr::memmem::find(line, b"\"is_error\":true")?;
    let line = parse(line)?;
    let results = object(&line, "message")?.get("content")?.as_array()?;
    let failed = results
        .iter()
        .filter_map(Value::as_object)
        .filter(|result| borrowed_text(result, "type") == Some("tool_result") && flag(result, "is_error"));
    Some(failed.map(|result| Said::failure(result_text(result))).collect())
}

/// Why a call failed: the text of its result, without the tags that the client puts around its own errors. A refusal becomes "Refused",
/// because its text is written for the model.
fn result_text(result: &Map<String, Value>) -> &str {
    let text = match result.get("content") {
        Some(Value::String(text)) => text.as_str(),
        Some(Value::Array(blocks)) => {
            blocks.iter().find_map(|block| borrowed_text(block.as_object()?, "text")).unwrap_or("Failed")
        }
        _ => "Failed",
    };
    if says_refused(text) {
        return "Refused";
    }
    let inner =
        text.trim().strip_prefix("<tool_use_error>").and_then(|t| t.strip_suffix("</tool_use_error>"));
    inner.unwrap_or(text)
}

/// Parses a line as a JSON object. Bytes that are not UTF-8 become `\u{fffd}`.
fn parse(line: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_str(&String::from_utf8_lossy(line)).ok()
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
