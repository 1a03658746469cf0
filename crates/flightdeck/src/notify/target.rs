//! Delivers a message to one target, and decides whether a failed attempt is repeated.

use std::time::Duration;

use tokio::sync::watch;

use super::message::NoteMessage;
use super::send_error::SendError;
use super::settings::{TargetKind, TargetSettings};
use super::{LAST_ATTEMPT_MAX, command, desktop, ntfy, stopped, webhook};

/// Pauses before the second to fifth attempt. They cover about a minute, enough for a server that restarts.
const BACK_OFF: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(4), Duration::from_secs(15), Duration::from_secs(40)];

/// One attempt. Each kind of target has a time limit of some seconds.
pub(super) async fn attempt(target: &TargetSettings, message: &NoteMessage) -> Result<(), SendError> {
    match &target.kind {
        TargetKind::Desktop => desktop::send(message).await,
        TargetKind::Command { words } => command::send(words, message).await,
        TargetKind::Webhook { url, secret } => webhook::send(url, secret.as_ref(), message).await,
        TargetKind::Ntfy { url, token } => ntfy::send(url, token.as_ref(), message).await,
    }
}

/// Tries until the message is delivered, or until it may not be tried again. `None` if the daemon stops between two attempts; then
/// the next daemon tries again.
pub(super) async fn deliver(
    target: &TargetSettings,
    message: &NoteMessage,
    stopping: &mut watch::Receiver<bool>,
) -> Option<Result<(), SendError>> {
    let mut result = attempt_until_stop(target, message, stopping).await;
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
        result = attempt_until_stop(target, message, stopping).await;
    }
    Some(result)
}

/// One attempt. Once the daemon stops, it is given up after a short time.
async fn attempt_until_stop(
    target: &TargetSettings,
    message: &NoteMessage,
    stopping: &mut watch::Receiver<bool>,
) -> Result<(), SendError> {
    let stop = async {
        stopped(stopping).await;
        tokio::time::sleep(LAST_ATTEMPT_MAX).await;
    };
    tokio::select! {
        biased;
        result = attempt(target, message) => result,
        () = stop => Err(SendError::Unclear("the daemon stopped meanwhile".to_owned())),
    }
}

/// Whether the message may be sent again after this error. A webhook recognises a repeated note by its id, but a phone would ring
/// twice.
fn may_repeat(kind: &TargetKind, error: &SendError) -> bool {
    match (kind, error) {
        (_, SendError::Final(_)) => false,
        (TargetKind::Webhook { .. }, _) => true,
        (TargetKind::Ntfy { .. }, error) => matches!(error, SendError::NotReceived(_)),
        (TargetKind::Desktop | TargetKind::Command { .. }, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn delivered_while_stopping(kind: TargetKind) -> Option<Result<(), SendError>> {
        let (_sender, mut stopping) = watch::channel(true);
        let target = TargetSettings { name: "target".to_owned(), kind };
        deliver(&target, &NoteMessage::test("http://deck"), &mut stopping).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_outlives_the_daemon_is_not_run_again() {
        let words = ["sleep", "60"].map(str::to_owned).to_vec();
        let result = delivered_while_stopping(TargetKind::Command { words }).await;
        assert!(matches!(result, Some(Err(SendError::Unclear(_)))), "{result:?}");
    }

    #[tokio::test]
    async fn a_webhook_that_was_not_reached_is_left_to_the_next_daemon() {
        let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("http://{unused}/").try_into().unwrap();
        assert_eq!(delivered_while_stopping(TargetKind::Webhook { url, secret: None }).await, None);
    }

    #[test]
    fn a_note_is_sent_again_to_a_phone_only_if_the_phone_surely_does_not_have_it() {
        let url = super::super::http_client::Address::try_from("http://h/t".to_owned()).unwrap();
        let webhook = TargetKind::Webhook { url: url.clone(), secret: None };
        let ntfy = TargetKind::Ntfy { url, token: None };
        let (lost, unclear, refused) =
            (SendError::NotReceived("".into()), SendError::Unclear("".into()), SendError::Final("".into()));
        for (kind, error, expected) in [
            (&webhook, &lost, true),
            (&webhook, &unclear, true),
            (&webhook, &refused, false),
            (&ntfy, &lost, true),
            (&ntfy, &unclear, false),
            (&TargetKind::Desktop, &lost, false),
        ] {
            assert_eq!(may_repeat(kind, error), expected, "{kind:?} {error:?}");
        }
    }
}
