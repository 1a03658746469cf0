//! Sends the latest numbers of this host's sessions: tokens, cost, context, titles. They come from transcripts, so the log does not
//! contain them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context as _;
use flightdeck_core::fnv::Fnv;
use flightdeck_core::ids::SessionId;
use flightdeck_core::usage::session_files::SessionFiles;
use tokio::sync::broadcast::error::TryRecvError;

use super::Hosts;
use super::link::NatsLink;
use super::share::PayloadFilter;
use super::wire::SummaryMessage;

/// How long changes are collected before the numbers are sent: a busy session changes them with every message.
const SEND_EVERY: Duration = Duration::from_secs(2);
/// Most sessions whose last sent numbers are remembered. Beyond that, unchanged numbers may be sent again.
const REMEMBERED_MAX: usize = 10_000;

/// Sends until the connection ends. `filter`: what is left out if this host shares no payloads.
pub(super) async fn send_summaries(
    hosts: &Hosts,
    link: &NatsLink,
    filter: Option<&PayloadFilter>,
) -> anyhow::Result<()> {
    link.latest_stream().await?;
    // A subscription to changes of cards would make the engine write every card.
    let mut enriched = hosts.engine.enriched();
    let mut changed = own_sessions(hosts).await?;
    let mut sent = BTreeMap::new();
    loop {
        for id in std::mem::take(&mut changed) {
            send_summary(hosts, link, filter, &id, &mut sent).await?;
        }
        tokio::time::sleep(SEND_EVERY).await;
        loop {
            match enriched.try_recv() {
                Ok(id) => drop(changed.insert(id)),
                Err(TryRecvError::Empty) => break,
                // Some changes were missed, so all sessions are checked.
                Err(TryRecvError::Lagged(_)) => changed = own_sessions(hosts).await?,
                Err(TryRecvError::Closed) => anyhow::bail!("the daemon is stopping"),
            }
        }
    }
}

async fn own_sessions(hosts: &Hosts) -> anyhow::Result<BTreeSet<SessionId>> {
    let cards = hosts.engine.all_cards().await?.cards;
    Ok(cards.into_iter().filter(|card| card.owner.is_none()).map(|card| card.id).collect())
}

/// Sends the numbers of a session if they differ from those sent last. Skips sessions of other hosts.
async fn send_summary(
    hosts: &Hosts,
    link: &NatsLink,
    filter: Option<&PayloadFilter>,
    id: &SessionId,
    sent: &mut BTreeMap<SessionId, u64>,
) -> anyhow::Result<()> {
    if hosts.is_of_another_host(id) {
        return Ok(());
    }
    let Some(summary) = hosts.engine.summary(id).await? else { return Ok(()) };
    let message = match filter {
        None => SummaryMessage { session_id: id.clone(), known: summary.known, files: summary.files },
        Some(filter) => SummaryMessage {
            session_id: id.clone(),
            known: filter.numbers(summary.known),
            files: SessionFiles::default(),
        },
    };
    let body = serde_json::to_vec(&message)?;
    let digest = Fnv::hash_bytes(&body);
    // Numbers that are too large for the server are not sent; the card on the hub keeps its older ones.
    if sent.get(id) == Some(&digest) || body.len() > link.client.max_payload() / 2 {
        return Ok(());
    }
    let subject = link.subjects.summary(&link.host, id);
    let taken = link.js.publish(subject, body.into()).await.context("the numbers could not be sent")?;
    taken.await.context("the server did not acknowledge the numbers")?;
    if sent.len() >= REMEMBERED_MAX {
        sent.clear();
    }
    sent.insert(id.clone(), digest);
    Ok(())
}
