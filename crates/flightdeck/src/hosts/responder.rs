//! Carries out requests from a hub, if the settings of this host accept them. Each request does the same as on this host itself.

use std::sync::Arc;

use anyhow::Context as _;
use flightdeck_protocol::{ErrorCode, ErrorReply};
use futures_util::StreamExt;
use tokio::sync::Semaphore;

use super::link::NatsLink;
use super::remote_call::RemoteCall;
use super::requests;
use super::wire::{RemoteReply, RemoteRequest};
use super::{Hosts, RemoteActions};

/// Most requests that are carried out at a time. Further ones wait. A person sends only a few.
const REQUESTS_AT_ONCE_MAX: usize = 16;

/// Serves requests until the connection ends.
pub(super) async fn respond(link: &NatsLink, actions: &Arc<dyn RemoteActions>) -> anyhow::Result<()> {
    let subject = link.subjects.requests(&link.host);
    let mut requests = link.client.subscribe(subject).await.context("requests of hubs cannot be received")?;
    let turns = Arc::new(Semaphore::new(REQUESTS_AT_ONCE_MAX));
    while let Some(message) = requests.next().await {
        let Some(reply_to) = message.reply.clone() else { continue };
        let turn = Arc::clone(&turns).acquire_owned().await?;
        let (client, actions) = (link.client.clone(), Arc::clone(actions));
        // Runs in a task of its own, so that an action that has begun is finished even if the connection breaks.
        tokio::spawn(async move {
            let reply = match serde_json::from_slice::<RemoteRequest>(&message.payload) {
                Ok(request) => actions.carry_out(request).await,
                Err(error) => {
                    refused(ErrorCode::ValidationError, format!("the request is not understood: {error}"))
                }
            };
            drop(turn);
            match serde_json::to_vec(&reply) {
                Ok(body) => {
                    if let Err(error) = requests::reply(&client, reply_to, body).await {
                        tracing::warn!(%error, "the reply to a hub could not be sent; the action stays in the log");
                    }
                }
                Err(error) => tracing::error!(%error, "the reply to a hub could not be encoded"),
            }
        });
    }
    anyhow::bail!("the subscription for requests ended")
}

fn refused(error: ErrorCode, message: String) -> RemoteReply {
    RemoteReply::Refused(ErrorReply { error, message, details: None })
}

impl Hosts {
    /// Checks whether a request may be carried out here. The error says why not.
    pub fn check_accepts(&self, call: &RemoteCall) -> Result<(), ErrorReply> {
        let (name, shares) = (&self.name, self.shares_payloads());
        let why = match call.action() {
            None if shares => return Ok(()),
            None => format!("{name} shares no payloads"),
            Some(action) if !self.settings().accepts().contains(&action) => {
                format!("{name} does not accept `{}` from other hosts", action.as_str())
            }
            Some(_) if call.allows() && !shares => {
                format!("{name} shares no payloads, so its requests can be allowed only there")
            }
            Some(_) => return Ok(()),
        };
        Err(ErrorReply { error: ErrorCode::Refused, message: why, details: None })
    }
}
