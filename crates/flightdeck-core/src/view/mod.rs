//! What viewers read: cards, labels, explanations and timelines. Pure functions of the fleet and the log.

pub mod assignment;
pub mod board;
pub mod card;
pub mod conversation;
pub mod effort;
pub mod explain;
pub mod fleet_history;
pub mod lens;
pub mod pane_status;
pub mod phase_line;
pub mod policy_dry_run;
pub mod project;
pub mod seats;
pub mod sub_agents;
pub mod timeline;
pub mod waiting;

pub use self::board::{board, on_board};
pub use self::card::card;
