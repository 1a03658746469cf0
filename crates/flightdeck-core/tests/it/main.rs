//! Stories about the core: each event in each state that matters, each captured scenario, and properties that hold in any order.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a story stops where it goes wrong")]

mod asks;
mod corpus;
mod enriched;
mod no_false_alarm;
mod properties;
mod registry;
mod sources;
mod states;
mod status_line;
mod story;
