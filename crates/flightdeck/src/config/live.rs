//! `config.toml` while the daemon runs: read again when the file has changed. A file with a mistake changes nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flightdeck_core::approval::policy::RuleDraft;

use super::Config;
use super::add_rule::{AddRuleError, add_rule};

/// How often the file is checked while hooks arrive; a check costs one system call.
const CHECK_EVERY: Duration = Duration::from_millis(200);

/// The settings that apply now.
#[derive(Debug)]
pub struct LiveConfig {
    path: PathBuf,
    state: Mutex<SettingsState>,
    /// Held while the file is changed: two rules that are added at once are both written.
    changes: Mutex<()>,
}

#[derive(Debug)]
struct SettingsState {
    started_with: Arc<Config>,
    current: Arc<Config>,
    file: Option<FileVersion>,
    checked_at: Instant,
    problem: Option<String>,
}

/// Identifies one version of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    bytes: u64,
    changed_at: (i64, i64),
}

impl FileVersion {
    fn on_disk(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        let changed_at = (about.mtime(), about.mtime_nsec());
        Some(Self { inode: about.ino(), bytes: about.len(), changed_at })
    }
}

impl LiveConfig {
    /// `config` is what the file contains now.
    pub fn new(path: &Path, config: Config) -> Self {
        let current = Arc::new(config);
        let state = SettingsState {
            started_with: Arc::clone(&current),
            current,
            file: FileVersion::on_disk(path),
            checked_at: Instant::now(),
            problem: None,
        };
        Self { path: path.to_owned(), state: Mutex::new(state), changes: Mutex::new(()) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings, read again if the file has changed.
    pub fn current(&self) -> Arc<Config> {
        let mut state = self.lock();
        if state.checked_at.elapsed() >= CHECK_EVERY {
            state.reread_if_changed(&self.path);
        }
        Arc::clone(&state.current)
    }

    /// The settings, read again if the file has changed, even if it was checked a moment ago.
    pub fn read_now(&self) -> Arc<Config> {
        let mut state = self.lock();
        state.reread_if_changed(&self.path);
        Arc::clone(&state.current)
    }

    pub fn started_with(&self) -> Arc<Config> {
        Arc::clone(&self.lock().started_with)
    }

    /// The settings, if the file has changed since the start.
    pub fn changed(&self) -> Option<Arc<Config>> {
        let current = self.current();
        (!Arc::ptr_eq(&current, &self.lock().started_with)).then_some(current)
    }

    /// Writes a rule into the file and uses it from now on. False if the file has it already.
    pub fn add_rule(&self, rule: &RuleDraft, enable: bool) -> Result<bool, AddRuleError> {
        let _alone = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let added = add_rule(&self.path, rule, enable)?;
        self.lock().reread_if_changed(&self.path);
        Ok(added)
    }

    /// Why the file is not used, and which changed settings apply only after a restart.
    pub fn report(&self) -> (Option<String>, Vec<String>) {
        let mut state = self.lock();
        state.reread_if_changed(&self.path);
        (state.problem.clone(), needs_restart(&state.started_with, &state.current))
    }

    fn lock(&self) -> MutexGuard<'_, SettingsState> {
        // Nothing in here panics between two changes of the state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SettingsState {
    fn reread_if_changed(&mut self, path: &Path) {
        self.checked_at = Instant::now();
        let file = FileVersion::on_disk(path);
        if file == self.file {
            return;
        }
        self.file = file;
        match Config::read(path) {
            Ok(config) => {
                tracing::info!(path = %path.display(), "the settings changed and were read again");
                self.problem = None;
                if config != *self.current {
                    self.current = Arc::new(config);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "the changed settings are not used; the old ones stay");
                self.problem = Some(error.to_string());
            }
        }
    }
}

/// A setting that applies only after a restart, and why.
struct FixedSetting {
    name: &'static str,
    reason: &'static str,
    differs: fn(&Config, &Config) -> bool,
}

/// The name of this machine among other hosts.
pub const HOST_NAME_SETTING: &str = "hosts.name";

const FIXED_SETTINGS: [FixedSetting; 5] = [
    FixedSetting {
        name: "port",
        reason: "the daemon listens where it was started",
        differs: |old, new| old.port != new.port,
    },
    FixedSetting {
        name: "bind",
        reason: "the daemon listens where it was started",
        differs: |old, new| old.bind != new.bind,
    },
    FixedSetting {
        name: "token",
        reason: "open connections were admitted with the old one",
        differs: |old, new| old.token != new.token,
    },
    FixedSetting {
        name: HOST_NAME_SETTING,
        reason: "the cards of this machine carry its name; the membership of [hosts] waits for it",
        differs: |old, new| new.hosts.url.is_some() && old.hosts.name != new.hosts.name,
    },
    FixedSetting {
        name: "notify.public_url",
        reason: "requests to its host were admitted from the start on",
        differs: |old, new| old.notify.public_url != new.notify.public_url,
    },
];

fn needs_restart(old: &Config, new: &Config) -> Vec<String> {
    let changed = FIXED_SETTINGS.iter().filter(|setting| (setting.differs)(old, new));
    changed.map(|setting| setting.name.to_owned()).collect()
}

/// Why a setting applies only after a restart. `None` for a setting that a newer daemon names.
pub fn restart_reason(name: &str) -> Option<&'static str> {
    FIXED_SETTINGS.iter().find(|setting| setting.name == name).map(|setting| setting.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "[policy]\nenabled = true\n[[policy.rules]]\ntool = \"Read\"\ndecision = \"allow\"\n";

    fn live(text: &str) -> (tempfile::TempDir, LiveConfig) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        fs::write(&path, text).unwrap();
        let config = Config::read(&path).unwrap();
        (dir, LiveConfig::new(&path, config))
    }

    #[test]
    fn a_changed_file_is_used_and_a_broken_one_keeps_the_old_rules() {
        let (_dir, live) = live("port = 1\n");
        assert!(live.changed().is_none());
        fs::write(live.path(), RULE).unwrap();
        let (problem, restart) = live.report();
        assert_eq!((problem, restart), (None, vec!["port".to_owned()]));
        assert!(live.current().policy.enabled && live.changed().is_some());

        fs::write(live.path(), "[policy]\nenabled = maybe\n").unwrap();
        let (problem, _) = live.report();
        assert!(problem.unwrap().contains("line 2"));
        assert_eq!(live.current().policy.rules.len(), 1);

        fs::write(live.path(), RULE.replace("true", "false")).unwrap();
        assert_eq!(live.report(), (None, vec!["port".to_owned()]));
        assert!(!live.current().policy.enabled);
    }

    #[test]
    fn a_file_that_is_moved_away_gives_the_defaults() {
        let (_dir, live) = live(RULE);
        fs::remove_file(live.path()).unwrap();
        live.report();
        assert_eq!(*live.current(), Config::default());
    }
}
