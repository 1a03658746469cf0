//! Applies one event to a session: first facts, then the state, then data, then what the card shows.

use super::agent::{self, AgentContext};
use super::asks::{closed_by_event, closed_by_registry};
use super::child::{agent_facts, newest_running};
use super::event_order::EventOrder;
use super::ledger::{Ledger, Need};
use super::seat::replace_if_some;
use super::state::Session;
use crate::approval::ask::Ask;
use crate::approval::resolution::{AskOutcome, NeedKind};
use crate::limits::LATE_NOTICE_MAX;
use crate::log::event::{Event, EventKind, Notice, Prompter, StartSource, ToolOutcome};
use crate::log::record::Source;
use crate::rules::FoldSettings;
use crate::time::Timestamp;

impl Session {
    /// Applies one event to the process that it belongs to, and follows the assignment.
    pub fn apply(&mut self, event: &Event, settings: &FoldSettings) {
        let scheduled = self.as_scheduled_prompt(event);
        let event = scheduled.as_ref().unwrap_or(event);
        let before = self.before_assignment(event);
        self.apply_to_its_process(event, settings);
        self.follow_event(event, before);
    }

    fn as_scheduled_prompt(&self, event: &Event) -> Option<Event> {
        let mains = std::iter::once(&self.main).chain(self.beside.iter().map(|process| &process.main));
        if mains.clone().all(|main| main.scheduled.is_empty()) {
            return None;
        }
        event.as_scheduled(|prompt| mains.clone().any(|main| main.scheduled.contains(&prompt)))
    }

    /// The first branch is the usual case: the session has only one process.
    fn apply_to_its_process(&mut self, event: &Event, settings: &FoldSettings) {
        if self.beside.is_empty() && self.is_of_shown(event) {
            self.apply_to_process(event, settings);
        } else {
            self.apply_to_one_of_several(event, settings);
        }
    }

    /// Applies one event to the process that the card shows. [`Session::apply`] chooses the process.
    pub(super) fn apply_to_process(&mut self, event: &Event, settings: &FoldSettings) {
        if event.envelope.clock_back {
            self.reset_clocks(event.fired_at);
        }
        if let EventKind::StatusLine(says) = &event.kind {
            return self.take_status_line(says, event);
        }
        if event.kind == EventKind::TranscriptGrew {
            return self.transcript_grew(event);
        }
        if let EventKind::TurnMarked(mark) = event.kind {
            return self.turn_marked(mark, event);
        }
        self.hooks_are_back(event);
        self.forget_transcript_only_state(event);
        self.take_common_facts(event);
        if self.is_repeated_prompt(event) {
            return;
        }
        let order = EventOrder { late: self.is_late(event), typed_ahead: self.is_typed_ahead(event) };
        let cut_off = !order.late && self.leave_the_turn_before(event);
        let was = self.what_agents_do();
        let refused = self.asks_of_calls(&event.facts.refused_calls);
        let says = match (&event.kind, &event.agent_id) {
            (EventKind::RegistryReported(word), _) => self.take_registry_report(word, event),
            (EventKind::Answered { ask_id, answer }, _) => self.accept_answer(ask_id, answer, event),
            (EventKind::HoldEnded { ask_id, why }, _) => self.ask_gone(ask_id, *why, event),
            (EventKind::ProcessGone { pid, proc_start }, _) => {
                self.process_gone(*pid, proc_start.as_deref(), event)
            }
            (_, None) => self.apply_to_main(event, order, settings),
            (_, Some(agent_id)) => self.apply_to_child(agent_id, event, order, settings),
        };
        if event.source == Source::Hook && event.kind.is_about_state() && !order.late {
            self.main.hooks_reach_us |= event.agent_id.is_none();
            if self.main.moved_by == event.seq || self.what_agents_do() != was {
                self.hook_changed_at = self.hook_changed_at.max(event.fired_at);
            }
        }
        self.take_data(event, order);
        self.open_ask(event);
        let by = match &event.kind {
            EventKind::Answered { answer, .. } => Some(answer.answered_by()),
            _ => None,
        };
        let how = match &event.kind {
            EventKind::RegistryReported(word) => self.outcome_unless_away(closed_by_registry(&word.status)),
            // It began the next turn: the person left the dialog of the turn before with Esc.
            _ if cut_off => AskOutcome::RefusedInTerminal,
            kind => closed_by_event(kind),
        };
        self.close_asks(how, by, event.into());
        self.refuse_asks(&refused);
        if !order.late && event.kind.is_end_from_outside() {
            self.client_was_ended(event.fired_at);
        }
        self.correct_resolution(event);
        self.show(event.into(), says);
    }

    /// Counts of needs, calls and running subagents: shows whether an event changed what an agent does or waits for.
    fn what_agents_do(&self) -> (usize, usize, usize) {
        let ledgers = || std::iter::once(&self.main.ledger).chain(self.children.values().map(|c| &c.ledger));
        let running = self.children.values().filter(|c| c.ended_at.is_none()).count();
        (ledgers().map(|l| l.needs().len()).sum(), ledgers().map(Ledger::open_calls).sum(), running)
    }

    fn reset_clocks(&mut self, at: Timestamp) {
        self.main.changed_at = self.main.changed_at.min(at);
        self.main.guessed_after = None;
        self.hook_changed_at = self.hook_changed_at.min(at);
        self.model_at = self.model_at.min(at);
        self.main.ledger.reset_clock(at);
        for child in self.children.values_mut() {
            child.changed_at = child.changed_at.min(at);
            child.ledger.reset_clock(at);
        }
    }

    /// Records when the session was last active. A repeated registry entry does not count: after a restart the daemon reads all
    /// entries again, with their old times. An entry older than a day has its true time only in `status_at`.
    pub(super) fn record_activity(&mut self, event: &Event) {
        let at = match &event.kind {
            EventKind::RegistryReported(word) if event.envelope.has_fired_at => {
                word.status_at.min(event.fired_at)
            }
            _ => event.fired_at,
        };
        if at > self.last_activity_at || event.envelope.clock_back {
            self.quiet_since = None;
            self.stale = false;
        }
        self.last_activity_at = self.last_activity_at.max(at);
    }

    fn take_common_facts(&mut self, event: &Event) {
        let facts = &event.facts;
        self.started_at = self.started_at.min(event.fired_at);
        // Opening a card, answering an ask and ending a hold do not count as activity of the session.
        if event.source != Source::User && !matches!(event.kind, EventKind::HoldEnded { .. }) {
            self.record_activity(event);
        }
        replace_if_some(&mut self.transcript_path, facts.transcript_path.as_ref());
        replace_if_some(&mut self.entrypoint, event.envelope.entrypoint.as_ref());
        // Without `agent_id` it is the type that `claude --agent` was started with.
        if event.agent_id.is_none() {
            replace_if_some(
                &mut self.agent_type,
                event.facts.agent_type.as_ref().filter(|name| !name.is_empty()),
            );
        }
        // A subagent may have a folder and a permission mode of its own.
        if event.agent_id.is_none() && event.fired_at >= self.main.changed_at {
            replace_if_some(&mut self.cwd, facts.cwd.as_ref());
            replace_if_some(&mut self.permission_mode, facts.permission_mode.as_ref());
            replace_if_some(&mut self.title, facts.session_title.as_ref());
        }
        self.seat.learn_from(event);
        self.project.learn_from(event.envelope.project_dir.as_deref(), facts.cwd.as_deref());
    }

    /// Returns whether the event asserts the state that the main agent is in now.
    fn apply_to_main(&mut self, event: &Event, order: EventOrder, settings: &FoldSettings) -> bool {
        self.main_facts(event, order, settings);
        self.move_main(event, order, settings)
    }

    pub(super) fn move_main(&mut self, event: &Event, order: EventOrder, settings: &FoldSettings) -> bool {
        let around = AgentContext {
            ledger: &self.main.ledger,
            running_child: newest_running(&self.children),
            from_child: event.agent_id.is_some(),
            before_compaction: self.main.before_compaction.as_ref(),
            typed_ahead: order.typed_ahead,
            queue_goes_on: self.turn.goes_on_with_queue(),
            agents_beside_the_list: self.agents_beside_the_list(&event.kind),
            print_mode: self.print_mode(),
            settings,
        };
        // A failed subagent fires no SubagentStop: for its parent the failure is the stop.
        let kind = match &event.kind {
            EventKind::StopFailed { .. } if event.agent_id.is_some() => &EventKind::SubagentStopped,
            kind => kind,
        };
        match agent::next_state(&self.main.state, kind, around) {
            None => false,
            Some((to, _)) if order.late => to == self.main.state,
            Some((to, rule)) => {
                self.main.move_to(to, rule, event.into());
                true
            }
        }
    }

    /// Whether it is a notice of a request whose end is known already: the client sends the notice six seconds after it asked, or
    /// later, and does not name the agent.
    fn is_about_a_resolved_ask(&self, event: &Event) -> bool {
        let ended = |at: Timestamp| at <= event.fired_at && event.fired_at < at + LATE_NOTICE_MAX;
        let of_agent = |ask: &Ask| event.agent_id.is_none() || ask.agent_id == event.agent_id;
        event.kind == EventKind::Notified(Notice::PermissionNeeded)
            && self
                .asks
                .iter()
                .any(|ask| of_agent(ask) && ask.resolution.as_ref().is_some_and(|r| ended(r.at)))
    }

    /// Calls and needs of the main agent. They apply in any order.
    fn main_facts(&mut self, event: &Event, order: EventOrder, settings: &FoldSettings) {
        let EventOrder { late, typed_ahead } = order;
        let at = event.fired_at;
        let print_mode = self.print_mode();
        let child_blocked = self.children.values().any(|c| c.ledger.is_blocked());
        let child_runs = newest_running(&self.children).is_some();
        let of_an_ended_turn = late && (!event.envelope.has_fired_at || self.trails_its_turn(event));
        // A slow hook may have a later timestamp than the end of its own turn. That end clears its call too.
        let ended_at = at.max(self.hook_changed_at);
        let notices_count = !self.turn.tools_reported && self.main.state.is_working();
        if let EventKind::Stopped { agents: Some(listed), .. } = &event.kind
            && !late
        {
            self.end_unlisted_agents(listed, event);
        }
        let is_stale_notice = self.is_about_a_resolved_ask(event);
        let ledger = &mut self.main.ledger;
        match &event.kind {
            EventKind::SessionStarted { source: StartSource::Compact, .. } => {}
            EventKind::SessionStarted { .. } if !late => {
                self.turn.tools_reported = false;
                ledger.clear(at);
                self.children.clear();
                self.main.launched.clear();
                self.main.before_compaction = None;
            }
            // A message that was typed ahead does not close running calls. Any other prompt of a person closes all calls and needs.
            EventKind::Prompted { by: Prompter::Person, .. } if !late && !typed_ahead => {
                self.turn.tools_reported = false;
                ledger.clear(at);
            }
            EventKind::Stopped { .. } | EventKind::StopFailed { .. } if !late => ledger.clear(ended_at),
            EventKind::ToolEnded { outcome: ToolOutcome::Interrupted, .. } if !late => ledger.clear(at),
            EventKind::SessionEnded { .. } if !late => {
                ledger.clear(at);
                self.end_children(at);
            }
            EventKind::Notified(Notice::PermissionNeeded) if is_stale_notice => {}
            EventKind::Notified(Notice::PermissionNeeded) if !late => {
                let may_wait = ledger.has_open_call() || child_runs || notices_count;
                if !ledger.is_blocked() && may_wait && !child_blocked {
                    ledger.open_need(Need::without_call(NeedKind::Permission, String::new(), at, None));
                }
            }
            EventKind::PermissionAsked(_) if print_mode && !settings.hold_print => {}
            _ => agent_facts(ledger, event, of_an_ended_turn, None),
        }
        let reports_tools = matches!(event.kind, EventKind::ToolStarted(_) | EventKind::PermissionAsked(_));
        self.turn.tools_reported |= reports_tools && !late;
    }
}
