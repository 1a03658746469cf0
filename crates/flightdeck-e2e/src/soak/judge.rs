//! Decides which measurements stayed flat: compares the last third of the run with the middle third.

use serde::Serialize;

use super::sample::{LoadSize, Sample};

pub(super) fn percentile(all: &mut [f64], percent: usize) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get((all.len() * percent / 100).min(all.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

struct Row {
    name: &'static str,
    unit: &'static str,
    of: fn(&Sample) -> f64,
    /// The percentile of a third's samples that is compared.
    percent: usize,
    /// The last third may be this many times the middle third …
    factor: f64,
    /// … plus this much noise.
    slack: f64,
}

const MEDIAN: usize = 50;
const MOST: usize = 100;

const ROWS: [Row; 7] = [
    Row {
        name: "acknowledged, median",
        unit: "ms",
        of: |s| s.ack_p50_ms,
        percent: MEDIAN,
        factor: 1.5,
        slack: 0.5,
    },
    Row {
        name: "acknowledged, p99",
        unit: "ms",
        of: |s| s.ack_p99_ms,
        percent: MEDIAN,
        factor: 2.0,
        slack: 10.0,
    },
    Row {
        name: "seen by a viewer, p99",
        unit: "ms",
        of: |s| s.seen_p99_ms,
        percent: MEDIAN,
        factor: 2.0,
        slack: 10.0,
    },
    Row {
        name: "resident memory",
        unit: "MB",
        of: |s| s.resident_mb,
        percent: MEDIAN,
        factor: 1.1,
        slack: 10.0,
    },
    Row {
        name: "resident memory, most",
        unit: "MB",
        of: |s| s.resident_mb,
        percent: MOST,
        factor: 1.1,
        slack: 10.0,
    },
    Row {
        name: "database, most",
        unit: "MB",
        of: |s| s.database_mb,
        percent: MOST,
        factor: 1.1,
        slack: 10.0,
    },
    Row {
        name: "beside the database, most",
        unit: "MB",
        of: |s| s.other_mb,
        percent: MOST,
        factor: 1.2,
        slack: 10.0,
    },
];

/// While old events are removed, the slowest acknowledgement may take this many times as long as otherwise …
const STALL_FACTOR: f64 = 2.0;
/// … plus this much: a hook waits this long before it spools its event.
const STALL_SLACK_MS: f64 = 50.0;
/// No acknowledgement may take longer than a hook waits.
const STALL_MAX_MS: f64 = 1000.0;
/// Removals of old events that each compared third must contain.
const REMOVALS_MIN: usize = 2;

/// One line of the verdict.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RowVerdict {
    name: &'static str,
    figures: String,
    flat: bool,
}

/// Old events are removed during the run, so the database has reached its final size by the middle third.
pub(super) fn judge(load: &LoadSize, samples: &[Sample], gaps: u64) -> Vec<RowVerdict> {
    let third = samples.len() / 3;
    if third == 0 {
        return vec![RowVerdict { name: "too few samples", figures: String::new(), flat: false }];
    }
    let (middle, last) = (&samples[third..2 * third], &samples[samples.len() - third..]);
    let mut verdicts: Vec<RowVerdict> = ROWS.iter().map(|row| row.judge(middle, last)).collect();
    verdicts.push(removals(middle, last));
    verdicts.push(no_stall(samples));
    let rate = samples.last().map_or(0.0, |s| s.events as f64 / s.at);
    let figures = format!("{rate:.0} of {}", load.rate);
    verdicts.push(RowVerdict { name: "events a second", figures, flat: rate >= load.rate as f64 * 0.98 });
    // Without any marked event the latency would be zero, which proves nothing.
    let sights = samples.iter().map(|s| s.sights).min().unwrap_or(0);
    let figures = format!("at least {sights} in each sample");
    verdicts.push(RowVerdict { name: "marks seen by a viewer", figures, flat: sights > 0 });
    // Reported only: a viewer that is too slow gets a new snapshot, which is allowed.
    verdicts.push(RowVerdict {
        name: "gaps",
        figures: format!("{gaps} among {} viewers", load.viewers),
        flat: true,
    });
    verdicts
}

fn removals(middle: &[Sample], last: &[Sample]) -> RowVerdict {
    let of = |samples: &[Sample]| match samples {
        [first, .., last] => last.removals.saturating_sub(first.removals),
        _ => 0,
    };
    let (before, after) = (of(middle), of(last));
    RowVerdict {
        name: "old events removed",
        figures: format!("{before} then {after} times"),
        flat: before.min(after) >= REMOVALS_MIN,
    }
}

/// Compares the slowest acknowledgement while old events are removed with the slowest at other times.
fn no_stall(samples: &[Sample]) -> RowVerdict {
    let (mut removing, mut others) = (Vec::new(), Vec::new());
    for around in samples.windows(3) {
        let [before, now, after] = [0, 1, 2].map(|n| &around[n]);
        if after.removals > now.removals {
            // The log reports a removal at its end; it may have begun in the sample before.
            removing.push(now.ack_max_ms.max(after.ack_max_ms));
        } else if now.removals == before.removals {
            others.push(now.ack_max_ms);
        }
    }
    let (with, without) = (percentile(&mut removing, MEDIAN), percentile(&mut others, MEDIAN));
    let most = percentile(&mut removing, MOST);
    RowVerdict {
        name: "slowest, old ones removed",
        figures: format!("{without:.0} ms without, {with:.0} with, {most:.0} at most"),
        flat: with <= without * STALL_FACTOR + STALL_SLACK_MS && most <= STALL_MAX_MS,
    }
}

impl Row {
    fn judge(&self, middle: &[Sample], last: &[Sample]) -> RowVerdict {
        let of = |samples: &[Sample]| {
            percentile(&mut samples.iter().map(self.of).collect::<Vec<_>>(), self.percent)
        };
        let (before, after) = (of(middle), of(last));
        let flat = after <= before * self.factor + self.slack;
        RowVerdict { name: self.name, figures: format!("{before:.1} then {after:.1} {}", self.unit), flat }
    }
}

/// Prints the verdicts. True if all are flat.
pub(super) fn print(verdicts: &[RowVerdict]) -> bool {
    for RowVerdict { name, figures, flat } in verdicts {
        println!("{} {name:<26} {figures}", if *flat { "flat    " } else { "NOT FLAT" });
    }
    verdicts.iter().all(|verdict| verdict.flat)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: LoadSize =
        LoadSize { sessions: 1, rate: 100, viewers: 1, seconds: 45, warm_up: 0, keep_megabytes: 1 };

    fn samples() -> Vec<Sample> {
        let one = |n: u64| Sample {
            at: n as f64 * 5.0,
            events: n * 500,
            sights: 50,
            ack_max_ms: 20.0,
            removals: n as usize,
            database_mb: 60.0,
            ..Sample::default()
        };
        (1..=9).map(one).collect()
    }

    fn not_flat(change: impl Fn(usize, &mut Sample)) -> Vec<&'static str> {
        let mut samples = samples();
        samples.iter_mut().enumerate().for_each(|(n, sample)| change(n, sample));
        let verdicts = judge(&LOAD, &samples, 3);
        verdicts.iter().filter(|verdict| !verdict.flat).map(|verdict| verdict.name).collect()
    }

    #[test]
    fn a_run_without_removals_sights_or_samples_fails() {
        assert!(not_flat(|_, _| ()).is_empty());
        assert_eq!(not_flat(|_, s| s.removals = 1), ["old events removed"]);
        assert_eq!(not_flat(|n, s| s.removals = n.min(4)), ["old events removed"], "only early in the run");
        assert_eq!(not_flat(|n, s| s.sights = if n == 4 { 0 } else { 50 }), ["marks seen by a viewer"]);
        let verdicts = judge(&LOAD, &[], 0);
        assert_eq!(verdicts.iter().map(|v| v.name).collect::<Vec<_>>(), ["too few samples"]);
    }

    #[test]
    fn a_growing_value_is_not_flat() {
        assert_eq!(not_flat(|n, s| s.database_mb = 10.0 * n as f64), ["database, most"]);
        assert_eq!(not_flat(|n, s| s.other_mb = 10.0 * n as f64), ["beside the database, most"]);
        let at_the_end = |n, s: &mut Sample| s.resident_mb = if n == 8 { 150.0 } else { 100.0 };
        assert_eq!(not_flat(at_the_end), ["resident memory, most"]);
    }

    #[test]
    fn an_acknowledgement_that_waits_for_a_removal_is_a_stall() {
        let stall = |n, s: &mut Sample| {
            s.removals = n / 4;
            // The removal begins here and is reported in the next sample.
            s.ack_max_ms = if n % 4 == 3 { 300.0 } else { 20.0 };
        };
        let mut samples = samples();
        samples.iter_mut().enumerate().for_each(|(n, sample)| stall(n, sample));
        assert!(!no_stall(&samples).flat);
        samples.iter_mut().for_each(|s| s.ack_max_ms = 300.0);
        assert!(no_stall(&samples).flat, "it is as slow without");
    }
}
