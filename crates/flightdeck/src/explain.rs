//! What the engine answers about one session's state and every session's past.

use bytes::Bytes;
use flightdeck_core::explain;
pub(crate) use flightdeck_core::explain::{Explanation, explain};
use flightdeck_core::fleet::Fleet;
use flightdeck_core::time::Timestamp;

/// Written here, so that what leaves the engine borrows nothing of the fleet.
pub(crate) fn history(fleet: &Fleet, since: Timestamp) -> Bytes {
    let json = serde_json::to_vec(&explain::history(fleet, since));
    json.map_or_else(|_| Bytes::from_static(b"{\"sessions\":[]}"), Bytes::from)
}
