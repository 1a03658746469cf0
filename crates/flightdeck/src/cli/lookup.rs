//! Finds the sessions that a person names on the command line.

use anyhow::{Context, bail};
use flightdeck_core::ids::SessionId;
use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;
use flightdeck_protocol::sessions::ListSessions;

use crate::client::{Client, ClientError};

/// Rows per page: the most that the daemon sends.
const PAGE_ROWS: usize = 1000;

/// Length of a whole session id, which is a UUID.
const WHOLE_ID_CHARS: usize = 36;

/// The cards on the board.
pub(super) fn board_cards(client: &mut Client) -> Result<Vec<Card>, ClientError> {
    Ok(client.call(&ListSessions::default())?.sessions)
}

/// The cards on the board and all that left it, page by page.
pub(super) fn all_cards(client: &mut Client) -> Result<Vec<Card>, ClientError> {
    let mut cards = Vec::new();
    let mut request = ListSessions { all: true, before: None, limit: Some(PAGE_ROWS) };
    loop {
        let mut page = client.call(&request)?;
        cards.append(&mut page.sessions);
        request.before = page.next_before.flatten();
        if request.before.is_none() {
            return Ok(cards);
        }
    }
}

/// The id of the one session that starts with `wanted`, on the board or not. An id that no card has is returned unchanged, for
/// the daemon to refuse.
pub(super) fn find_session(client: &mut Client, wanted: &str) -> anyhow::Result<SessionId> {
    let matching = |cards: Vec<Card>| -> Vec<SessionId> {
        cards.into_iter().map(|card| card.id).filter(|id| id.starts_with(wanted)).collect()
    };
    let mut found = matching(board_cards(client)?);
    // The daemon finds a whole id by itself, so only a prefix needs all sessions.
    if found.is_empty() && wanted.len() < WHOLE_ID_CHARS {
        found = matching(all_cards(client)?);
    }
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Ok(wanted.into()),
        many => bail!("{} sessions start with {wanted}: give more of the id", many.len()),
    }
}

/// The id of a session named by its seat, by the start of its id, or by `next` for the session that needs the person most.
pub(super) fn find_session_or_seat(client: &mut Client, wanted: &str) -> anyhow::Result<SessionId> {
    let mut cards = board_cards(client)?;
    if wanted == "next" {
        keep_waiting(&mut cards, false);
        return cards.first().map(|card| card.id.clone()).context("no session waits for you");
    }
    let at_seat = |card: &&Card| card.ended_at.is_none() && card.seat.name.as_deref() == Some(wanted);
    match cards.iter().filter(at_seat).collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.id.clone()),
        [] => find_session(client, wanted),
        many => bail!("{} sessions have the seat {wanted}: give the start of an id", many.len()),
    }
}

/// Keeps only the sessions that wait for the person, the most urgent first.
pub(super) fn keep_waiting(cards: &mut Vec<Card>, urgency: bool) {
    cards.retain(|c| c.agent_state.group == Group::NeedsYou);
    cards.sort_by(|a, b| match urgency {
        true => a.rank.urgency.cmp(&b.rank.urgency),
        false => a.rank.default.cmp(&b.rank.default),
    });
}
