//! Seats as they go over the wire.

use serde::{Deserialize, Serialize};

use super::lens::{self, FleetStatus};
use crate::fleet::{ChosenBy, Fleet, KnownSeat};
use crate::ids::{SeatId, SeatName, SessionId};
use crate::session::state_name::StateName;

/// A lasting place, and the session that sits or last sat there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "KnownSeat"))]
pub struct KnownSeatCard {
    pub id: SeatId,
    pub name: Option<SeatName>,
    pub host: Option<String>,
    pub pane: Option<String>,
    pub tmux_socket: Option<String>,
    pub pid: Option<u32>,
    pub session_id: SessionId,
    /// The fleet status of its session; `done` if the seat is free.
    pub status: FleetStatus,
    /// The seat above it: the one with the name that `seat.claim` or fleet.yaml gave as its parent. `None` if no session has had a seat
    /// of that name.
    pub parent: Option<SeatId>,
    /// Why the session was given this seat.
    pub chosen_by: ChosenBy,
    /// Whether a session sits there now.
    pub occupied: bool,
}

/// All known seats: occupied seats first, then free seats, the last left first.
pub fn seat_cards(fleet: &Fleet) -> Vec<KnownSeatCard> {
    let mut seats: Vec<_> = fleet.seats().collect();
    seats
        .sort_by_key(|seat| (seat.free_since.is_some(), std::cmp::Reverse(seat.free_since), seat.id.clone()));
    let card = |seat: &KnownSeat| {
        let session = fleet.get(&seat.session_id).filter(|_| seat.free_since.is_none());
        let status = session.map(|s| lens::fleet_status(StateName::from_state(&s.shown.state), s.seen));
        let host =
            if seat.host.is_this() { fleet.settings().host.clone() } else { Some(seat.host.to_string()) };
        KnownSeatCard {
            id: seat.id.clone(),
            name: seat.name.clone(),
            host,
            pane: seat.pane.clone(),
            tmux_socket: seat.tmux_socket.clone(),
            pid: seat.pid,
            session_id: seat.session_id.clone(),
            status: status.unwrap_or(FleetStatus::Done),
            parent: parent(fleet, &seats, seat),
            chosen_by: seat.chosen_by,
            occupied: session.is_some(),
        }
    };
    seats.iter().map(|seat| card(seat)).collect()
}

/// The parent of a seat. A parent is claimed by its name, and names are valid only on their own machine. `seats` is sorted like
/// the list, so an occupied seat is found before a free seat with the same name.
fn parent(fleet: &Fleet, seats: &[&KnownSeat], seat: &KnownSeat) -> Option<SeatId> {
    let name = seat.name.as_ref().filter(|_| seat.host.is_this())?;
    let parent = fleet.parent_of_seat(name)?;
    let above = seats.iter().find(|other| other.host.is_this() && other.name.as_ref() == Some(parent));
    above.map(|seat| seat.id.clone())
}
