//! What viewers are told: each change serialised once, numbered, kept a while for those who come back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use flightdeck_core::ask::card::AskCard;
use tokio::sync::broadcast;

/// Changes a viewer may lag behind before it is told of a gap: some seconds of a busy fleet.
pub const VIEWER_LAG_CHANGES_MAX: usize = 1024;
/// Changes kept for viewers that reconnect with `Last-Event-ID`.
pub const REPLAY_CHANGES_MAX: usize = 4096;
/// Bytes of those, however large the board is.
pub const REPLAY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of those on a small board. Else as many as the board has: who missed more is better served with the board itself.
pub const REPLAY_BYTES_MIN: usize = 2 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Discovered,
    Updated,
    Completed,
    Removed,
}

impl ChangeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discovered => "session_discovered",
            Self::Updated => "session_updated",
            Self::Completed => "session_completed",
            Self::Removed => "session_removed",
        }
    }
}

/// How a card stands in a change.
const BEFORE_CARD: &[u8] = b"{\"session\":";
const AFTER_CARD: &[u8] = b"}";

pub const ASK_OPENED: &str = "ask_opened";
pub const ASK_CLOSED: &str = "ask_closed";

/// One change, as every viewer gets it: written once, shared by all.
#[derive(Clone, Debug)]
pub struct Change {
    pub n: u64,
    /// The frame of an event stream.
    pub sse: Bytes,
    /// One line of JSON, the part of the frame that says what changed.
    pub data: Bytes,
    /// `<boot>-<n>`
    id: String,
    event: &'static str,
}

impl Change {
    fn new(n: u64, id: String, event: &'static str, data: &[&[u8]]) -> Self {
        let head = [b"id: ", id.as_bytes(), b"\nevent: ", event.as_bytes(), b"\ndata: "];
        let [before, length] =
            [&head[..], data].map(|parts| parts.iter().map(|part| part.len()).sum::<usize>());
        let mut frame = Vec::with_capacity(before + length + 2);
        head.iter().chain(data).chain([&&b"\n\n"[..]]).for_each(|part| frame.extend_from_slice(part));
        let sse = Bytes::from(frame);
        Self { n, data: sse.slice(before..before + length), sse, id, event }
    }

    /// The frame of the socket: one line.
    pub fn line(&self) -> Bytes {
        let (id, event) = (self.id.as_bytes(), self.event.as_bytes());
        [b"{\"event\":\"", event, b"\",\"id\":\"", id, b"\",\"data\":", &self.data, b"}\n"].concat().into()
    }
}

/// What a new viewer gets: first the past, then what comes.
#[derive(Debug)]
pub struct Subscription {
    pub first: Vec<Arc<Change>>,
    pub next: broadcast::Receiver<Arc<Change>>,
}

/// The cards as they were last sent, and the changes since. Owned by the engine.
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

    /// Sends the card if it reads differently than it was last sent. The first time it is a discovery.
    pub fn put(&mut self, id: &str, card: Bytes) {
        let kind = match self.cards.get(id) {
            Some(last) if *last == card => return,
            Some(_) => ChangeKind::Updated,
            None => ChangeKind::Discovered,
        };
        let change = self.send(kind, &card);
        // The card as it stands in the frame: in memory once.
        let card = change.data.slice(BEFORE_CARD.len()..change.data.len() - AFTER_CARD.len());
        self.keep(id, card);
    }

    /// A card as it was when the daemon started: known, but no news.
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

    /// The session left the live set; it stays among the cards until it is removed.
    pub fn complete(&mut self, id: &str) {
        if let Some(card) = self.cards.get(id).cloned() {
            self.send(ChangeKind::Completed, &card);
        }
    }

    /// A card that another took the place of: its last word, and it is gone.
    pub fn replace(&mut self, id: &str, last_word: Bytes) {
        if self.take(id).is_some() {
            self.send(ChangeKind::Completed, &last_word);
        }
    }

    pub fn remove(&mut self, id: &str) {
        if self.take(id).is_some() {
            let id = serde_json::Value::from(id).to_string();
            self.push(ChangeKind::Removed.as_str(), &[b"{\"id\":", id.as_bytes(), b"}"]);
        }
    }

    /// For a viewer that waits for one: the card itself says the same.
    pub fn ask(&mut self, event: &'static str, ask: &AskCard) {
        match serde_json::to_vec(ask) {
            Ok(ask) => drop(self.push(event, &[b"{\"ask\":", &ask, b"}"])),
            Err(error) => tracing::error!(%error, "an ask could not be written as JSON"),
        }
    }

    fn send(&mut self, kind: ChangeKind, card: &[u8]) -> Arc<Change> {
        self.push(kind.as_str(), &[BEFORE_CARD, card, AFTER_CARD])
    }

    fn push(&mut self, event: &'static str, data: &[&[u8]]) -> Arc<Change> {
        self.n += 1;
        let change = Arc::new(Change::new(self.n, self.id(self.n), event, data));
        self.recent_bytes += change.sse.len();
        self.recent.push_back(Arc::clone(&change));
        let bytes_max = self.card_bytes.clamp(REPLAY_BYTES_MIN, REPLAY_BYTES_MAX);
        while self.recent.len() > REPLAY_CHANGES_MAX || self.recent_bytes > bytes_max {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.recent_bytes -= oldest.sse.len();
        }
        // No viewer is open; the next one starts from a snapshot.
        let _ = self.viewers.send(Arc::clone(&change));
        change
    }

    fn id(&self, n: u64) -> String {
        format!("{}-{n}", self.boot)
    }

    /// `{"boot", "n", "sessions": […]}`: the board as it is now.
    pub fn snapshot(&self) -> Bytes {
        let head = self.snapshot_head();
        self.snapshot_parts(&head).concat().into()
    }

    fn snapshot_head(&self) -> String {
        format!("{{\"boot\":\"{}\",\"n\":{},\"sessions\":[", self.boot, self.n)
    }

    /// What a snapshot is put together from: a large one is copied once, straight into its frame.
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

    /// Replays what the viewer missed, or says there is a gap and starts it anew.
    pub fn subscribe(&self, last_event_id: Option<&str>) -> Subscription {
        let gap = || Arc::new(Change::new(self.n, self.id(self.n), "gap", &[b"{}"]));
        let whole = || {
            let head = self.snapshot_head();
            Arc::new(Change::new(self.n, self.id(self.n), "snapshot", &self.snapshot_parts(&head)))
        };
        let first = match last_event_id {
            None => vec![whole()],
            Some(last) => self.since(last).unwrap_or_else(|| vec![gap(), whole()]),
        };
        Subscription { first, next: self.viewers.subscribe() }
    }

    /// `None` if the id is of another boot, of the future, or too old.
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
        subscription.first.iter().map(|c| format!("{} {}", c.event, c.id)).collect()
    }

    #[test]
    fn a_card_that_reads_the_same_is_not_sent_again() {
        let mut changes = changes();
        let mut viewer = changes.subscribe(None);
        changes.put("a", Bytes::from_static(b"1"));
        changes.put("a", Bytes::from_static(b"1"));
        changes.put("a", Bytes::from_static(b"2"));
        assert_eq!(viewer.next.try_recv().unwrap().event, "session_discovered");
        assert_eq!(viewer.next.try_recv().unwrap().event, "session_updated");
        assert!(viewer.next.try_recv().is_err());
    }

    #[test]
    fn one_who_comes_back_gets_just_what_it_missed() {
        let mut changes = changes();
        for card in ["1", "2", "3"] {
            changes.put("a", Bytes::from(card));
        }
        assert_eq!(events(&changes.subscribe(Some("b-1"))), ["session_updated b-2", "session_updated b-3"]);
        assert_eq!(events(&changes.subscribe(Some("b-3"))), Vec::<String>::new());
    }

    #[test]
    fn another_boot_the_future_nonsense_and_the_distant_past_are_a_gap_and_a_fresh_start() {
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
    fn what_is_kept_for_those_who_come_back_is_no_more_than_the_board_itself() {
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
    fn a_change_stands_in_memory_once() {
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
