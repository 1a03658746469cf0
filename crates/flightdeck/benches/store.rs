//! The cost of the store: an append by batch size, a replay, a start. `STORE_BENCH_MILLION=1` adds a start with a million
//! events, which takes a while to prepare.

#![allow(missing_debug_implementations, clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use flightdeck::store::{FleetSnapshot, RetentionPolicy, Store};
use flightdeck_core::ids::HostId;
use flightdeck_core::log::record::{Envelope, EventId, Record, Source};
use flightdeck_core::log::subject::Subject;
use flightdeck_core::time::{Millis, Timestamp};
use serde_json::json;
use tokio::runtime::Runtime;

const SESSIONS: u64 = 54;
const MILLION: u64 = 1_000_000;

/// Event `n` of a fleet, 2 KB as JSON.
fn record(n: u64) -> Record {
    let at = Timestamp::from_millis(1_794_768_451_273 + n as i64);
    let payload = json!({
        "session_id": format!("9bc34ae7-600a-4b20-a9ed-{:012}", n % SESSIONS),
        "transcript_path": "/home/dev/.claude/projects/-home-dev-work-demo/9bc34ae7.jsonl",
        "cwd": "/home/dev/work/demo", "permission_mode": "default", "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": "cargo test", "description": "Run the tests"},
        "tool_response": {"stdout": "test result: ok. ".repeat(92), "stderr": "", "interrupted": false},
        "tool_use_id": format!("toolu_{n:020}"),
    });
    Record {
        seq: 0,
        id: EventId::new(at.as_millis() as u64 * 1_000_000, n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        fired_at: at,
        received_at: at,
        source: Source::Hook,
        name: ["PreToolUse", "PostToolUse", "Stop"][n as usize % 3].to_owned(),
        host: HostId::this_machine(),
        subject: Subject::Session(
            format!("9bc34ae7-600a-4b20-a9ed-{:012}", n.wrapping_mul(7919) % SESSIONS).into(),
        ),
        agent_id: None,
        payload: payload.as_object().unwrap().clone(),
        verbatim: Default::default(),
        envelope: Envelope { pid: Some(4242), pane: Some("%5".to_owned()), ..Envelope::default() },
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

fn fill(rt: &Runtime, store: &Store, events: u64) {
    for from in (0..events).step_by(1000) {
        let batch: Vec<_> = (from..events.min(from + 1000)).map(record).collect();
        rt.block_on(store.append(batch)).unwrap();
    }
}

async fn replay(store: &Store, after_seq: u64) -> usize {
    let (mut replay, mut events) = (store.replay(after_seq).await.unwrap(), 0);
    while let Some(page) = replay.next().await.unwrap() {
        events += page.records.len();
    }
    events
}

fn append(c: &mut Criterion) {
    let (rt, folder) = (runtime(), tempfile::tempdir().unwrap());
    let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
    let mut group = c.benchmark_group("append a 2 KB event");
    let mut n = 0;
    for batch in [1, 16, 64, 256] {
        group.throughput(Throughput::Elements(batch));
        group.bench_function(BenchmarkId::from_parameter(format!("in batches of {batch}")), |b| {
            let next = || {
                n += batch;
                (n - batch..n).map(record).collect::<Vec<_>>()
            };
            b.iter_batched(
                next,
                |records| rt.block_on(store.append(records)).unwrap(),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn read(c: &mut Criterion) {
    const EVENTS: u64 = 20_000;
    let (rt, folder) = (runtime(), tempfile::tempdir().unwrap());
    let store = Store::open(&folder.path().join("flightdeck.db")).unwrap().store;
    fill(&rt, &store, EVENTS);
    let mut group = c.benchmark_group("replay");
    group.throughput(Throughput::Elements(EVENTS)).sample_size(10);
    group.bench_function("20,000 events", |b| b.iter(|| rt.block_on(replay(&store, 0))));
    group.finish();
}

/// Opens the database and reads the latest snapshot and the events after it.
fn start(rt: &Runtime, path: &Path) -> usize {
    let store = Store::open(path).unwrap().store;
    let events = rt.block_on(async {
        let snapshot = store.latest_snapshot("1").await.unwrap();
        replay(&store, snapshot.map_or(0, |s| s.seq)).await
    });
    rt.block_on(store.close()).unwrap();
    events
}

fn start_with_a_million(c: &mut Criterion) {
    if std::env::var_os("STORE_BENCH_MILLION").is_none() {
        return;
    }
    let (rt, folder) = (runtime(), tempfile::tempdir().unwrap());
    let path = folder.path().join("flightdeck.db");
    let store = Store::open(&path).unwrap().store;
    fill(&rt, &store, MILLION);
    let snapshot =
        FleetSnapshot { seq: MILLION - 5000, rules_version: "1".to_owned(), body: vec![7; 2 << 20].into() };
    rt.block_on(store.save_snapshot(snapshot)).unwrap();
    rt.block_on(store.close()).unwrap();
    let mut group = c.benchmark_group("start");
    group.sample_size(10);
    group.bench_function("a million events, 5,000 after the snapshot", |b| b.iter(|| start(&rt, &path)));
    group.finish();
    eprintln!("retention: {}", retain_half(&rt, &path));
}

/// Removes half of the events, and appends one event every 5 ms meanwhile. Returns how many were removed and how long both
/// took.
fn retain_half(rt: &Runtime, path: &Path) -> String {
    let store = Store::open(path).unwrap().store;
    let max_age = Millis(MILLION as i64 / 2);
    let policy = RetentionPolicy { max_age, keep_after_seq: MILLION, ..Default::default() };
    let (now, began) = (record(MILLION).received_at, Instant::now());
    let mut appends = Vec::new();
    let removed = rt.block_on(async {
        let mut retaining = Box::pin(store.retain(now, policy));
        loop {
            let append = async {
                let (n, began) = (2 * MILLION + appends.len() as u64, Instant::now());
                store.append(vec![record(n)]).await.unwrap();
                appends.push(began.elapsed());
                tokio::time::sleep(Duration::from_millis(5)).await;
            };
            tokio::select! {
                report = &mut retaining => return report.unwrap().removed,
                () = append => {}
            }
        }
    });
    appends.sort();
    let part = |percent| appends[(appends.len() - 1) * percent / 100];
    let (p50, p99, max) = (part(50), part(99), part(100));
    format!(
        "{removed} in {:?}; {} appends, p50 {p50:?}, p99 {p99:?}, max {max:?}",
        began.elapsed(),
        appends.len()
    )
}

criterion_group!(benches, append, read, start_with_a_million);
criterion_main!(benches);
