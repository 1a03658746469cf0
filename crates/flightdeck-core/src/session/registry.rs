//! What the client's registry entry does to a session, and when it counts (decision 0007).
//!
//! Hooks and registry may disagree for a moment. An entry counts if the client wrote it after the last hook that changed
//! something (or within a moment before a call that was reported late, decision 0013), and only once it has been stable for
//! [`SETTLE`]. Both are tested when that timer fires.

use super::agent::{Activity, AgentState, IdleReason};
use super::asks::closed_by_registry;
use super::ledger::Need;
use super::registry_view::RegistryView;
use super::shown::Cause;
use super::state::Session;
use crate::approval::resolution::NeedKind;
use crate::limits::{BUSY_AFTER_STOP, SETTLE};
use crate::log::event::Event;
use crate::log::record::Source;
use crate::rules::Rule;
use crate::time::Timestamp;
use crate::wire::registry::{ClientStatus, RegistryReport, WaitingFor};

impl Session {
    /// Stores an entry. If nothing is known of the session yet it counts at once, because there is nothing it could make
    /// flicker.
    pub(super) fn take_registry_report(&mut self, word: &RegistryReport, event: &Event) -> bool {
        if self.main.state.is_ended() && !self.comes_back(word) {
            return false;
        }
        let began_anew = self.starts_queued_turn(word);
        let view = RegistryView {
            began_anew,
            status: word.status.clone(),
            // A client's clock that is ahead must not make the session's next hooks look late.
            status_at: word.status_at.min(event.received_at),
            heard_at: event.received_at,
            seq: event.seq,
            busy_at: match (&word.status, &self.registry) {
                (ClientStatus::Busy, _) => word.status_at,
                (_, Some(last)) => last.busy_at,
                (_, None) => Timestamp::default(),
            },
        };
        let revived = self.main.state.is_ended();
        if revived {
            self.ended_at = None;
            self.replaced_by = None;
            self.main.move_to(AgentState::Idle(IdleReason::Fresh), Rule::RegistryRevived, cause(&view));
        }
        if view.status == ClientStatus::Busy && self.main.rule == Rule::QueueGoesOn {
            // The next turn has begun: it ends with a Stop of its own, or by Esc.
            self.turn.stopped = None;
        }
        let first = self.registry.replace(view.clone()).is_none();
        if revived || (first && self.main.rule == Rule::Created) {
            self.apply_status(&view);
        }
        self.says_the_same(&view)
    }

    /// Whether the client left a turn since the last entry and went on with its queue: it was idle for a moment, or too
    /// briefly to be read. A repeated entry has the same time.
    fn starts_queued_turn(&self, word: &RegistryReport) -> bool {
        let Some(last) = &self.registry else { return false };
        if word.status != ClientStatus::Busy || word.status_at <= last.status_at {
            return false;
        }
        let idle = matches!(last.status, ClientStatus::Idle | ClientStatus::Shell);
        let since_a_hook = last.status_at > self.hook_changed_at;
        match last.status {
            _ if idle => since_a_hook,
            // Without a queue it may have been a dialog.
            ClientStatus::Busy => !self.turn.queued.is_empty(),
            _ => false,
        }
    }

    fn comes_back(&self, word: &RegistryReport) -> bool {
        self.ended_at.is_some_and(|ended| word.is_life_after(ended))
    }

    pub(super) fn says_the_same(&self, view: &RegistryView) -> bool {
        matches!(
            (&view.status, &self.shown.state),
            (ClientStatus::Busy, AgentState::Working(Activity::Thinking { .. }))
                | (ClientStatus::Idle | ClientStatus::Shell, AgentState::Idle(_))
        )
    }

    /// The settle timer fired: the last entry counts if it is still the last and no hook changed something since.
    pub(crate) fn settle(&mut self, due: Timestamp) {
        let Some(view) = self.registry.clone() else { return };
        let is_older = view.status_at <= self.hook_changed_at
            && !self.is_refusal_before_our_answer(&view)
            && !self.is_before_a_late_call(&view);
        if due < view.heard_at + SETTLE || is_older {
            return;
        }
        let how = self.outcome_unless_away(closed_by_registry(&view.status));
        self.apply_status(&view);
        self.close_asks(how, None, cause(&view));
        self.show(cause(&view), self.says_the_same(&view));
    }

    /// The client writes a prompt for a call, or an Esc at its very end, before the hook of that call reads the clock.
    fn is_before_a_late_call(&self, view: &RegistryView) -> bool {
        match view.status {
            ClientStatus::Idle | ClientStatus::Shell => self.is_trailed_by_a_call(view.status_at),
            // A dialog may be a menu that the person just opened. Missing a real prompt would be worse.
            ClientStatus::Waiting(_) => {
                self.main.rule == Rule::ToolStarted && self.is_of_this_turn_and_moment(view.status_at)
            }
            ClientStatus::Busy => false,
        }
    }

    /// One second after a Stop the client is still busy, and no background agent runs: a Stop hook sent Claude on.
    pub(crate) fn settle_after_stop(&mut self, due: Timestamp) {
        let Some(view) = self.registry.clone() else { return };
        let stopped = self.main.rule == Rule::Stopped && self.main.changed_at + BUSY_AFTER_STOP <= due;
        if stopped
            && view.status == ClientStatus::Busy
            && self.main.state == AgentState::Idle(IdleReason::TurnEnded)
        {
            let cause = Cause { at: due, ..cause(&view) };
            self.main.move_to(thinking(), Rule::RegistryBusyAfterStop, cause);
            self.show(cause, true);
        }
    }

    fn apply_status(&mut self, view: &RegistryView) {
        match view.status {
            ClientStatus::Idle | ClientStatus::Shell => self.client_is_idle(view),
            ClientStatus::Busy => self.client_is_busy(view),
            ClientStatus::Waiting(what) => self.client_waits(what, view),
        }
    }

    fn client_is_idle(&mut self, view: &RegistryView) {
        let shell = view.status == ClientStatus::Shell;
        self.background.shells = if shell { self.background.shells.max(1) } else { 0 };
        let least = self.background.shells_min.max(1);
        self.background.shells_min = if shell { least.min(self.background.shells) } else { 0 };
        self.background.agents = 0;
        if self.foremost_need().is_some_and(|need| need.opened_at < view.busy_at) {
            self.client_is_busy(view);
        }
        let tool = self.main.tool_in_use();
        let waited_for =
            self.foremost_need().map(|need| need.tool.as_ref().map(|t| t.name.clone()).or(tool.clone()));
        // A background agent would keep the client busy.
        self.end_children(view.status_at);
        let unheard = self.ended_unheard(view);
        let reason = match (waited_for, &self.main.state) {
            (Some(_), _) if unheard => IdleReason::EndedAway,
            (Some(tool), _) => IdleReason::Interrupted { tool },
            (None, AgentState::Working(Activity::Background { .. })) => IdleReason::TurnEnded,
            (None, AgentState::Working(_)) if !self.main.hooks_reach_us => {
                if self.is_marked_interrupted(view) {
                    IdleReason::Interrupted { tool: None }
                } else {
                    IdleReason::TurnEnded
                }
            }
            (None, AgentState::Working(activity)) => match (&self.turn.stopped, activity) {
                (Some(how), _) => how.clone(),
                (None, _) if self.print_mode() => {
                    IdleReason::Failed { cause: "ended without an answer".to_owned() }
                }
                (None, _) if unheard => IdleReason::EndedAway,
                (None, Activity::Tool { name, .. }) => IdleReason::Interrupted { tool: Some(name.clone()) },
                (None, _) => IdleReason::Interrupted { tool: None },
            },
            (None, _) => return,
        };
        let rule = match reason {
            IdleReason::Interrupted { .. } => {
                self.was_refused_before_our_answer(view);
                Rule::RegistryInterrupted
            }
            IdleReason::EndedAway => Rule::RegistryIdleAway,
            _ => Rule::RegistryIdle,
        };
        self.main.away_since = None;
        // Includes calls with a later timestamp: the entry counts, so the client wrote it after them.
        self.main.ledger.clear(view.status_at.max(self.hook_changed_at));
        self.end_turn(view.status_at);
        self.main.move_to(AgentState::Idle(reason), rule, cause(view));
    }

    fn client_is_busy(&mut self, view: &RegistryView) {
        let was_at_work = self.main.state.is_working() && self.main.hooks_reach_us;
        if view.began_anew
            && was_at_work
            && (self.main.ledger.has_open_call() || !self.turn.queued.is_empty())
        {
            self.begin_queued_turn(view.status_at);
            self.children.values_mut().for_each(|c| c.ledger.close_needs());
            return self.main.move_to(thinking(), Rule::RegistryNextTurn, cause(view));
        }
        if self.foremost_need().is_some() {
            self.main.ledger.close_needs();
            self.children.values_mut().for_each(|c| c.ledger.close_needs());
            let to = match (&self.main.state, self.main.ledger.newest_call()) {
                (AgentState::Working(Activity::Background { .. }), _) => return,
                (_, Some(tool)) => {
                    AgentState::Working(Activity::Tool { name: tool.name.clone(), label: tool.label() })
                }
                (_, None) => {
                    // No hook reported the call, so no hook may report its end.
                    self.main.hooks_reach_us = false;
                    thinking()
                }
            };
            self.main.move_to(to, Rule::RegistryAnswered, cause(view));
        } else if matches!(self.main.state, AgentState::Idle(_)) {
            self.main.hooks_reach_us = false;
            // A turn that no hook reported: how the last one ended says nothing about it.
            self.turn.stopped = None;
            self.main.guess(cause(view), Rule::RegistryBusy);
        }
    }

    fn client_waits(&mut self, what: WaitingFor, view: &RegistryView) {
        if what == WaitingFor::Dialog {
            // The person may end a background shell in a menu. No hook says so, and the registry counts no shells.
            self.background.shells_min = self.background.shells_min.min(1);
        }
        let using_a_tool = matches!(self.main.state, AgentState::Working(Activity::Tool { .. }));
        let working = self.main.state.is_working();
        let kind = match what {
            WaitingFor::Permission => NeedKind::Permission,
            WaitingFor::Input => NeedKind::Question,
            // A dialog may be a menu that the person opened.
            WaitingFor::Dialog if working && (using_a_tool || !self.main.hooks_reach_us) => {
                NeedKind::Permission
            }
            WaitingFor::Dialog => return,
        };
        match self.foremost_need().map(|need| need.source) {
            // A hook has more detail about what is asked.
            Some(source) if source != Source::Registry => return,
            _ => {}
        }
        self.main.ledger.close_needs_of(Source::Registry);
        let need =
            Need { source: Source::Registry, ..Need::loose(kind, String::new(), view.status_at, None) };
        self.main.ledger.open_need(need);
        if !working {
            self.main.hooks_reach_us = false;
            self.main.guess(cause(view), Rule::RegistryWaiting);
        }
        self.main.changed_at = self.main.changed_at.max(view.status_at);
    }
}

fn thinking() -> AgentState {
    AgentState::Working(Activity::Thinking { after_tool: false })
}

fn cause(view: &RegistryView) -> Cause {
    Cause { at: view.status_at, source: Source::Registry, seq: view.seq }
}
