//! Applies changed rules while the daemon runs. The log is replayed with the new rules, as a restart does, and the resulting fleet
//! replaces the old one.

use std::collections::BTreeMap;
use std::sync::Arc;

use flightdeck_core::approval::card::AskCard;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::ids::AskId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::usage::price::PriceTable;
use flightdeck_protocol::changes::ChangeName;
use tokio::sync::oneshot;

use super::{Engine, Outbox, effects, restore};
use crate::store::{Store, StoreError};

/// Tells the sender whether the engine took over a fleet.
pub type TakeOverReply = oneshot::Sender<Result<(), StoreError>>;

/// The log folded with other rules.
#[derive(Debug)]
pub struct Refolded {
    fleet: Fleet,
    prices: Arc<PriceTable>,
    /// The rows of sessions that left the board during the replay. The engine stores them.
    past: Outbox,
}

impl Refolded {
    /// Replays the log beside the engine, which applies new events with the old rules meanwhile.
    pub async fn from_log(
        store: &Store,
        settings: FoldSettings,
        prices: Arc<PriceTable>,
    ) -> Result<Self, StoreError> {
        let (fleet, _) = restore::newest_snapshot_or_empty(store, settings).await?;
        let mut refolded = Self { fleet, prices, past: Outbox::default() };
        refolded.catch_up(store).await?;
        Ok(refolded)
    }

    /// Applies the events that were stored since.
    async fn catch_up(&mut self, store: &Store) -> Result<(), StoreError> {
        let mut pages = store.replay(self.fleet.last_seq()).await?;
        while let Some(page) = pages.next().await? {
            // The notes of these events were sent already.
            let _ = restore::apply_page(store, &self.prices, &mut self.fleet, &mut self.past, &page).await?;
        }
        Ok(())
    }

    async fn run_timers(&mut self, store: &Store, now: Timestamp) -> Result<(), StoreError> {
        let caused = effects::tick(&mut self.fleet, now);
        restore::queue_past_sessions(store, &self.prices, &self.fleet, &mut self.past, caused).await
    }
}

impl Engine {
    /// Replaces the fleet by the fleet of the new rules. If the store fails, the old fleet stays. Every stored event must be applied
    /// before.
    pub(super) async fn take_over(&mut self, mut refolded: Refolded) -> Result<(), StoreError> {
        refolded.catch_up(&self.store).await?;
        let now = self.clock.now(self.fleet.now());
        refolded.run_timers(&self.store, now).await?;
        let Refolded { mut fleet, past, .. } = refolded;
        // The rules of notifications are not part of a refold; they are set when they change.
        fleet.set_notify_rules(self.fleet.settings().notify.clone());
        let old = std::mem::replace(&mut self.fleet, fleet);
        self.fleet.take_host_terms(&old);
        self.carry_over_numbers(&old);
        self.send_other_sessions(&old);
        self.send_other_asks(&old);
        if self.watched {
            self.write_changed_cards();
        }
        self.outbox.absorb(past);
        self.outbox.flush_if_due(&self.store).await;
        self.housekeeping.fleet_replaced();
        Ok(())
    }

    /// The numbers of transcripts are in no event; after a restart they are loaded again.
    fn carry_over_numbers(&mut self, old: &Fleet) {
        for session in old.sessions() {
            if let Some(summary) = &session.enrichment {
                // Every card is written again.
                let _ = self.fleet.enrich(&session.id, (**summary).clone());
            }
        }
    }

    fn send_other_sessions(&mut self, old: &Fleet) {
        self.panes.all_changed();
        for gone in old.sessions().filter(|session| self.fleet.get(&session.id).is_none()) {
            self.unwritten.remove(&gone.id);
            self.changes.remove(&gone.id);
            self.transcripts.forget(&gone.id);
        }
        for session in self.fleet.sessions() {
            self.unwritten.insert(session.id.clone());
            if old.get(&session.id).is_none() {
                self.transcripts.touched(session);
            }
        }
    }

    /// Sends the requests that differ. If the new rules no longer show a request, its hook is released.
    fn send_other_asks(&mut self, old: &Fleet) {
        let (before, after) = (open_asks(old), open_asks(&self.fleet));
        for (id, ask) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
            self.holds.release(id);
            self.changes.send_ask(ChangeName::AskClosed, ask);
        }
        for (_, ask) in after.iter().filter(|(id, _)| !before.contains_key(*id)) {
            self.changes.send_ask(ChangeName::AskOpened, ask);
        }
    }
}

fn open_asks(fleet: &Fleet) -> BTreeMap<AskId, AskCard> {
    let asks = fleet.sessions().flat_map(|session| session.open_asks().map(move |ask| (session, ask)));
    asks.map(|(session, ask)| (ask.id.clone(), AskCard::new(&session.id, ask))).collect()
}
