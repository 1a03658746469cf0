//! What was sent to each target and what could not be delivered, for `flightdeck status`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flightdeck_core::time::Timestamp;
use flightdeck_protocol::notify::{NotifyTargetStatus, Undelivered};

use super::settings::NotifySettings;

#[derive(Debug, Default)]
pub(super) struct DeliveryLog(Mutex<BTreeMap<String, DeliveryCounts>>);

#[derive(Debug, Default)]
struct DeliveryCounts {
    sent: u64,
    undelivered: u64,
    last: Option<Undelivered>,
}

impl DeliveryLog {
    pub(super) fn sent(&self, target: &str) {
        self.counts().entry(target.to_owned()).or_default().sent += 1;
    }

    pub(super) fn undelivered(&self, target: &str, at: Timestamp, title: &str, error: String) {
        let mut counts = self.counts();
        let target = counts.entry(target.to_owned()).or_default();
        target.undelivered += 1;
        target.last = Some(Undelivered { at, title: title.to_owned(), error });
    }

    /// One entry for each target, in the order of the settings.
    pub(super) fn status(&self, settings: &NotifySettings) -> Vec<NotifyTargetStatus> {
        let counts = self.counts();
        let status = |target: &super::settings::TargetSettings| {
            let counts = counts.get(&target.name);
            NotifyTargetStatus {
                name: target.name.clone(),
                kind: target.kind.name().to_owned(),
                sent: counts.map_or(0, |c| c.sent),
                undelivered: counts.map_or(0, |c| c.undelivered),
                last_undelivered: counts.and_then(|c| c.last.clone()),
            }
        };
        settings.targets.iter().map(status).collect()
    }

    /// No code leaves the map half changed, so a poisoned lock can be used.
    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, DeliveryCounts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
