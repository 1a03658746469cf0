//! The asks of a session: opened and closed with their need, and the effect of answers from Flightdeck.

use super::agent::{Activity, AgentState, IdleReason};
use super::ledger::{Ledger, Need};
use super::registry_view::RegistryView;
use super::shown::Trigger;
use super::state::Session;
use crate::approval::answer::Answer;
use crate::approval::ask::{Ask, PastAsk};
use crate::approval::resolution::{AnsweredBy, AskOutcome, HoldEnd, Resolution};
use crate::ids::{AgentId, AskId};
use crate::limits::{
    ASK_STAYS, ASKS_MAX, DISORDER_MAX, PAST_ASKS_MAX, REFUSAL_CHARS_MAX, RULE_NAME_CHARS_MAX,
};
use crate::log::event::{Event, EventKind, ToolOutcome};
use crate::log::tool::ToolUse;
use crate::rules::Rule;
use crate::text::{lines, one_line};
use crate::time::{Millis, Timestamp};
use crate::wire::registry::ClientStatus;

impl Session {
    /// The open asks of every process.
    pub fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.all_asks().filter(|ask| ask.is_open())
    }

    /// Opens an ask if the event opened a need. A late request, or a request in print mode, opens none.
    pub(super) fn open_ask(&mut self, event: &Event) {
        let Some(asked) = &event.asks else { return };
        let id = AskId::from(event.id);
        let Some((kind, call_id)) = self.need_of(&id).map(|need| (need.kind, need.call_id.clone())) else {
            return;
        };
        if self.asks.len() == ASKS_MAX {
            let ended = self.asks.iter().position(|ask| !ask.is_open()).unwrap_or(0);
            self.asks.remove(ended);
        }
        self.asks.push(Ask {
            id,
            seq: event.seq,
            agent_id: event.agent_id.clone(),
            kind,
            asked: (**asked).clone(),
            opened_at: event.fired_at,
            expires_at: event.envelope.hold_ms.map(|ms| event.received_at + Millis(i64::from(ms))),
            resolution: None,
            call_id,
            taken: false,
        });
    }

    /// Closes every ask whose need is gone. `by` is known if the answer came from Flightdeck.
    pub(super) fn close_asks(&mut self, how: AskOutcome, by: Option<AnsweredBy>, trigger: Trigger) {
        self.close_asks_if(|_| true, how, by, trigger);
    }

    /// Closes the asks of a subagent which has failed or which the person stopped.
    pub(super) fn close_asks_of_agent(&mut self, agent: &AgentId, trigger: Trigger) {
        let is_its = |ask: &Ask| ask.agent_id.as_ref() == Some(agent);
        self.close_asks_if(is_its, AskOutcome::AgentEnded, None, trigger);
    }

    fn close_asks_if(
        &mut self,
        which: impl Fn(&Ask) -> bool,
        how: AskOutcome,
        by: Option<AnsweredBy>,
        trigger: Trigger,
    ) {
        if !self.asks.iter().any(Ask::is_undecided) {
            return;
        }
        let waiting: Vec<AskId> =
            self.ledgers().flat_map(Ledger::needs).filter_map(|n| n.ask_id.clone()).collect();
        let is_over = |ask: &&mut Ask| ask.is_undecided() && !waiting.contains(&ask.id) && which(ask);
        for ask in self.asks.iter_mut().filter(is_over) {
            // An ask that could only be answered in the terminal keeps its time, and so leaves the card when planned.
            let at = ask.resolution.as_ref().map_or(trigger.at.max(ask.opened_at), |r| r.at);
            ask.resolution = Some(Resolution {
                how,
                by: by.or(how.by_terminal()),
                at,
                seq: trigger.seq,
                rule: None,
                message: None,
            });
        }
    }

    /// The asks that wait, or waited, for these calls.
    pub(super) fn asks_of_calls(&self, calls: &[String]) -> Vec<AskId> {
        if calls.is_empty() {
            return Vec::new();
        }
        let names = |id: &Option<String>| id.as_ref().is_some_and(|id| calls.contains(id));
        let waiting = self.ledgers().flat_map(Ledger::needs).filter(|need| names(&need.call_id));
        let waiting = waiting.filter_map(|need| need.ask_id.clone());
        // The registry may have closed the request a moment before.
        let closed = self.asks.iter().filter(|ask| names(&ask.call_id)).map(|ask| ask.id.clone());
        waiting.chain(closed).collect()
    }

    /// Corrects how these asks ended: the person refused them in the terminal, and the agent goes on.
    pub(super) fn refuse_asks(&mut self, ids: &[AskId]) {
        for ask in self.asks.iter_mut().filter(|ask| ids.contains(&ask.id)) {
            if let Some(resolution) =
                ask.resolution.as_mut().filter(|r| r.how == AskOutcome::AnsweredInTerminal)
            {
                resolution.how = AskOutcome::RefusedInTerminal;
            }
        }
    }

    /// The client died.
    pub(super) fn client_died(&mut self, at: Timestamp) {
        self.ended_with_the_client(at, AskOutcome::ClientDied);
    }

    /// A signal or a closed terminal ended the client.
    pub(super) fn client_was_ended(&mut self, at: Timestamp) {
        self.ended_with_the_client(at, AskOutcome::SessionEnded);
    }

    /// The hook of a request ends with the client, which may need a few seconds for its goodbye. The person refused nothing if the
    /// hook ended a moment before, or if the client never said in its registry that it left the dialog.
    fn ended_with_the_client(&mut self, at: Timestamp, how: AskOutcome) {
        let waits_since =
            self.registry.as_ref().filter(|view| matches!(view.status, ClientStatus::Waiting(_)));
        let waits_since = waits_since.map(|view| view.status_at);
        let with_it = |r: &&mut Resolution| {
            let in_the_dialog = waits_since.is_some_and(|since| since <= r.at) || r.at + DISORDER_MAX >= at;
            r.how == AskOutcome::SessionEnded || (r.how == AskOutcome::RefusedInTerminal && in_the_dialog)
        };
        for ask in &mut self.asks {
            if let Some(resolution) = ask.resolution.as_mut().filter(with_it) {
                resolution.how = how;
                resolution.by = None;
            }
        }
    }

    /// An answer from Flightdeck. The first answer wins: an ask that has ended stays as it is.
    pub(super) fn accept_answer(&mut self, ask_id: &AskId, answer: &Answer, event: &Event) -> bool {
        let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == *ask_id && ask.is_open()) else {
            return false;
        };
        let how = answer.outcome_for(ask.kind);
        let (at, by) = (event.fired_at, answer.answered_by());
        let idle_since = self.registry.as_ref().filter(|word| word.status == ClientStatus::Idle);
        if ask.agent_id.is_none() && idle_since.is_some_and(|word| word.status_at > ask.opened_at) {
            // The person left the prompt in the terminal a moment ago. The registry entry moves the session once it settles.
            ask.was_decided_in_terminal(AskOutcome::RefusedInTerminal, at, event.seq);
            return false;
        }
        let rule = answer.rule.as_deref().map(|rule| one_line(rule, RULE_NAME_CHARS_MAX));
        let message = answer.message.as_deref().map(|said| lines(said, REFUSAL_CHARS_MAX));
        ask.resolution = Some(Resolution { how, by: Some(by), at, seq: event.seq, rule, message });
        let agent_id = ask.agent_id.clone();
        let Some(need) = self.take_need(ask_id) else { return false };
        if let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == *ask_id && need.call_id.is_some()) {
            ask.call_id.clone_from(&need.call_id);
        }
        let goes_on = matches!(
            how,
            AskOutcome::Allowed | AskOutcome::Answered | AskOutcome::Approved | AskOutcome::Accepted
        );
        if let Some(ledger) = self.ledger_of(agent_id.as_deref()) {
            ledger.note_answer(&need, goes_on, at);
        }
        // A registry entry from before the answer is about the prompt that is now closed.
        self.hook_changed_at = self.hook_changed_at.max(at);
        if agent_id.is_some() {
            return false;
        }
        let tool = need.tool.as_ref();
        let (to, rule) = match (how, tool) {
            (AskOutcome::DeniedAndInterrupted, _) => {
                self.main.ledger.clear(at);
                self.end_turn(at);
                (interrupted(tool.map(|t| t.name.clone())), Rule::RefusedHere)
            }
            (_, Some(tool)) if goes_on => (
                AgentState::Working(Activity::Tool { name: tool.name.clone(), label: tool.label() }),
                if by == AnsweredBy::Policy { Rule::AllowedByPolicy } else { Rule::AllowedHere },
            ),
            // A form has no call of its own: it belongs to the running call.
            _ if goes_on => (self.state_after_refusal(), Rule::AllowedHere),
            _ if by == AnsweredBy::Policy => (self.state_after_refusal(), Rule::DeniedByPolicy),
            _ => (self.state_after_refusal(), Rule::DeniedHere),
        };
        self.main.move_to(to, rule, event.into());
        true
    }

    /// The client does not report which answer it used. A call that ran was allowed in the terminal, although Flightdeck refused it, or
    /// although the hooks seemed to be away when its request was closed.
    pub(super) fn correct_resolution(&mut self, event: &Event) {
        let EventKind::ToolEnded { tool: ToolUse { id: Some(id), .. }, outcome } = &event.kind else {
            return;
        };
        if *outcome == ToolOutcome::Interrupted {
            return;
        }
        for ask in self.asks.iter_mut().filter(|ask| ask.call_id.as_ref() == Some(id) && !ask.taken) {
            ask.taken = true;
            let ran_all_the_same =
                |how: AskOutcome| how.is_our_refusal() || how == AskOutcome::ClosedWhileAway;
            if ask.resolution.as_ref().is_some_and(|r| ran_all_the_same(r.how)) {
                ask.was_decided_in_terminal(AskOutcome::AnsweredInTerminal, event.fired_at, event.seq);
            }
        }
    }

    /// The client is idle and was never busy since the answer from Flightdeck: the person had refused in the terminal.
    pub(super) fn was_refused_before_our_answer(&mut self, view: &RegistryView) {
        let in_vain = |ask: &&mut Ask| {
            ask.is_unproven() && ask.resolution.as_ref().is_some_and(|r| view.busy_at <= r.at)
        };
        for ask in self.asks.iter_mut().filter(in_vain) {
            ask.was_decided_in_terminal(AskOutcome::RefusedInTerminal, view.status_at, view.seq);
        }
    }

    /// An idle entry written between a request and its answer, with no hook since. It counts although it is older than the answer.
    pub(super) fn is_refusal_before_our_answer(&self, view: &RegistryView) -> bool {
        view.status == ClientStatus::Idle
            && self.asks.iter().filter(|ask| ask.is_unproven()).any(|ask| {
                let answered_at = ask.resolution.as_ref().map(|r| r.at);
                ask.opened_at < view.status_at
                    && answered_at.is_some_and(|at| view.status_at <= at && self.hook_changed_at <= at)
            })
    }

    /// The held hook of an ask has ended.
    pub(super) fn ask_gone(&mut self, ask_id: &AskId, gone: HoldEnd, event: &Event) -> bool {
        let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == *ask_id && ask.is_open()) else {
            return false;
        };
        let (how, at, opened_at) = (gone.ask_outcome(), event.fired_at, ask.opened_at);
        ask.resolution =
            Some(Resolution { how, by: how.by_terminal(), at, seq: event.seq, rule: None, message: None });
        // After a timeout or a restart of the daemon the terminal still shows its own prompt.
        if gone != HoldEnd::Closed {
            return false;
        }
        let of_child = ask.agent_id.is_some();
        let Some(need) = self.take_need(ask_id) else { return false };
        self.leave_dialog(opened_at);
        if of_child {
            return false;
        }
        if !self.turn.queued.is_empty() || self.is_busy_since(opened_at) {
            self.begin_queued_turn(at);
            self.main.guess(event.into(), Rule::QueueGoesOn);
        } else {
            self.main.ledger.clear(at);
            self.end_turn(at);
            self.main.move_to(interrupted(need.tool.map(|t| t.name)), Rule::RefusedInTerminal, event.into());
        }
        true
    }

    /// The client has left a dialog: its registry entries from before say nothing any more. Its next entry counts, although the end of
    /// the hook is noticed only after it.
    fn leave_dialog(&mut self, opened_at: Timestamp) {
        let waits = self.registry.as_ref().filter(|view| matches!(view.status, ClientStatus::Waiting(_)));
        let until = waits.map_or(opened_at, |view| view.status_at.max(opened_at));
        self.hook_changed_at = self.hook_changed_at.max(until);
    }

    /// Whether the main agent works since the dialog was closed, on a prompt from the queue that no hook reported. A subagent keeps the
    /// client busy too.
    fn is_busy_since(&self, opened_at: Timestamp) -> bool {
        let busy = self.registry.as_ref().filter(|view| view.status == ClientStatus::Busy);
        busy.is_some_and(|view| view.status_at > opened_at) && !self.has_running_agent()
    }

    /// Like [`is_busy_since`](Self::is_busy_since), for a registry entry that is read only after the end of the hook.
    pub(super) fn works_since_refusal(&self, view: &RegistryView) -> bool {
        let in_dialog_before = |ask: &&Ask| {
            let refused = ask.resolution.as_ref().filter(|r| r.how == AskOutcome::RefusedInTerminal);
            let is_next = |at: Timestamp| view.status_at <= at + DISORDER_MAX;
            ask.agent_id.is_none() && ask.opened_at < view.status_at && refused.is_some_and(|r| is_next(r.at))
        };
        self.main.rule == Rule::RefusedInTerminal
            && !self.has_running_agent()
            && self.asks.iter().any(|ask| in_dialog_before(&ask))
    }

    /// Removes asks that ended a while ago from the card and keeps how they ended. Returns whether any was removed.
    pub(crate) fn asks_leave(&mut self, now: Timestamp) -> bool {
        let over = |ask: &Ask| ask.resolution.as_ref().is_some_and(|r| r.at + ASK_STAYS <= now);
        let (leave, stay): (Vec<Ask>, Vec<Ask>) = std::mem::take(&mut self.asks).into_iter().partition(over);
        self.asks = stay;
        let any = !leave.is_empty();
        for Ask { id, seq, kind, opened_at, resolution, .. } in leave {
            if self.past_asks.len() == PAST_ASKS_MAX {
                self.past_asks.pop_front();
            }
            self.past_asks.extend(resolution.map(|resolution| PastAsk {
                id,
                seq,
                kind,
                opened_at,
                resolution,
            }));
        }
        any
    }

    fn ledgers(&self) -> impl Iterator<Item = &Ledger> {
        std::iter::once(&self.main.ledger).chain(self.children.values().map(|c| &c.ledger))
    }

    fn need_of(&self, ask_id: &AskId) -> Option<&Need> {
        self.ledgers().flat_map(Ledger::needs).find(|n| n.ask_id.as_deref() == Some(ask_id))
    }

    fn take_need(&mut self, ask_id: &AskId) -> Option<Need> {
        let main = std::iter::once(&mut self.main.ledger);
        main.chain(self.children.values_mut().map(|c| &mut c.ledger)).find_map(|l| l.take_need(ask_id))
    }

    fn ledger_of(&mut self, agent_id: Option<&str>) -> Option<&mut Ledger> {
        match agent_id {
            None => Some(&mut self.main.ledger),
            Some(id) => self.children.get_mut(id).map(|c| &mut c.ledger),
        }
    }

    /// If another call is open, that call; otherwise Claude reads the refusal.
    fn state_after_refusal(&self) -> AgentState {
        AgentState::Working(match self.main.ledger.newest_call() {
            Some(tool) => Activity::Tool { name: tool.name.clone(), label: tool.label() },
            None => Activity::Thinking { after_tool: true },
        })
    }
}

fn interrupted(tool: Option<String>) -> AgentState {
    AgentState::Idle(IdleReason::Interrupted { tool })
}

/// How an ask ended if an event of this kind closed its need.
pub(super) fn closed_by_event(kind: &EventKind) -> AskOutcome {
    use EventKind as K;
    match kind {
        K::SessionEnded { .. } | K::SessionStarted { .. } | K::ProcessGone { .. } => AskOutcome::SessionEnded,
        // A prompt can be typed only after the dialog is closed, and no call ran.
        K::Prompted { .. }
        | K::ToolEnded { outcome: ToolOutcome::Interrupted, .. }
        | K::ElicitationClosed { refused: true } => AskOutcome::RefusedInTerminal,
        K::RegistryReported(word) => closed_by_registry(&word.status),
        // The turn ended with the refusal of one of its asks, which ended the others too.
        K::HoldEnded { .. } => AskOutcome::RefusedInTerminal,
        K::Answered { .. } => AskOutcome::DeniedAndInterrupted,
        _ => AskOutcome::AnsweredInTerminal,
    }
}

pub(super) fn closed_by_registry(status: &ClientStatus) -> AskOutcome {
    match status {
        ClientStatus::Idle | ClientStatus::Shell => AskOutcome::RefusedInTerminal,
        ClientStatus::Busy | ClientStatus::Waiting(_) => AskOutcome::AnsweredInTerminal,
    }
}
