//! The variables of the person's environment that the daemon of the service needs. The service manager starts it with its own environment.

use std::path::{Path, PathBuf};

use super::Manager;
use super::unit::Variable;

/// Folders that the daemon looks up, with their usual places below the person's home.
const FOLDERS: [(&str, &str); 4] = [
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_STATE_HOME", ".local/state"),
];

/// The variables to write into the manager's file: folders that are not the usual ones. launchd also needs the PATH, on which the
/// daemon finds `claude` and `tmux`, because its own has only the system's programs.
pub(super) fn carried(manager: Manager, env: impl Fn(&str) -> Option<String>) -> Vec<Variable> {
    let home = env("HOME").unwrap_or_default();
    let folder = |(name, usual): (&'static str, &str)| {
        let value = env(name).filter(|value| Path::new(value).is_absolute())?;
        (Path::new(&value) != Path::new(&home).join(usual)).then_some((name, value))
    };
    let mut carried: Vec<Variable> = FOLDERS.into_iter().filter_map(folder).collect();
    carried.extend(runtime_folder(manager, &env));
    if manager == Manager::Launchd {
        carried.extend(env("PATH").filter(|path| !path.is_empty()).map(|path| ("PATH", path)));
    }
    carried
}

/// systemd sets the runtime folder itself; launchd knows none.
fn runtime_folder(manager: Manager, env: &impl Fn(&str) -> Option<String>) -> Option<Variable> {
    const NAME: &str = "XDG_RUNTIME_DIR";
    let value = env(NAME).filter(|value| Path::new(value).is_absolute())?;
    let usual = PathBuf::from(format!("/run/user/{}", rustix::process::getuid().as_raw()));
    (manager == Manager::Launchd || Path::new(&value) != usual).then_some((NAME, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carried_of(manager: Manager, env: &[(&str, &str)]) -> Vec<Variable> {
        carried(manager, |name| {
            env.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn only_what_is_not_as_usual_is_carried() {
        let usual = [
            ("HOME", "/h"),
            ("XDG_DATA_HOME", "/h/.local/share"),
            ("CLAUDE_CONFIG_DIR", "/h/.claude"),
            ("PATH", "/bin"),
        ];
        assert_eq!(carried_of(Manager::Systemd, &usual), []);
        assert_eq!(carried_of(Manager::Launchd, &usual), [("PATH", "/bin".to_owned())]);
        let own = [
            ("HOME", "/h"),
            ("XDG_STATE_HOME", "/s"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("XDG_DATA_HOME", "relative"),
        ];
        let expected = [("CLAUDE_CONFIG_DIR", "/c".to_owned()), ("XDG_STATE_HOME", "/s".to_owned())];
        assert_eq!(carried_of(Manager::Systemd, &own), expected);
        let folder = [("XDG_RUNTIME_DIR", "/tmp/run")];
        assert_eq!(carried_of(Manager::Systemd, &folder), [("XDG_RUNTIME_DIR", "/tmp/run".to_owned())]);
    }
}
