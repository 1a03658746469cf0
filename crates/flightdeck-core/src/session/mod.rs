//! One conversation: its main agent, its subagents, and what a card says about it.
//!
//! [`Session::apply`] is the whole way of an event through a session: facts, then state, then data, then what shows.

mod asks;
mod child;
mod data;
mod growth;
mod registry;
mod seat;
mod show;
mod turn;

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

pub use self::child::Child;
use self::child::{agent_facts, newest_running};
use self::data::keep;
pub use self::registry::RegistryView;
pub use self::seat::Seat;
pub(crate) use self::show::Cause;
pub use self::show::{Because, Shown, Transition};
pub use self::turn::Turn;
use crate::agent::{self, Activity, AgentState, Around, IdleReason};
use crate::ask::{Ask, How, PastAsk};
use crate::enrichment::Summary;
use crate::event::{Background, EndReason, Event, EventKind, Notice, Outcome, Prompter, StartSource};
use crate::ledger::{Ledger, Need, NeedKind};
use crate::limits::DISORDER_MAX;
use crate::project::Project;
use crate::record::Source;
use crate::rules::{Rule, Rules};
use crate::status_line::StatusLine;
use crate::strip::Strip;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: String,
    /// The session that this one took over from in the same process.
    pub continues: Option<String>,
    /// The session that took over from this one; such a session is no longer on the board.
    pub replaced_by: Option<String>,
    pub seat: Seat,
    pub entrypoint: Option<String>,
    pub project: Project,
    pub cwd: Option<String>,
    pub transcript_path: Option<String>,
    pub title: Option<String>,
    pub last_user_message: Option<String>,
    pub model: Option<String>,
    /// When a hook last named the model: a newer line of the transcript knows better.
    #[serde(default)]
    pub model_at: Timestamp,
    pub permission_mode: Option<String>,
    pub main: MainAgent,
    pub children: BTreeMap<String, Child>,
    /// Subagents whose stop came before anything else of theirs.
    pub stopped_agents: VecDeque<(String, Timestamp)>,
    pub shown: Shown,
    /// What the client itself said last.
    pub registry: Option<RegistryView>,
    /// When the hook fired that last changed the main agent or a child: an older word of the registry is stale, but for a
    /// moment (decision 0013).
    pub hook_changed_at: Timestamp,
    pub history: VecDeque<Transition>,
    /// The same for the overview, coarser and longer.
    pub strip: Strip,
    pub started_at: Timestamp,
    /// When it last began: an end from before that is of an earlier process.
    pub began_at: Timestamp,
    pub last_activity_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub turn: Turn,
    pub background: Background,
    pub last_failure: Option<Failure>,
    pub todos: Vec<Todo>,
    /// Open ones, and those that ended a moment ago.
    pub asks: Vec<Ask>,
    pub past_asks: VecDeque<PastAsk>,
    pub quiet_since: Option<Timestamp>,
    pub stale: bool,
    pub seen: bool,
    /// What the transcripts tell. Kept beside the log, not in it.
    #[serde(skip)]
    pub enrichment: Option<Box<Summary>>,
    /// Its expiry has passed; a timer says so.
    #[serde(skip)]
    pub cache_is_cold: bool,
    /// What the client's own status line said last.
    #[serde(default)]
    pub status_line: Option<StatusLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MainAgent {
    pub state: AgentState,
    pub rule: Rule,
    /// The event that last moved it.
    pub moved_by: u64,
    pub ledger: Ledger,
    /// When the event fired that last moved it; an earlier one moves nothing.
    pub changed_at: Timestamp,
    pub before_compaction: Option<AgentState>,
    /// The registry said that it works, not at what: a hook from after this moment knows, however late it comes.
    #[serde(default)]
    pub guessed_after: Option<Timestamp>,
    /// A hook of its own came since it began to work: then hooks reach us, and an end without a Stop was an Esc.
    pub hooks_reach_us: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Failure {
    pub tool: String,
    pub error: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "ProgressItem"))]
pub struct Todo {
    pub id: String,
    pub title: String,
    pub status: String,
}

/// What was true of the session when an event came.
#[derive(Clone, Copy, Debug)]
struct Before {
    late: bool,
    typed_ahead: bool,
}

impl Session {
    /// A session first heard of by `event`. It is fresh and idle, which is not yet a change.
    pub fn new(event: &Event) -> Self {
        let because = Because { seq: event.seq, rule: Rule::Created };
        let fresh = AgentState::Idle(IdleReason::Fresh);
        Self {
            id: event.session_id.clone(),
            continues: None,
            replaced_by: None,
            seat: Seat::default(),
            entrypoint: None,
            project: Project::default(),
            cwd: None,
            transcript_path: None,
            title: None,
            last_user_message: None,
            model: None,
            model_at: Timestamp::default(),
            permission_mode: None,
            main: MainAgent::fresh(),
            children: BTreeMap::new(),
            stopped_agents: VecDeque::new(),
            shown: Shown {
                state: fresh,
                since: event.fired_at,
                after: Timestamp::default(),
                source: event.source,
                because,
            },
            registry: None,
            hook_changed_at: Timestamp::default(),
            history: VecDeque::new(),
            strip: Strip::default(),
            started_at: event.fired_at,
            began_at: Timestamp::default(),
            last_activity_at: event.fired_at,
            ended_at: None,
            turn: Turn::default(),
            background: Background::default(),
            last_failure: None,
            todos: Vec::new(),
            asks: Vec::new(),
            past_asks: VecDeque::new(),
            quiet_since: None,
            stale: false,
            seen: false,
            enrichment: None,
            cache_is_cold: false,
            status_line: None,
        }
    }

    /// The way of an event through a session.
    pub fn apply(&mut self, event: &Event, rules: &Rules) {
        if event.envelope.clock_back {
            self.reset_clocks(event.fired_at);
        }
        if let EventKind::StatusLine(says) = &event.kind {
            return self.take_status_line(says, event);
        }
        if event.kind == EventKind::TranscriptGrew {
            return self.transcript_grew(event);
        }
        self.forget_the_transcripts_word(event);
        self.take_common_facts(event);
        if self.is_told_twice(event) {
            return;
        }
        let before = Before { late: self.is_late(event), typed_ahead: self.is_using_a_tool() };
        let was = self.what_agents_do();
        let says = match (&event.kind, &event.agent_id) {
            (EventKind::RegistrySaid(word), _) => self.hear(word, event),
            (EventKind::Answered { ask_id, answer }, _) => self.answered(ask_id, answer, event),
            (EventKind::AskGone { ask_id, why }, _) => self.ask_gone(ask_id, *why, event),
            (EventKind::ProcessGone { pid, proc_start }, _) => {
                self.process_gone(*pid, proc_start.as_deref(), event)
            }
            (_, None) => self.apply_to_main(event, before, rules),
            (_, Some(agent_id)) => self.apply_to_child(agent_id, event, before, rules),
        };
        if event.source == Source::Hook && event.kind.is_about_state() && !before.late {
            self.main.hooks_reach_us |= event.agent_id.is_none();
            if self.main.moved_by == event.seq || self.what_agents_do() != was {
                self.hook_changed_at = self.hook_changed_at.max(event.fired_at);
            }
        }
        self.take_data(event, before);
        self.open_ask(event);
        let by = match &event.kind {
            EventKind::Answered { answer, .. } => Some(answer.by()),
            _ => None,
        };
        self.close_asks(How::of_need_closed_by(&event.kind), by, event.into());
        self.see_whose_answer_it_was(event);
        self.show(event.into(), says);
    }

    /// Enough to see whether an event changed what the main agent or a child does or waits for.
    fn what_agents_do(&self) -> (usize, usize, usize) {
        let ledgers = || std::iter::once(&self.main.ledger).chain(self.children.values().map(|c| &c.ledger));
        let running = self.children.values().filter(|c| c.ended_at.is_none()).count();
        (ledgers().map(|l| l.needs().len()).sum(), ledgers().map(Ledger::open_calls).sum(), running)
    }

    /// A main-agent event that fired before the last applied change moves nothing; its data counts. Within a moment the
    /// order that the client keeps is believed rather than clocks that hooks look at late.
    fn is_late(&self, event: &Event) -> bool {
        if event.envelope.clock_back {
            false
        } else if matches!(event.kind, EventKind::SessionEnded { .. }) && event.envelope.has_fired_at {
            // A word of its own beats the process table and the registry, however late it comes.
            event.fired_at < self.began_at
        } else if event.envelope.has_fired_at {
            let before = event.fired_at < self.main.changed_at;
            (before && !self.main.knows_better(event) && !self.is_an_end(event))
                || self.trails_its_turn(event)
        } else {
            self.is_of_an_ended_turn(event)
        }
    }

    /// For events without a clock: a tool event after its turn's end, or anything of a turn that another has followed.
    fn is_of_an_ended_turn(&self, event: &Event) -> bool {
        use EventKind as K;
        let prompt = event.facts.prompt_id.as_deref();
        let followed = prompt != self.turn.prompt_id.as_deref();
        self.turn.has_ended(prompt)
            && match event.kind {
                K::ToolStarted(_) | K::ToolEnded { .. } | K::BatchEnded(_) | K::PermissionAsked(_) => true,
                K::SessionStarted { .. } | K::SessionEnded { .. } => false,
                _ => followed,
            }
    }

    /// Hooks registered for the user and again for a project bring each prompt twice, under two ids of ours.
    fn is_told_twice(&self, event: &Event) -> bool {
        let EventKind::Prompted { text, .. } = &event.kind else { return false };
        match &event.facts.prompt_id {
            Some(id) => self.turn.prompt_id.as_ref() == Some(id) || self.turn.has_ended(Some(id)),
            // Nobody types the same again within a moment.
            None => {
                self.last_user_message.as_ref() == Some(text)
                    && self.turn.started_at.is_some_and(|at| within_a_moment(at, event.fired_at))
            }
        }
    }

    /// A call runs, its own or the subagent it waits for, and nobody is asked anything: what is typed now is typed ahead.
    fn is_using_a_tool(&self) -> bool {
        let runs = match self.main.state {
            AgentState::Working(Activity::Tool { .. }) => true,
            AgentState::Working(Activity::Delegating { .. }) => self.main.ledger.has_open_call(),
            _ => false,
        };
        runs && self.foremost_need().is_none()
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

    /// What is told again is no new sign of life: at every start the registry's entries are, with their old times. Those
    /// of more than a day ago stand only in the word itself.
    fn show_life(&mut self, event: &Event) {
        let at = match &event.kind {
            EventKind::RegistrySaid(word) if event.envelope.has_fired_at => {
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
        // Looking at a card, answering it or letting go of its hook is no activity of its session.
        if event.source != Source::User && !matches!(event.kind, EventKind::AskGone { .. }) {
            self.show_life(event);
        }
        keep(&mut self.transcript_path, facts.transcript_path.as_ref());
        keep(&mut self.entrypoint, event.envelope.entrypoint.as_ref());
        if event.fired_at >= self.main.changed_at {
            keep(&mut self.cwd, facts.cwd.as_ref());
            keep(&mut self.permission_mode, facts.permission_mode.as_ref());
            keep(&mut self.title, facts.session_title.as_ref());
        }
        self.seat.take(event);
        self.project.take(event.envelope.project_dir.as_deref(), facts.cwd.as_deref());
    }

    /// Says whether the event asserts the state that the main agent is in now.
    fn apply_to_main(&mut self, event: &Event, before: Before, rules: &Rules) -> bool {
        self.main_facts(event, before, rules);
        self.move_main(event, before, rules)
    }

    fn move_main(&mut self, event: &Event, before: Before, rules: &Rules) -> bool {
        let around = Around {
            ledger: &self.main.ledger,
            running_child: newest_running(&self.children),
            from_child: event.agent_id.is_some(),
            before_compaction: self.main.before_compaction.as_ref(),
            typed_ahead: before.typed_ahead,
            print_mode: self.print_mode(),
            rules,
        };
        match agent::next(&self.main.state, &event.kind, around) {
            None => false,
            Some((to, _)) if before.late => to == self.main.state,
            Some((to, rule)) => {
                self.main.move_to(to, rule, event.into());
                true
            }
        }
    }

    pub fn cache_expires_at(&self) -> Option<Timestamp> {
        self.enrichment.as_ref()?.known.cache_expires_at()
    }

    pub fn print_mode(&self) -> bool {
        self.entrypoint.as_deref() == Some("sdk-cli")
    }

    /// Calls and needs of the main agent. They apply in any order.
    fn main_facts(&mut self, event: &Event, before: Before, rules: &Rules) {
        let Before { late, typed_ahead } = before;
        let at = event.fired_at;
        let print_mode = self.print_mode();
        let child_blocked = self.children.values().any(|c| c.ledger.is_blocked());
        let child_runs = newest_running(&self.children).is_some();
        let of_an_ended_turn = late && (!event.envelope.has_fired_at || self.trails_its_turn(event));
        // Also what a slow hook told of with a later clock: what ends the turn came after it.
        let ended_at = at.max(self.hook_changed_at);
        let ledger = &mut self.main.ledger;
        match &event.kind {
            EventKind::SessionStarted { source: StartSource::Compact, .. } => {}
            EventKind::SessionStarted { .. } if !late => {
                ledger.clear(at);
                self.children.clear();
                self.main.before_compaction = None;
            }
            // A message typed ahead leaves what runs alone; any other prompt of a person ends all that was open.
            EventKind::Prompted { by: Prompter::Person, .. } if !late && !typed_ahead => ledger.clear(at),
            EventKind::Stopped { .. } | EventKind::StopFailed { .. } if !late => ledger.clear(ended_at),
            EventKind::ToolEnded { outcome: Outcome::Interrupted, .. } if !late => ledger.clear(at),
            EventKind::SessionEnded { .. } if !late => {
                ledger.clear(at);
                self.end_children(at);
            }
            EventKind::Notified(Notice::PermissionNeeded) if !late => {
                if !ledger.is_blocked() && (ledger.has_open_call() || child_runs) && !child_blocked {
                    ledger.open_need(Need::loose(NeedKind::Permission, String::new(), at, None));
                }
            }
            EventKind::PermissionAsked(_) if print_mode && !rules.hold_print => {}
            _ => agent_facts(ledger, event, of_an_ended_turn, None),
        }
    }

    fn end_children(&mut self, at: Timestamp) {
        self.children.values_mut().filter(|c| c.ended_at.is_none()).for_each(|c| c.end(at));
    }

    /// Ends the session for a reason that no hook of its own told.
    pub(crate) fn end(&mut self, reason: EndReason, rule: Rule, cause: Cause) {
        self.main.ledger.clear(cause.at);
        self.end_children(cause.at);
        self.end_turn(cause.at);
        self.main.move_to(AgentState::Ended(reason), rule, cause);
        self.ended_at = Some(cause.at);
        self.background = Background::default();
        self.close_asks(How::SessionEnded, None, cause);
        self.show(cause, true);
    }

    fn process_gone(&mut self, pid: u32, proc_start: Option<&str>, event: &Event) -> bool {
        let same_start = match (proc_start, self.seat.proc_start.as_deref()) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        // The death of a process that the session has left changes nothing.
        if self.seat.pid == Some(pid) && same_start && !self.main.state.is_ended() {
            self.end(EndReason::ProcessDied, Rule::ProcessDied, event.into());
        }
        false
    }
}

/// Two hooks of one fact fire at most this far apart.
pub(crate) fn within_a_moment(a: Timestamp, b: Timestamp) -> bool {
    (a - b).0.abs() <= DISORDER_MAX.0
}

impl MainAgent {
    fn fresh() -> Self {
        Self {
            state: AgentState::Idle(IdleReason::Fresh),
            rule: Rule::Created,
            moved_by: 0,
            ledger: Ledger::default(),
            changed_at: Timestamp::default(),
            before_compaction: None,
            guessed_after: None,
            hooks_reach_us: false,
        }
    }

    /// It works, but only the registry said so.
    fn guess(&mut self, cause: Cause, rule: Rule) {
        let before = self.changed_at;
        self.move_to(AgentState::Working(Activity::Thinking { after_tool: false }), rule, cause);
        self.guessed_after = Some(before);
    }

    /// A tool event from before the registry's word and after everything else.
    fn knows_better(&self, event: &Event) -> bool {
        use EventKind as K;
        let about_work = matches!(
            event.kind,
            K::ToolStarted(_) | K::ToolEnded { .. } | K::BatchEnded(_) | K::PermissionAsked(_)
        );
        about_work && self.guessed_after.is_some_and(|after| after < event.fired_at)
    }

    fn move_to(&mut self, to: AgentState, rule: Rule, cause: Cause) {
        if to == AgentState::Working(Activity::Compacting) {
            self.before_compaction = Some(self.state.clone());
        }
        self.state = to;
        self.rule = rule;
        self.moved_by = cause.seq;
        self.guessed_after = self.guessed_after.filter(|_| cause.at < self.changed_at).map(|_| cause.at);
        self.changed_at = self.changed_at.max(cause.at);
    }

    fn tool_in_use(&self) -> Option<String> {
        match &self.state {
            AgentState::Working(Activity::Tool { name, .. }) => Some(name.clone()),
            _ => None,
        }
    }
}
