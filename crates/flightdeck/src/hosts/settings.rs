//! `[hosts]` in `config.toml`: which server joins the hosts, what this one is called, and what it shares and accepts.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::subjects::check_token;

/// The fleet that a host belongs to if none is named.
pub const DEFAULT_FLEET: &str = "main";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostsSettings {
    /// Further accepted host names of the HTTP server: `name` means our port, `name:443` another port, `name:` no port.
    pub names: Vec<String>,
    /// The NATS server: `nats://host:4222`, `tls://host:4222`. Without it nothing connects anywhere.
    pub url: Option<String>,
    /// What this machine is called on the board. Default: its host name.
    pub name: Option<String>,
    /// Hosts with the same fleet share a board.
    pub fleet: Option<String>,
    /// A credentials file or a file with the seed of an nkey.
    pub creds: Option<PathBuf>,
    /// A file with the certificates that sign the server's, if the system does not trust them.
    pub ca: Option<PathBuf>,
    /// What a hub may do to the sessions of this machine. Default: only answers.
    pub accept: Option<Vec<RemoteAction>>,
    pub share: Share,
}

/// What a person on a hub may do to a session of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemoteAction {
    Answer,
    Prompt,
    Interrupt,
    Focus,
}

impl RemoteAction {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Prompt => "prompt",
            Self::Interrupt => "interrupt",
            Self::Focus => "focus",
        }
    }
}

/// What this machine sends of its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Everything that is in its log.
    #[default]
    Full,
    /// Names, states, times and numbers: no prompt, command, path or output.
    NoPayloads,
}

impl HostsSettings {
    pub fn accepts(&self) -> Vec<RemoteAction> {
        self.accept.clone().unwrap_or_else(|| vec![RemoteAction::Answer])
    }

    pub fn fleet(&self) -> &str {
        self.fleet.as_deref().unwrap_or(DEFAULT_FLEET)
    }

    /// These settings, with what `other` shares and accepts if that is less.
    #[must_use]
    pub fn restricted_by(&self, other: &Self) -> Self {
        let (before, other_accepts) = (self.accepts(), other.accepts());
        let accepts: Vec<_> =
            before.iter().copied().filter(|action| other_accepts.contains(action)).collect();
        let accept = if accepts == before { self.accept.clone() } else { Some(accepts) };
        let share = if self.share == Share::Full { other.share } else { self.share };
        Self { accept, share, ..self.clone() }
    }

    /// Whether both describe the same membership; the accepted names are no part of it.
    pub fn same_membership(&self, other: &Self) -> bool {
        Self { names: Vec::new(), ..self.clone() } == Self { names: Vec::new(), ..other.clone() }
    }
}

/// The table form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostsTable {
    #[serde(default)]
    names: Vec<String>,
    url: Option<String>,
    name: Option<String>,
    fleet: Option<String>,
    creds: Option<PathBuf>,
    ca: Option<PathBuf>,
    accept: Option<Vec<RemoteAction>>,
    #[serde(default)]
    share: Share,
}

struct ListOrTable;

impl<'de> Visitor<'de> for ListOrTable {
    type Value = HostsSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of accepted host names, or a table")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HostsSettings, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        Ok(HostsSettings { names, ..HostsSettings::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HostsSettings, A::Error> {
        let HostsTable { names, url, name, fleet, creds, ca, accept, share } =
            HostsTable::deserialize(MapAccessDeserializer::new(map))?;
        for token in name.iter().chain(&fleet) {
            check_token(token).map_err(A::Error::custom)?;
        }
        Ok(HostsSettings { names, url, name, fleet, creds, ca, accept, share })
    }
}

impl<'de> Deserialize<'de> for HostsSettings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ListOrTable)
    }
}
