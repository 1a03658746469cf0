//! Guard rules of an effort, and their dry run over recorded calls.

use std::collections::VecDeque;
use std::path::Path;

use flightdeck_core::effort::guard::{GuardAction, GuardRule};
use flightdeck_core::effort::guard_match::GuardFacts;
use flightdeck_core::effort::{Effort, EffortChange, HEARTBEAT_RULE};
use flightdeck_core::limits::TWINS_MAX;
use flightdeck_core::log::effort_facts::TwinKey;
use flightdeck_core::log::record::Record;
use flightdeck_core::log::tool::ToolUse;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::effort::EffortCard;
use flightdeck_core::wire::lenient::borrowed_text;
use flightdeck_protocol::efforts::*;

use super::guard_history::{CALL, GuardHistory, NAMES};
use super::{App, AppError, AppReply, Handle};
use crate::store::EventsNamed;

/// Newest events that a dry run reads: a week of a busy fleet. They are read in at least ten steps, and appends wait for one step only.
const HISTORY_EVENTS_MAX: u64 = 200_000;
/// Denied calls that a report lists. Its numbers count all of them.
const DENIED_LISTED_MAX: usize = 20;

impl Handle<ListGuards> for App {
    async fn handle(&self, request: ListGuards) -> Result<AppReply<GuardList>, AppError> {
        Ok(GuardList { guards: self.whole_effort(&request.effort).await?.guards }.into())
    }
}

impl Handle<SetGuard> for App {
    async fn handle(&self, request: SetGuard) -> Result<AppReply<EffortCard>, AppError> {
        if request.rule.id == HEARTBEAT_RULE {
            let why = "`id` may not be \"heartbeat\": denials by the heartbeat are counted under this name";
            return Err(AppError::Invalid(why.to_owned()));
        }
        Ok(self.change_effort(&request.effort, EffortChange::GuardSet { rule: request.rule }).await?.into())
    }
}

impl Handle<RemoveGuard> for App {
    async fn handle(&self, request: RemoveGuard) -> Result<AppReply<EffortCard>, AppError> {
        let change = EffortChange::GuardRemoved { rule_id: request.rule_id };
        Ok(self.change_effort(&request.effort, change).await?.into())
    }
}

impl Handle<TestGuards> for App {
    async fn handle(&self, request: TestGuards) -> Result<AppReply<GuardReport>, AppError> {
        let mut effort = self.whole_effort(&request.effort).await?;
        if let Some(rule) = request.rule {
            rule.validate().map_err(|error| AppError::Invalid(error.to_string()))?;
            effort.guards.retain(|known| known.id != rule.id);
            effort.guards.push(rule);
            effort.guards.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        }
        let last = self.store.last_seq().await?;
        let events = request.events.map_or(HISTORY_EVENTS_MAX, |events| events.min(HISTORY_EVENTS_MAX));
        let begin = last.saturating_sub(events);
        let mut test = GuardTest::new(&effort);
        let mut after = Some(begin);
        while let Some(after_seq) = after {
            let page = self.store.events_named(EventsNamed { names: NAMES, after_seq }).await?;
            // Events that arrive during the dry run are left out.
            after = page.next.filter(|next| *next < last);
            page.records.iter().for_each(|record| test.add(record));
        }
        let since = self.first_evaluated(begin).await?;
        Ok(GuardReport { since, ..test.report() }.into())
    }
}

impl App {
    /// When the event after `begin` fired. `None` if the log no longer reaches back to `begin`.
    async fn first_evaluated(&self, begin: u64) -> Result<Option<Timestamp>, AppError> {
        if self.store.oldest().await?.is_none_or(|oldest| oldest.seq > begin) {
            return Ok(None);
        }
        Ok(self.store.event(begin + 1).await?.map(|record| record.fired_at))
    }
}

/// Evaluates rules over recorded calls, with the phase, the heartbeat and the context window that each call had.
struct GuardTest<'a> {
    effort: &'a Effort,
    history: GuardHistory<'a>,
    /// The newest calls, to recognise a call that came both from our hook and through `hooks.*`.
    newest: VecDeque<TwinKey>,
    calls: u64,
    rows: Vec<GuardReportRow>,
    denied: Vec<DeniedCall>,
}

impl<'a> GuardTest<'a> {
    fn new(effort: &'a Effort) -> Self {
        let row = |rule: &GuardRule| GuardReportRow {
            rule: rule.id.clone(),
            then: rule.then.as_str().to_owned(),
            matched: 0,
            decided: 0,
        };
        Self {
            effort,
            history: GuardHistory::new(effort),
            newest: VecDeque::new(),
            calls: 0,
            rows: effort.guards.iter().map(row).collect(),
            denied: Vec::new(),
        }
    }

    fn add(&mut self, record: &Record) {
        if record.name != CALL {
            return self.history.follow(record);
        }
        let envelope = &record.envelope;
        let dir = envelope.real_dir.as_deref().or(envelope.project_dir.as_deref());
        let dir = dir.or_else(|| borrowed_text(&record.payload, "cwd"));
        if !dir.is_some_and(|dir| Path::new(dir).starts_with(&self.effort.workstream)) || envelope.exempt {
            return;
        }
        let Some(session_id) = record.session_id().filter(|_| !self.is_twin(record)) else { return };
        self.calls += 1;
        let heartbeat = self.history.count(record, session_id);
        let phase = self.history.phase().to_owned();
        let facts = GuardFacts {
            payload: &record.payload,
            heartbeat,
            context_percent: envelope.context_permille.map(|permille| f64::from(permille) / 10.0),
            phase: &phase,
            project: &self.effort.workstream,
        };
        // A call that the heartbeat denies uses up no rule that would allow it.
        let is_held = record.agent_id.is_none() && self.effort.holds_at(heartbeat);
        let mut decided = false;
        for (n, (rule, row)) in self.effort.guards.iter().zip(&mut self.rows).enumerate() {
            if !rule.when.holds(&facts) {
                continue;
            }
            row.matched += 1;
            let uses_up = rule.then != GuardAction::Allow || !is_held;
            let spent = rule.once && !decided && !self.history.may_fire(record, session_id, n, uses_up);
            if spent || decided || !matches!(rule.then, GuardAction::Allow | GuardAction::Deny) {
                continue;
            }
            decided = true;
            row.decided += 1;
            if rule.then == GuardAction::Deny {
                self.denied.push(denied(record, rule));
            }
        }
        let old = self.denied.len().saturating_sub(DENIED_LISTED_MAX);
        self.denied.drain(..old);
    }

    fn is_twin(&mut self, record: &Record) -> bool {
        let Some(key) = TwinKey::from_record(record).filter(|key| key.certain) else { return false };
        if self.newest.contains(&key) {
            return true;
        }
        self.newest.push_back(key);
        if self.newest.len() > TWINS_MAX {
            self.newest.pop_front();
        }
        false
    }

    fn report(mut self) -> GuardReport {
        self.denied.reverse();
        GuardReport { calls: self.calls, since: None, rules: self.rows, denied: self.denied }
    }
}

fn denied(record: &Record, rule: &GuardRule) -> DeniedCall {
    DeniedCall {
        at: record.fired_at,
        session_id: record.session_id().cloned().unwrap_or_default(),
        call: ToolUse::from_payload(&record.payload).label(),
        rule: rule.id.clone(),
    }
}
