//! The wall clock. All other code gets the time as an argument or from a [`Clock`].

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::log::record::EventId;
use flightdeck_core::time::{Millis, Timestamp};
use tokio::time::Instant;

/// Returns the time. The daemon uses the wall clock; tests and simulations use their own.
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

/// How much slower our time passes while the wall clock is behind: timers still run, and the wall clock catches up.
const PACE_WHILE_BEHIND: i64 = 2;
/// A smaller step of the wall clock is ordinary time synchronisation and is not logged.
const LOGGED_FROM: Millis = Millis::seconds(2);

/// A clock that never goes back and never stops.
#[derive(Debug)]
pub struct Steady {
    clock: Clock,
    /// Set while the wall clock is behind: the time reached before, and when that was noticed.
    behind: Option<(Timestamp, Instant)>,
    /// The wall clock at the last call, with the monotonic clock at that moment.
    last_read: Option<(Timestamp, Instant)>,
}

impl Steady {
    pub fn new(clock: Clock) -> Self {
        Self { clock, behind: None, last_read: None }
    }

    pub fn wall(&self) -> Timestamp {
        self.clock.now()
    }

    /// `reached` is the latest time that was given out.
    pub fn now(&mut self, reached: Timestamp) -> Timestamp {
        let wall = self.clock.now();
        self.log_a_leap(wall);
        if wall >= reached {
            self.behind = None;
            return wall;
        }
        let (from, since) = *self.behind.get_or_insert_with(|| {
            let back_ms = (reached - wall).0;
            if back_ms >= LOGGED_FROM.0 {
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

    /// Logs that the wall clock went ahead. Timers go ahead with it, and the log then explains why a session became stale.
    fn log_a_leap(&mut self, wall: Timestamp) {
        let now = Instant::now();
        if let Some((then, read_at)) = self.last_read.replace((wall, now)) {
            let passed = i64::try_from((now - read_at).as_millis()).unwrap_or(i64::MAX);
            let ahead_ms = (wall - then).0.saturating_sub(passed);
            if ahead_ms >= LOGGED_FROM.0 {
                tracing::info!(ahead_ms, "the wall clock went ahead: it was set, or the machine slept");
            }
        }
    }
}

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A new id for an event that has none.
pub fn fresh_id() -> EventId {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    EventId::new(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), flightdeck_hook::stamp::random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_while_the_wall_clock_is_behind() {
        let wall = Timestamp::from_millis(1_000);
        let mut clock = Steady::new((move || wall).into());
        let reached = wall + Millis::hours(1);
        assert!(clock.now(reached) >= reached);
        while clock.now(reached) == reached {
            std::thread::yield_now();
        }
        // The wall clock has caught up and counts again.
        assert_eq!((clock.now(wall), clock.wall()), (wall, wall));
    }
}
