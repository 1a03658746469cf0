//! Timers: a queue that runs before each event, live and in replay.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::SessionId;
use crate::limits::COMPLETED_AFTER;
use crate::log::subject::Subject;
use crate::time::{Millis, Timestamp};

/// The kinds of timers of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Timer {
    /// The last registry entry has been stable long enough to count.
    Settle,
    /// The client may still be busy after its Stop.
    AfterStop,
    /// A working session may have gone quiet.
    Quiet,
    /// A session may have had no activity for hours.
    Stale,
    /// An ended session leaves the live set.
    Complete,
    /// An ended session leaves the board.
    Forget,
    /// An ask that ended leaves its card.
    AskLeaves,
    /// The provider may have dropped a session's cached prompt.
    CacheCold,
    /// The time until which a session was parked is over.
    Unpark,
    /// The state that a session entered has settled, so a note may be made. It runs after the timers that may change the state.
    Note,
}

/// Timers ordered by due time. Setting the same timer twice for the same time gives one timer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Timers {
    due: BTreeSet<(Timestamp, Subject, Timer)>,
}

impl Timers {
    pub(super) fn set(&mut self, at: Timestamp, subject: impl Into<Subject>, timer: Timer) {
        self.due.insert((at, subject.into(), timer));
    }

    /// An ended session leaves the live set a moment after its end was stored, and the board `keeps` after it ended. An end
    /// from the spool may have been stored much later; its card then leaves Done with the live set.
    pub(super) fn set_end(&mut self, id: &SessionId, ended: Timestamp, stored: Timestamp, keeps: Millis) {
        self.set(stored + COMPLETED_AFTER, id, Timer::Complete);
        self.set((ended + keeps).max(stored + COMPLETED_AFTER.min(keeps)), id, Timer::Forget);
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, ..)| *at)
    }

    /// Removes and returns the earliest timer due by `now`.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<(Timestamp, Subject, Timer)> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop_first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_a_snapshot_from_before_there_were_subjects_are_read() {
        let old = r#"{"due":[["2026-11-15T18:47:31.273Z","a","stale"],["2026-11-15T18:47:32.000Z","b","ask_leaves"]]}"#;
        let timers: Timers = serde_json::from_str(old).unwrap();
        let subjects: Vec<_> =
            timers.due.iter().map(|(_, subject, timer)| (subject.clone(), *timer)).collect();
        assert_eq!(
            subjects,
            [(SessionId::from("a").into(), Timer::Stale), (SessionId::from("b").into(), Timer::AskLeaves)]
        );
        assert_eq!(serde_json::to_string(&timers).unwrap(), old);
    }
}
