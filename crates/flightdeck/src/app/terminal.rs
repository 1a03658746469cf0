//! What a person does to the terminal of a session: type a prompt, press Esc, end the client, bring the terminal to the front.

use flightdeck_core::ids::SessionId;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::lens::TerminalInput;
use flightdeck_core::view::timeline::{FOCUSED, INTERRUPTED, PROMPTED, STOPPED};
use flightdeck_protocol::terminal::{
    Focus, Focused, Interrupt, PROMPT_BYTES_MAX, PaneScreen, Peek, Pressed, SendPrompt,
};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{App, AppError, AppReply, Handle, Subscription};
use crate::engine::changes::SubscribeFrom;
use crate::process;
use crate::terminal::focus::{self, PlaceholderValues};
use crate::terminal::prompt_text::{self, PreparedPrompt};
use crate::terminal::typing::{self, SessionNow, SessionWatch};
use crate::terminal::{PaneAddress, RefusalReason, pane};

impl Handle<SendPrompt> for App {
    async fn handle(&self, request: SendPrompt) -> Result<AppReply<Pressed>, AppError> {
        let card = self.card(&request.session_id).await?;
        if let Some(owner) = self.owner_of(&card) {
            let session_id = card.id.without_host(&owner);
            return Ok(self.ask_owner(&owner, &SendPrompt { session_id, ..request }).await?.into());
        }
        let typed = prepare(&request)?;
        let place = self.pane_address(&card).await?;
        let _lock = self.terminals.lock_pane(&place)?;
        let mut session = WatchedSession::new(self, &card).await?;
        let draft = request.draft;
        let confirmed = typing::prompt(&self.terminals.tmux, &place, &typed, draft, &mut session).await?;
        let chars = request.text.chars().count();
        let action = json!({ "chars": chars, "command": typed.command, "confirmed": confirmed });
        self.append_user_action(&card.id, PROMPTED, object(action)).await?;
        let message = match (confirmed, typed.command) {
            (true, false) => "sent",
            (true, true) => "the client took it as a command",
            (false, _) => {
                "typed and Enter pressed, but the client has not confirmed it yet: look at the terminal"
            }
        };
        Ok(Pressed { confirmed, message: message.to_owned() }.into())
    }
}

fn prepare(request: &SendPrompt) -> Result<PreparedPrompt, AppError> {
    if request.text.len() > PROMPT_BYTES_MAX {
        return Err(AppError::Invalid(format!("a prompt may be {PROMPT_BYTES_MAX} bytes long")));
    }
    let typed = prompt_text::prepare(&request.text, request.kind)?;
    if typed.keys.trim().is_empty() {
        return Err(AppError::Invalid("the prompt is empty".into()));
    }
    Ok(typed)
}

impl Handle<Interrupt> for App {
    async fn handle(&self, request: Interrupt) -> Result<AppReply<Pressed>, AppError> {
        let card = self.card(&request.session_id).await?;
        if let Some(owner) = self.owner_of(&card) {
            let session_id = card.id.without_host(&owner);
            return Ok(self.ask_owner(&owner, &Interrupt { session_id, ..request }).await?.into());
        }
        if request.stop {
            return Ok(self.end_client(&card, request.confirm).await?.into());
        }
        let place = self.pane_address(&card).await?;
        let label = card.agent_state.label.clone();
        if card.agent_state.state.terminal_input() != Some(TerminalInput::Interrupt) {
            return Err(RefusalReason::NotWorking { label }.into());
        }
        if !request.confirm {
            return Err(RefusalReason::ConfirmInterrupt { label }.into());
        }
        let _lock = self.terminals.lock_pane(&place)?;
        let mut session = WatchedSession::new(self, &card).await?;
        let confirmed = typing::interrupt(&self.terminals.tmux, &place, &mut session).await?;
        let action = object(json!({ "confirmed": confirmed }));
        self.append_user_action(&card.id, INTERRUPTED, action).await?;
        let message = match confirmed {
            true => "interrupted",
            false => {
                "Esc was pressed, but the session does not say yet that it stopped: look at the terminal"
            }
        };
        Ok(Pressed { confirmed, message: message.to_owned() }.into())
    }
}

impl Handle<Focus> for App {
    async fn handle(&self, request: Focus) -> Result<AppReply<Focused>, AppError> {
        let card = self.card(&request.session_id).await?;
        if let Some(owner) = self.owner_of(&card) {
            let session_id = card.id.without_host(&owner);
            return Ok(self.ask_owner(&owner, &Focus { session_id }).await?.into());
        }
        let (place, settings) = (self.pane_address(&card).await, self.config.current());
        let command = &settings.focus_command;
        let (tty, shown) = match (place, command) {
            (Ok(place), _) => {
                let tty = focus::focus(&self.terminals.tmux, &place).await?;
                let message = "its pane is in front".to_owned();
                (Some(tty.clone()), Focused { client: Some(tty), message })
            }
            (Err(AppError::Refused(refused @ RefusalReason::NoPane { .. })), None) => {
                return Err(refused.into());
            }
            // The process is on this machine, because `place` refuses a process of another machine for another reason.
            (Err(AppError::Refused(RefusalReason::NoPane { .. })), Some(_)) => (
                card.seat.pid.and_then(process::tty),
                Focused { client: None, message: "its terminal was asked for".to_owned() },
            ),
            (Err(other), _) => return Err(other),
        };
        if let Some(command) = command {
            command.run(&placeholder_values(&card, tty)).await?;
        }
        self.append_user_action(&card.id, FOCUSED, Map::new()).await?;
        Ok(shown.into())
    }
}

impl Handle<Peek> for App {
    async fn handle(&self, request: Peek) -> Result<AppReply<PaneScreen>, AppError> {
        let card = self.card(&request.session_id).await?;
        let place = self.pane_address(&card).await?;
        let rows = pane::rows(&self.terminals.tmux, &place).await?;
        Ok(PaneScreen { pane: place.pane, rows }.into())
    }
}

impl App {
    /// Asks the client's process to end, as closing its terminal would: its hooks report the end.
    async fn end_client(&self, card: &Card, confirm: bool) -> Result<Pressed, AppError> {
        let (pid, start) = self.occupied(card).await?;
        if !confirm {
            return Err(RefusalReason::ConfirmStop.into());
        }
        if !start.is_some_and(|start| process::ask_to_end(pid, &start)) {
            return Err(RefusalReason::ProcessGone { pid }.into());
        }
        self.append_user_action(&card.id, STOPPED, Map::new()).await?;
        Ok(Pressed { confirmed: true, message: "told to end".to_owned() })
    }

    /// The pid and start time of the process that the card shows. Only processes of this machine have a pane or take a signal here.
    async fn occupied(&self, card: &Card) -> Result<(u32, Option<String>), AppError> {
        self.refuse_another_host(card)?;
        match self.engine.occupant_of(card).await? {
            Some(o) => Ok((o.pid, o.proc_start)),
            // The pid of an ended process may belong to another one by now.
            None if card.ended_at.is_some() => {
                Err(RefusalReason::Ended { resume: resume_command(card, project_folder(card)) }.into())
            }
            None => Err(RefusalReason::NoPane { resume: resume_command(card, project_folder(card)) }.into()),
        }
    }

    /// Refuses a session of another machine. Its pid may be that of an unrelated process here.
    fn refuse_another_host(&self, card: &Card) -> Result<(), RefusalReason> {
        let another = card.seat.host.clone().filter(|host| self.host.as_deref() != Some(host.as_str()));
        match (another, card.ended_at) {
            (None, _) => Ok(()),
            (Some(host), None) => Err(RefusalReason::AnotherHost { host }),
            (Some(host), Some(_)) => {
                let resume = resume_command(card, project_folder(card));
                Err(RefusalReason::EndedOnAnotherHost { host, resume })
            }
        }
    }

    async fn pane_address(&self, card: &Card) -> Result<PaneAddress, AppError> {
        let (pid, proc_start) = self.occupied(card).await?;
        match (&card.seat.tmux_socket, &card.seat.pane) {
            (Some(server), Some(pane)) => {
                Ok(PaneAddress { server: server.into(), pane: pane.clone(), pid, proc_start })
            }
            _ => Err(RefusalReason::NoPane { resume: resume_command(card, process_folder(card)) }.into()),
        }
    }
}

/// The values that `focus_command` may name. In tmux `tty` is the terminal that tmux draws on.
fn placeholder_values(card: &Card, tty: Option<String>) -> PlaceholderValues {
    PlaceholderValues::from([
        ("pid", card.seat.pid.map(|pid| pid.to_string())),
        ("tty", tty),
        ("pane", card.seat.pane.clone()),
        ("cwd", process_folder(card)),
        ("session_id", Some(card.id.to_string())),
    ])
}

/// The shell command with which a person resumes the session. The client finds a session only from the folder in which it was
/// started.
fn resume_command(card: &Card, folder: Option<String>) -> String {
    let words = ["claude", "--resume", &card.id];
    let quote = |words: &[&str]| shlex::try_join(words.iter().copied()).unwrap_or_default();
    match folder {
        Some(folder) => format!("cd {} && {}", quote(&[&folder]), quote(&words)),
        None => quote(&words),
    }
}

/// The folder of a session whose process runs on this machine.
fn process_folder(card: &Card) -> Option<String> {
    card.seat.pid.and_then(process::cwd).or_else(|| project_folder(card))
}

fn project_folder(card: &Card) -> Option<String> {
    card.project.path.clone()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The session that keys are typed into, in the engine's present state.
struct WatchedSession {
    app: App,
    id: SessionId,
    /// The process whose terminal gets the keys. The card may show another process meanwhile.
    pid: Option<u32>,
    changes: Subscription,
}

impl WatchedSession {
    async fn new(app: &App, card: &Card) -> Result<Self, AppError> {
        let changes = app.engine.subscribe(SubscribeFrom::Now).await?;
        Ok(Self { app: app.clone(), id: card.id.clone(), pid: card.seat.pid, changes })
    }
}

impl SessionWatch for WatchedSession {
    async fn now(&mut self) -> Option<SessionNow> {
        let card = self.app.engine.card(&self.id).await.ok().flatten()?;
        let gone = card.ended_at.is_some() || card.replaced_by.is_some();
        let id = self.id.clone();
        let heard = self.app.engine.read(move |fleet| fleet.get(&id).map(|session| session.turn.count));
        let prompts_heard = heard.await.ok().flatten()?;
        let now = match card.processes.into_iter().find(|process| Some(process.pid) == self.pid) {
            Some(own) => SessionNow { state: own.state, label: own.label, prompts_heard },
            None if card.seat.pid == self.pid => {
                SessionNow { state: card.agent_state.state, label: card.agent_state.label, prompts_heard }
            }
            // This process has ended, and another one holds the session.
            None => return None,
        };
        (!gone).then_some(now)
    }

    async fn changed(&mut self) {
        loop {
            match self.changes.next.recv().await {
                Ok(change) if change.subject.session_id().is_some_and(|id| *id != self.id) => {}
                // After a lag the missed changes may have been of this session.
                Ok(_) | Err(RecvError::Lagged(_)) => return,
                // The daemon is stopping; the caller has a timeout.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}
