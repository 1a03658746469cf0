//! `hooks.*`: the same events for scripts that are used instead of `flightdeck hook`. Arguments in snake_case or camelCase,
//! replies in camelCase. The transport makes snake_case of the arguments.

use flightdeck_core::effort::{SkillPhase, SkillSettings};
use flightdeck_core::ids::{AgentId, AskId, EffortId, InjectionId, MessageId, SessionId, WindowId};
use flightdeck_core::view::lens::FleetStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A request whose fields are those of a hook's payload.
pub trait EngineHook: serde::de::DeserializeOwned {
    /// The name of the event as the client writes it.
    const EVENT: &'static str;
}

/// Declares one request of `hooks.*`: the fields that every hook has, and its own.
macro_rules! engine_hook {
    ($(#[$doc:meta])* $name:ident $event:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            /// The client's id of the session.
            pub session_id: SessionId,
            pub transcript_path: String,
            pub cwd: String,
            /// The client sends it with some events only.
            #[serde(default)]
            pub permission_mode: Option<String>,
            pub hook_event_name: String,
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl EngineHook for $name {
            const EVENT: &'static str = $event;
        }
    };
}

engine_hook! {
    /// Begins a context window.
    HookSessionStart "SessionStart" {
        source: String,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        agent_type: Option<String>,
    }
}
engine_hook! {
    /// Ends the context window.
    HookSessionEnd "SessionEnd" {
        reason: String,
    }
}
engine_hook! {
    /// An automatic compaction ends the context window.
    HookPreCompact "PreCompact" {
        trigger: String,
        #[serde(default)]
        custom_instructions: Option<String>,
    }
}
engine_hook! {
    /// Counts the call, and says whether it may go on.
    HookPreToolUse "PreToolUse" {
        tool_name: String,
        tool_input: Map<String, Value>,
        tool_use_id: String,
    }
}
engine_hook! {
    /// Delivers what waits for the agent.
    HookPostToolUse "PostToolUse" {
        tool_name: String,
        tool_input: Map<String, Value>,
        tool_response: Value,
        tool_use_id: String,
    }
}
engine_hook! {
    /// Files the failure as a message.
    HookPostToolUseFailure "PostToolUseFailure" {
        tool_name: String,
        tool_input: Map<String, Value>,
        tool_use_id: String,
        error: String,
        #[serde(default)]
        is_interrupt: Option<bool>,
    }
}
engine_hook! {
    /// The turn ended.
    HookStop "Stop" {
        stop_hook_active: bool,
        #[serde(default)]
        last_assistant_message: Option<String>,
    }
}
engine_hook! {
    /// The person submitted a prompt.
    HookUserPrompt "UserPromptSubmit" {
        prompt: String,
    }
}
engine_hook! {
    /// The client notified the person.
    HookNotification "Notification" {
        message: String,
        notification_type: String,
        #[serde(default)]
        title: Option<String>,
    }
}
engine_hook! {
    /// The client asks for permission.
    HookPermissionRequest "PermissionRequest" {
        tool_name: String,
        tool_input: Map<String, Value>,
        #[serde(default)]
        permission_suggestions: Option<Vec<Value>>,
    }
}
engine_hook! {
    /// A teammate has nothing to do; its parent seat is told.
    HookTeammateIdle "TeammateIdle" {
        teammate_name: String,
        team_name: String,
    }
}
engine_hook! {
    /// A to-do of the client is done; filed as a message.
    HookTaskCompleted "TaskCompleted" {
        task_id: String,
        task_subject: String,
        #[serde(default)]
        task_description: Option<String>,
        #[serde(default)]
        teammate_name: Option<String>,
        #[serde(default)]
        team_name: Option<String>,
    }
}
engine_hook! {
    /// Begins a window of the subagent on the effort of its parent.
    HookSubagentStart "SubagentStart" {
        agent_id: AgentId,
        agent_type: String,
    }
}
engine_hook! {
    /// Ends the window of the subagent.
    HookSubagentStop "SubagentStop" {
        stop_hook_active: bool,
        agent_id: AgentId,
        agent_type: String,
        agent_transcript_path: String,
        #[serde(default)]
        last_assistant_message: Option<String>,
    }
}
engine_hook! {
    /// The client's settings changed: where directories lead is looked up again.
    HookConfigChange "ConfigChange" {
        source: String,
        #[serde(default)]
        file_path: Option<String>,
    }
}

/// Declares the reply of one command. Its default is the reply if no effort applies.
macro_rules! engine_reply {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }
    };
}

engine_reply! {
    /// `session_id` is the context window's id.
    SessionStartReply {
        found: bool,
        effort_id: Option<EffortId>,
        session_id: Option<WindowId>,
        skill: Option<String>,
        phase: Option<String>,
        files_to_preload: Vec<String>,
        /// The payload that the window before left, else a summary of the effort's artifacts.
        dehydrated_context: Option<String>,
        skill_config: Option<SkillConfig>,
    }
}
engine_reply! {
    /// The settings of the skill.
    SkillConfig {
        phases: Vec<SkillPhase>,
        preload: Vec<String>,
        heartbeat: u32,
        log_template: Option<String>,
        directives: Vec<String>,
    }
}
impl From<SkillSettings> for SkillConfig {
    fn from(settings: SkillSettings) -> Self {
        let SkillSettings { phases, preload, heartbeat, log_template, directives } = settings;
        Self { phases, preload, heartbeat, log_template, directives }
    }
}
engine_reply! {
    SessionEndReply {
        window_ended: bool,
        seat_status: Option<FleetStatus>,
    }
}
engine_reply! {
    PreCompactReply {
        action: CompactAction,
        window_ended: bool,
    }
}

/// What the sender of a PreCompact should do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactAction {
    #[default]
    None,
    /// End the client and start it fresh; the next SessionStart has the handoff.
    Restart,
}

engine_reply! {
    PreToolUseReply {
        allow: Allow,
        heartbeat_count: u32,
        /// In percent.
        context_usage: Option<f64>,
        overflow_warning: bool,
        pending_preloads: Vec<String>,
        fired_rules: Vec<String>,
        /// Why the call is denied.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    }
}
/// Whether the call may go on. Without an effort it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Allow(pub bool);

impl Default for Allow {
    fn default() -> Self {
        Self(true)
    }
}

engine_reply! {
    PostToolUseReply {
        heartbeat_count: u32,
        /// Texts for the agent: injections, messages of guard rules with an id that begins with `rule:`, and files to read with an id that
        /// begins with `file:`. Together at most 10,000 characters; a longer text names the file that has all of it.
        pending_injections: Vec<PendingInjection>,
        /// The message that an AskUserQuestion was filed as.
        dialogue_entry: Option<String>,
    }
}
engine_reply! {
    PendingInjection {
        id: InjectionId,
        text: String,
    }
}
engine_reply! {
    PostToolUseFailureReply {
        seat_status: Option<FleetStatus>,
        message_id: Option<MessageId>,
    }
}
engine_reply! {
    StopReply {
        seat_status: Option<FleetStatus>,
        /// The subscription's limits are used up.
        rate_limited: bool,
        /// The context is full.
        context_exhausted: bool,
    }
}
engine_reply! {
    UserPromptReply {
        /// One line: time, skill, phase, heartbeat.
        session_context: Option<String>,
        effort_id: Option<EffortId>,
        session_id: Option<WindowId>,
        task_dir: Option<String>,
        skill: Option<String>,
        phase: Option<String>,
        heartbeat: Option<u32>,
    }
}
engine_reply! {
    SeatStatusReply {
        seat_status: Option<FleetStatus>,
    }
}
engine_reply! {
    PermissionRequestReply {
        seat_status: Option<FleetStatus>,
        ask_id: Option<AskId>,
    }
}
engine_reply! {
    TeammateIdleReply {
        seat_status: Option<FleetStatus>,
        /// The parent seat that was told.
        signalled: Option<String>,
    }
}
engine_reply! {
    TaskCompletedReply {
        message_id: Option<MessageId>,
    }
}
engine_reply! {
    SubagentStartReply {
        session_id: Option<WindowId>,
        effort_id: Option<EffortId>,
        log_template: Option<String>,
        directives: Vec<String>,
        /// Skill, mode, phase, ordinal and workstream.
        effort_metadata: Option<EffortMetadata>,
    }
}
engine_reply! {
    EffortMetadata {
        skill: String,
        mode: Option<String>,
        phase: Option<String>,
        ordinal: u32,
        workstream: String,
    }
}
engine_reply! {
    SubagentStopReply {
        window_ended: bool,
        merged_files: Vec<String>,
    }
}
engine_reply! {
    ConfigChangeReply {
        /// Something was known and is looked up again.
        invalidated: bool,
    }
}
