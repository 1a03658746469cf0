//! Flat or not: the last third of the run against the one in its middle.

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

const ROWS: [Row; 5] = [
    Row { name: "acknowledged, median", unit: "ms", of: |s| s.ack_p50_ms, factor: 1.5, slack: 0.5 },
    Row { name: "acknowledged, p99", unit: "ms", of: |s| s.ack_p99_ms, factor: 2.0, slack: 10.0 },
    Row { name: "seen by a viewer, p99", unit: "ms", of: |s| s.seen_p99_ms, factor: 2.0, slack: 10.0 },
    Row { name: "resident memory", unit: "MB", of: |s| s.resident_mb, factor: 1.1, slack: 10.0 },
    Row { name: "beside the database", unit: "MB", of: |s| s.other_mb, factor: 1.2, slack: 10.0 },
];

/// The database may grow until retention has something to remove, but each event takes what the first ones took.
pub(super) fn flat(load: &Load, samples: &[Sample]) -> bool {
    let third = samples.len() / 3;
    if third == 0 {
        println!("NOT JUDGED: too few samples");
        return false;
    }
    let (middle, last) = (&samples[third..2 * third], &samples[samples.len() - third..]);
    let mut all = true;
    for row in &ROWS {
        let (before, after) = (median(middle, row.of), median(last, row.of));
        let flat = after <= before * row.factor + row.slack;
        all &= flat;
        say(flat, row.name, &format!("{before:.1} then {after:.1} {}", row.unit));
    }
    let bytes_per_event = |s: &Sample| s.database_mb * 1e6 / s.events.max(1) as f64;
    let (before, after) = (median(middle, bytes_per_event), median(last, bytes_per_event));
    let flat = after <= before * 1.1;
    say(flat, "database per event", &format!("{before:.0} then {after:.0} bytes"));
    let rate = samples.last().map_or(0.0, |s| s.events as f64 / s.at);
    let kept_up = rate >= load.rate as f64 * 0.98;
    say(kept_up, "events a second", &format!("{rate:.0} of {}", load.rate));
    all && flat && kept_up
}

fn say(flat: bool, name: &str, figures: &str) {
    println!("{} {name:<24} {figures}", if flat { "flat    " } else { "NOT FLAT" });
}
