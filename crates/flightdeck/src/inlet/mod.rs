//! The ways in: bytes from outside become inputs of the engine.

pub mod frame;
mod repair;
pub mod spool;
