//! The hosts of a fleet, as a hub or a member sees them.

use flightdeck_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Every known host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListHosts {}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HostList {
    /// Hosts that need a look first: unreachable, then catching up, then this machine, then by name. Hosts that left come last.
    pub hosts: Vec<HostCard>,
    /// The connection to the server; `None` if this machine has joined no other.
    pub link: Option<HostLink>,
}

/// The connection of this machine to the server that joins the hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HostLink {
    /// Without a password.
    pub url: String,
    pub fleet: String,
    pub connected: bool,
    /// This machine shows the sessions of the other hosts.
    pub hub: bool,
    /// Events of this machine that the server does not have yet.
    pub backlog: u64,
    /// Why there is no connection, or what the server refused last.
    pub problem: Option<String>,
}

/// One host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Host"))]
pub struct HostCard {
    pub name: String,
    /// Whether this is the machine that the daemon runs on.
    pub this: bool,
    pub hub: bool,
    pub kind: HostKind,
    pub version: Option<String>,
    /// The last sign of life.
    pub last_seen: Option<Timestamp>,
    /// Set if there was no sign of life for 30 seconds.
    pub unreachable_since: Option<Timestamp>,
    /// Whether the host left the fleet with `hosts leave`.
    pub left: bool,
    /// Events of the host that this daemon does not have yet. If the host is unreachable: as of `last_seen`.
    pub backlog: u64,
    /// How much of its backlog has arrived since it came back: 0 to 100. `None` unless it is catching up.
    pub caught_up_percent: Option<u8>,
    pub sessions: u32,
    /// Sessions that block or ask and are not parked.
    pub needs_you: u32,
    /// How many seconds the clock of the host is ahead of the clock of this machine.
    pub clock_ahead_seconds: Option<f64>,
    /// The difference is large enough to be shown, and times are corrected by it.
    pub clock_differs: bool,
    pub shares_payloads: bool,
    /// What a person may do to its sessions from here.
    pub accepts: Vec<String>,
    /// Messages under its name that were refused, and why the last one was.
    pub refused: u64,
    pub refused_because: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename_all = "snake_case"))]
pub enum HostKind {
    Laptop,
    Container,
    #[default]
    Server,
}
