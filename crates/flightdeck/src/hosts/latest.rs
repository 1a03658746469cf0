//! Reads the latest presence of each host and the latest numbers of each session.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context as _;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::{Message, message};
use flightdeck_core::ids::HostId;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::usage::enrichment::Summary;
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};

use super::Hosts;
use super::clocks::correction;
use super::known_hosts::StoredHost;
use super::link::NatsLink;
use super::wire::{HostPresence, SummaryMessage};
use crate::clock;

/// How often hosts are checked for silence.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// How often the times at which hosts were last seen are stored. A changed mark is stored at once.
const STORE_EVERY: Duration = Duration::from_secs(10);
/// The name under which the known hosts are stored.
const STATE: &str = "known_hosts";

/// Follows until the connection ends. `caught_up` becomes true once everything that was there is read.
pub(super) async fn follow_latest(
    hosts: &Hosts,
    link: &NatsLink,
    caught_up: &watch::Sender<bool>,
) -> anyhow::Result<()> {
    let stream = link.latest_stream().await?;
    if stream.cached_info().state.messages == 0 {
        caught_up.send_replace(true);
    }
    // The stream has one message for each subject.
    let config = OrderedConfig { deliver_policy: DeliverPolicy::All, ..OrderedConfig::default() };
    let consumer = stream.create_consumer(config).await.context("the presence of hosts cannot be read")?;
    let mut messages = consumer.messages().await?;
    loop {
        let message = messages.next().await.context("the presence of hosts ended")??;
        let info = message
            .info()
            .map_err(|error| anyhow::anyhow!("a message has no position in the stream: {error}"))?;
        apply_message(hosts, link, &message, &info).await?;
        if info.pending == 0 {
            caught_up.send_replace(true);
        }
    }
}

async fn apply_message(
    hosts: &Hosts,
    link: &NatsLink,
    message: &Message,
    info: &message::Info<'_>,
) -> anyhow::Result<()> {
    let Some((host, what)) = link.subjects.parse(&message.subject) else { return Ok(()) };
    let server_at = i64::try_from(info.published.unix_timestamp_nanos() / 1_000_000).unwrap_or_default();
    if what == "presence" {
        match serde_json::from_slice::<HostPresence>(&message.payload) {
            Ok(presence) => hosts.take_presence(&host, presence, server_at).await?,
            Err(error) => tracing::warn!(%host, %error, "a presence cannot be read; it is left out"),
        }
    } else if host != link.host {
        match serde_json::from_slice::<SummaryMessage>(&message.payload) {
            Ok(summary) => hosts.take_summary(&host, summary).await?,
            Err(error) => {
                tracing::warn!(%host, %error, "the numbers of a session cannot be read; they are left out")
            }
        }
    }
    Ok(())
}

impl Hosts {
    async fn take_presence(
        &self,
        host: &HostId,
        presence: HostPresence,
        server_at: i64,
    ) -> anyhow::Result<()> {
        let terms = {
            let mut known = self.known();
            if *host == self.name {
                known.own_presence(presence.at, server_at);
                return Ok(());
            }
            // The server's time, converted to this machine's clock.
            let sent = Timestamp::from_millis(server_at + known.own_ahead().unwrap_or(0)).min(clock::now());
            if let Err(refusal) = known.note_sign_of_life(host, presence, server_at, sent) {
                tracing::warn!(%host, %refusal, "refused the presence of a host; the host is not shown");
                return Ok(());
            }
            known.marked_terms(host, clock::now())
        };
        self.heard.send_replace(());
        self.engine.set_host_terms(host.clone(), terms).await?;
        Ok(())
    }

    /// Marks every other host as unreachable: from now on this daemon hears of no host, or hears of them from another server.
    pub(super) async fn lose_all_hosts(&self) {
        self.known().lose_all();
        // Fails only if the daemon stops.
        let _ = self.mark_silent_hosts().await;
    }

    /// Marks hosts that fall silent, with or without a connection: without one, all of them do. Returns only if the daemon stops.
    pub(super) async fn watch_silence(&self) -> anyhow::Result<()> {
        let mut stored = self.restore_hosts().await;
        let (mut check, mut stored_at) = (tokio::time::interval(CHECK_EVERY), Instant::now());
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            check.tick().await;
            let has_changes = self.mark_silent_hosts().await?;
            if !has_changes && stored_at.elapsed() < STORE_EVERY {
                continue;
            }
            stored_at = Instant::now();
            let known = self.known().to_store();
            if known != stored {
                match self.store_state(STATE, &known).await {
                    Ok(()) => stored = known,
                    Err(error) => {
                        tracing::warn!(%error, "when hosts were last seen could not be stored; it is tried again")
                    }
                }
            }
        }
    }

    /// What the last daemon knew of the hosts.
    async fn restore_hosts(&self) -> BTreeMap<HostId, StoredHost> {
        let stored = self.load_state::<BTreeMap<HostId, StoredHost>>(STATE).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "when hosts were last seen could not be read; it counts from now");
            BTreeMap::new()
        });
        let read = self.read_hosts().await;
        let terms = {
            let mut known = self.known();
            for host in read {
                // Fails only beyond the bound, and then for hosts whose presence is refused too.
                let _ = known.get_or_add(&host);
            }
            known.restore(stored.clone())
        };
        for (host, terms) in terms {
            // Fails only if the daemon stops.
            let _ = self.engine.set_host_terms(host, terms).await;
        }
        stored
    }

    /// Returns whether any mark has changed.
    async fn mark_silent_hosts(&self) -> anyhow::Result<bool> {
        let changed = self.known().mark_silent(clock::now());
        let has_changes = !changed.is_empty();
        for (host, terms) in changed {
            match terms.unreachable_since {
                Some(since) => {
                    tracing::warn!(%host, %since, "a host is unreachable; its cards keep their state")
                }
                None => tracing::info!(%host, "a host is back"),
            }
            self.engine.set_host_terms(host, terms).await?;
        }
        Ok(has_changes)
    }

    async fn take_summary(&self, host: &HostId, message: SummaryMessage) -> anyhow::Result<()> {
        let id = message.session_id.on_host(host);
        match self.engine.card(&id).await? {
            Some(_) => self.enrich(host, message).await,
            // The first event of the session has not arrived yet.
            None => {
                self.early_summaries().keep(id, message);
                Ok(())
            }
        }
    }

    /// Puts the numbers on the card, by this machine's clock and prices.
    pub(super) async fn enrich(&self, host: &HostId, message: SummaryMessage) -> anyhow::Result<()> {
        let id = message.session_id.on_host(host);
        let ahead = {
            let known = self.known();
            known.get(host).and_then(|host| host.clock_ahead(known.own_ahead()))
        };
        let ahead: Millis = correction(ahead);
        let mut summary = Summary::with_prices(message.known.corrected(ahead), &self.prices.borrow());
        summary.files = message.files;
        Ok(self.engine.enrich(id, summary).await?)
    }
}
