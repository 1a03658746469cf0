//! The fleet in a few numbers: how many sessions are in each column, and how much of the subscription is used up.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::session::state_name::{Group, StateName};
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::needs_person;
use flightdeck_core::view::on_board;
pub use flightdeck_protocol::fleet::FleetOverview as Overview;

pub(crate) fn overview(fleet: &Fleet, now: Timestamp) -> Overview {
    let mut overview = Overview { rate_limits: fleet.rate_limits(now), ..Overview::default() };
    for session in fleet.sessions().filter(|s| on_board(s)) {
        overview.sessions += 1;
        overview.blocks_or_asks += usize::from(needs_person(session));
        match StateName::from_state(&session.shown.state).group() {
            Group::NeedsYou => overview.needs_you += 1,
            Group::Running => overview.running += 1,
            Group::Done => overview.done += 1,
        }
    }
    overview
}
