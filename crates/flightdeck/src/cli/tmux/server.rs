//! A running tmux server: makes it load the included file, and removes everything that the file set.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use super::included::{
    FOCUS_HOOK, Keys, LENGTH_OPTION, OUR_LENGTH_OPTION, STATUS_OPTION, saved, saved_options,
};
use crate::pane_colours::paint::{HOME_OPTION, PANE_OPTION, WINDOW_OPTION};

/// The oldest tmux that has popups. Everything else that the file uses is older.
const TMUX_MIN: (u32, u32) = (3, 2);

/// Refuses a tmux that is too old for the file. Succeeds if tmux is not installed.
pub(super) fn check_version() -> anyhow::Result<()> {
    let Ok(output) = Command::new("tmux").arg("-V").output() else { return Ok(()) };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if version(&said).is_some_and(|version| version < TMUX_MIN) {
        bail!("{said} is too old: version {}.{} or newer is needed", TMUX_MIN.0, TMUX_MIN.1);
    }
    Ok(())
}

/// Parses `tmux 3.3a` and `tmux next-3.5`. `None` for any other form, which counts as a new version.
fn version(said: &str) -> Option<(u32, u32)> {
    let number = said.strip_prefix("tmux ")?;
    let (major, minor) = number.strip_prefix("next-").unwrap_or(number).split_once('.')?;
    let digits = minor.find(|c: char| !c.is_ascii_digit()).map_or(minor, |end| &minor[..end]);
    Some((major.parse().ok()?, digits.parse().ok()?))
}

/// The server behind a socket.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) socket: PathBuf,
}

impl Server {
    /// The given server, else the server of this terminal. `TMUX` is `socket,pid,session`.
    pub(super) fn chosen(socket: Option<&Path>, tmux: Option<&str>) -> Option<Self> {
        let here = || tmux.and_then(|value| value.split(',').next()).filter(|path| !path.is_empty());
        let socket = socket.map(Path::to_owned).or_else(|| here().map(PathBuf::from))?;
        Some(Self { socket })
    }

    fn run(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = Command::new("tmux")
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .stdin(Stdio::null())
            .output()
            .context("tmux could not be run")?;
        if !output.status.success() {
            // tmux prints an error in a configuration file to standard output.
            let said = [output.stderr, output.stdout].concat();
            bail!("tmux {}: {}", args.join(" "), String::from_utf8_lossy(&said).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn global_option(&self, name: &str) -> anyhow::Result<String> {
        Ok(self.run(&["show-options", "-gqv", name])?.trim_end_matches('\n').to_owned())
    }

    /// The home whose file it has loaded.
    pub(super) fn loaded_home(&self) -> anyhow::Result<Option<String>> {
        Ok(Some(self.global_option(HOME_OPTION)?).filter(|home| !home.is_empty()))
    }

    /// Loads the file of this home. Removes the keys and options of an earlier install of the same home before, because the new keys may
    /// be others.
    pub(super) fn load(&self, included: &Path, home: &str) -> anyhow::Result<()> {
        self.unbind_keys(home)?;
        if self.loaded_home()?.as_deref() == Some(home) {
            self.take_out_fleet_line()?;
        }
        self.run(&["source-file", &included.display().to_string()]).map(drop)
    }

    /// The first of our keys that is already bound to something else.
    pub(super) fn taken_key<'a>(&self, keys: &'a Keys) -> anyhow::Result<Option<&'a str>> {
        let bound = self.run(&["list-keys", "-T", "prefix"])?;
        let is_taken = |key: &&str| {
            bound.lines().any(|line| bound_key(line) == Some(key) && !line.contains("flightdeck"))
        };
        Ok(keys.all().into_iter().find(is_taken))
    }

    /// Removes the keys of this home. If the server has loaded the file of this home last, also restores the options, and removes
    /// our hook and the status of every pane.
    pub(super) fn unload(&self, home: &str) -> anyhow::Result<()> {
        self.unbind_keys(home)?;
        if self.loaded_home()?.as_deref() != Some(home) {
            return Ok(());
        }
        for option in saved_options() {
            let before = self.global_option(&saved(option))?;
            self.run(&["set-option", "-g", option, &before])?;
            self.run(&["set-option", "-gu", &saved(option)])?;
        }
        self.take_out_fleet_line()?;
        self.restore_length()?;
        self.run(&["set-hook", "-gu", FOCUS_HOOK])?;
        for pane in self.run(&["list-panes", "-a", "-F", "#{pane_id}"])?.lines() {
            self.run(&["set-option", "-qpu", "-t", pane, PANE_OPTION])?;
            self.run(&["set-option", "-qwu", "-t", pane, WINDOW_OPTION])?;
        }
        for option in [STATUS_OPTION, OUR_LENGTH_OPTION, HOME_OPTION] {
            self.run(&["set-option", "-gu", option])?;
        }
        Ok(())
    }

    fn unbind_keys(&self, home: &str) -> anyhow::Result<()> {
        for key in self.keys_of(home)? {
            self.run(&["unbind-key", "-T", "prefix", &key])?;
        }
        Ok(())
    }

    /// Takes our part out of `status-right`.
    fn take_out_fleet_line(&self) -> anyhow::Result<()> {
        let ours = self.global_option(STATUS_OPTION)?;
        let status_right = self.global_option("status-right")?.replace(&ours, "");
        self.run(&["set-option", "-g", "status-right", &status_right]).map(drop)
    }

    /// Restores the length of the status bar, unless the person has changed it since the install.
    fn restore_length(&self) -> anyhow::Result<()> {
        let before = self.global_option(&saved(LENGTH_OPTION))?;
        if !before.is_empty()
            && self.global_option(LENGTH_OPTION)? == self.global_option(OUR_LENGTH_OPTION)?
        {
            self.run(&["set-option", "-g", LENGTH_OPTION, &before])?;
        }
        self.run(&["set-option", "-gu", &saved(LENGTH_OPTION)]).map(drop)
    }

    fn keys_of(&self, home: &str) -> anyhow::Result<Vec<String>> {
        let bound = self.run(&["list-keys", "-T", "prefix"])?;
        let ours = bound.lines().filter(|line| line.contains("flightdeck") && runs_in(line, home));
        Ok(ours.filter_map(bound_key).map(str::to_owned).collect())
    }
}

/// Whether a binding runs our program in this home, quoted or not.
fn runs_in(line: &str, home: &str) -> bool {
    let quotes = ['\'', '"', '\\'];
    line.split("--home ").skip(1).any(|rest| {
        let after = rest.trim_start_matches(quotes).strip_prefix(home);
        after.is_some_and(|after| after.starts_with(' ') || after.starts_with(quotes))
    })
}

/// `bind-key -r -T prefix F display-popup …`: the key.
fn bound_key(line: &str) -> Option<&str> {
    line.split_whitespace().skip_while(|word| *word != "prefix").nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let is_enough = |said: &str| version(said).is_none_or(|version| version >= TMUX_MIN);
        for said in ["tmux 3.2", "tmux 3.3a", "tmux next-3.5", "tmux 3.10", "tmux master", "tmux openbsd-7.4"]
        {
            assert!(is_enough(said), "{said}");
        }
        assert!(!is_enough("tmux 3.1c") && !is_enough("tmux 2.9a"));
    }

    #[test]
    fn a_binding_belongs_to_the_home_that_it_names() {
        let line = |home: &str| {
            format!("bind-key -T prefix F run-shell \"/bin/flightdeck --home {home} focus next\"")
        };
        assert!(runs_in(&line("/h/fd"), "/h/fd") && runs_in(&line("'/h/f d'"), "/h/f d"));
        assert!(!runs_in(&line("/h/fd2"), "/h/fd") && !runs_in(&line("/h/fd/x"), "/h/fd"));
    }

    #[test]
    fn the_key_of_a_binding_is_found_behind_its_table() {
        assert_eq!(bound_key("bind-key -r -T prefix M-f display-popup -E \"x prefix y\""), Some("M-f"));
        assert_eq!(bound_key("bind-key -T root F run"), None);
    }
}
