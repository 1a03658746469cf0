//! Moves the assignment of a session by the state of the session after each event: its needs, its turn and its end. Hooks
//! are named only where they are the fact: a prompt, and the first sign of work.

use super::agent::{Activity, AgentState, IdleReason};
use super::assignment_tracker::SessionAssignment;
use super::event_order::is_sign_of_work;
use super::ledger::Need;
use super::shown::Trigger;
use super::state::Session;
use crate::approval::resolution::NeedKind;
use crate::assignment::intent::{DetectedIntent, Intent, detect};
use crate::assignment::transition::{Actor, AssignmentState, Completion};
use crate::assignment::{Assignment, AssignmentMessage, AwaitReason, Opening};
use crate::limits::ASSIGNMENT_MESSAGE_CHARS_MAX;
use crate::log::event::{EndReason, Event, EventKind};
use crate::rules::Rule;
use crate::text::lines;
use crate::time::Timestamp;
use crate::wire::registry::ClientStatus;

/// What is known before an event is applied, and would be lost by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct BeforeAssignment {
    prompts: u32,
    /// No prompt of the event's turn was seen.
    turn_is_unknown: bool,
}

impl Session {
    pub fn assignment(&self) -> Option<&Assignment> {
        self.tracker.current()
    }

    /// The newest assignment, with what the store keeps of its session.
    pub fn session_assignment(&self) -> Option<SessionAssignment> {
        Some(SessionAssignment {
            session_id: self.id.clone(),
            seat: self.seat.name.clone().map(String::from).or_else(|| self.seat.pane.clone()),
            host: if self.seat.host.is_this() { self.host.clone() } else { self.seat.host.clone() },
            project: self.project.clone(),
            assignment: self.assignment()?.clone(),
        })
    }

    pub(super) fn before_assignment(&self, event: &Event) -> BeforeAssignment {
        let id = event.facts.prompt_id.as_deref();
        let turn = &self.turn;
        let turn_is_unknown = match id {
            Some(_) => {
                turn.prompt_id.as_deref() != id
                    && turn.first_prompt_id.as_deref() != id
                    && !turn.has_ended(id)
            }
            None => turn.count == 0 && self.tracker.current.is_none(),
        };
        BeforeAssignment { prompts: self.turn.count, turn_is_unknown }
    }

    /// Follows the session after an event.
    pub(super) fn follow_event(&mut self, event: &Event, before: BeforeAssignment) {
        match &event.kind {
            EventKind::Prompted { text, .. } if self.turn.count > before.prompts => {
                self.take_command(text, event);
            }
            kind if before.turn_is_unknown && event.agent_id.is_none() && is_tool_activity(kind) => {
                self.infer_command(event);
            }
            _ if self.main.rule == Rule::WokeItself && self.main.moved_by == event.seq => {
                self.note_client_notice(event)
            }
            _ => {}
        }
        if self.tracker.state() == Some(AssignmentState::Commanded) && self.shows_work(event) {
            self.tracker.step(Actor::Agent, Intent::Progress, event.fired_at);
        }
        if let (EventKind::Stopped { .. }, None) = (&event.kind, &event.agent_id)
            && self.main.moved_by == event.seq
        {
            self.take_last_message(event);
        }
        self.follow_state(event.into());
    }

    /// Follows the session after a timer, or after it was left by its process.
    pub(super) fn follow_timer(&mut self) {
        let Self { shown, .. } = self;
        let trigger = Trigger { at: shown.since, source: shown.source, seq: shown.because.seq };
        self.follow_state(trigger);
    }

    /// A person's prompt: a command, or an answer if an assignment is open.
    fn take_command(&mut self, text: &str, event: &Event) {
        let (seq, at) = (event.seq, event.fired_at);
        self.tracker.woken = false;
        let Some(state) = self.tracker.state() else {
            // An assignment begins after the one before it, even if the clocks disagree by a moment.
            let after = self.assignment().and_then(|last| last.completed_at);
            let opening = Opening {
                id: event.id.into(),
                seq,
                at: after.map_or(at, |after| after.max(at)),
                prompt: Some(text.to_owned()),
            };
            self.tracker.begin(opening);
            // A sign of work that the client gave after this prompt may have arrived before it.
            if self.last_activity_at > at && self.shown.state.is_at_work() {
                self.tracker.step(Actor::Agent, Intent::Progress, at);
            }
            return;
        };
        let intent = if state == AssignmentState::Commanded { Intent::Command } else { Intent::Answer };
        let first_of_inferred = self.tracker.open().is_some_and(|open| {
            let in_its_turn = open.reason.is_none_or(AwaitReason::is_need);
            open.inferred && open.title.is_empty() && in_its_turn
        });
        if state != AssignmentState::Commanded {
            self.tracker.step(Actor::User, Intent::Answer, at);
        }
        let Some(open) = self.tracker.change() else { return };
        if first_of_inferred {
            open.set_title(text);
            if at <= open.opened_at {
                open.begin_earlier(at);
            }
        } else {
            open.turns += 1;
        }
        open.add_message(AssignmentMessage::certain(seq, at, Actor::User, intent, text.to_owned()));
    }

    /// Work of a turn whose prompt was not seen: hooks were installed meanwhile.
    fn infer_command(&mut self, event: &Event) {
        let at_work = self.shown.state.is_at_work() || self.shown.state.is_blocked();
        if at_work && !self.tracker.woken && self.tracker.open().is_none() {
            let opening = Opening { id: event.id.into(), seq: event.seq, at: event.fired_at, prompt: None };
            self.tracker.begin(opening);
        }
    }

    /// A notice of the client is no command and no answer.
    fn note_client_notice(&mut self, event: &Event) {
        self.tracker.woken = true;
        if self.tracker.state() == Some(AssignmentState::AwaitingInput) {
            self.tracker.step(Actor::Agent, Intent::Progress, event.fired_at);
        }
    }

    /// Whether the event is a sign of work on the command.
    fn shows_work(&self, event: &Event) -> bool {
        let opened_at = self.tracker.open().map(|open| open.opened_at);
        match &event.kind {
            EventKind::RegistryReported(word) => {
                word.status == ClientStatus::Busy && Some(word.status_at) >= opened_at
            }
            EventKind::TranscriptGrew | EventKind::SubagentStarted => true,
            kind => event.agent_id.is_none() && is_sign_of_work(kind),
        }
    }

    /// The message that ended a turn. In an assignment that waits already it asks again, or says that the work is done.
    fn take_last_message(&mut self, event: &Event) {
        let (seq, at) = (event.seq, event.fired_at);
        let waits =
            self.tracker.state() == Some(AssignmentState::AwaitingInput) && !self.tracker.waits_for_a_need();
        let changed_files = self.turn.changed_files();
        let found = event.intent.as_deref().map(|intent| intent.for_turn(changed_files));
        if waits {
            let intent = found.map_or(Intent::Progress, |found| found.intent);
            self.tracker.step(Actor::Agent, intent, at);
        }
        let Some(found) = found else { return };
        let text = event.last_message.as_deref().unwrap_or_default().to_owned();
        if waits && self.tracker.open().is_none() {
            // The step has just completed it.
            return self.close_with(found, seq, at, text);
        }
        if let Some(open) = self.tracker.change() {
            open.add_message(AssignmentMessage::of_agent(seq, at, found, text));
            open.last_intent = Some(found.clone());
        }
    }

    fn close_with(&mut self, found: &DetectedIntent, seq: u64, at: Timestamp, text: String) {
        if let Some(current) = self.tracker.current.as_deref_mut() {
            current.add_message(AssignmentMessage::of_agent(seq, at, found, text));
            current.last_intent = Some(found.clone());
        }
    }

    /// Brings the open assignment in line with the state of the session.
    fn follow_state(&mut self, trigger: Trigger) {
        if self.tracker.open().is_none() {
            if matches!(self.shown.state, AgentState::Idle(_)) {
                self.tracker.woken = false;
            }
            return;
        }
        match &self.shown.state {
            AgentState::Ended(reason) => self.force(outcome_of(reason), trigger.at),
            AgentState::Blocked(need) => self.await_need(&need.clone(), trigger),
            // A compaction says nothing about the work.
            AgentState::Working(Activity::Compacting) => {}
            AgentState::Working(_) => self.goes_on(trigger),
            AgentState::Idle(reason) => self.note_idle(&reason.clone(), trigger),
        }
    }

    fn force(&mut self, outcome: Completion, at: Timestamp) {
        if let Some(open) = self.tracker.change() {
            open.end(outcome, at);
        }
    }

    fn await_need(&mut self, need: &Need, trigger: Trigger) {
        let asked = Some((need.kind, need.opened_at));
        let reason = reason_of(need.kind);
        if self.tracker.asked == asked && self.tracker.waits_for_a_need() {
            return;
        }
        self.tracker.asked = asked;
        let text = lines(&need.label(), ASSIGNMENT_MESSAGE_CHARS_MAX);
        if let Some(open) = self.tracker.change() {
            // From every open state the agent may ask, and an assignment that waits only changes its reason.
            let _ = open.await_input(reason, need.opened_at);
            open.add_message(AssignmentMessage::certain(
                trigger.seq,
                need.opened_at,
                Actor::Agent,
                Intent::Question,
                text,
            ));
        }
    }

    /// No need is open any more, however it was closed.
    fn answer_need(&mut self, trigger: Trigger) {
        if !self.tracker.waits_for_a_need() {
            return;
        }
        self.tracker.asked = None;
        self.tracker.step(Actor::User, Intent::Answer, trigger.at);
        let how = self.all_asks().filter_map(|ask| ask.resolution.as_ref()).find(|r| r.seq == trigger.seq);
        let Some(text) = how.map(|resolution| resolution.how.in_words().to_owned()) else { return };
        if let Some(open) = self.tracker.change() {
            open.add_message(AssignmentMessage::certain(
                trigger.seq,
                trigger.at,
                Actor::User,
                Intent::Answer,
                text,
            ));
        }
    }

    fn goes_on(&mut self, trigger: Trigger) {
        self.answer_need(trigger);
        // The session works again, and no notice of the client is the reason: the person answered, perhaps without an event.
        if self.tracker.state() == Some(AssignmentState::AwaitingInput) && !self.tracker.woken {
            self.tracker.step(Actor::User, Intent::Answer, trigger.at);
        }
    }

    fn note_idle(&mut self, reason: &IdleReason, trigger: Trigger) {
        if *reason == IdleReason::Fresh {
            // The process began anew. A second process of the session that starts ends nothing.
            if self.main.rule == Rule::Started && self.beside.is_empty() {
                self.force(Completion::Ended, trigger.at);
            }
            return;
        }
        self.answer_need(trigger);
        self.tracker.woken = false;
        match reason {
            IdleReason::Fresh => {}
            IdleReason::TurnEnded | IdleReason::EndedAway => self.end_of_turn(trigger),
            IdleReason::Interrupted { .. } => self.await_prompt(AwaitReason::Interrupted, trigger),
            IdleReason::StoppedByHook { .. } => self.await_prompt(AwaitReason::StoppedByHook, trigger),
            IdleReason::Failed { .. } => self.await_prompt(AwaitReason::Failed, trigger),
        }
    }

    /// The turn is over: what its last message wants decides.
    fn end_of_turn(&mut self, trigger: Trigger) {
        if self.tracker.state() == Some(AssignmentState::AwaitingInput) {
            return;
        }
        let found = self.last_intent().cloned().unwrap_or_else(|| detect(""));
        if let Some(open) = self.tracker.change() {
            open.last_intent = Some(found.clone());
        }
        match found.intent {
            Intent::Question => self.await_prompt(AwaitReason::Asked, trigger),
            Intent::Completion | Intent::EndOfTask => {
                self.tracker.step(Actor::Agent, found.intent, trigger.at);
            }
            // Neither asks nor says that it is done: complete, with the low confidence of its last intent.
            _ => self.tracker.step(Actor::Agent, Intent::Completion, trigger.at),
        }
    }

    fn await_prompt(&mut self, reason: AwaitReason, trigger: Trigger) {
        if self.tracker.open().is_some_and(|open| open.reason == Some(reason)) {
            return;
        }
        if let Some(open) = self.tracker.change() {
            // From every open state the agent may ask, and an assignment that waits only changes its reason.
            let _ = open.await_input(reason, trigger.at);
        }
    }
}

fn is_tool_activity(kind: &EventKind) -> bool {
    use EventKind as K;
    matches!(kind, K::ToolStarted(_) | K::PermissionAsked(_) | K::ToolEnded { .. } | K::BatchEnded(_))
}

fn reason_of(kind: NeedKind) -> AwaitReason {
    match kind {
        NeedKind::Permission => AwaitReason::Permission,
        NeedKind::Question => AwaitReason::Question,
        NeedKind::Elicitation => AwaitReason::Elicitation,
        NeedKind::Plan => AwaitReason::Plan,
    }
}

fn outcome_of(reason: &EndReason) -> Completion {
    match reason {
        EndReason::ProcessDied => Completion::Died,
        _ => Completion::Ended,
    }
}
