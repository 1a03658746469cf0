//! The client's status line input: only some fields are kept, and they give the same data as the whole input.

use flightdeck::frame::parse_body;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::status_line::{parse_status_line, status_line_draft};
use serde_json::{Map, Value};

use crate::fuzz;
use crate::hook::{CAPTURES, bytes, fold};

/// Twenty-one values, each at most a path long.
const KEPT_BYTES_MAX: usize = 21 * 6 * 4096;

#[test]
fn status_line() {
    let captured = CAPTURES.iter().flat_map(|s| s.status_lines.iter().map(bytes)).collect();
    let mut fleet = Fleet::new(FoldSettings::default());
    let mut n = 0;
    fuzz("status_line", captured, |input| {
        let Ok(payload) = parse_body(input) else { return };
        let kept = status_line_draft(&payload, Map::new());
        assert!(bytes(&kept.payload).len() <= KEPT_BYTES_MAX);
        // The hook reduces a line without serde_json, to the same values.
        let sent = flightdeck_hook::status_line::kept_fields(input).unwrap();
        assert_eq!(serde_json::from_slice::<Map<String, Value>>(&sent).unwrap(), kept.payload);
        // Filtering twice gives the same as filtering once.
        assert_eq!(status_line_draft(&kept.payload, Map::new()).payload, kept.payload);
        let said = parse_status_line(&kept.payload);
        let stored: Map<String, Value> = serde_json::from_slice(&bytes(&kept.payload)).unwrap();
        assert_eq!(parse_status_line(&stored), said);
        let Ok(mut record) = kept.into_record(EventId::new(n, 3)) else { return };
        n += 1;
        stamp(&mut record, Timestamp::from_millis(1_794_744_000_000 + n as i64), fleet.now());
        fold(&mut fleet, &record);
    });
}
