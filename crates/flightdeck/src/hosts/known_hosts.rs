//! What a hub knows about each host: its presence, its clock, how far its log was read, and what was refused.

use std::collections::BTreeMap;
use std::time::Instant;

use flightdeck_core::ids::HostId;
use flightdeck_core::session::HostTerms;
use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_protocol::hosts::HostCard;
use serde::{Deserialize, Serialize};

use super::clocks::{AheadOfServer, Corrector, correction};
use super::settings::{RemoteAction, Share};
use super::wire::{HostPresence, LogMessage};

/// A host without a sign of life for this long is unreachable: three of them were missed.
pub(super) const UNREACHABLE_AFTER: Millis = Millis::seconds(30);
/// A clock that differs by more is shown.
const CLOCK_SHOWN_FROM: Millis = Millis::seconds(1);
/// Databases of one host that are remembered: a new one is begun only if the old one is damaged.
const LOGS_MAX: usize = 16;
/// Hosts that are remembered; a message of a further one is refused.
pub(super) const HOSTS_MAX: usize = 10_000;
/// The backlogs at which a host begins and ends to be shown as catching up. A busy host always has a few messages that are not read yet, so
/// the two differ.
const CATCHING_UP_FROM: u64 = 100;
const CAUGHT_UP_AT: u64 = 20;

/// How far the log of a host was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReadUpTo {
    /// The number of the host's last message that was read.
    pub(super) n: u64,
    /// The databases of the host, the present one last.
    pub(super) logs: Vec<String>,
}

/// Why a message was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("it says that it is from {0}")]
    AnotherHost(HostId),
    #[error("its number {0} was received before")]
    TakenBefore(u64),
    #[error("another machine sends under this name, or the message is forged")]
    TwoMachines,
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("there are too many hosts")]
    TooMany,
}

impl ReadUpTo {
    /// Takes the next message of the host, or says why not. A gap is not refused: the server forgets old messages.
    /// `announced` is the database that the host's presence names.
    pub(super) fn accept_next(
        &mut self,
        host: &HostId,
        message: &LogMessage,
        announced: Option<&str>,
    ) -> Result<(), Refusal> {
        if message.host != *host {
            return Err(Refusal::AnotherHost(message.host.clone()));
        }
        match self.logs.last() == Some(&message.log) {
            true => self.take_next(host, message.n)?,
            false => self.change_log(message, announced)?,
        }
        self.n = message.n;
        Ok(())
    }

    fn take_next(&self, host: &HostId, n: u64) -> Result<(), Refusal> {
        if n <= self.n {
            return Err(Refusal::TakenBefore(n));
        }
        if n > self.n + 1 && self.n > 0 {
            tracing::warn!(%host, from = self.n + 1, to = n - 1, "messages of a host are missing; the server no longer has them");
        }
        Ok(())
    }

    /// Decides about the first message from another database than the last one. If the host announces the present database, or if it announces
    /// none and the message's database was left before, the message is from another machine. Otherwise a new database begins.
    fn change_log(&mut self, message: &LogMessage, announced: Option<&str>) -> Result<(), Refusal> {
        let (n, log) = (message.n, message.log.as_str());
        if announced != Some(log) {
            let present = self.logs.last().map(String::as_str);
            if self.logs.iter().any(|known| known == log) || (announced.is_some() && announced == present) {
                return Err(Refusal::TwoMachines);
            }
            // The server has removed what the host sent before, so the numbers start again.
            if n <= self.n && n != 1 {
                return Err(Refusal::TakenBefore(n));
            }
        }
        // Events of this database that were read before are recognised by their ids.
        self.logs.retain(|known| known != log);
        if self.logs.len() == LOGS_MAX {
            self.logs.remove(0);
        }
        self.logs.push(log.to_owned());
        Ok(())
    }
}

/// What is stored about a host, so that a hub that starts without a connection knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredHost {
    last_seen: Option<Timestamp>,
    presence: Option<HostPresence>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct KnownHost {
    pub(super) presence: Option<HostPresence>,
    /// When the last sign of life was sent, by this machine's clock.
    pub(super) last_seen: Option<Timestamp>,
    pub(super) unreachable_since: Option<Timestamp>,
    /// When this daemon first checked whether the host is silent. A host without any presence counts as seen then.
    noticed: Option<Timestamp>,
    /// The last presence came over a server that this machine has left since.
    lost: bool,
    /// When reading last waited for the presence of the host.
    pub(super) held_back: Option<Instant>,
    ahead_of_server: AheadOfServer,
    corrector: Corrector,
    pub(super) read: ReadUpTo,
    /// The largest backlog since the host came back.
    behind_at_return: u64,
    refused: u64,
    refused_because: Option<String>,
}

impl KnownHost {
    /// How many messages this daemon has not read yet. The presence names the last message at that time. Numbers have no gap, so messages that
    /// arrived since the presence are counted too.
    fn backlog(&self) -> u64 {
        let Some(presence) = &self.presence else { return 0 };
        let read = self.read.n.max(presence.forgotten);
        presence.forwarded.saturating_add(presence.backlog).saturating_sub(read)
    }

    /// Whether the host is shown as catching up, which the ordinary delay of a busy host is not.
    fn is_catching_up(&self) -> bool {
        self.behind_at_return >= CATCHING_UP_FROM
            && self.backlog() > CAUGHT_UP_AT
            && self.unreachable_since.is_none()
    }

    pub(super) fn terms(&self) -> HostTerms {
        let presence = self.presence.as_ref();
        let accepts = presence.into_iter().flat_map(|p| &p.accept);
        HostTerms {
            unreachable_since: self.unreachable_since,
            accepts: accepts.map(|action: &RemoteAction| action.as_str().to_owned()).collect(),
            shares_payloads: presence.is_none_or(|p| p.share == Share::Full),
        }
    }

    /// Returns whether the mark has changed.
    fn mark_if_silent(&mut self, now: Timestamp) -> bool {
        let noticed = *self.noticed.get_or_insert(now);
        let seen = self.last_seen.unwrap_or(noticed);
        let silent = now - seen > UNREACHABLE_AFTER;
        let left = self.presence.as_ref().is_some_and(|p| p.left);
        let mark = (silent || left || self.lost).then_some(seen);
        std::mem::replace(&mut self.unreachable_since, mark) != mark
    }

    /// The database that the host says it forwards.
    pub(super) fn announced_log(&self) -> Option<&str> {
        self.presence.as_ref()?.log.as_deref()
    }

    /// The difference to this machine's clock, if both are known.
    pub(super) fn clock_ahead(&self, own: Option<i64>) -> Option<Millis> {
        Some(Millis(self.ahead_of_server.millis()? - own?))
    }

    pub(super) fn corrected(&mut self, message: &LogMessage, own: Option<i64>) -> (Timestamp, Millis) {
        let ahead = correction(self.clock_ahead(own));
        (self.corrector.correct(message.fired_at, ahead), ahead)
    }

    pub(super) fn note_refusal(&mut self, refusal: &Refusal) {
        self.refused += 1;
        self.refused_because = Some(refusal.to_string());
    }
}

/// Every host that this daemon heard of.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownHosts {
    hosts: BTreeMap<HostId, KnownHost>,
    /// How far this machine's clock is ahead of the server's.
    own_ahead: AheadOfServer,
}

impl KnownHosts {
    pub(super) fn get_or_add(&mut self, host: &HostId) -> Result<&mut KnownHost, Refusal> {
        if self.hosts.len() >= HOSTS_MAX && !self.hosts.contains_key(host) {
            return Err(Refusal::TooMany);
        }
        Ok(self.hosts.entry(host.clone()).or_default())
    }

    pub(super) fn get(&self, host: &HostId) -> Option<&KnownHost> {
        self.hosts.get(host)
    }

    pub(super) fn own_ahead(&self) -> Option<i64> {
        self.own_ahead.millis()
    }

    pub(super) fn own_presence(&mut self, sent_at: i64, server_at: i64) {
        self.own_ahead.add(sent_at, server_at);
    }

    /// A sign of life of another host. `sent` is when the server took it, by this machine's clock.
    pub(super) fn note_sign_of_life(
        &mut self,
        host: &HostId,
        presence: HostPresence,
        server_at: i64,
        sent: Timestamp,
    ) -> Result<(), Refusal> {
        let known = self.get_or_add(host)?;
        known.ahead_of_server.add(presence.at, server_at);
        known.last_seen = known.last_seen.max(Some(sent));
        known.presence = Some(presence);
        known.lost = false;
        known.behind_at_return = match known.backlog() {
            0..=CAUGHT_UP_AT => 0,
            behind => known.behind_at_return.max(behind),
        };
        Ok(())
    }

    /// Marks hosts that fell silent or came back; returns those whose mark changed.
    pub(super) fn mark_silent(&mut self, now: Timestamp) -> Vec<(HostId, HostTerms)> {
        let mut changed = Vec::new();
        for (host, known) in &mut self.hosts {
            if known.mark_if_silent(now) {
                changed.push((host.clone(), known.terms()));
            }
        }
        changed
    }

    /// The terms of one host, with its present mark.
    pub(super) fn marked_terms(&mut self, host: &HostId, now: Timestamp) -> HostTerms {
        let Some(known) = self.hosts.get_mut(host) else { return HostTerms::default() };
        known.mark_if_silent(now);
        known.terms()
    }

    /// Lets the next check mark all hosts as unreachable, and forgets their clocks, which were measured against the server that is
    /// left.
    pub(super) fn lose_all(&mut self) {
        self.own_ahead = AheadOfServer::default();
        for known in self.hosts.values_mut() {
            known.ahead_of_server = AheadOfServer::default();
            known.lost = true;
        }
    }

    pub(super) fn to_store(&self) -> BTreeMap<HostId, StoredHost> {
        let stored = |known: &KnownHost| StoredHost {
            last_seen: known.last_seen,
            // Backlog and clock are true only at the moment and are not stored.
            presence: known.presence.clone().map(|p| HostPresence {
                at: 0,
                backlog: 0,
                forwarded: 0,
                forgotten: 0,
                ..p
            }),
        };
        self.hosts.iter().map(|(host, known)| (host.clone(), stored(known))).collect()
    }

    /// Loads what the last daemon knew, and keeps what was heard since this daemon started.
    pub(super) fn restore(&mut self, stored: BTreeMap<HostId, StoredHost>) -> Vec<(HostId, HostTerms)> {
        for (host, StoredHost { last_seen, presence }) in stored {
            let known = self.hosts.entry(host).or_default();
            known.last_seen = known.last_seen.max(last_seen);
            known.presence = known.presence.take().or(presence);
        }
        self.hosts.iter().map(|(host, known)| (host.clone(), known.terms())).collect()
    }

    pub(super) fn positions(&self) -> BTreeMap<HostId, ReadUpTo> {
        self.hosts.iter().map(|(host, known)| (host.clone(), known.read.clone())).collect()
    }

    /// Sets the stored positions for every host. Messages that were read after them may not have been stored, so they are read again.
    pub(super) fn set_positions(&mut self, positions: BTreeMap<HostId, ReadUpTo>) {
        self.hosts.values_mut().for_each(|known| known.read = ReadUpTo::default());
        for (host, read) in positions {
            self.hosts.entry(host).or_default().read = read;
        }
    }

    /// Without sessions, which the board knows.
    pub(super) fn cards(&self) -> Vec<HostCard> {
        self.hosts.iter().map(|(host, known)| self.card(host, known)).collect()
    }

    fn card(&self, host: &HostId, known: &KnownHost) -> HostCard {
        let presence = known.presence.as_ref();
        let backlog = known.backlog();
        let ahead = known.clock_ahead(self.own_ahead());
        let terms = known.terms();
        HostCard {
            name: host.to_string(),
            this: false,
            hub: presence.is_some_and(|p| p.hub),
            kind: presence.map(|p| p.kind).unwrap_or_default(),
            version: presence.map(|p| p.version.clone()),
            last_seen: known.last_seen,
            unreachable_since: known.unreachable_since,
            left: presence.is_some_and(|p| p.left),
            backlog,
            caught_up_percent: known.is_catching_up().then(|| percent(backlog, known.behind_at_return)),
            sessions: 0,
            needs_you: 0,
            clock_ahead_seconds: ahead.map(Millis::as_seconds),
            clock_differs: ahead.is_some_and(|ahead| ahead.0.abs() > CLOCK_SHOWN_FROM.0),
            shares_payloads: terms.shares_payloads,
            accepts: terms.accepts,
            refused: known.refused,
            refused_because: known.refused_because.clone(),
        }
    }
}

fn percent(left: u64, of: u64) -> u8 {
    let done = of.saturating_sub(left) * 100 / of.max(1);
    u8::try_from(done).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::wire::LogHead;
    use flightdeck_core::ids::SessionId;
    use flightdeck_core::log::record::{EventId, Record, Source};
    use flightdeck_protocol::hosts::HostKind;

    fn message(host: &str, n: u64, log: &str) -> LogMessage {
        let head = LogHead { host: host.into(), n, log: log.into(), seq: n };
        LogMessage::new(
            head,
            Record::noticed_here(Source::Hook, "Stop", SessionId::from("s"), Default::default(), EventId(1)),
        )
    }

    fn presence(at: i64, backlog: u64, forwarded: u64) -> HostPresence {
        HostPresence {
            at,
            version: "1".into(),
            kind: HostKind::Server,
            backlog,
            forwarded,
            forgotten: 0,
            share: Share::Full,
            accept: vec![RemoteAction::Answer],
            hub: false,
            log: None,
            left: false,
        }
    }

    #[test]
    fn a_forged_host_an_old_number_and_a_second_machine_are_refused() {
        let (host, mut read) = (HostId::new("a"), ReadUpTo::default());
        // A member of an earlier version announces no database.
        let mut take = |from: &str, n, log: &str| read.accept_next(&host, &message(from, n, log), None);
        take("a", 1, "x").unwrap();
        assert_eq!(take("b", 2, "x"), Err(Refusal::AnotherHost("b".into())));
        assert_eq!(take("a", 1, "x"), Err(Refusal::TakenBefore(1)));
        // The database of the host was lost: the count goes on.
        take("a", 2, "y").unwrap();
        assert_eq!(take("a", 3, "x"), Err(Refusal::TwoMachines));
        // The server has forgotten some.
        take("a", 9, "y").unwrap();
        assert_eq!((read.n, read.logs), (9, vec!["x".to_owned(), "y".to_owned()]));
    }

    #[test]
    fn a_host_that_begins_again_at_one_is_taken() {
        let (host, mut read) = (HostId::new("a"), ReadUpTo { n: 900, logs: vec!["x".to_owned()] });
        assert_eq!(read.accept_next(&host, &message("a", 2, "y"), None), Err(Refusal::TakenBefore(2)));
        read.accept_next(&host, &message("a", 1, "y"), None).unwrap();
        read.accept_next(&host, &message("a", 2, "y"), None).unwrap();
        // The hub was away while the first messages of this one were on the server.
        read.accept_next(&host, &message("a", 2, "z"), Some("z")).unwrap();
    }

    #[test]
    fn only_the_announced_database_replaces_the_present_one_and_an_earlier_one_may_return() {
        let (host, mut read) = (HostId::new("a"), ReadUpTo::default());
        let mut take =
            |n, log: &str, announced| read.accept_next(&host, &message("a", n, log), Some(announced));
        // The server's messages are older than the presence.
        take(1, "old", "x").unwrap();
        take(2, "x", "x").unwrap();
        assert_eq!(take(3, "forged", "x"), Err(Refusal::TwoMachines));
        assert_eq!(take(1, "forged", "x"), Err(Refusal::TwoMachines));
        take(3, "x", "x").unwrap();
        // Another machine had the name for a while.
        take(4, "y", "y").unwrap();
        assert_eq!(take(5, "x", "y"), Err(Refusal::TwoMachines));
        take(5, "x", "x").unwrap();
        assert_eq!((read.n, read.logs), (5, ["old", "y", "x"].map(str::to_owned).to_vec()));
    }

    #[test]
    fn a_host_is_marked_without_a_presence_and_what_is_known_of_it_outlives_the_daemon() {
        let (at, minute) = (Timestamp::from_millis, 60_000);
        let mut known = KnownHosts::default();
        known.note_sign_of_life(&"heard".into(), presence(0, 7, 9), 0, at(2_000)).unwrap();
        known.set_positions(BTreeMap::from([("read".into(), ReadUpTo::default())]));
        assert!(known.mark_silent(at(1_000)).is_empty());
        assert!(known.mark_silent(at(31_000)).is_empty());
        let marks = |known: &mut KnownHosts, now| -> Vec<_> {
            known
                .mark_silent(now)
                .into_iter()
                .map(|(host, terms)| (host.to_string(), terms.unreachable_since))
                .collect()
        };
        assert_eq!(
            marks(&mut known, at(minute)),
            [("heard".to_owned(), Some(at(2_000))), ("read".to_owned(), Some(at(1_000)))]
        );
        let stored = serde_json::to_string(&known.to_store()).unwrap();
        let mut later = KnownHosts::default();
        let terms = later.restore(serde_json::from_str(&stored).unwrap());
        assert_eq!(terms[0].1.accepts, ["answer"]);
        assert_eq!(marks(&mut later, at(2 * minute)), [("heard".to_owned(), Some(at(2_000)))]);
        assert_eq!(later.cards()[0].backlog, 0, "the backlog is not known any more");
    }

    #[test]
    fn the_presence_of_one_host_does_not_hide_that_another_fell_silent() {
        let (at, mut known) = (Timestamp::from_millis, KnownHosts::default());
        known.note_sign_of_life(&"a".into(), presence(0, 0, 0), 0, at(1_000)).unwrap();
        known.note_sign_of_life(&"b".into(), presence(0, 0, 0), 0, at(40_000)).unwrap();
        assert_eq!(known.marked_terms(&"b".into(), at(40_000)).unreachable_since, None);
        assert_eq!(known.mark_silent(at(40_000)).len(), 1, "the other one is still reported");
    }

    #[test]
    fn hosts_of_a_server_that_was_left_are_marked_until_they_are_heard_again() {
        let (host, at, mut known) = (HostId::new("a"), Timestamp::from_millis, KnownHosts::default());
        known.note_sign_of_life(&host, presence(0, 0, 0), 0, at(1_000)).unwrap();
        known.lose_all();
        assert_eq!(known.mark_silent(at(2_000))[0].1.unreachable_since, Some(at(1_000)));
        assert!(known.mark_silent(at(3_000)).is_empty(), "the mark stays");
        known.note_sign_of_life(&host, presence(0, 0, 0), 0, at(4_000)).unwrap();
        assert_eq!(known.mark_silent(at(4_000))[0].1.unreachable_since, None);
    }

    #[test]
    fn a_silent_host_is_marked_with_its_last_sign_of_life_and_back_when_it_speaks() {
        let (host, mut known) = (HostId::new("a"), KnownHosts::default());
        let at = Timestamp::from_millis;
        known.note_sign_of_life(&host, presence(0, 0, 0), 0, at(1_000)).unwrap();
        assert!(known.mark_silent(at(31_000)).is_empty());
        let changed = known.mark_silent(at(31_001));
        assert_eq!(changed[0].1.unreachable_since, Some(at(1_000)));
        assert!(known.mark_silent(at(40_000)).is_empty(), "nothing changed");
        known.note_sign_of_life(&host, presence(0, 500, 0), 0, at(50_000)).unwrap();
        assert_eq!(known.mark_silent(at(50_001))[0].1.unreachable_since, None);
        assert_eq!(known.cards()[0].caught_up_percent, Some(0));
        known.note_sign_of_life(&host, presence(0, 0, 500), 0, at(51_000)).unwrap();
        known.get_or_add(&host).unwrap().read.n = 350;
        let card = &known.cards()[0];
        assert_eq!((card.backlog, card.caught_up_percent), (150, Some(70)));
    }

    #[test]
    fn messages_that_arrived_since_the_presence_are_no_backlog() {
        let (host, mut known) = (HostId::new("a"), KnownHosts::default());
        known.note_sign_of_life(&host, presence(0, 150, 100), 0, Timestamp::from_millis(1)).unwrap();
        let mut seen_at = |n| {
            known.get_or_add(&host).unwrap().read.n = n;
            let card = &known.cards()[0];
            (card.backlog, card.caught_up_percent)
        };
        assert_eq!(seen_at(100), (150, Some(40)));
        assert_eq!(seen_at(200), (50, Some(80)));
        assert_eq!(seen_at(240), (10, None), "the last few are the ordinary delay");
        assert_eq!(seen_at(250), (0, None));
        assert_eq!(seen_at(300), (0, None), "those that the presence did not count");
        // A busy host is never without a few messages on their way; it is not catching up again.
        known.note_sign_of_life(&host, presence(0, 5, 300), 0, Timestamp::from_millis(2)).unwrap();
        known.note_sign_of_life(&host, presence(0, 40, 310), 0, Timestamp::from_millis(3)).unwrap();
        assert_eq!(known.cards()[0].caught_up_percent, None);
    }

    #[test]
    fn messages_that_the_server_no_longer_has_are_no_backlog() {
        let (host, mut known) = (HostId::new("renamed"), KnownHosts::default());
        let presence = HostPresence { forgotten: 500, ..presence(0, 2, 501) };
        known.note_sign_of_life(&host, presence, 0, Timestamp::from_millis(1)).unwrap();
        let card = &known.cards()[0];
        assert_eq!((card.backlog, card.caught_up_percent), (3, None));
    }

    #[test]
    fn messages_that_were_read_but_not_stored_are_taken_again() {
        let (old, new) = (HostId::new("old"), HostId::new("new"));
        let mut known = KnownHosts::default();
        known.get_or_add(&old).unwrap().read.accept_next(&old, &message("old", 1, "x"), None).unwrap();
        let stored = known.positions();
        for (host, n) in [("old", 2), ("new", 1)] {
            let name = HostId::new(host);
            known.get_or_add(&name).unwrap().read.accept_next(&name, &message(host, n, "x"), None).unwrap();
        }
        known.set_positions(stored);
        known.get_or_add(&old).unwrap().read.accept_next(&old, &message("old", 2, "x"), None).unwrap();
        known.get_or_add(&new).unwrap().read.accept_next(&new, &message("new", 1, "x"), None).unwrap();
    }

    #[test]
    fn the_clock_of_a_host_is_compared_with_this_ones() {
        let (host, mut known) = (HostId::new("a"), KnownHosts::default());
        known.note_sign_of_life(&host, presence(74_100, 0, 0), 10, Timestamp::default()).unwrap();
        assert_eq!(known.cards()[0].clock_ahead_seconds, None, "the own clock is not known yet");
        known.own_presence(1_000, 910);
        let card = &known.cards()[0];
        assert_eq!((card.clock_ahead_seconds, card.clock_differs), (Some(74.0), true));
    }
}
