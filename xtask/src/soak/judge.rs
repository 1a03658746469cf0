//! Flat or not: the last third of the run against the one in its middle.

use serde::Serialize;

use super::load::{ByTheWay, Load, Sample};

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
pub(super) fn judge(load: &Load, samples: &[Sample], by_the_way: ByTheWay) -> Vec<Verdict> {
    let third = samples.len() / 3;
    if third == 0 {
        return vec![Verdict { name: "too few samples", figures: String::new(), flat: false }];
    }
    let (middle, last) = (&samples[third..2 * third], &samples[samples.len() - third..]);
    let mut verdicts: Vec<Verdict> = ROWS.iter().map(|row| row.judge(middle, last)).collect();
    let rate = samples.last().map_or(0.0, |s| s.events as f64 / s.at);
    let figures = format!("{rate:.0} of {}", load.rate);
    verdicts.push(Verdict { name: "events a second", figures, flat: rate >= load.rate as f64 * 0.98 });
    // A viewer that saw nothing saw it in no time.
    let sights = samples.iter().map(|s| s.sights).min().unwrap_or(0);
    let figures = format!("at least {sights} in each sample");
    verdicts.push(Verdict { name: "marks seen by a viewer", figures, flat: sights > 0 });
    let figures = format!("{} times", by_the_way.removed);
    verdicts.push(Verdict { name: "old events removed", figures, flat: by_the_way.removed > 0 });
    // Allowed, and told: a viewer that is too slow gets the board anew.
    let figures = format!("{} among {} viewers", by_the_way.gaps, load.viewers);
    verdicts.push(Verdict { name: "gaps", figures, flat: true });
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

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { sessions: 1, rate: 100, viewers: 1, seconds: 45, keep_megabytes: 1 };

    fn samples() -> Vec<Sample> {
        let one = |n: u64| Sample { at: n as f64 * 5.0, events: n * 500, sights: 50, ..Sample::default() };
        (1..=9).map(one).collect()
    }

    fn not_flat(samples: &[Sample], removed: usize) -> Vec<&'static str> {
        let verdicts = judge(&LOAD, samples, ByTheWay { removed, gaps: 3 });
        verdicts.iter().filter(|verdict| !verdict.flat).map(|verdict| verdict.name).collect()
    }

    #[test]
    fn a_run_that_proves_nothing_is_no_good_run() {
        assert!(not_flat(&samples(), 1).is_empty());
        assert_eq!(not_flat(&samples(), 0), ["old events removed"]);
        let mut blind = samples();
        blind[4].sights = 0;
        assert_eq!(not_flat(&blind, 1), ["marks seen by a viewer"]);
        assert_eq!(not_flat(&[], 1), ["too few samples"]);
    }
}
