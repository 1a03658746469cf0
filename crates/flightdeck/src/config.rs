//! `config.toml`: everything optional, everything checked. The hook never reads it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use flightdeck_core::ask::policy::Policy;
use flightdeck_core::price::{DollarsPerMillion, PriceError, PriceTable};
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Millis;
use serde::Deserialize;

use crate::asks::holds::HoldRules;
use crate::claude_settings::{DEFAULT_HOLD_SECONDS, DEFAULT_PORT};
use crate::store::RetentionPolicy;
use crate::terminal::focus::FocusCommand;

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the board is served; busy is then an error. Without it: 47892 or the next free one.
    pub port: Option<u16>,
    /// Anything but loopback needs a token.
    pub bind: Option<IpAddr>,
    /// Asked of everyone who comes over HTTP, from this machine too.
    pub token: Option<String>,
    /// Other names this machine answers by: `name` gets our port, `name:443` has its own, `name:` has none.
    pub hosts: Vec<String>,
    #[serde(deserialize_with = "up_to_a_day")]
    pub hold_seconds: Option<u32>,
    pub hold_print: bool,
    /// Answer the forms of MCP servers from here; the client's own dialog stays shut meanwhile.
    pub hold_elicitation: bool,
    /// Answer what subagents ask from here; the client's own dialog stays shut meanwhile.
    pub hold_agents: bool,
    pub tool_failure: ToolFailure,
    pub done_minutes: Option<u32>,
    /// Brings a terminal to the front that is not in tmux, or the one tmux draws on: words with {pid} {tty} {pane} {cwd}
    /// {session_id} in them.
    pub focus_command: Option<FocusCommand>,
    pub keep: Keep,
    /// Dollars per million tokens by model, over the prices we ship.
    pub prices: BTreeMap<String, DollarsPerMillion>,
    /// Rules that answer permission requests by themselves.
    pub policy: Policy,
}

/// The hook itself waits no longer than that, and would be taken for one that was refused.
pub const HOLD_SECONDS_MAX: u32 = 24 * 60 * 60;

fn up_to_a_day<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
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
    /// Claude goes on by itself; the card carries a note.
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

/// What to do about a file that is not understood.
pub const CORRECT_IT: &str = "correct that line, or move the file away to start with defaults";

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    // The cause stands in the sentence, so it is no `source` that would be printed again.
    #[error("cannot read {path}: {cause}")]
    Read { path: String, cause: std::io::Error },
    #[error("{path} is not understood: {}\n{CORRECT_IT}", .cause.to_string().trim_end())]
    Parse { path: String, cause: Box<toml::de::Error> },
}

impl Config {
    /// A missing file is all defaults.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let name = || path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => toml::from_str(&text)
                .map_err(|cause| ConfigError::Parse { path: name(), cause: Box::new(cause) }),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(cause) => Err(ConfigError::Read { path: name(), cause }),
        }
    }

    /// `FLIGHTDECK_TOKEN`, else what is in the file that `FLIGHTDECK_TOKEN_FILE` names, else ours. Empty is none: it
    /// would let everybody in.
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

    pub fn rules(&self, host: Option<String>) -> Rules {
        let defaults = Rules::default();
        Rules {
            hold_print: self.hold_print,
            tool_failure_needs_you: self.tool_failure == ToolFailure::NeedsYou,
            done_keeps: self.done_minutes.map_or(defaults.done_keeps, |m| Millis::minutes(i64::from(m))),
            host,
        }
    }

    /// The shipped prices, with the person's own over them.
    pub fn prices(&self) -> Result<PriceTable, PriceError> {
        PriceTable::shipped().with(&self.prices)
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
    fn no_file_is_all_defaults() {
        assert_eq!(Config::read(Path::new("/nowhere/config.toml")).unwrap(), Config::default());
    }

    #[test]
    fn an_empty_token_is_none() {
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
    fn a_mistake_is_told_once_however_it_is_printed() {
        for wrong in ["[polcy]\n", "port = =\n"] {
            let error = anyhow::Error::new(read(wrong).unwrap_err());
            let said = format!("{error:#}");
            assert_eq!(said.matches("TOML parse error").count(), 1, "{said}");
            assert!(said.ends_with(&format!("\n{CORRECT_IT}")) && !said.contains("\n\n"), "{said}");
        }
    }

    #[test]
    fn a_misspelt_setting_is_named_with_its_line() {
        let error = read("port = 1\nhold_sconds = 3\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("hold_sconds"), "{error}");
    }

    #[test]
    fn a_hold_longer_than_the_hook_waits_is_refused() {
        assert_eq!(read("hold_seconds = 86400").unwrap().hold_seconds(), HOLD_SECONDS_MAX);
        let error = read("hold_seconds = 86401").unwrap_err().to_string();
        assert!(error.contains("86400 seconds at most"), "{error}");
    }

    #[test]
    fn a_mistake_in_a_rule_is_named_with_its_line() {
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
    fn a_persons_own_price_wins_over_the_shipped_one() {
        let price = "input = 1.5, output = 2, cache_read = 0, cache_write_5m = 0, cache_write_1h = 0";
        let config = read(&format!("[prices]\n\"my-model\" = {{ {price} }}\n")).unwrap();
        assert_eq!(config.prices().unwrap().price("my-model").unwrap().input, 1500);
        let config =
            read(&format!("[prices]\n\"my-model\" = {{ {} }}\n", price.replace("1.5", "-1"))).unwrap();
        assert!(config.prices().unwrap_err().to_string().contains("my-model"));
    }

    #[test]
    fn what_is_set_reaches_the_rules() {
        let config = read("tool_failure = \"needs_you\"\ndone_minutes = 5\nkeep.days = 2\n").unwrap();
        assert!(config.rules(None).tool_failure_needs_you);
        assert_eq!(config.rules(None).done_keeps, Millis::minutes(5));
        assert_eq!(config.retention().max_age, Millis::hours(48));
    }
}
