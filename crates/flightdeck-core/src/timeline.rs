//! The events of a session as its timeline shows them, each with one line about it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::ask::ANSWERED;
use crate::event::{Prompter, prompter};
use crate::limits::{CARD_PROMPT_CHARS_MAX, FAILURE_CHARS_MAX};
use crate::record::{Record, Source};
use crate::text::one_line;
use crate::time::Timestamp;
use crate::tool::ToolUse;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{list, object, str, text, whole};
use crate::wire::statusline::{self, STATUS_LINE};

/// What the person did to a session's terminal from here, as it stands in the log.
pub const PROMPTED: &str = "prompted";
pub const INTERRUPTED: &str = "interrupted";
pub const STOPPED: &str = "stopped";
pub const FOCUSED: &str = "focused";

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TimelineEvent {
    pub seq: u64,
    pub id: String,
    pub fired_at: Timestamp,
    pub received_at: Timestamp,
    pub source: Source,
    pub name: String,
    pub agent_id: Option<String>,
    pub by_person: bool,
    pub summary: String,
    /// Where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "Record<string, unknown>"))]
    pub payload: Option<Map<String, Value>>,
}

impl TimelineEvent {
    pub fn of(record: Record, with_payload: bool) -> Self {
        Self {
            seq: record.seq,
            id: record.id.to_string(),
            fired_at: record.fired_at,
            received_at: record.received_at,
            source: record.source,
            by_person: by_person(&record),
            summary: summary(&record),
            name: record.name,
            agent_id: record.agent_id,
            payload: with_payload.then_some(record.payload),
        }
    }
}

/// Oldest first. Where it was read from says how to go on; `null` at the end.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EventPage {
    pub events: Vec<TimelineEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number | null"))]
    pub next_after: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number | null"))]
    pub next_before: Option<Option<u64>>,
}

/// What a person would want to read of it; empty where the name says it all.
pub fn summary(record: &Record) -> String {
    let p = &record.payload;
    if record.source == Source::User && record.name == PROMPTED {
        let chars = whole(p, "chars").unwrap_or_default();
        return format!("{chars} characters typed into the terminal from here");
    }
    if record.source != Source::Hook {
        return if record.name == ANSWERED { answered(p) } else { String::new() };
    }
    let field = |name: &str| text(p, name).map(|t| one_line(&t, CARD_PROMPT_CHARS_MAX)).unwrap_or_default();
    use HookName as H;
    if record.name == STATUS_LINE {
        return status_line(record);
    }
    match HookName::parse(&record.name) {
        Some(H::PreToolUse | H::PostToolUse | H::PermissionRequest | H::PermissionDenied) => {
            ToolUse::from_payload(p).label()
        }
        Some(H::PostToolUseFailure) => {
            let error = one_line(&text(p, "error").unwrap_or_default(), FAILURE_CHARS_MAX);
            format!("{} failed: {error}", ToolUse::from_payload(p).label())
        }
        Some(H::PostToolBatch) => {
            let names = list(p, "tool_calls").iter().filter_map(|c| str(c.as_object()?, "tool_name"));
            one_line(&names.collect::<Vec<_>>().join(", "), CARD_PROMPT_CHARS_MAX)
        }
        Some(H::UserPromptSubmit) if !by_person(record) => "Woken by the client: a task has news".to_owned(),
        Some(H::UserPromptSubmit | H::UserPromptExpansion) => field("prompt"),
        Some(H::Stop | H::SubagentStop) => field("last_assistant_message"),
        Some(H::StopFailure) => field("error"),
        Some(H::Notification | H::Elicitation) => field("message"),
        Some(H::SessionStart | H::ConfigChange | H::DirectoryAdded) => field("source"),
        Some(H::SessionEnd) => field("reason"),
        Some(H::Setup | H::PreCompact | H::PostCompact) => field("trigger"),
        Some(H::SubagentStart) => field("agent_type"),
        Some(H::PreModelSwitch | H::PostModelSwitch) => {
            format!("{} → {}", field("from_model"), field("to_model"))
        }
        Some(H::TaskCreated | H::TaskCompleted) => field("task_subject"),
        Some(H::InstructionsLoaded | H::FileChanged) => field("file_path"),
        Some(H::CwdChanged) => field("new_cwd"),
        Some(H::ElicitationResult) => field("action"),
        Some(H::TeammateIdle) => field("teammate_name"),
        Some(H::WorktreeCreate | H::WorktreeRemove | H::MessageDisplay) | None => String::new(),
    }
}

/// `allow (web)`, `deny (policy: Bash make*)`.
fn answered(p: &Map<String, Value>) -> String {
    let empty = Map::new();
    let answer = object(p, "answer").unwrap_or(&empty);
    let by = str(answer, "via").unwrap_or("api");
    let by = str(answer, "rule").map_or(by.to_owned(), |rule| format!("{by}: {rule}"));
    one_line(&format!("{} ({by})", str(answer, "decision").unwrap_or_default()), CARD_PROMPT_CHARS_MAX)
}

fn status_line(record: &Record) -> String {
    let says = statusline::says(&record.payload);
    let cost = says.client_usd_micros.map(|micros| format!("${:.2}", micros as f64 / 1e6));
    let context = says.context_tokens.zip(says.context_window);
    let context =
        context.map(|(tokens, window)| format!("{}% of context", tokens.saturating_mul(100) / window.max(1)));
    context.into_iter().chain(cost).collect::<Vec<_>>().join(", ")
}

/// The person wrote it; the client prompts itself when a background task has news.
pub fn by_person(record: &Record) -> bool {
    HookName::parse(&record.name) == Some(HookName::UserPromptSubmit)
        && prompter(&text(&record.payload, "prompt").unwrap_or_default()) == Prompter::Person
}
