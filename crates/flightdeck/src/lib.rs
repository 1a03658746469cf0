//! Everything of Flightdeck that touches the world. Start reading at `engine.rs`.

pub mod claude_settings;
pub mod cli;
pub mod paths;
