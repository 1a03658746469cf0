//! An entry of the client's registry: only the named fields are kept, and the stored entry gives the same data.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::limits::SESSION_ID_BYTES_MAX;
use flightdeck_core::log::from_hook::stamp;
use flightdeck_core::log::from_registry::registry_record;
use flightdeck_core::log::record::EventId;
use flightdeck_core::rules::FoldSettings;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::registry::parse_report;
use serde_json::{Map, Value};

use crate::fuzz;
use crate::hook::{CAPTURES, bytes, fold};

/// The fields that may be stored. The messaging socket and its key are not among them.
const NAMED: [&str; 11] = [
    "pid",
    "procStart",
    "sessionId",
    "cwd",
    "startedAt",
    "version",
    "kind",
    "entrypoint",
    "status",
    "waitingFor",
    "statusUpdatedAt",
];

#[test]
fn registry() {
    let entries = CAPTURES.iter().flat_map(|s| s.registry.iter().filter_map(|r| r.content.as_ref()));
    let captured = entries.map(bytes).collect();
    let mut fleet = Fleet::new(FoldSettings::default());
    let mut n = 0;
    fuzz("registry", captured, |input| {
        let Ok(entry) = serde_json::from_slice::<Map<String, Value>>(input) else { return };
        let Some(mut record) = registry_record(&entry, EventId::new(n, 2)) else { return };
        n += 1;
        assert!(record.session_id().unwrap().len() <= SESSION_ID_BYTES_MAX);
        assert!(record.payload.keys().all(|key| NAMED.contains(&key.as_str())));
        // Control characters are removed first; the remaining text counts.
        if NAMED.iter().all(|key| record.payload.get(*key) == entry.get(*key)) {
            assert_eq!(parse_report(&record.payload), parse_report(&entry));
        }
        let stored: Map<String, Value> = serde_json::from_slice(&bytes(&record.payload)).unwrap();
        assert_eq!(parse_report(&stored), parse_report(&record.payload));
        stamp(&mut record, Timestamp::from_millis(1_794_744_000_000 + n as i64), fleet.now());
        fold(&mut fleet, &record);
    });
}
