//! The rules of Flightdeck: what each fact does to a session, and what a board shows.
//!
//! Pure. No clock, no files, no network, no randomness: time is an argument, wishes come back as effects.
//! The way in is [`fleet::Fleet::apply`]; the way out is [`board`].

pub mod limits;
pub mod record;
pub mod text;
pub mod time;
pub mod wire;
