//! Puts our hooks into Claude Code's `settings.json` and removes them again, without changing anything else in it.
//!
//! An edit goes through these modules: [`scope`] picks the file, [`version`] decides which event names it may hold, [`handler`]
//! makes the handlers to write, `predecessor` finds those of earlier tools, `plan` decides what the file should become, `document` and `edit` turn the old text into the
//! new one, `file_io` replaces the file, and `receipt` stores the old text so that uninstall can restore it byte for byte.

mod base_url;
mod document;
mod edit;
pub mod error;
mod file_io;
pub mod handler;
mod plan;
mod predecessor;
mod receipt;
mod recognise;
pub mod report;
pub mod scope;
mod settings_file;
mod span;
pub mod status_line;
mod status_line_edit;
pub mod tool_verdicts;
pub mod version;

pub use self::base_url::{BaseUrl, NotABaseUrl};
pub use self::error::SettingsError;
pub use self::handler::{DEFAULT_HOLD_SECONDS, DEFAULT_PORT, Registration, Via};
pub use self::predecessor::{FoundTool, Predecessor};
pub use self::receipt::{BACKUPS_MAX, Lifetime};
pub use self::recognise::{InstalledHooks, is_query_of_http_handler};
pub use self::report::{PrintedSettings, SettingsChange, SettingsOutcome, Status, TakenOut};
pub use self::scope::{Scope, config_dir, settings_path};
pub use self::settings_file::{SettingsFile, print};
pub use self::status_line::StatusLineState;
pub use self::version::{ClientVersion, Version, VersionSource, ask_claude};
