//! Numbers of sessions whose first event has not arrived yet.

use std::collections::{BTreeMap, BTreeSet};

use flightdeck_core::ids::{HostId, SessionId};
use flightdeck_core::limits::FLEET_SESSIONS_MAX;

use super::wire::SummaryMessage;

/// At most as many as the board may have sessions. If there are more, the further ones are dropped: they are sent again when they change.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlySummaries(BTreeMap<SessionId, SummaryMessage>);

impl EarlySummaries {
    /// `id` is the id on this daemon's board.
    pub(super) fn keep(&mut self, id: SessionId, message: SummaryMessage) {
        if self.0.len() < FLEET_SESSIONS_MAX || self.0.contains_key(&id) {
            self.0.insert(id, message);
        }
    }

    /// Removes and returns the summaries whose sessions have arrived, each with its host.
    pub(super) fn take_arrived(&mut self, arrived: &BTreeSet<SessionId>) -> Vec<(HostId, SummaryMessage)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let found = arrived.iter().filter_map(|id| {
            let message = self.0.remove(id)?;
            let host = id.strip_prefix(&*message.session_id)?.strip_prefix('@')?;
            Some((HostId::from(host), message))
        });
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wait_for_their_session_and_know_its_host() {
        let message =
            SummaryMessage { session_id: "s".into(), known: Default::default(), files: Default::default() };
        let mut early = EarlySummaries::default();
        early.keep("s@a".into(), message.clone());
        assert!(early.take_arrived(&BTreeSet::from(["s".into()])).is_empty());
        assert_eq!(early.take_arrived(&BTreeSet::from(["s@a".into()])), [(HostId::new("a"), message)]);
        assert!(early.take_arrived(&BTreeSet::from(["s@a".into()])).is_empty());
    }
}
