//! The reducer over every captured scenario, for counting its instructions.

use anyhow::Result;
use flightdeck_core::board;
use flightdeck_core::event::Event;
use flightdeck_core::fleet::Fleet;
use flightdeck_core::record::{EventId, Record};
use flightdeck_core::rules::Rules;
use flightdeck_core::time::Timestamp;
use flightdeck_core::wire::hook::{HookDraft, stamp};

pub(crate) fn fold_corpus() -> Result<()> {
    let mut stories = Vec::new();
    for scenario in flightdeck_sim::corpus::scenarios() {
        let mut records = Vec::new();
        for (n, hook) in scenario.hooks.into_iter().enumerate() {
            let draft = HookDraft { name_in_path: None, payload: hook.event, env: hook.env, bytes: 0 };
            let mut record = draft.into_record(EventId(n as u128))?;
            record.seq = n as u64 + 1;
            stamp(&mut record, Timestamp::from_millis(hook.t_ms), Timestamp::default());
            records.push(record);
        }
        stories.push(records);
    }
    let events: usize = stories.iter().map(Vec::len).sum();
    println!("{events} {}", counted_fold(&stories));
    Ok(())
}

/// The counter is switched on while this runs. Gives the number of cards, so that nothing is left out.
#[inline(never)]
fn counted_fold(stories: &[Vec<Record>]) -> usize {
    let mut cards = 0;
    for records in stories {
        let mut fleet = Fleet::new(Rules::default());
        for record in records {
            fleet.apply(&Event::from_record(record));
            let session = fleet.get(&record.session_id);
            cards += usize::from(session.is_some_and(|s| !board::card(s, fleet.rules()).id.is_empty()));
        }
    }
    cards
}
