//! Reads the logs of the other hosts into this host's store, where they are folded like its own log.
//!
//! The position in the stream is stored after the records, at most once a second. After a crash between the two, some messages are
//! read again. Their events are in the log already, so they are not applied twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::{Message, message};
use flightdeck_core::ids::{HostId, SessionId};
use flightdeck_core::log::record::Record;
use futures_util::{FutureExt, StreamExt};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::Instant;

use super::Hosts;
use super::known_hosts::{ReadUpTo, Refusal};
use super::link::NatsLink;
use super::wire::LogMessage;

/// Most messages that are stored in one transaction.
const BATCH_MESSAGES_MAX: usize = 1024;
/// How often the position is stored while messages arrive.
const STORE_PLACE_EVERY: Duration = Duration::from_secs(1);
/// Pause before the next attempt if this host's store failed: a full disk stays full for a while.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// Longest wait for the clocks of the hosts before the logs are read. The clocks are needed to correct the times in the logs.
const CLOCKS_TIME_MAX: Duration = Duration::from_secs(3);
/// How long a message is held back if its host has not announced its database yet. The announcement travels in another stream.
const ANNOUNCEMENT_TIME_MAX: Duration = Duration::from_secs(5);
/// How often a message of one host may be held back. Otherwise messages of a second machine under its name would delay all hosts.
const HOLD_BACK_EVERY: Duration = Duration::from_secs(60);
/// The name under which the position is stored.
const STATE: &str = "hub";

/// How far the stream was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct ReadState {
    /// When the stream was created, in nanoseconds. If another stream was created since, it is read from its beginning.
    stream: String,
    /// The position of the last message that was read, and when the server took it, in nanoseconds.
    cursor: u64,
    published: i64,
    hosts: BTreeMap<HostId, ReadUpTo>,
}

impl ReadState {
    /// Begins to read the stream from its start. The numbers of messages start again as well. Events that are in the store already are
    /// recognised by their ids.
    fn begin_again(&mut self, stream: String) {
        (self.stream, self.cursor, self.published) = (stream, 0, 0);
        self.hosts.values_mut().for_each(|read| read.n = 0);
    }

    /// Whether the message at the last read position differs from the message that was read there. A server whose machine crashed loses
    /// messages that were not on its disk yet, and gives their positions to later messages.
    fn is_replaced_by(&self, message: &message::Info<'_>) -> bool {
        message.stream_sequence == self.cursor
            && self.published != 0
            && self.published != nanoseconds(message)
    }
}

/// When the server stored the message, in nanoseconds since 1970. Zero beyond the year 2262.
fn nanoseconds(message: &message::Info<'_>) -> i64 {
    i64::try_from(message.published.unix_timestamp_nanos()).unwrap_or_default()
}

/// Reads the logs of the hosts until the connection ends.
pub(super) async fn follow_logs(
    hosts: &Hosts,
    link: &NatsLink,
    clocks: &watch::Sender<bool>,
) -> anyhow::Result<()> {
    // A fleet without hosts has no clocks to wait for.
    let _ = tokio::time::timeout(CLOCKS_TIME_MAX, clocks.subscribe().wait_for(|known| *known)).await;
    let stream = link.log_stream().await?;
    let made = stream.cached_info().created.unix_timestamp_nanos().to_string();
    let mut state: ReadState = hosts.load_state(STATE).await?;
    let known_until = stream.cached_info().state.last_sequence;
    if state.stream != made || known_until < state.cursor {
        state.begin_again(made);
    }
    hosts.known().set_positions(state.hosts.clone());
    let config = OrderedConfig {
        // Starts with the last message that was read, to see whether the server still has the same one.
        deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: state.cursor.max(1) },
        ..OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.context("the logs of hosts cannot be read")?;
    let mut messages = consumer.messages().await?;
    let mut store_at = None;
    loop {
        let first = tokio::select! {
            message = messages.next() => message.context("the logs of hosts ended")??,
            () = tokio::time::sleep_until(store_at.unwrap_or_else(Instant::now)), if store_at.is_some() => {
                store_at = None;
                state.hosts = hosts.known().positions();
                hosts.store_state(STATE, &state).await?;
                continue;
            }
        };
        let is_replaced = state.is_replaced_by(&info_of(&first)?);
        let mut batch = vec![first];
        while batch.len() < BATCH_MESSAGES_MAX
            && let Some(Some(more)) = messages.next().now_or_never()
        {
            batch.push(more?);
        }
        if is_replaced {
            let stream = std::mem::take(&mut state.stream);
            state.begin_again(stream);
            hosts.store_state(STATE, &state).await?;
            bail!("the server has lost messages that were read here: its logs are read again");
        }
        take_batch(hosts, link, &mut state, &batch).await?;
        store_at.get_or_insert_with(|| Instant::now() + STORE_PLACE_EVERY);
    }
}

fn info_of(message: &Message) -> anyhow::Result<message::Info<'_>> {
    message.info().map_err(|error| anyhow!("a message has no position in the stream: {error}"))
}

/// Stores and applies the messages after the last read position, and remembers the position of the last one.
async fn take_batch(
    hosts: &Hosts,
    link: &NatsLink,
    state: &mut ReadState,
    batch: &[Message],
) -> anyhow::Result<()> {
    let mut records = Vec::with_capacity(batch.len());
    for message in batch {
        let info = info_of(message)?;
        // The client library may recreate the consumer, which then begins too early.
        if info.stream_sequence > state.cursor {
            (state.cursor, state.published) = (info.stream_sequence, nanoseconds(&info));
            records.extend(hosts.record_of(link, message).await);
        }
    }
    let touched: BTreeSet<SessionId> =
        records.iter().filter_map(|record| record.session_id().cloned()).collect();
    append(hosts, records).await?;
    let arrived = hosts.early_summaries().take_arrived(&touched);
    for (host, message) in arrived {
        hosts.enrich(&host, message).await?;
    }
    Ok(())
}

/// Appends the records, and tries again until it succeeds. Meanwhile no further messages are read. Fails only if the daemon stops.
async fn append(hosts: &Hosts, records: Vec<Record>) -> anyhow::Result<()> {
    while !records.is_empty() {
        match hosts.engine.append(records.clone()).await {
            Ok(_) => break,
            Err(error) if hosts.engine.is_stopped() => return Err(error.into()),
            Err(error) => {
                tracing::warn!(%error, events = records.len(), "events of other hosts could not be stored; they are tried again");
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }
    Ok(())
}

impl Hosts {
    /// The hosts whose log was read.
    pub(super) async fn read_hosts(&self) -> Vec<HostId> {
        let state: ReadState = self.load_state(STATE).await.unwrap_or_default();
        state.hosts.into_keys().collect()
    }

    /// The record in a message of another host. `None` for a message of this host, and for a message that is refused.
    async fn record_of(&self, link: &NatsLink, message: &Message) -> Option<Record> {
        let (host, _) = link.subjects.parse(&message.subject)?;
        if host == self.name {
            return None;
        }
        let mut taken = self.take_message(&host, &message.payload);
        if taken == Err(Refusal::TwoMachines) && self.may_hold_back(&host) {
            taken = self.take_once_announced(&host, &message.payload).await;
        }
        taken
            .inspect_err(|refusal| {
                tracing::warn!(%host, %refusal, "refused a message of a host; it is counted in the hosts view");
                if let Ok(known) = self.known().get_or_add(&host) {
                    known.note_refusal(refusal);
                }
            })
            .ok()
    }

    fn may_hold_back(&self, host: &HostId) -> bool {
        let mut known = self.known();
        let Ok(known) = known.get_or_add(host) else { return false };
        let may = known.held_back.is_none_or(|at| at.elapsed() >= HOLD_BACK_EVERY);
        if may {
            known.held_back = Some(std::time::Instant::now());
        }
        may
    }

    /// Accepts the message once a presence of its host names its database.
    async fn take_once_announced(&self, host: &HostId, payload: &[u8]) -> Result<Record, Refusal> {
        let mut heard = self.heard.subscribe();
        let until = Instant::now() + ANNOUNCEMENT_TIME_MAX;
        loop {
            let taken = self.take_message(host, payload);
            let waits = taken == Err(Refusal::TwoMachines);
            if !waits || !matches!(tokio::time::timeout_at(until, heard.changed()).await, Ok(Ok(()))) {
                return taken;
            }
        }
    }

    fn take_message(&self, host: &HostId, payload: &[u8]) -> Result<Record, Refusal> {
        let message: LogMessage =
            serde_json::from_slice(payload).map_err(|error| Refusal::Unreadable(error.to_string()))?;
        let mut known = self.known();
        let own = known.own_ahead();
        let known = known.get_or_add(host)?;
        let mut read = known.read.clone();
        read.accept_next(host, &message, known.announced_log())?;
        let (fired_at, ahead) = known.corrected(&message, own);
        let id = message.id.clone();
        let record = message.into_record(host, fired_at, ahead);
        let record = record.ok_or_else(|| Refusal::Unreadable(format!("{id} is not an id")))?;
        known.read = read;
        Ok(record)
    }
}
