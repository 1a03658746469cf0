#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::pin::pin;
use std::sync::atomic::{AtomicI64, Ordering};

use flightdeck_core::effort::EffortChange;
use flightdeck_core::ids::{EffortId, SessionId};
use flightdeck_core::log::record::Source;
use flightdeck_core::log::subject::Subject;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::wire::hook::HookDraft;
use futures_util::FutureExt;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::*;
use crate::clock;
use crate::store::Memory;
use crate::store::faulty::{Fault, FaultSwitch, Faulty};

fn hook(session: &str, name: &str) -> Record {
    hook_saying(session, name, ("prompt", "do it"))
}

fn hook_saying(session: &str, name: &str, (field, value): (&str, &str)) -> Record {
    let payload = json!({"session_id": session, "hook_event_name": name, "cwd": "/w/api", field: value});
    let payload = payload.as_object().unwrap().clone();
    let draft = HookDraft { name_in_path: None, payload, env: Default::default(), bytes: 100 };
    draft.into_record(clock::fresh_id()).unwrap()
}

/// An engine whose store executes one command for each permit.
struct Stage {
    engine: EngineHandle,
    store: Store,
    permits: Arc<Semaphore>,
    switch: FaultSwitch,
    _tasks: JoinSet<()>,
}

impl Stage {
    fn new() -> Self {
        Self::with_clock(clock::now)
    }

    fn with_clock(clock: fn() -> Timestamp) -> Self {
        let (switch, permits) = (FaultSwitch::default(), Arc::new(Semaphore::new(0)));
        let backend = Faulty::reopened(Box::new(Memory::default()), switch.clone()).unwrap();
        let gate = Arc::clone(&permits);
        let pace = async move || gate.acquire().await.unwrap().forget();
        let (store, work) = Store::as_task(Box::new(backend), pace);
        let parts = EngineParts::new(Fleet::new(FoldSettings::default()), store.clone());
        let (engine, handle) = Engine::new(EngineParts { clock: clock.into(), ..parts });
        let mut tasks = JoinSet::new();
        tasks.spawn(work);
        tasks.spawn(engine.run());
        Self { engine: handle, store, permits, switch, _tasks: tasks }
    }

    /// Every task runs as far as it can without another permit.
    async fn settle(&self) {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_that_was_acknowledged_and_then_asks_sees_its_event() {
    let stage = Stage::new();
    stage.permits.add_permits(10_000);
    let mut senders = JoinSet::new();
    for sender in 0..8 {
        let engine = stage.engine.clone();
        senders.spawn(async move {
            for n in 0..50 {
                let session = format!("s{sender}-{n}");
                engine.append(vec![hook(&session, "UserPromptSubmit")]).await.unwrap();
                assert!(engine.card(&session.as_str().into()).await.unwrap().is_some(), "{session}");
            }
        });
    }
    senders.join_all().await;
}

#[tokio::test]
async fn events_that_arrive_during_a_write_are_written_next_and_acknowledged_by_their_own_commit() {
    let stage = Stage::new();
    // No prompt, so that no assignment is completed: its row would be a third write.
    let mut first = pin!(stage.engine.append(vec![hook("a", "Setup")]));
    assert!(first.as_mut().now_or_never().is_none());
    stage.settle().await;
    let mut second = pin!(stage.engine.append(vec![hook("a", "Stop")]));
    let id = SessionId::from("a");
    let mut asked = pin!(stage.engine.card(&id));
    assert!(second.as_mut().now_or_never().is_none());
    assert!(asked.as_mut().now_or_never().is_none());
    stage.settle().await;
    assert!(first.as_mut().now_or_never().is_none(), "acknowledged before it was durable");

    stage.permits.add_permits(1);
    stage.settle().await;
    assert_eq!(first.now_or_never().unwrap().unwrap()[0].seq, 1);
    assert!(second.as_mut().now_or_never().is_none(), "acknowledged by the commit of another");
    assert!(asked.as_mut().now_or_never().is_none(), "answered before what was under way");

    stage.permits.add_permits(1);
    stage.settle().await;
    assert_eq!(second.now_or_never().unwrap().unwrap()[0].seq, 2);
    stage.settle().await;
    let card = serde_json::to_value(asked.await.unwrap().unwrap()).unwrap();
    assert_eq!(card["agent_state"]["state"], "idle", "{card:#}");
}

/// A refused event leaves no trace: not even the time that it would have been stamped with.
#[tokio::test]
async fn a_clock_that_was_wrong_only_while_the_disk_was_full_changes_nothing() {
    static NOW: AtomicI64 = AtomicI64::new(0);
    let stage = Stage::with_clock(|| Timestamp::from_millis(NOW.load(Ordering::Relaxed)));
    stage.switch.inject(Fault::DiskFull, 1);
    stage.permits.add_permits(100);
    NOW.store(2_000_000_000_000, Ordering::Relaxed);
    assert!(stage.engine.append(vec![hook("a", "UserPromptSubmit")]).await.is_err());
    NOW.store(1_900_000_000_000, Ordering::Relaxed);
    stage.engine.append(vec![hook("a", "UserPromptSubmit")]).await.unwrap();
    let event = stage.store.event(1).await.unwrap().unwrap();
    assert_eq!(event.received_at.as_millis(), 1_900_000_000_000);
    assert!(!event.envelope.clock_back);
}

#[tokio::test]
async fn a_batch_that_fails_does_not_affect_the_next_one() {
    let stage = Stage::new();
    stage.switch.inject(Fault::DiskFull, 1);
    let mut first = pin!(stage.engine.append(vec![hook("a", "UserPromptSubmit")]));
    assert!(first.as_mut().now_or_never().is_none());
    stage.settle().await;
    let mut second = pin!(stage.engine.append(vec![hook("b", "UserPromptSubmit")]));
    assert!(second.as_mut().now_or_never().is_none());
    stage.permits.add_permits(100);
    assert!(first.await.is_err());
    assert_eq!(second.await.unwrap()[0].seq, 1);
    assert!(stage.engine.card(&"a".into()).await.unwrap().is_none());
    assert!(stage.engine.card(&"b".into()).await.unwrap().is_some());
    assert_eq!(stage.store.last_seq().await.unwrap(), 1);
}

/// A session that is resumed at the very moment it leaves. All tasks run on one thread, so no task reads the clock in
/// between: the engine sleeps while the clock is set, and takes an event before a timer.
struct Resumed {
    stage: Stage,
    viewer: Subscription,
}

impl Resumed {
    /// Ends a session and resumes it after this time. The event that resumes it is the first to show the engine the new time.
    async fn after(time: Millis) -> Self {
        thread_local!(static NOW: Cell<i64> = const { Cell::new(0) });
        NOW.set(2_000_000_000_000);
        let stage = Stage::with_clock(|| Timestamp::from_millis(NOW.get()));
        stage.permits.add_permits(100);
        let viewer = stage.engine.subscribe(SubscribeFrom::Now).await.unwrap();
        let resumed = Self { stage, viewer };
        resumed.hear("SessionStart", ("source", "startup")).await;
        resumed.hear("SessionEnd", ("reason", "other")).await;
        NOW.set(NOW.get() + time.0);
        resumed.hear("SessionStart", ("source", "resume")).await;
        resumed
    }

    /// Returns once the event is stored and applied, the viewers are told and the engine sleeps again.
    async fn hear(&self, name: &str, saying: (&str, &str)) {
        self.stage.engine.append(vec![hook_saying("a", name, saying)]).await.unwrap();
        self.stage.settle().await;
    }

    /// The changes of cards that the viewer got since the last call, each with the status of its card.
    fn seen(&mut self) -> Vec<String> {
        let changes = std::iter::from_fn(|| self.viewer.next.try_recv().ok());
        let lines =
            changes.map(|change| serde_json::from_slice::<serde_json::Value>(&change.line()).unwrap());
        let of_cards = lines.filter(|line| line["event"] != "assignment_updated");
        let words = of_cards.map(|line| {
            [&line["event"], &line["data"]["session"]["status"]["kind"]]
                .map(|w| w.as_str().unwrap().to_owned())
        });
        words.map(|words| words.join(" ")).collect()
    }
}

#[tokio::test]
async fn a_session_resumed_after_it_should_have_left_is_on_the_board() {
    let resumed = Resumed::after(Millis::minutes(31)).await;
    let board = resumed.stage.engine.board().await.unwrap();
    let board: serde_json::Value = serde_json::from_slice(&board).unwrap();
    let ids: Vec<_> = board["sessions"].as_array().unwrap().iter().map(|card| &card["id"]).collect();
    assert_eq!(ids, ["a"], "{board}");
}

#[tokio::test]
async fn a_viewer_does_not_hear_that_a_resumed_session_left() {
    for time in [Millis::seconds(11), Millis::minutes(31)] {
        let mut resumed = Resumed::after(time).await;
        let told = ["session_discovered idle", "session_updated ended", "session_updated idle"];
        assert_eq!(resumed.seen(), told);
        resumed.hear("UserPromptSubmit", ("prompt", "go on")).await;
        assert_eq!(resumed.seen(), ["session_updated working"]);
    }
}

fn effort_change(id: &str, change: EffortChange) -> Record {
    let (name, payload) = change.into_record().unwrap();
    let subject = Subject::Effort(EffortId::new(format!("e-{id}")));
    Record::noticed_here(Source::User, &name, subject, payload, clock::fresh_id())
}

/// An effort in `/w/api`, and the records that begin it.
fn effort_started() -> Record {
    let id = clock::fresh_id();
    let opening = json!({"workstream": "/w/api", "skill": "fix"});
    let started = EffortChange::EffortStarted(serde_json::from_value(opening).unwrap());
    Record { id, ..effort_change(&id.to_string(), started) }
}

#[tokio::test]
async fn an_effort_that_changes_often_in_one_batch_is_written_once() {
    let stage = Stage::new();
    stage.permits.add_permits(100);
    let mut viewer = stage.engine.subscribe(SubscribeFrom::Now).await.unwrap();
    let started = effort_started();
    let said = |text: &str| {
        let change = EffortChange::MessageAppended { kind: "note".into(), text: text.into() };
        effort_change(&started.id.to_string(), change)
    };
    let batch = vec![started.clone(), said("one"), said("two"), said("three")];
    stage.engine.append(batch).await.unwrap();
    stage.settle().await;
    let changes = std::iter::from_fn(|| viewer.next.try_recv().ok());
    let lines = changes.map(|change| serde_json::from_slice::<serde_json::Value>(&change.line()).unwrap());
    let efforts: Vec<_> = lines.filter(|line| line["event"] == "effort_updated").collect();
    assert_eq!(efforts.len(), 1, "{efforts:?}");
    assert_eq!(efforts[0]["data"]["effort"]["timeline"].as_array().unwrap().len(), 3, "{efforts:?}");
    let id = EffortId::new(format!("e-{}", started.id));
    assert_eq!(stage.store.effort(&id).await.unwrap().unwrap().messages.len(), 3);
}

/// The call begins a window, so the row of the effort must be written. The client does not wait for that.
#[tokio::test]
async fn a_verdict_waits_for_the_event_of_its_hook_and_not_for_rows() {
    let stage = Stage::new();
    stage.permits.add_permits(100);
    stage.engine.append(vec![effort_started()]).await.unwrap();
    stage.settle().await;
    stage.permits.forget_permits(stage.permits.available_permits());
    let call = hook_saying("a", "PreToolUse", ("tool_use_id", "t1"));
    let question = flightdeck_core::log::hook_question::hook_question(&call, "flightdeck").unwrap();
    let mut stored = pin!(stage.engine.append_and_judge(call, question));
    assert!(stored.as_mut().now_or_never().is_none());
    let mut other = pin!(stage.engine.append(vec![hook("b", "UserPromptSubmit")]));
    assert!(other.as_mut().now_or_never().is_none());
    // The store executes one command: the transaction with both events.
    stage.permits.add_permits(1);
    stage.settle().await;
    let (appended, verdict) = stored.await.unwrap();
    assert_eq!(appended.len(), 1);
    // Already given: nothing else is waited for.
    let judged = verdict.given().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(judged.call.heartbeat, 1);
    assert!(other.await.is_ok());
}

/// An effort whose rule allows one call in each window, and denies the next one by the heartbeat.
async fn stage_with_an_allow_once() -> Stage {
    let stage = Stage::new();
    stage.permits.add_permits(100);
    let started = effort_started();
    let rule = json!({"id": "first", "then": "allow", "once": true,
        "when": {"field": "/tool_use_id", "op": "exists"}});
    let change = EffortChange::GuardSet { rule: serde_json::from_value(rule).unwrap() };
    let set = effort_change(&started.id.to_string(), change);
    stage.engine.append(vec![started, set]).await.unwrap();
    stage.settle().await;
    stage
}

fn call_and_question(session: &str) -> (Record, HookQuestion) {
    let call = hook_saying(session, "PreToolUse", ("tool_use_id", "t1"));
    let question = flightdeck_core::log::hook_question::hook_question(&call, "flightdeck").unwrap();
    (call, question)
}

#[tokio::test]
async fn a_verdict_that_uses_up_a_rule_does_not_wait_for_rows_either() {
    let stage = stage_with_an_allow_once().await;
    stage.permits.forget_permits(stage.permits.available_permits());
    let (call, question) = call_and_question("a");
    let mut stored = pin!(stage.engine.append_and_judge(call, question));
    assert!(stored.as_mut().now_or_never().is_none());
    // One transaction with the call, and one with the use of the rule. No row is written.
    stage.permits.add_permits(2);
    stage.settle().await;
    let (_, verdict) = stored.await.unwrap();
    let judged = verdict.given().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(judged.call.fired_rules, ["first"]);
}

#[tokio::test]
async fn a_hook_whose_event_is_refused_uses_up_no_rule() {
    let stage = stage_with_an_allow_once().await;
    stage.switch.inject(Fault::DiskFull, 1);
    let (call, question) = call_and_question("a");
    assert!(stage.engine.append_and_judge(call, question).await.is_err());
    stage.settle().await;
    let (call, question) = call_and_question("a");
    let (_, verdict) = stage.engine.append_and_judge(call, question).await.unwrap();
    let judged = verdict.given().await.unwrap().unwrap();
    assert_eq!(judged.call.fired_rules, ["first"]);
}
