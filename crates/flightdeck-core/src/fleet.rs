//! Every session this daemon knows: a pure fold over the log. One engine owns it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ask::card::AskCard;
use crate::ask::{Ask, PastAsk};
use crate::enrichment::Summary;
use crate::event::{EndReason, Event, EventKind, StartSource};
use crate::limits::{
    ASK_STAYS, BUSY_AFTER_STOP, COMPLETED_AFTER, ENDED_IDS_MAX, FLEET_SESSIONS_MAX, GROWTH_COUNTS_AFTER,
    PAST_SESSIONS_MAX, QUIET_AFTER, SETTLE, STALE_AFTER,
};
use crate::record::Source;
use crate::rules::{Rule, Rules};
use crate::session::Session;
use crate::status_line::{RateLimits, Says, StatusLine};
use crate::strip::Past;
use crate::time::Timestamp;
use crate::timers::{Timer, Timers};

/// What the engine should do about it. The core only says so; a replay throws most of them away.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// First heard of.
    Discovered(String),
    /// Something about it may read differently now.
    Changed(String),
    /// It ended a little while ago and leaves the live set.
    Completed(String),
    /// It sits in this process now: watch over it.
    Seated(Occupant),
    /// A person may answer this.
    AskOpened(Box<AskCard>),
    /// Its hook need not wait any longer. Where it was answered through us, whoever did so still has the verdict.
    AskClosed(Box<AskCard>),
    /// It left the board: this is its last word, for the store.
    Forgotten(Box<Session>),
}

/// An ask that somebody asks for.
#[derive(Clone, Copy, Debug)]
pub enum FoundAsk<'a> {
    OnCard(&'a Ask),
    Past(&'a PastAsk),
}

/// A session and the process it sits in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    pub session_id: String,
    pub pid: u32,
    pub proc_start: Option<String>,
    /// Where that number holds, if it was told.
    pub pid_ns: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fleet {
    #[serde(skip)]
    rules: Rules,
    /// Shared with a snapshot while that is written: only a session that moves meanwhile is copied.
    sessions: BTreeMap<String, Arc<Session>>,
    /// Sessions that ended and left, by id: a late hook must not bring them back as ghosts.
    ended: BTreeMap<String, Timestamp>,
    /// What stays of them in the overview, oldest first.
    #[serde(default)]
    past: VecDeque<Past>,
    /// Who sits in which process now.
    by_process: BTreeMap<String, String>,
    timers: Timers,
    /// When the prompts expire that transcripts told of: in no snapshot, as they are in none.
    #[serde(skip)]
    cooling: Timers,
    /// The newest word about the person's subscription, and when it fired.
    #[serde(default)]
    rate_limits: Option<(Timestamp, RateLimits)>,
    /// The newest event applied.
    last_seq: u64,
    /// The newest moment known: timers never run backwards.
    now: Timestamp,
}

impl Fleet {
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            sessions: BTreeMap::new(),
            ended: BTreeMap::new(),
            past: VecDeque::new(),
            by_process: BTreeMap::new(),
            timers: Timers::default(),
            cooling: Timers::default(),
            rate_limits: None,
            last_seq: 0,
            now: Timestamp::default(),
        }
    }

    /// A snapshot is written a session at a time, and lets go of each.
    pub fn take_apart(mut self) -> (Self, impl Iterator<Item = Arc<Session>>) {
        let sessions = std::mem::take(&mut self.sessions);
        (self, sessions.into_values())
    }

    /// A session of the same snapshot.
    pub fn put_back(&mut self, session: Session) {
        self.sessions.insert(session.id.clone(), Arc::new(session));
    }

    /// A fleet read back from a snapshot knows no rules until it is given them.
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }
    pub fn now(&self) -> Timestamp {
        self.now
    }
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id).map(Arc::as_ref)
    }
    /// Sessions that ended and left the board.
    pub fn past(&self) -> impl Iterator<Item = &Past> {
        self.past.iter()
    }
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().map(Arc::as_ref)
    }
    pub fn len(&self) -> usize {
        self.sessions.len()
    }
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
    /// A session that ended before the log begins: no late hook may bring it back.
    pub fn remember_ended(&mut self, id: &str, at: Timestamp) {
        if self.ended.len() < ENDED_IDS_MAX && !self.sessions.contains_key(id) {
            self.ended.insert(id.to_owned(), at);
        }
    }
    /// Everybody who still sits in a process: after a restart each has to be looked for.
    pub fn occupants(&self) -> impl Iterator<Item = Occupant> {
        self.sessions().filter_map(occupant)
    }
    /// An ask by its id, and whose it is.
    pub fn find_ask(&self, id: &str) -> Option<(&Session, FoundAsk<'_>)> {
        self.sessions().find_map(|session| {
            let live = session.asks.iter().find(|ask| ask.id == id).map(FoundAsk::OnCard);
            let past = || session.past_asks.iter().find(|ask| ask.id == id).map(FoundAsk::Past);
            Some((session, live.or_else(past)?))
        })
    }
    /// Asks that some hook is held open for: none after a restart, which has to be said.
    pub fn held_asks(&self) -> impl Iterator<Item = (&Session, &Ask)> {
        self.sessions().flat_map(|s| s.asks.iter().filter(|a| a.is_answerable()).map(move |a| (s, a)))
    }
    pub fn next_wake(&self) -> Option<Timestamp> {
        [&self.timers, &self.cooling].into_iter().filter_map(Timers::next_due).min()
    }

    /// One event. Every timer due by then runs first, so that live and replay see the same order.
    pub fn apply(&mut self, event: &Event) -> Vec<Effect> {
        let mut effects = self.tick(event.received_at);
        self.last_seq = self.last_seq.max(event.seq);
        self.take_rate_limits(event);
        if self.is_of_an_ended_session(event) {
            return effects;
        }
        let known = self.sessions.contains_key(&event.session_id);
        if !known {
            // Hooks and the registry tell who is there. A status line that made a session could overtake the start
            // that says which one it replaces.
            let only_data = matches!(event.kind, EventKind::StatusLine(_));
            if only_data || matches!(event.source, Source::User | Source::Process) {
                return effects;
            }
            self.make_room(&mut effects);
            self.ended.remove(&event.session_id);
            self.sessions.insert(event.session_id.clone(), Arc::new(Session::new(event)));
            self.timers.set(event.received_at + STALE_AFTER, &event.session_id, Timer::Stale);
            effects.push(Effect::Discovered(event.session_id.clone()));
        }
        self.replace_predecessor(event, &mut effects);
        self.apply_to_session(event, &mut effects);
        effects.push(Effect::Changed(event.session_id.clone()));
        effects
    }

    /// Whether it says anything that the fleet does not know: what does not need not be stored.
    pub fn is_news(&self, event: &Event) -> bool {
        let session = self.sessions.get(&event.session_id);
        match &event.kind {
            EventKind::StatusLine(says) => {
                session.is_some_and(|s| s.status_line.as_ref().is_none_or(|line| line.says != *says))
            }
            EventKind::TranscriptGrew => match session {
                None => !self.ended.contains_key(&event.session_id),
                Some(s) => {
                    let silent = event.fired_at - s.last_activity_at;
                    s.shown.state.is_working() && silent >= GROWTH_COUNTS_AFTER
                }
            },
            _ => true,
        }
    }

    /// `None` where none is known, or all that were known have been reset since.
    pub fn rate_limits(&self, now: Timestamp) -> Option<RateLimits> {
        self.rate_limits.and_then(|(_, limits)| limits.at(now))
    }

    fn take_rate_limits(&mut self, event: &Event) {
        if let EventKind::StatusLine(Says { rate_limits: Some(limits), .. }) = event.kind
            && (event.envelope.clock_back || self.rate_limits.is_none_or(|(at, _)| at <= event.fired_at))
        {
            self.rate_limits = Some((event.fired_at, limits));
        }
    }

    /// What its transcripts tell about a session. Data for its card: it moves nothing and is in no snapshot.
    pub fn enrich(&mut self, id: &str, summary: Summary) -> Vec<Effect> {
        if self.get(id).is_some_and(|session| session.enrichment.as_deref() == Some(&summary)) {
            return Vec::new();
        }
        let Some(session) = own(&mut self.sessions, id) else { return Vec::new() };
        session.enrichment = Some(Box::new(summary));
        if let Some(expires) = session.cache_expires_at() {
            session.cache_is_cold = expires <= self.now;
            if !session.cache_is_cold {
                self.cooling.set(expires, id, Timer::CacheCold);
            }
        }
        vec![Effect::Changed(id.to_owned())]
    }

    /// Only a start, or the registry's word of life, brings back a session that ended and left.
    fn is_of_an_ended_session(&self, event: &Event) -> bool {
        let Some(ended) = self.ended.get(&event.session_id) else { return false };
        match &event.kind {
            EventKind::RegistrySaid(word) => !word.is_life_after(*ended),
            _ => !begins(event),
        }
    }

    fn apply_to_session(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        let Some(session) = own(&mut self.sessions, &event.session_id) else { return };
        let was_watched = session.shown.state.is_working() && session.quiet_since.is_none();
        let was_stale = session.stale;
        let was_ended = session.ended_at;
        let place = |s: &Session| (s.seat.pid, s.seat.proc_start.clone(), s.seat.pid_ns.clone());
        let sat = place(session);
        let asked = open_asks(session);
        session.apply(event, &self.rules);
        let id = &event.session_id;
        if tell_asks(session, &asked, effects) {
            self.timers.set(event.received_at + ASK_STAYS, id, Timer::AskLeaves);
        }
        match event.kind {
            EventKind::RegistrySaid(_) => self.timers.set(event.received_at + SETTLE, id, Timer::Settle),
            EventKind::Stopped { .. } => {
                self.timers.set(event.received_at + BUSY_AFTER_STOP, id, Timer::AfterStop);
            }
            EventKind::StatusLine(_) => {
                if let Some(at) = session.status_line.as_ref().and_then(StatusLine::cools_at) {
                    self.timers.set(at, id, Timer::CacheCold);
                }
            }
            _ => {}
        }
        if session.shown.state.is_working() && session.quiet_since.is_none() && !was_watched {
            self.timers.set(event.received_at + QUIET_AFTER, id, Timer::Quiet);
        }
        if was_stale && !session.stale {
            self.timers.set(event.received_at + STALE_AFTER, id, Timer::Stale);
        }
        if session.ended_at.is_some() && session.ended_at != was_ended {
            self.timers.set(event.received_at + COMPLETED_AFTER, id, Timer::Complete);
            self.timers.set(event.received_at + self.rules.done_keeps, id, Timer::Forget);
        }
        if sat != place(session) || (was_ended.is_some() && session.ended_at.is_none()) {
            effects.extend(occupant(session).map(Effect::Seated));
        }
        if let Some(process) = process_key(session)
            // Whoever sits there is replaced by a start or a newer word, never by the way.
            && !self.by_process.contains_key(&process)
            && !session.shown.state.is_ended()
        {
            self.by_process.insert(process, id.clone());
        }
    }

    /// `/clear` and in-app `/resume`: another session begins in the same process. The old card is replaced, not doubled.
    fn replace_predecessor(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        let (Some(pid), Some(start)) = (event.envelope.pid, event.envelope.proc_start.as_ref()) else {
            return;
        };
        let process = process_name(pid, start);
        // Who was resumed in another process has left this one: it is free, and nobody ends.
        let sits_here = |old: &&Session| process_key(old).as_ref() == Some(&process);
        let occupant = self.by_process.get(&process).and_then(|id| self.get(id)).filter(sits_here);
        let takes_over = match (&event.kind, occupant) {
            // A process has one file, and what is in it now was written last, whatever the clock says.
            (EventKind::RegistrySaid(_), Some(old)) if old.seat.told_by_registry => true,
            // The file may have been read just before the hook of the new session came.
            (EventKind::RegistrySaid(_), Some(old)) => event.fired_at > old.seat.told_at,
            (EventKind::RegistrySaid(_), None) => true,
            // A start that lay in the spool does not end who sits there since. After the clock was set back nobody
            // can tell.
            (_, Some(old)) => {
                begins(event) && (event.fired_at >= old.seat.told_at || event.envelope.clock_back)
            }
            (_, None) => begins(event),
        };
        if !takes_over {
            return;
        }
        let old_id = occupant.map(|old| old.id.clone()).filter(|old| *old != event.session_id);
        self.by_process.insert(process, event.session_id.clone());
        let Some(old_id) = old_id else { return };
        let Some(old) = own(&mut self.sessions, &old_id) else { return };
        if !old.shown.state.is_ended() {
            let reason = match event.kind {
                EventKind::SessionStarted { source: StartSource::Clear, .. } => EndReason::Clear,
                _ => EndReason::Resume,
            };
            let asked = open_asks(old);
            old.end(reason, Rule::Replaced, event.into());
            if tell_asks(old, &asked, effects) {
                self.timers.set(event.received_at + ASK_STAYS, &old_id, Timer::AskLeaves);
            }
            self.timers.set(event.received_at + COMPLETED_AFTER, &old_id, Timer::Complete);
            self.timers.set(event.received_at + self.rules.done_keeps, &old_id, Timer::Forget);
        }
        old.replaced_by = Some(event.session_id.clone());
        if let Some(new) = own(&mut self.sessions, &event.session_id) {
            new.continues = Some(old_id.clone());
        }
        effects.push(Effect::Changed(old_id));
    }

    /// Runs every timer due by `now`, each at its own moment.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        while let Some((due, id, timer)) = self.timers.pop_due(now) {
            self.run(due, &id, timer, &mut effects);
        }
        while let Some((due, id, _)) = self.cooling.pop_due(now) {
            self.cool(due, &id, &mut effects);
        }
        self.now = self.now.max(now);
        effects
    }

    fn run(&mut self, due: Timestamp, id: &str, timer: Timer, effects: &mut Vec<Effect>) {
        let Some(session) = own(&mut self.sessions, id) else { return };
        match timer {
            Timer::Settle | Timer::AfterStop => {
                let before = session.shown.clone();
                let asked = open_asks(session);
                if timer == Timer::Settle {
                    session.settle(due)
                } else {
                    session.settle_after_stop(due)
                }
                if tell_asks(session, &asked, effects) {
                    self.timers.set(due + ASK_STAYS, id, Timer::AskLeaves);
                }
                if session.shown.state.is_working() && !before.state.is_working() {
                    self.timers.set(due + QUIET_AFTER, id, Timer::Quiet);
                }
                // A settled word may also have ended children or told of a shell.
                if timer == Timer::Settle || session.shown != before {
                    effects.push(Effect::Changed(id.to_owned()));
                }
            }
            Timer::Quiet if session.shown.state.is_working() => {
                let at = session.last_activity_at + QUIET_AFTER;
                if at > due {
                    return self.timers.set(at, id, Timer::Quiet);
                }
                session.quiet_since = Some(session.last_activity_at);
                effects.push(Effect::Changed(id.to_owned()));
            }
            Timer::Quiet => {}
            Timer::Stale => {
                let at = session.last_activity_at + STALE_AFTER;
                if at > due {
                    return self.timers.set(at, id, Timer::Stale);
                }
                session.stale = true;
                effects.push(Effect::Changed(id.to_owned()));
            }
            Timer::Complete if has_been_over(session, due, COMPLETED_AFTER) => {
                effects.push(Effect::Completed(id.to_owned()));
            }
            Timer::Forget if has_been_over(session, due, self.rules.done_keeps) => self.forget(id, effects),
            Timer::Complete | Timer::Forget => {}
            Timer::AskLeaves => {
                if session.asks_leave(due) {
                    effects.push(Effect::Changed(id.to_owned()));
                }
            }
            Timer::CacheCold => {
                if let Some(line) = &mut session.status_line
                    && line.cools_at().is_some_and(|at| at <= due)
                {
                    line.cache_is_cold = true;
                    effects.push(Effect::Changed(id.to_owned()));
                }
            }
        }
    }

    fn cool(&mut self, due: Timestamp, id: &str, effects: &mut Vec<Effect>) {
        let Some(session) = own(&mut self.sessions, id) else { return };
        // Used again since: a later timer is set for that.
        if !session.cache_is_cold && session.cache_expires_at().is_some_and(|at| at <= due) {
            session.cache_is_cold = true;
            effects.push(Effect::Changed(id.to_owned()));
        }
    }

    fn forget(&mut self, id: &str, effects: &mut Vec<Effect>) {
        let Some(session) = self.sessions.remove(id) else { return };
        // One that only had to make room may still have a hook that waits.
        effects.extend(session.open_asks().map(|ask| Effect::AskClosed(Box::new(AskCard::new(id, ask)))));
        // Also the processes it had before it was resumed in another.
        self.by_process.retain(|_, who| who != id);
        if let Some(past) = Past::of(&session) {
            if self.past.len() == PAST_SESSIONS_MAX {
                self.past.pop_front();
            }
            self.past.push_back(past);
        }
        // One that only had to make room may speak again, and is then a session like any other.
        if let Some(ended) = session.ended_at {
            if self.ended.len() == ENDED_IDS_MAX
                && let Some(oldest) = self.ended.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone())
            {
                self.ended.remove(&oldest);
            }
            self.ended.insert(id.to_owned(), ended);
        }
        effects.push(Effect::Forgotten(Box::new(Arc::unwrap_or_clone(session))));
    }

    /// Over the bound the longest silent session leaves, ended ones first.
    fn make_room(&mut self, effects: &mut Vec<Effect>) {
        if self.sessions.len() < FLEET_SESSIONS_MAX {
            return;
        }
        let silent = self.sessions().min_by_key(|s| (s.ended_at.is_none(), s.last_activity_at));
        if let Some(id) = silent.map(|s| s.id.clone()) {
            self.forget(&id, effects);
        }
    }
}

/// To change it: a copy of its own where a snapshot still reads it.
fn own<'a>(sessions: &'a mut BTreeMap<String, Arc<Session>>, id: &str) -> Option<&'a mut Session> {
    sessions.get_mut(id).map(Arc::make_mut)
}

/// Usually none, which costs nothing.
fn open_asks(session: &Session) -> Vec<String> {
    session.open_asks().map(|ask| ask.id.clone()).collect()
}

/// What became of the asks since. Says whether one ended.
fn tell_asks(session: &Session, open_before: &[String], effects: &mut Vec<Effect>) -> bool {
    let mut ended = false;
    for ask in &session.asks {
        let card = || Box::new(AskCard::new(&session.id, ask));
        match (open_before.contains(&ask.id), ask.is_open()) {
            (false, true) => effects.push(Effect::AskOpened(card())),
            (true, false) => {
                effects.push(Effect::AskClosed(card()));
                ended = true;
            }
            _ => {}
        }
    }
    ended
}

fn begins(event: &Event) -> bool {
    matches!(&event.kind, EventKind::SessionStarted { source, .. } if *source != StartSource::Compact)
}

/// Still over since the moment the timer was set for; a session that came back has a later end, or none.
fn has_been_over(session: &Session, due: Timestamp, after: crate::time::Millis) -> bool {
    session.ended_at.is_some_and(|ended| ended + after <= due)
}

fn occupant(session: &Session) -> Option<Occupant> {
    let pid = session.seat.pid.filter(|_| !session.shown.state.is_ended())?;
    let seat = &session.seat;
    let (proc_start, pid_ns) = (seat.proc_start.clone(), seat.pid_ns.clone());
    Some(Occupant { session_id: session.id.clone(), pid, proc_start, pid_ns })
}

fn process_key(session: &Session) -> Option<String> {
    Some(process_name(session.seat.pid?, session.seat.proc_start.as_ref()?))
}

fn process_name(pid: u32, start: &str) -> String {
    format!("{pid}@{start}")
}
