//! Efforts in the engine: changes that are checked before they are stored, verdicts, and rows for the store.

use std::collections::BTreeMap;

use flightdeck_core::effort::{EffortChange, HookQuestion, Judged};
use flightdeck_core::ids::EffortId;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::{Record, Source};
use flightdeck_core::view::card::context_of;
use flightdeck_core::view::effort::EffortCard;
use tokio::sync::oneshot;

use super::commit::Events;
use super::{EffortChangeReply, Engine, NotStored, VerdictSender, outbox};
use crate::clock;

impl Engine {
    /// Stores the changes of each request if all of them are possible after the requests before it. One transaction for each request.
    pub(super) async fn commit_effort_changes(&mut self, changes: Vec<(Vec<Record>, EffortChangeReply)>) {
        for (records, reply) in changes {
            let mut events = records.iter().map(Event::from_record);
            if let Err(refused) = events.try_for_each(|event| self.fleet.check_effort_change(&event)) {
                // The reply fails if the sender has disconnected. Nothing was changed for it.
                let _ = reply.send(Ok(Err(refused)));
                continue;
            }
            let (acknowledge, stored) = oneshot::channel();
            let mut events = Events::default();
            events.push(records, acknowledge);
            self.commit(events).await;
            let answer = match stored.await {
                Ok(Ok(appended)) => Ok(Ok(appended.last().map_or(0, |a| a.seq))),
                Ok(Err(error)) => Err(error),
                Err(_) => Err(NotStored("the engine stopped before it was stored".to_owned())),
            };
            // The reply fails if the sender has disconnected. The change stays stored.
            let _ = reply.send(answer);
        }
    }

    /// Adds to a hook's record how full the context of its session is. Only efforts use this.
    pub(super) fn note_context(&self, record: &mut Record) {
        let session =
            record.session_id().filter(|_| record.source == Source::Hook).and_then(|id| self.fleet.get(id));
        let percent = session.and_then(context_of).and_then(|context| context.percent);
        record.envelope.context_permille =
            percent.map(|percent| (percent * 10.0).round().clamp(0.0, 1000.0) as u16);
    }

    /// Publishes how many efforts are active. Without one, no hook waits for a verdict.
    pub(super) fn report_efforts(&self) {
        self.efforts_active.store(self.fleet.active_efforts(), std::sync::atomic::Ordering::Release);
    }

    /// Sends changed efforts to the viewers and stores their rows.
    pub(super) fn write_changed_efforts(&mut self, changed: BTreeMap<EffortId, u64>) {
        for (id, seq) in changed {
            self.unstored_efforts.remove(&id);
            if let Some(effort) = self.fleet.effort(&id) {
                self.outbox.add(outbox::effort_row(seq, effort));
                self.changes.send_effort(&EffortCard::new(effort, Some(&self.fleet)));
            }
        }
    }

    /// Called before a snapshot: once it is written, retention may remove the events from which the numbers of efforts were counted.
    pub(super) fn store_numbers_of_efforts(&mut self) {
        let seq = self.fleet.last_seq();
        for id in std::mem::take(&mut self.unstored_efforts) {
            let row = self.fleet.effort(&id).and_then(|effort| outbox::effort_row(seq, effort));
            self.outbox.add(row);
        }
    }

    pub(super) async fn answer_questions(&mut self, questions: Vec<(Box<HookQuestion>, VerdictSender)>) {
        for (question, reply) in questions {
            // A hook that gave up waiting has gone; what its verdict would have given waits for the next hook.
            let _ = reply.send(self.judge(&question).await);
        }
    }

    /// The verdict on a hook. If it uses up a guard rule, or leaves the message of one for a later hook, that is stored first: no other call
    /// can use the rule too, and no message is lost with the reply.
    async fn judge(&mut self, question: &HookQuestion) -> Option<Judged> {
        let mut judged = self.fleet.judge(question)?;
        let record = judged.before_reply.take().and_then(|used| {
            let (name, payload) = EffortChange::VerdictGiven(used).into_record()?;
            Some(Record::noticed_here(Source::User, &name, &question.session_id, payload, clock::fresh_id()))
        });
        if let Some(record) = record {
            let mut events = Events::default();
            // The acknowledgement of this event is not waited for. If the store fails, the call continues all the same.
            events.push(vec![record], oneshot::channel().0);
            self.commit_but_rows(events).await;
        }
        Some(judged)
    }
}
