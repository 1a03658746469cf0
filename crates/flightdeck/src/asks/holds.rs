//! Hooks whose reply is held open while a person decides. A held hook costs a waiting task and a connection, no thread.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use flightdeck_core::ask::card::AskCard;
use flightdeck_core::ask::verdict::left_in_terminal;
use flightdeck_core::ask::{Gone, How, gone_record};
use flightdeck_core::record::Record;
use flightdeck_core::wire::hook_name::HookName;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::clock;
use crate::engine::EngineHandle;

/// Hooks held at once: half of the socket's connections, so that other hooks always find a way in.
pub const HOLDS_MAX: usize = 512;
/// A hold ends this long before the client would kill its hook: an earlier end means that the person refused.
pub const HOLD_ENDS_BEFORE: Duration = Duration::from_secs(5);

/// From an answer that stands in the log to its delivery, at the longest.
const LAST_WORD: Duration = Duration::from_secs(2);

/// What is held, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct HoldRules {
    /// The timeout of the handler, less [`HOLD_ENDS_BEFORE`].
    pub hold: Duration,
    /// In `claude -p` too, which shows no prompt of its own.
    pub print: bool,
    /// Elicitations too: the client's own dialog stays shut meanwhile.
    pub elicitation: bool,
    /// Requests of subagents too: the client shows its dialog for those only once the hook has ended.
    pub agents: bool,
}

impl HoldRules {
    /// What the terminal's own prompt stays usable beside, and nothing else.
    pub fn new(timeout_seconds: u32) -> Self {
        let hold = Duration::from_secs(timeout_seconds.into()).saturating_sub(HOLD_ENDS_BEFORE);
        Self { hold, print: false, elicitation: false, agents: false }
    }

    /// For a hook that says when the client is going to end it. One that does not say may be of an older version; but a
    /// form is then brought by a handler that the client does not wait for, until it has read its settings anew.
    #[must_use]
    pub fn until_timeout(self, seconds: Option<u32>) -> Self {
        match seconds {
            Some(seconds) => Self { hold: Self::new(seconds).hold, ..self },
            None => Self { elicitation: false, ..self },
        }
    }

    pub fn wants(&self, record: &Record) -> bool {
        let kind = match HookName::parse(&record.name) {
            Some(HookName::PermissionRequest) => true,
            Some(HookName::Elicitation) => self.elicitation,
            _ => false,
        };
        let print = record.envelope.entrypoint.as_deref() == Some("sdk-cli");
        let agent = record.agent_id.is_some();
        kind && (self.print || !print) && (self.agents || !agent) && !self.hold.is_zero()
    }
}

#[derive(Debug, Default)]
pub struct Holds {
    waiting: Mutex<HashMap<String, oneshot::Sender<Bytes>>>,
    /// The daemon ends: hooks that go now were not refused by anybody.
    closed: AtomicBool,
}

impl Holds {
    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Bytes>>> {
        // Nothing in here panics; if it did, the map would still be whole.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before the event is appended, so that an answer cannot come too early. `None` where it is not to be held.
    pub fn open(
        self: &Arc<Self>,
        record: &mut Record,
        rules: &HoldRules,
        engine: &EngineHandle,
    ) -> Option<Held> {
        if !rules.wants(record) || self.closed.load(Ordering::Relaxed) {
            return None;
        }
        let ask_id = record.id.to_string();
        let mut waiting = self.waiting();
        // The same event by two ways is held once.
        if waiting.len() >= HOLDS_MAX || waiting.contains_key(&ask_id) {
            return None;
        }
        let (sender, verdict) = oneshot::channel();
        waiting.insert(ask_id.clone(), sender);
        record.envelope.hold_ms = u32::try_from(rules.hold.as_millis()).ok();
        Some(Held {
            ask_id,
            session_id: record.session_id.clone(),
            verdict: Some(verdict),
            until: Instant::now() + rules.hold,
            gone: Some(Gone::Closed),
            holds: Arc::clone(self),
            engine: engine.clone(),
        })
    }

    /// Says whether a hook was there to take it.
    pub fn deliver(&self, ask_id: &str, verdict: Bytes) -> bool {
        self.waiting().remove(ask_id).is_some_and(|hook| hook.send(verdict).is_ok())
    }

    /// The ask ended elsewhere: its hook goes home, without a verdict unless the client would ask again.
    pub fn ended_elsewhere(&self, ask: &AskCard) {
        let refused = ask.resolution.as_ref().is_some_and(|r| r.how == How::RefusedInTerminal);
        match left_in_terminal(ask.kind).filter(|_| refused) {
            // Gone as well is as good.
            Some(verdict) => drop(self.deliver(&ask.id, Bytes::from(verdict.to_string()))),
            None => self.release(&ask.id),
        }
    }

    pub fn ask_ids(&self) -> Vec<String> {
        self.waiting().keys().cloned().collect()
    }

    /// Nobody waits for it: its hook goes home without a verdict.
    pub fn release(&self, ask_id: &str) {
        drop(self.waiting().remove(ask_id));
    }

    /// The daemon ends: every hook goes home, and the next daemon says so in the log.
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

/// One hook that waits. Dropped before it has its answer, the client has ended it: the person refused in the terminal.
#[derive(Debug)]
pub struct Held {
    ask_id: String,
    session_id: String,
    verdict: Option<oneshot::Receiver<Bytes>>,
    until: Instant,
    /// What its end means; `None` once it ended well.
    gone: Option<Gone>,
    holds: Arc<Holds>,
    engine: EngineHandle,
}

impl Held {
    pub fn ask_id(&self) -> &str {
        &self.ask_id
    }

    pub fn hold_ms(&self) -> u64 {
        u64::try_from(self.until.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX)
    }

    /// The verdict, or `None` where the ask ended elsewhere or in time.
    pub async fn verdict(&mut self) -> Option<Bytes> {
        let mut verdict = self.verdict.take()?;
        match tokio::time::timeout_at(self.until, &mut verdict).await {
            Ok(answer) => {
                self.gone = None;
                answer.ok()
            }
            Err(_) => {
                self.gone = None;
                self.tell(Gone::TimedOut).await;
                // An answer may have been first all the same, and is then on its way. Nobody waits where none was: a
                // hold that ended in time is released.
                tokio::time::timeout(LAST_WORD, &mut verdict).await.ok()?.ok()
            }
        }
    }

    /// The event was not stored, or was known already: nobody waits.
    pub fn forget(mut self) {
        self.gone = None;
    }

    /// The hook left before it heard that it is held: it did not mean to refuse.
    pub fn hook_left_early(mut self) {
        self.gone = Some(Gone::Released);
    }

    async fn tell(&self, why: Gone) {
        let record = gone_record(&self.session_id, &self.ask_id, why, clock::fresh_id());
        if let Err(error) = self.engine.append(vec![record]).await {
            tracing::error!(%error, ask = self.ask_id, "the end of a hold could not be stored");
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.holds.release(&self.ask_id);
        let Some(why) = self.gone.take().filter(|_| !self.holds.closed.load(Ordering::Relaxed)) else {
            return;
        };
        let record = gone_record(&self.session_id, &self.ask_id, why, clock::fresh_id());
        let (engine, ask) = (self.engine.clone(), self.ask_id.clone());
        // Without a runtime the process is ending.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = engine.append(vec![record]).await {
                    tracing::error!(%error, ask, "the end of a hold could not be stored");
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use flightdeck_core::record::{EventId, Source};
    use serde_json::Map;
    use tokio::sync::mpsc;

    use super::*;
    use crate::engine::Input;

    /// A hold whose time is up, and what the engine hears of it.
    async fn at_the_deadline(holds: &Arc<Holds>) -> (String, tokio::task::JoinHandle<Option<Bytes>>) {
        let (inputs, mut heard) = mpsc::channel(4);
        let mut record = Record::ours(Source::Hook, "PermissionRequest", "s", Map::new(), EventId(1));
        let mut held = holds.open(&mut record, &HoldRules::new(60), &EngineHandle::to(inputs)).unwrap();
        let ask_id = held.ask_id().to_owned();
        let verdict = tokio::spawn(async move { held.verdict().await });
        let Some(Input::Events { reply, .. }) = heard.recv().await else { panic!("nothing was told") };
        reply.send(Ok(Vec::new())).unwrap();
        (ask_id, verdict)
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_was_first_at_the_deadline_still_arrives() {
        let holds = Arc::new(Holds::default());
        let (ask_id, verdict) = at_the_deadline(&holds).await;
        // Its answer stands in the log already; only the way to the hook takes a moment.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(holds.deliver(&ask_id, Bytes::from_static(b"yes")));
        assert_eq!(verdict.await.unwrap().as_deref(), Some(&b"yes"[..]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_hold_that_ended_in_time_waits_no_longer() {
        let holds = Arc::new(Holds::default());
        let (ask_id, verdict) = at_the_deadline(&holds).await;
        let released = Instant::now();
        holds.release(&ask_id);
        assert_eq!(verdict.await.unwrap(), None);
        assert_eq!(released.elapsed(), Duration::ZERO);
        assert!(holds.is_empty());
    }
}
