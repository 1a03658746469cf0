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
pub mod remote_call;
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
pub use self::link::{NatsLink, without_password};
use self::member::{Forwarder, LogIdentity, NameTaken, Position};
pub use self::presence::{host_kind, publish as publish_presence};
use self::settings::{HostsSettings, Share};
use self::share::PayloadFilter;
use self::wire::{HostPresence, RemoteReply, RemoteRequest};
use crate::engine::{EngineHandle, OwnLog};
use crate::store::{HostState, Store};

/// How long a host may take to carry out a request: a typed prompt is confirmed within a few seconds.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(20);
/// The first and the longest pause before the next attempt to connect.
const RETRY_FIRST: Duration = Duration::from_millis(250);
const RETRY_LONGEST: Duration = Duration::from_secs(5);
/// Pause before the next attempt while another machine uses the name of this one.
const RETRY_NAME_TAKEN: Duration = Duration::from_secs(10);
/// How long the server may take to hear that this host leaves.
const LEAVE_TIME_MAX: Duration = Duration::from_secs(2);

/// Carries out the request of a hub.
pub trait RemoteActions: Debug + Send + Sync {
    fn carry_out(&self, request: RemoteRequest) -> Pin<Box<dyn Future<Output = RemoteReply> + Send + '_>>;
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

/// The part that this machine has in a fleet of hosts: its connection, and what it knows of the others.
#[derive(Debug)]
pub struct Hosts {
    /// The name of this machine among the hosts.
    pub name: HostId,
    /// The settings, which may change while the daemon runs.
    settings: watch::Sender<Arc<HostsSettings>>,
    hub: bool,
    engine: EngineHandle,
    store: Store,
    /// The present prices, for the numbers of other hosts.
    prices: watch::Receiver<Arc<PriceTable>>,
    status: Mutex<LinkStatus>,
    known: Mutex<KnownHosts>,
    /// Notified when another host has sent a presence.
    heard: watch::Sender<()>,
    early_summaries: Mutex<EarlySummaries>,
}

/// The connection, as the hosts view shows it.
#[derive(Debug, Default)]
struct LinkStatus {
    link: Option<NatsLink>,
    problem: Option<String>,
    /// How far the log is forwarded.
    position: Position,
    /// Messages up to this number are not on the server any more.
    forgotten: u64,
    backlog: Backlog,
}

/// Own events that the server does not have.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog {
    /// How many events were not forwarded when they were counted, and how many the daemon had appended then.
    counted: u64,
    appended: u64,
    /// How many were forwarded since.
    forwarded: u64,
}

impl Backlog {
    fn events(self, log: OwnLog) -> u64 {
        let since = log.appended.saturating_sub(self.appended);
        self.counted.saturating_add(since).saturating_sub(self.forwarded)
    }
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
        let settings = watch::Sender::new(Arc::new(settings));
        let (status, known, early_summaries, heard) = Default::default();
        Self { name, settings, hub, engine, store, prices, status, known, heard, early_summaries }
    }

    fn known(&self) -> MutexGuard<'_, KnownHosts> {
        lock(&self.known)
    }

    fn early_summaries(&self) -> MutexGuard<'_, EarlySummaries> {
        lock(&self.early_summaries)
    }

    pub fn settings(&self) -> Arc<HostsSettings> {
        Arc::clone(&self.settings.borrow())
    }

    /// Goes on with other settings: the connection is opened anew. The name stays until the daemon is started again.
    pub fn change_settings(&self, settings: HostsSettings) {
        // Without a change the connection stays as it is.
        self.settings.send_if_modified(|current| {
            let changes = **current != settings;
            *current = Arc::new(settings);
            changes
        });
    }

    pub fn shares_payloads(&self) -> bool {
        self.settings().share == Share::Full
    }

    fn is_of_another_host(&self, id: &SessionId) -> bool {
        id.rsplit_once('@').is_some_and(|(_, host)| self.known().get(&host.into()).is_some())
    }

    /// Keeps the connection to the server until the daemon stops. Local sessions do not depend on it.
    pub async fn run(self: Arc<Self>, actions: Arc<dyn RemoteActions>) {
        tokio::select! {
            () = self.follow_settings(&actions) => {}
            // Ends only if the daemon stops.
            _ = self.watch_silence() => {}
        }
    }

    async fn follow_settings(&self, actions: &Arc<dyn RemoteActions>) {
        let mut changes = self.settings.subscribe();
        loop {
            let settings = Arc::clone(&changes.borrow_and_update());
            tokio::select! {
                () = self.stay_joined(&settings, actions) => return,
                // `self` holds the sender, so this waits for the next change and never fails.
                _ = changes.changed() => self.end_connection(&settings).await,
            }
        }
    }

    /// Tells the hubs if this host leaves them.
    async fn end_connection(&self, old: &HostsSettings) {
        let link = std::mem::take(&mut *lock(&self.status)).link;
        let new = self.settings();
        let leaves = (&old.url, old.fleet()) != (&new.url, new.fleet());
        if leaves {
            self.lose_all_hosts().await;
        }
        if let Some(link) = link.filter(|_| leaves) {
            let presence = HostPresence { left: true, ..own_presence(old, host_kind(), self.hub) };
            // If the server does not accept the message, the hubs show this host as unreachable.
            let _ = tokio::time::timeout(LEAVE_TIME_MAX, publish_presence(&link, &presence)).await;
        }
    }

    /// Connects again and again. Returns only if the daemon stops.
    async fn stay_joined(&self, settings: &HostsSettings, actions: &Arc<dyn RemoteActions>) {
        if settings.url.is_none() {
            return std::future::pending().await;
        }
        // Only needed for the backlog that is shown until there is a connection.
        if let Ok(position) = member::stored_position(self).await
            && let Err(error) = self.count_backlog(&position).await
        {
            tracing::warn!(
                "could not count the events to forward; the backlog that is shown may be too small: {error:#}"
            );
        }
        let mut pause = RETRY_FIRST;
        loop {
            let begun = tokio::time::Instant::now();
            let Err(error) = self.stay_connected(settings, actions).await else { return };
            tracing::warn!(
                "the connection to the other hosts failed; it is tried again, and the log is forwarded then: {error:#}"
            );
            let position = {
                let mut status = lock(&self.status);
                (status.link, status.problem) = (None, Some(format!("{error:#}")));
                status.position.clone()
            };
            // If this fails and the next daemon starts without a server, it shows a backlog that is too large.
            let _ = member::store_later_position(self, &position).await;
            pause = match begun.elapsed() > RETRY_LONGEST {
                _ if error.is::<NameTaken>() => RETRY_NAME_TAKEN,
                true => RETRY_FIRST,
                false => (pause * 2).min(RETRY_LONGEST),
            };
            tokio::time::sleep(pause).await;
        }
    }

    /// Works over one connection until it breaks or the server refuses.
    async fn stay_connected(
        &self,
        settings: &HostsSettings,
        actions: &Arc<dyn RemoteActions>,
    ) -> anyhow::Result<()> {
        let link = NatsLink::connect(settings, &self.name).await?;
        // The link counts as connected only once the streams exist: before that, published messages would be lost.
        link.check_streams().await?;
        let mut identity = LogIdentity::load(&self.store).await?;
        let forwarder = Forwarder::resume(self, &link, &mut identity, settings.share).await?;
        let identity = forwarder.identity();
        let filter = PayloadFilter::for_share(settings.share, &identity.salt);
        // The server has this before the first message of the log, so a hub knows which database is forwarded.
        let kind = host_kind();
        publish_presence(&link, &self.presence(kind, identity)).await?;
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
                forwarder.run(),
                presence::announce(self, &link, kind, identity),
                summaries::send_summaries(self, &link, filter.as_ref()),
                responder::respond(&link, actions),
                reads,
            )
        };
        tokio::select! {
            ended = work => ended.map(|_| ()),
            () = link.wait_until_closed() => anyhow::bail!("the connection to the server is lost"),
        }
    }

    /// Sends a request to the host that owns a session, and returns its reply.
    pub async fn request(&self, host: &HostId, request: &RemoteRequest) -> Result<RemoteReply, RequestError> {
        if self.settings().url.is_none() {
            return Err(RequestError::NotJoined);
        }
        let link = lock(&self.status).link.clone().ok_or_else(|| RequestError::NotConnected(host.clone()))?;
        let unreadable = |error: serde_json::Error| RequestError::Unreadable(host.clone(), error.to_string());
        let body = serde_json::to_vec(request).map_err(unreadable)?;
        let reply = tokio::select! {
            reply = requests::request_from_host(&link, host, body) => reply?,
            () = tokio::time::sleep(REQUEST_TIME_MAX) => return Err(RequestError::NoReply(host.clone())),
            () = link.wait_until_closed() => return Err(RequestError::NoReply(host.clone())),
        };
        serde_json::from_slice(&reply).map_err(unreadable)
    }

    fn presence(&self, kind: HostKind, identity: &LogIdentity) -> HostPresence {
        let status = lock(&self.status);
        HostPresence {
            backlog: self.backlog(&status),
            forwarded: status.position.n,
            forgotten: status.forgotten,
            log: Some(identity.log.clone()),
            ..own_presence(&self.settings(), kind, self.hub)
        }
    }

    /// The rows of the hosts view. The caller fills in the numbers of sessions.
    pub fn list(&self) -> HostList {
        let settings = self.settings();
        let Some(url) = &settings.url else { return HostList::default() };
        let status = lock(&self.status);
        let link = HostLink {
            url: without_password(url),
            fleet: settings.fleet().to_owned(),
            connected: status.link.is_some() && status.problem.is_none(),
            hub: self.hub,
            backlog: self.backlog(&status),
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
            accepts: self.settings().accepts().iter().map(|action| action.as_str().to_owned()).collect(),
            refused: 0,
            refused_because: None,
        }
    }

    /// Events that the server does not have, also while there is no connection.
    fn backlog(&self, status: &LinkStatus) -> u64 {
        status.backlog.events(self.engine.own_log().borrow().log)
    }

    /// Counts the own events after the position. Later ones are counted as they are appended.
    async fn count_backlog(&self, position: &Position) -> anyhow::Result<()> {
        let log = self.engine.own_log().borrow().log;
        let counted = self.store.count_own(position.seq, log.log_end).await?;
        let mut status = lock(&self.status);
        status.backlog = Backlog { counted, appended: log.appended, forwarded: 0 };
        status.position = position.clone();
        Ok(())
    }

    /// The server has no message of this host. Later ones have higher numbers.
    fn note_forgotten(&self, position: &Position) {
        lock(&self.status).forgotten = position.n;
    }

    fn note_problem(&self, problem: String) {
        lock(&self.status).problem = Some(problem);
    }

    /// Counts events that the server has acknowledged.
    fn note_forwarded(&self, position: &Position, events: u64) {
        let mut status = lock(&self.status);
        (status.position, status.problem) = (position.clone(), None);
        status.backlog.forwarded += events;
    }

    /// Sets the backlog to zero: the server has all own events of this log.
    fn note_all_forwarded(&self, log: OwnLog) {
        let mut status = lock(&self.status);
        status.problem = None;
        status.backlog = Backlog { appended: log.appended, ..Backlog::default() };
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
pub fn own_presence(settings: &HostsSettings, kind: HostKind, hub: bool) -> HostPresence {
    HostPresence {
        at: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        kind,
        backlog: 0,
        forwarded: 0,
        forgotten: 0,
        share: settings.share,
        accept: settings.accepts(),
        hub,
        log: None,
        left: false,
    }
}
