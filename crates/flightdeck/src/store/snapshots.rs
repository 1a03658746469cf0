//! Snapshots of the fleet.

use super::{Parts, Result};

pub trait Snapshots {
    /// Writes some of a snapshot, which counts once all of it is written; keeps [`super::SNAPSHOTS_KEPT`]. Called with the
    /// same snapshot until it returns [`SaveStep::Done`], with appends in between.
    fn save_step(&mut self, snapshot: &FleetSnapshot) -> Result<SaveStep>;
    /// The newest snapshot of this version that is undamaged.
    fn latest_snapshot(&mut self, rules_version: &str) -> Result<Option<FleetSnapshot>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaveStep {
    More,
    Done,
}

/// The fleet after the event `seq`, as one version of the rules has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSnapshot {
    pub seq: u64,
    pub rules_version: String,
    pub body: Parts,
}

impl FleetSnapshot {
    /// Each step is a bijection of the sum, so damage to any single word is always detected.
    pub(super) fn checksum(&self) -> i64 {
        let mut sum = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |word: u64| sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let rules = self.rules_version.as_bytes();
        [self.seq, rules.len() as u64, self.body.len() as u64].into_iter().for_each(&mut take);
        // Only the last part may end within a word.
        for chunk in [rules].into_iter().chain(self.body.iter()).flat_map(|part| part.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            take(u64::from_le_bytes(word));
        }
        sum as i64
    }
}
