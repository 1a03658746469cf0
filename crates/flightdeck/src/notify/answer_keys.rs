//! Keys for the buttons of a note: each answers one ask in one way, and works once.
//!
//! A key alone proves that its sender may answer, so it is long and random. Keys are only in memory: a restarted daemon holds no hook any
//! more, so it could not deliver the answers to their asks.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flightdeck_core::approval::answer::Decision;
use flightdeck_core::ids::AskId;
use ring::rand::{SecureRandom, SystemRandom};

use crate::secret::Secret;

/// Most keys in memory; beyond that the oldest is removed. An ask has two keys, and few asks are open at a time.
const KEYS_MAX: usize = 512;
/// 128 bits cannot be guessed.
const KEY_BYTES: usize = 16;

#[derive(Debug, Default)]
pub struct AnswerKeys(Mutex<VecDeque<IssuedKey>>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedKey {
    key: Secret,
    pub ask_id: AskId,
    pub decision: Decision,
}

impl AnswerKeys {
    /// A new key. `None` if the system gives no random bytes.
    pub fn issue(&self, ask_id: &AskId, decision: Decision) -> Option<String> {
        let mut bytes = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut bytes).ok()?;
        let key: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.keep(IssuedKey { key: key.clone().into(), ask_id: ask_id.clone(), decision });
        Some(key)
    }

    /// Removes this key and all other keys of its ask, because an ask is answered once.
    pub fn redeem(&self, key: &str) -> Option<IssuedKey> {
        let mut keys = self.keys();
        let issued = keys.iter().find(|issued| issued.key.equals(key))?.clone();
        keys.retain(|other| other.ask_id != issued.ask_id);
        Some(issued)
    }

    /// Stores a key: a new one, or one whose answer could not be stored, so that the person can press the button again.
    pub fn keep(&self, issued: IssuedKey) {
        let mut keys = self.keys();
        if keys.len() == KEYS_MAX {
            keys.pop_front();
        }
        keys.push_back(issued);
    }

    /// A poisoned lock can be used, because no code leaves the list half changed.
    fn keys(&self) -> MutexGuard<'_, VecDeque<IssuedKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_works_once_and_takes_the_other_keys_of_its_ask_with_it() {
        let keys = AnswerKeys::default();
        let (ask, other) = (AskId::from("a"), AskId::from("b"));
        let allow = keys.issue(&ask, Decision::Allow).unwrap();
        let deny = keys.issue(&ask, Decision::Deny).unwrap();
        let kept = keys.issue(&other, Decision::Deny).unwrap();
        assert!(allow != deny && allow.len() == 2 * KEY_BYTES);
        assert_eq!(keys.redeem("nothing"), None);
        assert_eq!(keys.redeem(&allow).unwrap().decision, Decision::Allow);
        assert_eq!((keys.redeem(&allow), keys.redeem(&deny)), (None, None));
        assert_eq!(keys.redeem(&kept).unwrap().ask_id, other);
    }

    #[test]
    fn old_keys_make_room_for_new_ones() {
        let keys = AnswerKeys::default();
        let first = keys.issue(&AskId::from("first"), Decision::Allow).unwrap();
        for n in 0..KEYS_MAX {
            keys.issue(&AskId::from(n.to_string()), Decision::Allow).unwrap();
        }
        assert_eq!((keys.redeem(&first), keys.keys().len()), (None, KEYS_MAX));
    }
}
