//! A settings file in a temporary folder, and a check of its foreign values that shares no code with the editor.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flightdeck::settings::{
    ClientVersion, Lifetime, Registration, SettingsChange, SettingsError, SettingsFile, Status, Version,
    VersionSource,
};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct SettingsFixture {
    dir: tempfile::TempDir,
    pub(crate) registration: Registration,
}

impl SettingsFixture {
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("claude")).unwrap();
        let version = ClientVersion { number: Version::MEASURED, source: VersionSource::ClaudeOnPath };
        let registration =
            Registration::new(Path::new("/opt/flightdeck"), Path::new("/home/dev/.fd"), version);
        Self { dir, registration }
    }

    pub(crate) fn with(bytes: &[u8]) -> Self {
        let fixture = Self::empty();
        fs::write(fixture.settings(), bytes).unwrap();
        fixture
    }

    pub(crate) fn knowing(mut self, number: Version) -> Self {
        self.registration.version.number = number;
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
    pub(crate) fn settings(&self) -> PathBuf {
        self.dir.path().join("claude/settings.json")
    }
    pub(crate) fn backups_folder(&self) -> PathBuf {
        self.dir.path().join("backups")
    }
    pub(crate) fn file(&self) -> SettingsFile {
        SettingsFile::new(&self.settings(), &self.backups_folder())
    }
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.settings()).unwrap()
    }

    pub(crate) fn install(&self) -> Result<SettingsChange, SettingsError> {
        self.file().install(&self.registration, Lifetime::Permanent)
    }
    pub(crate) fn repair(&self) -> Result<SettingsChange, SettingsError> {
        self.file().repair(&self.registration)
    }
    pub(crate) fn uninstall(&self) -> Result<SettingsChange, SettingsError> {
        self.file().uninstall()
    }
    pub(crate) fn status(&self) -> Status {
        self.file().status(&self.registration).unwrap()
    }

    /// The backups, oldest first.
    pub(crate) fn backups(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.backups_folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> =
            entries.filter(|p| p.file_name().unwrap().to_str().unwrap().starts_with("settings-")).collect();
        paths.sort();
        paths
    }

    /// The shell command of one of our handlers, JSON-escaped, without the quotes.
    pub(crate) fn command(&self) -> String {
        let handlers = self.registration.handlers().unwrap();
        let command = handlers[0].1["command"].to_string();
        command[1..command.len() - 1].to_owned()
    }

    /// The names in the settings folder, with the targets of links.
    pub(crate) fn listing(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join("claude")) else {
            return vec!["no folder".into()];
        };
        let name = |path: PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            fs::read_link(&path).map_or(name.clone(), |to| format!("{name}->{}", to.display()))
        };
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap().path())).collect();
        names.sort();
        names
    }

    /// A message with this run's folder replaced by `~`.
    pub(crate) fn with_tilde(&self, sentence: &str) -> String {
        let real = self.dir.path().canonicalize().unwrap();
        sentence.replace(real.to_str().unwrap(), "~").replace(self.dir.path().to_str().unwrap(), "~")
    }
}

impl Drop for SettingsFixture {
    fn drop(&mut self) {
        // A read-only folder could not be deleted. Fails if the test removed the folder.
        let _ = fs::set_permissions(self.dir.path().join("claude"), fs::Permissions::from_mode(0o700));
    }
}

/// The values of a settings file without our handlers and without empty `hooks`; `None` if serde_json cannot represent the
/// values.
pub(crate) fn meaning_without_ours(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut root: Value = serde_json::from_str(if text.is_empty() { "{}" } else { text }).ok()?;
    let Some(hooks) = root.get_mut("hooks").and_then(Value::as_object_mut) else { return Some(root) };
    for entries in hooks.values_mut().filter_map(Value::as_array_mut) {
        entries.retain_mut(|entry| !is_ours(entry) && !only_ours(entry));
    }
    hooks.retain(|_, entries| entries.as_array().is_none_or(|entries| !entries.is_empty()));
    if hooks.is_empty() {
        root.as_object_mut()?.remove("hooks");
    }
    Some(root)
}

/// Removes our handlers from a group; true if the group is empty afterwards.
fn only_ours(entry: &mut Value) -> bool {
    let Some(handlers) = entry.get_mut("hooks").and_then(Value::as_array_mut) else { return false };
    let before = handlers.len();
    handlers.retain(|handler| !is_ours(handler));
    before > 0 && handlers.is_empty()
}

fn is_ours(handler: &Value) -> bool {
    let has = |key: &str, sentinel: &str| handler[key].as_str().is_some_and(|text| text.contains(sentinel));
    handler.is_object() && (has("command", "# flightdeck-hook") || has("url", "via=flightdeck-hook"))
}
