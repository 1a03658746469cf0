//! Tests of the core: each event in each state that matters, each captured scenario, and properties that hold in any order.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at its first error")]

mod asks;
mod assignments;
mod corpus;
mod efforts;
mod enriched;
mod intents;
mod no_false_alarm;
mod notes;
mod process_properties;
mod properties;
mod queue_properties;
mod registry;
mod script;
mod sources;
mod states;
mod status_line;
