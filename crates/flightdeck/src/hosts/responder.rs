//! Carries out requests from a hub, if the settings of this host accept them. Each does exactly what the same request on this host would
//! do.

use std::sync::Arc;

use anyhow::Context as _;
use flightdeck_protocol::asks::GetAsk;
use flightdeck_protocol::sessions::GetConversation;
use flightdeck_protocol::{Command, ErrorCode, ErrorReply};
use futures_util::StreamExt;
use tokio::sync::Semaphore;

use super::link::Link;
use super::requests;
use super::wire::{RemoteReply, RemoteRequest};
use super::{Hosts, RemoteActions};

/// Most requests that are carried out at a time. Further ones wait. A person sends only a few.
const REQUESTS_AT_ONCE_MAX: usize = 16;

/// Requests that change nothing: a whole request, a conversation.
const READS: [&str; 2] = [GetAsk::COMMAND, GetConversation::COMMAND];

/// Serves requests until the connection ends.
pub(super) async fn respond(link: &Link, actions: &Arc<dyn RemoteActions>) -> anyhow::Result<()> {
    let subject = link.subjects.ask(&link.host);
    let mut requests = link.client.subscribe(subject).await.context("requests of hubs cannot be received")?;
    let turns = Arc::new(Semaphore::new(REQUESTS_AT_ONCE_MAX));
    while let Some(message) = requests.next().await {
        let Some(reply_to) = message.reply.clone() else { continue };
        let turn = Arc::clone(&turns).acquire_owned().await?;
        let (client, actions) = (link.client.clone(), Arc::clone(actions));
        // Runs in a task of its own, so that an action that has begun is finished even if the connection breaks.
        tokio::spawn(async move {
            let reply = match serde_json::from_slice::<RemoteRequest>(&message.payload) {
                Ok(request) => actions.act(request).await,
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

pub fn refused(error: ErrorCode, message: String) -> RemoteReply {
    RemoteReply::Refused(ErrorReply { error, message, details: None })
}

impl Hosts {
    /// Checks whether a request may be carried out here. The error says why not.
    pub fn check_accepts(&self, request: &RemoteRequest) -> Result<(), ErrorReply> {
        let why = match request.command.as_str() {
            reading if READS.contains(&reading) && self.shares_payloads() => return Ok(()),
            reading if READS.contains(&reading) => format!("{} shares no payloads", self.name),
            action if self.settings().accepts().iter().any(|accepted| accepted.as_str() == action) => {
                let allows = request.arguments["answer"]["decision"] == "allow";
                match action == "answer" && allows && !self.shares_payloads() {
                    true => {
                        format!("{} shares no payloads, so its requests can be allowed only there", self.name)
                    }
                    false => return Ok(()),
                }
            }
            action => format!("{} does not accept `{action}` from other hosts", self.name),
        };
        Err(ErrorReply { error: ErrorCode::Refused, message: why, details: None })
    }
}
