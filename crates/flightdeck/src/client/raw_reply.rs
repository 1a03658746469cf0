//! A reply as the daemon wrote it.

use std::marker::PhantomData;

use flightdeck_protocol::{SocketCommand, frame};
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::ClientError;

/// The JSON text of a reply to `R`, with all its fields, also those of a newer daemon.
pub struct RawReply<R> {
    json: Box<RawValue>,
    request: PhantomData<R>,
}

impl<R: SocketCommand> RawReply<R> {
    pub(super) fn read(line: &[u8]) -> Result<Self, ClientError> {
        let json = frame::read_reply(line).map_err(ClientError::Reply)?.map_err(ClientError::Refused)?;
        Ok(Self { json, request: PhantomData })
    }

    /// All fields in the daemon's order, for printing.
    pub fn json(&self) -> Result<Value, ClientError> {
        serde_json::from_str(self.json.get()).map_err(ClientError::Reply)
    }

    pub fn decode(&self) -> Result<R::Reply, ClientError> {
        serde_json::from_str(self.json.get()).map_err(ClientError::Reply)
    }
}

impl<R> std::fmt::Debug for RawReply<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.json.get())
    }
}
