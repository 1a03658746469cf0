//! The wall clock, in one place: everything else is handed the time.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::record::EventId;
use flightdeck_core::time::{Millis, Timestamp};
use tokio::time::Instant;

/// Tells the time. The daemon's is the wall clock; tests and simulations bring their own.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl<F: Fn() -> Timestamp + Send + Sync + 'static> From<F> for Clock {
    fn from(now: F) -> Self {
        Self(Arc::new(now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

/// How much slower time goes while the wall clock is behind: timers go on, and the wall clock catches up.
const PACE_WHILE_BEHIND: i64 = 2;
/// A clock set by less is the ordinary work of keeping it right.
const WORTH_A_LINE: Millis = Millis::seconds(2);

/// A clock that never goes back and never stands still.
#[derive(Debug)]
pub struct Steady {
    clock: Clock,
    /// Since the wall clock was set back: what had been reached, and when.
    behind: Option<(Timestamp, Instant)>,
    /// The wall clock when it was last looked at, and how long ago that is by the clock that nobody sets.
    looked: Option<(Timestamp, Instant)>,
}

impl Steady {
    pub fn new(clock: Clock) -> Self {
        Self { clock, behind: None, looked: None }
    }

    pub fn wall(&self) -> Timestamp {
        self.clock.now()
    }

    /// `reached` is the latest time that anybody was told.
    pub fn now(&mut self, reached: Timestamp) -> Timestamp {
        let wall = self.clock.now();
        self.notice_a_leap(wall);
        if wall >= reached {
            self.behind = None;
            return wall;
        }
        let (from, since) = *self.behind.get_or_insert_with(|| {
            let back_ms = (reached - wall).0;
            if back_ms >= WORTH_A_LINE.0 {
                tracing::warn!(
                    back_ms,
                    "the wall clock was set back; time goes on slowly until it catches up"
                );
            }
            (reached, Instant::now())
        });
        let passed = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
        reached.max(from + Millis(passed / PACE_WHILE_BEHIND))
    }

    /// Time leaps ahead with it, and so does every timer: whoever wonders why a session went stale finds the reason.
    fn notice_a_leap(&mut self, wall: Timestamp) {
        let now = Instant::now();
        if let Some((then, looked)) = self.looked.replace((wall, now)) {
            let passed = i64::try_from((now - looked).as_millis()).unwrap_or(i64::MAX);
            let ahead_ms = (wall - then).0.saturating_sub(passed);
            if ahead_ms >= WORTH_A_LINE.0 {
                tracing::info!(ahead_ms, "the wall clock went ahead: it was set, or the machine slept");
            }
        }
    }
}

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A new id for an event that came without one.
pub fn fresh_id() -> EventId {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    EventId::new(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), random())
}

/// Tells apart two events of one nanosecond. The keys of the standard library's hashes are random, and asked of the
/// kernel once a thread.
pub fn random() -> u64 {
    RandomState::new().hash_one(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_while_the_wall_clock_is_behind() {
        let wall = Timestamp::from_millis(1_000);
        let mut clock = Steady::new((move || wall).into());
        let reached = wall + Millis::hours(1);
        assert!(clock.now(reached) >= reached);
        while clock.now(reached) == reached {
            std::thread::yield_now();
        }
        // It caught up: what counts is the wall again.
        assert_eq!((clock.now(wall), clock.wall()), (wall, wall));
    }
}
