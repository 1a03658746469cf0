//! The card of a session as it goes over the wire (API §1), and the order of cards on the board.

use serde::{Deserialize, Serialize};

use crate::agent::AgentState;
use crate::event::Background;
use crate::fleet::Fleet;
use crate::lens::{self, FleetStatus, Group, Role, StateName, StatusKind};
use crate::record::Source;
use crate::rules::Rules;
use crate::session::{Child, Failure, Session, Todo};
use crate::status_line;
use crate::time::Timestamp;

/// One session as viewers see it. Fields may be added; these names stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Session"))]
pub struct Card {
    pub id: String,
    pub continues: Option<String>,
    pub replaced_by: Option<String>,
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub ended_at: Option<Timestamp>,
    pub end_reason: Option<String>,
    pub seat: SeatCard,
    pub project: ProjectCard,
    pub git_branch: Option<String>,
    pub transcript_path: Option<String>,
    pub title: Option<String>,
    pub last_user_message: Option<String>,
    pub model: Option<String>,
    pub permission_mode: Option<String>,
    pub agent_state: StateCard,
    pub status: StatusCard,
    pub fleet_status: FleetStatus,
    pub rank: Rank,
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub quiet_since: Option<Timestamp>,
    pub stale: bool,
    pub seen: bool,
    pub current_activity: Option<String>,
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub started_at: Timestamp,
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub last_activity_at: Timestamp,
    pub turn_count: u32,
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub current_turn_started_at: Option<Timestamp>,
    pub last_turn_task_seconds: Option<f64>,
    pub tokens: Option<Tokens>,
    pub cost: Option<Cost>,
    pub context: Option<Context>,
    pub cache: Cache,
    pub sub_agents: Vec<SubAgentCard>,
    pub progress_items: Vec<Todo>,
    pub background: Background,
    pub queued_prompts: u32,
    pub last_failure: Option<Failure>,
    pub asks: Vec<Ask>,
    #[cfg_attr(feature = "ts", ts(type = "{ id: number; state: string; title: string | null } | null"))]
    pub assignment: Option<serde_json::Value>,
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown> | null"))]
    pub effort: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Seat"))]
pub struct SeatCard {
    pub pid: Option<u32>,
    pub pane: Option<String>,
    pub tmux_socket: Option<String>,
    pub name: Option<String>,
    pub host: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Project"))]
pub struct ProjectCard {
    pub name: String,
    pub path: Option<String>,
    pub worktree: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "AgentState"))]
pub struct StateCard {
    pub group: Group,
    pub state: StateName,
    pub label: String,
    pub icon: String,
    pub role: Role,
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub since: Timestamp,
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Status"))]
pub struct StatusCard {
    pub kind: StatusKind,
    pub detail: Option<String>,
    pub reason: Option<String>,
}

/// Opaque, ascending within a group. `default` puts warm caches first, `urgency` what is most urgent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Rank {
    pub default: String,
    pub urgency: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Tokens {
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub input: u64,
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub output: u64,
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub cache_read: u64,
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub cache_creation_5m: u64,
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub cache_creation_1h: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cost {
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub usd_micros: u64,
    #[cfg_attr(feature = "ts", ts(type = "number | null"))]
    pub client_usd_micros: Option<u64>,
    pub unpriced_models: Vec<String>,
    pub by_model: Vec<ModelCost>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelCost {
    pub model: String,
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub usd_micros: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Context {
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub tokens: u64,
    #[cfg_attr(feature = "ts", ts(type = "number | null"))]
    pub window: Option<u64>,
    pub percent: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cache {
    pub status: CacheStatus,
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub expires_at: Option<Timestamp>,
}

/// In the order of the board: what can still be answered cheaply comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum CacheStatus {
    Warm,
    Unknown,
    Cold,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "SubAgent"))]
pub struct SubAgentCard {
    pub id: String,
    #[serde(rename = "type")]
    pub agent_type: String,
    pub state: SubAgentState,
    pub label: String,
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub started_at: Timestamp,
    #[cfg_attr(feature = "ts", ts(type = "string | null"))]
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum SubAgentState {
    Working,
    Blocked,
    Done,
}

/// An open request a person can answer. Opened in a later change; the wire shape is fixed now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Ask {
    pub id: String,
    pub session_id: String,
    pub agent_id: Option<String>,
    pub kind: String,
    pub tool_name: Option<String>,
    #[cfg_attr(feature = "ts", ts(type = "unknown"))]
    pub tool_input: Option<serde_json::Value>,
}

/// Every card that belongs on the board: live ones, and ended ones still in Done.
pub fn board(fleet: &Fleet) -> Vec<Card> {
    fleet.sessions().filter(|s| on_board(s)).map(|s| card(s, fleet.rules())).collect()
}

/// A session replaced by its successor is only found by id.
pub fn on_board(session: &Session) -> bool {
    session.replaced_by.is_none()
}

pub fn card(session: &Session, rules: &Rules) -> Card {
    let state = StateName::of(&session.shown.state);
    let (kind, detail, reason) = lens::status(&session.shown.state);
    let line = session.status_line.as_ref();
    let cache = status_line::cache(line, Cache { status: CacheStatus::Unknown, expires_at: None });
    Card {
        id: session.id.clone(),
        continues: session.continues.clone(),
        replaced_by: session.replaced_by.clone(),
        ended_at: session.ended_at,
        end_reason: end_reason(session),
        seat: seat(session, rules),
        project: project(session),
        git_branch: line.and_then(|line| line.says.worktree.as_ref()?.branch.clone()),
        transcript_path: session.transcript_path.clone(),
        title: session.title.clone(),
        last_user_message: session.last_user_message.clone(),
        model: session.model.clone(),
        permission_mode: session.permission_mode.clone(),
        agent_state: StateCard {
            group: state.group(),
            state,
            label: lens::label(&session.shown.state),
            icon: state.icon().to_owned(),
            role: state.role(),
            since: session.shown.since,
            source: session.shown.source,
        },
        status: StatusCard { kind, detail, reason },
        fleet_status: lens::fleet_status(state, session.seen),
        rank: rank(session, state, cache.status),
        quiet_since: session.quiet_since,
        stale: session.stale,
        seen: session.seen,
        current_activity: current_activity(session),
        started_at: session.started_at,
        last_activity_at: session.last_activity_at,
        turn_count: session.turn.count,
        current_turn_started_at: session.turn.started_at,
        last_turn_task_seconds: session.turn.last.map(|t| t.as_seconds()),
        tokens: None,
        cost: status_line::cost(line, None),
        context: status_line::context(line, None),
        cache,
        sub_agents: sub_agents(session),
        progress_items: session.todos.clone(),
        background: session.background,
        queued_prompts: 0,
        last_failure: session.last_failure.clone(),
        asks: Vec::new(),
        assignment: None,
        effort: None,
    }
}

fn end_reason(session: &Session) -> Option<String> {
    match &session.shown.state {
        AgentState::Ended(reason) => Some(reason.as_str().to_owned()),
        _ => None,
    }
}

fn seat(session: &Session, rules: &Rules) -> SeatCard {
    let seat = &session.seat;
    SeatCard {
        pid: seat.pid,
        pane: seat.pane.clone(),
        tmux_socket: seat.tmux_socket.clone(),
        name: seat.name.clone(),
        host: rules.host.clone(),
    }
}

fn project(session: &Session) -> ProjectCard {
    ProjectCard {
        name: session.project.name().to_owned(),
        path: session.project.root().map(str::to_owned),
        worktree: session.project.worktree().map(str::to_owned).or_else(|| told_worktree(session)),
    }
}

fn told_worktree(session: &Session) -> Option<String> {
    Some(session.status_line.as_ref()?.says.worktree.as_ref()?.name.clone())
}

fn current_activity(session: &Session) -> Option<String> {
    session.main.state.is_working().then(|| lens::label(&session.main.state))
}

/// Oldest first, so that pills do not jump when one ends.
fn sub_agents(session: &Session) -> Vec<SubAgentCard> {
    let mut cards: Vec<_> = session.children.iter().map(|(id, child)| sub_agent(id, child)).collect();
    cards.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
    cards
}

fn sub_agent(id: &str, child: &Child) -> SubAgentCard {
    let foremost = child.ledger.foremost();
    let (state, label) = match (child.ended_at, foremost) {
        (Some(_), _) => (SubAgentState::Done, "Done".to_owned()),
        (None, Some(need)) => (SubAgentState::Blocked, lens::label(&AgentState::Blocked(need.clone()))),
        (None, None) => (SubAgentState::Working, lens::label(&child.state)),
    };
    SubAgentCard {
        id: id.to_owned(),
        agent_type: child.agent_type.clone(),
        state,
        label,
        started_at: child.started_at,
        ended_at: child.ended_at,
    }
}

/// Needs You: cache tier, urgency, recency (or urgency first). Running: newest turn first. Done: newest end first.
fn rank(session: &Session, state: StateName, cache: CacheStatus) -> Rank {
    let newest_first =
        |at: Timestamp| format!("{:013}", 9_999_999_999_999_i64 - at.as_millis().min(9_999_999_999_999));
    let id = session.id.get(..8).unwrap_or(&session.id);
    match state.group() {
        Group::NeedsYou => {
            let (tier, urgency) = (cache as u8, state.urgency());
            let recency = newest_first(session.last_activity_at);
            Rank {
                default: format!("{tier}{urgency}-{recency}-{id}"),
                urgency: format!("{urgency}{tier}-{recency}-{id}"),
            }
        }
        group => {
            let at = match group {
                Group::Done => session.ended_at.unwrap_or(session.last_activity_at),
                _ => session.turn.started_at.unwrap_or(session.last_activity_at),
            };
            let rank = format!("{}-{id}", newest_first(at));
            Rank { default: rank.clone(), urgency: rank }
        }
    }
}
