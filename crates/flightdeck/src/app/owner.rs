//! Why the owner of a session, another host, did not do what it was asked to do.

use flightdeck_core::approval::card::ResolutionCard;
use flightdeck_protocol::{ErrorCode, ErrorReply};

use crate::hosts::RequestError;

/// Why the owner of a session did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error("{}", .0.reply.message)]
    Refused(Box<OwnerRefusal>),
    #[error(transparent)]
    Unreached(#[from] RequestError),
    #[error("the reply of the host is not understood: {0}")]
    Unreadable(serde_json::Error),
}

/// A refusal in the owner's words.
#[derive(Debug)]
pub struct OwnerRefusal {
    pub reply: ErrorReply,
    /// How the ask ended, if it was answered before.
    pub resolution: Option<ResolutionCard>,
}

impl OwnerError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Refused(refusal) => refusal.reply.error,
            Self::Unreached(_) | Self::Unreadable(_) => ErrorCode::HandlerError,
        }
    }
}
