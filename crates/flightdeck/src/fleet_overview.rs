//! The fleet in a few numbers: how many sessions are where, and how much of the subscription is used up.

use flightdeck_core::board::on_board;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::lens::{Group, StateName};
use flightdeck_core::status_line::RateLimits;
use flightdeck_core::time::Timestamp;
use serde::Serialize;

/// `GET /api/fleet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// `None` until a status line told them, and once they have been reset.
    pub rate_limits: Option<RateLimits>,
    pub sessions: usize,
    pub needs_you: usize,
    pub running: usize,
    pub done: usize,
}

pub(crate) fn overview(fleet: &Fleet, now: Timestamp) -> Overview {
    let mut overview = Overview { rate_limits: fleet.rate_limits(now), ..Overview::default() };
    for session in fleet.sessions().filter(|s| on_board(s)) {
        overview.sessions += 1;
        match StateName::of(&session.shown.state).group() {
            Group::NeedsYou => overview.needs_you += 1,
            Group::Running => overview.running += 1,
            Group::Done => overview.done += 1,
        }
    }
    overview
}
