//! A card as the core's own stories read it.

use flightdeck_core::board::Card;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::record::Record;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use serde_json::Value;

#[path = "../../../flightdeck-core/tests/it/story.rs"]
#[allow(dead_code, reason = "the core tells its stories with it; here it only reads cards")]
mod story;

pub(crate) fn read(card: &Value) -> String {
    story::read(&serde_json::from_value::<Card>(card.clone()).unwrap())
}

pub(crate) fn fold(records: &[Record], rules: Rules) -> Fleet {
    let mut fleet = Fleet::new(rules);
    records.iter().for_each(|record| drop(fleet.apply(&Event::from_record(record))));
    fleet
}

/// Card by card, so that a difference can be read.
#[track_caller]
pub(crate) fn assert_same(board: &[Value], expected: &[Value]) {
    let ids = |board: &[Value]| board.iter().map(|card| card["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(board), ids(expected));
    for (card, expected) in board.iter().zip(expected) {
        assert_eq!(card, expected);
    }
}

/// The board of a log at a moment, as it goes over the wire.
pub(crate) fn of(records: &[Record], rules: Rules, now: Timestamp) -> Vec<Value> {
    let mut fleet = fold(records, rules);
    let _ = fleet.tick(now);
    flightdeck_core::board::board(&fleet).iter().map(|card| serde_json::to_value(card).unwrap()).collect()
}
