//! Bugs that are planted on request. A simulation that does not find them would not find a real one either.
//!
//! The daemon under test is the real one. Each bug is in a task between the daemon's inputs and its engine, or in the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use flightdeck_core::effort::{EffortChange, HookQuestion, Judged};
use flightdeck_core::log::record::{EventId, Record, Source};
use tokio::sync::{mpsc, oneshot};

use super::world::World;
use crate::clock;
use crate::engine::{AckSender, EngineHandle, INPUTS_WAITING_MAX, Input, NotStored};
use crate::ingest::spool;
use crate::store::{Appended, Store};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bug {
    AcknowledgedBeforeAppend,
    AppliedBeforeCommit,
    SpoolRemovedBeforeCommit,
    /// A resend is recognised and acknowledged, and yet stored again, as another event.
    ResendStoredAgain,
    /// A verdict is recorded as given before the hook has it.
    VerdictNotedTooEarly,
    /// The relay task runs without a bug: no check may fail.
    RelayOnly,
}

impl Bug {
    pub(super) const ALL: [Self; 5] = [
        Self::AcknowledgedBeforeAppend,
        Self::AppliedBeforeCommit,
        Self::SpoolRemovedBeforeCommit,
        Self::ResendStoredAgain,
        Self::VerdictNotedTooEarly,
    ];

    /// Part of the sentence with which the simulation must fail.
    pub(super) fn is_found_by(self) -> &'static str {
        match self {
            Self::AcknowledgedBeforeAppend => "was acknowledged as",
            Self::AppliedBeforeCommit => "holds events that were never stored",
            Self::SpoolRemovedBeforeCommit => "was spooled and is lost",
            Self::ResendStoredAgain => "the heartbeat is",
            Self::VerdictNotedTooEarly => "injected-",
            Self::RelayOnly => "",
        }
    }
}

/// The bug of one simulation. It outlives each daemon in it.
#[derive(Debug)]
pub(super) struct Planted {
    bug: Bug,
    /// The `seq` of each stored event: a resend alone must not reveal the bug.
    places: Mutex<BTreeMap<EventId, u64>>,
}

impl Planted {
    pub(super) fn new(bug: Bug) -> Self {
        Self { bug, places: Mutex::default() }
    }

    pub(super) fn disk_lies(&self) -> bool {
        self.bug == Bug::AppliedBeforeCommit
    }

    /// The `seq` that each record gets if nothing goes wrong.
    fn guess(&self, after: u64, records: &[Record]) -> Vec<Appended> {
        let (mut last, mut known) = (after, self.places.lock().unwrap().clone());
        let place = |record: &Record| {
            if let Some(seq) = known.get(&record.id) {
                return Appended { seq: *seq, duplicate: true };
            }
            last += 1;
            known.insert(record.id, last);
            Appended { seq: last, duplicate: false }
        };
        records.iter().map(place).collect()
    }

    fn note(&self, ids: &[EventId], appended: &[Appended]) {
        let places = ids.iter().zip(appended).map(|(id, place)| (*id, place.seq));
        self.places.lock().unwrap().extend(places);
    }
}

/// A handle whose events go through the bug, and the work that passes them on to the engine.
pub(super) fn relay_with_bug(
    world: World,
    engine: EngineHandle,
    store: Store,
) -> (EngineHandle, impl Future<Output = ()>) {
    let (sender, mut inputs) = mpsc::channel(INPUTS_WAITING_MAX);
    let handle = engine.redirected_to(sender);
    let work = async move {
        while let Some(input) = inputs.recv().await {
            match (input, &world.planted) {
                (Input::Events { records, reply }, Some(planted)) => {
                    pass_on(planted, &world, &engine, &store, records, reply).await;
                }
                (Input::Judge { question, reply }, Some(planted))
                    if planted.bug == Bug::VerdictNotedTooEarly =>
                {
                    let judged = note_too_early(&engine, *question).await;
                    // A sender that has disconnected is handled as without the bug.
                    let _ = reply.send(judged);
                }
                (other, _) => drop(engine.send(other).await),
            }
        }
    };
    (handle, work)
}

async fn pass_on(
    planted: &Planted,
    world: &World,
    engine: &EngineHandle,
    store: &Store,
    records: Vec<Record>,
    reply: AckSender,
) {
    let ids: Vec<EventId> = records.iter().map(|record| record.id).collect();
    // A sender that has disconnected and an engine that has stopped are handled as without the bug.
    let mut reply = Some(reply);
    match planted.bug {
        Bug::AcknowledgedBeforeAppend => {
            let guessed = planted.guess(store.last_seq().await.unwrap_or_default(), &records);
            let _ = reply.take().map(|reply| reply.send(Ok(guessed)));
        }
        Bug::SpoolRemovedBeforeCommit => remove_too_early(world, &ids),
        Bug::AppliedBeforeCommit | Bug::ResendStoredAgain | Bug::VerdictNotedTooEarly | Bug::RelayOnly => {}
    }
    let copies = if planted.bug == Bug::ResendStoredAgain { records.clone() } else { Vec::new() };
    let (real, answer) = oneshot::channel();
    let _ = engine.send(Input::Events { records, reply: real }).await;
    let Ok(mut answer) = answer.await else { return };
    if planted.disk_lies() {
        answer = true_answer(world, &ids, answer);
    }
    if let Ok(appended) = &answer {
        planted.note(&ids, appended);
        store_resends_again(engine, copies, appended).await;
    }
    let _ = reply.map(|reply| reply.send(answer));
}

async fn store_resends_again(engine: &EngineHandle, copies: Vec<Record>, appended: &[Appended]) {
    let resent = copies.into_iter().zip(appended).filter(|(_, place)| place.duplicate);
    let again: Vec<Record> = resent.map(|(copy, _)| Record { id: clock::fresh_id(), ..copy }).collect();
    if !again.is_empty() {
        // If the disk fails here, the bug has no effect this time.
        let _ = engine.append(again).await;
    }
}

async fn note_too_early(engine: &EngineHandle, question: HookQuestion) -> Option<Judged> {
    let session = question.session_id.clone();
    let judged = engine.judge(question).await.ok().flatten()?;
    if judged.given.is_worth_noting()
        && let Some((name, payload)) = EffortChange::VerdictGiven(judged.given.clone()).into_record()
    {
        let record = Record::noticed_here(Source::User, &name, &session, payload, clock::fresh_id());
        // If the disk fails here, the bug has no effect this time.
        let _ = engine.append(vec![record]).await;
    }
    Some(judged)
}

/// The engine trusted the disk's promise and applied the events. The sender gets the real result.
fn true_answer(
    world: &World,
    ids: &[EventId],
    claimed: Result<Vec<Appended>, NotStored>,
) -> Result<Vec<Appended>, NotStored> {
    let places = world.switch.true_places(ids).ok_or_else(|| NotStored("the disk is full".to_owned()))?;
    let place = |(claimed, seq): (Appended, u64)| Appended { seq, ..claimed };
    Ok(claimed?.into_iter().zip(places).map(place).collect())
}

fn remove_too_early(world: &World, ids: &[EventId]) {
    let ids: BTreeSet<_> = ids.iter().collect();
    let mut files = spool::list(&world.spool()).unwrap();
    files.retain(|file| ids.contains(&EventId(file.id)));
    // If the file stays, it is drained twice, and the log reports that.
    let _ = spool::remove(&files);
}
