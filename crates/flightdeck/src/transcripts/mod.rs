//! Reads the client's transcripts: those of live sessions are followed, all others are indexed in the background. A conversation
//! is read when a viewer asks for it.
//!
//! `notify` reports changed files. The core folds their lines. Results and read positions are stored together. A transcript says three
//! things about state, each as an event: that it grew although neither a hook nor the registry reported the session, that the person
//! interrupted a turn (decision 0016), and that a hook of the person ended a turn or blocked its prompt (decision 0033).

mod agent_notes;
pub mod conversation;
pub mod fast_scan;
mod folder_watches;
pub mod follow;
#[cfg(test)]
mod follow_tests;
pub mod history;
#[cfg(test)]
mod history_tests;
pub mod line_reader;
pub mod live_session;
pub mod locate;
pub mod repository;
#[cfg(test)]
mod session_files_tests;
mod session_read;
pub mod standalone_scan;
pub mod tasks;
mod unhooked_sessions;
mod watch_list;
