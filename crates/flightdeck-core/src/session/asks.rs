//! The asks of a session: opened with a need, closed with it, and what our own answers do.

use super::registry::RegistryView;
use super::{Cause, Session};
use crate::agent::{Activity, AgentState, IdleReason};
use crate::ask::answer::Answer;
use crate::ask::{Ask, By, Gone, How, PastAsk, Resolution};
use crate::event::{Event, EventKind, Outcome};
use crate::ledger::{Ledger, Need};
use crate::limits::{ASK_STAYS, ASKS_MAX, PAST_ASKS_MAX, RULE_NAME_CHARS_MAX};
use crate::rules::Rule;
use crate::text::one_line;
use crate::time::{Millis, Timestamp};
use crate::tool::ToolUse;
use crate::wire::registry::Status;

impl Session {
    pub fn open_asks(&self) -> impl Iterator<Item = &Ask> {
        self.asks.iter().filter(|ask| ask.is_open())
    }

    /// Where the event raised a need: a request that came too late, or in print mode, asks nobody.
    pub(super) fn open_ask(&mut self, event: &Event) {
        let Some(asked) = &event.asks else { return };
        let id = event.id.to_string();
        let Some(kind) = self.need_of(&id).map(|need| need.kind) else { return };
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
            call_id: None,
            taken: false,
        });
    }

    /// Whatever closed a need closed its ask; who did is known where it was done from here.
    pub(super) fn close_asks(&mut self, how: How, by: Option<By>, cause: Cause) {
        if !self.asks.iter().any(Ask::is_undecided) {
            return;
        }
        let waiting: Vec<String> =
            self.ledgers().flat_map(Ledger::needs).filter_map(|n| n.ask_id.clone()).collect();
        for ask in self.asks.iter_mut().filter(|ask| ask.is_undecided() && !waiting.contains(&ask.id)) {
            // One that nobody could answer here leaves the card when it would have left it.
            let at = ask.resolution.as_ref().map_or(cause.at.max(ask.opened_at), |r| r.at);
            ask.resolution =
                Some(Resolution { how, by: by.or(how.by_terminal()), at, seq: cause.seq, rule: None });
        }
    }

    /// A person's answer. The first one wins: an ask that has ended is left as it is.
    pub(super) fn answered(&mut self, ask_id: &str, answer: &Answer, event: &Event) -> bool {
        let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == ask_id && ask.is_open()) else {
            return false;
        };
        let how = answer.how(ask.kind);
        let (at, by) = (event.fired_at, answer.by());
        let idle_since = self.registry.as_ref().filter(|word| word.status == Status::Idle);
        if ask.agent_id.is_none() && idle_since.is_some_and(|word| word.status_at > ask.opened_at) {
            // The person left in the terminal a moment ago; that word moves the session once it has settled.
            ask.was_decided_in_terminal(How::RefusedInTerminal, at, event.seq);
            return false;
        }
        let rule = answer.rule.as_deref().map(|rule| one_line(rule, RULE_NAME_CHARS_MAX));
        ask.resolution = Some(Resolution { how, by: Some(by), at, seq: event.seq, rule });
        let agent_id = ask.agent_id.clone();
        let Some(need) = self.take_need(ask_id) else { return false };
        if let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == ask_id) {
            ask.call_id = need.call_id.clone();
        }
        let goes_on = matches!(how, How::Allowed | How::Answered | How::Approved | How::Accepted);
        if let Some(ledger) = self.ledger_of(agent_id.as_deref()) {
            ledger.answered(&need, goes_on, at);
        }
        // A word of the registry from before the answer is about the prompt that is gone.
        self.hook_changed_at = self.hook_changed_at.max(at);
        if agent_id.is_some() {
            return false;
        }
        let tool = need.tool.as_ref();
        let (to, rule) = match (how, tool) {
            (How::DeniedAndInterrupted, _) => {
                self.main.ledger.clear(at);
                self.end_turn(at);
                (interrupted(tool.map(|t| t.name.clone())), Rule::RefusedHere)
            }
            (_, Some(tool)) if goes_on => (
                AgentState::Working(Activity::Tool { name: tool.name.clone(), label: tool.label() }),
                if by == By::Policy { Rule::AllowedByPolicy } else { Rule::AllowedHere },
            ),
            // A form belongs to whatever call is running.
            _ if goes_on => (self.what_goes_on(), Rule::AllowedHere),
            _ if by == By::Policy => (self.what_goes_on(), Rule::DeniedByPolicy),
            _ => (self.what_goes_on(), Rule::DeniedHere),
        };
        self.main.move_to(to, rule, event.into());
        true
    }

    /// The client does not tell whose answer it took. A call that ran although we refused it was allowed in the terminal.
    pub(super) fn see_whose_answer_it_was(&mut self, event: &Event) {
        let EventKind::ToolEnded { tool: ToolUse { id: Some(id), .. }, outcome } = &event.kind else {
            return;
        };
        if *outcome == Outcome::Interrupted {
            return;
        }
        for ask in self.asks.iter_mut().filter(|ask| ask.call_id.as_ref() == Some(id) && !ask.taken) {
            ask.taken = true;
            if ask.resolution.as_ref().is_some_and(|r| r.how.is_our_refusal()) {
                ask.was_decided_in_terminal(How::AnsweredInTerminal, event.fired_at, event.seq);
            }
        }
    }

    /// The client is idle and was never busy since our answer: the person had refused in the terminal.
    pub(super) fn was_refused_before_our_answer(&mut self, view: &RegistryView) {
        let in_vain = |ask: &&mut Ask| {
            ask.is_unproven() && ask.resolution.as_ref().is_some_and(|r| view.busy_at <= r.at)
        };
        for ask in self.asks.iter_mut().filter(in_vain) {
            ask.was_decided_in_terminal(How::RefusedInTerminal, view.status_at, view.seq);
        }
    }

    /// An idle word from between a request and our answer to it, with no hook since: older than the answer, and yet it counts.
    pub(super) fn is_refusal_before_our_answer(&self, view: &RegistryView) -> bool {
        view.status == Status::Idle
            && self.asks.iter().filter(|ask| ask.is_unproven()).any(|ask| {
                let answered_at = ask.resolution.as_ref().map(|r| r.at);
                ask.opened_at < view.status_at
                    && answered_at.is_some_and(|at| view.status_at <= at && self.hook_changed_at <= at)
            })
    }

    /// The hook that held an ask is gone.
    pub(super) fn ask_gone(&mut self, ask_id: &str, gone: Gone, event: &Event) -> bool {
        let Some(ask) = self.asks.iter_mut().find(|ask| ask.id == ask_id && ask.is_open()) else {
            return false;
        };
        let (how, at) = (gone.how(), event.fired_at);
        ask.resolution = Some(Resolution { how, by: how.by_terminal(), at, seq: event.seq, rule: None });
        // Timed out or let go by a daemon that ended: the terminal's own prompt is still there.
        if gone != Gone::Closed {
            return false;
        }
        let of_child = ask.agent_id.is_some();
        let Some(need) = self.take_need(ask_id) else { return false };
        self.hook_changed_at = self.hook_changed_at.max(at);
        if of_child {
            return false;
        }
        self.main.ledger.clear(at);
        self.end_turn(at);
        self.main.move_to(interrupted(need.tool.map(|t| t.name)), Rule::RefusedInTerminal, event.into());
        true
    }

    /// Asks that ended a while ago leave the card; how they ended is remembered. Says whether any left.
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

    fn need_of(&self, ask_id: &str) -> Option<&Need> {
        self.ledgers().flat_map(Ledger::needs).find(|n| n.ask_id.as_deref() == Some(ask_id))
    }

    fn take_need(&mut self, ask_id: &str) -> Option<Need> {
        let main = std::iter::once(&mut self.main.ledger);
        main.chain(self.children.values_mut().map(|c| &mut c.ledger)).find_map(|l| l.take_need(ask_id))
    }

    fn ledger_of(&mut self, agent_id: Option<&str>) -> Option<&mut Ledger> {
        match agent_id {
            None => Some(&mut self.main.ledger),
            Some(id) => self.children.get_mut(id).map(|c| &mut c.ledger),
        }
    }

    /// Another call may still run; else Claude reads the refusal.
    fn what_goes_on(&self) -> AgentState {
        AgentState::Working(match self.main.ledger.newest_call() {
            Some(tool) => Activity::Tool { name: tool.name.clone(), label: tool.label() },
            None => Activity::Thinking { after_tool: true },
        })
    }
}

fn interrupted(tool: Option<String>) -> AgentState {
    AgentState::Idle(IdleReason::Interrupted { tool })
}
