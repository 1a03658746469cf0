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
/// Bytes of those, so that large cards do not add up.
pub const REPLAY_BYTES_MAX: usize = 16 * 1024 * 1024;

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

pub const ASK_OPENED: &str = "ask_opened";
pub const ASK_CLOSED: &str = "ask_closed";

/// One change, as every viewer gets it.
#[derive(Clone, Debug)]
pub struct Change {
    pub n: u64,
    pub event: &'static str,
    /// `<boot>-<n>`
    pub id: String,
    /// One line of JSON.
    pub data: Bytes,
}

impl Change {
    /// The frame of an event stream.
    pub fn sse(&self) -> Bytes {
        sse_frame(&self.id, self.event, &self.data)
    }
    /// The frame of the socket: one line.
    pub fn line(&self) -> Bytes {
        line_frame(&self.id, self.event, &self.data)
    }
}

pub fn sse_frame(id: &str, event: &str, data: &[u8]) -> Bytes {
    [b"id: ", id.as_bytes(), b"\nevent: ", event.as_bytes(), b"\ndata: ", data, b"\n\n"].concat().into()
}

pub fn line_frame(id: &str, event: &str, data: &[u8]) -> Bytes {
    let (id, event) = (id.as_bytes(), event.as_bytes());
    [b"{\"event\":\"", event, b"\",\"id\":\"", id, b"\",\"data\":", data, b"}\n"].concat().into()
}

/// What a new viewer gets: first the past, then what comes.
#[derive(Debug)]
pub struct Subscription {
    pub first: Vec<Change>,
    pub next: broadcast::Receiver<Arc<Change>>,
}

/// The cards as they were last sent, and the changes since. Owned by the engine.
#[derive(Debug)]
pub struct Changes {
    boot: String,
    n: u64,
    cards: BTreeMap<String, Bytes>,
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
        self.cards.insert(id.to_owned(), card.clone());
        self.send(kind, &card);
    }

    /// A card as it was when the daemon started: known, but no news.
    pub fn seed(&mut self, id: &str, card: Bytes) {
        self.cards.insert(id.to_owned(), card);
    }

    /// The session left the live set; it stays among the cards until it is removed.
    pub fn complete(&mut self, id: &str) {
        if let Some(card) = self.cards.get(id).cloned() {
            self.send(ChangeKind::Completed, &card);
        }
    }

    /// A card that another took the place of: its last word, and it is gone.
    pub fn replace(&mut self, id: &str, last_word: Bytes) {
        if self.cards.remove(id).is_some() {
            self.send(ChangeKind::Completed, &last_word);
        }
    }

    pub fn remove(&mut self, id: &str) {
        if self.cards.remove(id).is_some() {
            let id = serde_json::Value::from(id).to_string();
            self.push(ChangeKind::Removed.as_str(), [b"{\"id\":", id.as_bytes(), b"}"].concat().into());
        }
    }

    /// For a viewer that waits for one: the card itself says the same.
    pub fn ask(&mut self, event: &'static str, ask: &AskCard) {
        match serde_json::to_vec(ask) {
            Ok(ask) => self.push(event, [b"{\"ask\":", ask.as_slice(), b"}"].concat().into()),
            Err(error) => tracing::error!(%error, "an ask could not be written as JSON"),
        }
    }

    fn send(&mut self, kind: ChangeKind, card: &[u8]) {
        self.push(kind.as_str(), [b"{\"session\":", card, b"}"].concat().into());
    }

    fn push(&mut self, event: &'static str, data: Bytes) {
        self.n += 1;
        let change = Arc::new(Change { n: self.n, event, id: self.id(self.n), data });
        self.recent_bytes += change.data.len();
        self.recent.push_back(Arc::clone(&change));
        while self.recent.len() > REPLAY_CHANGES_MAX || self.recent_bytes > REPLAY_BYTES_MAX {
            let Some(oldest) = self.recent.pop_front() else { break };
            self.recent_bytes -= oldest.data.len();
        }
        // No viewer is open; the next one starts from a snapshot.
        let _ = self.viewers.send(change);
    }

    fn id(&self, n: u64) -> String {
        format!("{}-{n}", self.boot)
    }

    /// `{"boot", "n", "sessions": […]}`: the board as it is now.
    pub fn snapshot(&self) -> Bytes {
        let mut json = format!("{{\"boot\":\"{}\",\"n\":{},\"sessions\":[", self.boot, self.n).into_bytes();
        for (i, card) in self.cards.values().enumerate() {
            if i > 0 {
                json.push(b',');
            }
            json.extend_from_slice(card);
        }
        json.extend_from_slice(b"]}");
        json.into()
    }

    pub fn viewers(&self) -> usize {
        self.viewers.receiver_count()
    }

    /// Replays what the viewer missed, or says there is a gap and starts it anew.
    pub fn subscribe(&self, last_event_id: Option<&str>) -> Subscription {
        let first = match last_event_id {
            None => vec![self.whole()],
            Some(last) => self.since(last).unwrap_or_else(|| vec![self.gap(), self.whole()]),
        };
        Subscription { first, next: self.viewers.subscribe() }
    }

    fn whole(&self) -> Change {
        Change { n: self.n, event: "snapshot", id: self.id(self.n), data: self.snapshot() }
    }

    fn gap(&self) -> Change {
        Change { n: self.n, event: "gap", id: self.id(self.n), data: Bytes::from_static(b"{}") }
    }

    /// `None` if the id is of another boot, of the future, or too old.
    fn since(&self, last_event_id: &str) -> Option<Vec<Change>> {
        let (boot, n) = last_event_id.rsplit_once('-')?;
        let n: u64 = n.parse().ok()?;
        let oldest_kept = self.recent.front().map_or(self.n + 1, |c| c.n);
        if boot != self.boot || n > self.n || n + 1 < oldest_kept {
            return None;
        }
        Some(self.recent.iter().filter(|c| c.n > n).map(|c| Change::clone(c)).collect())
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
    fn what_is_kept_for_those_who_come_back_is_bounded_in_bytes() {
        let mut changes = changes();
        for card in 0..40 {
            changes.put("a", Bytes::from(format!("{card}{}", "x".repeat(1024 * 1024))));
        }
        assert!(changes.recent_bytes <= REPLAY_BYTES_MAX);
        assert!(changes.recent.len() < 17);
    }
}
