//! The ways in: bytes from outside become inputs of the engine.

pub mod drain;
pub mod frame;
pub mod http;
pub mod liveness;
pub mod registry;
mod repair;
pub mod socket;
pub mod spool;
pub mod tail;
