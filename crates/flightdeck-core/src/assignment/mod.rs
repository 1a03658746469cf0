//! Assignments: what a person asked of a session, from the prompt until it is complete.

pub mod intent;
pub mod transition;
