//! The subagents on a card: those that hooks reported, and those that only the transcripts know.

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, SessionId};
use crate::limits::CHILDREN_MAX;
use crate::session::agent::AgentState;
use crate::session::{Child, Session};
use crate::time::Timestamp;
use crate::usage::amounts::{Cost, Tokens};
use crate::usage::enrichment::AgentLines;
use crate::usage::session_files::AgentNote;
use crate::view::lens::{self, StatusCard};

/// The type of a subagent about which the client wrote no note.
const UNKNOWN_TYPE: &str = "subagent";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "SubAgent"))]
pub struct SubAgentCard {
    pub id: AgentId,
    #[serde(rename = "type")]
    pub agent_type: String,
    pub state: SubAgentState,
    pub label: String,
    /// The three-state view: what it does now, or why it waits. `None` only on a card of an earlier daemon.
    #[serde(default)]
    pub status: Option<StatusCard>,
    /// The session that it belongs to.
    #[serde(default)]
    pub parent_session_id: Option<SessionId>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// From its start to its end; `None` while it runs.
    #[serde(default)]
    pub duration_seconds: Option<f64>,
    /// What it was started for, in a few words of the main agent.
    #[serde(default)]
    pub description: Option<String>,
    /// The task of the subagent, from the subagent's transcript.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The call of the main agent that started it.
    #[serde(default)]
    pub tool_use_id: Option<String>,
    /// From its own transcript.
    #[serde(default)]
    pub tokens: Option<Tokens>,
    #[serde(default)]
    pub cost: Option<Cost>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum SubAgentState {
    Working,
    Blocked,
    Done,
    Failed,
}

/// The cards of a session's subagents, oldest first, so that the order stays the same when one ends.
pub(super) fn sub_agent_cards(session: &Session) -> Vec<SubAgentCard> {
    let mut cards: Vec<_> = session.children.iter().map(|(id, child)| reported(session, id, child)).collect();
    let mut others: Vec<_> = unreported(session).collect();
    // If there are too many, the newest are shown.
    others.sort_by(|a, b| (b.started_at, &b.id).cmp(&(a.started_at, &a.id)));
    cards.extend(others.into_iter().take(CHILDREN_MAX.saturating_sub(session.children.len())));
    cards.sort_by(|a, b| (a.started_at, &a.id).cmp(&(b.started_at, &b.id)));
    cards
}

fn reported(session: &Session, id: &AgentId, child: &Child) -> SubAgentCard {
    let (state, label) = match (child.ended_at, child.ledger.most_urgent()) {
        (Some(_), _) if child.failed.is_some() => (SubAgentState::Failed, failed_label(child)),
        (Some(_), _) => (SubAgentState::Done, "Done".to_owned()),
        (None, Some(need)) => (SubAgentState::Blocked, lens::label(&AgentState::Blocked(need.clone()))),
        (None, None) => (SubAgentState::Working, lens::label(&child.state)),
    };
    let status = match (child.ended_at, child.ledger.most_urgent()) {
        (Some(_), _) => StatusCard::ENDED,
        (None, Some(need)) => StatusCard::new(&AgentState::Blocked(need.clone())),
        (None, None) => StatusCard::new(&child.state),
    };
    let card = SubAgentCard {
        id: id.clone(),
        agent_type: child.agent_type.clone(),
        state,
        label,
        status: Some(status),
        parent_session_id: Some(session.id.clone()),
        started_at: child.started_at,
        ended_at: child.ended_at,
        duration_seconds: child.ended_at.map(|end| lens::seconds_between(child.started_at, end)),
        description: None,
        prompt: None,
        tool_use_id: None,
        tokens: None,
        cost: None,
    };
    with_notes(session, card)
}

fn failed_label(child: &Child) -> String {
    format!("{} failed: {}", child.agent_type, child.failed.as_deref().unwrap_or("unknown"))
}

/// Subagents that no hook reported, because the session has no hooks or the hooks were installed later. Subagents from before the last
/// start of the session are left out.
fn unreported(session: &Session) -> impl Iterator<Item = SubAgentCard> {
    let summary = session.enrichment.as_deref();
    let files = summary.into_iter().flat_map(|summary| &summary.known.agent_lines);
    files.filter_map(move |(id, lines)| {
        let note = summary.and_then(|summary| summary.files.agents.get(id));
        let id = AgentId::from(id.as_str());
        let is_agent = note.map_or_else(|| is_agent_id(&id), |note| !note.agent_type.is_empty());
        (is_agent && !is_reported(session, &id)).then(|| unreported_card(session, id, lines, note)).flatten()
    })
}

/// Whether a hook reported the subagent, in the shown process or in another process that holds the session.
fn is_reported(session: &Session, id: &AgentId) -> bool {
    let mut beside = session.beside.iter();
    session.children.contains_key(id) || beside.any(|process| process.children.contains_key(id))
}

/// Whether the id is that of a subagent. Clients that write no note give their own helpers ids with a word and a hyphen: `acompact-3f2a`.
fn is_agent_id(id: &AgentId) -> bool {
    id.as_str().chars().all(|c| c.is_ascii_alphanumeric())
}

/// When the subagent stopped, if any process of the session knows that.
fn stopped_at(session: &Session, id: &AgentId) -> Option<Timestamp> {
    let beside = session.beside.iter().flat_map(|process| &process.stopped_agents);
    let mut stopped = session.stopped_agents.iter().chain(beside);
    stopped.find(|(agent, _)| agent == id).map(|(_, at)| *at)
}

/// Whether the subagent may still run. No event reports the end of a subagent that was interrupted. So no subagent counts as running while
/// the main agent is idle, and a subagent whose last line is older than the present work does not count as running again.
fn may_run(session: &Session, lines: &AgentLines) -> bool {
    let main = &session.main;
    main.state.is_working() && main.works_since.is_none_or(|since| lines.last_at >= Some(since))
}

fn unreported_card(
    session: &Session,
    id: AgentId,
    lines: &AgentLines,
    note: Option<&AgentNote>,
) -> Option<SubAgentCard> {
    let started_at = lines.first_at.filter(|at| *at >= session.began_at)?;
    let stopped_at = stopped_at(session, &id);
    let runs = !note.is_some_and(|note| note.finished) && stopped_at.is_none() && may_run(session, lines);
    let (state, label) = match runs {
        true => (SubAgentState::Working, "Working"),
        false => (SubAgentState::Done, "Done"),
    };
    let ended_at = (!runs).then_some(stopped_at.or(lines.last_at).unwrap_or(started_at));
    let card = SubAgentCard {
        id,
        agent_type: note.map_or_else(|| UNKNOWN_TYPE.to_owned(), |note| note.agent_type.clone()),
        state,
        label: label.to_owned(),
        status: Some(if runs { StatusCard::WORKING } else { StatusCard::ENDED }),
        parent_session_id: Some(session.id.clone()),
        started_at,
        ended_at,
        duration_seconds: ended_at.map(|end| lens::seconds_between(started_at, end)),
        description: None,
        prompt: None,
        tool_use_id: None,
        tokens: None,
        cost: None,
    };
    Some(with_notes(session, card))
}

/// The card with what the client wrote about the subagent: its task, its tokens, its cost.
fn with_notes(session: &Session, card: SubAgentCard) -> SubAgentCard {
    let Some(summary) = session.enrichment.as_deref() else { return card };
    let id = card.id.as_str();
    let note = summary.files.agents.get(id);
    SubAgentCard {
        description: note.and_then(|note| note.description.clone()),
        prompt: summary.known.agent_lines.get(id).and_then(|lines| lines.prompt.clone()),
        tool_use_id: note.and_then(|note| note.tool_use_id.clone()),
        tokens: summary.known.agents.get(id).map(|usage| Tokens::sum_usage(usage.values())),
        cost: summary.agents.get(id).map(Cost::from_bill),
        ..card
    }
}
