//! The changes that viewers get: each is serialised once, numbered, and kept for viewers that reconnect.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::view::assignment::AssignmentCard;
use flightdeck_protocol::changes::ChangeName;
use tokio::sync::broadcast;

/// Changes a viewer may lag behind before it gets a gap: some seconds of a busy fleet.
pub const VIEWER_LAG_CHANGES_MAX: usize = 1024;
/// Changes kept for viewers that reconnect with `Last-Event-ID`.
pub const REPLAY_CHANGES_MAX: usize = 4096;
/// Bytes of changes kept for them, at most.
pub const REPLAY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of changes kept for them, at least. On a larger board as many bytes as the board has: a viewer that missed more gets
/// the board instead.
pub const REPLAY_BYTES_MIN: usize = 2 * 1024 * 1024;

/// The text around a card in a change.
const BEFORE_CARD: &[u8] = b"{\"session\":";
const AFTER_CARD: &[u8] = b"}";

/// One change, as every viewer gets it. All viewers share the bytes.
#[derive(Clone, Debug)]
pub struct Change {
    pub n: u64,
    /// The frame of the event stream.
    pub sse: Bytes,
    /// One line of JSON: the data of the frame.
    pub data: Bytes,
    /// `<boot>-<n>`
    id: String,
    event: ChangeName,
}

impl Change {
    fn new(n: u64, id: String, event: ChangeName, data: &[&[u8]]) -> Self {
        let head = [b"id: ", id.as_bytes(), b"\nevent: ", event.as_str().as_bytes(), b"\ndata: "];
        let [before, length] =
            [&head[..], data].map(|parts| parts.iter().map(|part| part.len()).sum::<usize>());
        let mut frame = Vec::with_capacity(before + length + 2);
        head.iter().chain(data).chain([&&b"\n\n"[..]]).for_each(|part| frame.extend_from_slice(part));
        let sse = Bytes::from(frame);
        Self { n, data: sse.slice(before..before + length), sse, id, event }
    }

    /// The frame of the socket: one line.
    pub fn line(&self) -> Bytes {
        let (id, event) = (self.id.as_bytes(), self.event.as_str().as_bytes());
        [b"{\"event\":\"", event, b"\",\"id\":\"", id, b"\",\"data\":", &self.data, b"}\n"].concat().into()
    }
}

/// What a new viewer gets: first the changes that it missed or the whole board, then each new change.
#[derive(Debug)]
pub struct Subscription {
    pub first: Vec<Arc<Change>>,
    pub next: broadcast::Receiver<Arc<Change>>,
}

/// The cards as last sent, and the recent changes. Owned by the engine.
#[derive(Debug)]
pub struct Changes {
    boot: String,
    n: u64,
    cards: BTreeMap<String, Bytes>,
    card_bytes: usize,
    recent: VecDeque<Arc<Change>>,
    recent_bytes: usize,
    viewers: broadcast::Sender<Arc<Change>>,
}

impl Changes {
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
    pub fn put(&mut self, id: &str, card: Bytes) {
        let name = match self.cards.get(id) {
            Some(last) if *last == card => return,
            Some(_) => ChangeName::SessionUpdated,
            None => ChangeName::SessionDiscovered,
        };
        let change = self.send(name, &card);
        // A slice of the frame, so that the card is in memory once.
        let card = change.data.slice(BEFORE_CARD.len()..change.data.len() - AFTER_CARD.len());
        self.keep(id, card);
    }

    /// A card from before the start: on the board, but not a change.
    pub fn seed(&mut self, id: &str, card: Bytes) {
        self.keep(id, card);
    }

    fn keep(&mut self, id: &str, card: Bytes) {
        self.card_bytes += card.len();
        let last = self.cards.insert(id.to_owned(), card);
        self.card_bytes -= last.map_or(0, |card| card.len());
    }

    fn take(&mut self, id: &str) -> Option<Bytes> {
        let card = self.cards.remove(id)?;
        self.card_bytes -= card.len();
        Some(card)
    }

    /// The session left the live set. Its card stays until it is removed.
    pub fn complete(&mut self, id: &str) {
        if let Some(card) = self.cards.get(id).cloned() {
            self.send(ChangeName::SessionCompleted, &card);
        }
    }

    /// Another session took its place: sends its last card and removes it.
    pub fn replace(&mut self, id: &str, last_card: Bytes) {
        if self.take(id).is_some() {
            self.send(ChangeName::SessionCompleted, &last_card);
        }
    }

    pub fn remove(&mut self, id: &str) {
        if self.take(id).is_some() {
            let id = serde_json::Value::from(id).to_string();
            self.push(ChangeName::SessionRemoved, &[b"{\"id\":", id.as_bytes(), b"}"]);
        }
    }

    /// For viewers that wait for asks. The card carries the ask as well.
    pub fn ask(&mut self, event: ChangeName, ask: &AskCard) {
        match serde_json::to_vec(ask) {
            Ok(ask) => drop(self.push(event, &[b"{\"ask\":", &ask, b"}"])),
            Err(error) => {
                tracing::error!(%error, "an ask could not be encoded as JSON; viewers do not get it")
            }
        }
    }

    /// For viewers that follow assignments. The session's card carries a part of it as well.
    pub fn assignment(&mut self, assignment: &AssignmentCard) {
        match serde_json::to_vec(assignment) {
            Ok(json) => drop(self.push(ChangeName::AssignmentUpdated, &[b"{\"assignment\":", &json, b"}"])),
            Err(error) => {
                tracing::error!(%error, "an assignment could not be encoded as JSON; viewers do not get it")
            }
        }
    }

    fn send(&mut self, name: ChangeName, card: &[u8]) -> Arc<Change> {
        self.push(name, &[BEFORE_CARD, card, AFTER_CARD])
    }

    fn push(&mut self, event: ChangeName, data: &[&[u8]]) -> Arc<Change> {
        self.n += 1;
        let change = Arc::new(Change::new(self.n, self.id(self.n), event, data));
        self.recent_bytes += change.sse.len();
        self.recent.push_back(Arc::clone(&change));
        let bytes_max = self.card_bytes.clamp(REPLAY_BYTES_MIN, REPLAY_BYTES_MAX);
        while self.recent.len() > REPLAY_CHANGES_MAX || self.recent_bytes > bytes_max {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.recent_bytes -= oldest.sse.len();
        }
        // No viewer is connected; the next one starts from the board.
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

    /// The pieces of the board. A large board is copied once, into its frame.
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

    /// Replays what the viewer missed, or sends a gap and the board.
    pub fn subscribe(&self, last_event_id: Option<&str>) -> Subscription {
        let gap = || Arc::new(Change::new(self.n, self.id(self.n), ChangeName::Gap, &[b"{}"]));
        let whole = || {
            let head = self.snapshot_head();
            Arc::new(Change::new(self.n, self.id(self.n), ChangeName::Snapshot, &self.snapshot_parts(&head)))
        };
        let first = match last_event_id {
            None => vec![whole()],
            Some(last) => self.since(last).unwrap_or_else(|| vec![gap(), whole()]),
        };
        Subscription { first, next: self.viewers.subscribe() }
    }

    /// `None` if the id is of another boot, of the future, or too old to replay.
    fn since(&self, last_event_id: &str) -> Option<Vec<Arc<Change>>> {
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

    fn changes() -> Changes {
        Changes::new("b".into())
    }

    fn events(subscription: &Subscription) -> Vec<String> {
        subscription.first.iter().map(|c| format!("{} {}", c.event.as_str(), c.id)).collect()
    }

    #[test]
    fn a_card_that_reads_the_same_is_not_sent_again() {
        let mut changes = changes();
        let mut viewer = changes.subscribe(None);
        changes.put("a", Bytes::from_static(b"1"));
        changes.put("a", Bytes::from_static(b"1"));
        changes.put("a", Bytes::from_static(b"2"));
        assert_eq!(viewer.next.try_recv().unwrap().event, ChangeName::SessionDiscovered);
        assert_eq!(viewer.next.try_recv().unwrap().event, ChangeName::SessionUpdated);
        assert!(viewer.next.try_recv().is_err());
    }

    #[test]
    fn a_viewer_that_reconnects_gets_exactly_what_it_missed() {
        let mut changes = changes();
        for card in ["1", "2", "3"] {
            changes.put("a", Bytes::from(card));
        }
        assert_eq!(events(&changes.subscribe(Some("b-1"))), ["session_updated b-2", "session_updated b-3"]);
        assert_eq!(events(&changes.subscribe(Some("b-3"))), Vec::<String>::new());
    }

    #[test]
    fn an_id_that_cannot_be_replayed_from_gives_a_gap_and_the_board() {
        let mut changes = changes();
        for card in 0..REPLAY_CHANGES_MAX + 10 {
            changes.put("a", Bytes::from(card.to_string()));
        }
        for last in ["old-3", "b-999999", "b-1", "nonsense", "b-x", ""] {
            let n = REPLAY_CHANGES_MAX + 10;
            assert_eq!(
                events(&changes.subscribe(Some(last))),
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
            changes.put("a", card(n));
        }
        assert!(changes.recent_bytes <= REPLAY_BYTES_MIN && changes.recent.len() > 10, "a small board");
        for n in 0..100 {
            changes.put(&n.to_string(), card(n));
        }
        let board = changes.snapshot().len();
        assert!(changes.recent_bytes > REPLAY_BYTES_MIN && changes.recent_bytes <= board, "a larger one");
        for n in 0..300 {
            changes.put(&n.to_string(), card(n));
        }
        assert!(changes.recent_bytes <= REPLAY_BYTES_MAX && changes.snapshot().len() > REPLAY_BYTES_MAX);
        (0..300).for_each(|n| changes.remove(&n.to_string()));
        changes.remove("a");
        assert_eq!(changes.card_bytes, 0);
    }

    #[test]
    fn a_change_is_in_memory_once() {
        let mut changes = changes();
        changes.put("a", Bytes::from_static(b"1"));
        let change = changes.subscribe(Some("b-0")).first.remove(0);
        assert_eq!(change.sse, "id: b-1\nevent: session_discovered\ndata: {\"session\":1}\n\n");
        assert_eq!(
            change.line(),
            "{\"event\":\"session_discovered\",\"id\":\"b-1\",\"data\":{\"session\":1}}\n"
        );
        assert_eq!((&change.data[..], &changes.cards["a"][..]), (&b"{\"session\":1}"[..], &b"1"[..]));
        let frame = change.sse.as_ptr_range();
        assert!(frame.contains(&change.data.as_ptr()) && frame.contains(&changes.cards["a"].as_ptr()));
    }
}
