//! Why a call to the daemon failed.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use flightdeck_protocol::{ErrorCode, ErrorReply};
use serde_json::Value;

use crate::paths::Paths;

/// Longest wait for a reply. A daemon that needs longer is stuck.
pub const REPLY_MAX: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("no daemon is running for {}: start it with `flightdeck`", .home.display())]
    NotRunning { home: PathBuf },
    #[error("cannot reach the daemon at {}: {cause}", .socket.display())]
    Unreachable { socket: PathBuf, cause: io::Error },
    #[error("the daemon closed the connection")]
    Closed,
    #[error("the connection to the daemon broke: {0}")]
    Broken(io::Error),
    #[error("the daemon did not answer within {} s", REPLY_MAX.as_secs())]
    Timeout,
    /// The daemon's own code, message and details.
    #[error("{}", .0.message)]
    Refused(ErrorReply),
    #[error("the request cannot be written as JSON: {0}")]
    Request(serde_json::Error),
    #[error("the daemon's reply cannot be read: {0}")]
    Reply(serde_json::Error),
}

impl ClientError {
    pub(super) fn connecting(paths: &Paths, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                Self::NotRunning { home: paths.home.clone() }
            }
            _ => Self::Unreachable { socket: paths.socket(), cause },
        }
    }

    pub(super) fn broken(cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Timeout,
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                Self::Closed
            }
            _ => Self::Broken(cause),
        }
    }

    /// The daemon's error code, if it refused the request.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(refusal) => Some(refusal.error),
            _ => None,
        }
    }

    /// What the daemon added to its refusal, so that a program can ask the person.
    pub fn details(&self) -> Option<&Value> {
        match self {
            Self::Refused(refusal) => refusal.details.as_ref(),
            _ => None,
        }
    }
}
