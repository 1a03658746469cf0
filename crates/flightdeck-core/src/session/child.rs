//! A subagent, and the facts it shares with the main agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::agent::{self, Activity, AgentContext, AgentState};
use super::ledger::{Ledger, Need};
use crate::approval::resolution::NeedKind;
use crate::ids::AgentId;
use crate::log::event::{Event, EventKind, Notice};
use crate::rules::FoldSettings;
use crate::time::Timestamp;

/// A subagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub agent_type: String,
    pub state: AgentState,
    pub ledger: Ledger,
    pub changed_at: Timestamp,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Why it failed: the model's service gave an error.
    #[serde(default)]
    pub failed: Option<String>,
    /// It works in the background: no call waits for it.
    #[serde(default)]
    pub in_background: bool,
    /// The subagent that started it; `None` for the main agent.
    #[serde(default)]
    pub started_by: Option<AgentId>,
}

impl Child {
    pub(super) fn new(agent_type: String, at: Timestamp) -> Self {
        Self {
            agent_type,
            state: AgentState::Working(Activity::Thinking { after_tool: false }),
            ledger: Ledger::default(),
            changed_at: Timestamp::default(),
            started_at: at,
            ended_at: None,
            failed: None,
            in_background: false,
            started_by: None,
        }
    }

    /// A call of this agent launched it, and does not wait for it.
    pub(super) fn launched_by(&mut self, by: Option<AgentId>) {
        self.in_background = true;
        self.started_by = by;
    }

    pub(super) fn runs(&self) -> bool {
        self.ended_at.is_none()
    }

    pub(super) fn end(&mut self, at: Timestamp) {
        self.ledger.clear(at);
        self.ended_at = Some(at);
    }

    /// It stopped while subagents that it started run. The client lets it go on when they have reported to it.
    pub(super) fn wait_for_agents(&mut self, agents: u32, at: Timestamp) {
        self.ledger.clear(at);
        self.state = AgentState::Working(Activity::Background { agents });
        self.changed_at = at;
    }

    pub(super) fn waits_for_agents(&self) -> bool {
        self.runs() && matches!(self.state, AgentState::Working(Activity::Background { .. }))
    }

    pub(super) fn apply(&mut self, event: &Event, print_mode: bool, settings: &FoldSettings) {
        let late = event.envelope.has_fired_at && event.fired_at < self.changed_at;
        self.started_at = self.started_at.min(event.fired_at);
        if let Some(ended) = self.ended_at {
            // A SubagentStop hook may let the subagent go on. A late event from before its end changes nothing.
            let goes_on = match &event.kind {
                EventKind::SubagentStarted => true,
                EventKind::ToolStarted(tool) => !self.ledger.ended_already(tool),
                _ => false,
            };
            if !goes_on || event.fired_at <= ended {
                return;
            }
            self.ended_at = None;
            self.failed = None;
        }
        let agent_type = self.agent_type.clone();
        let has_no_prompt =
            print_mode && !settings.hold_print && matches!(event.kind, EventKind::PermissionAsked(_));
        if !has_no_prompt {
            agent_facts(&mut self.ledger, event, false, Some(&agent_type));
        }
        if late {
            return;
        }
        if event.kind == EventKind::SubagentStarted && self.waits_for_agents() {
            self.state = AgentState::Working(Activity::Thinking { after_tool: false });
            self.changed_at = event.fired_at;
        }
        let around = AgentContext {
            ledger: &self.ledger,
            running_child: None,
            from_child: false,
            before_compaction: None,
            typed_ahead: false,
            queue_goes_on: false,
            agents_beside_the_list: 0,
            print_mode,
            settings,
        };
        if let Some((to, _)) = agent::next_state(&self.state, &event.kind, around)
            && to.is_working()
        {
            self.state = to;
            self.changed_at = event.fired_at;
        }
    }
}

/// Type of the newest subagent still running.
pub(super) fn newest_running(children: &BTreeMap<AgentId, Child>) -> Option<&str> {
    let running = children.values().filter(|c| c.ended_at.is_none());
    running.max_by_key(|c| c.started_at).map(|c| c.agent_type.as_str())
}

/// Applies the facts that the main agent and subagents share. `of_an_ended_turn`: the turn of the event is over.
pub(super) fn agent_facts(
    ledger: &mut Ledger,
    event: &Event,
    of_an_ended_turn: bool,
    agent_type: Option<&str>,
) {
    let at = event.fired_at;
    match &event.kind {
        EventKind::ToolEnded { tool, .. } => ledger.close_call(tool, at),
        EventKind::BatchEnded(calls) => ledger.close_batch(calls, at),
        EventKind::ElicitationClosed { .. } => ledger.close_elicitation(),
        // Nothing is opened for a turn that is over, because nothing would close it.
        _ if of_an_ended_turn => {}
        EventKind::ToolStarted(tool) => ledger.open_call(tool, at, agent_type),
        EventKind::PermissionAsked(tool) => {
            ledger.open_permission(tool, at, agent_type, event.id.into());
        }
        EventKind::ElicitationOpened { message } => {
            let need = Need::without_call(NeedKind::Elicitation, message.clone(), at, agent_type);
            ledger.open_elicitation(Need { ask_id: Some(event.id.into()), ..need });
        }
        EventKind::Notified(Notice::ElicitationDialog { message }) if !ledger.is_blocked() => {
            ledger.open_need(Need::without_call(NeedKind::Elicitation, message.clone(), at, agent_type));
        }
        _ => {}
    }
}
