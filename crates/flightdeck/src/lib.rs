//! Everything of Flightdeck that touches the world. Start reading at `engine.rs`.

pub mod changes;
pub mod clock;
pub mod engine;
pub mod explain;
pub mod health;
pub mod inlet;
pub mod paths;
pub mod private_folder;
pub mod process;
pub mod restore;
pub mod shim;
pub mod store;
