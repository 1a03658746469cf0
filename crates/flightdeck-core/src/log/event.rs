//! One fact in our own types. The fold reads events only, never the client's strings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::approvals::{ANSWERED, ASK_GONE, AnsweredPayload};
use super::common_facts::{CommonFacts, prompt_digest};
use super::effort_facts::{EffortFacts, TwinKey};
use super::from_registry::PROCESS_GONE;
use super::from_transcript::{TRANSCRIPT_GREW, TurnMark};
use super::hook_presence::{HOOKS_SEEN, HookPresence};
use super::record::{Envelope, EventId, Record, Source};
use super::subject::Subject;
use super::tool::ToolUse;
use crate::approval::answer::Answer;
use crate::approval::ask::Asked;
use crate::approval::resolution::HoldEnd;
use crate::assignment::intent::TurnIntent;
use crate::effort::EffortChange;
use crate::fnv::Fnv;
use crate::ids::{AgentId, AskId, HostId, SessionId};
use crate::limits::{
    ASSIGNMENT_MESSAGE_CHARS_MAX, BACKGROUND_SHELLS_MAX, CARD_ANSWER_CHARS_MAX, CARD_PROMPT_CHARS_MAX,
    ELICITATION_CHARS_MAX, FAILURE_CHARS_MAX, ID_CHARS_MAX, NAME_CHARS_MAX, PATH_CHARS_MAX,
    SCHEDULED_PROMPTS_MAX,
};
use crate::text::{last_lines, lines, one_line};
use crate::time::{Millis, Timestamp};
use crate::wire::client_notices::is_client_notice;
use crate::wire::clip;
use crate::wire::hook_name::HookName;
use crate::wire::lenient::{borrowed_text, flag, line, list, object, text, whole_number};
use crate::wire::registry::{self, RegistryReport};
use crate::wire::status_line::{self, STATUS_LINE, StatusLineData};

/// One event, ready to be applied.
#[derive(Clone, Debug)]
pub struct Event {
    pub seq: u64,
    pub id: EventId,
    pub fired_at: Timestamp,
    pub received_at: Timestamp,
    pub source: Source,
    pub host: HostId,
    pub subject: Subject,
    /// Set if it happened inside a subagent.
    pub agent_id: Option<AgentId>,
    pub facts: CommonFacts,
    pub envelope: Envelope,
    pub kind: EventKind,
    /// The request in the event that a person may answer.
    pub asks: Option<Box<Asked>>,
    /// The intent of the message with which the main agent stopped.
    pub intent: Option<Box<TurnIntent>>,
    /// The message with which the main agent stopped, shortened.
    pub last_message: Option<Box<str>>,
    /// The fields of a hook that only efforts use.
    pub effort: Option<Box<EffortFacts>>,
    /// The key by which a hook is recognised that a script sends too.
    pub twin: Option<TwinKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    SessionStarted {
        source: StartSource,
        model: Option<String>,
    },
    SetupStarted,
    Prompted {
        text: String,
        by: Prompter,
    },
    ToolStarted(ToolUse),
    PermissionAsked(ToolUse),
    ToolEnded {
        tool: ToolUse,
        outcome: ToolOutcome,
    },
    BatchEnded(Vec<ToolUse>),
    Notified(Notice),
    ElicitationOpened {
        message: String,
    },
    /// `refused`: the person declined the form or closed it.
    ElicitationClosed {
        refused: bool,
    },
    Stopped {
        background: Background,
        /// Digests of the ids of the running shells.
        shells: Vec<u64>,
        /// The subagents that run in the background. `None` if the client does not name them all.
        agents: Option<Vec<AgentId>>,
        /// Digests of the prompts that the client will send itself at a certain time.
        scheduled: Vec<u64>,
        /// The end of the last message of the turn.
        said: Option<String>,
        /// A Stop hook of the person made Claude continue after an earlier Stop of this turn.
        continued: bool,
    },
    StopFailed {
        cause: String,
    },
    SubagentStarted,
    SubagentStopped,
    CompactionStarted,
    CompactionEnded,
    ModelSwitched {
        to: String,
    },
    CwdChanged {
        to: String,
    },
    TodoCreated {
        id: String,
        title: String,
    },
    TodoCompleted {
        id: String,
    },
    SessionEnded {
        reason: EndReason,
    },
    /// An entry of the client's registry.
    RegistryReported(RegistryReport),
    /// The process of the session has exited.
    ProcessGone {
        pid: u32,
        proc_start: Option<String>,
    },
    /// The transcript grew: a sign of life, and of work if no other source reports the session.
    TranscriptGrew,
    /// The transcript says how the turn ended.
    TurnMarked(TurnMark),
    /// The daemon saw its hooks registered, or gone.
    HooksSeen(HookPresence),
    /// The client's status line: data that changes no state.
    StatusLine(StatusLineData),
    /// An ask was answered through Flightdeck.
    Answered {
        ask_id: AskId,
        answer: Box<Answer>,
    },
    /// The held hook of an ask has ended.
    HoldEnded {
        ask_id: AskId,
        why: HoldEnd,
    },
    /// The person opened the card.
    Seen,
    /// The person parked an idle session, until a time or until its next change.
    Parked {
        until: Option<Timestamp>,
    },
    Unparked,
    /// A change of an effort, or what a verdict of it gave to the agent.
    Effort(Box<EffortChange>),
    /// Shown in the timeline; changes nothing.
    Noted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartSource {
    /// startup, fork, or an unknown name: a conversation begins at a prompt.
    Fresh,
    /// `/clear` and the in-app `/resume` put a new session into the same process.
    Clear,
    Resume,
    /// The client restarts its own session after compaction: no conversation begins.
    Compact,
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompter {
    Person,
    /// A task notification, a reminder, a cron or wake-up notice: the client woke itself.
    Client,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolOutcome {
    Ok,
    Failed { error: String },
    Interrupted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    PermissionNeeded,
    ElicitationDialog { message: String },
    IdlePrompt,
    Other,
}

/// What still runs after a turn has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Background {
    pub agents: u32,
    /// At most this many shells run.
    pub shells: u32,
    /// At least this many shells run. It is less than `shells` if a shell may have ended without an event.
    #[serde(default)]
    pub shells_min: u32,
}

/// Why a session ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Clear,
    Resume,
    Said(String),
    ProcessDied,
}

impl EndReason {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Clear => "clear",
            Self::Resume => "resume",
            Self::Said(word) => word,
            Self::ProcessDied => "process_died",
        }
    }
}

/// Name in the log of "the person opened the card".
pub const SEEN: &str = "seen";
/// Names in the log of parking a session, and of ending that.
pub const PARKED: &str = "parked";
pub const UNPARKED: &str = "unparked";

impl Event {
    pub fn session_id(&self) -> Option<&SessionId> {
        self.subject.session_id()
    }

    /// Translates a record into our own types. This never fails: an unknown event is `Noted`.
    pub fn from_record(record: &Record) -> Self {
        let p = &record.payload;
        let message = last_message(record);
        Self {
            seq: record.seq,
            id: record.id,
            fired_at: record.fired_at,
            received_at: record.received_at,
            source: record.source,
            host: record.host.clone(),
            subject: record.subject.clone(),
            agent_id: record.agent_id.clone(),
            facts: CommonFacts::from_record(record),
            envelope: record.envelope.clone(),
            asks: Asked::from_record(record).map(Box::new),
            intent: message.map(|message| Box::new(TurnIntent::detect(message))),
            last_message: message
                .map(|message| lines(message, ASSIGNMENT_MESSAGE_CHARS_MAX).into_boxed_str()),
            effort: EffortFacts::from_record(record).map(Box::new),
            twin: TwinKey::from_record(record),
            kind: match record.source {
                Source::Hook if record.name == STATUS_LINE => {
                    EventKind::StatusLine(status_line::parse_status_line(p))
                }
                Source::Hook => {
                    HookName::parse(&record.name).map_or(EventKind::Noted, |name| kind_of(name, p))
                }
                Source::User if record.name == SEEN => EventKind::Seen,
                Source::User if record.name == PARKED => EventKind::Parked { until: time(p, "until") },
                Source::User if record.name == UNPARKED => EventKind::Unparked,
                Source::User if record.name == ANSWERED => {
                    answered(&record.name, p).unwrap_or(EventKind::Noted)
                }
                Source::User => EffortChange::from_record(&record.name, p)
                    .map_or(EventKind::Noted, |change| EventKind::Effort(Box::new(change))),
                Source::Process if record.name == ASK_GONE => ask_gone(p).unwrap_or(EventKind::Noted),
                Source::Registry => {
                    let ahead = Millis(record.envelope.clock_ahead_ms.unwrap_or(0));
                    let report = registry::parse_report(p).map(|report| report.corrected(ahead));
                    report.map_or(EventKind::Noted, EventKind::RegistryReported)
                }
                Source::Process if record.name == PROCESS_GONE => process_gone(p),
                Source::Process if record.name == HOOKS_SEEN => EventKind::HooksSeen(HookPresence {
                    present: flag(p, "present"),
                    at_start: flag(p, "at_start"),
                }),
                Source::Transcript if record.name == TRANSCRIPT_GREW => EventKind::TranscriptGrew,
                Source::Transcript => {
                    TurnMark::parse(&record.name).map_or(EventKind::Noted, EventKind::TurnMarked)
                }
                _ => EventKind::Noted,
            },
        }
    }
}

impl Event {
    /// If the event is a prompt whose text Claude scheduled, the same event as a prompt that the client sent by itself.
    pub(crate) fn as_scheduled(&self, scheduled: impl Fn(u64) -> bool) -> Option<Self> {
        let EventKind::Prompted { text, by: Prompter::Person } = &self.kind else { return None };
        let kind = EventKind::Prompted { text: text.clone(), by: Prompter::Client };
        scheduled(prompt_digest(text)).then(|| Self { kind, ..self.clone() })
    }
}

impl EventKind {
    /// Whether a signal or a closed terminal ended the client, not the person at its prompt.
    pub fn is_end_from_outside(&self) -> bool {
        matches!(self, Self::SessionEnded { reason: EndReason::Said(word) } if word == "other")
    }

    /// Whether the event is about what an agent does or waits for. All other events are data.
    pub fn is_about_state(&self) -> bool {
        use EventKind as K;
        !matches!(
            self,
            K::Noted
                | K::StatusLine(_)
                | K::Seen
                | K::Parked { .. }
                | K::Unparked
                | K::Answered { .. }
                | K::HoldEnded { .. }
                | K::ModelSwitched { .. }
                | K::CwdChanged { .. }
                | K::TodoCreated { .. }
                | K::TodoCompleted { .. }
                | K::Notified(Notice::Other)
                | K::RegistryReported(_)
                | K::ProcessGone { .. }
                | K::TranscriptGrew
                | K::TurnMarked(_)
                | K::HooksSeen(_)
                | K::Effort(_)
                | K::SessionStarted { source: StartSource::Compact, .. }
        )
    }
}

/// The message that ends a turn of the main agent. `None` if it was clipped, because the intent is mostly at its end.
fn last_message(record: &Record) -> Option<&str> {
    let p = &record.payload;
    let ends_a_turn = record.source == Source::Hook && record.agent_id.is_none();
    if !ends_a_turn || HookName::parse(&record.name) != Some(HookName::Stop) || p.contains_key(clip::MARK) {
        return None;
    }
    borrowed_text(p, "last_assistant_message").filter(|message| !message.trim().is_empty())
}

fn answered(name: &str, p: &Map<String, Value>) -> Option<EventKind> {
    let AnsweredPayload { ask_id, answer } = AnsweredPayload::from_event(name, p)?;
    Some(EventKind::Answered { ask_id, answer: Box::new(answer) })
}

fn ask_gone(p: &Map<String, Value>) -> Option<EventKind> {
    Some(EventKind::HoldEnded {
        ask_id: text(p, "ask_id")?.into(),
        why: HoldEnd::parse(borrowed_text(p, "why")?)?,
    })
}

fn time(p: &Map<String, Value>, name: &str) -> Option<Timestamp> {
    serde_json::from_value(p.get(name)?.clone()).ok()
}

fn process_gone(p: &Map<String, Value>) -> EventKind {
    let pid = whole_number(p, "pid").and_then(|pid| u32::try_from(pid).ok());
    pid.map_or(EventKind::Noted, |pid| EventKind::ProcessGone { pid, proc_start: text(p, "procStart") })
}

/// The meaning of a hook's payload.
fn kind_of(name: HookName, p: &Map<String, Value>) -> EventKind {
    use EventKind as K;
    use HookName as H;
    match name {
        H::SessionStart => {
            K::SessionStarted { source: start_source(p), model: line(p, "model", NAME_CHARS_MAX) }
        }
        H::Setup => K::SetupStarted,
        H::UserPromptSubmit => prompted(p),
        H::PreToolUse => K::ToolStarted(ToolUse::from_payload(p)),
        H::PermissionRequest => K::PermissionAsked(ToolUse::from_payload(p)),
        H::PostToolUse => K::ToolEnded { tool: ToolUse::from_payload(p), outcome: ToolOutcome::Ok },
        H::PostToolUseFailure => K::ToolEnded { tool: ToolUse::from_payload(p), outcome: failure(p) },
        H::PostToolBatch => K::BatchEnded(batch(p)),
        H::Notification => K::Notified(notice(p)),
        H::Elicitation => K::ElicitationOpened { message: elicitation_message(p) },
        H::ElicitationResult => {
            K::ElicitationClosed { refused: matches!(borrowed_text(p, "action"), Some("decline" | "cancel")) }
        }
        H::Stop => stopped(p),
        H::StopFailure => K::StopFailed { cause: cause(p) },
        H::SubagentStart => K::SubagentStarted,
        H::SubagentStop => K::SubagentStopped,
        H::PreCompact => K::CompactionStarted,
        H::PostCompact => K::CompactionEnded,
        H::PostModelSwitch => {
            line(p, "to_model", NAME_CHARS_MAX).map_or(K::Noted, |to| K::ModelSwitched { to })
        }
        H::CwdChanged => line(p, "new_cwd", PATH_CHARS_MAX).map_or(K::Noted, |to| K::CwdChanged { to }),
        H::TaskCreated => todo(p).map_or(K::Noted, |(id, title)| K::TodoCreated { id, title }),
        H::TaskCompleted => todo(p).map_or(K::Noted, |(id, _)| K::TodoCompleted { id }),
        H::SessionEnd => K::SessionEnded { reason: end_reason(p) },
        H::InstructionsLoaded
        | H::UserPromptExpansion
        | H::PermissionDenied
        | H::PreModelSwitch
        | H::TeammateIdle
        | H::ConfigChange
        | H::FileChanged
        | H::DirectoryAdded
        | H::WorktreeCreate
        | H::WorktreeRemove
        | H::MessageDisplay => K::Noted,
    }
}

fn start_source(p: &Map<String, Value>) -> StartSource {
    match borrowed_text(p, "source") {
        Some("compact") => StartSource::Compact,
        Some("clear") => StartSource::Clear,
        Some("resume") => StartSource::Resume,
        _ => StartSource::Fresh,
    }
}

fn prompted(p: &Map<String, Value>) -> EventKind {
    let prompt = text(p, "prompt").unwrap_or_default();
    EventKind::Prompted { text: lines(&prompt, CARD_PROMPT_CHARS_MAX), by: prompter(&prompt) }
}

pub(crate) fn prompter(prompt: &str) -> Prompter {
    if is_client_notice(prompt) { Prompter::Client } else { Prompter::Person }
}

fn failure(p: &Map<String, Value>) -> ToolOutcome {
    if flag(p, "is_interrupt") {
        return ToolOutcome::Interrupted;
    }
    ToolOutcome::Failed { error: line(p, "error", FAILURE_CHARS_MAX).unwrap_or_default() }
}

fn batch(p: &Map<String, Value>) -> Vec<ToolUse> {
    list(p, "tool_calls").iter().filter_map(Value::as_object).map(ToolUse::from_payload).collect()
}

fn notice(p: &Map<String, Value>) -> Notice {
    match borrowed_text(p, "notification_type") {
        Some("permission_prompt" | "agent_needs_input" | "worker_permission_prompt") => {
            Notice::PermissionNeeded
        }
        Some("elicitation_dialog" | "elicitation_url_dialog") => {
            Notice::ElicitationDialog { message: elicitation_message(p) }
        }
        Some("idle_prompt") => Notice::IdlePrompt,
        _ => Notice::Other,
    }
}

fn elicitation_message(p: &Map<String, Value>) -> String {
    let message = line(p, "message", ELICITATION_CHARS_MAX).filter(|m| !m.is_empty());
    message.unwrap_or_else(|| "Awaiting input".to_owned())
}

fn stopped(p: &Map<String, Value>) -> EventKind {
    let tasks = p.get("background_tasks");
    let running = |kind: &'static str| {
        let entries = tasks.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        let of_kind = entries.filter(move |t| borrowed_text(t, "type") == Some(kind));
        of_kind.filter(|t| !matches!(borrowed_text(t, "status"), Some("completed" | "failed" | "killed")))
    };
    let shells: Vec<u64> = running("shell")
        .map(|t| Fnv::hash_bytes(borrowed_text(t, "id").unwrap_or_default().as_bytes()))
        .take(BACKGROUND_SHELLS_MAX)
        .collect();
    let count = running("shell").count() as u32;
    let background =
        Background { agents: running("subagent").count() as u32, shells: count, shells_min: count };
    let said = text(p, "last_assistant_message").map(|said| last_lines(&said, CARD_ANSWER_CHARS_MAX));
    let id = |task: &Map<String, Value>| line(task, "id", ID_CHARS_MAX).map(AgentId::from);
    let agents = tasks.and_then(|_| running("subagent").map(id).collect());
    let crons = list(p, "session_crons").iter().filter_map(Value::as_object);
    let scheduled = crons.filter_map(|cron| text(cron, "prompt")).map(|prompt| prompt_digest(&prompt));
    EventKind::Stopped {
        background,
        shells,
        agents,
        scheduled: scheduled.take(SCHEDULED_PROMPTS_MAX).collect(),
        said,
        continued: flag(p, "stop_hook_active"),
    }
}

/// `rate_limit` reads as "rate limit" on a card.
fn cause(p: &Map<String, Value>) -> String {
    let word = object(p, "error").and_then(|e| text(e, "type")).or_else(|| text(p, "error"));
    one_line(&word.unwrap_or_else(|| "unknown".to_owned()), NAME_CHARS_MAX).replace('_', " ")
}

fn todo(p: &Map<String, Value>) -> Option<(String, String)> {
    let title = line(p, "task_subject", CARD_PROMPT_CHARS_MAX).unwrap_or_default();
    Some((line(p, "task_id", NAME_CHARS_MAX)?, title))
}

fn end_reason(p: &Map<String, Value>) -> EndReason {
    match borrowed_text(p, "reason") {
        Some("clear") => EndReason::Clear,
        Some("resume") => EndReason::Resume,
        Some(word) => EndReason::Said(one_line(word, NAME_CHARS_MAX)),
        None => EndReason::Said("other".to_owned()),
    }
}
