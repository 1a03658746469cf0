//! Orders of the daemon to `flightdeck run`, which supervises a client.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Longest time that the client's PreCompact hook is held for a restart. A client that was told to end is gone within 2 s, by
/// measurement. It gives the hook 5 s, and the hook waits 2 s longer than it is told to.
pub const RESTART_HOLD_MAX: Duration = Duration::from_secs(3);

/// Subscribes to orders about a client, until the connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervise {
    /// The process group of the client.
    pub group: u32,
}

/// End the client and start it fresh, with this as its first prompt. Answered with one line, [`OrderReply`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartOrder {
    pub prompt: String,
}

/// The supervisor's reply to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReply {
    /// False after too many restarts in a row; then the client continues without a restart.
    pub accepted: bool,
}
