//! Replies, typed or already encoded as JSON.

use std::marker::PhantomData;

use bytes::Bytes;
use serde::Serialize;

/// A `T` that is already encoded as JSON. The engine encodes each card once for all viewers.
#[derive(Clone, Debug)]
pub struct Encoded<T> {
    json: Bytes,
    of: PhantomData<fn() -> T>,
}

impl<T> Encoded<T> {
    /// `json` must be the encoding of a `T`.
    pub fn new(json: impl Into<Bytes>) -> Self {
        Self { json: json.into(), of: PhantomData }
    }

    pub fn json(&self) -> &Bytes {
        &self.json
    }
}

/// The reply of a use case.
#[derive(Debug)]
pub enum AppReply<T> {
    Typed(T),
    Encoded(Encoded<T>),
}

impl<T: Serialize> AppReply<T> {
    pub fn into_json(self) -> serde_json::Result<Bytes> {
        match self {
            Self::Typed(reply) => serde_json::to_vec(&reply).map(Bytes::from),
            Self::Encoded(encoded) => Ok(encoded.json),
        }
    }
}

impl<T> From<T> for AppReply<T> {
    fn from(reply: T) -> Self {
        Self::Typed(reply)
    }
}

impl<T> From<Encoded<T>> for AppReply<T> {
    fn from(encoded: Encoded<T>) -> Self {
        Self::Encoded(encoded)
    }
}
