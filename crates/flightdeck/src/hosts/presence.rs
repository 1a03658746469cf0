//! Tells the other hosts that this one is alive, and what it is.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use flightdeck_protocol::hosts::HostKind;

use super::Hosts;
use super::link::NatsLink;
use super::member::LogIdentity;
use super::wire::HostPresence;
use crate::clock;

/// How often a host sends its presence.
pub(super) const PRESENCE_EVERY: Duration = Duration::from_secs(10);
/// How often a host sends its presence while the server does not have its whole log, so that the board shows the progress.
const PRESENCE_EVERY_WHILE_BEHIND: Duration = Duration::from_secs(1);

/// The first presence was sent before this.
pub(super) async fn announce(
    hosts: &Hosts,
    link: &NatsLink,
    kind: HostKind,
    identity: &LogIdentity,
) -> anyhow::Result<()> {
    let mut presence = hosts.presence(kind, identity);
    loop {
        let behind = presence.backlog > 0;
        tokio::time::sleep(if behind { PRESENCE_EVERY_WHILE_BEHIND } else { PRESENCE_EVERY }).await;
        presence = hosts.presence(kind, identity);
        publish(link, &presence).await?;
    }
}

/// Sends one presence and waits until the server has it.
pub async fn publish(link: &NatsLink, presence: &HostPresence) -> anyhow::Result<()> {
    let presence = HostPresence { at: clock::now().as_millis(), ..presence.clone() };
    let body = serde_json::to_vec(&presence)?;
    let subject = link.subjects.presence(&link.host);
    let sent = link.js.publish(subject, body.into()).await.context("the presence could not be sent")?;
    sent.await.context("the server did not acknowledge the presence")?;
    Ok(())
}

/// A container, a laptop (it has a battery), or another machine.
pub fn host_kind() -> HostKind {
    let exists = |path: &str| Path::new(path).exists();
    if exists("/.dockerenv") || exists("/run/.containerenv") {
        return HostKind::Container;
    }
    let supplies = std::fs::read_dir("/sys/class/power_supply").into_iter().flatten().flatten();
    let mut names = supplies.map(|entry| entry.file_name());
    let battery = names.any(|name| name.to_string_lossy().starts_with("BAT"));
    if battery || cfg!(target_os = "macos") { HostKind::Laptop } else { HostKind::Server }
}
