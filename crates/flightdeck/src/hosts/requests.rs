//! A request to one host, and its reply. A reply may be larger than a message of the server, and is then sent in parts.

use async_nats::{Client, HeaderMap, StatusCode, Subject};
use flightdeck_core::ids::HostId;
use futures_util::StreamExt;

use super::RequestError;
use super::link::NatsLink;

/// The header of every message of a reply except the last.
const MORE: &str = "Flightdeck-More";
/// Largest reply: a page of a conversation.
const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Room in each message for headers and the subject.
const PART_OVERHEAD_BYTES: usize = 1024;
/// The smallest part. A server that forbids messages of this size could not forward the log either.
const PART_BYTES_MIN: usize = 1024;

/// Sends the request and collects the parts of the reply. Has no timeout of its own; the caller sets one.
pub(super) async fn request_from_host(
    link: &NatsLink,
    host: &HostId,
    body: Vec<u8>,
) -> Result<Vec<u8>, RequestError> {
    let no_reply = || RequestError::NoReply(host.clone());
    let inbox = Subject::from(link.client.new_inbox());
    let mut parts = link.client.subscribe(inbox.clone()).await.map_err(|_| no_reply())?;
    let sent = link.client.publish_with_reply(link.subjects.requests(host), inbox, body.into()).await;
    sent.map_err(|error| RequestError::NotSent(host.clone(), error.to_string()))?;
    let mut reply = Vec::new();
    while let Some(part) = parts.next().await {
        if part.status == Some(StatusCode::NO_RESPONDERS) {
            return Err(RequestError::NotThere(host.clone()));
        }
        if reply.len() + part.payload.len() > REPLY_BYTES_MAX {
            return Err(RequestError::Unreadable(host.clone(), "it is too long".to_owned()));
        }
        reply.extend_from_slice(&part.payload);
        if part.headers.is_none_or(|headers| headers.get(MORE).is_none()) {
            return Ok(reply);
        }
    }
    Err(no_reply())
}

/// Sends a reply in parts that are small enough for the server.
pub(super) async fn reply(client: &Client, to: Subject, body: Vec<u8>) -> anyhow::Result<()> {
    let size = client.max_payload().saturating_sub(PART_OVERHEAD_BYTES).max(PART_BYTES_MIN);
    let mut parts = body.chunks(size).peekable();
    while let Some(part) = parts.next() {
        let mut headers = HeaderMap::new();
        if parts.peek().is_some() {
            headers.insert(MORE, "1");
        }
        client.publish_with_headers(to.clone(), headers, part.to_vec().into()).await?;
    }
    Ok(())
}
