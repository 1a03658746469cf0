//! Why a use case failed: a code for programs, a message for people, and details that a program can act on.

use flightdeck_core::approval::card::ResolutionCard;
use flightdeck_core::approval::verdict::InvalidAnswer;
use flightdeck_core::effort::EffortRefused;
use flightdeck_core::ids::{AskId, AssignmentId, SessionId};
use flightdeck_protocol::terminal::TerminalRefusal;
use flightdeck_protocol::{ErrorCode, ErrorReply};

use super::owner::OwnerError;
use crate::engine::{NotStored, Stopped};
use crate::store::StoreError;
use crate::terminal::RefusalReason;

#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error("there is no session {0}")]
    NoSession(SessionId),
    #[error("there is no assignment {0}")]
    NoAssignment(AssignmentId),
    #[error("there is no workstream {0}; `effort start` creates one for a directory")]
    NoWorkstream(String),
    /// A change of an effort is not possible.
    #[error(transparent)]
    Effort(#[from] EffortRefused),
    /// The key of a button was used, or was never issued.
    #[error("this button was used already, or its request is over")]
    NoSuchKey,
    /// The arguments do not fit the request.
    #[error("{0}")]
    Invalid(String),
    /// The arguments are understood, but make no sense now.
    #[error("{0}")]
    Pointless(String),
    /// The session's state does not allow it now.
    #[error(transparent)]
    Refused(#[from] RefusalReason),
    /// The session belongs to another host.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why an ask was not found or not answered.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error("there is no ask {0}")]
    Unknown(AskId),
    #[error("this was already decided: {}", in_words(.0))]
    Over(ResolutionCard),
    #[error("no hook waits for this answer: answer it in the terminal")]
    NotHeld,
    #[error("{0}")]
    DoesNotFit(#[from] InvalidAnswer),
    #[error("the answer is not understood: {0}")]
    Unreadable(String),
    #[error("the answer is not JSON: {0}")]
    Malformed(String),
    /// The session belongs to another host.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// The daemon cannot carry out the request: it is stopping, or the store failed.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotStored(#[from] NotStored),
    #[error("cannot encode the reply: {0}")]
    Json(#[from] serde_json::Error),
    #[error("cannot read the transcript: {0}")]
    Transcript(std::io::Error),
    /// `config.toml` has a mistake or cannot be written.
    #[error("{0}")]
    Config(std::io::Error),
}

/// Lets `?` turn each cause of [`Unavailable`] into both error types.
macro_rules! from_causes {
    ($($cause:ty),*) => {
        $(
            impl From<$cause> for AppError {
                fn from(cause: $cause) -> Self {
                    Self::Unavailable(cause.into())
                }
            }
            impl From<$cause> for AskError {
                fn from(cause: $cause) -> Self {
                    Self::Unavailable(cause.into())
                }
            }
        )*
    };
}
from_causes!(Stopped, StoreError, NotStored, serde_json::Error);

impl AppError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NoSession(_) | Self::NoAssignment(_) | Self::NoWorkstream(_) | Self::NoSuchKey => {
                ErrorCode::NotFound
            }
            Self::Effort(refused) => effort_code(refused),
            Self::Invalid(_) | Self::Pointless(_) => ErrorCode::ValidationError,
            Self::Refused(_) => ErrorCode::Refused,
            Self::Owner(error) => error.code(),
            Self::Ask(error) => error.code(),
            Self::Unavailable(_) => ErrorCode::HandlerError,
        }
    }

    /// What a program needs to ask the person and to send the request again.
    pub fn details(&self) -> Option<TerminalRefusal> {
        match self {
            Self::Refused(refused) => Some(refused.details()),
            Self::Owner(OwnerError::Refused(refusal)) => TerminalRefusal::read(&refusal.reply),
            _ => None,
        }
    }

    pub fn reply(&self) -> ErrorReply {
        let details = self.details().and_then(|details| serde_json::to_value(details).ok());
        ErrorReply { error: self.code(), message: self.to_string(), details }
    }
}

impl AskError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unknown(_) => ErrorCode::NotFound,
            Self::Over(_) | Self::NotHeld => ErrorCode::AlreadyEnded,
            Self::DoesNotFit(_) | Self::Unreadable(_) | Self::Malformed(_) => ErrorCode::ValidationError,
            Self::Owner(error) => error.code(),
            Self::Unavailable(_) => ErrorCode::HandlerError,
        }
    }

    pub fn resolution(&self) -> Option<&ResolutionCard> {
        match self {
            Self::Over(resolution) => Some(resolution),
            Self::Owner(OwnerError::Refused(refusal)) => refusal.resolution.as_ref(),
            _ => None,
        }
    }
}

fn effort_code(refused: &EffortRefused) -> ErrorCode {
    use EffortRefused as R;
    match refused {
        R::NoEffort(_) | R::NoWindow(_) | R::NoGuard(..) => ErrorCode::NotFound,
        R::Finished(_) | R::WindowEnded(_) => ErrorCode::AlreadyEnded,
        R::Guard(_) => ErrorCode::ValidationError,
        R::SamePhase(..) | R::TooMany(..) | R::TooManyEfforts(_) => ErrorCode::Refused,
        R::Claimed(..) | R::Unclaimed(_) | R::OtherSeat(..) => ErrorCode::Refused,
    }
}

/// `allowed (web)`
fn in_words(resolution: &ResolutionCard) -> String {
    let how = resolution.how.in_words();
    match resolution.by.filter(|_| resolution.how.is_ours()) {
        Some(by) => format!("{how} ({})", by.as_str()),
        None => how.to_owned(),
    }
}
