//! A person's answer: checked against the request in the log, appended, and delivered by whoever was first.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flightdeck_core::ask::answer::Answer;
use flightdeck_core::ask::card::{AskCard, ResolutionCard};
use flightdeck_core::ask::verdict::{DoesNotFit, check_sender, verdict};
use flightdeck_core::ask::{Ask, Asked, How, Resolution, answered_record};
use flightdeck_core::fleet::{Fleet, FoundAsk};
use flightdeck_core::ledger::NeedKind;
use flightdeck_core::time::Timestamp;
use serde_json::json;

use crate::clock;
use crate::engine::{NotStored, Stopped};
use crate::server::App;
use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("there is no ask {0}")]
    Unknown(String),
    #[error("this was already decided: {}", in_words(.0))]
    Over(ResolutionCard),
    #[error("nobody waits for this answer here: answer it in the terminal")]
    NotHeld,
    #[error("{0}")]
    DoesNotFit(#[from] DoesNotFit),
    #[error("the answer is not understood: {0}")]
    Unreadable(String),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NotStored(#[from] NotStored),
}

fn in_words(resolution: &ResolutionCard) -> String {
    let word = |value: Result<serde_json::Value, _>| {
        value.ok().and_then(|v| v.as_str().map(|s| s.replace('_', " "))).unwrap_or_default()
    };
    let how = word(serde_json::to_value(resolution.how));
    match resolution.by.filter(|_| resolution.how.is_ours()) {
        Some(by) => format!("{how} ({})", word(serde_json::to_value(by))),
        None => how,
    }
}

impl AnswerError {
    /// As the socket says it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "NOT_FOUND",
            Self::Over(_) | Self::NotHeld => "ALREADY_ENDED",
            Self::DoesNotFit(_) | Self::Unreadable(_) => "VALIDATION_ERROR",
            _ => "HANDLER_ERROR",
        }
    }

    pub fn resolution(&self) -> Option<&ResolutionCard> {
        match self {
            Self::Over(resolution) => Some(resolution),
            _ => None,
        }
    }
}

impl IntoResponse for AnswerError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::Over(_) | Self::NotHeld => StatusCode::CONFLICT,
            Self::DoesNotFit(_) | Self::Unreadable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let body =
            json!({ "error": self.code(), "message": self.to_string(), "resolution": self.resolution() });
        (status, axum::Json(body)).into_response()
    }
}

/// What the engine knows of an ask.
#[derive(Clone, Debug)]
pub struct Known {
    pub session_id: String,
    pub seq: u64,
    pub kind: NeedKind,
    pub agent_id: Option<String>,
    pub opened_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub resolution: Option<Resolution>,
    pub answerable: bool,
}

impl Known {
    pub fn find(fleet: &Fleet, id: &str) -> Option<Self> {
        let (session, found) = fleet.find_ask(id)?;
        let session_id = session.id.clone();
        Some(match found {
            FoundAsk::OnCard(ask) => Self {
                session_id,
                seq: ask.seq,
                kind: ask.kind,
                agent_id: ask.agent_id.clone(),
                opened_at: ask.opened_at,
                expires_at: ask.expires_at,
                resolution: ask.resolution.clone(),
                answerable: ask.is_answerable(),
            },
            FoundAsk::Past(ask) => Self {
                session_id,
                seq: ask.seq,
                kind: ask.kind,
                agent_id: None,
                opened_at: ask.opened_at,
                expires_at: None,
                resolution: Some(ask.resolution.clone()),
                answerable: false,
            },
        })
    }

    /// Its resolution, if it has one.
    fn open(&self) -> Result<(), AnswerError> {
        match &self.resolution {
            Some(resolution) => Err(AnswerError::Over(resolution.clone().into())),
            None => Ok(()),
        }
    }
}

async fn known(app: &App, ask_id: &str) -> Result<Known, AnswerError> {
    app.engine.find_ask(ask_id).await?.ok_or_else(|| AnswerError::Unknown(ask_id.to_owned()))
}

/// An answer that somebody sends, as JSON.
pub async fn answer_sent(app: &App, ask_id: &str, sent: Answer) -> Result<ResolutionCard, AnswerError> {
    check_sender(&sent)?;
    answer(app, ask_id, sent).await
}

/// The first answer wins. Where this one did, the hook has its verdict when this returns.
pub async fn answer(app: &App, ask_id: &str, answer: Answer) -> Result<ResolutionCard, AnswerError> {
    let (app, ask_id) = (app.clone(), ask_id.to_owned());
    // On its own: whoever asked may hang up between the log and the verdict.
    let task = tokio::spawn(async move { decide(&app, &ask_id, &answer).await });
    task.await.unwrap_or(Err(AnswerError::Stopped(Stopped)))
}

async fn decide(app: &App, ask_id: &str, answer: &Answer) -> Result<ResolutionCard, AnswerError> {
    let ask = known(app, ask_id).await?;
    ask.open()?;
    if !ask.answerable {
        return Err(AnswerError::NotHeld);
    }
    let record = app.store.event(ask.seq).await?;
    let request = record.ok_or_else(|| AnswerError::Unknown(ask_id.to_owned()))?;
    let verdict = verdict(ask.kind, &request.payload, answer)?;
    let record = answered_record(&ask.session_id, ask_id, answer, clock::fresh_id());
    let ours = app.engine.append(vec![record]).await?.first().map_or(0, |a| a.seq);
    let ended = known(app, ask_id).await?.resolution;
    match ended {
        Some(resolution) if resolution.seq == ours && resolution.how.is_ours() => {
            if !app.holds.deliver(ask_id, Bytes::from(verdict.to_string())) {
                tracing::warn!(ask = ask_id, "the hook was gone when its answer came");
            }
            if resolution.how == How::DeniedAndInterrupted {
                release_others(app, &ask.session_id).await?;
            }
            Ok(resolution.into())
        }
        Some(first) => Err(AnswerError::Over(first.into())),
        None => Err(AnswerError::Unknown(ask_id.to_owned())),
    }
}

/// A turn that was ended took its other requests along: their hooks go home without a verdict.
async fn release_others(app: &App, session_id: &str) -> Result<(), Stopped> {
    for id in app.holds.ask_ids() {
        let known = app.engine.find_ask(&id).await?;
        if known.is_some_and(|ask| ask.session_id == session_id && ask.resolution.is_some()) {
            app.holds.release(&id);
        }
    }
    Ok(())
}

/// The whole request, from the log: a card carries it shortened where it is large.
pub async fn ask_card(app: &App, ask_id: &str) -> Result<AskCard, AnswerError> {
    let ask = known(app, ask_id).await?;
    let record = app.store.event(ask.seq).await?;
    let asked = record.as_ref().and_then(Asked::whole).unwrap_or_default();
    let Known { session_id, seq, kind, agent_id, opened_at, expires_at, resolution, .. } = ask;
    let (id, call_id) = (ask_id.to_owned(), None);
    let ask =
        Ask { id, seq, agent_id, kind, asked, opened_at, expires_at, resolution, call_id, taken: false };
    Ok(AskCard::new(&session_id, &ask))
}

pub async fn post_answer(
    State(app): State<App>,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Response, AnswerError> {
    known(&app, &id).await?;
    let given = serde_json::from_slice(&body).map_err(|e| e.to_string()).and_then(Answer::sent);
    let given = given.map_err(AnswerError::Unreadable)?;
    Ok(axum::Json(answer_sent(&app, &id, given).await?).into_response())
}

pub async fn get_ask(State(app): State<App>, Path(id): Path<String>) -> Result<Response, AnswerError> {
    Ok(axum::Json(ask_card(&app, &id).await?).into_response())
}
