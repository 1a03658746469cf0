//! Recognises twins: the same event, sent by an ordinary hook and by `hooks.*`. It counts once.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::limits::{TWIN_PAYLOADS_MAX, TWINS_MAX};
use crate::log::effort_facts::TwinKey;
use crate::log::event::Event;
use crate::log::record::EventId;
use crate::time::Timestamp;

/// The newest hook events, in one list for ordinary hooks and one for `hooks.*`. A twin is searched only in the other list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Twins {
    by_hook: VecDeque<Twin>,
    by_rpc: VecDeque<Twin>,
    /// The newest second events, each with the event that was applied in its place. Only the reply to the second event needs the pair,
    /// and at once, so a snapshot does not keep it.
    #[serde(skip)]
    seconds: VecDeque<(EventId, EventId)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Twin {
    key: u64,
    at: Timestamp,
    #[serde(skip)]
    id: EventId,
}

impl Twins {
    /// Whether the twin of this event was applied before. Each event has one twin at most.
    pub(super) fn is_second(&mut self, event: &Event) -> bool {
        let Some(TwinKey { hash: key, certain }) = event.twin else { return false };
        let at = event.received_at;
        let (same, other) = match event.envelope.rpc {
            true => (&mut self.by_rpc, &mut self.by_hook),
            false => (&mut self.by_hook, &mut self.by_rpc),
        };
        let fits = |twin: &Twin| twin.key == key && (certain || at - twin.at <= TWIN_PAYLOADS_MAX);
        if let Some(first) = other.iter().rposition(fits) {
            if let Some(first) = other.remove(first) {
                self.seconds.push_back((event.id, first.id));
            }
            if self.seconds.len() > TWINS_MAX {
                self.seconds.pop_front();
            }
            return true;
        }
        same.push_back(Twin { key, at, id: event.id });
        if same.len() > TWINS_MAX {
            same.pop_front();
        }
        false
    }

    /// The event that was applied in place of this one: messages and asks have its id.
    pub(super) fn applied_instead_of(&self, id: EventId) -> EventId {
        self.seconds.iter().rev().find(|(second, _)| *second == id).map_or(id, |(_, first)| *first)
    }
}
