//! The hosts of the fleet; requests that belong to another host, and requests of hubs that belong here.

use std::collections::BTreeMap;
use std::pin::Pin;

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::{AskId, HostId, SessionId};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::timeline::REMOTE_ACTION;
use flightdeck_protocol::asks::{AnswerAsk, GetAsk};
use flightdeck_protocol::hosts::{HostCard, HostList, ListHosts};
use flightdeck_protocol::sessions::GetConversation;
use flightdeck_protocol::terminal::{Focus, Interrupt, SendPrompt};
use flightdeck_protocol::{Command, ErrorCode};
use serde_json::{Map, Value, json};

use super::owner::{OwnerError, OwnerRefusal};
use super::{App, AppError, AppReply, AskError, Handle};
use crate::hosts::wire::{RemoteReply, RemoteRequest};
use crate::hosts::{RemoteActions, refused};

/// Where a refusal of an ask keeps how the ask ended.
const RESOLUTION: &str = "resolution";

impl Handle<ListHosts> for App {
    async fn handle(&self, _: ListHosts) -> Result<AppReply<HostList>, AppError> {
        let mut list = self.hosts.list();
        let cards = self.engine.all_cards().await?.cards;
        let mut counts = BTreeMap::<String, (u32, u32)>::new();
        for card in cards.iter().filter(|card| card.ended_at.is_none() && card.replaced_by.is_none()) {
            // The own host is listed under the name that the other hosts know.
            let own = || self.hosts.name.to_string();
            let host = if card.owner.is_none() { own() } else { card.host.clone().unwrap_or_else(own) };
            let (sessions, needs_you) = counts.entry(host).or_default();
            *sessions += 1;
            *needs_you += u32::from(card.needs_person());
        }
        for host in &mut list.hosts {
            (host.sessions, host.needs_you) = counts.get(&host.name).copied().unwrap_or_default();
        }
        list.hosts.sort_by_key(first_to_look_at);
        Ok(list.into())
    }
}

fn first_to_look_at(host: &HostCard) -> (bool, bool, bool, String) {
    let unreachable = host.unreachable_since.is_some() && !host.left;
    (!unreachable, host.caught_up_percent.is_none(), !host.this, host.name.clone())
}

impl App {
    /// The other host that the session belongs to, if it can be asked.
    pub(super) fn owner_of(&self, card: &Card) -> Option<HostId> {
        self.hosts.settings().url.as_ref()?;
        card.owner.as_ref().and(card.host.as_deref()).map(HostId::from)
    }

    /// Has the owner carry out the request. The arguments name things as the owner does.
    pub(super) async fn ask_owner<R: Command>(
        &self,
        host: &HostId,
        request: &R,
    ) -> Result<R::Reply, OwnerError> {
        let request = RemoteRequest {
            command: R::COMMAND.to_owned(),
            arguments: serde_json::to_value(request).map_err(OwnerError::Unreadable)?,
            from: self.hosts.name.clone(),
            by: user_name(),
        };
        match self.hosts.request(host, &request).await? {
            RemoteReply::Done(reply) => serde_json::from_value(reply).map_err(OwnerError::Unreadable),
            RemoteReply::Refused(reply) => {
                let resolution = reply.details.as_ref().and_then(|details| details.get(RESOLUTION));
                let resolution = resolution.and_then(|r| serde_json::from_value(r.clone()).ok());
                Err(OwnerError::Refused(Box::new(OwnerRefusal { reply, resolution })))
            }
        }
    }

    /// The whole request from its owner: a large one was clipped on its way.
    pub(super) async fn whole_ask(&self, host: &HostId, ask_id: &AskId) -> Result<AskCard, OwnerError> {
        let ask = self.ask_owner(host, &GetAsk { ask_id: ask_id.clone() }).await?;
        Ok(AskCard { session_id: ask.session_id.on_host(host), ..ask })
    }

    /// Does what a person on a hub asked, if this host accepts it, and notes it in the log.
    async fn act_for_hub(&self, request: RemoteRequest) -> RemoteReply {
        let session = match self.own_session(&request).await {
            Ok(session) => session,
            Err(error) => return in_words(&error),
        };
        let accepted = self.hosts.check_accepts(&request);
        if let Err(error) = self.note_remote_action(&request, &session, accepted.is_ok()).await {
            return in_words(&error);
        }
        if let Err(refusal) = accepted {
            return RemoteReply::Refused(refusal);
        }
        let RemoteRequest { command, arguments, .. } = request;
        match command.as_str() {
            AnswerAsk::COMMAND => self.carry_out::<AnswerAsk>(arguments).await,
            SendPrompt::COMMAND => self.carry_out::<SendPrompt>(arguments).await,
            Interrupt::COMMAND => self.carry_out::<Interrupt>(arguments).await,
            Focus::COMMAND => self.carry_out::<Focus>(arguments).await,
            GetAsk::COMMAND => self.carry_out::<GetAsk>(arguments).await,
            GetConversation::COMMAND => self.carry_out::<GetConversation>(arguments).await,
            other => {
                refused(ErrorCode::UnknownCommand, format!("there is no command {other:?} for other hosts"))
            }
        }
    }

    /// The session of this machine that the request is about. A session of a third host is refused: requests are not passed on.
    async fn own_session(&self, request: &RemoteRequest) -> Result<SessionId, AppError> {
        let text = |name: &str| request.arguments.get(name).and_then(Value::as_str);
        if let Some(ask_id) = text("ask_id") {
            let ask = self.find_ask(&ask_id.into()).await?;
            return match ask.host.is_this() {
                true => Ok(ask.session_id),
                false => Err(AskError::Unknown(ask_id.into()).into()),
            };
        }
        let id = SessionId::new(text("session_id").unwrap_or_default());
        let card = self.card(&id).await?;
        if card.owner.is_some() { Err(AppError::NoSession(id)) } else { Ok(id) }
    }

    /// Who asked for what, and from where. A reading changes nothing and is not noted.
    async fn note_remote_action(
        &self,
        request: &RemoteRequest,
        session: &SessionId,
        accepted: bool,
    ) -> Result<(), AppError> {
        let RemoteRequest { command, from, by, .. } = request;
        if [GetAsk::COMMAND, GetConversation::COMMAND].contains(&command.as_str()) {
            return Ok(());
        }
        let payload = json!({ "action": command, "from": from, "by": by, "accepted": accepted });
        let payload: Map<String, Value> = payload.as_object().cloned().unwrap_or_default();
        self.append_user_action(session, REMOTE_ACTION, payload).await?;
        Ok(())
    }

    async fn carry_out<R: Command>(&self, arguments: Value) -> RemoteReply
    where
        Self: Handle<R>,
    {
        let request = match serde_json::from_value::<R>(arguments) {
            Ok(request) => request,
            Err(error) => {
                return refused(
                    ErrorCode::ValidationError,
                    format!("the arguments are not understood: {error}"),
                );
            }
        };
        let reply = match self.handle(request).await {
            Ok(reply) => reply.into_json().and_then(|json| serde_json::from_slice(&json)),
            Err(error) => return in_words(&error),
        };
        match reply {
            Ok(reply) => RemoteReply::Done(reply),
            Err(error) => in_words(&error.into()),
        }
    }
}

fn in_words(error: &AppError) -> RemoteReply {
    let mut reply = error.reply();
    if let AppError::Ask(ask) = error
        && let Some(resolution) = ask.resolution()
    {
        reply.details = Some(json!({ RESOLUTION: resolution }));
    }
    RemoteReply::Refused(reply)
}

/// The person who runs this daemon.
fn user_name() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    name.unwrap_or_else(|_| format!("uid {}", rustix::process::getuid().as_raw()))
}

impl RemoteActions for App {
    fn act(&self, request: RemoteRequest) -> Pin<Box<dyn Future<Output = RemoteReply> + Send + '_>> {
        Box::pin(self.act_for_hub(request))
    }
}
