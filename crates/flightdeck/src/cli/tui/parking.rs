//! Puts a session that waits for its next prompt aside, and takes it back, with the choices of the page.

use flightdeck_core::time::{Millis, Timestamp};
use flightdeck_core::view::card::Card;
use flightdeck_core::view::waiting::WaitKind;
use flightdeck_protocol::sessions::ParkSession;
use jiff::tz::TimeZone;

use super::message::{DaemonCall, TuiCommand};
use super::model::{Model, OpenQuestion};
use super::text;

/// Tomorrow begins at this hour of the person's own time zone.
const MORNING_HOUR: i8 = 8;

/// Asks until when, or takes a parked session back.
pub(super) fn press_park_key(model: &mut Model) -> Vec<TuiCommand> {
    let Some(card) = model.selected_card() else { return Vec::new() };
    let session_id = card.id.clone();
    if card.parked.is_some() {
        let back = ParkSession { session_id, until: None, parked: false };
        return vec![TuiCommand::Call(DaemonCall::Park(back))];
    }
    match can_park(card) {
        true => model.question = Some(OpenQuestion::Park(session_id)),
        false => model.refuse("only a session that waits for its next prompt can be parked"),
    }
    Vec::new()
}

pub(super) fn can_park(card: &Card) -> bool {
    card.parked.is_none() && card.waiting.as_ref().is_some_and(|waiting| waiting.kind != WaitKind::Blocks)
}

/// How long to park the session after this letter: `Some(None)` until its next event, `None` if the letter is no choice.
pub(super) fn parked_until(letter: char, now: Timestamp, zone: &TimeZone) -> Option<Option<Timestamp>> {
    match letter {
        'e' | 'P' => Some(None),
        'h' => Some(Some(now + Millis::hours(1))),
        't' => tomorrow_morning(now, zone).map(Some),
        _ => None,
    }
}

fn tomorrow_morning(now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let today = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(zone.clone());
    let morning = today.date().tomorrow().ok()?.at(MORNING_HOUR, 0, 0, 0).to_zoned(zone.clone()).ok()?;
    Some(Timestamp::from_millis(morning.timestamp().as_millisecond()))
}

/// What was done, for the line at the bottom.
pub(super) fn done_words(model: &Model, request: &ParkSession) -> String {
    match (request.parked, request.until) {
        (false, _) => "back on the board".to_owned(),
        (true, until) => parked_until_text(until, model.now, &model.zone),
    }
}

/// `parked until 15:05`, `parked until its next event`.
pub(super) fn parked_until_text(until: Option<Timestamp>, now: Timestamp, zone: &TimeZone) -> String {
    match until {
        Some(until) => format!("parked until {}", text::moment(until, now, zone)),
        None => "parked until its next event".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tomorrow_is_the_next_morning_where_the_person_lives_also_when_the_clock_changes() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        let check = |zone: &str, now: &str, expected: &str| {
            let zone = TimeZone::posix(zone).unwrap();
            assert_eq!(parked_until('t', at(now), &zone), Some(Some(at(expected))), "{now}");
        };
        check("UTC0", "2026-11-18T10:30:00.000Z", "2026-11-19T08:00:00.000Z");
        check("JST-9", "2026-11-18T20:30:00.000Z", "2026-11-19T23:00:00.000Z");
        check("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-24T12:00:00.000Z", "2026-10-25T07:00:00.000Z");
        assert_eq!(parked_until('x', at("2026-11-18T10:30:00.000Z"), &TimeZone::UTC), None);
    }
}
