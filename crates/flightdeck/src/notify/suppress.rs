//! Decides whether a note is dropped. This is checked just before sending, because the person may have acted since the note was made.

use flightdeck_core::limits::NOTE_LIVES;
use flightdeck_core::notify::Note;
use flightdeck_core::view::card::Card;
use jiff::tz::TimeZone;
use tokio::time::Instant;

use super::Notifier;
use super::quiet::TimeOfDay;
use super::settings::NotifySettings;
use crate::clock::Clock;
use crate::engine::{EngineHandle, NotedSession, Stopped};
use crate::terminal::{PaneAddress, Terminals, watched};

/// The facts that decide whether a note is dropped.
pub(super) struct Checks<'a> {
    pub(super) notifier: &'a Notifier,
    pub(super) engine: &'a EngineHandle,
    pub(super) terminals: &'a Terminals,
    pub(super) clock: &'a Clock,
    pub(super) zone: &'a TimeZone,
    /// Until when tmux may be asked. After it a pane counts as not watched.
    pub(super) panes_until: Instant,
}

impl Checks<'_> {
    /// The card that the note is about, or why the person need not get the note.
    pub(super) async fn wanted(&self, note: &Note) -> Result<Result<Card, &'static str>, Stopped> {
        let (settings, now) = (self.notifier.settings(), self.clock.now());
        if now - note.at > NOTE_LIVES {
            return Ok(Err("it is too old"));
        }
        let Some(NotedSession { card, kind }) = self.engine.noted_session(&note.session_id).await? else {
            return Ok(Err("the session has left the board"));
        };
        if kind != Some(note.kind) {
            return Ok(Err("the session has moved on"));
        }
        if !settings.events.contains(&note.kind) {
            return Ok(Err("such events are no longer wanted"));
        }
        if is_muted(&settings, &card) {
            return Ok(Err("its project is muted"));
        }
        let time = TimeOfDay::from_moment(now, self.zone);
        if settings.quiet.is_some_and(|(from, to)| time.is_within(from, to)) {
            return Ok(Err("these are quiet hours"));
        }
        if self.notifier.boards.show_session(&card.id) {
            return Ok(Err("a visible board shows it"));
        }
        if self.is_in_front(&card).await? {
            return Ok(Err("the person looks at its pane"));
        }
        Ok(Ok(card))
    }

    /// Whether a tmux client shows the session's pane right now.
    async fn is_in_front(&self, card: &Card) -> Result<bool, Stopped> {
        let (Some(server), Some(pane)) = (&card.seat.tmux_socket, &card.seat.pane) else { return Ok(false) };
        let Some(occupant) = self.engine.occupant_of(card).await? else { return Ok(false) };
        let place = PaneAddress {
            server: server.into(),
            pane: pane.clone(),
            pid: occupant.pid,
            proc_start: occupant.proc_start,
        };
        let check = watched::is_watched(&self.terminals.tmux, &place);
        // A pane that cannot be asked about is not in front: a note too many is better than one too few.
        Ok(tokio::time::timeout_at(self.panes_until, check)
            .await
            .is_ok_and(|watched| watched.unwrap_or(false)))
    }
}

fn is_muted(settings: &NotifySettings, card: &Card) -> bool {
    let is_this = |muted: &String| *muted == card.project.name || Some(muted) == card.project.path.as_ref();
    settings.mute_projects.iter().any(is_this)
}
