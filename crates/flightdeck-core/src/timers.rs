//! Everything that happens by itself at a moment: a queue of timers that runs before each event, live and in replay.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What may come due for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Timer {
    /// The last word of the registry may count now.
    Settle,
    /// The client may have been sent on after its Stop.
    AfterStop,
    /// A working session may have gone quiet.
    Quiet,
    /// A session may have been left alone for hours.
    Stale,
    /// An ended session leaves the live set.
    Complete,
    /// An ended session leaves the board.
    Forget,
    /// An ask that ended leaves its card.
    AskLeaves,
    /// The provider may have let go of a session's prompt: its card changes tier.
    CacheCold,
}

/// Timers in the order they come due. Setting one twice at the same moment is one timer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timers {
    due: BTreeSet<(Timestamp, String, Timer)>,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Timestamp, session_id: &str, timer: Timer) {
        self.due.insert((at, session_id.to_owned(), timer));
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, ..)| *at)
    }

    /// The earliest timer due by `now`, taken out.
    pub(crate) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, String, Timer)> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop_first()
    }
}
