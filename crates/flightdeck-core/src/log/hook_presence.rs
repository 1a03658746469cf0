//! The record that Flightdeck's hooks are registered with the client, or are not.
//!
//! While they are away, the end of a turn is not reported: an idle client then does not mean that the person interrupted it.

use serde_json::{Map, json};

use super::record::{EventId, Record, Source};
use super::subject::Subject;

/// Name of such a record in the log.
pub const HOOKS_SEEN: &str = "hooks_seen";

/// What the daemon sees of its own hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookPresence {
    /// They are registered, and their events reach this daemon or its spool.
    pub present: bool,
    /// Whether this was seen when the daemon started. If the hooks are not present then, they may have been away since the last
    /// event in the log.
    pub at_start: bool,
}

/// The record of what the daemon sees. Its subject is no session, because it concerns every session of this machine.
pub fn hooks_seen_record(seen: HookPresence, id: EventId) -> Record {
    let payload = Map::from_iter([
        ("present".to_owned(), json!(seen.present)),
        ("at_start".to_owned(), json!(seen.at_start)),
    ]);
    Record::noticed_here(Source::Process, HOOKS_SEEN, Subject::None, payload, id)
}
