//! Finds the sessions that a person names on the command line.

use anyhow::{Context, anyhow};
use flightdeck_core::ids::SessionId;
use flightdeck_core::session::state_name::Group;
use flightdeck_core::text::{one_line, without_controls};
use flightdeck_core::view::card::Card;
use flightdeck_protocol::ErrorCode;
use flightdeck_protocol::sessions::{GetSession, ListSessions};

use super::owner::with_host;
use crate::client::{BlockingClient, ClientError};

/// Rows per page: the most that the daemon sends.
const PAGE_ROWS: usize = 1000;

/// Fewest characters of an id that a list of candidates prints.
const ID_CHARS_MIN: usize = 8;
/// Longest title in a list of candidates.
const TITLE_CHARS_MAX: usize = 60;

/// Length of a whole session id, which is a UUID.
const WHOLE_ID_CHARS: usize = 36;

/// The cards on the board.
pub(super) fn board_cards(client: &mut BlockingClient) -> Result<Vec<Card>, ClientError> {
    Ok(client.call(&ListSessions::default())?.sessions)
}

/// The cards on the board and all that left it, page by page.
pub(super) fn all_cards(client: &mut BlockingClient) -> Result<Vec<Card>, ClientError> {
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

/// The id of the session that the person named: by the start of its id, its seat, its pid, or `next` for the session that
/// needs the person most.
pub(super) fn find_session(client: &mut BlockingClient, wanted: &str) -> anyhow::Result<SessionId> {
    let mut cards = board_cards(client)?;
    if wanted == "next" {
        let mut waiting: Vec<&Card> = cards.iter().collect();
        keep_waiting(&mut waiting, false);
        return waiting.first().map(|card| card.id.clone()).context("no session waits for you");
    }
    // A whole id is looked up by the daemon. Only for a prefix are all sessions listed.
    if cards_named(&cards, wanted).is_empty() && wanted.len() < WHOLE_ID_CHARS {
        cards = all_cards(client)?;
    }
    match cards_named(&cards, wanted).as_slice() {
        [one] => Ok(one.id.clone()),
        [] if wanted.len() >= WHOLE_ID_CHARS => known_to_daemon(client, wanted.into()),
        [] => Err(unknown(wanted)),
        many => Err(ambiguous(many, wanted)),
    }
}

/// Asks the daemon for this id, because it knows more sessions than it lists.
fn known_to_daemon(client: &mut BlockingClient, session_id: SessionId) -> anyhow::Result<SessionId> {
    match client.call(&GetSession { session_id: session_id.clone() }) {
        Err(error) if error.code() == Some(ErrorCode::NotFound) => Err(unknown(&session_id)),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(session_id),
    }
}

fn unknown(wanted: &str) -> anyhow::Error {
    anyhow!(
        "there is no session {wanted}: `flightdeck ls --done` also lists ended sessions, `flightdeck ls --all` all that are known"
    )
}

/// The error for a name that several sessions have, with a line for each of them.
pub(super) fn ambiguous(sessions: &[&Card], wanted: &str) -> anyhow::Error {
    let chars = unique_prefix_chars(sessions.iter().map(|card| &*card.id), ID_CHARS_MIN);
    let line = |card: &&Card| {
        let id = card.id.get(..chars).unwrap_or(&card.id);
        let title = card.title.as_deref().unwrap_or("no title");
        without_controls(&format!(
            "\n  {id}  {}  {}",
            with_host(card, &card.project.name),
            one_line(title, TITLE_CHARS_MAX)
        ))
    };
    let lines: String = sessions.iter().map(line).collect();
    let (count, all) = (sessions.len(), |is: &dyn Fn(&Card) -> bool| sessions.iter().all(|card| is(card)));
    if all(&|card| is_seat(card, wanted)) {
        anyhow!("{count} sessions have the seat {wanted}: give the start of an id{lines}")
    } else if all(&|card| has_pid(card, wanted)) {
        anyhow!("{count} sessions have the process {wanted}: give the start of an id{lines}")
    } else {
        anyhow!("{count} sessions start with {wanted}: give more of the id{lines}")
    }
}

/// How many characters from its start make each id unique, at least `min`.
pub(super) fn unique_prefix_chars<'a>(ids: impl Iterator<Item = &'a str>, min: usize) -> usize {
    let mut ids: Vec<&str> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(shared).max().map_or(min, |shared| min.max(shared + 1))
}

/// The cards that a name stands for: a seat, or else a process of this machine, or else the start of an id. A seat of this machine wins
/// over a seat of the same name on another machine. The pid of a process on another machine names nothing here.
pub(super) fn cards_named<'a>(cards: &'a [Card], wanted: &str) -> Vec<&'a Card> {
    let live = |is: &dyn Fn(&Card) -> bool| -> Vec<&'a Card> {
        cards.iter().filter(|card| card.ended_at.is_none() && is(card)).collect()
    };
    let ways: [&dyn Fn() -> Vec<&'a Card>; 4] = [
        &|| live(&|card| is_seat(card, wanted) && card.owner.is_none()),
        &|| live(&|card| is_seat(card, wanted)),
        &|| live(&|card| has_pid(card, wanted)),
        &|| cards.iter().filter(|card| card.id.starts_with(wanted)).collect(),
    ];
    ways.iter().map(|way| way()).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Whether a process of the session has this pid. Several terminals may hold one session, each with a process of its own.
fn has_pid(card: &Card, wanted: &str) -> bool {
    let Ok(pid) = wanted.parse::<u32>() else { return false };
    let mut pids = card.processes.iter().map(|process| process.pid).chain(card.seat.pid);
    card.owner.is_none() && pids.any(|of| of == pid)
}

fn is_seat(card: &Card, wanted: &str) -> bool {
    card.seat.name.as_deref() == Some(wanted)
}

/// Keeps only the sessions that wait for the person and are not parked, the most urgent first.
pub(super) fn keep_waiting(cards: &mut Vec<&Card>, urgency: bool) {
    cards.retain(|c| c.agent_state.group == Group::NeedsYou && c.parked.is_none());
    cards.sort_by(|a, b| match urgency {
        true => a.rank.urgency.cmp(&b.rank.urgency),
        false => a.rank.default.cmp(&b.rank.default),
    });
}

#[cfg(test)]
mod tests {
    use flightdeck_core::session::state_name::StateName;
    use flightdeck_core::time::Timestamp;

    use super::*;
    use crate::cli::tui::tests::fleet::{card, on_host};

    fn card_with(id: &str, pid: u32, seat: Option<&str>) -> Card {
        let mut card = card(id, StateName::Idle, "Waiting for your next prompt", 5);
        card.seat.pid = Some(pid);
        card.seat.name = seat.map(Into::into);
        card
    }

    #[test]
    fn a_pid_is_one_of_this_machine_and_an_own_seat_comes_first() {
        let cards = [
            on_host("build-2", &[], card_with("aa", 41, Some("lead"))),
            card_with("bb", 42, Some("lead")),
            on_host("build-2", &[], card_with("cc", 42, Some("tests"))),
        ];
        let ids =
            |wanted: &str| cards_named(&cards, wanted).iter().map(|c| c.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids("42"), ["bb"]);
        assert_eq!(ids("41"), [""; 0]);
        assert_eq!(ids("lead"), ["bb"]);
        assert_eq!(ids("tests"), ["cc@build-2"]);
        assert_eq!(ids("a"), ["aa@build-2"]);
    }

    #[test]
    fn an_ambiguous_name_says_by_what_it_was_found() {
        let said = |cards: &[Card], wanted: &str| {
            let error = ambiguous(&cards_named(cards, wanted), wanted).to_string();
            error.lines().next().unwrap_or_default().to_owned()
        };
        let cards = [card_with("ab-1", 42, Some("lead")), card_with("ab-2", 42, Some("lead"))];
        assert_eq!(said(&cards, "42"), "2 sessions have the process 42: give the start of an id");
        assert_eq!(said(&cards, "lead"), "2 sessions have the seat lead: give the start of an id");
        assert_eq!(said(&cards, "ab"), "2 sessions start with ab: give more of the id");
    }

    #[test]
    fn a_parked_session_does_not_wait() {
        let parked = flightdeck_core::session::Parking { since: Timestamp::default(), until: None };
        let cards = [Card { parked: Some(parked), ..card_with("a", 1, None) }, card_with("b", 2, None)];
        let mut waiting: Vec<&Card> = cards.iter().collect();
        keep_waiting(&mut waiting, false);
        assert_eq!(waiting.iter().map(|card| card.id.as_str()).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn an_id_is_as_long_as_it_must_be_to_tell_it_from_the_others() {
        let chars = |ids: &[&str]| unique_prefix_chars(ids.iter().copied(), 4);
        assert_eq!(chars(&[]), 4);
        assert_eq!(chars(&["abcdefgh", "xbcdefgh"]), 4);
        assert_eq!(chars(&["abcdefgh", "abcdexgh", "zz"]), 6);
        assert_eq!(chars(&["same", "same"]), 4);
    }
}
