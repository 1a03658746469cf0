//! The `[notify]` part of config.toml.

use std::collections::BTreeSet;
use std::fmt;

use flightdeck_core::limits::{NOTE_AGAIN_AFTER, NOTE_SETTLE};
use flightdeck_core::notify::{NoteKind, NotifyRules};
use flightdeck_core::time::Millis;
use serde::de::{Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Serialize};

use super::http_client::Address;
use super::quiet::TimeOfDay;
use crate::engine::NoteSettings;
use crate::secret::Secret;

/// Longest settle time. A note that is later than a minute is of little use.
pub const SETTLE_MS_MAX: u32 = 60_000;
/// Longest pause between two notes about one session.
pub const PER_SESSION_SECONDS_MAX: u32 = 24 * 60 * 60;
/// Most targets. Each of them has a task and a queue.
pub const TARGETS_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawSettings")]
pub struct NotifySettings {
    pub targets: Vec<TargetSettings>,
    /// What the person wants to be notified about.
    pub events: Vec<NoteKind>,
    pub settle: Millis,
    pub per_session: Millis,
    /// No notes between these two times of the day.
    pub quiet: Option<(TimeOfDay, TimeOfDay)>,
    /// Names or paths of projects.
    pub mute_projects: Vec<String>,
    /// Where the person's phone reaches this daemon.
    pub public_url: Option<Address>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawSettings {
    targets: Vec<TargetSettings>,
    events: Vec<NoteKind>,
    settle_ms: u32,
    per_session_seconds: u32,
    quiet_from: Option<TimeOfDay>,
    quiet_to: Option<TimeOfDay>,
    mute_projects: Vec<String>,
    public_url: Option<Address>,
}

impl Default for RawSettings {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            events: NoteKind::ALL.to_vec(),
            settle_ms: NOTE_SETTLE.0 as u32,
            per_session_seconds: (NOTE_AGAIN_AFTER.0 / 1000) as u32,
            quiet_from: None,
            quiet_to: None,
            mute_projects: Vec::new(),
            public_url: None,
        }
    }
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            targets: Vec::new(),
            events: NoteKind::ALL.to_vec(),
            settle: NOTE_SETTLE,
            per_session: NOTE_AGAIN_AFTER,
            quiet: None,
            mute_projects: Vec::new(),
            public_url: None,
        }
    }
}

impl TryFrom<RawSettings> for NotifySettings {
    type Error = String;
    fn try_from(raw: RawSettings) -> Result<Self, String> {
        at_most("settle_ms", raw.settle_ms, SETTLE_MS_MAX)?;
        at_most("per_session_seconds", raw.per_session_seconds, PER_SESSION_SECONDS_MAX)?;
        let quiet = match (raw.quiet_from, raw.quiet_to) {
            (None, None) => None,
            (Some(from), Some(to)) => Some((from, to)),
            (Some(_), None) => return Err("`quiet_from` needs `quiet_to`".to_owned()),
            (None, Some(_)) => return Err("`quiet_to` needs `quiet_from`".to_owned()),
        };
        if raw.targets.len() > TARGETS_MAX {
            return Err(format!("`targets` may have {TARGETS_MAX} entries at most"));
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = raw.targets.iter().find(|target| !names.insert(&target.name)) {
            return Err(format!("two of `targets` are called {:?}: give one another `name`", twice.name));
        }
        Ok(Self {
            targets: raw.targets,
            events: raw.events,
            settle: Millis(i64::from(raw.settle_ms)),
            per_session: Millis::seconds(i64::from(raw.per_session_seconds)),
            quiet,
            mute_projects: raw.mute_projects,
            public_url: raw.public_url,
        })
    }
}

fn at_most(field: &str, value: u32, max: u32) -> Result<(), String> {
    if value > max { Err(format!("`{field}` may be {max} at most")) } else { Ok(()) }
}

impl NotifySettings {
    /// The settings that the fold needs. `None` if there is no target, because then the fold makes no notes.
    fn rules(&self) -> Option<NotifyRules> {
        (!self.targets.is_empty()).then(|| NotifyRules {
            kinds: self.events.clone(),
            settle: self.settle,
            again_after: self.per_session,
        })
    }

    /// The host of `public_url`, as a `Host` header has it.
    pub fn public_host(&self) -> Option<&str> {
        self.public_url.as_ref().map(Address::host_header)
    }

    pub fn for_engine(&self) -> NoteSettings {
        let targets = self.targets.iter().map(|target| target.name.clone()).collect();
        NoteSettings { rules: self.rules(), targets }
    }
}

/// One entry of `targets`: `"desktop"`, or a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSettings {
    pub name: String,
    pub kind: TargetKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    Desktop,
    Command { words: Vec<String> },
    Webhook { url: Address, secret: Option<Secret> },
    Ntfy { url: Address, token: Option<Secret> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindName {
    Desktop,
    Command,
    Webhook,
    Ntfy,
}

impl TargetKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Desktop => "desktop",
            Self::Command { .. } => "command",
            Self::Webhook { .. } => "webhook",
            Self::Ntfy { .. } => "ntfy",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTarget {
    name: Option<String>,
    kind: KindName,
    command: Option<String>,
    url: Option<Address>,
    secret: Option<Secret>,
    token: Option<Secret>,
}

impl TryFrom<RawTarget> for TargetSettings {
    type Error = String;
    fn try_from(raw: RawTarget) -> Result<Self, String> {
        use KindName as K;
        let RawTarget { name, kind, command, url, secret, token } = raw;
        let only = |field: &str, given: bool, with: &[KindName], kinds: &str| {
            if given && !with.contains(&kind) {
                return Err(format!("`{field}` goes with kind = {kinds}"));
            }
            Ok(())
        };
        only("command", command.is_some(), &[K::Command], "\"command\"")?;
        only("url", url.is_some(), &[K::Webhook, K::Ntfy], "\"webhook\" or \"ntfy\"")?;
        only("secret", secret.is_some(), &[K::Webhook], "\"webhook\"")?;
        only("token", token.is_some(), &[K::Ntfy], "\"ntfy\"")?;
        let kind = match kind {
            K::Desktop => TargetKind::Desktop,
            K::Command => TargetKind::Command { words: split_command(command.as_deref())? },
            K::Webhook => TargetKind::Webhook { url: url.ok_or("missing field `url`")?, secret },
            K::Ntfy => TargetKind::Ntfy { url: ntfy_url(url)?, token },
        };
        let name = name.unwrap_or_else(|| kind.name().to_owned());
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err("`name` must be one word".to_owned());
        }
        Ok(Self { name, kind })
    }
}

fn split_command(command: Option<&str>) -> Result<Vec<String>, String> {
    let command = command.ok_or("missing field `command`")?;
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.ok_or_else(|| "`command` is empty or has an unclosed quote".to_owned())
}

fn ntfy_url(url: Option<Address>) -> Result<Address, String> {
    let url = url.ok_or("missing field `url`")?;
    match url.split_last_segment() {
        Some(_) => Ok(url),
        None => Err("`url` must end with the topic, as in https://ntfy.sh/my-topic".to_owned()),
    }
}

impl<'de> Deserialize<'de> for TargetSettings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(TargetVisitor)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = TargetSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"desktop\", or a table with `kind`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TargetSettings, E> {
        match text {
            "desktop" => Ok(TargetSettings { name: text.to_owned(), kind: TargetKind::Desktop }),
            "command" | "webhook" | "ntfy" => {
                Err(E::custom(format!("the target {text:?} needs a table, as in {{ kind = {text:?}, … }}")))
            }
            _ => Err(E::custom(format!(
                "unknown target {text:?}, expected \"desktop\" or a table with `kind`"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetSettings, A::Error> {
        let raw = RawTarget::deserialize(MapAccessDeserializer::new(map))?;
        raw.try_into().map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<NotifySettings, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn without_settings_nothing_is_sent() {
        let settings = read("").unwrap();
        assert_eq!((settings.rules(), settings), (None, NotifySettings::default()));
    }

    #[test]
    fn every_setting_is_read() {
        let settings = read(
            r#"
            targets = [
                "desktop",
                { kind = "command", command = "say 'a note'" },
                { kind = "webhook", url = "https://example.org/hook?a=1", secret = "s" },
                { name = "phone", kind = "ntfy", url = "https://ntfy.sh/topic", token = "tk" },
            ]
            events = ["needs_permission", "asks"]
            settle_ms = 500
            per_session_seconds = 5
            quiet_from = "22:00"
            quiet_to = "07:30"
            mute_projects = ["play"]
            public_url = "https://deck.example.org"
            "#,
        )
        .unwrap();
        assert_eq!(*settings.for_engine().targets, ["desktop", "command", "webhook", "phone"]);
        assert_eq!(
            settings.targets[1].kind,
            TargetKind::Command { words: vec!["say".into(), "a note".into()] }
        );
        let rules = settings.rules().unwrap();
        assert_eq!(rules.kinds, [NoteKind::NeedsPermission, NoteKind::Asks]);
        assert_eq!((rules.settle, rules.again_after), (Millis(500), Millis::seconds(5)));
        assert!(settings.quiet.is_some() && settings.public_url.is_some());
    }

    #[test]
    fn a_mistake_is_refused_with_the_name_of_its_field() {
        for (wrong, why) in [
            ("setle_ms = 1", "setle_ms"),
            ("settle_ms = 60001", "`settle_ms` may be 60000 at most"),
            ("events = [\"needs_permision\"]", "unknown variant `needs_permision`"),
            ("quiet_from = \"22:00\"", "`quiet_from` needs `quiet_to`"),
            ("quiet_from = \"25:00\"\nquiet_to = \"1:00\"", "25:00"),
            ("public_url = \"deck.example.org\"", "deck.example.org"),
            ("targets = [\"desktp\"]", "unknown target \"desktp\""),
            ("targets = [\"webhook\"]", "needs a table"),
            ("targets = [\"desktop\", { kind = \"desktop\" }]", "are called \"desktop\""),
            ("targets = [{ kind = \"webhook\" }]", "missing field `url`"),
            ("targets = [{ kind = \"ntfy\", url = \"https://ntfy.sh\" }]", "must end with the topic"),
            ("targets = [{ kind = \"webhook\", url = \"ftp://a/b\" }]", "ftp://a/b"),
            ("targets = [{ kind = \"desktop\", url = \"http://a\" }]", "`url` goes with kind ="),
            ("targets = [{ kind = \"ntfy\", url = \"http://a/b\", secret = \"x\" }]", "`secret` goes with"),
            ("targets = [{ kind = \"command\", command = \"\" }]", "`command` is empty"),
            ("targets = [{ kind = \"pager\" }]", "unknown variant `pager`"),
            ("targets = [{ kind = \"desktop\", colour = 1 }]", "unknown field `colour`"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
