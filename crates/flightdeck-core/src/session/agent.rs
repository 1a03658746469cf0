//! The state machine of an agent, main or subagent: the state after each event.
//!
//! The [`Ledger`](super::ledger::Ledger) keeps *facts* (which calls and needs are open) and accepts them in
//! any order. [`next_state`] decides the *state* once the facts are in. `Blocked` is never stored: an agent is blocked exactly
//! while a need is open, and goes back to what it did when the last one closes.

use serde::{Deserialize, Serialize};

use super::ledger::{Ledger, Need};
use crate::log::event::{EndReason, EventKind, Notice, Prompter, StartSource, ToolOutcome};
use crate::rules::{FoldSettings, Rule};

/// What an agent is doing. Each variant holds what is true only in that state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    Idle(IdleReason),
    Working(Activity),
    Blocked(Need),
    Ended(EndReason),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleReason {
    /// No prompt was submitted yet.
    Fresh,
    TurnEnded,
    /// The turn is over, and Flightdeck's hooks were away when it ended.
    EndedAway,
    Interrupted {
        tool: Option<String>,
    },
    /// A hook of the person ended the turn, or blocked its prompt.
    StoppedByHook {
        blocked_prompt: bool,
    },
    Failed {
        cause: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// About a new prompt, or about the result of a tool.
    Thinking {
        after_tool: bool,
    },
    Setup,
    Tool {
        name: String,
        label: String,
    },
    Delegating {
        agent_type: String,
    },
    Compacting,
    /// The turn is over but its background agents are not. With none left, the client is about to read the report of the last one.
    Background {
        agents: u32,
    },
}

use Activity::{Compacting, Delegating, Setup, Thinking, Tool};
use AgentState::{Blocked, Ended, Idle, Working};
use IdleReason::{Failed, Fresh, Interrupted, TurnEnded};

/// What [`next_state`] may read besides the state. The event's own facts are already in the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentContext<'a> {
    pub ledger: &'a Ledger,
    /// Type of the newest subagent still running, if any.
    pub running_child: Option<&'a str>,
    /// The event came from a subagent: it may only start or end delegation.
    pub from_child: bool,
    /// The state before compaction began.
    pub before_compaction: Option<&'a AgentState>,
    /// Whether the prompt was typed ahead: a turn was running when it arrived.
    pub typed_ahead: bool,
    /// Whether the client's queue has prompts that the running turn did not absorb. They start a turn of their own.
    pub queue_goes_on: bool,
    /// Agents that wait for agents of their own. A Stop does not list them.
    pub agents_beside_the_list: u32,
    /// `claude -p`: no prompt is ever shown, so nothing waits for a person.
    pub print_mode: bool,
    pub settings: &'a FoldSettings,
}

/// The state after `kind` and the rule that led to it; `None` if the state stays.
pub(crate) fn next_state(
    state: &AgentState,
    kind: &EventKind,
    around: AgentContext<'_>,
) -> Option<(AgentState, Rule)> {
    use EventKind as K;
    let running_child = around.running_child;
    let (to, rule) = match (state, kind) {
        (_, K::SessionEnded { reason }) => (Ended(reason.clone()), Rule::SaidItEnded),
        // The client restarts its own session after compaction; the turn goes on.
        (_, K::SessionStarted { source: StartSource::Compact, .. }) => return None,
        (_, K::SessionStarted { .. }) => (Idle(Fresh), Rule::Started),
        // Hooks may arrive out of order; a late hook does not bring a session back.
        (Ended(_), _) => return None,

        // A subagent touches its parent only by starting and by being the last to stop.
        // The turn is over: the client waits for the agent, and does not delegate.
        (Working(Activity::Background { .. }), K::SubagentStarted) => return None,
        (Working(_), K::SubagentStarted) => (delegating(running_child?), Rule::SubagentStarted),
        (Working(Delegating { .. }), K::SubagentStopped) => match running_child {
            Some(agent_type) => (delegating(agent_type), Rule::SubagentStopped),
            None => (Working(Thinking { after_tool: true }), Rule::LastSubagentStopped),
        },
        (Working(Activity::Background { agents }), K::SubagentStopped) if *agents > 0 => {
            (Working(Activity::Background { agents: agents - 1 }), Rule::SubagentStopped)
        }
        _ if around.from_child => return None,
        _ => return next_in_turn(state, kind, around),
    };
    Some((to, rule))
}

/// The rows of the main agent while the session lives.
fn next_in_turn(
    state: &AgentState,
    kind: &EventKind,
    around: AgentContext<'_>,
) -> Option<(AgentState, Rule)> {
    use EventKind as K;
    let AgentContext { ledger, settings, .. } = around;
    let (to, rule) = match (state, kind) {
        (_, K::SetupStarted) => (Working(Setup), Rule::SetupRan),
        // The person typed while the turn runs: the client queues the message and the turn continues.
        (_, K::Prompted { by: Prompter::Person, .. }) if around.typed_ahead => return None,
        (_, K::Prompted { by: Prompter::Person, .. }) => {
            (Working(Thinking { after_tool: false }), Rule::Prompted)
        }
        (_, K::Prompted { by: Prompter::Client, .. }) => {
            (Working(Thinking { after_tool: false }), Rule::WokeItself)
        }

        // The ledger did not open this call: its end arrived first, or its turn is over.
        (_, K::ToolStarted(tool)) if !ledger.is_open(tool) => return None,
        (_, K::ToolStarted(tool)) => (using(tool), Rule::ToolStarted),
        (_, K::PermissionAsked(_)) if around.print_mode && !settings.hold_print => return None,
        (_, K::PermissionAsked(tool)) if !ledger.is_asked(tool) => return None,
        (_, K::PermissionAsked(tool)) => (using(tool), Rule::PermissionAsked),
        // Known only from the client's schema: a real Esc fires no hook (capture `esc_tool`).
        (_, K::ToolEnded { outcome: ToolOutcome::Interrupted, tool }) => {
            (Idle(Interrupted { tool: Some(tool.name.clone()) }), Rule::ToolInterrupted)
        }
        (_, K::ToolEnded { outcome: ToolOutcome::Failed { .. }, tool }) if settings.tool_failure_needs_you => {
            (Idle(Failed { cause: tool.name.clone() }), Rule::ToolFailed)
        }
        (_, K::ToolEnded { .. } | K::BatchEnded(_) | K::ElicitationClosed { .. }) => after_tools(ledger),

        (Working(Activity::Background { .. }), K::Notified(Notice::IdlePrompt)) => return None,
        (Working(_), K::Notified(Notice::IdlePrompt)) if !ledger.is_blocked() => {
            (Idle(TurnEnded), Rule::IdleNotice)
        }

        (_, K::Stopped { background, .. }) => after_stop(background.agents + around.agents_beside_the_list, around.queue_goes_on),
        (_, K::StopFailed { cause }) => (Idle(Failed { cause: cause.clone() }), Rule::StopFailed),

        (Working(Compacting), K::CompactionStarted) => return None,
        (_, K::CompactionStarted) => (Working(Compacting), Rule::CompactionStarted),
        (Working(Compacting), K::CompactionEnded) => {
            let before = around.before_compaction.cloned();
            (before.unwrap_or(Working(Thinking { after_tool: false })), Rule::CompactionEnded)
        }

        // Data on the card, or needs that the ledger holds: the activity stays.
        (_, K::SubagentStarted | K::SubagentStopped | K::CompactionEnded | K::ElicitationOpened { .. })
        | (_, K::Notified(_) | K::ModelSwitched { .. } | K::CwdChanged { .. })
        | (_, K::TodoCreated { .. } | K::TodoCompleted { .. } | K::Seen | K::Effort(_) | K::Noted | K::StatusLine(_))
        | (_, K::Parked { .. } | K::Unparked)
        // The registry and the process table have their own rules, in session/registry.rs.
        | (_, K::RegistryReported(_) | K::ProcessGone { .. } | K::TranscriptGrew)
        | (_, K::TurnMarked(_) | K::HooksSeen(_))
        // Answers from Flightdeck have theirs in session/asks.rs.
        | (_, K::Answered { .. } | K::HoldEnded { .. })
        // Start and end have theirs above.
        | (_, K::SessionStarted { .. } | K::SessionEnded { .. }) => return None,
    };
    Some((to, rule))
}

fn using(tool: &crate::log::tool::ToolUse) -> AgentState {
    Working(Tool { name: tool.name.clone(), label: tool.label() })
}

fn delegating(agent_type: &str) -> AgentState {
    Working(Delegating { agent_type: agent_type.to_owned() })
}

/// If another call is open, that call; otherwise Claude reads the result.
fn after_tools(ledger: &Ledger) -> (AgentState, Rule) {
    match ledger.newest_call() {
        Some(tool) => (using(tool), Rule::OtherToolRuns),
        None => (Working(Thinking { after_tool: true }), Rule::ToolEnded),
    }
}

/// The main agent stopped: the next prompt of the queue, the background agents or nothing continues.
fn after_stop(agents: u32, queue_goes_on: bool) -> (AgentState, Rule) {
    match agents {
        // The queued prompts become the next turn, and no hook reports that.
        _ if queue_goes_on => (Working(Thinking { after_tool: false }), Rule::QueueGoesOn),
        // Background shells alone leave the session idle, with a chip.
        0 => (Idle(TurnEnded), Rule::Stopped),
        agents => (Working(Activity::Background { agents }), Rule::StoppedWithAgents),
    }
}

impl AgentState {
    pub fn is_working(&self) -> bool {
        matches!(self, Working(_))
    }
    /// Working on a turn. A compaction and background agents leave the last message as it is.
    pub fn is_at_work(&self) -> bool {
        matches!(self, Working(activity) if !matches!(activity, Compacting | Activity::Background { .. }))
    }
    pub fn is_ended(&self) -> bool {
        matches!(self, Ended(_))
    }
    pub fn is_blocked(&self) -> bool {
        matches!(self, Blocked(_))
    }
}
