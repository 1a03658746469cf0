//! Stand-ins for the world around Flightdeck.
//!
//! - [`corpus`]: captures of the real client, by scenario.
//! - [`fleet`]: a seeded fake fleet made of pieces of those captures, for `demo`, tests and benches. It does not use our
//!   states, so it cannot repeat a mistake in them.
//! - [`programs`]: writes small scripts and feeds programs for tests.
//! - [`transcripts`]: a large seeded folder of transcripts, for benches.
//! - `model_api` (feature `model-api`): a scripted stand-in for the Messages API.
//! - `client`, `screen` (feature `client`): drives the real client in a throw-away home and reads its terminal.

#[cfg(feature = "client")]
pub mod client;
pub mod corpus;
pub mod fleet;
#[cfg(feature = "model-api")]
pub mod model_api;
pub mod programs;
pub mod rng;
#[cfg(feature = "client")]
pub mod screen;
pub mod transcripts;

/// A JSON object as the client wrote it, keys in its order.
pub type Map = serde_json::Map<String, serde_json::Value>;
