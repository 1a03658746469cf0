//! Stories about Claude Code's settings.json: we may be in it, and nothing else may change.
#![allow(clippy::unwrap_used, reason = "what a story cannot arrange fails it")]

mod any;
mod life;
mod nasty;
mod races;
mod shell;
mod status_line;
mod style;
mod world;
