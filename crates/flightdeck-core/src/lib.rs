//! The rules of Flightdeck: what each fact does to a session, and what a board shows.
//!
//! Pure. No clock, no files, no network, no randomness: time is an argument, wishes come back as effects.
//! The way in is [`fleet::Fleet::apply`]; the way out is [`board`].

mod agent;
pub mod answers;
pub mod ask;
pub mod board;
pub mod enrichment;
pub mod event;
pub mod events_doc;
pub mod explain;
pub mod fleet;
pub mod fnv;
pub mod ledger;
pub mod lens;
pub mod limits;
pub mod numbers;
pub mod price;
pub mod project;
pub mod record;
pub mod rules;
pub mod session;
pub mod status_line;
pub mod strip;
pub mod surroundings;
pub mod text;
pub mod time;
pub mod timeline;
mod timers;
pub mod tool;
#[cfg(feature = "ts")]
pub mod typescript;
pub mod usage;
pub mod wire;
