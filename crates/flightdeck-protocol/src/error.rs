//! Why a request was refused.

use flightdeck_core::approval::card::ResolutionCard;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a program decides on; the message is for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    UnknownCommand,
    /// The arguments do not fit the request.
    ValidationError,
    /// The daemon failed: the store refused, or it is stopping.
    HandlerError,
    NotFound,
    /// The ask was decided before, or only the terminal can answer it.
    AlreadyEnded,
    /// The state of the session does not allow it now. `details` says what a program can do about it.
    Refused,
    /// A code of a newer daemon.
    #[serde(other)]
    Other,
}

impl ErrorCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownCommand => "UNKNOWN_COMMAND",
            Self::ValidationError => "VALIDATION_ERROR",
            Self::HandlerError => "HANDLER_ERROR",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyEnded => "ALREADY_ENDED",
            Self::Refused => "REFUSED",
            Self::Other => "OTHER",
        }
    }
}

/// A refusal, as the socket sends it after `"ok": false`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorReply {
    pub error: ErrorCode,
    pub message: String,
    /// Data that a program can use to ask the person and send the request again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// The body of an HTTP error about an ask.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskRefusal {
    pub error: ErrorCode,
    pub message: String,
    /// How the ask ended, if it was decided before.
    pub resolution: Option<ResolutionCard>,
}

/// The body of every other HTTP error: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainError {
    pub error: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_written_as_its_name_and_a_newer_one_can_be_read() {
        let codes = [
            ErrorCode::UnknownCommand,
            ErrorCode::ValidationError,
            ErrorCode::HandlerError,
            ErrorCode::NotFound,
            ErrorCode::AlreadyEnded,
            ErrorCode::Refused,
        ];
        for code in codes {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        assert_eq!(serde_json::from_str::<ErrorCode>(r#""LEASE_LOST""#).unwrap(), ErrorCode::Other);
    }
}
