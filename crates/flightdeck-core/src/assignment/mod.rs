//! Assignments: what a person asked of a session, from the prompt until it is complete.

pub mod intent;
mod life;
mod message;
mod reason;
mod spans;
pub mod transition;

pub use self::life::{Assignment, Opening};
pub use self::message::{AssignmentMessage, Messages};
pub use self::reason::AwaitReason;
pub use self::spans::{Spans, TimeSpan};
