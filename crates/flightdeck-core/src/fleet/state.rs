//! Everything the fold knows about the fleet.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::effort_index::EffortIndex;
use super::past::PastSession;
use super::processes::ProcessKey;
use super::seats::{KnownSeat, Seats};
use super::timers::Timers;
use super::twins::Twins;
use crate::ids::{HostId, SessionId};
use crate::notify::NotifyRules;
use crate::rules::FoldSettings;
use crate::session::{HostTerms, Session};
use crate::time::Timestamp;
use crate::wire::status_line::RateLimits;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fleet {
    #[serde(skip)]
    pub(super) settings: FoldSettings,
    /// Shared with the snapshot that is being written: only a session that changes meanwhile is copied.
    pub(super) sessions: BTreeMap<SessionId, Arc<Session>>,
    /// Ids of sessions that ended and left the board: a late hook must not create them again.
    pub(super) ended: BTreeMap<SessionId, Timestamp>,
    /// The sessions that ended and left the board, as the overview shows them, oldest first.
    #[serde(default)]
    pub(super) past: VecDeque<PastSession>,
    /// The session that each process holds.
    pub(super) by_process: BTreeMap<ProcessKey, SessionId>,
    /// The seats: places that sessions occupy one after the other.
    #[serde(default)]
    pub(super) seats: Seats,
    #[serde(default)]
    pub(super) efforts: EffortIndex,
    #[serde(default)]
    pub(super) twins: Twins,
    pub(super) timers: Timers,
    /// When the prompt caches known from transcripts expire. Not in snapshots, because transcripts are read again.
    #[serde(skip)]
    pub(super) cooling: Timers,
    /// The newest limits of the person's subscription, and when that event fired.
    #[serde(default)]
    pub(super) rate_limits: Option<(Timestamp, RateLimits)>,
    /// Since when Flightdeck's hooks are not registered with the client; `None` while they are.
    #[serde(default)]
    pub(super) hooks_away_since: Option<Timestamp>,
    /// Since when the hooks of another host are not registered with its client.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) hooks_away_elsewhere: BTreeMap<HostId, Timestamp>,
    /// What is known about other hosts. Not in the log.
    #[serde(skip)]
    pub(super) host_terms: BTreeMap<HostId, HostTerms>,
    /// When the newest event was received.
    #[serde(default)]
    pub(super) heard_at: Timestamp,
    /// `seq` of the newest event applied.
    pub(super) last_seq: u64,
    /// The newest time seen: timers never run backwards.
    pub(super) now: Timestamp,
}

impl Fleet {
    pub fn new(settings: FoldSettings) -> Self {
        Self {
            settings,
            sessions: BTreeMap::new(),
            ended: BTreeMap::new(),
            past: VecDeque::new(),
            by_process: BTreeMap::new(),
            seats: Seats::default(),
            efforts: EffortIndex::default(),
            twins: Twins::default(),
            timers: Timers::default(),
            cooling: Timers::default(),
            rate_limits: None,
            hooks_away_since: None,
            hooks_away_elsewhere: BTreeMap::new(),
            host_terms: BTreeMap::new(),
            heard_at: Timestamp::default(),
            last_seq: 0,
            now: Timestamp::default(),
        }
    }

    /// Splits off the sessions, so that a snapshot can be written one session at a time.
    pub fn take_apart(mut self) -> (Self, impl Iterator<Item = Arc<Session>>) {
        let sessions = std::mem::take(&mut self.sessions);
        (self, sessions.into_values())
    }

    /// Adds a session read from the same snapshot.
    pub fn put_back(&mut self, session: Session) {
        self.sessions.insert(session.id.clone(), Arc::new(session));
    }

    /// Sets the settings of a fleet that was read from a snapshot: no snapshot contains them.
    pub fn with_settings(mut self, settings: FoldSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets which notes are made from now on.
    pub fn set_notify_rules(&mut self, rules: Option<NotifyRules>) {
        self.settings.notify = rules;
    }

    pub fn settings(&self) -> &FoldSettings {
        &self.settings
    }
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }
    pub fn now(&self) -> Timestamp {
        self.now
    }
    pub fn get(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.get(id).map(Arc::as_ref)
    }
    /// Sessions that ended and left the board.
    pub fn past_sessions(&self) -> impl Iterator<Item = &PastSession> {
        self.past.iter()
    }
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().map(Arc::as_ref)
    }
    /// Every known seat, occupied or free.
    pub fn seats(&self) -> impl Iterator<Item = &KnownSeat> {
        self.seats.iter()
    }
    pub fn len(&self) -> usize {
        self.sessions.len()
    }
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }
    pub fn next_wake(&self) -> Option<Timestamp> {
        [&self.timers, &self.cooling].into_iter().filter_map(Timers::next_due).min()
    }
}

/// The session for writing. Copies it if a snapshot still shares it.
pub(super) fn session_mut<'a>(
    sessions: &'a mut BTreeMap<SessionId, Arc<Session>>,
    id: &str,
) -> Option<&'a mut Session> {
    sessions.get_mut(id).map(Arc::make_mut)
}
