//! A typed connection to the daemon's Unix socket: for the command line, the demo, tests and a TUI.
//!
//! [`BlockingClient`] blocks, [`AsyncClient`] is for async code; both send [`SocketCommand`](flightdeck_protocol::SocketCommand)s and return their
//! typed replies. [`BlockingChanges`] and [`AsyncChanges`] are the changes of one connection; [`LiveChanges`] and
//! [`AsyncLiveChanges`] reconnect by themselves. [`BoardMirror`] applies changes to a copy of the board.
//!
//! A typed reply has only the fields that this version knows. For output that shows the daemon's own JSON, `call_raw` returns
//! the text of the reply, which can be printed unchanged and decoded as well.

mod async_client;
mod blocking;
mod board_mirror;
mod error;
mod live;
mod raw_reply;
mod reconnect;
mod supervision;
#[cfg(test)]
mod tests;

pub use async_client::{AsyncChanges, AsyncClient};
pub use blocking::{BlockingChanges, BlockingClient};
pub use board_mirror::BoardMirror;
pub use error::{ClientError, REPLY_MAX};
pub use live::{AsyncLiveChanges, LiveChange, LiveChanges};
pub use raw_reply::RawReply;
pub use reconnect::{RECONNECT_DELAY_MAX, RECONNECT_DELAY_MIN, reconnect_delay};
pub use supervision::Supervision;
