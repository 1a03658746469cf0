//! A hook payload as it arrives: the client's JSON and the environment that `flightdeck hook` sent beside it.

use serde_json::{Map, Value};

use crate::limits::SESSION_ID_BYTES_MAX;
use crate::wire::hook_name::HookName;

/// Why a payload is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHook {
    #[error("the payload has no session_id")]
    NoSession,
    #[error("session_id is {0} bytes long; at most {SESSION_ID_BYTES_MAX} are taken")]
    SessionTooLong(usize),
    #[error("the event has no name: neither hook_event_name in the body nor an event in the path")]
    NoName,
}

/// A received payload, before it is a record.
#[derive(Clone, Debug)]
pub struct HookDraft {
    /// The name in the URL path, used if the body has none.
    pub name_in_path: Option<HookName>,
    pub payload: Map<String, Value>,
    /// The environment sent by `flightdeck hook`; empty for http hooks.
    pub env: Map<String, Value>,
    /// Size of the payload.
    pub bytes: usize,
}
