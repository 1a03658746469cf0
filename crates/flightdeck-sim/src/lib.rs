//! Stand-ins for the world around Flightdeck.
//!
//! - [`corpus`]: what the real client was seen to send, scenario by scenario.

pub mod corpus;

/// A JSON object as the client wrote it, keys in its order.
pub type Map = serde_json::Map<String, serde_json::Value>;
