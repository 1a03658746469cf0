//! `POST /api/sessions/{id}/{prompt,interrupt,focus}`: what a person does to a session's own terminal.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use flightdeck_core::answers::{Focused, Pressed, PromptBody};
use flightdeck_core::board::Card;
use flightdeck_core::lens::Takes;
use flightdeck_core::timeline::{FOCUSED, INTERRUPTED, PROMPTED, STOPPED};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::api::{ApiError, by_person};
use crate::changes::Subscription;
use crate::process;
use crate::server::App;
use crate::terminal::focus::{self, Values};
use crate::terminal::keys::{self, Now, Watch};
use crate::terminal::words;
use crate::terminal::{Place, Refused};

/// Longest prompt that is typed. 20 KB are measured; a file is better named than pasted.
pub const PROMPT_BYTES_MAX: usize = 256 << 10;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InterruptBody {
    confirm: bool,
    /// End the client, not only its turn.
    stop: bool,
}

type Answer = Result<Response, ApiError>;

pub async fn post_prompt(State(app): State<App>, Path(id): Path<String>, body: Bytes) -> Answer {
    accepted(prompt(&app, &id, &body).await?)
}

pub async fn post_interrupt(State(app): State<App>, Path(id): Path<String>, body: Bytes) -> Answer {
    accepted(interrupt(&app, &id, &body).await?)
}

pub async fn post_focus(State(app): State<App>, Path(id): Path<String>) -> Answer {
    accepted(focus(&app, &id).await?)
}

fn accepted(answer: impl Serialize) -> Answer {
    Ok((StatusCode::ACCEPTED, axum::Json(answer)).into_response())
}

pub async fn prompt(app: &App, id: &str, body: &[u8]) -> Result<Pressed, ApiError> {
    let card = card(app, id).await?;
    let PromptBody { text, meant, draft } = parse(body)?;
    if text.len() > PROMPT_BYTES_MAX {
        return Err(ApiError::Bad(format!("a prompt may be {PROMPT_BYTES_MAX} bytes long")));
    }
    let chars = text.chars().count();
    let typed = words::prepare(&text, meant)?;
    if typed.keys.trim().is_empty() {
        return Err(ApiError::Bad("the prompt is empty".into()));
    }
    let place = place(app, &card).await?;
    let _keyboard = app.terminals.take_keyboard(&place)?;
    let mut session = InFleet::watch(app, id).await?;
    let confirmed = keys::prompt(&app.terminals.tmux, &place, &typed, draft, &mut session).await?;
    let event = json!({ "chars": chars, "command": typed.command, "confirmed": confirmed });
    by_person(app, id, PROMPTED, object(event)).await?;
    let message = match (confirmed, typed.command) {
        (true, false) => "sent",
        (true, true) => "the client took it as a command",
        (false, _) => {
            "typed and Enter pressed, but the client has not confirmed it yet: look at the terminal"
        }
    };
    Ok(Pressed { confirmed, message: message.to_owned() })
}

pub async fn interrupt(app: &App, id: &str, body: &[u8]) -> Result<Pressed, ApiError> {
    let card = card(app, id).await?;
    let InterruptBody { confirm, stop } = if body.is_empty() { Default::default() } else { parse(body)? };
    if stop {
        return end(app, &card, confirm).await;
    }
    let place = place(app, &card).await?;
    let label = card.agent_state.label.clone();
    if card.agent_state.state.takes() != Some(Takes::Interrupt) {
        return Err(Refused::NotWorking { label }.into());
    }
    if !confirm {
        return Err(Refused::ConfirmInterrupt { label }.into());
    }
    let _keyboard = app.terminals.take_keyboard(&place)?;
    let mut session = InFleet::watch(app, id).await?;
    let confirmed = keys::interrupt(&app.terminals.tmux, &place, &mut session).await?;
    by_person(app, id, INTERRUPTED, object(json!({ "confirmed": confirmed }))).await?;
    let message = match confirmed {
        true => "interrupted",
        false => "Esc was pressed, but the session does not say yet that it stopped: look at the terminal",
    };
    Ok(Pressed { confirmed, message: message.to_owned() })
}

/// Asks the client's process to end, as closing its terminal would: it says goodbye by its own hooks.
async fn end(app: &App, card: &Card, confirm: bool) -> Result<Pressed, ApiError> {
    let (pid, start) = occupied(app, card).await?;
    if !confirm {
        return Err(Refused::ConfirmStop.into());
    }
    if !start.is_some_and(|start| process::ask_to_end(pid, &start)) {
        return Err(Refused::ProcessGone { pid }.into());
    }
    by_person(app, &card.id, STOPPED, Map::new()).await?;
    Ok(Pressed { confirmed: true, message: "told to end".to_owned() })
}

pub async fn focus(app: &App, id: &str) -> Result<Focused, ApiError> {
    let card = card(app, id).await?;
    let (place, command) = (place(app, &card).await, &app.terminals.focus_command);
    let (tty, shown) = match (place, command) {
        (Ok(place), _) => {
            let tty = focus::focus(&app.terminals.tmux, &place).await?;
            let message = "its pane is in front".to_owned();
            (Some(tty.clone()), Focused { client: Some(tty), message })
        }
        (Err(ApiError::Refused(refused @ Refused::NoPane { .. })), None) => return Err(refused.into()),
        (Err(ApiError::Refused(Refused::NoPane { .. })), Some(_)) => (
            card.seat.pid.and_then(process::tty),
            Focused { client: None, message: "its terminal was asked for".to_owned() },
        ),
        (Err(other), _) => return Err(other),
    };
    if let Some(command) = command {
        command.run(&values(&card, tty)).await?;
    }
    by_person(app, id, FOCUSED, Map::new()).await?;
    Ok(shown)
}

/// What `focus_command` may hold. In tmux the terminal is the one tmux draws on.
fn values(card: &Card, tty: Option<String>) -> Values {
    Values::from([
        ("pid", card.seat.pid.map(|pid| pid.to_string())),
        ("tty", tty),
        ("pane", card.seat.pane.clone()),
        ("cwd", card.seat.pid.and_then(process::cwd).or_else(|| card.project.path.clone())),
        ("session_id", Some(card.id.clone())),
    ])
}

async fn card(app: &App, id: &str) -> Result<Card, ApiError> {
    Ok(serde_json::from_value(super::api::session_json(app, id).await?)?)
}

/// The process it sits in, while it does.
async fn occupied(app: &App, card: &Card) -> Result<(u32, Option<String>), ApiError> {
    let occupants = app.engine.occupants().await?;
    match occupants.into_iter().find(|o| o.session_id == card.id) {
        Some(o) => Ok((o.pid, o.proc_start)),
        None if card.ended_at.is_some() => Err(Refused::Ended { resume: resume(card) }.into()),
        None => Err(Refused::NoPane { resume: resume(card) }.into()),
    }
}

async fn place(app: &App, card: &Card) -> Result<Place, ApiError> {
    let (pid, proc_start) = occupied(app, card).await?;
    match (&card.seat.tmux_socket, &card.seat.pane) {
        (Some(server), Some(pane)) => {
            Ok(Place { server: server.into(), pane: pane.clone(), pid, proc_start })
        }
        _ => Err(Refused::NoPane { resume: resume(card) }.into()),
    }
}

/// For a person's shell. The client finds a session only from the folder it was begun in.
fn resume(card: &Card) -> String {
    let words = ["claude", "--resume", &card.id];
    let folder = card.seat.pid.and_then(process::cwd).or_else(|| card.project.path.clone());
    let quote = |words: &[&str]| shlex::try_join(words.iter().copied()).unwrap_or_default();
    match folder {
        Some(folder) => format!("cd {} && {}", quote(&[&folder]), quote(&words)),
        None => quote(&words),
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|e| ApiError::Bad(format!("the body is not understood: {e}")))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// A session as the engine has it.
struct InFleet {
    app: App,
    id: String,
    changes: Subscription,
}

impl InFleet {
    async fn watch(app: &App, id: &str) -> Result<Self, ApiError> {
        let changes = app.engine.subscribe(None).await?;
        Ok(Self { app: app.clone(), id: id.to_owned(), changes })
    }
}

impl Watch for InFleet {
    async fn now(&mut self) -> Option<Now> {
        let card = self.app.engine.card(&self.id).await.ok().flatten()?;
        let card: Card = serde_json::from_slice(&card).ok()?;
        let gone = card.ended_at.is_some() || card.replaced_by.is_some();
        let now =
            Now { state: card.agent_state.state, label: card.agent_state.label, turn_count: card.turn_count };
        (!gone).then_some(now)
    }

    async fn changed(&mut self) {
        use tokio::sync::broadcast::error::RecvError;
        loop {
            match self.changes.next.recv().await {
                Ok(change) if !mentions(&change.data, &self.id) => {}
                // Behind: something was missed.
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                // The daemon stops; whoever waits has a time limit.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}

/// Good enough to pass over the changes of other sessions.
fn mentions(json: &[u8], id: &str) -> bool {
    memchr::memmem::find(json, id.as_bytes()).is_some()
}
