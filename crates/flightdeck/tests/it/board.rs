//! The board as test data: a card in the short form of the core's tests, and the board that a log must give.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::event::Event;
use flightdeck_core::log::record::Record;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::view::card::Card;
use serde_json::Value;

#[path = "../../../flightdeck-core/tests/it/script.rs"]
#[allow(dead_code, reason = "the core's tests use all of it; here it only reads cards")]
mod script;

/// The card in the short form: group, state and label.
pub(crate) fn short_form(card: &Value) -> String {
    script::read(&serde_json::from_value::<Card>(card.clone()).unwrap())
}

pub(crate) fn fold(records: &[Record], settings: FoldSettings) -> Fleet {
    let mut fleet = Fleet::new(settings);
    records.iter().for_each(|record| drop(fleet.apply(&Event::from_record(record))));
    fleet
}

/// Compares card by card, so that a difference is readable.
#[track_caller]
pub(crate) fn assert_same(board: &[Value], expected: &[Value]) {
    let ids = |board: &[Value]| board.iter().map(|card| card["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(board), ids(expected));
    for (card, expected) in board.iter().zip(expected) {
        assert_eq!(card, expected);
    }
}

/// The board of a log at a given time, as JSON.
pub(crate) fn board_of(records: &[Record], settings: FoldSettings, now: Timestamp) -> Vec<Value> {
    let mut fleet = fold(records, settings);
    let _ = fleet.tick(now);
    flightdeck_core::view::board(&fleet).iter().map(|card| serde_json::to_value(card).unwrap()).collect()
}
