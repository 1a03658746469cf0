//! Transcripts: those of live sessions are followed closely, all others are read in the background and remembered.
//!
//! File-change hints come in from `notify`; lines go through the core's fold; what was found and how far was read are
//! stored together. About a session's state this says one thing only: that somebody is at work whom nobody else told of.

#[cfg(test)]
mod around_story;
pub mod direct;
pub mod file;
pub mod follow;
pub mod gather;
pub mod history;
#[cfg(test)]
mod history_story;
pub mod live;
pub mod names;
pub mod repository;
#[cfg(test)]
mod story;
mod strangers;
pub mod tasks;
mod told;
mod watches;
