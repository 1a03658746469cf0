//! What the client's registry entry does to a session, and when it counts (decision 0007).
//!
//! Hooks and registry may disagree for a moment. An entry is applied if both are true when its timer fires:
//! - The entry has not changed for [`SETTLE`].
//! - The client wrote the entry after the last hook that changed the session, or within a moment before a call whose hook
//!   has a late timestamp (decision 0013).

use super::agent::{Activity, AgentState, IdleReason};
use super::asks::closed_by_registry;
use super::child::newest_running;
use super::hook_stop;
use super::ledger::Need;
use super::registry_view::RegistryView;
use super::shown::Trigger;
use super::state::Session;
use crate::approval::resolution::{AskOutcome, NeedKind};
use crate::limits::{BUSY_AFTER_STOP, DISORDER_MAX, SETTLE};
use crate::log::event::Event;
use crate::log::record::Source;
use crate::rules::Rule;
use crate::time::Timestamp;
use crate::wire::registry::{ClientStatus, RegistryReport, WaitingFor};

impl Session {
    /// Stores an entry, which is applied when its timer fires. If it is the first fact about the session, or revives it, the
    /// entry is applied at once: there is no other state that it could contradict. Returns whether it confirms what the card
    /// shows.
    pub(super) fn take_registry_report(&mut self, report: &RegistryReport, event: &Event) -> bool {
        if self.main.state.is_ended() && !self.revives(report) {
            return false;
        }
        let began_anew = self.begins_anew(report);
        let view = RegistryView {
            began_anew,
            status: report.status.clone(),
            // A client's clock that is ahead must not make the session's next hooks look late.
            status_at: report.status_at.min(event.received_at),
            heard_at: event.received_at,
            seq: event.seq,
            busy_at: match (&report.status, &self.registry) {
                (ClientStatus::Busy, _) => report.status_at,
                (_, Some(last)) => last.busy_at,
                (_, None) => Timestamp::default(),
            },
        };
        let revived = self.main.state.is_ended();
        if revived {
            self.ended_at = None;
            self.replaced_by = None;
            self.main.move_to(AgentState::Idle(IdleReason::Fresh), Rule::RegistryRevived, trigger_of(&view));
        }
        if view.status == ClientStatus::Busy && self.main.rule == Rule::QueueGoesOn {
            // The next turn has begun: it ends with a Stop of its own, or by Esc.
            self.turn.stopped = None;
        }
        let first = self.registry.replace(view.clone()).is_none();
        if revived || (first && self.main.rule == Rule::Created) {
            self.apply_status(&view);
        }
        self.confirms_shown_state(&view)
    }

    /// Whether the client has begun something anew since the last entry: the next turn from its queue, or another dialog. In
    /// between it was idle or busy, perhaps too briefly to be read. A repeated entry has the same `status_at` and does not count.
    fn begins_anew(&self, report: &RegistryReport) -> bool {
        let Some(last) = &self.registry else { return false };
        let since_a_hook = last.status_at > self.hook_changed_at;
        report.status_at > last.status_at
            && match (&last.status, &report.status) {
                (ClientStatus::Idle | ClientStatus::Shell, ClientStatus::Busy) => since_a_hook,
                // Busy twice in a row. Without a queue, a dialog may have been opened and closed in between.
                (ClientStatus::Busy, ClientStatus::Busy) => !self.turn.queued.is_empty(),
                (ClientStatus::Waiting(_), ClientStatus::Waiting(_)) => true,
                _ => false,
            }
    }

    /// Whether the entry shows that a session, which counts as ended, is alive.
    fn revives(&self, report: &RegistryReport) -> bool {
        self.ended_at.is_some_and(|ended| report.is_life_after(ended))
    }

    /// Whether the entry confirms the state that the card shows.
    pub(super) fn confirms_shown_state(&self, view: &RegistryView) -> bool {
        matches!(
            (&view.status, &self.shown.state),
            (ClientStatus::Busy, AgentState::Working(Activity::Thinking { .. }))
                | (ClientStatus::Idle | ClientStatus::Shell, AgentState::Idle(_))
        )
    }

    /// Called when the settle timer fires. Applies the newest entry, unless it is younger than [`SETTLE`] or a hook changed
    /// the session after the client wrote it.
    pub(crate) fn settle(&mut self, due: Timestamp) {
        let Some(view) = self.registry.clone() else { return };
        let is_older = view.status_at <= self.hook_changed_at
            && !self.is_refusal_before_our_answer(&view)
            && !self.is_before_a_late_call(&view);
        // A client that was killed leaves its last entry behind.
        if due < view.heard_at + SETTLE || is_older || self.main.state.is_ended() {
            return;
        }
        let was_away = self.main.away_since.is_some();
        let how = self.apply_status(&view);
        self.close_asks(if was_away { AskOutcome::ClosedWhileAway } else { how }, None, trigger_of(&view));
        self.show(trigger_of(&view), self.confirms_shown_state(&view));
    }

    /// Whether the entry is older than a call only because the hook of the call read the clock late. The client writes the
    /// status of a permission prompt, and of an Esc at the end of a call, before that hook takes its timestamp.
    fn is_before_a_late_call(&self, view: &RegistryView) -> bool {
        match view.status {
            ClientStatus::Idle | ClientStatus::Shell => self.is_trailed_by_a_call(view.status_at),
            // The dialog may be a menu that the person just opened. To miss a permission prompt would be worse than to show a
            // menu as one.
            ClientStatus::Waiting(_) => {
                self.main.rule == Rule::ToolStarted && self.is_of_this_turn_and_moment(view.status_at)
            }
            ClientStatus::Busy => false,
        }
    }

    /// If the client is still busy one second after a Stop and no background agent runs, a Stop hook made Claude continue.
    pub(crate) fn settle_after_stop(&mut self, due: Timestamp) {
        let Some(view) = self.registry.clone() else { return };
        let stopped = self.main.rule == Rule::Stopped && self.main.changed_at + BUSY_AFTER_STOP <= due;
        if stopped
            && view.status == ClientStatus::Busy
            && self.main.state == AgentState::Idle(IdleReason::TurnEnded)
        {
            let trigger = Trigger { at: due, ..trigger_of(&view) };
            self.main.move_to(thinking(), Rule::RegistryBusyAfterStop, trigger);
            self.show(trigger, true);
        }
    }

    /// Returns how the asks ended whose needs it closed.
    fn apply_status(&mut self, view: &RegistryView) -> AskOutcome {
        let how = closed_by_registry(&view.status);
        match view.status {
            ClientStatus::Idle | ClientStatus::Shell => self.client_is_idle(view),
            ClientStatus::Busy if self.is_in_next_turn(view) => {
                self.begin_queued_turn(view.status_at);
                self.children.values_mut().for_each(|c| c.ledger.close_needs());
                self.main.move_to(thinking(), Rule::RegistryNextTurn, trigger_of(view));
                return AskOutcome::RefusedInTerminal;
            }
            ClientStatus::Busy => self.client_is_busy(view),
            ClientStatus::Waiting(what) => self.client_waits(what, view),
        }
        how
    }

    /// Whether the client has left the turn and works on the next one, from its queue.
    fn is_in_next_turn(&self, view: &RegistryView) -> bool {
        view.began_anew
            && self.main.state.is_working()
            && self.main.hooks_reach_us
            && (self.main.ledger.has_open_call() || !self.turn.queued.is_empty())
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
        // While a background agent runs, the client is busy. So none runs now.
        self.end_children(view.status_at);
        let unreported = self.may_have_ended_unreported(view);
        let reason = match (waited_for, &self.main.state) {
            (Some(_), _) if unreported => IdleReason::EndedAway,
            (Some(tool), _) => IdleReason::Interrupted { tool },
            (None, AgentState::Working(Activity::Background { .. })) => IdleReason::TurnEnded,
            (None, AgentState::Working(_)) if let Some(reason) = self.turn.stopped_by_hook() => reason,
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
                (None, _) if unreported => IdleReason::EndedAway,
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
            IdleReason::StoppedByHook { .. } => hook_stop::rule_of_hook_stop(&reason),
            _ => Rule::RegistryIdle,
        };
        self.main.away_since = None;
        // Also clears calls with a later timestamp: the entry was accepted, so the client wrote it after those calls.
        self.main.ledger.clear(view.status_at.max(self.hook_changed_at));
        self.end_turn(view.status_at);
        self.main.move_to(AgentState::Idle(reason), rule, trigger_of(view));
    }

    fn client_is_busy(&mut self, view: &RegistryView) {
        if self.foremost_need().is_some() {
            let asked = self.main.ledger.is_blocked() && !self.is_about_an_agent();
            self.main.ledger.close_needs();
            self.children.values_mut().for_each(|c| c.ledger.close_needs());
            if !asked {
                // A subagent had asked: the main agent goes on as before.
                return;
            }
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
            self.main.move_to(to, Rule::RegistryAnswered, trigger_of(view));
        } else if self.goes_on_after_idle(view) || self.works_since_refusal(view) {
            self.turn.begin_from_queue(view.status_at);
            self.turn.open = true;
            self.main.guess(trigger_of(view), Rule::RegistryNextTurn);
        } else if matches!(self.main.state, AgentState::Idle(_)) && !self.is_about_an_agent() {
            self.main.hooks_reach_us = false;
            self.begin_unheard_turn(view.status_at);
            self.main.guess(trigger_of(view), Rule::RegistryBusy);
        }
    }

    /// Whether the client works on its queue again, although the idle entry between the two turns lasted long enough to count.
    fn goes_on_after_idle(&self, view: &RegistryView) -> bool {
        self.main.rule == Rule::RegistryInterrupted
            && self.turn.queue_taken_at >= self.main.changed_at
            && view.status_at <= self.turn.queue_taken_at + DISORDER_MAX
    }

    /// No hook reported this turn. What is known about the turn before, and its last message, says nothing about it.
    fn begin_unheard_turn(&mut self, at: Timestamp) {
        self.turn.stopped = None;
        self.turn.unheard_since = Some(at);
        self.turn.open = true;
        self.last_said = None;
    }

    /// Whether the client's status says nothing about the main agent: it has ended its turn, and a subagent runs.
    fn is_about_an_agent(&self) -> bool {
        let at_rest =
            matches!(self.main.state, AgentState::Idle(_) | AgentState::Working(Activity::Background { .. }));
        at_rest && newest_running(&self.children).is_some()
    }

    /// Whether the client has left the dialog that it showed before. Where our hooks are away, no other fact says so.
    fn has_left_a_dialog(&self, view: &RegistryView) -> bool {
        let left =
            |opened_at: Timestamp| opened_at < view.busy_at || view.began_anew && opened_at < view.status_at;
        self.main.away_since.is_some() && self.foremost_need().is_some_and(|need| left(need.opened_at))
    }

    fn client_waits(&mut self, what: WaitingFor, view: &RegistryView) {
        if self.has_left_a_dialog(view) {
            self.client_is_busy(view);
        }
        if what == WaitingFor::Dialog {
            // The person may end a background shell in a menu. No hook says so, and the registry counts no shells.
            self.background.shells_min = self.background.shells_min.min(1);
        }
        let using_a_tool = matches!(self.main.state, AgentState::Working(Activity::Tool { .. }));
        let working = self.main.state.is_working();
        let kind = match what {
            WaitingFor::Permission | WaitingFor::OtherPermission => NeedKind::Permission,
            WaitingFor::Input => NeedKind::Question,
            // A dialog may be a menu that the person opened. Over a running turn the client reports only dialogs of its own.
            WaitingFor::Dialog if working && (using_a_tool || !self.main.hooks_reach_us) => {
                NeedKind::Permission
            }
            WaitingFor::Dialog => return,
        };
        match self.foremost_need().map(|need| need.source) {
            // The need that a hook opened has more detail, so it stays.
            Some(source) if source != Source::Registry => return,
            _ => {}
        }
        self.main.ledger.close_needs_of(Source::Registry);
        let need = Need {
            source: Source::Registry,
            of_no_call: matches!(what, WaitingFor::Dialog | WaitingFor::OtherPermission),
            ..Need::without_call(kind, String::new(), view.status_at, None)
        };
        self.main.ledger.open_need(need);
        if !working && !self.is_about_an_agent() {
            self.main.hooks_reach_us = false;
            self.main.guess(trigger_of(view), Rule::RegistryWaiting);
        }
        self.main.changed_at = self.main.changed_at.max(view.status_at);
    }
}

fn thinking() -> AgentState {
    AgentState::Working(Activity::Thinking { after_tool: false })
}

fn trigger_of(view: &RegistryView) -> Trigger {
    Trigger { at: view.status_at, source: Source::Registry, seq: view.seq }
}
