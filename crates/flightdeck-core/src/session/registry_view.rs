//! The last entry of the client's registry about a session.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::wire::registry::ClientStatus;

/// The last entry of the client's registry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryView {
    pub status: ClientStatus,
    /// When the client wrote it.
    pub status_at: Timestamp,
    /// When the daemon read it.
    pub heard_at: Timestamp,
    /// `seq` of its event.
    pub seq: u64,
    /// When the client was last busy. A prompt that opened before that was answered, however briefly the client worked.
    pub busy_at: Timestamp,
    /// The client became busy again without an entry in between, or after an idle entry that did not last; or it waits again, with
    /// a newer time. What it did before has ended.
    #[serde(default)]
    pub began_anew: bool,
}
