//! Why a session is in its state, and the past states of all sessions.

use bytes::Bytes;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::time::Timestamp;
pub(crate) use flightdeck_core::view::explain::{Explanation, explain};
use flightdeck_core::view::fleet_history;

/// Encoded here: the typed value borrows from the fleet and cannot leave the engine.
pub(crate) fn history(fleet: &Fleet, since: Timestamp) -> Bytes {
    let json = serde_json::to_vec(&fleet_history::fleet_history(fleet, since));
    json.map_or_else(|_| Bytes::from_static(b"{\"sessions\":[]}"), Bytes::from)
}
