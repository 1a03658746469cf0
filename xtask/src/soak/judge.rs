//! Flat or not: the last third of the run against the one in its middle.

use serde::Serialize;

use super::load::{Load, Sample};

pub(super) fn percentile(all: &mut [f64], percent: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get((all.len() * percent / 100).min(all.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn median(samples: &[Sample], what: impl Fn(&Sample) -> f64) -> f64 {
    percentile(&mut samples.iter().map(what).collect::<Vec<_>>(), 50)
}

struct Row {
    name: &'static str,
    unit: &'static str,
    of: fn(&Sample) -> f64,
    /// The last third may be this many times the middle one …
    factor: f64,
    /// … and this much more, which is noise.
    slack: f64,
}

const ROWS: [Row; 6] = [
    Row { name: "acknowledged, median", unit: "ms", of: |s| s.ack_p50_ms, factor: 1.5, slack: 0.5 },
    Row { name: "acknowledged, p99", unit: "ms", of: |s| s.ack_p99_ms, factor: 2.0, slack: 10.0 },
    Row { name: "seen by a viewer, p99", unit: "ms", of: |s| s.seen_p99_ms, factor: 2.0, slack: 10.0 },
    Row { name: "resident memory", unit: "MB", of: |s| s.resident_mb, factor: 1.1, slack: 10.0 },
    Row { name: "beside the database", unit: "MB", of: |s| s.other_mb, factor: 1.2, slack: 10.0 },
    Row {
        name: "database an event",
        unit: "bytes",
        of: |s| s.database_mb * 1e6 / s.events.max(1) as f64,
        factor: 1.1,
        slack: 0.0,
    },
];

/// One line of the verdict.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Verdict {
    name: &'static str,
    figures: String,
    flat: bool,
}

/// The database may grow until retention has something to remove, but each event takes what the first ones took.
pub(super) fn judge(load: &Load, samples: &[Sample]) -> Vec<Verdict> {
    let third = samples.len() / 3;
    if third == 0 {
        return vec![Verdict { name: "too few samples", figures: String::new(), flat: false }];
    }
    let (middle, last) = (&samples[third..2 * third], &samples[samples.len() - third..]);
    let mut verdicts: Vec<Verdict> = ROWS.iter().map(|row| row.judge(middle, last)).collect();
    let rate = samples.last().map_or(0.0, |s| s.events as f64 / s.at);
    let figures = format!("{rate:.0} of {}", load.rate);
    verdicts.push(Verdict { name: "events a second", figures, flat: rate >= load.rate as f64 * 0.98 });
    verdicts
}

impl Row {
    fn judge(&self, middle: &[Sample], last: &[Sample]) -> Verdict {
        let (before, after) = (median(middle, self.of), median(last, self.of));
        let flat = after <= before * self.factor + self.slack;
        Verdict { name: self.name, figures: format!("{before:.1} then {after:.1} {}", self.unit), flat }
    }
}

/// True if all of it is flat.
pub(super) fn say(verdicts: &[Verdict]) -> bool {
    for Verdict { name, figures, flat } in verdicts {
        println!("{} {name:<24} {figures}", if *flat { "flat    " } else { "NOT FLAT" });
    }
    verdicts.iter().all(|verdict| verdict.flat)
}
