//! Seats: lasting places that sessions occupy one after the other.

use flightdeck_core::view::seats::KnownSeatCard;
use serde::{Deserialize, Serialize};

/// Every known seat, occupied or free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSeats {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SeatList {
    /// Occupied seats first, then those that were left last.
    pub seats: Vec<KnownSeatCard>,
}
