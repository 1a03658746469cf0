//! `config.toml`. All settings are optional; unknown ones are errors. The hook never reads it.

pub mod add_rule;
pub mod efforts;
pub mod join_hosts;
pub mod live;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use flightdeck_core::approval::policy::Policy;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Millis;
use flightdeck_core::usage::price::{DollarsPerMillion, PriceError, PriceTable};
use serde::Deserialize;

use crate::hosts::settings::HostsSettings;
use crate::notify::settings::NotifySettings;
use crate::settings::{DEFAULT_HOLD_SECONDS, DEFAULT_PORT};
use crate::store::RetentionPolicy;
use crate::terminal::focus::FocusCommand;
use flightdeck_core::log::hold_rules::HoldRules;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The port of the board; an error if it is busy. Default: 47892 or the next free port.
    pub port: Option<u16>,
    /// The address to listen on. Addresses other than loopback need a token.
    pub bind: Option<IpAddr>,
    /// The token that every HTTP request must have, also from this machine.
    pub token: Option<String>,
    /// One board for many hosts; as a list, as in earlier versions, only the accepted host names.
    pub hosts: HostsSettings,
    #[serde(deserialize_with = "hold_seconds_within_limit")]
    pub hold_seconds: Option<u32>,
    pub hold_print: bool,
    /// Answer the forms of MCP servers on the board; the terminal shows no dialog meanwhile.
    pub hold_elicitation: bool,
    /// Answer the requests of subagents on the board; the terminal shows no dialog meanwhile.
    pub hold_agents: bool,
    pub tool_failure: ToolFailure,
    pub done_minutes: Option<u32>,
    /// Command that brings a terminal to the front, with the placeholders {pid} {tty} {pane} {cwd} {session_id}. For terminals
    /// without tmux, and for the terminal that tmux runs in.
    pub focus_command: Option<FocusCommand>,
    pub keep: Keep,
    /// Dollars per million tokens by model; replaces the shipped prices.
    pub prices: BTreeMap<String, DollarsPerMillion>,
    /// Rules that answer permission requests automatically.
    pub policy: Policy,
    /// Where notifications go, and about what.
    pub notify: NotifySettings,
    /// Which slash commands open efforts, where, and what they do not count.
    pub efforts: efforts::EffortSettings,
}

/// Longest time that a hook is held. A longer hold would outlast the hook, and the end of the hook would look like a refusal in the terminal.
pub const HOLD_SECONDS_MAX: u32 = 24 * 60 * 60;

fn hold_seconds_within_limit<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let seconds = u32::deserialize(from)?;
    if seconds > HOLD_SECONDS_MAX {
        return Err(serde::de::Error::custom(format!(
            "a request is held for {HOLD_SECONDS_MAX} seconds at most"
        )));
    }
    Ok(Some(seconds))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolFailure {
    /// Claude continues by itself; the card has a note.
    #[default]
    Note,
    NeedsYou,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    pub days: Option<u32>,
    pub megabytes: Option<u32>,
}

/// The advice for a file that cannot be parsed.
pub const CORRECTION_ADVICE: &str = "correct that line, or move the file away to start with defaults";

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    // The message contains the cause, so the cause is not a `source`; otherwise it would be printed twice.
    #[error("cannot read {path}: {cause}")]
    Read { path: String, cause: std::io::Error },
    #[error("cannot parse {path}: {}\n{CORRECTION_ADVICE}", without_secrets(.cause.to_string().trim_end()))]
    Parse { path: String, cause: Box<toml::de::Error> },
    #[error("cannot use {path}: {cause}\n{CORRECTION_ADVICE}")]
    Prices { path: String, cause: PriceError },
}

/// The keys whose values must not be shown.
const SECRET_KEYS: [&str; 2] = ["token", "secret"];

/// The parser quotes the line of a mistake, which may contain a secret.
fn without_secrets(message: &str) -> String {
    let mut rest = message;
    let mut shown = String::with_capacity(message.len());
    while let Some(end) = next_secret(rest) {
        let (before, quoted) = rest.split_at(end);
        let quote = quoted.chars().next().unwrap_or('"');
        let value: String = quoted[1..].chars().take_while(|c| *c != quote && *c != '\n').collect();
        shown.push_str(before);
        shown.push(quote);
        shown.extend(value.chars().map(|_| '*'));
        rest = &quoted[1 + value.len()..];
    }
    shown + rest
}

/// Where the quoted value of the next secret begins.
fn next_secret(text: &str) -> Option<usize> {
    let begins = |key: &str| {
        text.match_indices(key).find_map(|(at, _)| {
            let value = text[at + key.len()..]
                .trim_start_matches(['"', ' '])
                .strip_prefix('=')?
                .trim_start_matches(' ');
            value.starts_with(['"', '\'']).then(|| text.len() - value.len())
        })
    };
    SECRET_KEYS.into_iter().filter_map(begins).min()
}

impl Config {
    /// Reads the file; a missing file gives the defaults.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let name = || path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let config: Self = toml::from_str(&text)
                    .map_err(|cause| ConfigError::Parse { path: name(), cause: Box::new(cause) })?;
                config.prices().map_err(|cause| ConfigError::Prices { path: name(), cause })?;
                Ok(config)
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(cause) => Err(ConfigError::Read { path: name(), cause }),
        }
    }

    /// The token from `FLIGHTDECK_TOKEN`, else from the file that `FLIGHTDECK_TOKEN_FILE` names, else from `config.toml`. An
    /// empty token counts as none, because it would admit every client.
    pub fn token(&self, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<String>, ConfigError> {
        let some = |token: &str| Some(token.trim().to_owned()).filter(|token| !token.is_empty());
        let from_file = |path: PathBuf| {
            let text = std::fs::read_to_string(&path);
            text.map_err(|cause| ConfigError::Read { path: path.display().to_string(), cause })
        };
        let variable = env("FLIGHTDECK_TOKEN").and_then(|token| some(token.to_str()?));
        let file = env("FLIGHTDECK_TOKEN_FILE").filter(|path| !path.is_empty() && variable.is_none());
        let file = file.map(|path| from_file(path.into())).transpose()?;
        Ok(variable.or_else(|| some(&file?)).or_else(|| some(self.token.as_deref()?)))
    }

    pub fn default_port(&self) -> u16 {
        self.port.unwrap_or(DEFAULT_PORT)
    }

    pub fn hold_seconds(&self) -> u32 {
        self.hold_seconds.unwrap_or(DEFAULT_HOLD_SECONDS)
    }

    pub fn hold_rules(&self, seconds: u32) -> HoldRules {
        HoldRules {
            print: self.hold_print,
            elicitation: self.hold_elicitation,
            agents: self.hold_agents,
            ..HoldRules::new(seconds)
        }
    }

    pub fn fold_settings(&self, host: Option<String>) -> FoldSettings {
        let defaults = FoldSettings::default();
        FoldSettings {
            hold_print: self.hold_print,
            tool_failure_needs_you: self.tool_failure == ToolFailure::NeedsYou,
            done_keeps: self.done_minutes.map_or(defaults.done_keeps, |m| Millis::minutes(i64::from(m))),
            host,
            // The daemon follows the settings of notes while it runs.
            notify: None,
        }
    }

    /// The shipped prices, replaced by the person's own where given.
    pub fn prices(&self) -> Result<PriceTable, PriceError> {
        PriceTable::shipped().with_own_prices(&self.prices)
    }

    pub fn retention(&self) -> RetentionPolicy {
        let defaults = RetentionPolicy::default();
        RetentionPolicy {
            max_age: self.keep.days.map_or(defaults.max_age, |d| Millis::hours(24 * i64::from(d))),
            max_bytes: self.keep.megabytes.map_or(defaults.max_bytes, |m| u64::from(m) * 1024 * 1024),
            ..defaults
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, ConfigError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Config::read(file.path())
    }

    #[test]
    fn a_missing_file_gives_the_defaults() {
        assert_eq!(Config::read(Path::new("/nowhere/config.toml")).unwrap(), Config::default());
    }

    #[test]
    fn an_empty_token_counts_as_none() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let token = |config: &str, variable: &str, in_file: &str| {
            std::fs::write(file.path(), in_file).unwrap();
            let env = |name: &str| match name {
                "FLIGHTDECK_TOKEN" => Some(variable.into()),
                _ => Some(file.path().into()),
            };
            Config { token: Some(config.to_owned()), ..Config::default() }.token(&env).unwrap()
        };
        assert_eq!(token("", " ", "\n"), None);
        assert_eq!(token("c", "", "").as_deref(), Some("c"));
        assert_eq!(token("c", "", "f\n").as_deref(), Some("f"));
        assert_eq!(token("c", "v", "f\n").as_deref(), Some("v"));
    }

    #[test]
    fn a_parse_error_is_printed_once() {
        for wrong in ["[polcy]\n", "port = =\n"] {
            let error = anyhow::Error::new(read(wrong).unwrap_err());
            let said = format!("{error:#}");
            assert_eq!(said.matches("TOML parse error").count(), 1, "{said}");
            assert!(said.ends_with(&format!("\n{CORRECTION_ADVICE}")) && !said.contains("\n\n"), "{said}");
        }
    }

    #[test]
    fn a_mistake_beside_a_secret_does_not_show_the_secret() {
        for (wrong, why) in [
            ("token = \"hunter2\" 5\n", "token = \"*******\" 5"),
            (
                "[notify]\ntargets = [{ kind = \"ntfy\", url = \"https://a/b\", token = 'hunter2', colour = 1 }]\n",
                "colour",
            ),
            ("[notify]\ntargets = [{ \"secret\" = \"hunter2\", kind = \"webhok\" }]\n", "webhok"),
            ("token = \"hunter2\n", "token = \"*******\n"),
        ] {
            let said = read(wrong).unwrap_err().to_string();
            assert!(!said.contains("hunter2") && said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_misspelt_setting_is_reported_with_its_line() {
        let error = read("port = 1\nhold_sconds = 3\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("hold_sconds"), "{error}");
    }

    #[test]
    fn a_hold_longer_than_a_day_is_refused() {
        assert_eq!(read("hold_seconds = 86400").unwrap().hold_seconds(), HOLD_SECONDS_MAX);
        let error = read("hold_seconds = 86401").unwrap_err().to_string();
        assert!(error.contains("86400 seconds at most"), "{error}");
    }

    #[test]
    fn a_mistake_in_a_rule_is_reported_with_its_line() {
        let rule =
            |rule: &str| read(&format!("port = 1\n[policy]\nenabled = true\n[[policy.rules]]\n{rule}\n"));
        let right = rule("tool = \"Bash\"\nmatch = \"cargo test*\"\ndecision = \"allow\"").unwrap();
        assert_eq!(
            (right.policy.enabled, right.policy.rules[0].to_string()),
            (true, "Bash cargo test*".into())
        );
        assert!(!read("[[policy.rules]]\ntool = \"*\"\ndecision = \"deny\"").unwrap().policy.enabled);
        for (wrong, line, why) in [
            ("tool = \"Bash\"\ndecision = \"ask\"", "line 6", "unknown variant `ask`"),
            ("tool = \"Bash\"\ndecison = \"allow\"", "line 6", "unknown field `decison`"),
            ("decision = \"allow\"", "line 4", "missing field `tool`"),
            ("tool = \"Bash\"\ndecision = \"allow\"\nmessage = \"x\"", "line 4", "`message` goes with"),
        ] {
            let error = rule(wrong).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_configured_price_replaces_the_shipped_one() {
        let price = "input = 1.5, output = 2, cache_read = 0, cache_write_5m = 0, cache_write_1h = 0";
        let config = read(&format!("[prices]\n\"my-model\" = {{ {price} }}\n")).unwrap();
        assert_eq!(config.prices().unwrap().price("my-model").unwrap().input, 1500);
        let wrong = read(&format!("[prices]\n\"my-model\" = {{ {} }}\n", price.replace("1.5", "-1")));
        assert!(wrong.unwrap_err().to_string().contains("the price of my-model is -1"));
    }

    #[test]
    fn hosts_is_a_list_of_accepted_names_or_a_table() {
        let names = |text: &str| read(text).unwrap().hosts.names;
        assert_eq!(names("hosts = [\"box.local\"]"), ["box.local"]);
        assert_eq!(names("[hosts]\nnames = [\"box.local\"]"), ["box.local"]);
        let table =
            read("[hosts]\nurl = \"nats://n:4222\"\nname = \"build-1\"\naccept = [\"prompt\"]").unwrap();
        assert_eq!(table.hosts.url.as_deref(), Some("nats://n:4222"));
        for (wrong, why) in [
            ("[hosts]\nurl = \"nats://n\"\nnane = \"x\"", "unknown field `nane`"),
            ("[hosts]\nname = \"box.local\"", "letters, digits"),
            ("hosts = 3", "a list of accepted host names, or a table"),
            ("[hosts]\naccept = [\"stop\"]", "unknown variant `stop`"),
        ] {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn settings_reach_the_rules_and_the_retention() {
        let config = read("tool_failure = \"needs_you\"\ndone_minutes = 5\nkeep.days = 2\n").unwrap();
        assert!(config.fold_settings(None).tool_failure_needs_you);
        assert_eq!(config.fold_settings(None).done_keeps, Millis::minutes(5));
        assert_eq!(config.retention().max_age, Millis::hours(48));
    }
}
