//! Hooks whose reply is held open while a person decides. A held hook costs a waiting task and a connection, no thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use flightdeck_core::approval::card::AskCard;
use flightdeck_core::approval::resolution::{AskOutcome, HoldEnd};
use flightdeck_core::approval::verdict::left_in_terminal;
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::log::approvals::hold_ended_record;
use flightdeck_core::log::hold_rules::{HOLDS_MAX, HoldRules};
use flightdeck_core::log::record::Record;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::clock;
use crate::engine::{EngineHandle, HookHolds};

/// Longest time from an answer in the log to the delivery of its verdict.
const DELIVERY_MAX: Duration = Duration::from_secs(2);

/// The held hooks, by the id of their ask.
#[derive(Debug, Default)]
pub struct HeldHooks {
    waiting: Mutex<HashMap<AskId, oneshot::Sender<Bytes>>>,
    /// True once the daemon stops. A hook that disconnects after that was not refused in the terminal.
    closed: AtomicBool,
}

impl HeldHooks {
    fn waiting(&self) -> MutexGuard<'_, HashMap<AskId, oneshot::Sender<Bytes>>> {
        // No code panics while it holds the lock; if it did, the map would still be whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a hold for the hook of this record. Must be called before the record is appended, so that an answer cannot arrive
    /// before the hold. `None` if the rules do not want the hook held.
    pub fn open(
        self: &Arc<Self>,
        record: &mut Record,
        rules: &HoldRules,
        engine: &EngineHandle,
    ) -> Option<HookHold> {
        if !rules.holds_hook_of(record) || self.closed.load(Ordering::Relaxed) {
            return None;
        }
        let session_id = record.session_id()?.clone();
        let ask_id = AskId::from(record.id);
        let mut waiting = self.waiting();
        // A hook that is sent twice is held once.
        if waiting.len() >= HOLDS_MAX || waiting.contains_key(&ask_id) {
            return None;
        }
        let (sender, verdict) = oneshot::channel();
        waiting.insert(ask_id.clone(), sender);
        record.envelope.hold_ms = u32::try_from(rules.hold.as_millis()).ok();
        Some(HookHold {
            ask_id,
            session_id,
            verdict: Some(verdict),
            until: Instant::now() + rules.hold,
            end_if_dropped: Some(HoldEnd::Closed),
            holds: Arc::clone(self),
            engine: engine.clone(),
        })
    }

    /// True if a hook was waiting for the verdict.
    pub fn deliver(&self, ask_id: &AskId, verdict: Bytes) -> bool {
        self.waiting().remove(ask_id).is_some_and(|hook| hook.send(verdict).is_ok())
    }

    pub fn ask_ids(&self) -> Vec<AskId> {
        self.waiting().keys().cloned().collect()
    }

    /// The daemon is stopping: every hook ends without a verdict. The next daemon records that in the log.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.waiting().clear();
    }

    pub fn len(&self) -> usize {
        self.waiting().len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl HookHolds for HeldHooks {
    fn ended_elsewhere(&self, ask: &AskCard) {
        let refused = ask.resolution.as_ref().is_some_and(|r| r.how == AskOutcome::RefusedInTerminal);
        match left_in_terminal(ask.kind).filter(|_| refused) {
            // If the hook is gone, it needs no verdict.
            Some(verdict) => drop(self.deliver(&ask.id, Bytes::from(verdict.to_string()))),
            None => self.release(&ask.id),
        }
    }

    fn release(&self, ask_id: &AskId) {
        drop(self.waiting().remove(ask_id));
    }
}

/// One held hook. If it is dropped before it has a verdict, the client has ended the hook: the person refused in the
/// terminal.
#[derive(Debug)]
pub struct HookHold {
    ask_id: AskId,
    session_id: SessionId,
    verdict: Option<oneshot::Receiver<Bytes>>,
    until: Instant,
    /// The end that is appended to the log if the hold is dropped now. `None` once it ended in another way.
    end_if_dropped: Option<HoldEnd>,
    holds: Arc<HeldHooks>,
    engine: EngineHandle,
}

impl HookHold {
    pub fn ask_id(&self) -> &AskId {
        &self.ask_id
    }

    pub fn hold_ms(&self) -> u64 {
        u64::try_from(self.until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX)
    }

    /// Waits for the verdict. `None` if the ask ended elsewhere or the hold timed out.
    pub async fn verdict(&mut self) -> Option<Bytes> {
        let mut verdict = self.verdict.take()?;
        match tokio::time::timeout_at(self.until, &mut verdict).await {
            Ok(answer) => {
                self.end_if_dropped = None;
                answer.ok()
            }
            Err(_) => {
                self.end_if_dropped = None;
                self.report(HoldEnd::TimedOut).await;
                // An answer may have been appended before the timeout; then its verdict is about to be delivered. Otherwise
                // the engine releases the hold, and this returns at once.
                tokio::time::timeout(DELIVERY_MAX, &mut verdict).await.ok()?.ok()
            }
        }
    }

    /// Ends the hold without an event, because the record was not stored or is a duplicate.
    pub fn forget(mut self) {
        self.end_if_dropped = None;
    }

    /// The hook disconnected before it was told that it is held, so its end is not a refusal.
    pub fn hook_left_early(mut self) {
        self.end_if_dropped = Some(HoldEnd::Released);
    }

    async fn report(&self, why: HoldEnd) {
        let record = hold_ended_record(&self.session_id, &self.ask_id, why, clock::fresh_id());
        append_end(&self.engine, record, &self.ask_id).await;
    }
}

async fn append_end(engine: &EngineHandle, record: Record, ask: &AskId) {
    if let Err(error) = engine.append(vec![record]).await {
        tracing::error!(%error, %ask, "could not append the end of a hold; its ask stays open");
    }
}

impl Drop for HookHold {
    fn drop(&mut self) {
        self.holds.release(&self.ask_id);
        let Some(why) = self.end_if_dropped.take().filter(|_| !self.holds.closed.load(Ordering::Relaxed))
        else {
            return;
        };
        let record = hold_ended_record(&self.session_id, &self.ask_id, why, clock::fresh_id());
        let (engine, ask) = (self.engine.clone(), self.ask_id.clone());
        // Without a runtime the process is ending.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { append_end(&engine, record, &ask).await });
        }
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::log::record::{EventId, Source};
    use serde_json::Map;
    use tokio::sync::mpsc;

    use super::*;
    use crate::engine::Input;

    /// A hold that has just timed out and reported it to the engine.
    async fn at_the_deadline(holds: &Arc<HeldHooks>) -> (AskId, tokio::task::JoinHandle<Option<Bytes>>) {
        let (inputs, mut heard) = mpsc::channel(4);
        let mut record = Record::noticed_here(
            Source::Hook,
            "PermissionRequest",
            SessionId::from("s"),
            Map::new(),
            EventId(1),
        );
        let mut hold =
            holds.open(&mut record, &HoldRules::new(60), &EngineHandle::with_inputs(inputs)).unwrap();
        let ask_id = hold.ask_id().clone();
        let verdict = tokio::spawn(async move { hold.verdict().await });
        let Some(Input::Events { reply, .. }) = heard.recv().await else { panic!("nothing was appended") };
        reply.send(Ok(Vec::new())).unwrap();
        (ask_id, verdict)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_first_at_the_deadline_still_arrives() {
        let holds = Arc::new(HeldHooks::default());
        let (ask_id, verdict) = at_the_deadline(&holds).await;
        // The answer is in the log already; only its delivery takes a moment.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(holds.deliver(&ask_id, Bytes::from_static(b"yes")));
        assert_eq!(verdict.await.unwrap().as_deref(), Some(&b"yes"[..]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_that_timed_out_returns_as_soon_as_it_is_released() {
        let holds = Arc::new(HeldHooks::default());
        let (ask_id, verdict) = at_the_deadline(&holds).await;
        let released = Instant::now();
        holds.release(&ask_id);
        assert_eq!(verdict.await.unwrap(), None);
        assert_eq!(released.elapsed(), Duration::ZERO);
        assert!(holds.is_empty());
    }
}
