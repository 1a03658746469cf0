//! A set of seats in tmux, as `fleet.yaml` describes it: started, stopped and attached.

mod file;
mod tmux;

pub use self::file::{FleetFile, FleetFileError, SeatEntry};
pub use self::tmux::{FleetTmux, SeatChange, TmuxFailed};
