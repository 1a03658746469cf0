//! The last measurement of every row, kept between runs. A run replaces only the rows it measured.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::Measured;
use super::promises::ROWS;
use super::table::TableLine;

/// One run, as it is stored.
pub(super) struct Run<'a> {
    /// A [`Machine`](crate::machine::Machine).
    pub(super) machine: Value,
    pub(super) quick: bool,
    pub(super) lines: &'a [TableLine],
    pub(super) raw: &'a [Measured],
}

/// Merges a run into the file of earlier runs; returns all lines, for the picture.
pub(super) fn merge_into(path: &Path, run: &Run<'_>) -> Result<Vec<TableLine>> {
    let before = match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text)
            .with_context(|| format!("{} is not what a bench wrote: remove it", path.display()))?,
        Err(_) => Value::Null,
    };
    let all = merged(&before, run)?;
    fs::write(path, serde_json::to_string_pretty(&all)?)?;
    let mut lines = all["lines"].as_array().cloned().unwrap_or_default();
    // Older files may also contain quick runs.
    lines.retain(|line| line["quick"] == run.quick);
    // A value that is not a number (a ratio to zero) has no bar.
    Ok(lines.into_iter().filter_map(|line| serde_json::from_value(line).ok()).collect())
}

/// `machine` and `quick` at the top are of this run; each line also has its own.
fn merged(before: &Value, run: &Run<'_>) -> Result<Value> {
    let was_measured = |row: &str| run.lines.iter().any(|line| line.row == row && !line.is_failure());
    let mut lines: Vec<Value> = Vec::new();
    for line in before["lines"].as_array().into_iter().flatten() {
        if !was_measured(line["row"].as_str().unwrap_or_default()) {
            let mut line = line.clone();
            // Lines of older files have none of their own.
            for key in ["machine", "quick"] {
                if line[key].is_null() {
                    line[key] = before[key].clone();
                }
            }
            lines.push(line);
        }
    }
    // A failed row keeps its earlier measurement.
    let before_has = |row: &str| lines.iter().any(|line| line["row"] == row);
    let mut new = Vec::new();
    for line in run.lines.iter().filter(|line| was_measured(&line.row) || !before_has(&line.row)) {
        let mut line = serde_json::to_value(line)?;
        line["machine"] = run.machine.clone();
        line["quick"] = json!(run.quick);
        new.push(line);
    }
    lines.extend(new);
    lines.sort_by_key(|line| ROWS.iter().position(|row| line["row"] == row.name));
    let samples = samples(before, run, was_measured);
    Ok(json!({ "machine": run.machine, "quick": run.quick, "lines": lines, "samples": samples }))
}

fn samples(before: &Value, run: &Run<'_>, was_measured: impl Fn(&str) -> bool) -> Map<String, Value> {
    let row = |key: &str| key.split(':').next().unwrap_or_default().to_owned();
    let old = before["samples"].as_object().into_iter().flatten();
    let old = old.filter(|(key, _)| !was_measured(&row(key))).map(|(key, all)| (key.clone(), all.clone()));
    let new = run.raw.iter().flat_map(|measured| {
        let name = |s: &super::Series| format!("{}: {} ({})", measured.row, s.name, s.unit);
        measured.series.iter().map(move |s| (name(s), json!(s.samples)))
    });
    old.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(row: &str, title: &str, value: f64) -> TableLine {
        let row = ROWS.iter().find(|r| r.name == row).expect("a row");
        TableLine { title: title.to_owned(), value, problem: None, ..TableLine::failed(row, "") }
    }

    fn seen(all: &Value) -> Vec<(&str, &str, bool)> {
        let lines = all["lines"].as_array().unwrap().iter();
        lines
            .map(|l| {
                (l["title"].as_str().unwrap(), l["machine"]["commit"].as_str().unwrap(), l["quick"] == true)
            })
            .collect()
    }

    #[test]
    fn a_run_replaces_the_rows_it_measured_and_no_other() -> Result<()> {
        let failed = ROWS.iter().find(|row| row.name == "hook").map(|row| TableLine::failed(row, "broke"));
        let lines = [line("ingest", "i, again", 3.0), failed.unwrap()];
        let raw = [Measured { row: "ingest".to_owned(), series: Vec::new() }];
        let run = Run { machine: json!({"commit": "new"}), quick: true, lines: &lines, raw: &raw };
        let before = json!({
            "machine": {"commit": "old"}, "quick": false,
            "lines": [{"row": "hook", "title": "h"}, {"row": "ingest", "title": "i"}],
            "samples": {"hook: a (ms)": [1], "ingest: b (ms)": [2]},
        });
        let all = merged(&before, &run)?;
        assert_eq!(seen(&all), [("h", "old", false), ("i, again", "new", true)]);
        assert_eq!(all["samples"], json!({"hook: a (ms)": [1]}));
        Ok(())
    }
}
