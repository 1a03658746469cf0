//! Measures the detector on messages with a known intent.

use super::{DetectedIntent, Intent, TurnIntent};

/// One message and the intent a person gave it.
#[derive(Clone, Copy, Debug)]
pub struct Labelled<'a> {
    pub intent: Intent,
    /// Tools changed files in its turn.
    pub changed_files: bool,
    pub message: &'a str,
}

/// Reads a set: each message follows a line `@@ intent`, or `@@ intent changed` if tools changed files in its turn.
pub fn parse(set: &str) -> Vec<Labelled<'_>> {
    let blocks = set.split("@@ ").filter_map(|block| block.split_once('\n'));
    blocks
        .filter_map(|(name, message)| {
            let (name, more) = name.trim().split_once(' ').unwrap_or((name.trim(), ""));
            let intent = Intent::ALL.into_iter().find(|intent| intent.as_str() == name)?;
            Some(Labelled { intent, changed_files: more == "changed", message: message.trim() })
        })
        .collect()
}

/// How often the detector was right about one intent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub right: usize,
    pub detected: usize,
    pub labelled: usize,
}

impl Score {
    /// Of the messages detected as this intent, how many have it.
    pub fn precision(self) -> f64 {
        self.right as f64 / self.detected.max(1) as f64
    }

    /// Of the messages with this intent, how many were detected.
    pub fn recall(self) -> f64 {
        self.right as f64 / self.labelled.max(1) as f64
    }
}

impl Labelled<'_> {
    pub fn detect(&self) -> DetectedIntent {
        TurnIntent::detect(self.message).for_turn(self.changed_files).clone()
    }
}

pub fn score(set: &[Labelled<'_>], intent: Intent) -> Score {
    let mut score = Score::default();
    for example in set {
        let detected = example.detect().intent == intent;
        let labelled = example.intent == intent;
        score.right += usize::from(detected && labelled);
        score.detected += usize::from(detected);
        score.labelled += usize::from(labelled);
    }
    score
}
