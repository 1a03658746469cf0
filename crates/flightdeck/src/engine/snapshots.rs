//! The fleet as bytes and back: one line of JSON with the number of sessions and the rest of the fleet, then one line for
//! each session, compressed.
//!
//! A large fleet is tens of megabytes of text. It is never in memory as a whole, and other tasks run while it is written.

use std::io::{self, BufRead, BufReader, Write};

use flightdeck_core::fleet::Fleet;
use flightdeck_core::session::Session;
use lz4_flex::frame::{FrameDecoder, FrameEncoder};

use crate::store::Parts;

/// Sessions written before other tasks get a turn.
const SESSIONS_AT_ONCE: usize = 32;

/// A fleet as bytes.
#[derive(Debug)]
pub struct Packed {
    pub body: Parts,
    /// The size before compression: the cost of writing and reading it.
    pub text_bytes: usize,
}

/// Takes the fleet apart: the engine need not copy a session that has been written when it changes it.
pub async fn pack(fleet: Fleet) -> io::Result<Packed> {
    let count = fleet.len();
    let (fleet, sessions) = fleet.take_apart();
    let mut packer = FrameEncoder::new(Parts::default());
    let mut line = Vec::new();
    serde_json::to_writer(&mut line, &(count, fleet))?;
    let mut text_bytes = line.len();
    packer.write_all(&line)?;
    for (n, session) in sessions.enumerate() {
        if n % SESSIONS_AT_ONCE == 0 {
            tokio::task::yield_now().await;
        }
        line.clear();
        line.push(b'\n');
        serde_json::to_writer(&mut line, &session)?;
        text_bytes += line.len();
        packer.write_all(&line)?;
    }
    Ok(Packed { body: packer.finish()?, text_bytes })
}

pub fn unpack(body: &[u8]) -> io::Result<Fleet> {
    let mut lines = BufReader::new(FrameDecoder::new(body));
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line)?;
    let (count, mut fleet): (usize, Fleet) = serde_json::from_slice(&line)?;
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            // A body that was cut between two blocks ends without an error.
            return if fleet.len() == count { Ok(fleet) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        fleet.put_back(serde_json::from_slice::<Session>(&line)?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flightdeck_core::log::event::Event;
    use flightdeck_core::log::from_hook::stamp;
    use flightdeck_core::rules::FoldSettings;
    use flightdeck_core::time::Timestamp;
    use flightdeck_core::wire::hook::HookDraft;

    /// Every captured session after this share of its events.
    fn captured(share: f64) -> Fleet {
        let mut fleet = Fleet::new(FoldSettings::default());
        let mut seq = 0;
        for scenario in flightdeck_sim::corpus::scenarios() {
            let told = (scenario.hooks.len() as f64 * share) as usize;
            for hook in scenario.hooks.into_iter().take(told) {
                let draft = HookDraft { name_in_path: None, payload: hook.event, env: hook.env, bytes: 0 };
                let Ok(mut record) = draft.into_record(crate::clock::fresh_id()) else { continue };
                seq += 1;
                record.seq = seq;
                stamp(&mut record, Timestamp::from_millis(hook.t_ms), Timestamp::default());
                fleet.apply(&Event::from_record(&record));
            }
        }
        fleet
    }

    fn text(fleet: &Fleet) -> String {
        serde_json::to_string(fleet).unwrap()
    }

    #[tokio::test]
    async fn every_captured_fleet_reads_back_as_it_was_written() {
        for share in [0.0, 0.3, 0.6, 1.0] {
            let fleet = captured(share);
            let packed = pack(fleet.clone()).await.unwrap();
            assert_eq!(text(&unpack(&packed.body.joined()).unwrap()), text(&fleet), "{share}");
            assert!(share == 0.0 || packed.body.len() < packed.text_bytes / 2, "{packed:?}");
        }
    }

    #[tokio::test]
    async fn a_damaged_body_is_an_error() {
        let whole = pack(captured(1.0)).await.unwrap().body.joined().into_owned();
        for cut in [0, 1, 7, 1000, whole.len() / 2, whole.len() - 100] {
            assert!(unpack(&whole[..cut]).is_err(), "{cut} of {} bytes", whole.len());
        }
    }
}
