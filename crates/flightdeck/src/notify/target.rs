//! One target: how a message gets there, and what may be tried again.

use std::time::Duration;

use tokio::sync::watch;

use super::message::Message;
use super::settings::{TargetKind, TargetSettings};
use super::{command, desktop, ntfy, stopped, webhook};

/// Pauses before each further attempt. Five attempts in about a minute: after that the server is down, not restarting.
const BACK_OFF: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(15), Duration::from_secs(40)];

/// Why a message was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Another attempt would fail too: a missing program, an unknown address, a refusal.
    #[error("{0}")]
    Final(String),
    /// The target has not got it: another attempt may succeed.
    #[error("{0}")]
    NotReceived(String),
    /// The target may have got it.
    #[error("{0}")]
    Unclear(String),
}

/// One attempt. It takes a few seconds at most, whatever the target does.
pub(super) async fn attempt(target: &TargetSettings, message: &Message) -> Result<(), SendError> {
    match &target.kind {
        TargetKind::Desktop => desktop::send(message).await,
        TargetKind::Command { words } => command::send(words, message).await,
        TargetKind::Webhook { url, secret } => webhook::send(url, secret.as_deref(), message).await,
        TargetKind::Ntfy { url, token } => ntfy::send(url, token.as_deref(), message).await,
    }
}

/// Attempts until it is delivered, or until another attempt makes no sense. `None` if the daemon stops between two attempts:
/// the next daemon tries again.
pub(super) async fn deliver(
    target: &TargetSettings,
    message: &Message,
    stopping: &mut watch::Receiver<bool>,
) -> Option<Result<(), SendError>> {
    let mut result = attempt(target, message).await;
    for wait in BACK_OFF {
        match &result {
            Err(error) if may_repeat(&target.kind, error) => {
                tracing::info!(target = target.name, %error, "a note was not delivered; trying again");
            }
            _ => break,
        }
        tokio::select! {
            () = stopped(stopping) => return None,
            () = tokio::time::sleep(wait) => {}
        }
        result = attempt(target, message).await;
    }
    Some(result)
}

/// A webhook can tell by the ids of the notes that it has got them already; a phone would ring twice.
fn may_repeat(kind: &TargetKind, error: &SendError) -> bool {
    match (kind, error) {
        (_, SendError::Final(_)) => false,
        (TargetKind::Webhook { .. }, _) => true,
        (TargetKind::Ntfy { .. }, error) => matches!(error, SendError::NotReceived(_)),
        (TargetKind::Desktop | TargetKind::Command { .. }, _) => false,
    }
}
