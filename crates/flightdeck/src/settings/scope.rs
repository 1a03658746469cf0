//! Finds the settings file to edit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::error::SettingsError;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// All sessions of this user
    #[default]
    User,
    /// Sessions started in the current folder
    Project,
}

/// Claude Code's own folder: `$CLAUDE_CONFIG_DIR`, else `$HOME/.claude`.
pub fn config_dir(env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf, SettingsError> {
    let var = |name: &str| env(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    var("CLAUDE_CONFIG_DIR")
        .or_else(|| var("HOME").map(|home| home.join(".claude")))
        .ok_or(SettingsError::NoConfigDir)
}

pub fn settings_path(
    scope: Scope,
    env: &dyn Fn(&str) -> Option<OsString>,
    cwd: &Path,
) -> Result<PathBuf, SettingsError> {
    let folder = match scope {
        // A relative CLAUDE_CONFIG_DIR starts at Claude Code's working directory; ours is the best guess.
        Scope::User => cwd.join(config_dir(env)?),
        Scope::Project => cwd.join(".claude"),
    };
    Ok(folder.join("settings.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(scope: Scope, vars: &[(&str, &str)]) -> String {
        let env = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(*v));
        settings_path(scope, &env, Path::new("/w"))
            .map_or_else(|e| e.to_string(), |p| p.display().to_string())
    }

    #[test]
    fn the_user_file_follows_claude_config_dir_and_else_home() {
        assert_eq!(path(Scope::User, &[("CLAUDE_CONFIG_DIR", "/c"), ("HOME", "/h")]), "/c/settings.json");
        assert_eq!(
            path(Scope::User, &[("CLAUDE_CONFIG_DIR", ""), ("HOME", "/h")]),
            "/h/.claude/settings.json"
        );
        assert!(path(Scope::User, &[]).contains("set one"));
    }

    #[test]
    fn the_project_file_needs_no_environment() {
        assert_eq!(path(Scope::Project, &[]), "/w/.claude/settings.json");
    }
}
