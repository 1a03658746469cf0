//! The wall clock, in one place: everything else is handed the time.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use flightdeck_core::record::EventId;
use flightdeck_core::time::Timestamp;

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

pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A new id for an event that came without one.
pub fn fresh_id() -> EventId {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut random = [0; 8];
    // Without a random source the time alone still tells two events apart, unless they share a nanosecond.
    let _ = getrandom::fill(&mut random);
    EventId::new(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX), u64::from_le_bytes(random))
}
