//! Many hosts on one board, over a NATS server. Opt-in: without `[hosts] url` nothing here connects anywhere.
//!
//! Every host with a `url` is a member: it forwards its log (`member.rs`), its presence (`presence.rs`) and the numbers of its
//! sessions (`summaries.rs`), and does what a hub asks (`responder.rs`). A hub is a member that also reads the other hosts: their
//! logs (`hub.rs`), presence and numbers (`latest.rs`). `docs/hosts.md` is the page for people, decision 0031 has the reasons.

mod clocks;
mod early_summaries;
mod hub;
mod known_hosts;
mod latest;
mod link;
mod member;
pub mod nats_config;
mod presence;
mod requests;
mod responder;
pub mod settings;
mod share;
pub mod subjects;
mod summaries;
pub mod wire;

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flightdeck_core::ids::{HostId, SessionId};
use flightdeck_core::usage::price::PriceTable;
use flightdeck_protocol::hosts::{HostCard, HostKind, HostLink, HostList};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use self::early_summaries::EarlySummaries;
use self::known_hosts::KnownHosts;
pub use self::link::{Link, without_password};
use self::member::{LogIdentity, Position};
pub use self::presence::{host_kind, publish as publish_presence};
pub use self::responder::refused;
use self::settings::{HostsSettings, Share};
use self::wire::{Presence, RemoteReply, RemoteRequest};
use crate::engine::EngineHandle;
use crate::store::{HostState, Store};

/// How long a host may take to carry out a request: a typed prompt is confirmed within a few seconds.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(20);
/// The first and the longest pause before the next attempt to connect.
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LONGEST: Duration = Duration::from_secs(5);

/// Carries out the request of a hub.
pub trait RemoteActions: Debug + Send + Sync {
    fn act(&self, request: RemoteRequest) -> Pin<Box<dyn Future<Output = RemoteReply> + Send + '_>>;
}

/// Why a request to another host has no reply.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("this machine has joined no other hosts")]
    NotJoined,
    #[error("the request was not sent to {0}: this machine has no connection to the server")]
    NotConnected(HostId),
    #[error("{0} is not connected: answer in its terminal, or here once the host is connected again")]
    NotThere(HostId),
    #[error("the request could not be sent to {0}: {1}")]
    NotSent(HostId, String),
    #[error("{0} did not reply: it may have carried out the request; the card will show it")]
    NoReply(HostId),
    #[error("the reply of {0} is not understood: {1}")]
    Unreadable(HostId, String),
}

/// This machine among the hosts of its fleet.
#[derive(Debug)]
pub struct Hosts {
    /// The name of this machine among the hosts.
    pub name: HostId,
    pub settings: HostsSettings,
    hub: bool,
    engine: EngineHandle,
    store: Store,
    /// The present prices, for the numbers of other hosts.
    prices: watch::Receiver<Arc<PriceTable>>,
    status: Mutex<LinkStatus>,
    known: Mutex<KnownHosts>,
    early_summaries: Mutex<EarlySummaries>,
}

/// The connection, as the hosts view shows it.
#[derive(Debug, Default)]
struct LinkStatus {
    link: Option<Link>,
    problem: Option<String>,
    backlog: u64,
    forwarded: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hosts {
    pub fn new(
        settings: HostsSettings,
        name: &str,
        hub: bool,
        engine: EngineHandle,
        store: Store,
        prices: watch::Receiver<Arc<PriceTable>>,
    ) -> Self {
        let name = HostId::new(subjects::as_token(name));
        let (status, known, early_summaries) = Default::default();
        Self { name, settings, hub, engine, store, prices, status, known, early_summaries }
    }

    fn known(&self) -> MutexGuard<'_, KnownHosts> {
        lock(&self.known)
    }

    fn early_summaries(&self) -> MutexGuard<'_, EarlySummaries> {
        lock(&self.early_summaries)
    }

    pub fn shares_payloads(&self) -> bool {
        self.settings.share == Share::Full
    }

    fn is_of_another_host(&self, id: &SessionId) -> bool {
        id.rsplit_once('@').is_some_and(|(_, host)| self.known().get(&host.into()).is_some())
    }

    /// Keeps the connection to the server until the daemon stops. Local sessions do not depend on it.
    pub async fn run(self: Arc<Self>, actions: Arc<dyn RemoteActions>) {
        if self.settings.url.is_none() {
            return;
        }
        let mut pause = RETRY_FIRST;
        loop {
            let begun = tokio::time::Instant::now();
            let Err(error) = self.stay_connected(&actions).await else { return };
            tracing::warn!(
                "the connection to the other hosts failed; it is tried again, and the log is forwarded then: {error:#}"
            );
            {
                let mut status = lock(&self.status);
                (status.link, status.problem) = (None, Some(format!("{error:#}")));
            }
            pause =
                if begun.elapsed() > RETRY_LONGEST { RETRY_FIRST } else { (pause * 2).min(RETRY_LONGEST) };
            tokio::time::sleep(pause).await;
        }
    }

    /// Works over one connection until it breaks or the server refuses.
    async fn stay_connected(&self, actions: &Arc<dyn RemoteActions>) -> anyhow::Result<()> {
        let link = Link::connect(&self.settings, &self.name).await?;
        // The link counts as connected only once the streams exist: before that, published messages would be lost.
        link.check().await?;
        let identity = LogIdentity::load(&self.store).await?;
        lock(&self.status).link = Some(link.clone());
        let caught_up = watch::Sender::new(false);
        let reads = async {
            match self.hub {
                true => tokio::try_join!(
                    latest::follow_latest(self, &link, &caught_up),
                    hub::follow_logs(self, &link, &caught_up)
                )
                .map(|_| ()),
                false => Ok(()),
            }
        };
        let work = async {
            tokio::try_join!(
                member::forward(self, &link, &identity),
                presence::announce(self, &link),
                summaries::send_summaries(self, &link),
                responder::respond(&link, actions),
                reads,
            )
        };
        tokio::select! {
            ended = work => ended.map(|_| ()),
            () = link.died() => anyhow::bail!("the connection to the server is lost"),
        }
    }

    /// Sends a request to the host that owns a session, and returns its reply.
    pub async fn request(&self, host: &HostId, request: &RemoteRequest) -> Result<RemoteReply, RequestError> {
        if self.settings.url.is_none() {
            return Err(RequestError::NotJoined);
        }
        let link = lock(&self.status).link.clone().ok_or_else(|| RequestError::NotConnected(host.clone()))?;
        let unreadable = |error: serde_json::Error| RequestError::Unreadable(host.clone(), error.to_string());
        let body = serde_json::to_vec(request).map_err(unreadable)?;
        let reply = tokio::select! {
            reply = requests::ask(&link, host, body) => reply?,
            () = tokio::time::sleep(REQUEST_TIME_MAX) => return Err(RequestError::NoReply(host.clone())),
            () = link.died() => return Err(RequestError::NoReply(host.clone())),
        };
        serde_json::from_slice(&reply).map_err(unreadable)
    }

    fn presence(&self, kind: HostKind) -> Presence {
        let status = lock(&self.status);
        Presence {
            backlog: status.backlog,
            forwarded: status.forwarded,
            ..own_presence(&self.settings, kind, self.hub)
        }
    }

    /// The rows of the hosts view. The caller fills in the numbers of sessions.
    pub fn list(&self) -> HostList {
        let Some(url) = &self.settings.url else { return HostList::default() };
        let status = lock(&self.status);
        let link = HostLink {
            url: without_password(url),
            fleet: self.settings.fleet().to_owned(),
            connected: status.link.is_some() && status.problem.is_none(),
            hub: self.hub,
            backlog: status.backlog,
            problem: status.problem.clone(),
        };
        drop(status);
        let mut hosts = vec![self.own_card(link.backlog)];
        hosts.extend(self.known().cards());
        HostList { hosts, link: Some(link) }
    }

    fn own_card(&self, backlog: u64) -> HostCard {
        HostCard {
            name: self.name.to_string(),
            this: true,
            hub: self.hub,
            kind: host_kind(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            last_seen: Some(crate::clock::now()),
            unreachable_since: None,
            left: false,
            backlog,
            caught_up_percent: None,
            sessions: 0,
            needs_you: 0,
            clock_ahead_seconds: Some(0.0),
            clock_differs: false,
            shares_payloads: self.shares_payloads(),
            accepts: self.settings.accepts().iter().map(|action| action.as_str().to_owned()).collect(),
            refused: 0,
            refused_because: None,
        }
    }

    fn note_forwarded(&self, position: &Position, last_seq: u64) {
        let mut status = lock(&self.status);
        status.backlog = last_seq.saturating_sub(position.seq);
        status.forwarded = position.n;
        status.problem = None;
    }

    async fn load_state<T: DeserializeOwned + Default>(&self, name: &str) -> anyhow::Result<T> {
        let state = self.store.host_states().await?.remove(name);
        Ok(state.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default())
    }

    async fn store_state<T: Serialize + Sync>(&self, name: &str, state: &T) -> anyhow::Result<()> {
        let row = HostState { name: name.to_owned(), body: serde_json::to_string(state)? };
        Ok(self.store.put_host_states(vec![row]).await?)
    }
}

/// The presence of a host that has forwarded nothing yet.
pub fn own_presence(settings: &HostsSettings, kind: HostKind, hub: bool) -> Presence {
    Presence {
        at: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        backlog: 0,
        forwarded: 0,
        share: settings.share,
        accept: settings.accepts(),
        hub,
        left: false,
    }
}
