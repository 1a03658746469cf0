//! An ask as the engine knows it, open or ended.

use flightdeck_core::approval::resolution::{NeedKind, Resolution};
use flightdeck_core::fleet::{Fleet, FoundAsk};
use flightdeck_core::ids::{AgentId, AskId, HostId, SessionId};
use flightdeck_core::time::Timestamp;

#[derive(Clone, Debug)]
pub struct KnownAsk {
    pub session_id: SessionId,
    /// The machine that the session belongs to.
    pub host: HostId,
    /// The event that asked.
    pub seq: u64,
    pub kind: NeedKind,
    pub agent_id: Option<AgentId>,
    pub opened_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub resolution: Option<Resolution>,
    pub answerable: bool,
}

impl KnownAsk {
    pub(super) fn find(fleet: &Fleet, id: &AskId) -> Option<Self> {
        let (session, found) = fleet.find_ask(id)?;
        let (session_id, host) = (session.id.clone(), session.host.clone());
        Some(match found {
            FoundAsk::OnCard(ask) => Self {
                session_id,
                host,
                seq: ask.seq,
                kind: ask.kind,
                agent_id: ask.agent_id.clone(),
                opened_at: ask.opened_at,
                expires_at: ask.expires_at,
                resolution: ask.resolution.clone(),
                answerable: ask.is_answerable(),
            },
            FoundAsk::Past(ask) => Self {
                session_id,
                host,
                seq: ask.seq,
                kind: ask.kind,
                agent_id: None,
                opened_at: ask.opened_at,
                expires_at: None,
                resolution: Some(ask.resolution.clone()),
                answerable: false,
            },
        })
    }
}
