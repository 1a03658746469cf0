//! Everything the fold knows about one session.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::agent::{AgentState, IdleReason};
use super::assignment_tracker::AssignmentTracker;
use super::child::Child;
use super::failure::Failure;
use super::main_agent::MainAgent;
use super::process::{PastProcess, Process};
use super::registry_view::RegistryView;
use super::seat::Seat;
use super::shown::{Shown, StateReason, Transition};
use super::state_history::StateHistory;
use super::turn::Turn;
use crate::approval::ask::{Ask, PastAsk};
use crate::assignment::intent::{DetectedIntent, TurnIntent};
use crate::effort::EffortBrief;
use crate::ids::{AgentId, HostId, SessionId};
use crate::log::event::{Background, Event};
use crate::log::todo::Todo;
use crate::notify::NoteMark;
use crate::project::Project;
use crate::rules::Rule;
use crate::time::Timestamp;
use crate::usage::enrichment::Summary;
use crate::usage::status_line::NewestStatusLine;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    /// The session that this one took over from in the same process.
    pub continues: Option<SessionId>,
    /// The session that took over from this one; such a session is no longer on the board.
    pub replaced_by: Option<SessionId>,
    /// The machine that it belongs to.
    #[serde(default, skip_serializing_if = "HostId::is_this")]
    pub host: HostId,
    /// What this daemon knows about that machine, if it is another one. Not in the log.
    #[serde(skip)]
    pub owner: Option<Box<HostTerms>>,
    pub seat: Seat,
    pub entrypoint: Option<String>,
    pub project: Project,
    pub cwd: Option<String>,
    pub transcript_path: Option<String>,
    pub title: Option<String>,
    pub last_user_message: Option<String>,
    pub model: Option<String>,
    /// When a hook last named the model. A newer line of the transcript replaces it.
    #[serde(default)]
    pub model_at: Timestamp,
    pub permission_mode: Option<String>,
    /// The type that `claude --agent` was started with.
    #[serde(default)]
    pub agent_type: Option<String>,
    pub main: MainAgent,
    pub children: BTreeMap<AgentId, Child>,
    /// Subagents whose stop was their first event.
    pub stopped_agents: VecDeque<(AgentId, Timestamp)>,
    pub shown: Shown,
    /// The last entry of the client's registry.
    pub registry: Option<RegistryView>,
    /// When the hook that last changed the main agent or a subagent fired. An older registry entry is ignored, except for a
    /// moment (decision 0013).
    pub hook_changed_at: Timestamp,
    pub history: VecDeque<Transition>,
    /// The past states for the overview: with less detail than `history`, and over a longer time.
    #[serde(rename = "strip")]
    pub state_history: StateHistory,
    pub started_at: Timestamp,
    /// When it last started. A SessionEnd from before that belongs to an earlier process.
    pub began_at: Timestamp,
    pub last_activity_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub turn: Turn,
    pub background: Background,
    /// Digests of the ids of the shells in `background`, by which a transcript reports that they ended.
    #[serde(default)]
    pub background_shells: Vec<u64>,
    pub last_failure: Option<Failure>,
    pub todos: Vec<Todo>,
    /// Open asks, and asks that ended a moment ago.
    pub asks: Vec<Ask>,
    pub past_asks: VecDeque<PastAsk>,
    pub quiet_since: Option<Timestamp>,
    pub stale: bool,
    pub seen: bool,
    /// Set while the session is parked. The next change of the session ends it.
    #[serde(default)]
    pub parked: Option<Parking>,
    /// The end of the message that ended the last turn, from its Stop hook. `None` after the next prompt.
    #[serde(default)]
    pub last_said: Option<String>,
    /// When that Stop fired. A message of the transcript from before it is no newer.
    #[serde(default)]
    pub said_at: Option<Timestamp>,
    /// What the transcripts say. Stored beside the log, not in it.
    #[serde(skip)]
    pub enrichment: Option<Box<Summary>>,
    /// The prompt cache has expired; set by a timer.
    #[serde(skip)]
    pub cache_is_cold: bool,
    /// The newest status line of the client.
    #[serde(default)]
    pub status_line: Option<NewestStatusLine>,
    /// What the fold remembers about notes to the person.
    #[serde(default, skip_serializing_if = "NoteMark::is_empty")]
    pub note: NoteMark,
    /// The other live processes that hold this session. The fields above are of the process that the card shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Process>,
    /// Processes that held this session before.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub past_processes: VecDeque<PastProcess>,
    /// The effort that it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortBrief>,
    /// The intent of the message of the last Stop. `None` once work begins again.
    #[serde(default)]
    pub intent: Option<TurnIntent>,
    /// Tracks the assignment: what the person asked last, and its state.
    #[serde(default)]
    pub tracker: AssignmentTracker,
}

/// What this daemon knows about another host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostTerms {
    /// When its last presence arrived, if none arrived for 30 s.
    pub unreachable_since: Option<Timestamp>,
    /// What a person may do to its sessions from here: `answer`, `prompt`, `interrupt`, `focus`.
    pub accepts: Vec<String>,
    /// Whether it sends prompts, commands and outputs.
    pub shares_payloads: bool,
}

/// The mark of a parked session, which the person put aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Parking {
    pub since: Timestamp,
    /// `None`: until its next change.
    pub until: Option<Timestamp>,
}

impl Session {
    /// Creates a session for the first event that names it. It is idle, and this is not recorded as a change of state.
    pub fn new(id: SessionId, event: &Event) -> Self {
        let because = StateReason { seq: event.seq, rule: Rule::Created };
        let fresh = AgentState::Idle(IdleReason::Fresh);
        Self {
            id,
            continues: None,
            replaced_by: None,
            host: event.host.clone(),
            owner: None,
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
            agent_type: None,
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
            state_history: StateHistory::default(),
            started_at: event.fired_at,
            began_at: Timestamp::default(),
            last_activity_at: event.fired_at,
            ended_at: None,
            turn: Turn::default(),
            background: Background::default(),
            background_shells: Vec::new(),
            last_failure: None,
            todos: Vec::new(),
            asks: Vec::new(),
            past_asks: VecDeque::new(),
            quiet_since: None,
            stale: false,
            seen: false,
            parked: None,
            last_said: None,
            said_at: None,
            enrichment: None,
            cache_is_cold: false,
            status_line: None,
            note: NoteMark::default(),
            effort: None,
            beside: Vec::new(),
            past_processes: VecDeque::new(),
            intent: None,
            tracker: AssignmentTracker::default(),
        }
    }

    pub fn cache_expires_at(&self) -> Option<Timestamp> {
        self.enrichment.as_ref()?.known.cache_expires_at()
    }

    /// The intent of the message of the last Stop.
    pub(super) fn last_intent(&self) -> Option<&DetectedIntent> {
        Some(self.intent.as_ref()?.for_turn(self.turn.changed_files()))
    }

    /// The intent of the message of the last Stop, if the session has been idle since.
    pub fn idle_intent(&self) -> Option<&DetectedIntent> {
        let waits = self.shown.state == AgentState::Idle(IdleReason::TurnEnded);
        self.last_intent().filter(|_| waits)
    }

    pub fn print_mode(&self) -> bool {
        self.entrypoint.as_deref() == Some("sdk-cli")
    }
}
