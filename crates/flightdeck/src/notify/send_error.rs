//! Why a message was not delivered, and whether another attempt may succeed.

/// Why a message was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Another attempt would fail too: a missing program, an unknown address, a refusal.
    #[error("{0}")]
    Final(String),
    /// The target did not receive it, and another attempt may succeed.
    #[error("{0}")]
    NotReceived(String),
    /// The target may have received it.
    #[error("{0}")]
    Unclear(String),
}
