//! An ask as it goes over the wire, on the card and under `/api/asks/{id}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ask::Ask;
use super::resolution::{AnsweredBy, AskOutcome, NeedKind, Resolution};
use crate::ids::{AgentId, AskId, SessionId};
use crate::limits::{ASK_TEXT_CHARS_MAX, QUESTIONS_MAX};
use crate::text::lines;
use crate::time::Timestamp;
use crate::wire::lenient::{borrowed_text, flag, line, list, text};

/// An ask as it is sent to viewers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Ask"))]
pub struct AskCard {
    pub id: AskId,
    pub session_id: SessionId,
    pub agent_id: Option<AgentId>,
    #[cfg_attr(feature = "ts", ts(type = "\"permission\" | \"question\" | \"plan\" | \"elicitation\""))]
    pub kind: NeedKind,
    pub tool_name: Option<String>,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown> | null"))]
    pub tool_input: Option<Map<String, Value>>,
    pub questions: Option<Vec<Question>>,
    #[cfg_attr(feature = "ts", ts(type = "Array<Record<string, unknown>>"))]
    pub suggestions: Vec<Value>,
    /// Why allowing it is dangerous, in a few words. The page then asks for a second confirmation.
    pub caution: Option<String>,
    pub message: Option<String>,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown> | null"))]
    pub requested_schema: Option<Map<String, Value>>,
    pub url: Option<String>,
    pub mcp_server_name: Option<String>,
    pub opened_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// False if only the terminal can answer.
    pub answerable: bool,
    pub resolution: Option<ResolutionCard>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Resolution"))]
pub struct ResolutionCard {
    pub how: AskOutcome,
    pub by: Option<AnsweredBy>,
    pub at: Timestamp,
    /// The rule of the policy that answered, such as `Bash cargo test*`.
    pub rule: Option<String>,
    /// What was written with a refusal.
    #[serde(default)]
    pub message: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Question {
    pub question: String,
    pub header: Option<String>,
    pub options: Vec<QuestionOption>,
    /// The client's own spelling of the field name.
    #[serde(rename = "multiSelect")]
    pub multi_select: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct QuestionOption {
    pub label: String,
    pub description: Option<String>,
}

impl From<Resolution> for ResolutionCard {
    fn from(Resolution { how, by, at, rule, message, .. }: Resolution) -> Self {
        Self { how, by, at, rule, message }
    }
}

impl AskCard {
    /// The text of the plan that the person is to approve.
    pub fn plan(&self) -> Option<&str> {
        borrowed_text(self.tool_input.as_ref()?, "plan")
    }

    pub fn new(session_id: &SessionId, ask: &Ask) -> Self {
        let asked = &ask.asked;
        Self {
            id: ask.id.clone(),
            session_id: session_id.clone(),
            agent_id: ask.agent_id.clone(),
            kind: ask.kind,
            tool_name: asked.tool_name.clone(),
            tool_input: asked.tool_input.clone(),
            questions: (ask.kind == NeedKind::Question)
                .then(|| questions(asked.tool_input.as_ref().unwrap_or(&Map::new()))),
            suggestions: asked.suggestions.clone(),
            caution: asked.caution.clone(),
            message: asked.message.clone(),
            requested_schema: asked.requested_schema.clone(),
            url: asked.url.clone(),
            mcp_server_name: asked.mcp_server_name.clone(),
            opened_at: ask.opened_at,
            expires_at: ask.expires_at,
            answerable: ask.is_answerable(),
            resolution: ask.resolution.clone().map(ResolutionCard::from),
        }
    }
}

/// The questions of an AskUserQuestion call. Unreadable questions are left out.
pub fn questions(input: &Map<String, Value>) -> Vec<Question> {
    let questions = list(input, "questions").iter().filter_map(Value::as_object);
    let read = questions.filter_map(|q| {
        Some(Question {
            // Never shortened, because it is also the key of its answer.
            question: text(q, "question")?,
            header: line(q, "header", ASK_TEXT_CHARS_MAX),
            options: list(q, "options").iter().filter_map(option).collect(),
            multi_select: flag(q, "multiSelect"),
        })
    });
    read.take(QUESTIONS_MAX).collect()
}

fn option(value: &Value) -> Option<QuestionOption> {
    let option = value.as_object()?;
    let description = text(option, "description").map(|d| lines(&d, ASK_TEXT_CHARS_MAX));
    Some(QuestionOption { label: text(option, "label")?, description })
}
