//! Puts our hooks into Claude Code's `settings.json` and takes them out again, without hurting anything else in it.
//!
//! The way of an edit: [`scope`] says which file, [`version`] which event names it may hold, [`handler`] what we would
//! write; `plan` decides, `document` and `edit` turn the old text into the new one, `write` swaps the two, and
//! `receipt` remembers how to go back to the byte.

mod document;
mod edit;
pub mod error;
pub mod handler;
mod plan;
mod receipt;
pub mod report;
pub mod scope;
pub mod status_line;
mod target;
pub mod version;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use flightdeck_core::wire::hook_name::HookName;
use serde_json::{Map, Value, json};

use self::document::Document;
pub use self::error::SettingsError;
pub use self::handler::{DEFAULT_HOLD_SECONDS, DEFAULT_PORT, Registration, Via};
use self::plan::Plan;
pub use self::receipt::BACKUPS_MAX;
use self::receipt::{Receipt, Shelf};
pub use self::report::{Change, Outcome, Printed, Status};
pub use self::scope::{Scope, config_dir, settings_path};
use self::status_line::Line;
pub use self::status_line::LineState;
pub use self::target::{BaseUrl, NotABaseUrl};
pub use self::version::{ClientVersion, Version, VersionSource, ask_claude};
use self::write::{Found, Swap};

/// Somebody else may write while we edit; who writes this often in a row is broken.
const EDIT_TRIES_MAX: u32 = 10;

const DISABLED_NOTE: &str =
    "disableAllHooks is true in this file: Claude Code runs no hooks until that is removed";

const TOKEN_NOTE: &str =
    "the token is not in this file: set FLIGHTDECK_TOKEN in the environment that claude is started in";

const URL_NOTE: &str = "listen there (bind in its config.toml) and know itself by that name (hosts)";

/// How long a registration is meant to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Until `hooks uninstall`.
    ForGood,
    /// Until the daemon stops; does not shorten one that is there for good.
    WhileRunning,
}

/// What is registered now, as far as the file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    pub via: Via,
    /// Where http and curl handlers send.
    pub url: Option<BaseUrl>,
    /// They send the token too.
    pub token: bool,
    pub hold_seconds: Option<u32>,
}

impl Installed {
    /// The port of this machine that the handlers send to.
    pub fn port(&self) -> Option<u16> {
        self.url.as_ref().and_then(BaseUrl::local_port)
    }
}

/// One settings file, and the folder where its backups go.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    path: PathBuf,
    shelf: Shelf,
}

impl SettingsFile {
    pub fn new(path: &Path, backups: &Path) -> Self {
        Self { path: path.to_owned(), shelf: Shelf { folder: backups.to_owned() } }
    }

    pub fn install(&self, registration: &Registration, keep: Keep) -> Result<Change, SettingsError> {
        self.register(registration, Some(keep), Outcome::Installed)
    }

    /// Like install, but what was there only while a daemon runs stays so.
    pub fn repair(&self, registration: &Registration) -> Result<Change, SettingsError> {
        self.register(registration, None, Outcome::Repaired)
    }

    /// Takes out every handler of ours.
    pub fn uninstall(&self) -> Result<Change, SettingsError> {
        self.remove(None)
    }

    fn remove(&self, only: Option<&Path>) -> Result<Change, SettingsError> {
        let folder = folder_of(&self.path);
        if !folder.is_dir() {
            return Ok(self.change(Outcome::Unchanged));
        }
        let real = write::real_path(&self.path)?;
        let made_folder = self.shelf.receipt(&real).is_some_and(|receipt| receipt.made_folder);
        let edited = self.edit(&real, &|found, old| plan::removed(found, old.as_ref(), &self.path, only))?;
        if made_folder {
            // Succeeds only if nothing else is in it by now.
            let _ = fs::remove_dir(folder);
        }
        let outcome = if edited.changed { Outcome::Removed } else { Outcome::Unchanged };
        Ok(Change { backup: edited.backup, ..self.change(outcome) })
    }

    /// Uninstall what reports to `home`, unless it was installed for good: what a daemon does when it stops.
    pub fn release(&self, home: &Path) -> Result<Change, SettingsError> {
        match self.shelf.receipt(&write::real_path(&self.path)?) {
            Some(receipt) if !receipt.for_good => self.remove(Some(home)),
            // Without a receipt they were put there by hand, or from another home.
            _ if self.installed()?.is_some() => Ok(self.change(Outcome::Kept)),
            _ => Ok(self.change(Outcome::Unchanged)),
        }
    }

    /// Compares the file with what this registration would write.
    pub fn status(&self, registration: &Registration) -> Result<Status, SettingsError> {
        let real = write::real_path(&self.path)?;
        let text = self.text(&real)?;
        let document = Document::read(&text, &self.path)?;
        let found = plan::compare(&document, &registration.handlers()?);
        let via = plan::installed(&document).map(|installed| installed.via);
        let receipt = self.shelf.receipt(&real);
        let was_here = via.is_some() || receipt.is_some();
        let was_line = receipt.is_some_and(|receipt| receipt.status_line);
        let status_line = document.status_line.state(registration, was_line)?;
        Ok(Status {
            path: self.path.clone(),
            drift: was_here
                && !(found.missing.is_empty() && found.stale.is_empty() && status_line.in_order()),
            status_line,
            registered: found.registered,
            missing: found.missing,
            stale: found.stale,
            via,
            disabled: document.disables_all_hooks(),
            foreign: document.foreign_handlers(),
            version: registration.version.clone(),
            notes: notes(&document, registration),
        })
    }

    /// `None` where no handler of ours is in the file.
    pub fn installed(&self) -> Result<Option<Installed>, SettingsError> {
        let text = self.text(&write::real_path(&self.path)?)?;
        Ok(plan::installed(&Document::read(&text, &self.path)?))
    }

    /// Whether anything stands under `statusLine`, ours or not.
    pub fn has_status_line(&self) -> Result<bool, SettingsError> {
        let text = self.text(&write::real_path(&self.path)?)?;
        Ok(Document::read(&text, &self.path)?.status_line != Line::None)
    }

    /// The home, if any, that took or keeps this file for itself.
    pub fn other_home(&self, own: &Path) -> Result<Option<PathBuf>, SettingsError> {
        let text = self.text(&write::real_path(&self.path)?)?;
        Ok(plan::other_home(&Document::read(&text, &self.path)?, own))
    }

    fn register(
        &self,
        registration: &Registration,
        keep: Option<Keep>,
        outcome: Outcome,
    ) -> Result<Change, SettingsError> {
        let wanted = registration.handlers()?;
        let folder = folder_of(&self.path);
        let made_folder = write::make_folder(folder)?;
        let edited = self.register_in_folder(registration, keep, made_folder).inspect_err(|_| {
            if made_folder {
                // Refused, so nothing of us stays; a folder somebody filled meanwhile does.
                let _ = fs::remove_dir(folder);
            }
        })?;
        if keep == Some(Keep::WhileRunning) && self.stays()? {
            return Ok(self.change(Outcome::Kept));
        }
        let document = Document::read(&edited.after, &self.path)?;
        Ok(Change {
            registered: wanted.iter().map(|(name, _)| name.as_str()).collect(),
            via: Some(registration.via),
            version: Some(registration.version.clone()),
            notes: notes(&document, registration),
            status_line: document.status_line.state(registration, false)?,
            backup: edited.backup,
            ..self.change(if edited.changed { outcome } else { Outcome::Unchanged })
        })
    }

    fn stays(&self) -> Result<bool, SettingsError> {
        let receipt = self.shelf.receipt(&write::real_path(&self.path)?);
        Ok(plan::stays(receipt.as_ref(), self.installed()?.is_some()))
    }

    fn register_in_folder(
        &self,
        registration: &Registration,
        keep: Option<Keep>,
        made_folder: bool,
    ) -> Result<Edited, SettingsError> {
        let real = write::real_path(&self.path)?;
        self.edit(&real, &|found, old| {
            let mut plan = plan::registered(found, old, registration, keep, (&self.path, &real))?;
            if let Some(receipt) = &mut plan.receipt {
                receipt.made_folder |= made_folder;
            }
            Ok(plan)
        })
    }

    /// Reads, plans and swaps under the lock, again if somebody else wrote meanwhile.
    fn edit(&self, real: &Path, plan: &Planner<'_>) -> Result<Edited, SettingsError> {
        let _lock = write::lock(folder_of(real))?;
        for _ in 0..EDIT_TRIES_MAX {
            let found = write::read(real)?;
            let text = found.as_ref().map(|found| found.text.as_str());
            let old = self.shelf.receipt(real);
            let plan = plan(text, old.clone())?;
            if plan.after.as_deref() == text {
                // It may only now be for good.
                self.shelf.put_receipt(real, plan.receipt.as_ref())?;
                return Ok(Edited { after: plan.after.unwrap_or_default(), changed: false, backup: None });
            }
            self.check(text, plan.after.as_deref())?;
            write::check_writable(real, found.as_ref())?;
            let backup = text.map(|text| self.shelf.back_up(real, text)).transpose()?;
            if self.swap(real, found.as_ref(), &plan, old.as_ref())? == Swap::Done {
                return Ok(Edited { after: plan.after.unwrap_or_default(), changed: true, backup });
            }
        }
        Err(SettingsError::KeepsChanging { path: self.path.clone(), tries: EDIT_TRIES_MAX })
    }

    fn swap(
        &self,
        real: &Path,
        found: Option<&Found>,
        plan: &Plan,
        old: Option<&Receipt>,
    ) -> Result<Swap, SettingsError> {
        // A new receipt comes before the swap: a crash in between costs nothing, the other way round the way back.
        if plan.receipt.is_some() {
            self.shelf.put_receipt(real, plan.receipt.as_ref())?;
        }
        let swapped = write::replace(real, found, plan.after.as_deref(), &|| ());
        let valid = if matches!(swapped, Ok(Swap::Done)) { plan.receipt.as_ref() } else { old };
        if valid != plan.receipt.as_ref() || valid.is_none() {
            // A receipt that does not fit the file is ignored, so one that cannot be put back does no harm.
            let _ = self.shelf.put_receipt(real, valid);
        }
        swapped
    }

    /// Other tools' handlers, and the person's own status line, are all still there: the last look before anything is
    /// written.
    fn check(&self, before: Option<&str>, after: Option<&str>) -> Result<(), SettingsError> {
        let foreign = |text: Option<&str>| -> Result<_, SettingsError> {
            let document = Document::read(text.unwrap_or_default(), &self.path)?;
            Ok((document.foreign_handlers(), document.status_line.theirs().map(str::to_owned)))
        };
        let (had, has) = (foreign(before)?, foreign(after)?);
        if had == has {
            return Ok(());
        }
        let why = if had.0 != has.0 {
            format!("{} handlers of other tools would become {}", had.0, has.0)
        } else {
            "the status line command of somebody else would be lost".to_owned()
        };
        Err(SettingsError::SelfCheck { path: self.path.clone(), why })
    }

    fn text(&self, real: &Path) -> Result<String, SettingsError> {
        Ok(write::read(real)?.map(|found| found.text).unwrap_or_default())
    }

    fn change(&self, outcome: Outcome) -> Change {
        Change {
            outcome,
            path: self.path.clone(),
            registered: Vec::new(),
            via: None,
            status_line: LineState::None,
            version: None,
            backup: None,
            notes: Vec::new(),
        }
    }
}

/// Turns the text that is there and its receipt into a plan.
type Planner<'a> = dyn Fn(Option<&str>, Option<Receipt>) -> Result<Plan, SettingsError> + 'a;

#[derive(Debug)]
struct Edited {
    after: String,
    changed: bool,
    backup: Option<PathBuf>,
}

/// What a person would merge into a settings file by hand.
pub fn print(registration: &Registration) -> Result<Printed, SettingsError> {
    let group =
        |(name, handler): (HookName, Value)| (name.as_str().to_owned(), json!([{ "hooks": [handler] }]));
    let events: Map<String, Value> = registration.handlers()?.into_iter().map(group).collect();
    let mut settings = json!({ "hooks": events });
    if registration.status_line {
        settings[status_line::KEY] = registration.status_line_alone()?;
    }
    Ok(Printed { settings })
}

fn notes(document: &Document<'_>, registration: &Registration) -> Vec<String> {
    let disabled = document.disables_all_hooks().then(|| DISABLED_NOTE.to_owned());
    let over_http = registration.via != Via::Shim;
    let token = (registration.token && over_http).then(|| TOKEN_NOTE.to_owned());
    let url = registration.url.as_ref().map(|url| format!("the daemon at {url} must {URL_NOTE}"));
    disabled.into_iter().chain(token).chain(url).chain(registration.version.note()).collect()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn world(text: &str) -> (tempfile::TempDir, SettingsFile, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("settings.json");
        fs::write(&path, text).unwrap();
        (dir, SettingsFile::new(&path, &path.with_file_name("backups")), path)
    }

    /// Installs while another tool writes to the file `writes` times, each time after we have read it.
    fn install_against(writes: u32) -> (Result<Edited, SettingsError>, String) {
        let (_dir, file, path) = world("{}");
        let wanted = Registration::new(Path::new("/fd"), Path::new("/h"), ClientVersion::assumed());
        let written = Cell::new(0);
        let edited = file.edit(&path, &|found, old| {
            if written.get() < writes {
                written.set(written.get() + 1);
                fs::write(&path, format!("{{\"theirs\": {}}}", written.get())).unwrap();
            }
            plan::registered(found, old, &wanted, Some(Keep::ForGood), (&path, &path))
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(file.shelf.receipt(&path).is_some(), edited.is_ok(), "a receipt only for what was done");
        (edited, text)
    }

    #[test]
    fn a_change_of_another_tool_meanwhile_is_kept_and_ours_added_to_it() {
        let (edited, text) = install_against(3);
        assert!(edited.unwrap().changed);
        assert!(text.starts_with("{\"theirs\": 3, \"hooks\": {"), "{text}");
    }

    #[test]
    fn a_file_that_never_rests_is_left_alone() {
        let (edited, text) = install_against(u32::MAX);
        assert!(matches!(edited, Err(SettingsError::KeepsChanging { tries: EDIT_TRIES_MAX, .. })));
        assert_eq!(text, format!("{{\"theirs\": {EDIT_TRIES_MAX}}}"));
    }

    #[test]
    fn a_plan_that_would_lose_a_foreign_handler_is_not_carried_out() {
        let theirs = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}"#;
        let (_dir, file, path) = world(theirs);
        let edited = file.edit(&path, &|_, _| Ok(Plan { after: Some("{}".into()), receipt: None }));
        assert!(matches!(edited, Err(SettingsError::SelfCheck { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    }

    #[test]
    fn what_is_printed_is_what_would_be_written_into_an_empty_file() {
        let (_dir, file, path) = world("");
        let registration = Registration::new(Path::new("/fd"), Path::new("/h"), ClientVersion::assumed());
        file.install(&registration, Keep::ForGood).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), print(&registration).unwrap().to_string());
    }
}
