//! The registration of our hooks with Claude Code: made while the daemon runs, changed for efforts, and reported to the person.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use flightdeck_protocol::hooks::HookReport;
use tokio::sync::Notify;

use crate::ingest::spool::{self, SpoolStats};
use crate::paths::Paths;
use crate::program;
use crate::settings::{
    Lifetime, Registration, SettingsError, SettingsFile, SettingsOutcome, Status, Via, tool_verdicts,
};
use crate::skills::project_folders;

/// Without this hook the end of a turn is not reported.
const END_OF_TURN: &str = "Stop";

#[derive(Debug)]
pub struct Registrar {
    file: SettingsFile,
    /// What is registered. The waiting time of the handlers may change while the daemon runs.
    registration: Mutex<Registration>,
    /// False with `--no-hooks` and in the demo.
    wanted: bool,
    spool: PathBuf,
    program: String,
    simulated: bool,
    /// This daemon has found its hooks registered. Only then is their absence reported, because the person may have left them out on
    /// purpose.
    was_present: AtomicBool,
    settings_changed: Notify,
}

/// Whether our hooks are registered with the client now, and whether they were before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    pub present: bool,
    /// The hooks write to the spool while no daemon runs, so no event is missed.
    pub spools: bool,
    /// The hooks are registered now, or this daemon or an earlier one saw them registered.
    pub was_present: bool,
}

/// What happened to the handlers of tool calls when an effort began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolHandlers {
    /// The handlers were rewritten; the client reads the file again.
    Rewritten,
    /// The handlers already had the wanted form.
    Unchanged,
    /// The file has no handlers of this home, so no verdict can reach the client.
    Missing,
    /// The handlers run curl, which discards our replies.
    CannotReply,
}

/// The result of the registration, with a sentence for the person.
#[derive(Debug)]
pub enum Registered {
    InOrder(String),
    /// The hooks are there, but another program changed them.
    Drifted(String),
}

impl Registrar {
    pub fn new(file: SettingsFile, registration: Registration, wanted: bool, spool: PathBuf) -> Self {
        let program = program::called(&registration.binary, std::env::var_os("PATH").as_deref());
        Self {
            file,
            registration: Mutex::new(registration),
            wanted,
            spool,
            program,
            simulated: false,
            was_present: AtomicBool::new(false),
            settings_changed: Notify::new(),
        }
    }

    /// Called when a client has reread its settings.
    pub fn note_changed_settings(&self) {
        self.settings_changed.notify_one();
    }

    /// Waits until a client has reread its settings.
    pub async fn settings_changed(&self) {
        self.settings_changed.notified().await;
    }

    /// Marks the sessions of this daemon as made up. No client is registered with.
    pub fn simulated(self, simulated: bool) -> Self {
        Self { simulated, ..self }
    }

    pub fn is_simulated(&self) -> bool {
        self.simulated
    }

    /// The command with which an agent calls this daemon: this binary, with this daemon's home.
    pub fn command_for_agents(&self) -> String {
        let home = self.registration().home;
        let usual = Paths::resolve(None, |name| std::env::var_os(name).filter(|_| name != "FLIGHTDECK_HOME"));
        match usual {
            Ok(usual) if usual.home == home => self.program.clone(),
            _ => format!("{} --home {}", self.program, program::shell_word(&home.display().to_string())),
        }
    }

    /// The command with which a person calls this binary.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Registers the hooks when the daemon starts. Hooks that were installed permanently stay as they are, even if they differ.
    pub fn register(&self) -> anyhow::Result<Registered> {
        let change = self.file.install(&self.registration(), Lifetime::WhileDaemonRuns)?;
        if change.outcome != SettingsOutcome::Kept {
            let path = change.path.display();
            tracing::info!(%path, events = change.registered.len(), "hooks are registered");
            return Ok(Registered::InOrder(format!("Its hooks are registered in {path} while it runs")));
        }
        let status = self.compare()?;
        let (missing, stale, path) = (status.missing.len(), status.stale.len(), status.path.display());
        let note = format!(
            "The hooks in {path} were installed permanently and differ from what Flightdeck wrote ({missing} missing, {stale} out \
             of date): run `flightdeck hooks repair`"
        );
        Ok(match status.drift {
            true => Registered::Drifted(note),
            false => Registered::InOrder(format!("Its hooks are in {path}, installed permanently")),
        })
    }

    fn registration(&self) -> Registration {
        self.registration.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets another waiting time, and whether forms are held, in the hooks that are registered while the daemon runs. Hooks that were
    /// installed permanently keep theirs. Returns the waiting time of the registered hooks.
    pub fn change_holds(&self, hold_seconds: u32, hold_elicitation: bool) -> anyhow::Result<u32> {
        let mut registration = self.registration();
        (registration.hold_seconds, registration.hold_elicitation) = (hold_seconds, hold_elicitation);
        *self.registration.lock().unwrap_or_else(PoisonError::into_inner) = registration;
        if self.wanted {
            self.register()?;
        }
        let installed = self.file.installed()?.and_then(|installed| installed.hold_seconds);
        Ok(installed.unwrap_or(hold_seconds))
    }

    /// Whether the client waits for our reply to tool calls.
    pub fn has_tool_verdicts(&self) -> bool {
        self.registration().tool_verdicts
    }

    /// Makes the client wait for our reply to tool calls, or stop waiting. Handlers that were installed permanently change too, and stay
    /// permanent. Handlers in the settings of project directories change only where `projects` says so: an effort in one project does not
    /// change another. The result lists the person's own file first.
    pub fn set_tool_verdicts(
        &self,
        wanted: bool,
        projects: &[(PathBuf, bool)],
    ) -> anyhow::Result<Vec<(ToolHandlers, PathBuf)>> {
        let registration = Registration { tool_verdicts: wanted, ..self.registration() };
        tool_verdicts::set_wanted(&registration.home, wanted)?;
        *self.registration.lock().unwrap_or_else(PoisonError::into_inner) = registration.clone();
        let own = set_in(&self.file, &registration)?;
        let mut files = vec![(own, self.file.path().to_owned())];
        for (path, wanted) in project_files(projects).into_iter().filter(|(path, _)| path != self.file.path())
        {
            let registration = Registration { tool_verdicts: wanted, ..registration.clone() };
            match set_in(&self.file.with_path(&path), &registration) {
                Ok(handlers) => files.push((handlers, path)),
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "could not change the hooks of a project; they keep their form");
                }
            }
        }
        Ok(files)
    }

    /// Notes about earlier tools whose hooks also send to this daemon.
    pub fn notes_about_earlier_tools(&self) -> Vec<String> {
        let found = self.file.predecessors(self.registration().port).unwrap_or_default();
        found.into_iter().filter(|found| found.doubles).map(|found| found.to_string()).collect()
    }

    /// Compares the settings with what we would write for hooks that deliver in the same way, so that http hooks do not count as changed.
    fn compare(&self) -> Result<Status, SettingsError> {
        self.file.status(&self.registration().as_installed(self.file.installed()?))
    }

    /// Removes the hooks when the daemon stops cleanly. Returns a sentence for the person, or `None` if nothing was registered.
    pub fn release(&self) -> Option<String> {
        match self.file.release(&self.registration().home) {
            Ok(change) => {
                tracing::info!("hooks are released");
                let removed = change.outcome == SettingsOutcome::Removed;
                removed.then(|| format!("Its hooks were removed from {}", change.path.display()))
            }
            Err(error) => {
                tracing::error!(%error, "could not remove the hooks; they stay until `flightdeck hooks uninstall` removes them");
                Some(format!("The hooks could not be removed: {error}"))
            }
        }
    }

    /// Whether the client runs our hooks for this home. A file that the client cannot read has no hooks either.
    pub fn presence(&self) -> Presence {
        let Ok(status) = self.compare() else { return self.seen(Presence::default()) };
        let of_another_home = matches!(self.file.other_home(&self.registration().home), Ok(Some(_)));
        let hears_ends = !status.disabled && !status.missing.iter().any(|event| event == END_OF_TURN);
        let present = status.via.is_some() && hears_ends && !of_another_home;
        let spools = present && status.via == Some(Via::Shim);
        self.seen(Presence { present, spools, was_present: status.drift })
    }

    /// Remembers that the hooks were registered. A receipt of an earlier daemon shows it too.
    fn seen(&self, presence: Presence) -> Presence {
        let before = self.was_present.fetch_or(presence.present, Ordering::AcqRel);
        Presence { was_present: before || presence.present || presence.was_present, ..presence }
    }

    /// The settings file that the hooks are registered in.
    pub fn settings_path(&self) -> &Path {
        self.file.path()
    }

    pub fn status(&self) -> HookReport {
        let status = match self.compare() {
            Ok(status) => status,
            Err(error) => {
                let problem = self.wanted.then(|| error.to_string());
                return HookReport { problem, wanted: self.wanted, ..HookReport::default() };
            }
        };
        if let Ok(Some(other)) = self.file.other_home(&self.registration().home) {
            if !self.wanted {
                // The hooks belong to another home, which reports on them itself.
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

/// Rewrites the handlers of this home in one file.
fn set_in(file: &SettingsFile, registration: &Registration) -> Result<ToolHandlers, SettingsError> {
    let Some(installed) = file.installed()? else { return Ok(ToolHandlers::Missing) };
    if file.other_home(&registration.home)?.is_some() {
        return Ok(ToolHandlers::Missing);
    }
    if installed.via == Via::Curl {
        return Ok(ToolHandlers::CannotReply);
    }
    let change = file.repair(&registration.clone().as_installed(Some(installed)))?;
    Ok(match change.outcome {
        SettingsOutcome::Repaired => ToolHandlers::Rewritten,
        _ => ToolHandlers::Unchanged,
    })
}

/// The settings files of projects that exist: in each directory, and in each of its parents up to the root of its repository. The project
/// controls these files, so a link is not followed. The value is true if an effort is active in one of the directories.
fn project_files(projects: &[(PathBuf, bool)]) -> BTreeMap<PathBuf, bool> {
    let mut files = BTreeMap::new();
    for (dir, wanted) in projects {
        for folder in project_folders(dir).map(|folder| folder.join(".claude")) {
            let file = folder.join("settings.json");
            let is_folder = folder.symlink_metadata().is_ok_and(|about| about.is_dir());
            if is_folder && file.symlink_metadata().is_ok_and(|about| about.is_file()) {
                *files.entry(file).or_default() |= *wanted;
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ClientVersion;

    struct Desk {
        folder: tempfile::TempDir,
    }

    impl Desk {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap() }
        }
        fn registration(&self) -> Registration {
            Registration::new("/opt/fd".as_ref(), self.folder.path(), ClientVersion::assumed())
        }
        fn file(&self) -> SettingsFile {
            SettingsFile::new(&self.folder.path().join("settings.json"), &self.folder.path().join("backups"))
        }
        fn registrar(&self) -> Registrar {
            Registrar::new(self.file(), self.registration(), true, self.folder.path().join("spool"))
        }
        fn set(&self, registrar: &Registrar, wanted: bool) -> ToolHandlers {
            registrar.set_tool_verdicts(wanted, &[]).unwrap()[0].0
        }
        fn text(&self) -> String {
            std::fs::read_to_string(self.file().path()).unwrap()
        }
    }

    #[test]
    fn an_effort_rewrites_permanent_handlers_too_and_they_stay_permanent() {
        let desk = Desk::new();
        desk.file().install(&desk.registration(), Lifetime::Permanent).unwrap();
        let (usual, registrar) = (desk.text(), desk.registrar());
        assert_eq!(desk.set(&registrar, true), ToolHandlers::Rewritten);
        assert_eq!(desk.set(&registrar, true), ToolHandlers::Unchanged);
        assert!(desk.text().contains(" hook --verdict ") && !registrar.status().drift);
        assert_eq!(registrar.release(), None, "a stop keeps them");
        // Another daemon finds the marker.
        assert!(tool_verdicts::are_wanted(desk.folder.path()));
        assert_eq!(desk.set(&registrar, false), ToolHandlers::Rewritten);
        assert_eq!((desk.text(), registrar.status().drift), (usual, false));
    }

    #[test]
    fn handlers_of_a_running_daemon_are_removed_at_its_stop_in_either_form() {
        let desk = Desk::new();
        let registrar = desk.registrar();
        registrar.register().unwrap();
        desk.set(&registrar, true);
        assert!(registrar.release().unwrap().contains("were removed"));
        assert!(!desk.file().path().exists());
    }

    #[test]
    fn without_handlers_that_hear_a_reply_nothing_is_written() {
        let desk = Desk::new();
        assert_eq!(desk.set(&desk.registrar(), true), ToolHandlers::Missing);
        assert!(!desk.file().path().exists());
        let curl = Registration { via: Via::Curl, ..desk.registration() };
        desk.file().install(&curl, Lifetime::Permanent).unwrap();
        let text = desk.text();
        assert_eq!(desk.set(&desk.registrar(), true), ToolHandlers::CannotReply);
        let other = Registration { home: "/another".into(), ..desk.registration() };
        desk.file().install(&other, Lifetime::Permanent).unwrap();
        let of_another = desk.text();
        assert_eq!(desk.set(&desk.registrar(), true), ToolHandlers::Missing);
        assert_eq!(desk.text(), of_another);
        assert_ne!(of_another, text);
    }

    #[test]
    fn http_handlers_hear_a_reply_as_they_are() {
        let desk = Desk::new();
        let http = Registration { via: Via::Http, ..desk.registration() };
        desk.file().install(&http, Lifetime::Permanent).unwrap();
        let registrar = desk.registrar();
        assert_eq!(desk.set(&registrar, true), ToolHandlers::Unchanged);
        assert!(!registrar.status().drift);
    }

    #[test]
    fn handlers_in_the_settings_of_a_project_change_with_an_effort_in_it() {
        let desk = Desk::new();
        let repo = desk.folder.path().join("repo");
        let (dir, settings) = (repo.join("api"), repo.join(".claude/settings.json"));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::create_dir_all(repo.join(".git")).unwrap();
        let file = desk.file().with_path(&settings);
        file.install(&desk.registration(), Lifetime::Permanent).unwrap();
        let usual = std::fs::read_to_string(&settings).unwrap();
        let registrar = desk.registrar();
        let waiting = registrar.set_tool_verdicts(true, &[(dir.clone(), true)]).unwrap();
        let own = desk.file().path().to_owned();
        let expected = vec![(ToolHandlers::Missing, own), (ToolHandlers::Rewritten, settings.clone())];
        assert_eq!(waiting, expected);
        assert!(std::fs::read_to_string(&settings).unwrap().contains(" hook --verdict "));
        // An effort in another project goes on.
        registrar.set_tool_verdicts(true, &[(dir, false)]).unwrap();
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), usual);
    }

    #[test]
    fn a_link_in_the_place_of_a_projects_settings_is_not_followed() {
        let desk = Desk::new();
        let repo = desk.folder.path().join("repo");
        std::fs::create_dir_all(repo.join(".claude")).unwrap();
        desk.file().install(&desk.registration(), Lifetime::Permanent).unwrap();
        std::os::unix::fs::symlink(desk.file().path(), repo.join(".claude/settings.json")).unwrap();
        assert_eq!(desk.registrar().set_tool_verdicts(true, &[(repo, true)]).unwrap().len(), 1);
    }
}
