//! The rules of Flightdeck: what each fact does to a session, and what a board shows.
//!
//! This crate is pure. It has no clock, no files, no network and no randomness: time is an argument, and side effects are
//! returned as data.
//! Events enter through [`fleet::Fleet::apply`]; viewers read [`view`].

pub mod approval;
pub mod assignment;
pub mod effort;
pub mod events_doc;
pub mod fleet;
pub mod fnv;
pub mod ids;
pub mod limits;
pub mod log;
pub mod notify;
pub mod project;
pub mod rules;
pub mod session;
pub mod text;
pub mod time;
pub mod usage;
pub mod view;
pub mod wire;
