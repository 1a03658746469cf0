//! What every test of the built binary shares: a throw-away home, a running daemon, an HTTP client, a socket client.
//!
//! Methods named `try_…` return errors, for suites that report them. The others panic, for tests.

#![allow(clippy::panic, reason = "a test stops where it goes wrong")]

mod daemon;
mod home;
pub mod http;
mod nats;
mod socket;

use std::time::{Duration, Instant};

pub use daemon::TestDaemon;
pub use home::{CommandOutput, PATIENT_HOOK, TestHome, run_hook};
pub use nats::NatsServer;
pub use socket::SocketClient;

/// No step of a test takes this long, on a slow machine either.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// Waits until `look` finds something, and fails after [`DEADLINE`].
#[track_caller]
pub fn until<T>(fact: &str, look: impl FnMut() -> Option<T>) -> T {
    until_within(DEADLINE, fact, look)
}

/// Waits for a fact with another deadline than [`DEADLINE`].
#[track_caller]
pub fn until_within<T>(deadline: Duration, fact: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + deadline;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited too long until {fact}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The value, or a panic with the whole chain of causes at the caller's line.
#[track_caller]
fn must<T>(result: anyhow::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error:#}"))
}
