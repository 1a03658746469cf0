//! A subagent, and the facts it shares with the main agent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Before, Session};
use crate::agent::{self, Activity, AgentState, Around};
use crate::event::{Event, EventKind, Notice};
use crate::ledger::{Ledger, Need, NeedKind};
use crate::limits::{CHILDREN_MAX, DISORDER_MAX};
use crate::rules::Rules;
use crate::time::{Millis, Timestamp};

/// A subagent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Child {
    pub agent_type: String,
    pub state: AgentState,
    pub ledger: Ledger,
    pub changed_at: Timestamp,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
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
        }
    }

    pub(super) fn end(&mut self, at: Timestamp) {
        self.ledger.clear(at);
        self.ended_at = Some(at);
    }

    pub(super) fn apply(&mut self, event: &Event, print_mode: bool, rules: &Rules) {
        let late = event.envelope.has_fired_at && event.fired_at < self.changed_at;
        self.started_at = self.started_at.min(event.fired_at);
        if let Some(ended) = self.ended_at {
            // A SubagentStop hook may send it on; a straggler from before its end changes nothing.
            let goes_on = match &event.kind {
                EventKind::SubagentStarted => true,
                EventKind::ToolStarted(tool) => !self.ledger.ended_already(tool),
                _ => false,
            };
            if !goes_on || event.fired_at <= ended {
                return;
            }
            self.ended_at = None;
        }
        let agent_type = self.agent_type.clone();
        let asks_nobody =
            print_mode && !rules.hold_print && matches!(event.kind, EventKind::PermissionAsked(_));
        if !asks_nobody {
            agent_facts(&mut self.ledger, event, false, Some(&agent_type));
        }
        if late {
            return;
        }
        let around = Around {
            ledger: &self.ledger,
            running_child: None,
            from_child: false,
            before_compaction: None,
            typed_ahead: false,
            print_mode,
            rules,
        };
        if let Some((to, _)) = agent::next(&self.state, &event.kind, around)
            && to.is_working()
        {
            self.state = to;
            self.changed_at = event.fired_at;
        }
    }
}

impl Session {
    pub(super) fn apply_to_child(
        &mut self,
        agent_id: &str,
        event: &Event,
        before: Before,
        rules: &Rules,
    ) -> bool {
        match event.kind {
            EventKind::SubagentStopped => {
                // Compaction's helper stops without ever having started, under an empty type.
                if event.agent_type.as_deref().is_some_and(str::is_empty) {
                    return false;
                }
                let Some(child) = self.children.get_mut(agent_id) else {
                    self.remember_stopped(agent_id, event.fired_at);
                    return false;
                };
                if child.ended_at.is_some() {
                    return false;
                }
                child.end(event.fired_at);
                self.background.agents = self.background.agents.saturating_sub(1);
            }
            _ if self.main.state.is_ended() => return false,
            _ => {
                let print_mode = self.print_mode();
                let stopped = self.stopped_before(agent_id, event);
                let child = self.child_for(agent_id, event);
                if let Some(stopped) = stopped {
                    // It was there, and is done: its stop overtook this.
                    child.started_at = child.started_at.min(event.fired_at);
                    child.end(stopped);
                    return false;
                }
                child.apply(event, print_mode, rules);
            }
        }
        self.move_main(event, before, rules)
    }

    /// A stop may overtake its own start, which then must not leave a subagent running for ever.
    pub(super) fn remember_stopped(&mut self, agent_id: &str, at: Timestamp) {
        if self.stopped_agents.len() == CHILDREN_MAX {
            self.stopped_agents.pop_front();
        }
        self.stopped_agents.push_back((agent_id.to_owned(), at));
    }

    pub(super) fn stopped_before(&self, agent_id: &str, event: &Event) -> Option<Timestamp> {
        let slack = if event.envelope.has_fired_at { Millis(0) } else { DISORDER_MAX };
        let stop =
            self.stopped_agents.iter().find(|(id, at)| id == agent_id && event.fired_at <= *at + slack);
        stop.map(|(_, at)| *at)
    }

    pub(super) fn child_for(&mut self, agent_id: &str, event: &Event) -> &mut Child {
        if !self.children.contains_key(agent_id) {
            self.make_room_for_child();
        }
        let agent_type =
            event.agent_type.clone().filter(|t| !t.is_empty()).unwrap_or_else(|| "agent".to_owned());
        self.children.entry(agent_id.to_owned()).or_insert_with(|| Child::new(agent_type, event.fired_at))
    }

    /// The longest finished goes first; if all run, the longest running.
    pub(super) fn make_room_for_child(&mut self) {
        if self.children.len() < CHILDREN_MAX {
            return;
        }
        let oldest =
            self.children.iter().min_by_key(|(_, c)| (c.ended_at.is_none(), c.ended_at, c.started_at));
        if let Some(id) = oldest.map(|(id, _)| id.clone()) {
            self.children.remove(&id);
        }
    }
}

/// Type of the newest subagent still running.
pub(super) fn newest_running(children: &BTreeMap<String, Child>) -> Option<&str> {
    let running = children.values().filter(|c| c.ended_at.is_none());
    running.max_by_key(|c| c.started_at).map(|c| c.agent_type.as_str())
}

/// Facts that main and subagents share. `of_an_ended_turn`: the event is of a turn that is over.
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
        EventKind::ElicitationClosed => ledger.close_elicitation(),
        // What opens something must not do so for a turn that is over: nothing would ever close it.
        _ if of_an_ended_turn => {}
        EventKind::ToolStarted(tool) => ledger.open_call(tool, at, agent_type),
        EventKind::PermissionAsked(tool) => {
            ledger.open_permission(tool, at, agent_type, event.id.to_string());
        }
        EventKind::ElicitationOpened { message } => {
            let need = Need::loose(NeedKind::Elicitation, message.clone(), at, agent_type);
            ledger.open_elicitation(Need { ask_id: Some(event.id.to_string()), ..need });
        }
        EventKind::Notified(Notice::ElicitationDialog { message }) if !ledger.is_blocked() => {
            ledger.open_need(Need::loose(NeedKind::Elicitation, message.clone(), at, agent_type));
        }
        _ => {}
    }
}
