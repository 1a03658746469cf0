//! What runs inside Claude Code: `flightdeck hook`, `flightdeck statusline`, and the spool they write to.
//!
//! The client waits while this code runs. So this crate has no async runtime, no configuration, no JSON library and nothing of
//! the daemon: `Cargo.toml` keeps them out, and `tests/dependencies.rs` checks it. Start reading at `hook.rs`.
//!
//! The daemon uses the same [`paths`], [`private_folder`], [`process`] and [`spool`].

mod client;
mod delivery;
mod event_head;
mod frame;
pub mod hook;
mod json;
mod limits;
pub mod paths;
pub mod private_folder;
pub mod process;
mod reply;
pub mod spool;
pub mod stamp;
pub mod status_line;
mod stdin;

pub use client::CLIENT_VARIABLES;
pub use delivery::{exchange_lines, is_plain_acknowledgement};
pub use limits::{ACK_WITHIN, HOOK_BODY_BYTES_MAX, STATUS_LINE_TEXT_BYTES_MAX};
