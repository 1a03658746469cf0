//! Hook payloads and status lines, the same for HTTP and the socket.

use flightdeck_core::effort::HookQuestion;
use flightdeck_core::log::hold_rules::HoldRules;
use flightdeck_core::log::record::{EventId, Record, Verbatim};
use flightdeck_core::wire::hook::{HookDraft, rename_camel_case};
use flightdeck_core::wire::status_line;
use flightdeck_protocol::hooks::StatusLineReply;
use serde_json::{Map, Value};

use super::effort_verdicts::{AnsweredHook, EffortVerdict};
use super::holds::HookHold;
use super::supervisors::OrderedRestart;
use super::{App, AppError};
use crate::clock;

/// A hook payload as a transport received it.
#[derive(Debug)]
pub struct IncomingHook {
    pub draft: HookDraft,
    /// The payload's own bytes, if they can be stored as they are.
    pub verbatim: Verbatim,
    pub waits: HookWaits,
}

/// Whether, and how long, the sender of a hook waits for a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookWaits {
    No,
    /// As long as the configuration says.
    AsConfigured,
    /// Until the client ends the hook, which the draft says.
    UntilTimeout,
}

/// A hook whose event is stored.
#[derive(Debug)]
pub struct ReceivedHook {
    /// The position of the event in the log.
    pub seq: u64,
    pub outcome: HookOutcome,
}

/// What the hook gets in addition to the acknowledgement.
#[derive(Debug)]
pub enum HookOutcome {
    Nothing,
    /// The verdict of an effort, which does not wait for a person.
    Verdict(Box<EffortVerdict>),
    /// The client is ended and started again instead of compacting. The hook waits until the client is gone.
    Restart(OrderedRestart),
    /// The hook waits for the verdict of a person.
    Hold(HookHold),
}

/// An event that was stored, and what the effort of its session says to the hook.
#[derive(Debug, Default)]
pub(super) struct StoredHook {
    pub seq: u64,
    /// The event was in the log already.
    pub duplicate: bool,
    /// What the daemon had cached of the client's settings was dropped, so it is read again.
    pub invalidated: bool,
    pub answered: AnsweredHook,
}

impl App {
    /// Holds the hook if its event asks something, appends the event, and lets the policy answer.
    pub async fn receive_hook(&self, hook: IncomingHook) -> Result<ReceivedHook, AppError> {
        let IncomingHook { mut draft, mut verbatim, waits } = hook;
        // The payload gets other keys than the original bytes have, so the bytes cannot be stored for it.
        if rename_camel_case(&mut draft.payload) | draft.add_unknown_name() {
            verbatim = Verbatim::default();
        }
        let rules = self.hold_rules_for(waits, &draft);
        let hears_verdict = draft.hears_verdict();
        let record = draft.into_record(clock::fresh_id());
        let record = record.map_err(|error| AppError::Invalid(error.to_string()))?;
        let mut record = Record { verbatim, ..record };
        self.prepare_for_efforts(&mut record).await;
        let question = self.question(&record).filter(|_| hears_verdict);
        self.open_by_slash_command(&record);
        let compacts = self.auto_compaction(&record).await;
        let hold = rules.and_then(|rules| self.holds.open(&mut record, &rules, &self.engine));
        // Evaluated before the append, which consumes the record.
        let by_policy = hold.as_ref().and_then(|_| self.config.current().policy.answer(&record));
        let StoredHook { seq, duplicate, answered, .. } = match self.store_hook(record, question).await {
            Ok(stored) => stored,
            Err(error) => {
                hold.into_iter().for_each(HookHold::forget);
                return Err(error);
            }
        };
        let hold = match hold {
            Some(hold) if duplicate => {
                hold.forget();
                None
            }
            hold => hold,
        };
        if let (Some(hold), Some(answer)) = (&hold, by_policy) {
            self.answer_by_policy(hold.ask_id(), answer);
        }
        // If the client has no supervisor, it compacts as usual.
        let restart = compacts.and_then(|client| self.restart_instead_of_compaction(client));
        // No event has two of these outcomes: a person is asked about permissions, and an effort about calls.
        let outcome = match (answered.verdict, restart, hold) {
            (Some(verdict), ..) => HookOutcome::Verdict(Box::new(verdict)),
            (None, Some(restart), _) => HookOutcome::Restart(restart),
            (None, None, Some(hold)) => HookOutcome::Hold(hold),
            (None, None, None) => HookOutcome::Nothing,
        };
        Ok(ReceivedHook { seq, outcome })
    }

    /// Stores the event of a hook, and asks the effort of its session for a verdict. Hooks of every route end here.
    pub(super) async fn store_hook(
        &self,
        record: Record,
        question: Option<HookQuestion>,
    ) -> Result<StoredHook, AppError> {
        let config_change = Some(record.id).filter(|_| record.name == "ConfigChange");
        let (appended, answered) = match question {
            Some(question) => self.append_and_answer(record, question).await?,
            None => (self.engine.append(vec![record]).await?, AnsweredHook::default()),
        };
        let (seq, duplicate) = appended.first().map_or((0, false), |a| (a.seq, a.duplicate));
        let invalidated = match config_change {
            Some(event) if !duplicate => self.follow_config_change(event).await,
            _ => false,
        };
        Ok(StoredHook { seq, duplicate, invalidated, answered })
    }

    /// Drops what the daemon has cached of the client's settings: the registration and the real paths of directories. Skills are not cached.
    /// An event that comes by two routes does this once. Returns whether the path of a directory was dropped.
    async fn follow_config_change(&self, event: EventId) -> bool {
        let is_second =
            self.engine.read(move |fleet| fleet.applied_instead_of(event) != event).await.unwrap_or(false);
        if is_second {
            return false;
        }
        self.registrar.note_changed_settings();
        self.real_dirs.forget()
    }

    /// How long to hold the hook. `None` if its sender does not wait.
    fn hold_rules_for(&self, waits: HookWaits, draft: &HookDraft) -> Option<HoldRules> {
        match waits {
            HookWaits::No => None,
            HookWaits::AsConfigured => Some(self.hold_rules_now()),
            HookWaits::UntilTimeout => Some(self.hold_rules_now().until_timeout(draft.hold_timeout_s())),
        }
    }

    /// Appends a status line unless it says nothing new.
    pub async fn receive_status_line(
        &self,
        payload: &Map<String, Value>,
        env: Map<String, Value>,
    ) -> Result<StatusLineReply, AppError> {
        let record = status_line::status_line_draft(payload, env).into_record(clock::fresh_id());
        let record = record.map_err(|error| AppError::Invalid(error.to_string()))?;
        let appended = self.engine.append_unless_known(record).await?;
        Ok(StatusLineReply { seq: appended.first().map(|a| a.seq) })
    }
}
