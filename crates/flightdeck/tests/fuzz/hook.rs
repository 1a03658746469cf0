//! The body of a hook: it either becomes an event, which the store returns unchanged and the fold survives, or is refused for
//! a reason.

use std::sync::LazyLock;

use flightdeck::frame::parse_verbatim;
use flightdeck::store::Store;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::limits::{NAME_CHARS_MAX, SESSION_ID_BYTES_MAX};
use flightdeck_core::log::event::Event;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::{EventId, Record, Verbatim};
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view;
use flightdeck_core::wire::clip::MARK;
use flightdeck_core::wire::hook::HookDraft;
use flightdeck_sim::corpus::{CapturedScenario, scenarios};
use serde_json::{Map, Value};

use crate::{check, check_batch, fuzz};

/// Longest card: every text on it has a bound, and so has every list.
const CARD_BYTES_MAX: usize = 256 * 1024;
/// Records that go through SQLite in one transaction.
const STORED_AT_ONCE: usize = 256;

pub(crate) static CAPTURES: LazyLock<Vec<CapturedScenario>> = LazyLock::new(scenarios);

pub(crate) fn bytes(map: &Map<String, Value>) -> Vec<u8> {
    Value::Object(map.clone()).to_string().into_bytes()
}

fn record(payload: Map<String, Value>, bytes: usize, n: u64) -> Option<Record> {
    let draft = HookDraft { name_in_path: None, payload, env: Map::new(), bytes };
    let mut record = draft.into_record(EventId::new(n, 1)).ok()?;
    stamp(&mut record, Timestamp::from_millis(1_794_744_000_000 + n as i64), Timestamp::default());
    Some(record)
}

/// Applies the record, and checks that the card of its session stays within its bound.
pub(crate) fn fold(fleet: &mut Fleet, record: &Record) {
    fleet.apply(&Event::from_record(record));
    let Some(session) = record.session_id().and_then(|id| fleet.get(id)) else { return };
    let card = serde_json::to_vec(&view::card(session, fleet.settings())).unwrap();
    assert!(card.len() <= CARD_BYTES_MAX, "a card of {} bytes", card.len());
}

/// Collects records, and checks in batches that SQLite returns them unchanged.
struct StoreCheck {
    runtime: tokio::runtime::Runtime,
    store: Store,
    waiting: Vec<(Vec<u8>, Record)>,
    _folder: tempfile::TempDir,
}

impl StoreCheck {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
        Self { runtime, store, waiting: Vec::new(), _folder: folder }
    }

    fn store_later(&mut self, input: &[u8], record: Record) {
        self.waiting.push((input.to_vec(), record));
        if self.waiting.len() >= STORED_AT_ONCE {
            self.store_all();
        }
    }

    fn store_all(&mut self) {
        // In one transaction: one for each record would take most of the time of the test.
        let batch = std::mem::take(&mut self.waiting);
        let records = batch.iter().map(|(_, record)| record.clone()).collect();
        check_batch(
            &batch,
            || self.store_and_read_back(records),
            |_, one| Self::new().store_and_read_back(vec![one.clone()]),
        );
    }

    /// Stores the records in SQLite and checks that they are read back unchanged.
    fn store_and_read_back(&self, sent: Vec<Record>) {
        self.runtime.block_on(async {
            let after = self.store.last_seq().await.unwrap();
            self.store.append(sent.clone()).await.unwrap();
            let mut replay = self.store.replay(after).await.unwrap();
            let mut back = Vec::new();
            while let Some(page) = replay.next().await.unwrap() {
                assert_eq!(page.unreadable, 0);
                back.extend(page.records);
            }
            assert_eq!(back.len(), sent.len());
            for (mut back, sent) in back.into_iter().zip(&sent) {
                back.seq = 0;
                assert_eq!(&back, sent);
            }
        });
    }
}

/// Fields that the fold needs: clipping never removes them.
const NEVER_CUT: [&str; 6] =
    ["session_id", "hook_event_name", "transcript_path", "cwd", "tool_name", "tool_use_id"];

fn is_short(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() <= 200)
}

#[test]
fn hook() {
    let captured = CAPTURES.iter().flat_map(|s| s.hooks.iter().map(|h| bytes(&h.event))).collect();
    let mut store = StoreCheck::new();
    let mut fleet = Fleet::new(FoldSettings::default());
    let mut n = 0;
    fuzz("hook", captured, |input| {
        let Ok((payload, verbatim)) = parse_verbatim(input) else { return };
        n += 1;
        let has = |key: &str| payload.get(key).and_then(Value::as_str).is_some_and(|t| !t.trim().is_empty());
        let keys: Vec<_> = payload.keys().cloned().collect();
        let short = payload.get("session_id").and_then(Value::as_str).is_some_and(|id| id.len() <= 36);
        let Some(record) = record(payload.clone(), input.len(), n) else {
            let odd =
                |key: &str| payload[key].as_str().is_some_and(|t| t.chars().any(|c| !c.is_ascii_graphic()));
            let fine = has("session_id") && has("hook_event_name") && short;
            assert!(!fine || odd("session_id") || odd("hook_event_name"), "an event was refused");
            return;
        };
        assert!(record.session_id().unwrap().len() <= SESSION_ID_BYTES_MAX);
        // A clipped name ends with one more character, the mark of the clipping.
        assert!(record.name.chars().count() <= NAME_CHARS_MAX + 1);
        let cut = record.payload.contains_key(MARK);
        for key in keys {
            let must_stay = !cut || (NEVER_CUT.contains(&key.as_str()) && is_short(&payload[&key]));
            assert!(!must_stay || record.payload.contains_key(&key), "{key} was lost");
        }
        fold(&mut fleet, &record);
        // With the original bytes, and sometimes without them, so that the store has to serialise the payload itself.
        let verbatim = if n % 4 == 0 { Verbatim::default() } else { verbatim };
        store.store_later(input, Record { verbatim, ..record });
    });
    check("hook", &[], || store.store_all());
}
