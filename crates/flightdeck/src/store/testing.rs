//! Records for tests.

use flightdeck_core::ids::HostId;
use flightdeck_core::log::record::{Envelope, EventId, Record, Source, Verbatim};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::time::{Millis, Timestamp};
use proptest::collection::{hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Result, Store};

pub(super) fn start() -> Timestamp {
    Timestamp::from_millis(1_794_768_451_273)
}

/// Event `n`: one a minute, three sessions in turn, two names in turn.
pub(super) fn record(n: u64) -> Record {
    let payload = json!({"tool_input": {"command": "cargo test", "n": n}, "note": "ümlaut \u{1f680}"});
    let at = start() + Millis::minutes(n as i64);
    Record {
        seq: 0,
        id: EventId::new(at.as_millis() as u64 * 1_000_000, n),
        fired_at: at - Millis(3),
        received_at: at,
        source: Source::Hook,
        name: if n.is_multiple_of(2) { "PreToolUse" } else { "PostToolUse" }.to_owned(),
        host: HostId::this_machine(),
        subject: Subject::Session(format!("session-{}", n % 3).into()),
        agent_id: n.is_multiple_of(5).then(|| "agent".into()),
        payload: payload.as_object().cloned().unwrap_or_default(),
        verbatim: Verbatim::default(),
        envelope: Envelope { pid: Some(42), pane: Some("%5".to_owned()), ..Envelope::default() },
    }
}

pub(super) fn records(numbers: std::ops::RangeInclusive<u64>) -> Vec<Record> {
    numbers.map(record).collect()
}

/// The record as the store returns it.
pub(super) fn stored(n: u64, seq: u64) -> Record {
    Record { seq, ..record(n) }
}

/// A record whose payload holds `bytes` more.
pub(super) fn large(n: u64, bytes: usize) -> Record {
    let mut record = record(n);
    record.payload.insert("text".to_owned(), "x".repeat(bytes).into());
    record
}

pub(super) async fn all_records(store: &Store, after_seq: u64) -> Result<Vec<Record>> {
    let mut replay = store.replay(after_seq).await?;
    let mut records = Vec::new();
    while let Some(page) = replay.next().await? {
        records.extend(page.records);
    }
    Ok(records)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        let list = vec(inner.clone(), 0..6).prop_map(Value::from);
        let object =
            hash_map(any::<String>(), inner, 0..6).prop_map(|m| Value::Object(m.into_iter().collect()));
        prop_oneof![list, object]
    })
}

fn any_time() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(Timestamp::from_millis)
}

fn any_envelope() -> impl Strategy<Value = Envelope> {
    (option::of(any::<u32>()), option::of(any::<String>()), option::of(any::<String>()), any::<bool>())
        .prop_map(|(pid, pane, seat, has_fired_at)| Envelope {
            pid,
            pane,
            seat: seat.map(Into::into),
            has_fired_at,
            ..Envelope::default()
        })
}

fn any_subject() -> impl Strategy<Value = Subject> {
    let id = any::<String>;
    prop_oneof![
        id().prop_map(|id| Subject::Session(id.into())),
        id().prop_map(|id| Subject::Seat(id.into())),
        id().prop_map(|id| Subject::Effort(id.into())),
        id().prop_map(|id| Subject::Host(id.into())),
        Just(Subject::None),
    ]
}

/// Any record, likely or not.
pub(super) fn any_record() -> impl Strategy<Value = Record> {
    let texts = (any::<String>(), any::<String>().prop_map(HostId::new), option::of(any::<String>()));
    let payload =
        hash_map(any::<String>(), any_json(), 0..6).prop_map(|m| m.into_iter().collect::<Map<_, _>>());
    let source = proptest::sample::select(&Source::ALL);
    (any::<u128>(), any_time(), any_time(), source, texts, any_subject(), payload, any_envelope()).prop_map(
        |(id, fired_at, received_at, source, (name, host, agent_id), subject, payload, envelope)| Record {
            seq: 0,
            id: EventId(id),
            fired_at,
            received_at,
            source,
            name,
            host,
            subject,
            agent_id: agent_id.map(Into::into),
            // As another program would write it.
            verbatim: match id % 2 {
                0 => serde_json::to_vec_pretty(&payload)
                    .map(|json| Verbatim::from_json(&json))
                    .unwrap_or_default(),
                _ => Verbatim::default(),
            },
            payload,
            envelope,
        },
    )
}
