//! What an event of a subagent does to a session.

use std::collections::VecDeque;

use super::agent::{Activity, AgentState};
use super::child::Child;
use super::event_order::EventOrder;
use super::state::Session;
use crate::ids::AgentId;
use crate::limits::{CHILDREN_MAX, DISORDER_MAX};
use crate::log::event::{Event, EventKind};
use crate::log::record::Source;
use crate::rules::{FoldSettings, Rule};
use crate::time::{Millis, Timestamp};

impl Session {
    pub(super) fn apply_to_child(
        &mut self,
        agent_id: &AgentId,
        event: &Event,
        order: EventOrder,
        settings: &FoldSettings,
    ) -> bool {
        match &event.kind {
            // The helper of a compaction fails without a start and has no type.
            EventKind::StopFailed { .. } if self.is_helper(agent_id, event) => return false,
            EventKind::StopFailed { cause } if !self.main.state.is_ended() => {
                let failed = Some(cause.clone());
                let child = self.child_for(agent_id, event);
                let ran = child.ended_at.is_none();
                child.failed = failed;
                child.end(child.ended_at.unwrap_or(event.fired_at));
                self.close_asks_of_agent(agent_id, event.into());
                if !ran {
                    return false;
                }
                self.background.agents = self.background.agents.saturating_sub(1);
            }
            EventKind::SubagentStopped => {
                // The helper of a compaction stops without a start and has an empty type.
                if event.facts.agent_type.as_deref().is_some_and(str::is_empty) {
                    return false;
                }
                let own = self.agents_of(agent_id);
                let Some(child) = self.children.get_mut(agent_id) else {
                    self.remember_stopped(agent_id, event.fired_at);
                    return false;
                };
                if child.ended_at.is_some() {
                    return false;
                }
                if own > 0 {
                    child.wait_for_agents(own, event.fired_at);
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
                    // The stop of the subagent arrived before this event: the subagent is already done.
                    child.started_at = child.started_at.min(event.fired_at);
                    child.end(stopped);
                    return false;
                }
                child.apply(event, print_mode, settings);
                if event.kind == EventKind::SubagentStarted && !order.late {
                    self.wait_for_running_agents(event);
                } else if child.ledger.is_blocked() {
                    // The registry reported the same dialog first, without saying whose it is.
                    self.main.ledger.close_needs_of(Source::Registry);
                }
            }
        }
        self.move_main(event, order, settings)
    }

    /// Whether the agent is one that the client uses for itself.
    fn is_helper(&self, agent_id: &AgentId, event: &Event) -> bool {
        event.facts.agent_type.as_deref().is_none_or(str::is_empty) && !self.children.contains_key(agent_id)
    }

    /// A subagent started another one after the turn of the main agent: the client waits for both.
    fn wait_for_running_agents(&mut self, event: &Event) {
        let AgentState::Working(Activity::Background { agents }) = self.main.state else { return };
        let running = self.children.values().filter(|child| child.runs()).count() as u32;
        if running > agents {
            self.background.agents = running;
            let waits = AgentState::Working(Activity::Background { agents: running });
            self.main.move_to(waits, Rule::StoppedWithAgents, event.into());
        }
    }

    /// A call launched a subagent, and does not wait for it. The start of the subagent may arrive after the end of that call.
    pub(super) fn launch_in_background(&mut self, agent_id: &AgentId, by: Option<&AgentId>) {
        if let Some(child) = self.children.get_mut(agent_id) {
            child.launched_by(by.cloned());
            return;
        }
        // Two hooks may report the same call.
        if self.main.launched.iter().any(|(id, _)| id == agent_id) {
            return;
        }
        if self.main.launched.len() == CHILDREN_MAX {
            self.main.launched.pop_front();
        }
        self.main.launched.push_back((agent_id.clone(), by.cloned()));
    }

    /// How many subagents run that this one started.
    fn agents_of(&self, agent_id: &AgentId) -> u32 {
        let is_own = |child: &&Child| child.runs() && child.started_by.as_ref() == Some(agent_id);
        let launched = self.main.launched.iter().filter(|(_, by)| by.as_ref() == Some(agent_id));
        (self.children.values().filter(is_own).count() + launched.count()) as u32
    }

    pub(super) fn has_running_agent(&self) -> bool {
        self.children.values().any(Child::runs)
    }

    /// The turn was cut off: the subagents that its open calls wait for end with it, and no hook says so. A call does not name its
    /// subagent, which starts just after it.
    pub(super) fn end_awaited_agents(&mut self, at: Timestamp) {
        let mut calls: VecDeque<Timestamp> = self.main.ledger.agent_calls().collect();
        while let Some(called_at) = calls.pop_front() {
            let awaited = self.children.values_mut().filter(|child| {
                child.runs() && !child.in_background && called_at <= child.started_at + DISORDER_MAX
            });
            let Some(child) = awaited.min_by_key(|child| child.started_at) else { continue };
            // A subagent may wait for subagents of its own.
            calls.extend(child.ledger.agent_calls());
            child.end(at);
        }
    }

    /// The client lists the subagents that run at the end of a turn. The person stopped the others, and no hook says so.
    pub(super) fn end_unlisted_agents(&mut self, listed: &[AgentId], event: &Event) {
        let at = event.fired_at;
        let is_gone = |id: &AgentId, child: &Child| {
            child.runs() && child.started_at < at && !listed.contains(id) && !self.waits_unlisted(id, listed)
        };
        let gone: Vec<AgentId> =
            self.children.iter().filter(|(id, child)| is_gone(id, child)).map(|(id, _)| id.clone()).collect();
        for id in gone {
            if let Some(child) = self.children.get_mut(&id) {
                child.end(at);
            }
            self.close_asks_of_agent(&id, event.into());
        }
    }

    /// Whether the agent ended its turn and waits for agents of its own that run. The client does not list such an agent, although
    /// its screen counts it.
    fn waits_unlisted(&self, id: &AgentId, listed: &[AgentId]) -> bool {
        let works_for_it =
            |other: &AgentId| self.children.get(other).is_some_and(Child::runs) && self.works_for(other, id);
        self.children.get(id).is_some_and(Child::waits_for_agents)
            && !listed.contains(id)
            && listed.iter().any(works_for_it)
    }

    /// Whether this agent was started by the other one, or by an agent that works for the other one.
    fn works_for(&self, agent: &AgentId, other: &AgentId) -> bool {
        let starter = |id: &AgentId| self.children.get(id).and_then(|child| child.started_by.as_ref());
        std::iter::successors(starter(agent), |id| starter(id))
            .take(self.children.len())
            .any(|id| id == other)
    }

    /// How many agents run beside those that this Stop lists.
    pub(super) fn agents_beside_the_list(&self, kind: &EventKind) -> u32 {
        let EventKind::Stopped { agents: Some(listed), .. } = kind else { return 0 };
        self.children.keys().filter(|id| self.waits_unlisted(id, listed)).count() as u32
    }

    /// A stop may arrive before its own start. The late start must not leave a subagent running.
    pub(super) fn remember_stopped(&mut self, agent_id: &AgentId, at: Timestamp) {
        if self.stopped_agents.len() == CHILDREN_MAX {
            self.stopped_agents.pop_front();
        }
        self.stopped_agents.push_back((agent_id.clone(), at));
    }

    pub(super) fn stopped_before(&self, agent_id: &AgentId, event: &Event) -> Option<Timestamp> {
        let slack = if event.envelope.has_fired_at { Millis(0) } else { DISORDER_MAX };
        let stop =
            self.stopped_agents.iter().find(|(id, at)| id == agent_id && event.fired_at <= *at + slack);
        stop.map(|(_, at)| *at)
    }

    pub(super) fn child_for(&mut self, agent_id: &AgentId, event: &Event) -> &mut Child {
        if !self.children.contains_key(agent_id) {
            self.make_room_for_child();
        }
        let agent_type =
            event.facts.agent_type.clone().filter(|t| !t.is_empty()).unwrap_or_else(|| "agent".to_owned());
        let launched = self.main.launched.iter().position(|(id, _)| id == agent_id);
        let launched = launched.and_then(|place| self.main.launched.remove(place));
        let child =
            self.children.entry(agent_id.clone()).or_insert_with(|| Child::new(agent_type, event.fired_at));
        if let Some((_, by)) = launched {
            child.launched_by(by);
        }
        child
    }

    /// Removes the subagent that finished first; if all run, the subagent that started first.
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
