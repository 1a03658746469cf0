//! What the daemon knows of its own registration with Claude Code: keeps it while it runs, reports on it always.

use std::path::PathBuf;

use flightdeck_core::answers::HookReport;

use crate::claude_settings::{Keep, Outcome, Registration, SettingsError, SettingsFile, Status};
use crate::inlet::spool::{self, SpoolStats};
use crate::program;

#[derive(Debug)]
pub struct Registrar {
    file: SettingsFile,
    registration: Registration,
    /// The daemon was started to be registered; `--no-hooks` and the demo are not.
    wanted: bool,
    spool: PathBuf,
    url: String,
    program: String,
    simulated: bool,
}

/// A sentence for the person.
#[derive(Debug)]
pub enum Registered {
    Well(String),
    /// They are there, but not as we left them.
    Drifted(String),
}

impl Registrar {
    pub fn new(
        file: SettingsFile,
        registration: Registration,
        wanted: bool,
        spool: PathBuf,
        url: String,
    ) -> Self {
        let program = program::called(&registration.binary, std::env::var_os("PATH").as_deref());
        Self { file, registration, wanted, spool, url, program, simulated: false }
    }

    /// Its sessions are made up: there is nobody to register with.
    pub fn simulated(self, simulated: bool) -> Self {
        Self { simulated, ..self }
    }

    pub fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// What a person types to run this daemon's own binary.
    pub fn program(&self) -> &str {
        &self.program
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// On start. What was installed for good stays as it is, also where something is wrong with it.
    pub fn register(&self) -> anyhow::Result<Registered> {
        let change = self.file.install(&self.registration, Keep::WhileRunning)?;
        if change.outcome != Outcome::Kept {
            let path = change.path.display();
            tracing::info!(%path, events = change.registered.len(), "hooks are registered");
            return Ok(Registered::Well(format!("Its hooks are registered in {path} while it runs")));
        }
        let status = self.compare()?;
        let (missing, stale, path) = (status.missing.len(), status.stale.len(), status.path.display());
        let note = format!(
            "The hooks in {path} were installed for good and are not as we left them ({missing} missing, {stale} out \
             of date): run `flightdeck hooks repair`"
        );
        Ok(match status.drift {
            true => Registered::Drifted(note),
            false => Registered::Well(format!("Its hooks are in {path}, installed for good")),
        })
    }

    /// With what we would write the way it was registered: http hooks are no drift.
    fn compare(&self) -> Result<Status, SettingsError> {
        self.file.status(&self.registration.clone().as_installed(self.file.installed()?))
    }

    /// On a clean stop. The sentence is for the person, where something was to be done.
    pub fn release(&self) -> Option<String> {
        match self.file.release(&self.registration.home) {
            Ok(change) => {
                tracing::info!("hooks are released");
                let removed = change.outcome == Outcome::Removed;
                removed.then(|| format!("Its hooks are taken out of {} again", change.path.display()))
            }
            Err(error) => {
                tracing::error!(%error, "hooks could not be taken out again");
                Some(format!("The hooks could not be taken out again: {error}"))
            }
        }
    }

    pub fn status(&self) -> HookReport {
        let status = match self.compare() {
            Ok(status) => status,
            Err(error) => {
                let problem = self.wanted.then(|| error.to_string());
                return HookReport { problem, wanted: self.wanted, ..HookReport::default() };
            }
        };
        if let Ok(Some(other)) = self.file.other_home(&self.registration.home) {
            if !self.wanted {
                // They are the other's to look after.
                return HookReport::default();
            }
            let problem = format!("another Flightdeck home, {}, gets the hook events", other.display());
            let fix = Some(self.command("install"));
            return HookReport { problem: Some(problem), fix, wanted: self.wanted, ..HookReport::default() };
        }
        let wanted = self.wanted || status.via.is_some() || status.drift;
        let fix = if status.in_order() || !wanted {
            None
        } else if !status.drift && status.registered.is_empty() {
            Some(self.command("install"))
        } else {
            Some(self.command("repair"))
        };
        HookReport {
            registered: status.registered,
            missing: status.missing,
            stale: status.stale,
            wanted,
            via: status.via.map(|via| via.as_str().to_owned()),
            drift: status.drift,
            problem: (wanted && status.disabled)
                .then(|| "disableAllHooks is true: Claude Code runs no hooks".to_owned()),
            fix,
        }
    }

    fn command(&self, what: &str) -> String {
        format!("{} hooks {what}", self.program)
    }

    pub fn spool(&self) -> SpoolStats {
        spool::stats(&self.spool).unwrap_or_default()
    }
}
