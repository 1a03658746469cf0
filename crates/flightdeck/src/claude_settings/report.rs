//! What a command on the settings did or found: for scripts as JSON, for people as sentences.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::handler::Via;
use super::status_line::LineState;
use super::version::ClientVersion;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Installed,
    Repaired,
    Removed,
    /// Everything was as wanted; the file was not written.
    Unchanged,
    /// The person installed the hooks for good, so they stay.
    Kept,
}

/// What install, repair, uninstall or release did.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    pub outcome: Outcome,
    pub path: PathBuf,
    /// The events that have a handler of ours now.
    pub registered: Vec<&'static str>,
    pub via: Option<Via>,
    pub status_line: LineState,
    pub version: Option<ClientVersion>,
    /// The file as it was.
    pub backup: Option<PathBuf>,
    pub notes: Vec<String>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, count) = (self.path.display(), self.registered.len());
        match self.outcome {
            Outcome::Installed => writeln!(f, "Registered {count} hooks in {path}")?,
            Outcome::Repaired => writeln!(f, "Repaired: {count} hooks are registered in {path}")?,
            Outcome::Removed => writeln!(f, "Removed our hooks from {path}")?,
            Outcome::Kept => writeln!(f, "Left the hooks in {path}: they were installed for good")?,
            Outcome::Unchanged if count > 0 => {
                writeln!(f, "All {count} hooks were already registered in {path}")?
            }
            Outcome::Unchanged => writeln!(f, "There are no hooks of ours in {path}")?,
        }
        if let (Some(via), Some(version)) = (self.via, &self.version) {
            writeln!(f, "  via {}, for Claude Code {version}", via.as_str())?;
        }
        if let Some(sentence) = self.status_line.sentence() {
            writeln!(f, "  {sentence}")?;
        }
        if let Some(backup) = &self.backup {
            writeln!(f, "  the file as it was: {}", backup.display())?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}

/// How the file compares with what we would write now.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    pub path: PathBuf,
    /// Events with the handler we would write.
    pub registered: Vec<String>,
    /// Events without any handler of ours.
    pub missing: Vec<String>,
    /// Events with a handler of ours that is not what we would write.
    pub stale: Vec<String>,
    pub via: Option<Via>,
    pub status_line: LineState,
    /// We were registered, and something of it is gone or out of date.
    pub drift: bool,
    /// `disableAllHooks` is set: nobody's hooks run.
    pub disabled: bool,
    /// Handlers of other tools.
    pub foreign: usize,
    pub version: ClientVersion,
    pub notes: Vec<String>,
}

impl Status {
    /// Every event we want reaches us.
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
            writeln!(f, "  missing: {}", some_of(&self.missing))?;
        }
        if !self.stale.is_empty() {
            writeln!(f, "  out of date: {}", some_of(&self.stale))?;
        }
        if let Some(sentence) = self.status_line.sentence() {
            writeln!(f, "  {sentence}")?;
        }
        if self.drift {
            writeln!(f, "  they are not as we left them: run `flightdeck hooks repair`")?;
        }
        let s = if self.foreign == 1 { "" } else { "s" };
        writeln!(f, "  {} handler{s} of other tools; Claude Code {}", self.foreign, self.version)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "  note: {note}"))
    }
}

/// All thirty names would hide the rest; `--json` has them.
fn some_of(names: &[String]) -> String {
    const NAMES_MAX: usize = 6;
    match names.len().checked_sub(NAMES_MAX) {
        Some(more @ 1..) => format!("{} and {more} more", names[..NAMES_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// The JSON a person would merge into a settings file by hand.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Printed {
    pub settings: Value,
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:#}", self.settings)
    }
}
