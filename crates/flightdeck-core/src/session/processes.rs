//! The processes of one session: which of them an event belongs to, which one the card shows, and what happens when one
//! leaves (decision 0015).
//!
//! Almost every session has one process. [`Session::apply`] recognises that with one comparison and goes on as if there
//! were no others.

use std::collections::VecDeque;
use std::mem::swap;

use super::agent::AgentState;
use super::event_order::is_sign_of_work;
use super::process::{PastProcess, Process, ProcessFacts, ProcessName, ProcessUrgency};
use super::registry_view::RegistryView;
use super::seat::Seat;
use super::show::same_to_a_person;
use super::shown::{Shown, StateReason, Transition, Trigger};
use super::state::Session;
use super::state_history::StateHistory;
use super::state_name::StateName;
use super::turn::{HookStop, TurnOfPrompt};
use crate::approval::ask::Ask;
use crate::ids::AskId;
use crate::limits::{ASKS_MAX, DISORDER_MAX, PAST_PROCESSES_MAX, PROCESSES_MAX, SETTLE};
use crate::log::common_facts::CommonFacts;
use crate::log::event::{EndReason, Event, EventKind, StartSource};
use crate::log::record::Source;
use crate::rules::{FoldSettings, Rule};
use crate::time::Timestamp;

/// The process that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Shown,
    /// Index in `Session::beside`.
    Beside(usize),
    /// A process that was not known to hold the session.
    New,
    /// A new process, while the shown process has ended: the new one continues in its place.
    Successor,
    /// A process that has left the session, or an unknown one that says nothing about its state.
    Outsider,
}

/// What the card keeps while another process than the shown one is changed.
struct CardBefore {
    shown: Shown,
    pid: Option<u32>,
    history: VecDeque<Transition>,
    state_history: StateHistory,
    seen: bool,
}

impl Session {
    /// Chooses the process that the event belongs to and applies the event to it.
    pub(super) fn apply_to_one_of_several(&mut self, event: &Event, settings: &FoldSettings) {
        let apply = |s: &mut Self| s.apply_keeping_newest_message(event, settings);
        match self.owner(event) {
            Owner::Shown => self.change(None, event.into(), apply),
            Owner::Beside(n) => self.change(Some(n), event.into(), apply),
            Owner::New => {
                let n = self.add_process(event);
                self.change(Some(n), event.into(), apply);
            }
            Owner::Successor => {
                let (seat, left_at) = (self.seat.clone(), self.ended_at.unwrap_or(event.fired_at));
                self.remember_past(&seat, left_at);
                self.forget_past(event);
                self.apply_to_process(event, settings);
            }
            Owner::Outsider => self.take_from_outsider(event, settings),
        }
    }

    /// The last message on the card is the newest one of all processes, in whatever order their prompts arrive.
    fn apply_keeping_newest_message(&mut self, event: &Event, settings: &FoldSettings) {
        let newest = self.beside.iter().filter_map(|process| process.turn.started_at).max();
        let is_older = newest.is_some_and(|newest| event.fired_at < newest);
        let message = self.last_user_message.clone().filter(|_| is_older);
        self.apply_to_process(event, settings);
        if message.is_some() {
            self.last_user_message = message;
        }
    }

    /// Also true while one of the two is unknown.
    pub(super) fn is_of_shown(&self, event: &Event) -> bool {
        match event.envelope.pid {
            Some(pid) if self.seat.pid.is_some() => {
                let proc_start = event.envelope.proc_start.as_deref();
                ProcessName { host: &event.host, pid, proc_start }.is_of(&self.seat)
            }
            _ => true,
        }
    }

    fn owner(&self, event: &Event) -> Owner {
        if let EventKind::Answered { ask_id, .. } | EventKind::HoldEnded { ask_id, .. } = &event.kind {
            return self.owner_of_ask(ask_id);
        }
        if let EventKind::TurnMarked(mark) = event.kind {
            return match HookStop::from_mark(mark, event.fired_at) {
                Some(stop) => self.owner_of_hook_stop(stop),
                None => self.owner_of_interrupt(event),
            };
        }
        // What the person did and what the transcript says is about the conversation.
        if matches!(event.source, Source::User | Source::Transcript) {
            return Owner::Shown;
        }
        let Some(name) = ProcessName::in_event(event) else { return self.owner_of_unnamed(event) };
        if self.seat.pid.is_none() || name.is_of(&self.seat) {
            return Owner::Shown;
        }
        match self.beside.iter().position(|process| name.is_of(&process.seat)) {
            Some(n) => Owner::Beside(n),
            None => self.owner_if_unknown(name, event),
        }
    }

    fn owner_of_ask(&self, ask_id: &AskId) -> Owner {
        let has = |process: &Process| process.asks.iter().any(|ask| ask.id == *ask_id);
        self.beside.iter().position(has).map_or(Owner::Shown, Owner::Beside)
    }

    /// The transcript does not name the process whose turn a hook ended. Just before the client writes the line, it fires the hooks
    /// of that turn.
    fn owner_of_hook_stop(&self, stop: HookStop) -> Owner {
        let running = self.all_facts().filter(|(_, facts)| facts.turn.may_end_by(stop));
        let newest = running.filter(|(_, facts)| facts.hook_changed_at <= stop.at + DISORDER_MAX);
        newest.max_by_key(|(_, facts)| facts.hook_changed_at).map_or(Owner::Shown, |(owner, _)| owner)
    }

    /// An interrupt marker names a prompt, and no process. If no process knows the prompt, the marker is of the client that became
    /// idle at that moment, or of the only one that a subagent keeps busy.
    fn owner_of_interrupt(&self, event: &Event) -> Owner {
        let at = event.fired_at;
        let knows = |prompt: &Option<String>, facts: &ProcessFacts<'_>| {
            prompt.as_deref().is_some_and(|id| facts.turn.of_prompt(id) != TurnOfPrompt::Unknown)
        };
        // A marker of a turn that a queue followed names that turn by its place in the file, which other processes write too.
        let CommonFacts { prompt_id, next_prompt_id, .. } = &event.facts;
        let followed = |facts: &ProcessFacts<'_>| {
            next_prompt_id.is_none() || !facts.turn.queued.is_empty() || facts.turn.unnamed
        };
        let of_next = self.all_facts().find(|(_, facts)| knows(next_prompt_id, facts));
        let known = || self.all_facts().find(|(_, facts)| knows(prompt_id, facts) && followed(facts));
        let queued = || self.all_facts().find(|(_, facts)| next_prompt_id.is_some() && followed(facts));
        if let Some((owner, _)) = of_next.or_else(known).or_else(queued) {
            return owner;
        }
        let became_idle = |(owner, facts): (Owner, ProcessFacts<'_>)| {
            let view = facts.registry.filter(|view| view.status.is_idle())?;
            Some(((view.status_at - at).0.abs(), owner)).filter(|(apart, _)| *apart <= DISORDER_MAX.0)
        };
        if let Some((_, owner)) = self.all_facts().filter_map(became_idle).min_by_key(|(apart, _)| *apart) {
            return owner;
        }
        let is_kept_busy =
            |facts: &ProcessFacts<'_>| facts.works_beside_an_agent() && facts.main.changed_at <= at;
        let mut kept_busy = self.all_facts().filter(|(_, facts)| is_kept_busy(facts));
        match (kept_busy.next(), kept_busy.next()) {
            (None, _) => Owner::Shown,
            (Some((owner, _)), None) => owner,
            // It could be of either.
            (Some(_), Some(_)) => Owner::Outsider,
        }
    }

    pub(super) fn facts(&self) -> ProcessFacts<'_> {
        ProcessFacts {
            main: &self.main,
            children: &self.children,
            turn: &self.turn,
            registry: self.registry.as_ref(),
            asks: &self.asks,
            hook_changed_at: self.hook_changed_at,
        }
    }

    fn all_facts(&self) -> impl Iterator<Item = (Owner, ProcessFacts<'_>)> {
        let beside = self.beside.iter().enumerate();
        let beside = beside.map(|(n, process)| (Owner::Beside(n), process.facts()));
        std::iter::once((Owner::Shown, self.facts())).chain(beside)
    }

    /// Whether an interrupt marker could still say something new about its process.
    pub(super) fn needs_marker(&self, event: &Event) -> bool {
        let owner = self.owner_of_interrupt(event);
        self.all_facts().any(|(other, facts)| other == owner && facts.needs_marker(event))
    }

    /// A hook over HTTP does not say which process sent it. If it concerns none that is known, it is of a process that could have sent
    /// it: a process that waits for a person sends nothing, a prompt begins a turn of a process at rest, and everything else is of
    /// a process that works.
    fn owner_of_unnamed(&self, event: &Event) -> Owner {
        if let Some((owner, _)) = self.all_facts().find(|(_, facts)| facts.is_concerned_by(event)) {
            return owner;
        }
        let is_of_a_turn = matches!(event.kind, EventKind::Prompted { .. }) || is_sign_of_work(&event.kind);
        if event.agent_id.is_some() || event.source != Source::Hook || !is_of_a_turn {
            return Owner::Shown;
        }
        let fit = |(owner, facts): (Owner, ProcessFacts<'_>)| (facts.may_have_sent(event), owner);
        // Of equally good ones the first, which is the shown one.
        let fits: Vec<_> = self.all_facts().map(fit).collect();
        let best = fits.iter().map(|(fit, _)| *fit).max();
        fits.iter().find(|(fit, _)| Some(*fit) == best).map_or(Owner::Shown, |(_, owner)| *owner)
    }

    fn owner_if_unknown(&self, name: ProcessName<'_>, event: &Event) -> Owner {
        let left_at = self.past_processes.iter().find(|past| name.is_past(past)).map(|past| past.left_at);
        let begins = match &event.kind {
            EventKind::ProcessGone { .. } | EventKind::SessionEnded { .. } => false,
            EventKind::RegistryReported(word) => left_at.is_none_or(|left| word.is_life_after(left)),
            EventKind::SessionStarted { source: StartSource::Compact, .. } => false,
            EventKind::SessionStarted { .. } => {
                left_at.is_none_or(|left| left < event.fired_at) || event.envelope.clock_back
            }
            kind => left_at.is_none() && event.source == Source::Hook && kind.is_about_state(),
        };
        match begins {
            false => Owner::Outsider,
            true if self.main.state.is_ended() && self.comes_back_with(event) => Owner::Successor,
            true => Owner::New,
        }
    }

    /// Whether the event brings the ended session back, whichever process sent it.
    fn comes_back_with(&self, event: &Event) -> bool {
        match &event.kind {
            EventKind::SessionStarted { .. } => {
                event.fired_at >= self.main.changed_at || event.envelope.clock_back
            }
            EventKind::RegistryReported(word) => self.ended_at.is_some_and(|ended| word.is_life_after(ended)),
            _ => false,
        }
    }

    /// Changes one process, `None` for the shown one, and then shows the most urgent one.
    fn change(&mut self, beside: Option<usize>, trigger: Trigger, change: impl FnOnce(&mut Self)) {
        let before = self.card_before();
        if let Some(n) = beside {
            self.bring_to_front(n);
        }
        change(self);
        self.bring_most_urgent_to_front();
        self.remove_ended(trigger.at);
        self.turn_card(before, trigger);
    }

    fn bring_to_front(&mut self, n: usize) {
        let mut other = self.beside.remove(n);
        self.swap_process(&mut other);
        self.beside.push(other);
    }

    fn bring_most_urgent_to_front(&mut self) {
        let beside = self.beside.iter().map(Process::urgency).enumerate();
        if let Some((n, most)) = beside.min_by(|(_, a), (_, b)| a.cmp(b))
            && most < self.urgency()
        {
            self.bring_to_front(n);
        }
    }

    /// Removes processes that have ended. The last one stays: the session ends with it.
    fn remove_ended(&mut self, at: Timestamp) {
        while let Some(n) = self.beside.iter().position(|process| process.main.state.is_ended()) {
            let process = self.beside.remove(n);
            self.remember_past(&process.seat, at);
            self.remember_agents_of(&process, at);
            self.keep_ended_asks(process.asks);
        }
        if !self.main.state.is_ended() {
            self.ended_at = None;
        }
    }

    /// The subagents of a process end with it. Their files stay with the session, and must not look like new ones.
    fn remember_agents_of(&mut self, process: &Process, at: Timestamp) {
        for (id, child) in &process.children {
            self.remember_stopped(id, child.ended_at.unwrap_or(at));
        }
        for (id, stopped_at) in &process.stopped_agents {
            self.remember_stopped(id, *stopped_at);
        }
    }

    /// The asks of a process that left stay on the card for a while, as every ended ask.
    fn keep_ended_asks(&mut self, asks: Vec<Ask>) {
        self.asks.extend(asks.into_iter().map(|ask| Ask { taken: true, ..ask }));
        let too_many = self.asks.len().saturating_sub(ASKS_MAX);
        for _ in 0..too_many {
            let ended = self.asks.iter().position(|ask| !ask.is_open()).unwrap_or(0);
            self.asks.remove(ended);
        }
    }

    fn remember_past(&mut self, seat: &Seat, left_at: Timestamp) {
        let Some(pid) = seat.pid else { return };
        if self.past_processes.len() == PAST_PROCESSES_MAX {
            self.past_processes.pop_front();
        }
        let (host, proc_start) = (seat.host.clone(), seat.proc_start.clone());
        self.past_processes.push_back(PastProcess { host, pid, proc_start, left_at });
    }

    /// The process of the event holds the session again.
    fn forget_past(&mut self, event: &Event) {
        if let Some(name) = ProcessName::in_event(event) {
            self.past_processes.retain(|past| !name.is_past(past));
        }
    }

    /// Adds a process that was just heard of and returns its index.
    fn add_process(&mut self, event: &Event) -> usize {
        self.forget_past(event);
        if let Some(name) = ProcessName::in_event(event) {
            self.end_former_owner_of_pid(name, event);
        }
        self.make_room_for_process();
        if self.main.state.is_ended() {
            self.replaced_by = None;
        }
        self.beside.push(Process::new(event));
        self.beside.len() - 1
    }

    /// A pid belongs to one process at a time: the process that had it before is gone.
    fn end_former_owner_of_pid(&mut self, name: ProcessName<'_>, event: &Event) {
        let same_pid = |seat: &Seat| {
            seat.pid == Some(name.pid) && seat.host == *name.host && seat.pid_ns == event.envelope.pid_ns
        };
        let Some(seat) = self.seats().find(|seat| same_pid(seat)).cloned() else { return };
        let trigger = Trigger { at: event.fired_at, source: Source::Process, seq: event.seq };
        let end = |s: &mut Self| s.end(EndReason::ProcessDied, Rule::ProcessDied, trigger);
        self.change_at(&seat, trigger, end);
    }

    /// The least urgent process is forgotten; its next event adds it again.
    fn make_room_for_process(&mut self) {
        if self.beside.len() + 1 < PROCESSES_MAX {
            return;
        }
        let least = self.beside.iter().enumerate().max_by_key(|(_, process)| process.urgency());
        if let Some((n, _)) = least {
            let process = self.beside.remove(n);
            self.keep_ended_asks(process.asks);
        }
    }

    /// Such a process may say something about the conversation: a to-do, a model. If it ended, its late start is ignored.
    fn take_from_outsider(&mut self, event: &Event, settings: &FoldSettings) {
        if let (EventKind::SessionEnded { .. }, Some(name)) = (&event.kind, ProcessName::in_event(event))
            && !self.past_processes.iter().any(|past| name.is_past(past))
        {
            let proc_start = name.proc_start.map(str::to_owned);
            let seat = Seat { host: name.host.clone(), pid: Some(name.pid), proc_start, ..Seat::default() };
            return self.remember_past(&seat, event.fired_at);
        }
        if event.source != Source::Hook || event.kind.is_about_state() {
            return;
        }
        let mut nowhere = Process::new(event);
        nowhere.main.state = AgentState::Ended(EndReason::ProcessDied);
        self.swap_process(&mut nowhere);
        self.apply_to_process(event, settings);
        self.swap_process(&mut nowhere);
    }
}

/// The process that the card shows has its fields in the session itself.
impl Session {
    /// Exchanges the process that the card shows with another one.
    pub(super) fn swap_process(&mut self, other: &mut Process) {
        swap(&mut self.seat, &mut other.seat);
        swap(&mut self.entrypoint, &mut other.entrypoint);
        swap(&mut self.cwd, &mut other.cwd);
        swap(&mut self.permission_mode, &mut other.permission_mode);
        swap(&mut self.agent_type, &mut other.agent_type);
        swap(&mut self.main, &mut other.main);
        swap(&mut self.children, &mut other.children);
        swap(&mut self.stopped_agents, &mut other.stopped_agents);
        swap(&mut self.shown, &mut other.shown);
        swap(&mut self.registry, &mut other.registry);
        swap(&mut self.hook_changed_at, &mut other.hook_changed_at);
        swap(&mut self.began_at, &mut other.began_at);
        swap(&mut self.turn, &mut other.turn);
        swap(&mut self.turn.count, &mut other.turn.count);
        swap(&mut self.background, &mut other.background);
        swap(&mut self.background_shells, &mut other.background_shells);
        swap(&mut self.last_failure, &mut other.last_failure);
        swap(&mut self.last_said, &mut other.last_said);
        swap(&mut self.said_at, &mut other.said_at);
        swap(&mut self.asks, &mut other.asks);
        swap(&mut self.intent, &mut other.intent);
    }

    pub(super) fn urgency(&self) -> ProcessUrgency {
        ProcessUrgency::new(&self.shown, &self.turn, &self.seat)
    }
}

/// What the fleet does to all processes of a session.
impl Session {
    /// The place of every process, first of the shown one.
    pub fn seats(&self) -> impl Iterator<Item = &Seat> {
        std::iter::once(&self.seat).chain(self.beside.iter().map(|process| &process.seat))
    }

    /// The asks of every process, first of the shown one.
    pub fn all_asks(&self) -> impl Iterator<Item = &Ask> {
        self.asks.iter().chain(self.beside.iter().flat_map(|process| &process.asks))
    }

    /// The process goes on with another session. The session ends if that was its last process.
    pub(crate) fn end_process(&mut self, seat: &Seat, reason: EndReason, rule: Rule, trigger: Trigger) {
        self.change_at(seat, trigger, |s| s.end(reason, rule, trigger));
        self.follow_timer();
    }

    /// The settle timer fired: it is for each process whose entry is as old as the timer.
    pub(crate) fn settle_all(&mut self, due: Timestamp) {
        self.settle_each(due);
        self.follow_timer();
    }

    fn settle_each(&mut self, due: Timestamp) {
        if self.beside.is_empty() {
            return self.settle(due);
        }
        let is_due = |view: &RegistryView| view.heard_at + SETTLE == due;
        self.change_each(|s| {
            if s.registry.as_ref().is_some_and(is_due) {
                s.settle(due);
            }
        });
    }

    pub(crate) fn settle_all_after_stop(&mut self, due: Timestamp) {
        if self.beside.is_empty() {
            self.settle_after_stop(due);
        } else {
            self.change_each(|s| s.settle_after_stop(due));
        }
        self.follow_timer();
    }

    /// Removes asks that ended a while ago from the card. Returns whether any was removed.
    pub(crate) fn all_asks_leave(&mut self, now: Timestamp) -> bool {
        let mut any = self.asks_leave(now);
        for n in 0..self.beside.len() {
            std::mem::swap(&mut self.asks, &mut self.beside[n].asks);
            any |= self.asks_leave(now);
            std::mem::swap(&mut self.asks, &mut self.beside[n].asks);
        }
        any
    }

    /// Changes every process because of a timer. The trigger is the last registry entry of each process.
    fn change_each(&mut self, change: impl Fn(&mut Self)) {
        let seats: Vec<Seat> = self.seats().cloned().collect();
        for seat in &seats {
            let before = self.registry_of(seat);
            let Some(RegistryView { status_at: at, seq, .. }) = before else { continue };
            self.change_at(seat, Trigger { at, source: Source::Registry, seq }, &change);
        }
    }

    fn registry_of(&self, seat: &Seat) -> Option<RegistryView> {
        let beside = self.beside.iter().find(|process| process.seat == *seat);
        beside.map_or(&self.registry, |process| &process.registry).clone()
    }

    fn change_at(&mut self, seat: &Seat, trigger: Trigger, change: impl FnOnce(&mut Self)) {
        let beside = self.beside.iter().position(|process| process.seat == *seat);
        self.change(beside, trigger, change);
    }
}

/// What the card says while its processes change.
impl Session {
    fn card_before(&mut self) -> CardBefore {
        CardBefore {
            shown: self.shown.clone(),
            pid: self.seat.pid,
            history: std::mem::take(&mut self.history),
            state_history: std::mem::take(&mut self.state_history),
            seen: self.seen,
        }
    }

    /// Records the change of the card, not of the single process.
    fn turn_card(&mut self, before: CardBefore, trigger: Trigger) {
        let CardBefore { shown, pid, history, state_history, seen } = before;
        (self.history, self.state_history) = (history, state_history);
        if same_to_a_person(&shown.state, &self.shown.state) && pid == self.seat.pid {
            self.seen |= seen;
            return;
        }
        self.seen = false;
        self.parked = None;
        let because = match self.shown.because {
            because if because.seq == trigger.seq => because,
            _ => StateReason { seq: trigger.seq, rule: Rule::AnotherProcess },
        };
        let to = StateName::from_state(&self.shown.state);
        self.record_step((StateName::from_state(&shown.state), shown.since), (to, trigger.at), because);
    }
}
