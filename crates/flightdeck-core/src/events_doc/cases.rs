//! The examples, one for each row of the tables in `docs/events.md`, with the state that each starts from.

use serde_json::{Map, Value, json};

use crate::log::approvals::{ANSWERED, ASK_GONE};
use crate::log::hook_presence::HOOKS_SEEN;
use crate::rules::FoldSettings;

/// An example of an event.
#[derive(Clone, Debug)]
pub(super) struct DocCase {
    pub(super) event: &'static str,
    /// Distinguishes this example from others of the same event.
    pub(super) variant: &'static str,
    pub(super) from: Start,
    pub(super) payload: Map<String, Value>,
    pub(super) settings: FoldSettings,
    /// The session whose card is read.
    pub(super) look_at: &'static str,
}

impl DocCase {
    pub(super) fn title(&self) -> String {
        format!("{} {}", self.event, self.variant).trim_end().to_owned()
    }
}

/// The state of the session before the example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Unknown,
    Ready,
    Thinking,
    Tool,
    TwoTools,
    Question,
    Plan,
    Permission,
    Elicitation,
    Delegating,
    TwoAgents,
    ChildTool,
    ChildPermission,
    Compacting,
    TurnEnded,
    Background,
    Todo,
    Ended,
    PrintMode,
    Queued,
    Away,
    AwayPermission,
    EndedAway,
    Interrupted,
    TwoTerminals,
}

type Events = Vec<(&'static str, Map<String, Value>)>;

impl Start {
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Unknown => "an unknown session",
            Self::Ready => "Ready",
            Self::Thinking => "Thinking",
            Self::Tool => "Bash runs",
            Self::TwoTools => "Bash and Read run",
            Self::Question => "a question is open",
            Self::Plan => "a plan is ready",
            Self::Permission => "permission for Bash is open",
            Self::Elicitation => "an MCP server asks",
            Self::Delegating => "one subagent runs",
            Self::TwoAgents => "two subagents run",
            Self::ChildTool => "the subagent's Bash runs",
            Self::ChildPermission => "the subagent needs permission",
            Self::Compacting => "Bash ran, then compaction",
            Self::TurnEnded => "the turn ended",
            Self::Background => "waiting on 2 background agents",
            Self::Todo => "thinking, with a to-do",
            Self::Ended => "ended",
            Self::PrintMode => "Bash runs in `claude -p`",
            Self::Queued => "Bash runs, one prompt is queued",
            Self::Away => "Bash runs, the hooks are gone",
            Self::AwayPermission => "permission for Bash is open, the hooks are gone",
            Self::EndedAway => "the turn ended while the hooks were gone",
            Self::Interrupted => "the turn ended without a Stop",
            Self::TwoTerminals => "one terminal asks, a second one is ready",
        }
    }

    /// The events that lead to the state.
    pub(super) fn events(self) -> Events {
        let then = |start: Self, name, payload| {
            let mut events = start.events();
            events.push((name, object(payload)));
            events
        };
        match self {
            Self::Unknown => Vec::new(),
            Self::Ready => then(Self::Unknown, "SessionStart", json!({"source": "startup"})),
            Self::Thinking => then(Self::Ready, "UserPromptSubmit", json!({"prompt": "fix the bug"})),
            Self::Tool | Self::PrintMode => then(Self::Thinking, "PreToolUse", bash()),
            Self::TwoTools => then(Self::Tool, "PreToolUse", read()),
            Self::Question => then(Self::Thinking, "PreToolUse", question()),
            Self::Plan => then(Self::Thinking, "PreToolUse", plan()),
            Self::Permission => then(Self::Tool, "PermissionRequest", permission()),
            Self::Elicitation => then(Self::Tool, "Elicitation", elicitation()),
            Self::Delegating => then(Self::Thinking, "SubagentStart", explore(json!({}))),
            Self::TwoAgents => {
                then(Self::Delegating, "SubagentStart", json!({"agent_id": "y", "agent_type": "Plan"}))
            }
            Self::ChildTool => then(Self::Delegating, "PreToolUse", explore(bash())),
            Self::ChildPermission => then(Self::ChildTool, "PermissionRequest", explore(permission())),
            Self::Compacting => then(Self::Tool, "PreCompact", json!({"trigger": "auto"})),
            Self::TurnEnded => then(Self::Thinking, "Stop", json!({})),
            Self::Background => then(Self::TwoAgents, "Stop", running(&["subagent", "subagent"])),
            Self::Todo => {
                then(Self::Thinking, "TaskCreated", json!({"task_id": "1", "task_subject": "write the test"}))
            }
            Self::Queued => {
                let of_turn = |payload| with_fields(payload, json!({"prompt_id": "1"}));
                let mut events = Self::Ready.events();
                events.push(("UserPromptSubmit", object(of_turn(json!({"prompt": "fix the bug"})))));
                events.push(("registry", object(json!({"status": "busy"}))));
                events.push(("PreToolUse", object(of_turn(bash()))));
                events.push(("UserPromptSubmit", object(of_turn(json!({"prompt": "and the tests"})))));
                events
            }
            Self::Away => then(Self::Tool, HOOKS_SEEN, json!({"present": false})),
            Self::AwayPermission => then(Self::Permission, HOOKS_SEEN, json!({"present": false})),
            Self::EndedAway => then(Self::Away, "registry", json!({"status": "idle"})),
            Self::Interrupted => then(Self::Thinking, "registry", json!({"status": "idle"})),
            Self::TwoTerminals => then(Self::Permission, "SessionStart", second(json!({"source": "resume"}))),
            Self::Ended => then(Self::Ready, "SessionEnd", json!({"reason": "prompt_input_exit"})),
        }
    }
}

#[derive(Debug)]
pub(super) struct DocSection {
    pub(super) title: &'static str,
    pub(super) cases: fn() -> Vec<DocCase>,
}

pub(super) const SECTIONS: [DocSection; 10] = [
    DocSection { title: "Beginning and end", cases: beginning_and_end },
    DocSection { title: "Prompts", cases: prompts },
    DocSection { title: "Tools", cases: tools },
    DocSection { title: "What waits for a person", cases: needs },
    DocSection { title: "Our own answers", cases: answers },
    DocSection { title: "The end of a turn", cases: turn_end },
    DocSection { title: "Subagents", cases: subagents },
    DocSection { title: "Compaction", cases: compaction },
    DocSection { title: "Data and timeline", cases: data },
    DocSection {
        title: "The client's registry, the process table and a growing transcript",
        cases: registry_and_processes,
    },
];

pub(super) fn all_cases() -> impl Iterator<Item = DocCase> {
    SECTIONS.iter().flat_map(|section| (section.cases)())
}

pub(super) fn cases_of_event(event: &str) -> impl Iterator<Item = DocCase> {
    all_cases().filter(move |case| case.event == event)
}

use Start::{
    Away, AwayPermission, Background, ChildPermission, ChildTool, Compacting, Delegating, Elicitation, Ended,
    EndedAway, Interrupted, Permission, Plan, PrintMode, Question, Queued, Ready, Thinking, Todo, Tool,
    TurnEnded, TwoAgents, TwoTerminals, TwoTools, Unknown,
};

fn beginning_and_end() -> Vec<DocCase> {
    let start = |source: &str| json!({"source": source});
    let next = |source: &str| json!({"source": source, "session_id": "t"});
    vec![
        case("SessionStart", "startup", Unknown, start("startup")),
        case("SessionStart", "resume", Permission, start("resume")),
        case("SessionStart", "fork", TurnEnded, start("fork")),
        DocCase { look_at: "t", ..case("SessionStart", "clear: the new session", TurnEnded, next("clear")) },
        case("SessionStart", "clear: the old session", TurnEnded, next("clear")),
        case("SessionStart", "resume in the app: the old session", TurnEnded, next("resume")),
        case("SessionStart", "compact", Tool, start("compact")),
        case("SessionStart", "resume", Ended, start("resume")),
        case("SessionStart", "resume in a second terminal", Permission, second(start("resume"))),
        case("Setup", "", Ready, json!({"trigger": "init"})),
        case("SessionEnd", "", Permission, json!({"reason": "prompt_input_exit"})),
        case("SessionEnd", "of the second terminal", TwoTerminals, second(json!({"reason": "other"}))),
        case("SessionEnd", "of the terminal that asks", TwoTerminals, json!({"reason": "other"})),
        case("InstructionsLoaded", "comes first", Unknown, json!({"file_path": "CLAUDE.md"})),
    ]
}

fn prompts() -> Vec<DocCase> {
    let person = || json!({"prompt": "now the docs"});
    vec![
        case("UserPromptSubmit", "by a person", Ready, person()),
        case("UserPromptSubmit", "by a person", Permission, person()),
        case("UserPromptSubmit", "typed ahead", Tool, person()),
        case("UserPromptSubmit", "typed ahead, with the running turn's prompt_id", Queued, queued_prompt()),
        case("UserPromptSubmit", "by the client", TurnEnded, json!({"prompt": "<task-notification>done"})),
        case(
            "UserPromptSubmit",
            "by the client",
            TurnEnded,
            json!({"prompt": "Background agent \"Tests\" was stopped by the user."}),
        ),
        case("UserPromptSubmit", "by the client", Permission, json!({"prompt": "<system-reminder>x"})),
        case("UserPromptExpansion", "", Thinking, json!({"prompt": "/review"})),
    ]
}

fn tools() -> Vec<DocCase> {
    let interrupted = || with_fields(bash(), json!({"is_interrupt": true, "error": "interrupted"}));
    let failed = || with_fields(bash(), json!({"error": "exit status 1"}));
    let batch = || json!({"tool_calls": [bash(), read()]});
    let needs_you = FoldSettings { tool_failure_needs_you: true, ..FoldSettings::default() };
    vec![
        case("PreToolUse", "", Thinking, bash()),
        case(
            "PreToolUse",
            "EnterPlanMode",
            Thinking,
            json!({"tool_name": "EnterPlanMode", "tool_use_id": "e"}),
        ),
        case(
            "PreToolUse",
            "of the queued turn, after Esc",
            Queued,
            with_fields(read(), json!({"prompt_id": "2"})),
        ),
        case("PostToolBatch", "absorbs the queue", Queued, json!({"prompt_id": "1"})),
        case("PostToolUse", "", Tool, bash()),
        case("PostToolUse", "of one of two", TwoTools, read()),
        case("PostToolUse", "of the call that waited", Permission, bash()),
        case("PostToolUse", "of another call", Permission, read()),
        case("PostToolBatch", "", TwoTools, batch()),
        case("PostToolUseFailure", "", Tool, failed()),
        DocCase {
            settings: needs_you,
            ..case("PostToolUseFailure", "with tool_failure = needs_you", Tool, failed())
        },
        case("PostToolUseFailure", "is_interrupt", Tool, interrupted()),
        case("PermissionDenied", "", Tool, bash()),
        case("PreToolUse", "after the end", Ended, bash()),
    ]
}

fn needs() -> Vec<DocCase> {
    let notice = |kind: &str| json!({"notification_type": kind, "message": "Claude needs you"});
    let held = FoldSettings { hold_print: true, ..FoldSettings::default() };
    vec![
        case("PermissionRequest", "", Tool, permission()),
        case("PermissionRequest", "in print mode", PrintMode, permission()),
        DocCase {
            settings: held,
            ..case("PermissionRequest", "in print mode, hold_print", PrintMode, permission())
        },
        case("PermissionRequest", "EnterPlanMode", Thinking, json!({"tool_name": "EnterPlanMode"})),
        case("PreToolUse", "AskUserQuestion", Thinking, question()),
        case("PermissionRequest", "AskUserQuestion", Question, question()),
        case("PostToolUse", "AskUserQuestion", Question, question()),
        case("PreToolUse", "ExitPlanMode", Thinking, plan()),
        case("PermissionRequest", "ExitPlanMode", Plan, plan()),
        case("Notification", "permission_prompt", Tool, notice("permission_prompt")),
        case("Notification", "permission_prompt, late", TurnEnded, notice("permission_prompt")),
        case("Notification", "permission_prompt, again", Permission, notice("permission_prompt")),
        case("Notification", "agent_needs_input", Delegating, notice("agent_needs_input")),
        case("Notification", "worker_permission_prompt", Delegating, notice("worker_permission_prompt")),
        case("Elicitation", "", Tool, elicitation()),
        case("Notification", "elicitation_dialog", Tool, notice("elicitation_dialog")),
        case("Notification", "elicitation_url_dialog", Permission, notice("elicitation_url_dialog")),
        case("ElicitationResult", "", Elicitation, json!({"mcp_server_name": "jira", "action": "accept"})),
        case(
            "ElicitationResult",
            "declined",
            Elicitation,
            json!({"mcp_server_name": "jira", "action": "decline"}),
        ),
        case("Notification", "idle_prompt", Thinking, notice("idle_prompt")),
        case("Notification", "idle_prompt", TurnEnded, notice("idle_prompt")),
        case("Notification", "idle_prompt", Background, notice("idle_prompt")),
        case("Notification", "auth_success", Thinking, notice("auth_success")),
        case("Notification", "of a type we do not know", Thinking, notice("party_time")),
    ]
}

fn turn_end() -> Vec<DocCase> {
    vec![
        case("Stop", "", Thinking, json!({})),
        case("Stop", "", Permission, json!({})),
        case(
            "Stop",
            "with a question",
            Thinking,
            json!({"last_assistant_message": "Which branch should I use?"}),
        ),
        case("Stop", "with a report", Thinking, json!({"last_assistant_message": "Done. All tests pass."})),
        case("Stop", "with background agents", TwoAgents, running(&["subagent", "subagent"])),
        case("Stop", "with a background shell", Thinking, running(&["shell"])),
        case("Stop", "with a prompt in the queue", Queued, json!({"prompt_id": "1"})),
        case("StopFailure", "", Thinking, json!({"error": "rate_limit"})),
    ]
}

fn subagents() -> Vec<DocCase> {
    let stop = |id: &str, kind: &str| json!({"agent_id": id, "agent_type": kind});
    vec![
        case("SubagentStart", "", Thinking, explore(json!({}))),
        case("SubagentStart", "", TurnEnded, explore(json!({}))),
        case("SubagentStop", "of the last", Delegating, stop("x", "Explore")),
        case("SubagentStop", "of one of two", TwoAgents, stop("y", "Plan")),
        case("SubagentStop", "after Stop", Background, stop("x", "Explore")),
        case("SubagentStop", "of an unknown id", Thinking, stop("z", "Explore")),
        case("SubagentStop", "of an empty type", Delegating, stop("x", "")),
        case("PreToolUse", "in a subagent", Delegating, explore(bash())),
        case("PermissionRequest", "in a subagent", ChildTool, explore(permission())),
        case("PostToolUse", "in a subagent", ChildPermission, explore(bash())),
        case("SubagentStop", "of one that waited", ChildPermission, stop("x", "Explore")),
        case("StopFailure", "in a subagent", Delegating, explore(json!({"error": "rate_limit"}))),
        case("StopFailure", "in a subagent, after Stop", Background, explore(json!({"error": "overloaded"}))),
        case(
            "StopFailure",
            "of the helper of a compaction",
            Compacting,
            json!({"agent_id": "h", "error": "unknown"}),
        ),
        case("TeammateIdle", "", Thinking, json!({"teammate_name": "reviewer"})),
    ]
}

fn compaction() -> Vec<DocCase> {
    vec![
        case("PreCompact", "auto", Tool, json!({"trigger": "auto"})),
        case("PreCompact", "manual", TurnEnded, json!({"trigger": "manual"})),
        case("PostCompact", "", Compacting, json!({"trigger": "auto"})),
    ]
}

fn data() -> Vec<DocCase> {
    vec![
        case("PreModelSwitch", "", Thinking, json!({"from_model": "opus", "to_model": "sonnet"})),
        case("PostModelSwitch", "", Thinking, json!({"from_model": "opus", "to_model": "sonnet"})),
        case("TaskCreated", "", Thinking, json!({"task_id": "1", "task_subject": "write the test"})),
        case("TaskCompleted", "", Todo, json!({"task_id": "1", "task_subject": "write the test"})),
        case("CwdChanged", "", Thinking, json!({"new_cwd": "/work/api/src"})),
        case("InstructionsLoaded", "", Thinking, json!({"file_path": "CLAUDE.md"})),
        case("ConfigChange", "", Thinking, json!({"source": "user_settings"})),
        case("FileChanged", "", Thinking, json!({"file_path": "a.rs"})),
        case("DirectoryAdded", "", Thinking, json!({"source": "command"})),
        case("WorktreeCreate", "", Thinking, json!({"name": "fix"})),
        case("WorktreeRemove", "", Thinking, json!({"name": "fix"})),
        case("MessageDisplay", "", Thinking, json!({})),
        case("SomethingNew", "(a name we do not know)", Thinking, json!({"x": 1})),
    ]
}

/// Registry entries that have settled, and events of other sources than hooks. `seconds_ago` says when the client wrote an entry.
fn registry_and_processes() -> Vec<DocCase> {
    let says = |status: &str| json!({"status": status});
    let waits = |what: &str| json!({"status": "waiting", "waitingFor": what});
    let restarted = json!({"status": "idle", "started_later": true});
    vec![
        case("registry", "busy", TurnEnded, says("busy")),
        case("registry", "busy", Permission, says("busy")),
        case("registry", "busy, 1 s after Stop", TurnEnded, json!({"status": "busy", "seconds_ago": 2})),
        case("registry", "idle", Tool, says("idle")),
        case("registry", "idle", Permission, says("idle")),
        case("registry", "idle", Background, says("idle")),
        case("registry", "idle", PrintMode, says("idle")),
        case("registry", "busy again", Queued, says("busy")),
        case("registry", "idle", Away, says("idle")),
        case("registry", "idle", AwayPermission, says("idle")),
        case(HOOKS_SEEN, "gone", Tool, json!({"present": false})),
        case(HOOKS_SEEN, "back", Away, json!({"present": true})),
        case("interrupt_marked", "", EndedAway, json!({})),
        case("interrupt_marked", "", Tool, json!({})),
        case("interrupt_marked", "of this turn", Queued, json!({"prompt_id": "1"})),
        case("stopped_by_hook", "", Interrupted, json!({})),
        case("stopped_by_hook", "", TurnEnded, json!({})),
        case("prompt_blocked", "", Interrupted, json!({})),
        case("registry", "shell", Thinking, says("shell")),
        case("registry", "waiting: permission prompt", Thinking, waits("permission prompt")),
        case("registry", "waiting: input needed", Thinking, waits("input needed")),
        case("registry", "waiting: dialog open", Thinking, waits("dialog open")),
        case("registry", "waiting: dialog open", Tool, waits("dialog open")),
        case("registry", "idle of a new process", Ended, restarted),
        case("registry", "the last idle", Ended, says("idle")),
        case("process_gone", "", Permission, json!({})),
        case("process_gone", "of the terminal that asks", TwoTerminals, json!({})),
        case("process_gone", "of the second terminal", TwoTerminals, second(json!({}))),
        case("transcript_grew", "and no other source reports it", Unknown, json!({})),
        case("transcript_grew", "", TurnEnded, json!({})),
    ]
}

/// Flightdeck's own records about the open ask: an answer, or the end of a hold.
fn answers() -> Vec<DocCase> {
    let answer = |decision: Value| json!({ "answer": decision });
    let gone = |why: &str| json!({ "why": why });
    let allow = || answer(json!({"decision": "allow"}));
    let ruled =
        |decision: &str| answer(json!({"decision": decision, "via": "policy", "rule": "Bash cargo*"}));
    let deny = || answer(json!({"decision": "deny"}));
    vec![
        case(ANSWERED, "allow", Permission, allow()),
        case(ANSWERED, "deny", Permission, deny()),
        case(ANSWERED, "allow, via policy", Permission, ruled("allow")),
        case(ANSWERED, "deny, via policy", Permission, ruled("deny")),
        case(
            ANSWERED,
            "deny and interrupt",
            Permission,
            answer(json!({"decision": "deny", "interrupt": true})),
        ),
        case(ANSWERED, "allow", ChildPermission, allow()),
        case(ANSWERED, "deny", ChildPermission, deny()),
        case(ASK_GONE, "closed: refused in the terminal", Permission, gone("closed")),
        case(ASK_GONE, "closed: refused in the terminal", ChildPermission, gone("closed")),
        case(ASK_GONE, "timed_out", Permission, gone("timed_out")),
        case(ASK_GONE, "released: the daemon restarted", Permission, gone("released")),
    ]
}

fn case(event: &'static str, variant: &'static str, from: Start, payload: Value) -> DocCase {
    DocCase { event, variant, from, payload: object(payload), ..DocCase::default() }
}

fn queued_prompt() -> Value {
    json!({"prompt": "and the docs", "prompt_id": "1"})
}

/// The payload as the process of a second terminal on the same session sends it.
fn second(payload: Value) -> Value {
    with_fields(payload, json!({"second_terminal": true}))
}

fn bash() -> Value {
    json!({"tool_name": "Bash", "tool_use_id": "a", "tool_input": {"command": "cargo test"}})
}

/// The payload of a PermissionRequest, which has no `tool_use_id`.
fn permission() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "cargo test"}})
}

fn read() -> Value {
    json!({"tool_name": "Read", "tool_use_id": "b", "tool_input": {"file_path": "src/main.rs"}})
}

fn question() -> Value {
    json!({"tool_name": "AskUserQuestion", "tool_use_id": "q",
           "tool_input": {"questions": [{"question": "Which database?", "options": []}]}})
}

fn plan() -> Value {
    json!({"tool_name": "ExitPlanMode", "tool_use_id": "p", "tool_input": {"plan": "1. do it"}})
}

fn elicitation() -> Value {
    json!({"mcp_server_name": "jira", "message": "Which project?"})
}

fn explore(payload: Value) -> Value {
    with_fields(payload, json!({"agent_id": "x", "agent_type": "Explore"}))
}

fn running(kinds: &[&str]) -> Value {
    let entries = kinds.iter().map(|kind| json!({"type": kind, "status": "running"}));
    json!({"background_tasks": entries.collect::<Vec<_>>()})
}

fn with_fields(payload: Value, more: Value) -> Value {
    let mut fields = object(payload);
    fields.extend(object(more));
    fields.into()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
