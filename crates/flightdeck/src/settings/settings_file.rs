//! One settings file: install, repair, uninstall and compare.

use std::fs;
use std::path::{Path, PathBuf};

use flightdeck_core::wire::hook_name::HookName;
use serde_json::{Map, Value, json};

use super::document::Document;
use super::error::SettingsError;
use super::file_io::{self, FileContents, SwapOutcome};
use super::handler::{DEFAULT_PORT, Registration, Via};
use super::plan::{self, EditPlan};
use super::predecessor::{self, FoundTool, Predecessor};
use super::receipt::{Lifetime, Receipt, ReceiptFolder};
use super::recognise::InstalledHooks;
use super::report::{PrintedSettings, SettingsChange, SettingsOutcome, Status, TakenOut};
use super::status_line::{self, StatusLineSetting, StatusLineState};

/// Another program may write while we edit. After this many writes in a row we give up.
const EDIT_TRIES_MAX: u32 = 10;

const DISABLED_NOTE: &str =
    "disableAllHooks is true in this file: Claude Code runs no hooks until that is removed";

const TOKEN_NOTE: &str =
    "the token is not in this file: set FLIGHTDECK_TOKEN in the environment that claude is started in";

const URL_NOTE: &str = "listen on that address (bind in its config.toml) and accept that host name (hosts)";

/// One settings file, and the folder where its backups go.
#[derive(Clone, Debug)]
pub struct SettingsFile {
    path: PathBuf,
    receipts: ReceiptFolder,
}

impl SettingsFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn new(path: &Path, backups: &Path) -> Self {
        Self { path: path.to_owned(), receipts: ReceiptFolder { folder: backups.to_owned() } }
    }

    /// Another settings file, with the same folder for backups.
    pub fn with_path(&self, path: &Path) -> Self {
        Self { path: path.to_owned(), receipts: self.receipts.clone() }
    }

    pub fn install(
        &self,
        registration: &Registration,
        lifetime: Lifetime,
    ) -> Result<SettingsChange, SettingsError> {
        self.register(registration, Some(lifetime), SettingsOutcome::Installed)
    }

    /// Removes the handlers of these earlier tools; everything else stays.
    pub fn take_out(&self, tools: &[Predecessor]) -> Result<TakenOut, SettingsError> {
        let real = file_io::real_path(&self.path)?;
        let text = self.text(&real)?;
        let mut tools_found = predecessor::found(&Document::read(&text, &self.path)?, DEFAULT_PORT);
        tools_found.retain(|found| tools.contains(&found.tool));
        if tools_found.is_empty() {
            return Ok(TakenOut { tools: tools_found, backup: None });
        }
        let edited = self.edit(&real, &|found, old| plan::plan_take_out(found, old, &self.path, tools))?;
        Ok(TakenOut { tools: tools_found, backup: edited.backup })
    }

    /// The earlier tools whose handlers are in the file. `port` is where our daemon listens.
    pub fn predecessors(&self, port: u16) -> Result<Vec<FoundTool>, SettingsError> {
        let text = self.text(&file_io::real_path(&self.path)?)?;
        Ok(predecessor::found(&Document::read(&text, &self.path)?, port))
    }

    /// Like `install`, but keeps the lifetime of the present registration.
    pub fn repair(&self, registration: &Registration) -> Result<SettingsChange, SettingsError> {
        self.register(registration, None, SettingsOutcome::Repaired)
    }

    /// Removes all our handlers.
    pub fn uninstall(&self) -> Result<SettingsChange, SettingsError> {
        self.remove(None)
    }

    fn remove(&self, only: Option<&Path>) -> Result<SettingsChange, SettingsError> {
        let folder = folder_of(&self.path);
        if !folder.is_dir() {
            return Ok(self.change(SettingsOutcome::Unchanged));
        }
        let real = file_io::real_path(&self.path)?;
        let made_folder = self.receipts.receipt(&real).is_some_and(|receipt| receipt.made_folder);
        let edited =
            self.edit(&real, &|found, old| plan::plan_removal(found, old.as_ref(), &self.path, only))?;
        if made_folder {
            // Fails if another program put files into it; then the folder stays.
            let _ = fs::remove_dir(folder);
        }
        let outcome = if edited.changed { SettingsOutcome::Removed } else { SettingsOutcome::Unchanged };
        Ok(SettingsChange { backup: edited.backup, ..self.change(outcome) })
    }

    /// Removes the handlers that report to `home`, unless they were installed permanently. A daemon calls this when it stops.
    pub fn release(&self, home: &Path) -> Result<SettingsChange, SettingsError> {
        match self.receipts.receipt(&file_io::real_path(&self.path)?) {
            Some(receipt) if !receipt.for_good => self.remove(Some(home)),
            // Without a receipt the handlers were written by hand or by another home.
            _ if self.installed()?.is_some() => Ok(self.change(SettingsOutcome::Kept)),
            _ => Ok(self.change(SettingsOutcome::Unchanged)),
        }
    }

    /// Compares the file with what this registration would write.
    pub fn status(&self, registration: &Registration) -> Result<Status, SettingsError> {
        let real = file_io::real_path(&self.path)?;
        let text = self.text(&real)?;
        let document = Document::read(&text, &self.path)?;
        let found = plan::compare(&document, &registration.handlers()?);
        let via = plan::installed(&document).map(|installed| installed.via);
        let receipt = self.receipts.receipt(&real);
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
            predecessors: predecessor::found(&document, registration.port),
            version: registration.version.clone(),
            notes: notes(&document, registration),
        })
    }

    /// `None` if the file has none of our handlers.
    pub fn installed(&self) -> Result<Option<InstalledHooks>, SettingsError> {
        let text = self.text(&file_io::real_path(&self.path)?)?;
        Ok(plan::installed(&Document::read(&text, &self.path)?))
    }

    /// Whether the file has a `statusLine`, ours or not.
    pub fn has_status_line(&self) -> Result<bool, SettingsError> {
        let text = self.text(&file_io::real_path(&self.path)?)?;
        Ok(Document::read(&text, &self.path)?.status_line != StatusLineSetting::None)
    }

    /// Another Flightdeck home that is registered in this file.
    pub fn other_home(&self, own: &Path) -> Result<Option<PathBuf>, SettingsError> {
        let text = self.text(&file_io::real_path(&self.path)?)?;
        Ok(plan::other_home(&Document::read(&text, &self.path)?, own))
    }

    fn register(
        &self,
        registration: &Registration,
        lifetime: Option<Lifetime>,
        outcome: SettingsOutcome,
    ) -> Result<SettingsChange, SettingsError> {
        let wanted = registration.handlers()?;
        let folder = folder_of(&self.path);
        let made_folder = file_io::make_folder(folder)?;
        let edited = self.register_in_folder(registration, lifetime, made_folder).inspect_err(|_| {
            if made_folder {
                // Fails if another program put files into it; then the folder stays.
                let _ = fs::remove_dir(folder);
            }
        })?;
        if lifetime == Some(Lifetime::WhileDaemonRuns) && self.is_permanent()? {
            return Ok(self.change(SettingsOutcome::Kept));
        }
        let document = Document::read(&edited.after, &self.path)?;
        Ok(SettingsChange {
            registered: wanted.iter().map(|(name, _)| name.as_str()).collect(),
            via: Some(registration.via),
            version: Some(registration.version.clone()),
            notes: notes(&document, registration),
            status_line: document.status_line.state(registration, false)?,
            backup: edited.backup,
            ..self.change(if edited.changed { outcome } else { SettingsOutcome::Unchanged })
        })
    }

    fn is_permanent(&self) -> Result<bool, SettingsError> {
        let receipt = self.receipts.receipt(&file_io::real_path(&self.path)?);
        Ok(plan::is_permanent(receipt.as_ref(), self.installed()?.is_some()))
    }

    fn register_in_folder(
        &self,
        registration: &Registration,
        lifetime: Option<Lifetime>,
        made_folder: bool,
    ) -> Result<EditResult, SettingsError> {
        let real = file_io::real_path(&self.path)?;
        self.edit(&real, &|found, old| {
            let mut plan = plan::plan_registration(found, old, registration, lifetime, (&self.path, &real))?;
            if let Some(receipt) = &mut plan.receipt {
                receipt.made_folder |= made_folder;
            }
            Ok(plan)
        })
    }

    /// Reads, plans and replaces the file under the lock; starts again if another program wrote to it meanwhile.
    fn edit(&self, real: &Path, plan: &Planner<'_>) -> Result<EditResult, SettingsError> {
        let _lock = file_io::lock(folder_of(real))?;
        for _ in 0..EDIT_TRIES_MAX {
            let found = file_io::read(real)?;
            let text = found.as_ref().map(|found| found.text.as_str());
            let old = self.receipts.receipt(real);
            let plan = plan(text, old.clone())?;
            if plan.after.as_deref() == text {
                // The text is unchanged, but the lifetime of the registration may have changed.
                self.receipts.save_receipt(real, plan.receipt.as_ref())?;
                return Ok(EditResult {
                    after: plan.after.unwrap_or_default(),
                    changed: false,
                    backup: None,
                });
            }
            self.check_plan(text, &plan)?;
            file_io::check_writable(real, found.as_ref())?;
            let backup = text.map(|text| self.receipts.back_up(real, text)).transpose()?;
            if self.swap(real, found.as_ref(), &plan, old.as_ref())? == SwapOutcome::Done {
                return Ok(EditResult { after: plan.after.unwrap_or_default(), changed: true, backup });
            }
        }
        Err(SettingsError::KeepsChanging { path: self.path.clone(), tries: EDIT_TRIES_MAX })
    }

    fn swap(
        &self,
        real: &Path,
        found: Option<&FileContents>,
        plan: &EditPlan,
        old: Option<&Receipt>,
    ) -> Result<SwapOutcome, SettingsError> {
        // The receipt is saved first: a crash before the swap loses nothing, a crash after it still has the old text.
        if plan.receipt.is_some() {
            self.receipts.save_receipt(real, plan.receipt.as_ref())?;
        }
        let swapped = file_io::replace(real, found, plan.after.as_deref(), &|| ());
        let valid = if matches!(swapped, Ok(SwapOutcome::Done)) { plan.receipt.as_ref() } else { old };
        if valid != plan.receipt.as_ref() || valid.is_none() {
            // A failure is harmless: a receipt that does not match the file is ignored.
            let _ = self.receipts.save_receipt(real, valid);
        }
        swapped
    }

    /// Checks, before anything is written, that the person's own status line and the handlers of other tools are kept, except
    /// those that the plan takes out.
    fn check_plan(&self, before: Option<&str>, plan: &EditPlan) -> Result<(), SettingsError> {
        let foreign = |text: Option<&str>| -> Result<_, SettingsError> {
            let document = Document::read(text.unwrap_or_default(), &self.path)?;
            Ok((document.foreign_handlers(), document.status_line.persons_command().map(str::to_owned)))
        };
        let (mut had, has) = (foreign(before)?, foreign(plan.after.as_deref())?);
        had.0 = had.0.saturating_sub(plan.taken_out);
        if had == has {
            return Ok(());
        }
        let why = if had.0 != has.0 {
            format!("{} handlers of other tools would become {}", had.0, has.0)
        } else {
            "the person's own status line command would be lost".to_owned()
        };
        Err(SettingsError::SelfCheck { path: self.path.clone(), why })
    }

    fn text(&self, real: &Path) -> Result<String, SettingsError> {
        Ok(file_io::read(real)?.map(|found| found.text).unwrap_or_default())
    }

    fn change(&self, outcome: SettingsOutcome) -> SettingsChange {
        SettingsChange {
            outcome,
            path: self.path.clone(),
            registered: Vec::new(),
            via: None,
            status_line: StatusLineState::None,
            version: None,
            backup: None,
            replaced: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Makes a plan from the present text and its receipt.
type Planner<'a> = dyn Fn(Option<&str>, Option<Receipt>) -> Result<EditPlan, SettingsError> + 'a;

#[derive(Debug)]
struct EditResult {
    after: String,
    changed: bool,
    backup: Option<PathBuf>,
}

/// The JSON that a person can merge into a settings file by hand.
pub fn print(registration: &Registration) -> Result<PrintedSettings, SettingsError> {
    let group =
        |(name, handler): (HookName, Value)| (name.as_str().to_owned(), json!([{ "hooks": [handler] }]));
    let events: Map<String, Value> = registration.handlers()?.into_iter().map(group).collect();
    let mut settings = json!({ "hooks": events });
    if registration.status_line {
        settings[status_line::KEY] = registration.status_line_alone()?;
    }
    Ok(PrintedSettings { settings })
}

fn notes(document: &Document<'_>, registration: &Registration) -> Vec<String> {
    let disabled = document.disables_all_hooks().then(|| DISABLED_NOTE.to_owned());
    let over_http = registration.via != Via::Shim;
    let token = (registration.token && over_http).then(|| TOKEN_NOTE.to_owned());
    let url = registration.url.as_ref().map(|url| format!("the daemon at {url} must {URL_NOTE}"));
    let earlier = predecessor::found(document, registration.port).into_iter().map(|found| found.to_string());
    disabled.into_iter().chain(token).chain(url).chain(registration.version.note()).chain(earlier).collect()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::version::ClientVersion;
    use std::cell::Cell;

    fn settings_with(text: &str) -> (tempfile::TempDir, SettingsFile, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("settings.json");
        fs::write(&path, text).unwrap();
        (dir, SettingsFile::new(&path, &path.with_file_name("backups")), path)
    }

    /// Installs while another tool writes to the file `writes` times, each time after we have read it.
    fn install_against(writes: u32) -> (Result<EditResult, SettingsError>, String) {
        let (_dir, file, path) = settings_with("{}");
        let wanted = Registration::new(Path::new("/fd"), Path::new("/h"), ClientVersion::assumed());
        let written = Cell::new(0);
        let edited = file.edit(&path, &|found, old| {
            if written.get() < writes {
                written.set(written.get() + 1);
                fs::write(&path, format!("{{\"theirs\": {}}}", written.get())).unwrap();
            }
            plan::plan_registration(found, old, &wanted, Some(Lifetime::Permanent), (&path, &path))
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            file.receipts.receipt(&path).is_some(),
            edited.is_ok(),
            "a receipt only for what was done"
        );
        (edited, text)
    }

    #[test]
    fn a_change_by_another_tool_during_install_is_kept() {
        let (edited, text) = install_against(3);
        assert!(edited.unwrap().changed);
        assert!(text.starts_with("{\"theirs\": 3, \"hooks\": {"), "{text}");
    }

    #[test]
    fn install_gives_up_on_a_file_that_keeps_changing() {
        let (edited, text) = install_against(u32::MAX);
        assert!(matches!(edited, Err(SettingsError::KeepsChanging { tries: EDIT_TRIES_MAX, .. })));
        assert_eq!(text, format!("{{\"theirs\": {EDIT_TRIES_MAX}}}"));
    }

    #[test]
    fn a_plan_that_would_lose_a_foreign_handler_is_not_carried_out() {
        let theirs = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}}"#;
        let (_dir, file, path) = settings_with(theirs);
        let edited =
            file.edit(&path, &|_, _| Ok(EditPlan { after: Some("{}".into()), receipt: None, taken_out: 0 }));
        assert!(matches!(edited, Err(SettingsError::SelfCheck { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    }

    #[test]
    fn print_gives_what_install_writes_into_an_empty_file() {
        let (_dir, file, path) = settings_with("");
        let registration = Registration::new(Path::new("/fd"), Path::new("/h"), ClientVersion::assumed());
        file.install(&registration, Lifetime::Permanent).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), print(&registration).unwrap().to_string());
    }
}
