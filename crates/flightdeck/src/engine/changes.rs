//! The changes that viewers get: each is serialised once, numbered, and kept for viewers that reconnect.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::ids::SessionId;
use flightdeck_core::log::subject::Subject;
use flightdeck_core::view::assignment::AssignmentCard;
use flightdeck_core::view::effort::EffortCard;
use flightdeck_protocol::changes::ChangeName;
use tokio::sync::broadcast;

/// Changes a viewer may lag behind before it gets a gap: some seconds of a busy fleet.
pub const VIEWER_LAG_CHANGES_MAX: usize = 1024;
/// Changes kept for viewers that reconnect with `Last-Event-ID`.
pub const REPLAY_CHANGES_MAX: usize = 4096;
/// Most bytes of changes kept for viewers that reconnect.
pub const REPLAY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of changes kept for viewers that reconnect to a small board. For a larger board as many bytes are kept as the board
/// has: to a viewer that missed more, the whole board is cheaper to send.
pub const REPLAY_BYTES_MIN: usize = 2 * 1024 * 1024;

/// The text around a card in a change.
const BEFORE_CARD: &[u8] = b"{\"session\":";
const AFTER_CARD: &[u8] = b"}";

/// One change, as every viewer gets it. All viewers share the bytes.
#[derive(Clone, Debug)]
pub struct EncodedChange {
    pub n: u64,
    /// What changed, such as a session. [`Subject::None`] for a snapshot and a gap.
    pub subject: Subject,
    /// The frame of the event stream.
    pub sse: Bytes,
    /// One line of JSON: the data of the frame.
    pub data: Bytes,
    /// `<boot>-<n>`
    id: String,
    event: ChangeName,
}

impl EncodedChange {
    fn new(n: u64, id: String, event: ChangeName, subject: Subject, data: &[&[u8]]) -> Self {
        let head = [b"id: ", id.as_bytes(), b"\nevent: ", event.as_str().as_bytes(), b"\ndata: "];
        let [before, length] =
            [&head[..], data].map(|parts| parts.iter().map(|part| part.len()).sum::<usize>());
        let mut frame = Vec::with_capacity(before + length + 2);
        head.iter().chain(data).chain([&&b"\n\n"[..]]).for_each(|part| frame.extend_from_slice(part));
        let sse = Bytes::from(frame);
        Self { n, subject, data: sse.slice(before..before + length), sse, id, event }
    }

    /// The frame of the socket: one line.
    pub fn line(&self) -> Bytes {
        let (id, event) = (self.id.as_bytes(), self.event.as_str().as_bytes());
        [b"{\"event\":\"", event, b"\",\"id\":\"", id, b"\",\"data\":", &self.data, b"}\n"].concat().into()
    }
}

/// Where a viewer's changes begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscribeFrom {
    /// At the whole board.
    Now,
    /// After the change with this id. If the changes after it are not kept, at a gap and the whole board.
    After(String),
    /// At a gap and the whole board.
    Gap,
}

impl SubscribeFrom {
    /// A viewer without an id is new and starts at the whole board.
    pub fn last_event_id(id: Option<impl Into<String>>) -> Self {
        id.map_or(Self::Now, |id| Self::After(id.into()))
    }
}

/// What a new viewer gets: first the changes that it missed or the whole board, then each new change.
#[derive(Debug)]
pub struct Subscription {
    pub first: Vec<Arc<EncodedChange>>,
    pub next: broadcast::Receiver<Arc<EncodedChange>>,
}

/// The cards as last sent, and the recent changes. Owned by the engine.
#[derive(Debug)]
pub struct ChangeFeed {
    boot: String,
    n: u64,
    cards: BTreeMap<SessionId, Bytes>,
    card_bytes: usize,
    recent: VecDeque<Arc<EncodedChange>>,
    recent_bytes: usize,
    viewers: broadcast::Sender<Arc<EncodedChange>>,
}

impl ChangeFeed {
    pub fn new(boot: String) -> Self {
        Self {
            boot,
            n: 0,
            cards: BTreeMap::new(),
            card_bytes: 0,
            recent: VecDeque::new(),
            recent_bytes: 0,
            viewers: broadcast::channel(VIEWER_LAG_CHANGES_MAX).0,
        }
    }

    /// Sends the card if it differs from the last one sent. The first card of a session is a discovery.
    pub fn send_card(&mut self, id: &SessionId, card: Bytes) {
        let name = match self.cards.get(id) {
            Some(last) if *last == card => return,
            Some(_) => ChangeName::SessionUpdated,
            None => ChangeName::SessionDiscovered,
        };
        let change = self.send(name, id, &card);
        // A slice of the frame, so that the card is in memory once.
        let card = change.data.slice(BEFORE_CARD.len()..change.data.len() - AFTER_CARD.len());
        self.keep(id, card);
    }

    /// Puts a card from before the daemon's start on the board. Viewers get no change.
    pub fn seed(&mut self, id: &SessionId, card: Bytes) {
        self.keep(id, card);
    }

    fn keep(&mut self, id: &SessionId, card: Bytes) {
        self.card_bytes += card.len();
        let last = self.cards.insert(id.clone(), card);
        self.card_bytes -= last.map_or(0, |card| card.len());
    }

    fn take_card(&mut self, id: &SessionId) -> Option<Bytes> {
        let card = self.cards.remove(id)?;
        self.card_bytes -= card.len();
        Some(card)
    }

    /// The session left the live set. Its card stays on the board until [`ChangeFeed::remove`].
    pub fn complete(&mut self, id: &SessionId) {
        if let Some(card) = self.cards.get(id).cloned() {
            self.send(ChangeName::SessionCompleted, id, &card);
        }
    }

    /// Another session took the place of this one: sends the last card of this session and takes it off the board.
    pub fn replace(&mut self, id: &SessionId, last_card: Bytes) {
        if self.take_card(id).is_some() {
            self.send(ChangeName::SessionCompleted, id, &last_card);
        }
    }

    pub fn remove(&mut self, id: &SessionId) {
        if self.take_card(id).is_some() {
            let text = serde_json::Value::from(id.as_str()).to_string();
            self.push(ChangeName::SessionRemoved, id.into(), &[b"{\"id\":", text.as_bytes(), b"}"]);
        }
    }

    /// Sends an ask as a change of its own, for viewers that wait only for asks. The card of its session contains the ask too.
    pub fn send_ask(&mut self, event: ChangeName, ask: &AskCard) {
        match serde_json::to_vec(ask) {
            Ok(json) => drop(self.push(event, (&ask.session_id).into(), &[b"{\"ask\":", &json, b"}"])),
            Err(error) => {
                tracing::error!(%error, "an ask could not be encoded as JSON; viewers do not get it")
            }
        }
    }

    /// For viewers that follow assignments. The session's card carries a part of it as well.
    pub fn send_assignment(&mut self, assignment: &AssignmentCard) {
        match serde_json::to_vec(assignment) {
            Ok(json) => drop(self.push(
                ChangeName::AssignmentUpdated,
                assignment.session_id.clone().into(),
                &[b"{\"assignment\":", &json, b"}"],
            )),
            Err(error) => {
                tracing::error!(%error, "an assignment could not be encoded as JSON; viewers do not get it")
            }
        }
    }

    /// For viewers that follow efforts. The cards of its sessions carry a part of it as well.
    pub fn send_effort(&mut self, effort: &EffortCard) {
        match serde_json::to_vec(effort) {
            Ok(json) => {
                let subject = Subject::Effort(effort.id.clone());
                drop(self.push(ChangeName::EffortUpdated, subject, &[b"{\"effort\":", &json, b"}"]));
            }
            Err(error) => {
                tracing::error!(%error, "an effort could not be encoded as JSON; viewers do not get it")
            }
        }
    }

    fn send(&mut self, name: ChangeName, id: &SessionId, card: &[u8]) -> Arc<EncodedChange> {
        self.push(name, id.into(), &[BEFORE_CARD, card, AFTER_CARD])
    }

    fn push(&mut self, event: ChangeName, subject: Subject, data: &[&[u8]]) -> Arc<EncodedChange> {
        self.n += 1;
        let change = Arc::new(EncodedChange::new(self.n, self.id(self.n), event, subject, data));
        self.recent_bytes += change.sse.len();
        self.recent.push_back(Arc::clone(&change));
        let bytes_max = self.card_bytes.clamp(REPLAY_BYTES_MIN, REPLAY_BYTES_MAX);
        while self.recent.len() > REPLAY_CHANGES_MAX || self.recent_bytes > bytes_max {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.recent_bytes -= oldest.sse.len();
        }
        // Fails only if no viewer is connected; the next one starts from the board.
        let _ = self.viewers.send(Arc::clone(&change));
        change
    }

    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// The number of the last change.
    pub fn last_n(&self) -> u64 {
        self.n
    }

    fn id(&self, n: u64) -> String {
        format!("{}-{n}", self.boot)
    }

    /// The board now: `{"boot", "n", "sessions": […]}`.
    pub fn snapshot(&self) -> Bytes {
        let head = self.snapshot_head();
        self.snapshot_parts(&head).concat().into()
    }

    fn snapshot_head(&self) -> String {
        format!("{{\"boot\":\"{}\",\"n\":{},\"sessions\":[", self.boot, self.n)
    }

    /// The board in pieces, so that a large board is copied only once, into its frame.
    fn snapshot_parts<'a>(&'a self, head: &'a str) -> Vec<&'a [u8]> {
        let mut parts: Vec<&[u8]> = Vec::with_capacity(2 * self.cards.len() + 2);
        parts.push(head.as_bytes());
        for (i, card) in self.cards.values().enumerate() {
            if i > 0 {
                parts.push(b",");
            }
            parts.push(card);
        }
        parts.push(b"]}");
        parts
    }

    pub fn viewers(&self) -> usize {
        self.viewers.receiver_count()
    }

    /// Starts a viewer where `from` says, and lets it follow the next changes.
    pub fn subscribe(&self, from: &SubscribeFrom) -> Subscription {
        let of_no_session = |event, data: &[&[u8]]| {
            Arc::new(EncodedChange::new(self.n, self.id(self.n), event, Subject::None, data))
        };
        let gap = || of_no_session(ChangeName::Gap, &[b"{}"]);
        let whole = || of_no_session(ChangeName::Snapshot, &self.snapshot_parts(&self.snapshot_head()));
        let first = match from {
            SubscribeFrom::Now => vec![whole()],
            SubscribeFrom::After(id) => self.changes_since(id).unwrap_or_else(|| vec![gap(), whole()]),
            SubscribeFrom::Gap => vec![gap(), whole()],
        };
        Subscription { first, next: self.viewers.subscribe() }
    }

    /// The changes after this id. `None` if the id is of another boot or newer than the last change, or if some of the changes
    /// after it are no longer kept.
    fn changes_since(&self, last_event_id: &str) -> Option<Vec<Arc<EncodedChange>>> {
        let (boot, n) = last_event_id.rsplit_once('-')?;
        let n: u64 = n.parse().ok()?;
        let oldest_kept = self.recent.front().map_or(self.n + 1, |c| c.n);
        if boot != self.boot || n > self.n || n + 1 < oldest_kept {
            return None;
        }
        Some(self.recent.iter().filter(|c| c.n > n).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes() -> ChangeFeed {
        ChangeFeed::new("b".into())
    }

    fn after(id: &str) -> SubscribeFrom {
        SubscribeFrom::After(id.to_owned())
    }

    fn events(subscription: &Subscription) -> Vec<String> {
        subscription.first.iter().map(|c| format!("{} {}", c.event.as_str(), c.id)).collect()
    }

    #[test]
    fn a_card_that_reads_the_same_is_not_sent_again() {
        let mut changes = changes();
        let mut viewer = changes.subscribe(&SubscribeFrom::Now);
        changes.send_card(&"a".into(), Bytes::from_static(b"1"));
        changes.send_card(&"a".into(), Bytes::from_static(b"1"));
        changes.send_card(&"a".into(), Bytes::from_static(b"2"));
        assert_eq!(viewer.next.try_recv().unwrap().event, ChangeName::SessionDiscovered);
        assert_eq!(viewer.next.try_recv().unwrap().event, ChangeName::SessionUpdated);
        assert!(viewer.next.try_recv().is_err());
    }

    #[test]
    fn a_viewer_that_reconnects_gets_exactly_what_it_missed() {
        let mut changes = changes();
        for card in ["1", "2", "3"] {
            changes.send_card(&"a".into(), Bytes::from(card));
        }
        assert_eq!(events(&changes.subscribe(&after("b-1"))), ["session_updated b-2", "session_updated b-3"]);
        assert_eq!(events(&changes.subscribe(&after("b-3"))), Vec::<String>::new());
    }

    #[test]
    fn an_id_that_cannot_be_replayed_from_gives_a_gap_and_the_board() {
        let mut changes = changes();
        for card in 0..REPLAY_CHANGES_MAX + 10 {
            changes.send_card(&"a".into(), Bytes::from(card.to_string()));
        }
        for last in ["old-3", "b-999999", "b-1", "nonsense", "b-x", ""] {
            let n = REPLAY_CHANGES_MAX + 10;
            assert_eq!(
                events(&changes.subscribe(&after(last))),
                [format!("gap b-{n}"), format!("snapshot b-{n}")],
                "{last}"
            );
        }
    }

    #[test]
    fn the_replay_buffer_is_no_larger_than_the_board() {
        let card = |n: usize| Bytes::from(format!("{n}{}", "x".repeat(100 * 1024)));
        let mut changes = changes();
        for n in 0..40 {
            changes.send_card(&"a".into(), card(n));
        }
        assert!(changes.recent_bytes <= REPLAY_BYTES_MIN && changes.recent.len() > 10, "a small board");
        for n in 0..100 {
            changes.send_card(&n.to_string().into(), card(n));
        }
        let board = changes.snapshot().len();
        assert!(changes.recent_bytes > REPLAY_BYTES_MIN && changes.recent_bytes <= board, "a larger one");
        for n in 0..300 {
            changes.send_card(&n.to_string().into(), card(n));
        }
        assert!(changes.recent_bytes <= REPLAY_BYTES_MAX && changes.snapshot().len() > REPLAY_BYTES_MAX);
        (0..300).for_each(|n| changes.remove(&n.to_string().into()));
        changes.remove(&"a".into());
        assert_eq!(changes.card_bytes, 0);
    }

    #[test]
    fn a_change_says_which_session_it_is_about() {
        let mut changes = changes();
        let (a, b) = (SessionId::from("a"), SessionId::from("b"));
        let mut viewer = changes.subscribe(&SubscribeFrom::Now);
        // The text of a card may contain the id of another session.
        changes.send_card(&a, Bytes::from_static(b"{\"replaced_by\":\"b\"}"));
        changes.send_card(&b, Bytes::from_static(b"1"));
        changes.complete(&a);
        changes.replace(&b, Bytes::from_static(b"2"));
        changes.remove(&a);
        let subjects = std::iter::from_fn(|| viewer.next.try_recv().ok()).map(|c| c.subject.clone());
        assert_eq!(subjects.collect::<Vec<_>>(), [&a, &b, &a, &b, &a].map(Subject::from));
        let after_gap = changes.subscribe(&SubscribeFrom::Gap).first;
        assert!(
            after_gap.len() == 2 && after_gap.iter().all(|c| c.subject == Subject::None),
            "{after_gap:?}"
        );
    }

    #[test]
    fn a_change_is_in_memory_once() {
        let mut changes = changes();
        changes.send_card(&"a".into(), Bytes::from_static(b"1"));
        let change = changes.subscribe(&after("b-0")).first.remove(0);
        assert_eq!(change.sse, "id: b-1\nevent: session_discovered\ndata: {\"session\":1}\n\n");
        assert_eq!(
            change.line(),
            "{\"event\":\"session_discovered\",\"id\":\"b-1\",\"data\":{\"session\":1}}\n"
        );
        assert_eq!(
            (&change.data[..], &changes.cards[&SessionId::from("a")][..]),
            (&b"{\"session\":1}"[..], &b"1"[..])
        );
        let frame = change.sse.as_ptr_range();
        assert!(
            frame.contains(&change.data.as_ptr())
                && frame.contains(&changes.cards[&SessionId::from("a")].as_ptr())
        );
    }
}
