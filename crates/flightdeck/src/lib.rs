//! Everything of Flightdeck that touches the world. Start reading at `engine.rs`.

pub mod paths;
pub mod store;
