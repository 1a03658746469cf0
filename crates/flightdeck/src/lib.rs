//! Everything of Flightdeck that touches the world. Start reading at `engine.rs`.

pub mod asks;
pub mod changes;
pub mod claude_settings;
pub mod cli;
pub mod clock;
pub mod config;
mod connections;
mod daemon;
pub mod engine;
mod explain;
mod fleet_overview;
pub mod guard;
pub mod health;
pub mod inlet;
mod log;
pub mod outlet;
pub mod paths;
mod port;
mod private_folder;
pub mod process;
mod program;
pub mod registration;
pub mod restore;
pub mod server;
pub mod shim;
#[cfg(test)]
mod simulation;
pub mod snapshot;
pub mod store;
pub mod terminal;
pub mod usage;
