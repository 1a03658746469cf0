//! What viewers read: cards, labels, explanations and timelines. Pure functions of the fleet and the log.

pub mod assignment;
pub mod board;
pub mod card;
pub mod explain;
pub mod fleet_history;
pub mod lens;
pub mod seats;
pub mod timeline;

pub use self::board::{board, on_board};
pub use self::card::card;
