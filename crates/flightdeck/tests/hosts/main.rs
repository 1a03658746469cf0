//! Several daemons of the built binary and a real NATS server. A machine without `nats-server` skips these tests; CI does not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops where it goes wrong")]

mod actions;
mod backups;
mod clocks;
mod cut_off;
mod disk_full;
mod efforts;
mod fleet;
mod forgery;
mod forwarding;
mod names;
mod outages;
mod presence;
mod privacy;
mod set_up;
mod three_hosts;
