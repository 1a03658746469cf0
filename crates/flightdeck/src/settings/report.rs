//! The results of the settings commands: as JSON for scripts, as sentences for people.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::handler::Via;
use super::predecessor::FoundTool;
use super::status_line::StatusLineState;
use super::version::ClientVersion;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SettingsOutcome {
    Installed,
    Repaired,
    Removed,
    /// Everything was already as wanted; the file was not written.
    Unchanged,
    /// The person installed the hooks for good, so they stay.
    Kept,
}

/// The result of install, repair, uninstall or release.
#[derive(Clone, Debug, Serialize)]
pub struct SettingsChange {
    pub outcome: SettingsOutcome,
    pub path: PathBuf,
    /// The events that have one of our handlers now.
    pub registered: Vec<&'static str>,
    pub via: Option<Via>,
    pub status_line: StatusLineState,
    pub version: Option<ClientVersion>,
    /// A copy of the file before the change.
    pub backup: Option<PathBuf>,
    /// Earlier tools whose handlers were taken out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<FoundTool>,
    pub notes: Vec<String>,
}

/// The earlier tools whose handlers were removed.
#[derive(Clone, Debug)]
pub struct TakenOut {
    pub tools: Vec<FoundTool>,
    /// A copy of the file before the change.
    pub backup: Option<PathBuf>,
}

impl fmt::Display for SettingsChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, count) = (self.path.display(), self.registered.len());
        match self.outcome {
            SettingsOutcome::Installed => writeln!(f, "Registered {count} hooks in {path}")?,
            SettingsOutcome::Repaired => writeln!(f, "Repaired: {count} hooks are registered in {path}")?,
            SettingsOutcome::Removed => writeln!(f, "Removed our hooks from {path}")?,
            SettingsOutcome::Kept => {
                writeln!(f, "Left the hooks in {path}: they were installed permanently")?
            }
            SettingsOutcome::Unchanged if count > 0 => {
                writeln!(f, "All {count} hooks were already registered in {path}")?
            }
            SettingsOutcome::Unchanged => writeln!(f, "There are no hooks of ours in {path}")?,
        }
        if let (Some(via), Some(version)) = (self.via, &self.version) {
            writeln!(f, "  via {}, for Claude Code {version}", via.as_str())?;
        }
        if let Some(sentence) = self.status_line.sentence() {
            writeln!(f, "  {sentence}")?;
        }
        for found in &self.replaced {
            writeln!(f, "  took out {} of {}", handlers(found.handlers), found.tool.name())?;
        }
        if let Some(backup) = &self.backup {
            writeln!(f, "  backup of the earlier file: {}", backup.display())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}

/// The file compared with what we would write now.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub path: PathBuf,
    /// Events with the handler we would write, perhaps with another message for the spinner.
    pub registered: Vec<String>,
    /// Events without one of our handlers.
    pub missing: Vec<String>,
    /// Events with one of our handlers that is not what we would write.
    pub stale: Vec<String>,
    pub via: Option<Via>,
    pub status_line: StatusLineState,
    /// We were registered, and some handlers are missing or out of date.
    pub drift: bool,
    /// `disableAllHooks` is set: Claude Code runs no hooks at all.
    pub disabled: bool,
    /// Handlers of other tools.
    pub foreign: usize,
    /// The earlier tools among them that Flightdeck replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predecessors: Vec<FoundTool>,
    pub version: ClientVersion,
    pub notes: Vec<String>,
}

impl Status {
    /// All wanted events reach us.
    pub fn in_order(&self) -> bool {
        self.missing.is_empty() && self.stale.is_empty() && !self.disabled && self.status_line.in_order()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let wanted = self.registered.len() + self.missing.len() + self.stale.len();
        match self.via {
            Some(via) => {
                writeln!(
                    f,
                    "{} of {wanted} hooks registered in {path}, via {}",
                    self.registered.len(),
                    via.as_str()
                )?;
            }
            None => writeln!(f, "No hooks of ours in {path}: run `flightdeck hooks install`")?,
        }
        if self.via.is_some() && !self.missing.is_empty() {
            writeln!(f, "  missing: {}", first_names(&self.missing))?;
        }
        if !self.stale.is_empty() {
            writeln!(f, "  out of date: {}", first_names(&self.stale))?;
        }
        if let Some(sentence) = self.status_line.sentence() {
            writeln!(f, "  {sentence}")?;
        }
        if self.drift {
            writeln!(f, "  they differ from what Flightdeck wrote: run `flightdeck hooks repair`")?;
        }
        writeln!(f, "  {} of other tools; Claude Code {}", handlers(self.foreign), self.version)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}

fn handlers(count: usize) -> String {
    format!("{count} handler{}", if count == 1 { "" } else { "s" })
}

/// The first few names; `--json` has all of them.
fn first_names(names: &[String]) -> String {
    const NAMES_MAX: usize = 6;
    match names.len().checked_sub(NAMES_MAX) {
        Some(more @ 1..) => format!("{} and {more} more", names[..NAMES_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// The JSON that a person can merge into a settings file by hand.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct PrintedSettings {
    pub settings: Value,
}

impl fmt::Display for PrintedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:#}", self.settings)
    }
}
