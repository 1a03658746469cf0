//! `flightdeck run`: it starts its client again when the daemon says so.

use serde::{Deserialize, Serialize};

/// Asks for orders about a client, until the connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supervise {
    /// The process group of the client.
    pub group: u32,
}

/// End the client and start it fresh, with this as its first prompt. Answered with one line, [`OrderAnswer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartOrder {
    pub prompt: String,
}

/// What the supervisor does about an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderAnswer {
    /// False after too many restarts in a row: the client goes on as it is.
    pub accepted: bool,
}
