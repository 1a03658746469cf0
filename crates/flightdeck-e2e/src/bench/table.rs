//! From samples to lines: medians, ratios, spread, and whether the promise was kept.

use serde::{Deserialize, Serialize};

use super::promises::{Check, Promise, PromiseRow};
use super::{Measured, Series};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TableLine {
    pub(super) row: String,
    pub(super) title: String,
    /// A ratio, or a number in `unit`.
    pub(super) value: f64,
    /// Percentiles of the samples of `value`.
    pub(super) p10: f64,
    pub(super) p90: f64,
    pub(super) unit: String,
    /// The ratio of the tenth percentiles of times: an estimate for an otherwise idle machine.
    pub(super) undisturbed: Option<f64>,
    /// The medians of a ratio: `1.20 ms / 0.61 ms`.
    pub(super) medians: String,
    pub(super) samples: usize,
    pub(super) promise: String,
    pub(super) held: Option<bool>,
    pub(super) problem: Option<String>,
}

impl TableLine {
    pub(super) fn failed(row: &PromiseRow, problem: &str) -> Self {
        Self {
            row: row.name.to_owned(),
            title: row.about.to_owned(),
            value: 0.0,
            p10: 0.0,
            p90: 0.0,
            unit: String::new(),
            undisturbed: None,
            medians: String::new(),
            samples: 0,
            promise: String::new(),
            held: None,
            problem: Some(problem.to_owned()),
        }
    }

    pub(super) fn is_failure(&self) -> bool {
        self.problem.is_some()
    }

    pub(super) fn is_ratio(&self) -> bool {
        self.unit == "×"
    }
}

pub(super) fn judge(row: &PromiseRow, measured: &Measured) -> Vec<TableLine> {
    let line = |check: &Check| {
        judge_check(row, check, measured).unwrap_or_else(|| TableLine::failed(row, "no such series"))
    };
    row.checks.iter().map(line).collect()
}

fn judge_check(row: &PromiseRow, check: &Check, measured: &Measured) -> Option<TableLine> {
    let series = find_series(measured, check.series)?;
    let base = TableLine {
        row: row.name.to_owned(),
        title: check.title.to_owned(),
        samples: series.samples.len(),
        ..TableLine::failed(row, "")
    };
    let base = TableLine { problem: None, ..base };
    let line = match check.against.map(|name| find_series(measured, name)) {
        Some(anchor) => against(base, series, anchor?, check.promise),
        None => alone(base, series, check.promise),
    };
    Some(line)
}

/// A leading `*` stands for a number that differs between a quick and a full run.
fn find_series<'a>(measured: &'a Measured, name: &str) -> Option<&'a Series> {
    let fits = |series: &&Series| match name.strip_prefix('*') {
        Some(end) => series.name.ends_with(end),
        None => series.name == name,
    };
    measured.series.iter().find(fits)
}

/// The ratio of the medians. The spread is over the rounds; each round measured both.
fn against(line: TableLine, series: &Series, anchor: &Series, promise: Promise) -> TableLine {
    let rounds: Vec<f64> = series.samples.iter().zip(&anchor.samples).map(|(a, b)| a / b).collect();
    let (top, bottom) = (percentile(&series.samples, 50.0), percentile(&anchor.samples, 50.0));
    let value = top / bottom;
    TableLine {
        value,
        p10: percentile(&rounds, 10.0),
        p90: percentile(&rounds, 90.0),
        unit: "×".to_owned(),
        undisturbed: matches!(series.unit.as_str(), "ms" | "µs")
            .then(|| percentile(&series.samples, 10.0) / percentile(&anchor.samples, 10.0)),
        medians: format!("{} / {} {}", short(top), short(bottom), series.unit),
        promise: promise.in_words(&series.unit),
        held: promise.held(value),
        ..line
    }
}

fn alone(line: TableLine, series: &Series, promise: Promise) -> TableLine {
    let value = percentile(&series.samples, promise.percentile());
    TableLine {
        value,
        p10: percentile(&series.samples, 10.0),
        p90: percentile(&series.samples, 90.0),
        unit: series.unit.clone(),
        promise: promise.in_words(&series.unit),
        held: promise.held(value),
        ..line
    }
}

fn percentile(samples: &[f64], percent: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((percent / 100.0 * last as f64).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Rounded to three significant digits.
pub fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

pub(super) fn print(lines: &[TableLine]) -> String {
    let mut text = format!(
        "{:<34} {:>10}  {:>15}  {:>11}  {:<26} {:<10} {}\n",
        "", "measured", "p10–p90", "undisturbed", "medians", "promised", "held"
    );
    for line in lines {
        if let Some(problem) = &line.problem {
            text += &format!("{:<34} FAILED: {problem}\n", line.title);
            continue;
        }
        text += &format!(
            "{:<34} {:>10}  {:>15}  {:>11}  {:<26} {:<10} {}\n",
            line.title,
            format!("{} {}", short(line.value), line.unit),
            format!("{}–{}", short(line.p10), short(line.p90)),
            line.undisturbed.map_or(String::new(), |u| format!("{} ×", short(u))),
            line.medians,
            line.promise,
            match line.held {
                Some(true) => "yes",
                Some(false) => "NO",
                None => "",
            }
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_of_the_medians_and_its_spread_is_of_the_rounds() {
        let series =
            |samples: &[f64]| Series { name: String::new(), unit: "ms".into(), samples: samples.into() };
        let row = PromiseRow { name: "r", about: "", long: false, checks: &[] };
        let line = against(
            TableLine::failed(&row, ""),
            &series(&[2.0, 4.0, 9.0]),
            &series(&[1.0, 2.0, 3.0]),
            Promise::RatioMax(2.0),
        );
        assert_eq!((line.value, line.p10, line.p90, line.held), (2.0, 2.0, 3.0, Some(true)));
        assert_eq!(line.medians, "4.00 / 2.00 ms");
    }

    #[test]
    fn a_percentile_of_nothing_is_not_a_number() {
        assert!(percentile(&[], 50.0).is_nan());
        assert_eq!(percentile(&[5.0, 1.0, 3.0], 50.0), 3.0);
        assert_eq!(percentile(&[5.0, 1.0, 3.0], 99.0), 5.0);
    }
}
