//! Forwards this host's log to the server. The database is the outbox, and a stored position says how far it was forwarded.
//!
//! The server decides about the position: after every connect, this host continues after its last message on the server. Many
//! messages are in flight at a time. The first of each group names the message that must be the last one on the subject, and the others
//! follow once the server has taken it. So of two machines with the same name, at least one notices the other.
//!
//! If two machines use one name, the name belongs to the machine whose presence is seen. The other machine waits until the first is silent.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use async_nats::jetstream::context::{PublishAckFuture, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use flightdeck_core::ids::HostId;
use flightdeck_core::log::record::Record;
use flightdeck_core::wire::clip;
use serde::{Deserialize, Serialize};

use super::Hosts;
use super::known_hosts::UNREACHABLE_AFTER;
use super::link::NatsLink;
use super::settings::Share;
use super::share::PayloadFilter;
use super::wire::{HostPresence, LogHead, LogMessage};
use crate::store::{HostState, Replay, Store, StoreError};

/// Messages in flight at a time: enough for 20,000 a second on one machine, and 5,000 over a slow line.
const WINDOW_MESSAGES_MAX: usize = 512;
/// How often the position is stored. If it is lost, the server still knows it.
const STORE_POSITION_EVERY: Duration = Duration::from_secs(5);
/// Room in each message for ids, times, the envelope and headers.
const AROUND_PAYLOAD_BYTES: usize = 8 * 1024;
/// How often the presence under this name is read while this host finds out whether another machine sends it.
const LOOK_AT_PRESENCE_EVERY: Duration = Duration::from_secs(1);
/// The name under which the position is stored.
const STATE: &str = "forward";

/// Another machine forwards its log under the name of this one.
#[derive(Debug, thiserror::Error)]
#[error("another machine also sends as {0}: give each its own `name` in [hosts]")]
pub(super) struct NameTaken(HostId);

/// How far the log is forwarded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Position {
    /// When the stream was created, in nanoseconds. If another stream was created since, it has no messages of this host.
    stream: String,
    /// Records of the local log up to this `seq` were forwarded, or belong to other hosts.
    pub(super) seq: u64,
    /// The number of the last message.
    pub(super) n: u64,
    /// The position of that message in the stream.
    last: u64,
}

/// What the database remembers for forwarding: a name for its log, and a secret for digests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LogIdentity {
    pub(super) log: String,
    pub(super) salt: String,
}

const IDENTITY: &str = "identity";

impl LogIdentity {
    /// Reads the identity of this database, or makes one.
    pub(super) async fn load(store: &Store) -> anyhow::Result<Self> {
        let known = store.host_states().await?.remove(IDENTITY);
        if let Some(identity) = known.and_then(|body| serde_json::from_str(&body).ok()) {
            return Ok(identity);
        }
        let fresh =
            Self { log: crate::clock::fresh_id().to_string(), salt: crate::clock::fresh_id().to_string() };
        fresh.put(store).await?;
        Ok(fresh)
    }

    async fn put(&self, store: &Store) -> anyhow::Result<()> {
        let body = serde_json::to_string(self)?;
        Ok(store.put_host_states(vec![HostState { name: IDENTITY.to_owned(), body }]).await?)
    }

    /// Gives the log another name if this database is a copy of the sender's: the next events of a copy have numbers
    /// under which the server has other events.
    async fn renew_if_copied(&mut self, store: &Store, sent: &SentHead) -> anyhow::Result<()> {
        let seq = sent.head.seq;
        let is_copy = match store.event(seq).await {
            Ok(Some(record)) => record.id.to_string() != sent.id,
            // Retention may have removed it.
            Ok(None) => store.last_seq().await? < seq,
            // A damaged event proves nothing.
            Err(StoreError::Unreadable { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        if is_copy {
            tracing::warn!(
                "this database is a copy of another that was forwarded: its log gets a name of its own"
            );
            self.log = crate::clock::fresh_id().to_string();
            self.put(store).await?;
        }
        Ok(())
    }
}

/// The last message of this host on the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct SentHead {
    #[serde(flatten)]
    head: LogHead,
    id: String,
}

/// The position before there is a connection; the server may know a later one.
pub(super) async fn stored_position(hosts: &Hosts) -> anyhow::Result<Position> {
    hosts.load_state(STATE).await
}

async fn store_position(hosts: &Hosts, position: &Position) -> anyhow::Result<()> {
    hosts.store_state(STATE, position).await
}

/// Stores the position unless a later one is stored.
pub(super) async fn store_later_position(hosts: &Hosts, position: &Position) -> anyhow::Result<()> {
    let stored = stored_position(hosts).await?;
    let is_later = stored.stream != position.stream || stored.seq < position.seq;
    if is_later && position.seq > 0 { store_position(hosts, position).await } else { Ok(()) }
}

/// Fails if another machine is alive under the name of this one. `is_known`: this database was forwarded under the name before.
async fn check_name_is_free(
    hosts: &Hosts,
    link: &NatsLink,
    identity: &LogIdentity,
    is_known: bool,
) -> anyhow::Result<()> {
    let taken = || NameTaken(link.host.clone());
    let stream = link.latest_stream().await?;
    let until = Instant::now() + Duration::from_millis(UNREACHABLE_AFTER.0.unsigned_abs());
    let mut first = None;
    loop {
        let last = match stream.direct_get_last_for_subject(link.subjects.presence(&link.host)).await {
            Ok(last) => last,
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(()),
            // A server configured by an earlier version does not let a member read it.
            Err(error) if is_known => {
                tracing::warn!(%error, "it could not be read who else sends under this name");
                return Err(taken().into());
            }
            Err(_) => return Ok(()),
        };
        let presence: HostPresence =
            serde_json::from_slice(&last.payload).context("the presence of this host")?;
        if presence.left || presence.log.as_ref() == Some(&identity.log) {
            return Ok(());
        }
        // The clocks are not compared, because a machine that is alive sends its next presence soon.
        if *first.get_or_insert(last.sequence) != last.sequence {
            return Err(taken().into());
        }
        if Instant::now() >= until {
            return Ok(());
        }
        hosts.note_problem(format!(
            "another database was forwarded as {}: for up to {} s this host waits for a sign of life of another machine",
            link.host,
            UNREACHABLE_AFTER.0 / 1_000
        ));
        tokio::time::sleep(LOOK_AT_PRESENCE_EVERY).await;
    }
}

/// Forwards the log over one connection.
pub(super) struct Forwarder<'a> {
    hosts: &'a Hosts,
    link: &'a NatsLink,
    identity: &'a LogIdentity,
    filter: Option<PayloadFilter>,
    subject: String,
    position: Position,
    /// Reads the next page while this one is sent.
    replay: Option<Replay>,
    stored: Position,
    stored_at: Instant,
}

/// The position of this host's log if the server's last message under its name is `last`. `own` is the position that was stored for this
/// stream.
async fn position_after(
    last: &[u8],
    own: Option<Position>,
    hosts: &Hosts,
    link: &NatsLink,
    identity: &mut LogIdentity,
) -> anyhow::Result<Position> {
    // `None` for a message that no host has sent.
    let sent = serde_json::from_slice::<SentHead>(last).ok();
    if let Some(sent) = sent.as_ref().filter(|sent| sent.head.log == identity.log) {
        identity.renew_if_copied(&hosts.store, sent).await?;
    }
    let head = sent.map(|sent| sent.head);
    if let Some(head) = head.as_ref().filter(|head| head.log == identity.log) {
        // Own events up to that message were forwarded, and events of other hosts after it were skipped already.
        let passed = own.filter(|own| own.n == head.n).map_or(0, |own| own.seq);
        return Ok(Position { seq: head.seq.max(passed), n: head.n, ..Position::default() });
    }
    // The message is of a lost or replaced database of this host, or of another machine. This log continues where it was.
    check_name_is_free(hosts, link, identity, own.is_some()).await?;
    let n = head.map(|head| head.n).unwrap_or_default();
    let position = own.unwrap_or(Position { n, ..Position::default() });
    if position.n > n {
        // The messages before this position were sent under another name.
        hosts.note_forgotten(&position);
    }
    Ok(position)
}

impl<'a> Forwarder<'a> {
    /// Asks the server how far the log was forwarded.
    pub(super) async fn resume(
        hosts: &'a Hosts,
        link: &'a NatsLink,
        identity: &'a mut LogIdentity,
        share: Share,
    ) -> anyhow::Result<Self> {
        let stream = link.log_stream().await?;
        let subject = link.subjects.log(&link.host);
        let made = stream.cached_info().created.unix_timestamp_nanos().to_string();
        let stored = stored_position(hosts).await?;
        let position = match stream.direct_get_last_for_subject(subject.clone()).await {
            Ok(last) => {
                let own = (stored.stream == made && stored.seq > 0).then(|| stored.clone());
                let before = position_after(&last.payload, own, hosts, link, identity).await?;
                Position { stream: made, last: last.sequence, ..before }
            }
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
                let position = match stored.stream == made {
                    // The server has forgotten messages that are too old, or this host had another name.
                    true => Position { last: 0, ..stored.clone() },
                    false => Position { stream: made, ..Position::default() },
                };
                hosts.note_forgotten(&position);
                position
            }
            Err(error) => bail!("cannot read how far the log was forwarded: {error}"),
        };
        let filter = PayloadFilter::for_share(share, &identity.salt);
        hosts.count_backlog(&position).await?;
        Ok(Self {
            hosts,
            link,
            identity,
            filter,
            subject,
            position,
            replay: None,
            stored,
            stored_at: Instant::now(),
        })
    }

    /// The name of the log that is forwarded.
    pub(super) fn identity(&self) -> &'a LogIdentity {
        self.identity
    }

    /// Forwards until the connection ends or the server refuses.
    pub(super) async fn run(mut self) -> anyhow::Result<()> {
        let mut appended = self.hosts.engine.own_log();
        loop {
            let (log, new) = {
                let appended = appended.borrow_and_update();
                (appended.log, appended.records_after(self.position.seq))
            };
            if let Some(new) = new {
                self.send_new(new).await?;
            }
            while self.position.seq < log.last {
                let before = self.position.n;
                self.send_some(log.last).await?;
                self.hosts.note_forwarded(&self.position, self.position.n.saturating_sub(before));
            }
            self.hosts.note_all_forwarded(log);
            // After the last own event the log has only events of other hosts.
            self.position.seq = self.position.seq.max(log.log_end);
            self.store_position().await?;
            tokio::select! {
                changed = appended.changed() => changed.context("the daemon is stopping")?,
                // The position is stored after the last events too, even if no further event arrives.
                () = tokio::time::sleep(STORE_POSITION_EVERY) => {}
            }
        }
    }

    /// Sends the events that were appended a moment ago: they need not be read from the log.
    async fn send_new(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        // The page that was read ahead contains them too, so it is dropped.
        self.replay = None;
        let events = records.len() as u64;
        self.send_window(records).await?;
        self.hosts.note_forwarded(&self.position, events);
        Ok(())
    }

    /// Sends the next page of the log, a window at a time.
    async fn send_some(&mut self, last: u64) -> anyhow::Result<()> {
        // A page that was asked for earlier may not reach up to `last`.
        let is_fresh = self.replay.is_none();
        let mut replay = match self.replay.take() {
            Some(replay) => replay,
            None => self.hosts.store.replay_own(self.position.seq).await?,
        };
        let page = replay.next().await?.unwrap_or_default();
        self.replay = page.next.is_some().then_some(replay);
        let end = page.next.or(is_fresh.then_some(last));
        let mut own = page.records.into_iter().peekable();
        while own.peek().is_some() {
            let window = own.by_ref().take(WINDOW_MESSAGES_MAX).collect();
            self.send_window(window).await?;
        }
        // Records between these belong to other hosts, cannot be read, or were removed.
        self.position.seq = end.unwrap_or_default().max(self.position.seq);
        self.store_position().await
    }

    /// Sends all, then waits for all acknowledgements. On an error the connection is opened anew, and the server says what it has.
    async fn send_window(&mut self, records: Vec<Record>) -> anyhow::Result<()> {
        let mut acknowledgements = Vec::with_capacity(records.len());
        let mut position = self.position.clone();
        for (at, record) in records.into_iter().enumerate() {
            (position.n, position.seq) = (position.n.saturating_add(1), record.seq);
            let message = self.message(record, &position)?;
            if at > 0 {
                acknowledgements.push(self.link.js.send_publish(self.subject.clone(), message).await?);
                continue;
            }
            // If the server refused only this message, the messages after it would hide that it is missing.
            let first = message.expected_last_subject_sequence(position.last);
            let first = self.link.js.send_publish(self.subject.clone(), first).await?;
            position.last = self.acknowledged(first, position.n).await?;
        }
        let rest = self.position.n.saturating_add(2)..;
        for (n, acknowledgement) in rest.zip(acknowledgements) {
            position.last = self.acknowledged(acknowledgement, n).await?;
        }
        self.position = position;
        Ok(())
    }

    /// Waits for the acknowledgement, and returns the position of the message in the stream.
    async fn acknowledged(&self, message: PublishAckFuture, n: u64) -> anyhow::Result<u64> {
        let host = &self.link.host;
        match message.await {
            Ok(taken) if taken.duplicate => {
                bail!("the server already had message {n} of {host}; its last message is looked up again")
            }
            Ok(taken) => Ok(taken.sequence),
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => {
                // If another machine uses the name, this log continues from here later.
                store_position(self.hosts, &self.position).await?;
                bail!(
                    "the last message of {host} on the server is not from this connection; it is looked up again"
                )
            }
            Err(error) => bail!("the server did not acknowledge a message of the log: {error:#}"),
        }
    }

    fn message(&self, mut record: Record, position: &Position) -> anyhow::Result<PublishMessage> {
        if let Some(filter) = &self.filter {
            filter.reduce(&mut record);
        }
        let head = LogHead {
            host: self.link.host.clone(),
            n: position.n,
            log: self.identity.log.clone(),
            seq: record.seq,
        };
        let mut message = LogMessage::new(head, record);
        let mut body = serde_json::to_vec(&message)?;
        let room = self.link.client.max_payload().saturating_sub(AROUND_PAYLOAD_BYTES);
        if body.len() > room {
            // The whole payload stays in the local log, and a hub can request it.
            clip::clip_to(&mut message.payload, room.saturating_sub(AROUND_PAYLOAD_BYTES));
            body = serde_json::to_vec(&message)?;
        }
        let id = format!("{}:{}", self.identity.log, position.n);
        Ok(PublishMessage::build().payload(Bytes::from(body)).message_id(id))
    }

    async fn store_position(&mut self) -> anyhow::Result<()> {
        if self.position == self.stored || self.stored_at.elapsed() < STORE_POSITION_EVERY {
            return Ok(());
        }
        store_position(self.hosts, &self.position).await?;
        (self.stored, self.stored_at) = (self.position.clone(), Instant::now());
        Ok(())
    }
}
