//! Answers from anywhere: hooks that are held open, and what a person's answer does to them.
//!
//! The way: an inlet [`holds`] the hook's reply and appends the event; the fold opens the ask; [`answer`] appends the
//! person's answer, and whoever was first delivers the verdict to the hook that waits. The [`policy`] answers like a person.

pub mod answer;
pub mod holds;
pub mod policy;
