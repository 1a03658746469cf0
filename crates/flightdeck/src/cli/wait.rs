//! `flightdeck wait`: blocks until a session is idle, needs the person, or has ended.

use std::io::Write;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::ValueEnum;
use flightdeck_core::ids::SessionId;
use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;
use flightdeck_core::view::lens::StatusKind;
use flightdeck_protocol::changes::Change;
use flightdeck_protocol::sessions::GetSession;

use super::lookup::find_session;
use super::out::Out;
use crate::client::{BlockingClient, BoardMirror, LiveChange, LiveChanges};
use crate::paths::Paths;

/// The exit code if the time is over.
const TIMED_OUT: u8 = 3;
/// Changes that were read from the daemon and not yet looked at.
const CHANGES_WAITING_MAX: usize = 256;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 reached, 1 failure (also if the session ended instead), 2 usage, 3 timed out."
)]
pub(super) struct WaitArgs {
    /// The session: the start of its id, its seat or its pid, or `next` for the session that needs you most
    session: String,
    /// What to wait for
    #[arg(long, value_enum)]
    until: Until,
    /// Give up after this many seconds [default: never]
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Print the session as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Until {
    /// The session waits for the next prompt
    Idle,
    /// The session is in Needs You: it waits for an answer or for the next prompt
    NeedsYou,
    /// The session has ended
    Ended,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// Whether a session has reached the state that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Reached,
    NotYet,
    /// The session ended, so the wanted state can no longer be reached.
    Never,
}

impl Until {
    fn progress(self, card: &Card) -> Progress {
        let ended = card.ended_at.is_some() || card.replaced_by.is_some();
        let reached = match self {
            Self::Ended => ended,
            Self::Idle => !ended && card.status.kind == StatusKind::Idle,
            Self::NeedsYou => !ended && card.agent_state.group == Group::NeedsYou,
        };
        match (reached, ended) {
            (true, _) => Progress::Reached,
            (false, true) => Progress::Never,
            (false, false) => Progress::NotYet,
        }
    }
}

pub(super) fn run(args: &WaitArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let deadline = args.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let mut client = BlockingClient::connect(paths)?;
    let id = find_session(&mut client, &args.session)?;
    // No snapshot contains a session that has left the board.
    let last = client.call(&GetSession { session_id: id.clone() })?;
    if let Some(code) = result(&last, args, out)? {
        return Ok(code);
    }
    let changes = changes_of(paths.clone());
    let mut session = AwaitedSession { board: BoardMirror::default(), id, last };
    loop {
        let change = match next_change(&changes, deadline) {
            Ok(change) => change,
            Err(RecvTimeoutError::Timeout) => return timed_out(&session, args),
            Err(RecvTimeoutError::Disconnected) => bail!("the connection to the daemon ended"),
        };
        // After a restart of the daemon, the next change is the board of the new one.
        let LiveChange::Change(frame) = change else { continue };
        let is_board = matches!(frame.change, Change::Snapshot(_));
        session.apply(frame.change);
        if is_board && !session.is_on_board() {
            // The session left the board while there was no connection.
            session.last =
                BlockingClient::connect(paths)?.call(&GetSession { session_id: session.id.clone() })?;
        }
        if let Some(code) = result(&session.last, args, out)? {
            return Ok(code);
        }
    }
}

/// The exit code, or `None` while there is something to wait for.
fn result(card: &Card, args: &WaitArgs, out: &mut Out) -> anyhow::Result<Option<u8>> {
    match (args.until.progress(card), &card.replaced_by) {
        (Progress::NotYet, _) => Ok(None),
        (Progress::Reached, _) => print_reached(card, args, out).map(Some),
        (Progress::Never, Some(next)) => bail!("the session is over: {next} continues in its terminal"),
        (Progress::Never, None) => bail!("the session ended: {}", card.agent_state.label),
    }
}

/// Reads the changes in a thread of its own, so that waiting for a change can time out. The thread ends with the process.
fn changes_of(paths: Paths) -> Receiver<LiveChange> {
    let (sender, changes) = mpsc::sync_channel(CHANGES_WAITING_MAX);
    std::thread::spawn(move || {
        let mut live = LiveChanges::new(paths);
        while sender.send(live.next_change()).is_ok() {}
    });
    changes
}

fn next_change(
    changes: &Receiver<LiveChange>,
    deadline: Option<Instant>,
) -> Result<LiveChange, RecvTimeoutError> {
    match deadline {
        Some(deadline) => changes.recv_timeout(deadline.saturating_duration_since(Instant::now())),
        None => changes.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// The session that is waited for, in a copy of the board.
struct AwaitedSession {
    board: BoardMirror,
    id: SessionId,
    /// The newest card of the session. A replaced session is sent once more and leaves the board.
    last: Card,
}

impl AwaitedSession {
    fn apply(&mut self, change: Change) {
        if let Change::SessionUpdated { session } | Change::SessionCompleted { session } = &change
            && session.id == self.id
        {
            self.last = (**session).clone();
        }
        self.board.apply(change);
        if let Some(card) = self.board.card(&self.id) {
            self.last = card.clone();
        }
    }

    fn is_on_board(&self) -> bool {
        self.board.card(&self.id).is_some()
    }
}

fn print_reached(card: &Card, args: &WaitArgs, out: &mut Out) -> anyhow::Result<u8> {
    match args.json {
        true => out.json(card)?,
        false => writeln!(out, "{}", card.agent_state.label)?,
    }
    Ok(0)
}

fn timed_out(session: &AwaitedSession, args: &WaitArgs) -> anyhow::Result<u8> {
    let card = &session.last;
    let seconds = args.timeout.unwrap_or_default().as_secs_f64();
    Out::note(&format!("flightdeck: not after {seconds} s: {}", card.agent_state.label));
    Ok(TIMED_OUT)
}
