//! How often and how fast a client is started again. Pure: times are arguments.

use std::time::Duration;

/// A client that lived this long did some work: the next restart is the first in a row again.
const STEADY_AFTER: Duration = Duration::from_secs(5 * 60);
/// The wait before the second restart in a row; it doubles with each further one.
const DELAY_MIN: Duration = Duration::from_secs(1);
/// Longest wait: the person sees a terminal without a client meanwhile.
const DELAY_MAX: Duration = Duration::from_secs(30);
/// Restarts in a row unless the person says otherwise. More mean that the handoff itself fills the context.
pub const RESTARTS_MAX: u32 = 5;

/// Counts restarts in a row.
#[derive(Debug)]
pub(super) struct Restarts {
    max: u32,
    in_a_row: u32,
}

impl Restarts {
    pub(super) fn new(max: u32) -> Self {
        Self { max, in_a_row: 0 }
    }

    /// Decides about a restart of a client that has `lived` this long. Returns the wait before it, or `None` at the limit.
    pub(super) fn next(&mut self, lived: Duration) -> Option<Duration> {
        if lived >= STEADY_AFTER {
            self.in_a_row = 0;
        }
        if self.in_a_row >= self.max {
            return None;
        }
        let delay = match self.in_a_row {
            0 => Duration::ZERO,
            further => DELAY_MIN.saturating_mul(1 << (further - 1).min(16)).min(DELAY_MAX),
        };
        self.in_a_row += 1;
        Some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_in_a_row_come_slower_and_end() {
        let mut restarts = Restarts::new(8);
        let delays: Vec<_> =
            (0..9).map(|_| restarts.next(Duration::from_secs(20)).map(|d| d.as_secs())).collect();
        let expected = [0, 1, 2, 4, 8, 16, 30, 30].map(Some);
        assert_eq!(delays[..8], expected);
        assert_eq!(delays[8], None);
    }

    #[test]
    fn a_client_that_worked_for_a_while_starts_the_count_again() {
        let mut restarts = Restarts::new(1);
        assert_eq!(restarts.next(Duration::ZERO), Some(Duration::ZERO));
        assert_eq!(restarts.next(STEADY_AFTER - Duration::from_secs(1)), None);
        assert_eq!(restarts.next(STEADY_AFTER), Some(Duration::ZERO));
        assert_eq!(Restarts::new(0).next(STEADY_AFTER), None);
    }
}
