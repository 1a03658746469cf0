//! The fields that `share = "no_payloads"` sends of each record, and what it sends of each.

use flightdeck_core::effort::EffortChange;
use flightdeck_core::log::approvals::{ANSWERED, ASK_GONE};
use flightdeck_core::log::event::{PARKED, SEEN, UNPARKED};
use flightdeck_core::log::from_registry::{PROCESS_GONE, REGISTRY};
use flightdeck_core::log::from_transcript::{TRANSCRIPT_GREW, TurnMark};
use flightdeck_core::log::hook_presence::HOOKS_SEEN;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::view::timeline::{FOCUSED, INTERRUPTED, PROMPTED, REMOTE_ACTION, STOPPED};
use flightdeck_core::wire::hook_name::HookName;
use flightdeck_core::wire::status_line::STATUS_LINE;

/// The fields of a payload or of an object in it. Every other field is left out.
pub(super) type Fields = &'static [(&'static str, Sent)];

/// What is sent of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sent {
    /// A flag or a number. A text is left out unless it is one.
    Number,
    /// A time. A text is left out unless it is one.
    Time,
    /// One of these words. Any other text is left out.
    OneOf(&'static [&'static str]),
    /// The salted digest of an id: equal for equal ids.
    Id,
    /// The id of an ask, which this daemon made.
    AskId,
    /// The name of a host.
    Host,
    /// The name of a tool of the client or of an MCP server.
    Tool,
    /// The type of a subagent, if it is one of the client's own.
    AgentType,
    /// The name of a model.
    Model,
    /// The name of the project that a path is in.
    Project,
    /// When a process started, by the system's own count.
    ProcessStart,
    /// A text that stands for a prompt, and says who wrote it.
    Prompt,
    /// A text that stands for the last message of a turn, and says what it wants.
    LastMessage,
    /// The kind of an API error: a word, or an object with the word as its `type`.
    ApiError,
    /// A text that stands for the result of a call that the person refused. Any other result is left out.
    Refusal,
    /// An object.
    Object(Fields),
    /// A list of objects.
    List(Fields),
}

use Sent::{
    AgentType, ApiError, AskId, Host, Id, LastMessage, List, Model, Number, Object, OneOf, ProcessStart,
    Project, Prompt, Refusal, Time, Tool,
};

/// Of every hook that is known. The id of the session and the name of the event are sent of an unknown hook too.
const OF_EVERY_HOOK: Fields = &[
    ("prompt_id", Id),
    ("permission_mode", OneOf(&["default", "auto", "plan", "acceptEdits", "bypassPermissions", "dontAsk"])),
    ("agent_id", Id),
    ("agent_type", AgentType),
    ("cwd", Project),
    ("pid", Number),
];

const CALL: Fields =
    &[("tool_name", Tool), ("tool_use_id", Id), ("is_interrupt", Number), ("duration_ms", Number)];

const BATCH: Fields =
    &[("tool_calls", List(&[("tool_name", Tool), ("tool_use_id", Id), ("tool_response", Refusal)]))];

const BACKGROUND_TASKS: Sent = List(&[
    ("id", Id),
    ("type", OneOf(&["shell", "subagent", "monitor", "workflow", "teammate", "remote_agent"])),
    ("status", OneOf(&["pending", "running", "completed", "failed", "killed"])),
    ("agent_type", AgentType),
]);

const TURN_END: Fields = &[
    ("stop_hook_active", Number),
    ("background_tasks", BACKGROUND_TASKS),
    ("last_assistant_message", LastMessage),
];

const TRIGGER: Fields = &[("trigger", OneOf(&["manual", "auto", "init", "maintenance"]))];

const NOTIFICATION: Fields = &[(
    "notification_type",
    OneOf(&[
        "permission_prompt",
        "idle_prompt",
        "auth_success",
        "elicitation_dialog",
        "elicitation_url_dialog",
        "elicitation_complete",
        "elicitation_response",
        "agent_needs_input",
        "agent_completed",
        "worker_permission_prompt",
        "push_notification",
        "computer_use_enter",
        "computer_use_exit",
        "quota_auto_resume_fired",
        "quota_auto_resume_stale",
        "quota_auto_resume_disabled",
        "model_refusal_fallback",
        "auth_storage_failure",
        "plugin_notification",
    ]),
)];

/// The kinds of API errors.
pub(super) const API_ERRORS: &[&str] = &[
    "rate_limit",
    "overloaded",
    "authentication_failed",
    "oauth_org_not_allowed",
    "account_on_hold",
    "verification_required",
    "billing_error",
    "invalid_request",
    "model_not_found",
    "server_error",
    "max_output_tokens",
    "cloud_credential_error",
    "unknown",
];

const SESSION_START: Fields = &[
    ("source", OneOf(&["startup", "resume", "clear", "compact", "fork"])),
    ("model", Model),
    ("context_tokens", Number),
    ("seconds_since_last_response", Number),
];

const END_REASONS: &[&str] =
    &["clear", "resume", "logout", "prompt_input_exit", "bypass_permissions_disabled", "other"];

const SETTINGS: &[&str] =
    &["user_settings", "project_settings", "local_settings", "policy_settings", "skills"];

const LIMIT: Sent = Object(&[("used_percentage", Number), ("resets_at", Number)]);

const OF_A_STATUS_LINE: Fields = &[
    ("cwd", Project),
    ("model", Object(&[("id", Model)])),
    ("cost", Object(&[("total_cost_usd", Number)])),
    (
        "context_window",
        Object(&[
            ("context_window_size", Number),
            ("used_percentage", Number),
            (
                "current_usage",
                Object(&[
                    ("input_tokens", Number),
                    ("cache_creation_input_tokens", Number),
                    ("cache_read_input_tokens", Number),
                ]),
            ),
        ]),
    ),
    ("prompt_cache", Object(&[("warm", Number), ("ttl", OneOf(&["5m", "1h"])), ("expires_at", Number)])),
    ("rate_limits", Object(&[("five_hour", LIMIT), ("seven_day", LIMIT)])),
];

const OF_THE_REGISTRY: Fields = &[
    ("pid", Number),
    ("procStart", ProcessStart),
    ("cwd", Project),
    ("startedAt", Number),
    ("statusUpdatedAt", Number),
    ("status", OneOf(&["idle", "shell", "busy", "waiting"])),
    ("waitingFor", OneOf(&["permission prompt", "sandbox request", "input needed", "dialog open"])),
];

const OF_AN_ANSWER: Fields = &[
    ("ask_id", AskId),
    (
        "answer",
        Object(&[
            ("decision", OneOf(&["allow", "deny", "cancel"])),
            ("interrupt", Number),
            ("via", OneOf(&["web", "cli", "tui", "api", "policy", "terminal"])),
        ]),
    ),
];

const OF_A_REMOTE_ACTION: Fields =
    &[("action", OneOf(&["answer", "prompt", "interrupt", "focus"])), ("from", Host), ("accepted", Number)];

/// The lists of fields of a record. `None` for an event that this version does not know.
pub(super) fn of_record(record: &Record) -> Option<[Fields; 2]> {
    let own = match (record.source, record.name.as_str()) {
        (Source::Hook, STATUS_LINE) => OF_A_STATUS_LINE,
        (Source::Hook, name) => return Some([OF_EVERY_HOOK, of_hook(HookName::parse(name)?)]),
        (Source::User, PARKED) => &[("until", Time)],
        (Source::User, ANSWERED) => OF_AN_ANSWER,
        (Source::User, PROMPTED) => &[("chars", Number), ("command", Number), ("confirmed", Number)],
        (Source::User, INTERRUPTED) => &[("confirmed", Number)],
        (Source::User, REMOTE_ACTION) => OF_A_REMOTE_ACTION,
        (Source::User, SEEN | UNPARKED | STOPPED | FOCUSED) => &[],
        (Source::User, name) if EffortChange::NAMES.contains(&name) => &[],
        (Source::Process, ASK_GONE) => {
            &[("ask_id", AskId), ("why", OneOf(&["closed", "timed_out", "released"]))]
        }
        (Source::Process, PROCESS_GONE) => &[("pid", Number), ("procStart", ProcessStart)],
        (Source::Process, HOOKS_SEEN) => &[("present", Number), ("at_start", Number)],
        (Source::Registry, REGISTRY) => OF_THE_REGISTRY,
        (Source::Transcript, TRANSCRIPT_GREW) => &[],
        (Source::Transcript, name) if TurnMark::parse(name).is_some() => &[],
        _ => return None,
    };
    Some([own, &[]])
}

fn of_hook(name: HookName) -> Fields {
    use HookName as H;
    match name {
        H::SessionStart => SESSION_START,
        H::UserPromptSubmit => &[("prompt", Prompt)],
        H::PreToolUse
        | H::PermissionRequest
        | H::PermissionDenied
        | H::PostToolUse
        | H::PostToolUseFailure => CALL,
        H::PostToolBatch => BATCH,
        H::Notification => NOTIFICATION,
        H::Stop | H::SubagentStop => TURN_END,
        H::StopFailure => &[("error", ApiError)],
        H::Setup | H::PreCompact | H::PostCompact => TRIGGER,
        H::PreModelSwitch | H::PostModelSwitch => &[("to_model", Model)],
        H::TaskCreated | H::TaskCompleted => &[("task_id", Id)],
        H::ElicitationResult => &[("action", OneOf(&["accept", "decline", "cancel"]))],
        H::ConfigChange => &[("source", OneOf(SETTINGS))],
        H::DirectoryAdded => &[("source", OneOf(&["slash_command", "register_repo_root"]))],
        H::CwdChanged => &[("new_cwd", Project)],
        H::FileChanged => &[("event", OneOf(&["change", "add", "unlink"]))],
        H::SessionEnd => &[("reason", OneOf(END_REASONS))],
        H::InstructionsLoaded
        | H::UserPromptExpansion
        | H::SubagentStart
        | H::TeammateIdle
        | H::Elicitation
        | H::WorktreeCreate
        | H::WorktreeRemove
        | H::MessageDisplay => &[],
    }
}
