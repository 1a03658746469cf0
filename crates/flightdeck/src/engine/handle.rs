//! What everyone else holds of the engine: a way to tell it something and to ask.

use bytes::Bytes;
use flightdeck_core::enrichment::Summary;
use flightdeck_core::fleet::Occupant;
use flightdeck_core::record::Record;
use flightdeck_core::time::Timestamp;
use tokio::sync::{mpsc, oneshot};

use super::Input;
use crate::asks::answer::Known;
use crate::changes::Subscription;
use crate::explain::Explanation;
use crate::fleet_overview::Overview;
use crate::store::Appended;

/// The store refused: nothing happened, send it again later (a hook spools it).
#[derive(Clone, Debug, thiserror::Error)]
#[error("the event could not be stored: {0}")]
pub struct NotStored(pub String);

/// A handle for everyone who has something to tell or ask.
#[derive(Clone, Debug)]
pub struct EngineHandle {
    pub(super) inputs: mpsc::Sender<Input>,
}

/// The engine is gone: the daemon is stopping.
#[derive(Debug, thiserror::Error)]
#[error("the daemon is stopping")]
pub struct Stopped;

impl EngineHandle {
    /// To whoever hears these, in place of an engine.
    #[cfg(test)]
    pub(crate) fn to(inputs: mpsc::Sender<Input>) -> Self {
        Self { inputs }
    }
    pub async fn append(&self, records: Vec<Record>) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::Events { records, reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    /// Empty if the fleet knew it already.
    pub async fn append_if_news(&self, record: Record) -> Result<Vec<Appended>, NotStored> {
        let answer = self.ask(|reply| Input::IfNews { record: Box::new(record), reply }).await;
        answer.unwrap_or_else(|e| Err(NotStored(e.to_string())))
    }
    pub async fn overview(&self) -> Result<Overview, Stopped> {
        self.ask(Input::Overview).await
    }
    pub async fn board(&self) -> Result<Bytes, Stopped> {
        self.ask(Input::Board).await
    }
    pub async fn everyone(&self) -> Result<(Bytes, Vec<Bytes>), Stopped> {
        self.ask(Input::Everyone).await
    }
    pub async fn card(&self, id: &str) -> Result<Option<Bytes>, Stopped> {
        self.ask(|reply| Input::Card { id: id.to_owned(), reply }).await
    }
    pub async fn explain(&self, id: &str) -> Result<Option<Explanation>, Stopped> {
        self.ask(|reply| Input::Explain { id: id.to_owned(), reply }).await
    }
    pub async fn history(&self, since: Timestamp) -> Result<Bytes, Stopped> {
        self.ask(|reply| Input::History { since, reply }).await
    }
    pub async fn subscribe(&self, last_event_id: Option<String>) -> Result<Subscription, Stopped> {
        self.ask(|reply| Input::Subscribe { last_event_id, reply }).await
    }
    /// Data for a card; nobody waits for an answer.
    pub async fn enrich(&self, id: &str, summary: Summary) -> Result<(), Stopped> {
        let input = Input::Enriched { id: id.to_owned(), summary: Box::new(summary) };
        self.inputs.send(input).await.map_err(|_| Stopped)
    }
    /// Who sits in which process.
    pub async fn occupants(&self) -> Result<Vec<Occupant>, Stopped> {
        self.ask(Input::Occupants).await
    }
    pub async fn find_ask(&self, id: &str) -> Result<Option<Known>, Stopped> {
        self.ask(|reply| Input::FindAsk { id: id.to_owned(), reply }).await
    }
    pub fn is_stopped(&self) -> bool {
        self.inputs.is_closed()
    }
    pub async fn stop(&self) {
        // Already stopped is as good as stopped.
        let _ = self.ask(Input::Stop).await;
    }
    async fn ask<T>(&self, input: impl FnOnce(oneshot::Sender<T>) -> Input) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(input(reply)).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}
