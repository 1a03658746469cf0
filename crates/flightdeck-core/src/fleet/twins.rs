//! An event that a script sends by `hooks.*` beside the ordinary hook counts once.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::limits::{TWIN_PAYLOADS_MAX, TWINS_MAX};
use crate::log::event::Event;
use crate::time::Timestamp;

/// The newest hook events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Twins(VecDeque<Twin>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Twin {
    key: u64,
    by_rpc: bool,
    at: Timestamp,
}

impl Twins {
    /// Whether the event came the other way before. Each event has one twin at most.
    pub(super) fn is_second(&mut self, event: &Event) -> bool {
        let Some((key, certain)) = event.effort.as_ref().and_then(|facts| facts.twin) else { return false };
        let (by_rpc, at) = (event.envelope.rpc, event.received_at);
        let fits = |twin: &Twin| {
            let soon = certain || at - twin.at <= TWIN_PAYLOADS_MAX;
            twin.key == key && twin.by_rpc != by_rpc && soon
        };
        if let Some(first) = self.0.iter().rposition(fits) {
            self.0.remove(first);
            return true;
        }
        self.0.push_back(Twin { key, by_rpc, at });
        if self.0.len() > TWINS_MAX {
            self.0.pop_front();
        }
        false
    }
}
