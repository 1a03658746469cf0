//! One process that holds a session, and the order in which several of them are shown (decision 0015).
//!
//! The fields of `Session` are those of the process that the card shows. [`Process`] has the same fields for every other
//! process of the session.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::agent::{AgentState, IdleReason};
use super::child::Child;
use super::failure::Failure;
use super::ledger::within_a_moment;
use super::main_agent::MainAgent;
use super::registry_view::RegistryView;
use super::seat::Seat;
use super::shown::{Shown, StateReason};
use super::turn::Turn;
use crate::approval::ask::Ask;
use crate::approval::resolution::NeedKind;
use crate::assignment::intent::TurnIntent;
use crate::ids::{AgentId, HostId};
use crate::log::event::{Background, Event, EventKind};
use crate::rules::Rule;
use crate::time::Timestamp;
use crate::wire::registry::ClientStatus;

/// What belongs to one process of a session. Title, prompts, to-dos and numbers belong to the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    pub seat: Seat,
    pub entrypoint: Option<String>,
    pub cwd: Option<String>,
    pub permission_mode: Option<String>,
    #[serde(default)]
    pub agent_type: Option<String>,
    pub main: MainAgent,
    pub children: BTreeMap<AgentId, Child>,
    pub stopped_agents: VecDeque<(AgentId, Timestamp)>,
    pub shown: Shown,
    pub registry: Option<RegistryView>,
    pub hook_changed_at: Timestamp,
    pub began_at: Timestamp,
    /// The turn of this process. Its field `count` is not used: turns are counted for the whole conversation.
    pub turn: Turn,
    pub background: Background,
    #[serde(default)]
    pub background_shells: Vec<u64>,
    pub last_failure: Option<Failure>,
    #[serde(default)]
    pub last_said: Option<String>,
    #[serde(default)]
    pub said_at: Option<Timestamp>,
    pub asks: Vec<Ask>,
    #[serde(default)]
    pub intent: Option<TurnIntent>,
}

/// The facts of one process that decide which process a line of the transcript is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessFacts<'a> {
    pub(super) main: &'a MainAgent,
    pub(super) children: &'a BTreeMap<AgentId, Child>,
    pub(super) turn: &'a Turn,
    pub(super) registry: Option<&'a RegistryView>,
    pub(super) asks: &'a [Ask],
    pub(super) hook_changed_at: Timestamp,
}

/// A process that no longer holds the session. Its late hooks must not bring it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PastProcess {
    #[serde(default, skip_serializing_if = "HostId::is_this")]
    pub host: HostId,
    pub pid: u32,
    pub proc_start: Option<String>,
    pub left_at: Timestamp,
}

/// The process that an event names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessName<'a> {
    pub(crate) host: &'a HostId,
    pub(crate) pid: u32,
    pub(crate) proc_start: Option<&'a str>,
}

impl<'a> ProcessName<'a> {
    /// `None` if the event does not name a process, as hooks over HTTP.
    pub(super) fn in_event(event: &'a Event) -> Option<Self> {
        let (pid, proc_start) = match &event.kind {
            EventKind::ProcessGone { pid, proc_start } => (*pid, proc_start.as_deref()),
            _ => (event.envelope.pid?, event.envelope.proc_start.as_deref()),
        };
        Some(Self { host: &event.host, pid, proc_start })
    }

    pub(crate) fn is_of(self, seat: &Seat) -> bool {
        self.names(&seat.host, seat.pid, seat.proc_start.as_deref())
    }

    pub(super) fn is_past(self, past: &PastProcess) -> bool {
        self.names(&past.host, Some(past.pid), past.proc_start.as_deref())
    }

    /// If one start time is unknown, the pid alone identifies the process.
    fn names(self, host: &HostId, pid: Option<u32>, proc_start: Option<&str>) -> bool {
        let same_start = match (self.proc_start, proc_start) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        pid == Some(self.pid) && same_start && self.host == host
    }
}

impl Process {
    /// A process first seen through `event`: fresh and idle.
    pub(super) fn new(event: &Event) -> Self {
        Self {
            seat: Seat::default(),
            entrypoint: None,
            cwd: None,
            permission_mode: None,
            agent_type: None,
            main: MainAgent::fresh(),
            children: BTreeMap::new(),
            stopped_agents: VecDeque::new(),
            shown: Shown {
                state: AgentState::Idle(IdleReason::Fresh),
                since: event.fired_at,
                after: Timestamp::default(),
                source: event.source,
                because: StateReason { seq: event.seq, rule: Rule::Created },
            },
            registry: None,
            hook_changed_at: Timestamp::default(),
            began_at: Timestamp::default(),
            turn: Turn::default(),
            background: Background::default(),
            background_shells: Vec::new(),
            last_failure: None,
            last_said: None,
            said_at: None,
            intent: None,
            asks: Vec::new(),
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

    pub(super) fn urgency(&self) -> ProcessUrgency {
        ProcessUrgency::new(&self.shown, &self.turn, &self.seat)
    }

    pub(super) fn is_in_a_turn(&self) -> bool {
        is_in_a_turn(&self.main, &self.children)
    }
}

/// Working, or waiting for the person during work.
pub(super) fn is_in_a_turn(main: &MainAgent, children: &BTreeMap<AgentId, Child>) -> bool {
    let asks = || main.ledger.is_blocked() || children.values().any(|child| child.ledger.is_blocked());
    main.state.is_working() || asks()
}

/// How well a process fits a hook that does not say which process sent it. The best is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SenderFit {
    /// It waits for a person, so it sends nothing.
    Blocked,
    /// It works, and the hook begins a turn; or it rests, and the hook is of a running turn.
    Unlikely,
    Likely,
    /// Its registry entry became busy a moment ago, and no hook said why.
    JustBusy,
}

impl ProcessFacts<'_> {
    /// Whether a hook without a pid is about a call, a subagent or a turn of this process.
    pub(super) fn is_concerned_by(&self, event: &Event) -> bool {
        let ledger = &self.main.ledger;
        let prompt = event.facts.prompt_id.as_ref();
        let has_call = match &event.kind {
            EventKind::ToolStarted(tool) | EventKind::PermissionAsked(tool) => ledger.is_open(tool),
            EventKind::ToolEnded { tool, .. } => ledger.is_open(tool),
            EventKind::BatchEnded(calls) => calls.iter().any(|tool| ledger.is_open(tool)),
            _ => false,
        };
        has_call
            || event.agent_id.as_ref().is_some_and(|id| self.children.contains_key(id))
            || (prompt.is_some() && self.turn.prompt_id.as_ref() == prompt)
    }

    pub(super) fn may_have_sent(&self, event: &Event) -> SenderFit {
        let begins = matches!(event.kind, EventKind::Prompted { .. });
        let works = self.main.state.is_working();
        let just_busy = self.registry.is_some_and(|view| {
            view.status == ClientStatus::Busy && within_a_moment(view.status_at, event.fired_at)
        });
        let agent_asks = || self.children.values().any(|child| child.ledger.is_blocked());
        match () {
            // The dialog of a subagent covers the prompt box, but the main agent works on.
            () if self.main.ledger.is_blocked() || begins && agent_asks() => SenderFit::Blocked,
            () if begins && !works && just_busy => SenderFit::JustBusy,
            () if begins != works => SenderFit::Likely,
            () => SenderFit::Unlikely,
        }
    }
}

/// The order of the processes of one session; the least is shown. First a process that waits for a person, then a failure,
/// then work, then an interrupted turn, then rest, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ProcessUrgency {
    class: u8,
    /// Among processes with open needs, the most urgent kind comes first, and then the oldest need.
    need: Option<(NeedKind, Timestamp)>,
    /// Among working processes, the newest prompt comes first. Single calls must not make the card switch back and forth.
    turn: Reverse<Option<Timestamp>>,
    since: Reverse<Timestamp>,
    pid: Option<u32>,
}

impl ProcessUrgency {
    pub(super) fn new(shown: &Shown, turn: &Turn, seat: &Seat) -> Self {
        let (class, need, turn) = match &shown.state {
            AgentState::Blocked(need) => (0, Some((need.kind, need.opened_at)), None),
            AgentState::Idle(IdleReason::Failed { .. }) => (1, None, None),
            AgentState::Working(_) => (2, None, turn.started_at.filter(|_| turn.open)),
            AgentState::Idle(IdleReason::Interrupted { .. }) => (3, None, None),
            AgentState::Idle(
                IdleReason::TurnEnded
                | IdleReason::EndedAway
                | IdleReason::StoppedByHook { .. }
                | IdleReason::Fresh,
            ) => (4, None, None),
            AgentState::Ended(_) => (5, None, None),
        };
        Self { class, need, turn: Reverse(turn), since: Reverse(shown.since), pid: seat.pid }
    }
}
