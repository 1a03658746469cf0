//! What the daemon remembers about other hosts across a restart: cursors and the last presence, as JSON by name.

use std::collections::BTreeMap;

use super::Result;

pub trait HostStates {
    /// All or nothing. A row replaces the row of the same name.
    fn put_host_states(&mut self, rows: &[HostState]) -> Result<()>;
    fn host_states(&mut self) -> Result<BTreeMap<String, String>>;
}

/// The stored state of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostState {
    pub name: String,
    /// JSON.
    pub body: String,
}
