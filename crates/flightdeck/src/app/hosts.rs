//! The hosts of the fleet: requests that this host sends to the owner of a session, and requests of hubs that this host carries out.

use std::collections::BTreeMap;
use std::pin::Pin;

use flightdeck_core::approval::card::{AskCard, ResolutionCard};
use flightdeck_core::ids::{AskId, HostId, SessionId};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::timeline::REMOTE_ACTION;
use flightdeck_protocol::asks::GetAsk;
use flightdeck_protocol::hosts::{HostCard, HostList, ListHosts};
use flightdeck_protocol::terminal::{Focus, Focused, TerminalRefusal};
use flightdeck_protocol::{ErrorReply, SocketCommand};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::owner::{OwnerError, OwnerRefusal};
use super::{App, AppError, AppReply, AskError, Handle};
use crate::hosts::RemoteActions;
use crate::hosts::remote_call::{Named, RemoteCall};
use crate::hosts::settings::RemoteAction;
use crate::hosts::wire::{RemoteReply, RemoteRequest};

/// The field of a refused answer that says how the ask ended.
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

/// The order of the list: hosts that left come last.
fn first_to_look_at(host: &HostCard) -> (bool, bool, bool, bool, String) {
    let reachable = host.unreachable_since.is_none();
    (host.left, reachable, host.caught_up_percent.is_none(), !host.this, host.name.clone())
}

impl App {
    /// The other host that the session belongs to, if it can be asked.
    pub(super) fn owner_of(&self, card: &Card) -> Option<HostId> {
        self.hosts.settings().url.as_ref()?;
        card.owner.as_ref().and(card.host.as_deref()).map(HostId::from)
    }

    /// Sends the request to the owner of the session. Its arguments are the ids as the owner knows them.
    pub(super) async fn ask_owner<R: SocketCommand>(
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
            RemoteReply::Done(reply) => serde_json::from_str(reply.get()).map_err(OwnerError::Unreadable),
            RemoteReply::Refused(reply) => {
                let resolution = reply.details.as_ref().and_then(|details| details.get(RESOLUTION));
                let resolution = resolution.and_then(|r| serde_json::from_value(r.clone()).ok());
                Err(OwnerError::Refused(Box::new(OwnerRefusal { reply, resolution })))
            }
        }
    }

    /// Fetches the whole ask from its owner, because a large one was clipped before it was forwarded.
    pub(super) async fn whole_ask(&self, host: &HostId, ask_id: &AskId) -> Result<AskCard, OwnerError> {
        let ask = self.ask_owner(host, &GetAsk { ask_id: ask_id.clone() }).await?;
        Ok(AskCard { session_id: ask.session_id.on_host(host), ..ask })
    }

    /// Carries out what a person on a hub asked, if this host accepts it, and records the request in the log.
    async fn act_for_hub(&self, request: RemoteRequest) -> RemoteReply {
        let call = match RemoteCall::parse(&request) {
            Ok(call) => call,
            Err(refusal) => return RemoteReply::Refused(refusal),
        };
        let session = match self.own_session(call.target()).await {
            Ok(session) => session,
            Err(error) => return self.refuse(&error),
        };
        let accepted = self.hosts.check_accepts(&call);
        if let Some(action) = call.action()
            && let Err(error) = self.note_remote_action(action, &request, &session, accepted.is_ok()).await
        {
            return self.refuse(&error);
        }
        if let Err(refusal) = accepted {
            return RemoteReply::Refused(refusal);
        }
        // The session is one of this machine, so no use case below asks another host.
        let done = match call {
            RemoteCall::Answer(request) => self.carry_out(request).await,
            RemoteCall::Prompt(request) => self.carry_out(request).await,
            RemoteCall::Interrupt(request) => self.carry_out(request).await,
            RemoteCall::Focus(request) => self.focus_for_hub(request).await,
            RemoteCall::GetAsk(request) => self.carry_out(request).await,
            RemoteCall::GetConversation(request) => self.carry_out(request).await,
        };
        done.map_or_else(|error| self.refuse(&error), RemoteReply::Done)
    }

    /// Focuses the terminal for a hub. A host that shares no payloads does not name the terminal in the reply.
    async fn focus_for_hub(&self, request: Focus) -> Result<Box<RawValue>, AppError> {
        let shown: Focused = match self.handle(request).await? {
            AppReply::Typed(shown) => shown,
            AppReply::Encoded(shown) => serde_json::from_slice(shown.json())?,
        };
        let client = shown.client.filter(|_| self.hosts.shares_payloads());
        Ok(to_raw_value(&Focused { client, ..shown })?)
    }

    /// The refusal as the hub receives it.
    fn refuse(&self, error: &AppError) -> RemoteReply {
        match self.hosts.shares_payloads() {
            true => in_words(error),
            false => without_payloads(error, &self.hosts.name),
        }
    }

    /// The session of this machine that the request is about. A session of a third host is refused, because requests are not passed on.
    async fn own_session(&self, named: Named<'_>) -> Result<SessionId, AppError> {
        match named {
            Named::Ask(id) => {
                let ask = self.find_ask(id).await?;
                if ask.host.is_this() {
                    Ok(ask.session_id)
                } else {
                    Err(AskError::Unknown(id.clone()).into())
                }
            }
            Named::Session(id) => {
                let card = self.card(id).await?;
                if card.owner.is_some() { Err(AppError::NoSession(id.clone())) } else { Ok(id.clone()) }
            }
        }
    }

    /// Records in the log who asked for what, from which host, and whether it was done.
    async fn note_remote_action(
        &self,
        action: RemoteAction,
        RemoteRequest { from, by, .. }: &RemoteRequest,
        session: &SessionId,
        accepted: bool,
    ) -> Result<(), AppError> {
        let payload = json!({ "action": action.as_str(), "from": from, "by": by, "accepted": accepted });
        let payload: Map<String, Value> = payload.as_object().cloned().unwrap_or_default();
        self.append_user_action(session, REMOTE_ACTION, payload).await?;
        Ok(())
    }

    async fn carry_out<R: SocketCommand>(&self, request: R) -> Result<Box<RawValue>, AppError>
    where
        Self: Handle<R>,
    {
        Ok(match self.handle(request).await? {
            AppReply::Typed(reply) => to_raw_value(&reply)?,
            AppReply::Encoded(reply) => {
                RawValue::from_string(String::from_utf8_lossy(reply.json()).into_owned())?
            }
        })
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

/// A refusal without its reason in full, from a host that shares no payloads: a reason may quote a draft, a screen, a folder or a rule. Only
/// reasons that are known to quote nothing are sent in full.
fn without_payloads(error: &AppError, host: &HostId) -> RemoteReply {
    let in_short = |why: &str| {
        let why = why.to_lowercase().replace('_', " ");
        format!(
            "{host} refused ({why}). It shares no payloads, so the reason in full is only in its terminal"
        )
    };
    let (message, details) = match error {
        AppError::NoSession(_) | AppError::Ask(AskError::Unknown(_) | AskError::NotHeld) => {
            return in_words(error);
        }
        AppError::Ask(AskError::Over(resolution)) => {
            let resolution = ResolutionCard { rule: None, message: None, ..resolution.clone() };
            return in_words(&AskError::Over(resolution).into());
        }
        AppError::Refused(reason) => {
            let TerminalRefusal { error: code, confirm, choices, .. } = reason.details();
            let message = in_short(code.as_str());
            let details = TerminalRefusal { confirm, choices, ..TerminalRefusal::new(code, message.clone()) };
            (message, serde_json::to_value(details).ok())
        }
        other => (in_short(other.code().as_str()), None),
    };
    RemoteReply::Refused(ErrorReply { error: error.code(), message, details })
}

/// The login name of the person who runs this daemon.
fn user_name() -> String {
    let name = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    name.unwrap_or_else(|_| format!("uid {}", rustix::process::getuid().as_raw()))
}

impl RemoteActions for App {
    fn carry_out(&self, request: RemoteRequest) -> Pin<Box<dyn Future<Output = RemoteReply> + Send + '_>> {
        Box::pin(self.act_for_hub(request))
    }
}
