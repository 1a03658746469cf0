//! The daemon and the command line: everything that does IO, except for the hook. Start reading at `engine/mod.rs`.

pub mod app;
pub mod cli;
pub mod client;
pub mod clock;
pub mod config;
pub mod daemon;
pub mod default_status_line;
pub mod engine;
pub mod fleet;
pub mod frame;
pub mod health;
pub mod hosts;
pub mod ingest;
mod log;
mod moment;
pub mod notify;
pub mod pane_colours;
pub mod process;
mod program;
pub mod secret;
pub mod settings;
#[cfg(test)]
mod simulation;
pub mod skills;
pub mod store;
pub mod supervisor;
pub mod terminal;
pub mod transcripts;
pub mod transport;
pub mod usage;

pub use flightdeck_hook::paths;
use flightdeck_hook::private_folder;
