//! An entry of the client's registry: only the named fields are kept, and what was stored says the same.

use flightdeck_core::fleet::Fleet;
use flightdeck_core::limits::SESSION_ID_BYTES_MAX;
use flightdeck_core::record::EventId;
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::stamp;
use flightdeck_core::wire::registry::{record, word};
use serde_json::{Map, Value};

use crate::fuzz;
use crate::hook::{CAPTURES, bytes, fold};

/// Everything that may travel. The messaging socket and its key are not among them.
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
    let mut fleet = Fleet::new(Rules::default());
    let mut n = 0;
    fuzz("registry", captured, |input| {
        let Ok(entry) = serde_json::from_slice::<Map<String, Value>>(input) else { return };
        let Some(mut record) = record(&entry, EventId::new(n, 2)) else { return };
        n += 1;
        assert!(record.session_id.len() <= SESSION_ID_BYTES_MAX);
        assert!(record.payload.keys().all(|key| NAMED.contains(&key.as_str())));
        // Control characters are taken out on the way in: what then reads as a word is one.
        if NAMED.iter().all(|key| record.payload.get(*key) == entry.get(*key)) {
            assert_eq!(word(&record.payload), word(&entry));
        }
        let stored: Map<String, Value> = serde_json::from_slice(&bytes(&record.payload)).unwrap();
        assert_eq!(word(&stored), word(&record.payload));
        stamp(&mut record, Timestamp::from_millis(1_794_744_000_000 + n as i64), fleet.now());
        fold(&mut fleet, &record);
    });
}
