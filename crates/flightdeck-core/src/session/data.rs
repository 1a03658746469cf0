//! Data for the card that an event carries besides its effect on the state.

use super::agent::{AgentState, IdleReason};
use super::event_order::EventOrder;
use super::failure::Failure;
use super::seat::replace_if_some;
use super::state::{Parking, Session};
use crate::limits::{SCHEDULED_PROMPTS_MAX, TODOS_MAX};
use crate::log::event::{Background, Event, EventKind, Notice, Prompter, StartSource, ToolOutcome};
use crate::log::todo::Todo;
use crate::log::tool::ToolUse;
use crate::time::{Millis, Timestamp};
use crate::usage::status_line::NewestStatusLine;
use crate::wire::status_line::StatusLineData;

impl Session {
    /// Takes data for the card, also from late events.
    pub(super) fn take_data(&mut self, event: &Event, order: EventOrder) {
        let at = event.fired_at;
        let of_main = !order.late && event.agent_id.is_none();
        if !order.late && self.goes_on_with(event) {
            self.reopen_turn(event);
        }
        match &event.kind {
            EventKind::SessionStarted { source, model } => {
                self.take_start(*source, model.as_ref(), event, order)
            }
            EventKind::Prompted { text, by } if event.agent_id.is_none() => {
                self.take_prompt(event, text, *by, order)
            }
            EventKind::ToolEnded { tool, outcome } => {
                if of_main {
                    self.turn.absorbs_at = self.turn.absorbs_at.max(at);
                }
                self.take_result(tool, outcome, event);
            }
            EventKind::Stopped { .. } if of_main => self.take_stop(event),
            EventKind::StopFailed { cause } if of_main => {
                self.turn.stopped = Some(IdleReason::Failed { cause: cause.clone() });
                self.main.away_since = None;
                self.end_turn(at);
            }
            EventKind::BatchEnded(_) if of_main => {
                self.turn.absorbs_at = self.turn.absorbs_at.max(at);
                self.turn.empty_queue(at);
            }
            EventKind::Notified(Notice::IdlePrompt) if self.rests_because_of(event) => self.end_turn(at),
            EventKind::SessionEnded { .. } if !order.late => {
                self.end_turn(at);
                self.ended_at = Some(at);
                self.background = Background::default();
            }
            _ => self.take_data_beside_turns(event),
        }
    }

    /// The session starts, or starts again.
    fn take_start(&mut self, source: StartSource, model: Option<&String>, event: &Event, order: EventOrder) {
        if let Some(model) = model {
            self.model = Some(model.clone());
            self.model_at = event.fired_at;
        }
        if order.late || source == StartSource::Compact {
            return;
        }
        self.agent_type.clone_from(&event.facts.agent_type);
        self.began_at = event.fired_at;
        self.ended_at = None;
        self.replaced_by = None;
        self.background = Background::default();
        self.last_failure = None;
        self.turn.empty_queue(event.fired_at);
        self.main.away_since = None;
    }

    /// The result of a call. The first of these facts that it has is kept.
    fn take_result(&mut self, tool: &ToolUse, outcome: &ToolOutcome, event: &Event) {
        let at = event.fired_at;
        let scheduled =
            event.facts.scheduled_prompt.filter(|_| self.main.scheduled.len() < SCHEDULED_PROMPTS_MAX);
        match (scheduled, &event.facts.background_agent, outcome) {
            (Some(prompt), ..) => self.main.scheduled.push(prompt),
            (_, Some(agent), _) => self.launch_in_background(agent, event.agent_id.as_ref()),
            (_, _, ToolOutcome::Ok) if tool.changes_files() => {
                self.turn.changed_files_at = self.turn.changed_files_at.max(Some(at));
            }
            (_, _, ToolOutcome::Failed { error }) => {
                self.note_failure(Failure { tool: tool.name.clone(), error: error.clone(), at });
            }
            (_, _, ToolOutcome::Interrupted) if self.rests_because_of(event) => self.end_turn(at),
            (_, _, ToolOutcome::Ok | ToolOutcome::Interrupted) => {}
        }
    }

    /// Whether the event took the main agent out of its turn. An Esc fires no hook, and after a lost Stop only an interrupted call or
    /// the notice of an idle prompt arrives: the turn's time ends with them.
    fn rests_because_of(&self, event: &Event) -> bool {
        self.main.moved_by == event.seq && matches!(self.main.state, AgentState::Idle(_))
    }

    /// The main agent stopped.
    fn take_stop(&mut self, event: &Event) {
        let EventKind::Stopped { background, shells, said, continued, scheduled, .. } = &event.kind else {
            return;
        };
        self.main.scheduled.clone_from(scheduled);
        if *continued {
            self.reopen_turn(event);
        }
        self.background = *background;
        self.background.agents += self.agents_beside_the_list(&event.kind);
        self.background_shells.clone_from(shells);
        self.intent = event.intent.as_deref().cloned();
        self.last_said.clone_from(said);
        self.said_at = Some(event.fired_at);
        self.stop_data(event.fired_at);
    }

    /// Data that is not about a turn: model, directory, to-dos, and what the person does with the card.
    fn take_data_beside_turns(&mut self, event: &Event) {
        match &event.kind {
            EventKind::ModelSwitched { to } => {
                self.model = Some(to.clone());
                self.model_at = event.fired_at;
            }
            EventKind::CwdChanged { to } => self.cwd = Some(to.clone()),
            EventKind::TodoCreated { id, title } => self.put_todo(id, Some(title), "pending"),
            EventKind::TodoCompleted { id } => self.put_todo(id, None, "completed"),
            EventKind::Seen => self.seen = true,
            // Only a session that waits without blocking can be parked.
            EventKind::Parked { until } if matches!(self.shown.state, AgentState::Idle(_)) => {
                self.parked = Some(Parking { since: event.fired_at, until: *until });
            }
            EventKind::Unparked => self.parked = None,
            _ => {}
        }
    }

    /// The turn ended. With queued prompts, the next one begins at once.
    fn stop_data(&mut self, at: Timestamp) {
        self.main.away_since = None;
        self.turn.stopped = Some(IdleReason::TurnEnded);
        let goes_on = self.turn.goes_on_with_queue();
        self.end_turn(at);
        if goes_on {
            self.turn.unnamed = true;
            self.turn.started_at = self.turn.started_at.max(Some(at));
            self.turn.open = true;
        }
    }

    /// Keeps the failure unless a newer one, or the prompt of a newer turn, is known.
    fn note_failure(&mut self, failure: Failure) {
        let newest = self.last_failure.as_ref().map(|f| f.at).max(self.turn.started_at);
        if newest.is_none_or(|t| t <= failure.at) {
            self.last_failure = Some(failure);
        }
    }

    /// A status line is no sign of life: with a `refreshInterval` it arrives every second, even while the session is idle.
    pub(super) fn take_status_line(&mut self, says: &StatusLineData, event: &Event) {
        let newest = self.status_line.as_ref().is_none_or(|line| line.at <= event.fired_at);
        if !newest && !event.envelope.clock_back {
            return;
        }
        if let Some(model) = &says.model
            && self.model_at <= event.fired_at
        {
            self.model = Some(model.clone());
            self.model_at = event.fired_at;
        }
        replace_if_some(&mut self.transcript_path, event.facts.transcript_path.as_ref());
        self.status_line = Some(NewestStatusLine::new(event.fired_at, says.clone(), event.received_at));
    }

    pub(super) fn take_prompt(&mut self, event: &Event, text: &str, by: Prompter, order: EventOrder) {
        let EventOrder { late, typed_ahead } = order;
        if by == Prompter::Person {
            let id = event.facts.prompt_id.as_deref();
            let of_this_turn = id.is_some() && (id == self.turn.prompt_id.as_deref() || self.turn.unnamed);
            match typed_ahead {
                true if !late && of_this_turn => self.turn.enqueue(event.fired_at),
                false if !late => {
                    self.turn.empty_queue(event.fired_at);
                    self.main.away_since = None;
                }
                _ => {}
            }
            self.turn.count += 1;
            self.turn.unheard_since = None;
            if self.turn.started_at.is_none_or(|t| t <= event.fired_at) {
                self.turn.started_at = Some(event.fired_at);
                self.turn.open = true;
                self.last_user_message = Some(text.to_owned());
                self.last_said = None;
            }
            if self.title.is_none() && !text.is_empty() {
                self.title = Some(text.to_owned());
            }
            self.last_failure.take_if(|f| f.at < event.fired_at);
        } else if !typed_ahead {
            self.turn.woken_at = self.turn.woken_at.max(Some(event.fired_at));
        }
        if event.fired_at >= self.main.changed_at {
            self.turn.stopped = None;
        }
        if event.facts.prompt_id != self.turn.prompt_id
            && !self.turn.has_ended(event.facts.prompt_id.as_deref())
        {
            let is_second_name = typed_ahead && !self.turn.unnamed;
            let old = self.turn.take_name(event.facts.prompt_id.clone());
            self.turn.first_prompt_id = if is_second_name { old.clone() } else { None };
            if !is_second_name {
                self.turn.end_prompt(old);
            }
        }
    }

    pub(super) fn end_turn(&mut self, at: Timestamp) {
        if let Some(start) = self.turn.started_at.max(self.turn.unheard_since)
            && self.turn.open
        {
            self.turn.last = Some(Millis((at - start).0.max(0)));
            self.turn.open = false;
        }
        self.turn.empty_queue(at);
        self.turn.unnamed = false;
        let current = self.turn.prompt_id.clone();
        self.turn.end_prompt(current);
    }

    pub(super) fn put_todo(&mut self, id: &str, title: Option<&str>, status: &str) {
        if let Some(todo) = self.todos.iter_mut().find(|t| t.id == id) {
            // A late "created" does not undo "completed".
            if status != "pending" {
                todo.status = status.to_owned();
            }
            if let Some(title) = title {
                todo.title = title.to_owned();
            }
        } else if self.todos.len() < TODOS_MAX {
            let title = title.unwrap_or_default().to_owned();
            self.todos.push(Todo { id: id.to_owned(), title, status: status.to_owned() });
        }
    }
}
