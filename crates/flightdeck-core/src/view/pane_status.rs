//! The fleet status of each tmux pane that a session occupies on this machine.

use crate::session::state_name::StateName;
use crate::session::{Seat, Session, Shown};
use crate::view::lens::{self, FleetStatus};

/// A pane of a tmux server. Two servers may have a pane with the same id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaneKey {
    /// The socket of the server.
    pub tmux_socket: String,
    /// `%5`
    pub pane: String,
}

/// The panes of the session's living processes, each with its status. Empty after the end of the session.
pub fn pane_statuses(session: &Session) -> Vec<(PaneKey, FleetStatus)> {
    if session.replaced_by.is_some() {
        return Vec::new();
    }
    let shown = (&session.seat, &session.shown);
    let beside = session.beside.iter().map(|process| (&process.seat, &process.shown));
    let of_process = |(seat, shown)| pane_status(seat, shown, session.seen);
    std::iter::once(shown).chain(beside).filter_map(of_process).collect()
}

fn pane_status(seat: &Seat, shown: &Shown, seen: bool) -> Option<(PaneKey, FleetStatus)> {
    if shown.state.is_ended() || !seat.host.is_this() {
        return None;
    }
    let key = PaneKey { tmux_socket: seat.tmux_socket.clone()?, pane: seat.pane.clone()? };
    Some((key, lens::fleet_status(StateName::from_state(&shown.state), seen)))
}
