//! The clocks of other hosts. Each presence contains the sender's time, and the server adds its own time when the presence arrives. Sender's
//! time minus server's time is how far a host's clock is ahead of the server's. The difference of this value between two hosts is how far
//! one clock is ahead of the other. A delay on the way makes a clock look slow, never fast, so the largest of a few measurements is used.

use std::collections::VecDeque;

use flightdeck_core::time::{Millis, Timestamp};

/// Most measurements that are kept: those of the last half minute.
const SAMPLES_MAX: usize = 3;
/// Smallest difference that is corrected. A smaller one cannot be distinguished from the delay of the network.
pub(super) const COUNTS_FROM: Millis = Millis(250);

/// How far a host's clock is ahead of the server's.
#[derive(Clone, Debug, Default)]
pub(super) struct AheadOfServer(VecDeque<i64>);

impl AheadOfServer {
    pub(super) fn add(&mut self, sent_at: i64, server_at: i64) {
        if self.0.len() == SAMPLES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(sent_at - server_at);
    }

    pub(super) fn millis(&self) -> Option<i64> {
        self.0.iter().copied().max()
    }
}

/// Corrects the times of one host's log and keeps their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Corrector {
    last: Option<(i64, i64)>,
}

impl Corrector {
    /// Corrects one time. If it is not before the previous time, the corrected time is not before the previous corrected time
    /// either, even if the measured difference has changed.
    pub(super) fn correct(&mut self, fired_at: i64, ahead: Millis) -> Timestamp {
        let mut corrected = fired_at.saturating_sub(ahead.0);
        if let Some((fired_before, corrected_before)) = self.last
            && fired_at >= fired_before
        {
            corrected = corrected.max(corrected_before);
        }
        self.last = Some((fired_at, corrected));
        Timestamp::from_millis(corrected)
    }
}

/// The correction for a measured difference: none for a small one.
pub(super) fn correction(ahead: Option<Millis>) -> Millis {
    ahead.filter(|ahead| ahead.0.abs() >= COUNTS_FROM.0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_presence_does_not_move_the_clock() {
        let mut ahead = AheadOfServer::default();
        for (sent, server) in [(74_000, 0), (84_000, 10_200), (94_000, 60_000)] {
            ahead.add(sent, server);
        }
        assert_eq!(ahead.millis(), Some(74_000));
        // The host's clock was corrected. After three presences the measurement has followed.
        for at in [110_000, 120_000, 130_000] {
            ahead.add(at, at);
        }
        assert_eq!(ahead.millis(), Some(0));
    }

    #[test]
    fn the_order_within_a_host_survives_a_changed_measurement() {
        let mut corrector = Corrector::default();
        let mut at = |fired, ahead| corrector.correct(fired, Millis(ahead)).as_millis();
        assert_eq!(at(100_000, 74_000), 26_000);
        // The measured difference grows by half a second. The next event is still not before the last one.
        assert_eq!(at(100_100, 74_500), 26_000);
        assert_eq!(at(101_000, 74_500), 26_500);
        // A hook with an earlier time than the last one keeps an earlier time.
        assert_eq!(at(100_500, 74_500), 26_000);
        // The clock is set back by 74 s: both the time and the measurement change.
        assert_eq!(at(27_000, 0), 27_000);
    }

    #[test]
    fn a_difference_within_the_noise_corrects_nothing() {
        assert_eq!(correction(Some(Millis(-249))), Millis(0));
        assert_eq!(correction(Some(Millis(-251))), Millis(-251));
        assert_eq!(correction(None), Millis(0));
    }
}
