//! Which seat each session occupies. A seat is the lasting place that sessions occupy one after the other; the cascade in
//! [`Seats::choose`] finds it, and the reason is recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{HostId, SeatId, SeatName, SessionId};
use crate::limits::SEATS_MAX;
use crate::log::record::EventId;
use crate::session::{Seat, Session, replace_if_some};
use crate::time::Timestamp;

/// Why a session was given its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum ChosenBy {
    /// The session sits there already.
    Memory,
    /// The session sat there before it left the board.
    Store,
    /// `FLIGHTDECK_SEAT` or `AGENT_ID` names it.
    ExplicitId,
    Pane,
    Pid,
    /// An unclaimed seat in the same directory: its last session ended and its process is gone.
    Directory,
    New,
}

impl ChosenBy {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Store => "store",
            Self::ExplicitId => "explicit_id",
            Self::Pane => "pane",
            Self::Pid => "pid",
            Self::Directory => "directory",
            Self::New => "new",
        }
    }
}

/// A lasting place, and the session that sits or last sat there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSeat {
    pub id: SeatId,
    /// A seat with a name is claimed: only a session with that name, pane or process takes it.
    pub name: Option<SeatName>,
    #[serde(default, skip_serializing_if = "HostId::is_this")]
    pub host: HostId,
    pub pane: Option<String>,
    pub tmux_socket: Option<String>,
    pub pid: Option<u32>,
    pub proc_start: Option<String>,
    pub cwd: Option<String>,
    pub session_id: SessionId,
    pub chosen_by: ChosenBy,
    /// When the session of the seat ended or left the seat. `None` while the seat is occupied.
    pub free_since: Option<Timestamp>,
}

/// Two facts agree if they are equal or if one of them is unknown.
fn agree<T: PartialEq>(known: &Option<T>, said: &Option<T>) -> bool {
    known.is_none() || said.is_none() || known == said
}

impl KnownSeat {
    fn is_process(&self, seat: &Seat) -> bool {
        let same_start = match (&self.proc_start, &seat.proc_start) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        seat.pid.is_some() && self.pid == seat.pid && same_start && self.host == seat.host
    }

    fn is_pane(&self, seat: &Seat) -> bool {
        seat.pane.is_some()
            && self.pane == seat.pane
            && self.tmux_socket == seat.tmux_socket
            && self.host == seat.host
    }

    fn is_named(&self, seat: &Seat) -> bool {
        seat.name.is_some() && self.name == seat.name && self.host == seat.host
    }

    /// Whether no fact about the place of the session contradicts this seat.
    fn agrees(&self, seat: &Seat) -> bool {
        let same_process = seat.pid.is_none() || self.pid.is_none() || self.is_process(seat);
        agree(&self.pane, &seat.pane)
            && agree(&self.tmux_socket, &seat.tmux_socket)
            && agree(&self.name, &seat.name)
            && same_process
            && self.host == seat.host
    }

    fn is_occupied_by(&self, session: &Session) -> bool {
        self.session_id == session.id && self.free_since.is_none()
    }

    /// Whether the session stays in this seat. If it says its pane only now, it may sit in a pane that is known.
    fn is_kept_by(&self, session: &Session, seat: &Seat) -> bool {
        self.is_occupied_by(session) && (self.pane.is_some() || seat.pane.is_none()) && self.agrees(seat)
    }

    fn learn_from(&mut self, session: &Session, seat: &Seat) {
        if self.pid != seat.pid && seat.pid.is_some() {
            (self.pid, self.proc_start) = (seat.pid, None);
        }
        replace_if_some(&mut self.proc_start, seat.proc_start.as_ref());
        replace_if_some(&mut self.pane, seat.pane.as_ref());
        replace_if_some(&mut self.tmux_socket, seat.tmux_socket.as_ref());
        replace_if_some(&mut self.name, seat.name.as_ref());
        replace_if_some(&mut self.cwd, session.cwd.as_ref());
        self.host.clone_from(&seat.host);
        self.free_since = None;
        if self.session_id != session.id {
            self.session_id = session.id.clone();
        }
    }
}

/// Every known seat by its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seats {
    known: BTreeMap<SeatId, KnownSeat>,
    /// The seats of each session, newest last.
    #[serde(default)]
    of_session: BTreeMap<SessionId, Vec<SeatId>>,
}

impl Seats {
    pub(super) fn iter(&self) -> impl Iterator<Item = &KnownSeat> {
        self.known.values()
    }

    /// Gives the session's shown process its seat. `event` names a new seat.
    pub(super) fn give_seat(&mut self, session: &Session, event: EventId, at: Timestamp) {
        let seat = &session.seat;
        if session.shown.state.is_ended() {
            return self.free_seats_of(&session.id, at);
        }
        if seat.pid.is_none() && seat.pane.is_none() && seat.name.is_none() {
            return;
        }
        if let Some(known) = self.newest_of(&session.id).filter(|known| known.is_kept_by(session, seat)) {
            return known.learn_from(session, seat);
        }
        let (id, chosen_by) = self.choose(session, seat);
        let id = id.unwrap_or_else(|| SeatId::new(format!("s-{event}")));
        self.seat_at(session, seat, id, chosen_by, at);
    }

    /// The seat that the session took last.
    fn newest_of(&mut self, session: &SessionId) -> Option<&mut KnownSeat> {
        self.known.get_mut(self.of_session.get(session)?.last()?)
    }

    /// The cascade: memory, store, explicit id, pane or pid, an unclaimed seat in the same directory, a new one.
    fn choose(&self, session: &Session, seat: &Seat) -> (Option<SeatId>, ChosenBy) {
        let own = self.of_session.get(&session.id).into_iter().flatten().rev();
        let own: Vec<&KnownSeat> = own.filter_map(|id| self.known.get(id)).collect();
        if let Some(found) = own.iter().copied().find(|s| s.is_kept_by(session, seat)) {
            return (Some(found.id.clone()), ChosenBy::Memory);
        }
        let sat = |s: &KnownSeat| {
            s.session_id == session.id && s.agrees(seat) && s.free_since.is_some() && seat.pane.is_none()
        };
        if let Some(found) = own.iter().copied().find(|&s| sat(s)) {
            return (Some(found.id.clone()), ChosenBy::Store);
        }
        let by_id = self.known.values().find(|s| s.is_named(seat)).map(|s| (s, ChosenBy::ExplicitId));
        let free_to_take = || self.known.values().filter(|s| s.may_be_taken_by(seat));
        let by_pane = || free_to_take().find(|s| s.is_pane(seat)).map(|s| (s, ChosenBy::Pane));
        let by_pid = || free_to_take().find(|s| s.is_process(seat)).map(|s| (s, ChosenBy::Pid));
        if let Some((found, chosen_by)) = by_id.or_else(by_pane).or_else(by_pid) {
            let chosen_by = if found.is_occupied_by(session) { ChosenBy::Memory } else { chosen_by };
            return (Some(found.id.clone()), chosen_by);
        }
        match self.known.values().filter(|s| s.is_unclaimed_for(session, seat)).max_by_key(|s| s.free_since) {
            Some(found) => (Some(found.id.clone()), ChosenBy::Directory),
            None => (None, ChosenBy::New),
        }
    }

    fn seat_at(&mut self, session: &Session, seat: &Seat, id: SeatId, chosen_by: ChosenBy, at: Timestamp) {
        if !self.known.contains_key(&id) {
            self.make_room();
        }
        let known = self.known.entry(id.clone()).or_insert_with(|| KnownSeat {
            id: id.clone(),
            name: None,
            host: HostId::this_machine(),
            pane: None,
            tmux_socket: None,
            pid: None,
            proc_start: None,
            cwd: None,
            session_id: session.id.clone(),
            chosen_by,
            free_since: None,
        });
        if chosen_by == ChosenBy::Directory {
            // The process of the last session is gone, and the new session may be in another pane.
            (known.pid, known.proc_start, known.pane) = (None, None, None);
        }
        let before = (known.session_id != session.id).then(|| known.session_id.clone());
        known.learn_from(session, seat);
        if chosen_by != ChosenBy::Memory {
            known.chosen_by = chosen_by;
            self.free_others(session, seat, &id, at);
        }
        if let Some(before) = before {
            self.forget_of(&before, &id);
        }
        let of_session = self.of_session.entry(session.id.clone()).or_default();
        if of_session.last() != Some(&id) {
            of_session.retain(|other| *other != id);
            of_session.push(id);
        }
    }

    /// The session moved to another seat. Frees each of its earlier seats that none of its processes occupies any more.
    fn free_others(&mut self, session: &Session, seat: &Seat, taken: &SeatId, at: Timestamp) {
        let own = self.of_session.get(&session.id).cloned().unwrap_or_default();
        for id in own.iter().filter(|id| *id != taken) {
            let Some(other) = self.known.get_mut(id) else { continue };
            let still = session.seats().any(|s| s != seat && other.is_process(s));
            if other.session_id != session.id || still {
                continue;
            }
            other.free_since.get_or_insert(at);
            if other.pane.is_none() && other.name.is_none() {
                // Only its process identified this seat, and that process now occupies another seat.
                self.known.remove(id);
                self.forget_of(&session.id, id);
            }
        }
    }

    fn forget_of(&mut self, session: &SessionId, id: &SeatId) {
        if let Some(seats) = self.of_session.get_mut(session) {
            seats.retain(|other| other != id);
            if seats.is_empty() {
                self.of_session.remove(session);
            }
        }
    }

    /// The session ended: its seats are free, and stay known.
    pub(super) fn free_seats_of(&mut self, session: &SessionId, at: Timestamp) {
        let Some(own) = self.of_session.get(session) else { return };
        for id in own {
            if let Some(seat) = self.known.get_mut(id).filter(|seat| seat.session_id == *session) {
                seat.free_since.get_or_insert(at);
            }
        }
    }

    /// At the bound, forgets the seat that has been free for the longest time, otherwise the oldest.
    fn make_room(&mut self) {
        if self.known.len() < SEATS_MAX {
            return;
        }
        let oldest = self.known.values().min_by_key(|s| (s.free_since.is_none(), s.free_since, s.id.clone()));
        if let Some((id, session)) = oldest.map(|s| (s.id.clone(), s.session_id.clone())) {
            self.known.remove(&id);
            self.forget_of(&session, &id);
        }
    }
}

impl KnownSeat {
    /// A seat with another name belongs to that name.
    fn may_be_taken_by(&self, seat: &Seat) -> bool {
        self.name.is_none() || seat.name.is_none() || self.name == seat.name
    }

    fn is_unclaimed_for(&self, session: &Session, seat: &Seat) -> bool {
        self.free_since.is_some()
            && self.name.is_none()
            && seat.name.is_none()
            && self.cwd.is_some()
            && self.cwd == session.cwd
            && self.tmux_socket == seat.tmux_socket
            && self.host == seat.host
    }
}
