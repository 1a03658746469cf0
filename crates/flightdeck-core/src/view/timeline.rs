//! The events of a session as its timeline shows them, each with one line about it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::approval::resolution::HoldEnd;
use crate::effort::HEARTBEAT_RULE;
use crate::ids::AgentId;
use crate::limits::{CARD_PROMPT_CHARS_MAX, FAILURE_CHARS_MAX};
use crate::log::approvals::{ANSWERED, ASK_GONE};
use crate::log::event::{PARKED, Prompter, UNPARKED, prompter};
use crate::log::from_registry::PROCESS_GONE;
use crate::log::from_transcript::TurnMark;
use crate::log::record::{Record, Source};
use crate::log::tool::ToolUse;
use crate::text::one_line;
use crate::time::Timestamp;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{borrowed_text, flag, line, list, object, text, whole_number};
use crate::wire::status_line::{self, STATUS_LINE};

/// Names in the log of what the person did to a session's terminal through Flightdeck.
pub const PROMPTED: &str = "prompted";
pub const INTERRUPTED: &str = "interrupted";
pub const STOPPED: &str = "stopped";
pub const FOCUSED: &str = "focused";
/// A person on another host requested an action on this session. The record of the action itself follows.
pub const REMOTE_ACTION: &str = "remote_action";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TimelineEvent {
    pub seq: u64,
    pub id: String,
    pub fired_at: Timestamp,
    pub received_at: Timestamp,
    pub source: Source,
    pub name: String,
    pub agent_id: Option<AgentId>,
    pub by_person: bool,
    pub summary: String,
    /// Only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "Record<string, unknown>"))]
    pub payload: Option<Map<String, Value>>,
}

impl TimelineEvent {
    pub fn from_record(record: Record, with_payload: bool) -> Self {
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

/// Oldest first. `next_after` or `next_before` is the cursor of the next page, depending on the direction; `null` on the last page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct EventPage {
    pub events: Vec<TimelineEvent>,
    #[serde(default, deserialize_with = "present_or_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number | null"))]
    pub next_after: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present_or_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number | null"))]
    pub next_before: Option<Option<u64>>,
}

/// Reads a field that is there, so that an absent field (`None`) differs from `null` (`Some(None)`).
pub fn present_or_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// One line about a record; empty if only its name is known.
pub fn summary(record: &Record) -> String {
    match record.source {
        Source::Hook if record.name == STATUS_LINE => status_line(record),
        Source::Hook => HookName::parse(&record.name).map_or_else(String::new, |name| hook(name, record)),
        _ => our_sentence(record),
    }
}

/// The line about a record that Flightdeck wrote itself.
fn our_sentence(record: &Record) -> String {
    let p = &record.payload;
    match (record.source, record.name.as_str()) {
        (Source::User, ANSWERED) => answered(p),
        (Source::User, PROMPTED) => {
            let chars = whole_number(p, "chars").unwrap_or_default();
            format!("{chars} characters typed into the terminal from here")
        }
        (Source::User, PARKED) => match text(p, "until") {
            Some(until) => format!("Put aside until {until}"),
            None => "Put aside until its next change".to_owned(),
        },
        (Source::User, UNPARKED) => "Taken back".to_owned(),
        (Source::User, INTERRUPTED) => "Esc sent to the terminal from here".to_owned(),
        (Source::User, STOPPED) => "Stopped from here".to_owned(),
        (Source::User, "verdict_given") => verdict_given(p),
        (Source::User, FOCUSED) => "Its pane was brought to the front".to_owned(),
        (Source::User, REMOTE_ACTION) => remote_action(p),
        (Source::Transcript, name) if let Some(mark) = TurnMark::parse(name) => match mark {
            TurnMark::Interrupted => "The transcript says that the person interrupted".to_owned(),
            TurnMark::StoppedByHook => "A hook of the person ended the turn".to_owned(),
            TurnMark::PromptBlocked => "A hook of the person blocked the prompt".to_owned(),
        },
        (Source::Process, PROCESS_GONE) => "Its process is gone".to_owned(),
        (Source::Process, ASK_GONE) => match borrowed_text(p, "why").and_then(HoldEnd::parse) {
            Some(HoldEnd::Closed) => "The terminal's prompt was closed".to_owned(),
            Some(HoldEnd::TimedOut) => "Not answered here in time; the terminal still asks".to_owned(),
            Some(HoldEnd::Released) | None => "Cannot be answered here; the terminal asks".to_owned(),
        },
        (Source::Registry, _) => {
            let waits_for =
                borrowed_text(p, "waitingFor").map(|what| format!(": {what}")).unwrap_or_default();
            one_short_line(&format!(
                "The client says {}{waits_for}",
                borrowed_text(p, "status").unwrap_or("nothing new")
            ))
        }
        _ => String::new(),
    }
}

/// `answer, asked by dev on laptop`
fn remote_action(p: &Map<String, Value>) -> String {
    let word = |name: &str| borrowed_text(p, name).unwrap_or("unknown");
    let refused = if flag(p, "accepted") { "" } else { ": not accepted here" };
    one_short_line(&format!("{}, asked by {} on {}{refused}", word("action"), word("by"), word("from")))
}

fn hook(name: HookName, record: &Record) -> String {
    let p = &record.payload;
    let field = |name: &str| text(p, name).map(|t| one_short_line(&t)).unwrap_or_default();
    // Without a value the label is omitted: the event's own name says more.
    let labelled = |label: &str, name: &str| {
        Some(field(name)).filter(|f| !f.is_empty()).map(|f| format!("{label}{f}")).unwrap_or_default()
    };
    use HookName as H;
    match name {
        H::PreToolUse | H::PostToolUse | H::PermissionRequest | H::PermissionDenied => {
            ToolUse::from_payload(p).label()
        }
        H::PostToolUseFailure => {
            let error = line(p, "error", FAILURE_CHARS_MAX).unwrap_or_default();
            format!("{} failed: {error}", ToolUse::from_payload(p).label())
        }
        H::PostToolBatch => {
            let names =
                list(p, "tool_calls").iter().filter_map(|c| borrowed_text(c.as_object()?, "tool_name"));
            one_short_line(&names.collect::<Vec<_>>().join(", "))
        }
        H::UserPromptSubmit if !by_person(record) => "Woken by the client: a task has news".to_owned(),
        H::UserPromptSubmit | H::UserPromptExpansion => field("prompt"),
        H::Stop | H::SubagentStop => field("last_assistant_message"),
        H::StopFailure => labelled("Failed: ", "error"),
        H::Notification | H::Elicitation => field("message"),
        H::ElicitationResult => labelled("The form was answered: ", "action"),
        H::SessionStart => match borrowed_text(p, "source") {
            Some("startup") => "The session started".to_owned(),
            Some("resume") => "The session was resumed".to_owned(),
            Some("clear") => "Started anew after /clear".to_owned(),
            Some("compact") => "Went on after compaction".to_owned(),
            _ => labelled("The session started: ", "source"),
        },
        H::SessionEnd => labelled("The session ended: ", "reason"),
        H::Setup => labelled("Set up: ", "trigger"),
        H::PreCompact => labelled("Compaction begins: ", "trigger"),
        H::PostCompact => labelled("Compacted: ", "trigger"),
        H::SubagentStart => labelled("Subagent started: ", "agent_type"),
        H::PreModelSwitch | H::PostModelSwitch => {
            format!("Model: {} → {}", field("from_model"), field("to_model"))
        }
        H::TaskCreated => labelled("To do: ", "task_subject"),
        H::TaskCompleted => labelled("Done: ", "task_subject"),
        H::InstructionsLoaded => labelled("Instructions read: ", "file_path"),
        H::FileChanged => labelled("File changed: ", "file_path"),
        H::ConfigChange => labelled("Settings changed: ", "source"),
        H::DirectoryAdded => labelled("Directory added: ", "source"),
        H::CwdChanged => labelled("Now in ", "new_cwd"),
        H::TeammateIdle => labelled("Teammate idle: ", "teammate_name"),
        H::WorktreeCreate => "A worktree is made".to_owned(),
        H::WorktreeRemove => "A worktree is removed".to_owned(),
        H::MessageDisplay => String::new(),
    }
}

fn one_short_line(text: &str) -> String {
    one_line(text, CARD_PROMPT_CHARS_MAX)
}

/// `allow (web)`, `deny (policy: Bash make*)`.
fn answered(p: &Map<String, Value>) -> String {
    let empty = Map::new();
    let answer = object(p, "answer").unwrap_or(&empty);
    let by = borrowed_text(answer, "via").unwrap_or("api");
    let by = borrowed_text(answer, "rule").map_or(by.to_owned(), |rule| format!("{by}: {rule}"));
    one_short_line(&format!("{} ({by})", borrowed_text(answer, "decision").unwrap_or_default()))
}

/// What an effort told the agent: `Denied by no-force-push: Bash: git push --force`.
fn verdict_given(p: &Map<String, Value>) -> String {
    let call = borrowed_text(p, "call").unwrap_or("a call");
    if let Some(rule) = borrowed_text(p, "allowed_by") {
        return one_short_line(&format!("Allowed once by guard rule {rule}: {call}"));
    }
    match borrowed_text(p, "denied_by") {
        Some(HEARTBEAT_RULE) => one_short_line(&format!("Held until the agent logs: {call}")),
        Some(rule) => one_short_line(&format!("Denied by guard rule {rule}: {call}")),
        None if p.contains_key("handoff") => "The handoff of the window before was delivered".to_owned(),
        None if p.contains_key("warned") => "Told that the context is nearly full".to_owned(),
        None if p.contains_key("injections") => "An injection was delivered".to_owned(),
        None if p.contains_key("messages") => "The message of a guard rule was delivered".to_owned(),
        None if p.contains_key("owed") => one_short_line(&format!("A guard rule has a message about {call}")),
        None => "The agent was reminded of its effort".to_owned(),
    }
}

fn status_line(record: &Record) -> String {
    let says = status_line::parse_status_line(&record.payload);
    let cost = says.client_usd_micros.map(|micros| format!("${:.2}", micros as f64 / 1e6));
    let context = says.context_tokens.zip(says.context_window);
    let context =
        context.map(|(tokens, window)| format!("{}% of context", tokens.saturating_mul(100) / window.max(1)));
    context.into_iter().chain(cost).collect::<Vec<_>>().join(", ")
}

/// Whether a person wrote the prompt. The client prompts itself when a background task has news.
pub fn by_person(record: &Record) -> bool {
    HookName::parse(&record.name) == Some(HookName::UserPromptSubmit)
        && prompter(&text(&record.payload, "prompt").unwrap_or_default()) == Prompter::Person
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SessionId;
    use crate::log::record::EventId;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn what_the_name_alone_would_not_tell_is_said_in_words() {
        let said = |source, name: &str, payload: Value| {
            let Value::Object(payload) = payload else { unreachable!() };
            summary(&Record::noticed_here(source, name, SessionId::from("s"), payload, EventId(1)))
        };
        let said = [
            said(Source::Hook, "SessionStart", json!({"source": "startup"})),
            said(Source::Hook, "SessionStart", json!({"source": "teleport"})),
            said(Source::Hook, "SessionEnd", json!({"reason": "prompt_input_exit"})),
            said(Source::Hook, "PreCompact", json!({"trigger": "auto"})),
            said(Source::Hook, "CwdChanged", json!({"new_cwd": "/work/api"})),
            said(Source::Hook, "SubagentStart", json!({})),
            said(Source::Hook, "Unheard", json!({"message": "x"})),
            said(Source::Process, ASK_GONE, json!({"why": "timed_out"})),
            said(Source::Process, ASK_GONE, json!({"why": "released"})),
            said(Source::Process, PROCESS_GONE, json!({"pid": 7})),
            said(Source::Registry, "registry", json!({"status": "waiting", "waitingFor": "input needed"})),
            said(Source::User, INTERRUPTED, json!({})),
        ];
        expect![[r#"
            The session started
            The session started: teleport
            The session ended: prompt_input_exit
            Compaction begins: auto
            Now in /work/api


            Not answered here in time; the terminal still asks
            Cannot be answered here; the terminal asks
            Its process is gone
            The client says waiting: input needed
            Esc sent to the terminal from here"#]]
        .assert_eq(&said.join("\n"));
    }
}
