//! How requests come in and replies go out: parse, call the app, frame. No decision is made here.

mod assets;
pub mod connections;
pub mod gate;
pub mod http;
pub mod socket;
mod sse;

pub use self::sse::HEARTBEAT_EVERY;
