//! Tests of the edits in Claude Code's settings.json: only our own handlers may change.
#![allow(clippy::unwrap_used, reason = "a failed set-up fails the test")]

mod any_file;
mod commands;
mod damaged_files;
mod fixture;
mod formatting;
mod lifecycle;
mod predecessors;
mod races;
mod status_line;
