//! Decides when to reconnect and where to continue. Does no IO.

use std::time::Duration;

use flightdeck_protocol::changes::{Change, ChangeFrame};

/// Delay before the first attempt to reconnect: a daemon needs about this long to restart.
pub const RECONNECT_DELAY_MIN: Duration = Duration::from_millis(100);
/// Longest delay between two attempts: a person who starts the daemon again does not wait longer.
pub const RECONNECT_DELAY_MAX: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Reconnect {
    last_event_id: Option<String>,
    /// Failures since the last change was received.
    failures: u32,
}

impl Reconnect {
    pub(super) fn last_event_id(&self) -> Option<String> {
        self.last_event_id.clone()
    }

    pub(super) fn received(&mut self, frame: &ChangeFrame) {
        self.failures = 0;
        // A gap carries the newest id, but the snapshot behind it may not have arrived yet.
        self.last_event_id = match frame.change {
            Change::Gap {} => Some(String::new()),
            _ => Some(frame.id.clone()),
        };
    }

    /// Counts a failure; returns the delay before the next attempt.
    pub(super) fn failed(&mut self) -> Duration {
        let delay = reconnect_delay(self.failures);
        self.failures = self.failures.saturating_add(1);
        delay
    }
}

/// The delay before the next attempt after this many failures before the last one. It doubles each time.
pub fn reconnect_delay(failures: u32) -> Duration {
    RECONNECT_DELAY_MIN.saturating_mul(1 << failures.min(16)).min(RECONNECT_DELAY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: &str, change: Change) -> ChangeFrame {
        ChangeFrame { id: id.into(), change }
    }

    #[test]
    fn the_delay_doubles_up_to_its_limit_and_starts_again_after_a_change() {
        let mut reconnect = Reconnect::default();
        let delays: Vec<_> = (0..8).map(|_| reconnect.failed().as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        reconnect.received(&frame("b-1", Change::SessionRemoved { id: "s".into() }));
        assert_eq!(reconnect.failed(), RECONNECT_DELAY_MIN);
    }

    #[test]
    fn the_stream_continues_after_the_last_change_but_never_after_a_gap_alone() {
        let mut reconnect = Reconnect::default();
        assert_eq!(reconnect.last_event_id(), None);
        reconnect.received(&frame("b-1", Change::SessionRemoved { id: "s".into() }));
        assert_eq!(reconnect.last_event_id().as_deref(), Some("b-1"));
        // The daemon answers an unknown id with a gap and a snapshot.
        reconnect.received(&frame("b-9", Change::Gap {}));
        assert_eq!(reconnect.last_event_id().as_deref(), Some(""));
    }
}
