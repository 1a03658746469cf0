//! Asks: one in full, and a person's answer. The answer is checked against the request in the log and appended like any
//! event; if it was the first, its sender delivers the verdict to the held hook.

use bytes::Bytes;
use flightdeck_core::approval::answer::Answer;
use flightdeck_core::approval::ask::{Ask, Asked};
use flightdeck_core::approval::card::{AskCard, ResolutionCard};
use flightdeck_core::approval::resolution::AskOutcome;
use flightdeck_core::approval::verdict::{check_sender, verdict};
use flightdeck_core::ids::{AskId, SessionId};
use flightdeck_core::log::approvals::answered_record;
use flightdeck_core::wire::clip;
use flightdeck_protocol::asks::{AnswerAsk, AskList, GetAsk, ListAsks, SentAnswer};

use super::{App, AppError, AppReply, AskError, Handle};
use crate::clock;
use crate::engine::{HookHolds, KnownAsk, Stopped};

impl Handle<GetAsk> for App {
    async fn handle(&self, request: GetAsk) -> Result<AppReply<AskCard>, AppError> {
        Ok(self.ask_card(&request.ask_id).await?.into())
    }
}

impl Handle<ListAsks> for App {
    async fn handle(&self, request: ListAsks) -> Result<AppReply<AskList>, AppError> {
        let card = self.card(&request.session_id).await?;
        Ok(AskList { asks: card.asks }.into())
    }
}

impl Handle<AnswerAsk> for App {
    async fn handle(&self, request: AnswerAsk) -> Result<AppReply<ResolutionCard>, AppError> {
        self.find_ask(&request.ask_id).await?;
        let answer = match request.answer {
            SentAnswer::Readable(answer) => *answer,
            SentAnswer::Unreadable(error) => return Err(AskError::Unreadable(error).into()),
        };
        check_sender(&answer).map_err(AskError::from)?;
        Ok(self.answer_ask(&request.ask_id, answer).await?.into())
    }
}

impl App {
    pub(super) async fn find_ask(&self, ask_id: &AskId) -> Result<KnownAsk, AskError> {
        self.engine.find_ask(ask_id).await?.ok_or_else(|| AskError::Unknown(ask_id.clone()))
    }

    /// The whole request from the log, because a card shortens a large one.
    async fn ask_card(&self, ask_id: &AskId) -> Result<AskCard, AskError> {
        let ask = self.find_ask(ask_id).await?;
        let record = self.store.event(ask.seq).await?;
        let clipped = record.as_ref().is_some_and(|record| record.payload.contains_key(clip::MARK));
        if clipped && !ask.host.is_this() {
            // If the owner cannot be asked, the clipped request is better than none.
            match self.whole_ask(&ask.host, ask_id).await {
                Ok(whole) => return Ok(whole),
                Err(error) => {
                    tracing::info!(%error, ask = %ask_id, "the whole request could not be fetched from its host; it is shown clipped")
                }
            }
        }
        let asked = record.as_ref().and_then(Asked::with_whole_input).unwrap_or_default();
        let KnownAsk { session_id, seq, kind, agent_id, opened_at, expires_at, resolution, .. } = ask;
        let (id, call_id) = (ask_id.clone(), None);
        let ask =
            Ask { id, seq, agent_id, kind, asked, opened_at, expires_at, resolution, call_id, taken: false };
        Ok(AskCard::new(&session_id, &ask))
    }

    /// Answers an ask. The first answer wins. If this was the first, its verdict has been delivered to the hook when this returns.
    pub(super) async fn answer_ask(
        &self,
        ask_id: &AskId,
        answer: Answer,
    ) -> Result<ResolutionCard, AskError> {
        let (app, ask_id) = (self.clone(), ask_id.clone());
        // Runs in a task of its own: if the caller disconnects, the answer must not stop between the log and the verdict.
        let task = tokio::spawn(async move { app.decide(&ask_id, &answer).await });
        task.await.unwrap_or_else(|_| Err(Stopped.into()))
    }

    async fn decide(&self, ask_id: &AskId, answer: &Answer) -> Result<ResolutionCard, AskError> {
        let ask = self.find_ask(ask_id).await?;
        if let Some(resolution) = ask.resolution {
            return Err(AskError::Over(resolution.into()));
        }
        if !ask.host.is_this() {
            let request = AnswerAsk { ask_id: ask_id.clone(), answer: answer.clone().into() };
            return Ok(self.ask_owner(&ask.host, &request).await?);
        }
        if !ask.answerable {
            return Err(AskError::NotHeld);
        }
        let record = self.store.event(ask.seq).await?;
        let request = record.ok_or_else(|| AskError::Unknown(ask_id.clone()))?;
        let verdict = verdict(ask.kind, &request.payload, answer)?;
        let record = answered_record(&ask.session_id, ask_id, answer, clock::fresh_id());
        let ours = self.engine.append(vec![record]).await?.first().map_or(0, |a| a.seq);
        match self.find_ask(ask_id).await?.resolution {
            Some(resolution) if resolution.seq == ours && resolution.how.is_ours() => {
                if !self.holds.deliver(ask_id, Bytes::from(verdict.to_string())) {
                    tracing::warn!(ask = %ask_id, "the hook was gone before its verdict could be delivered");
                }
                if resolution.how == AskOutcome::DeniedAndInterrupted {
                    self.release_other_holds(&ask.session_id).await?;
                }
                Ok(resolution.into())
            }
            Some(first) => Err(AskError::Over(first.into())),
            None => Err(AskError::Unknown(ask_id.clone())),
        }
    }

    /// Releases the hooks of the session's other asks without a verdict, after the end of a turn closed them.
    async fn release_other_holds(&self, session_id: &SessionId) -> Result<(), Stopped> {
        for id in self.holds.ask_ids() {
            let known = self.engine.find_ask(&id).await?;
            if known.is_some_and(|ask| ask.session_id == *session_id && ask.resolution.is_some()) {
                self.holds.release(&id);
            }
        }
        Ok(())
    }
}
