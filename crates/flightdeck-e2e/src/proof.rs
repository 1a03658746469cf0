//! The last measurements as tables for `docs/proof.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{short, titles};
use crate::e2e;

/// The results of a measurement.
pub fn read(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("nothing was measured yet: no {}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The hardware, without the name of the machine.
fn hardware(of: &Value) -> String {
    format!("{}, {} cores", word(of, "cpu"), of["cores"])
}

fn software(of: &Value) -> String {
    let kernel = word(of, "kernel").split('-').next().unwrap_or_default();
    format!("{kernel}, {}", word(of, "rustc"))
}

/// Commit, date and load: a busy machine widens every spread.
fn when(of: &Value) -> String {
    let words = ["commit", "date"].map(|key| word(of, key)).into_iter().filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{}, load {}", words.join(", "), word(of, "load"))
}

/// The table with the new measurements; other rows stay as they are in the page.
pub fn bench(all: &Value, old: &str) -> Result<String> {
    let mut new = BTreeMap::new();
    for line in all["lines"].as_array().into_iter().flatten() {
        let title = word(line, "title").trim();
        let own = |key: &str| if line[key].is_null() { &all[key] } else { &line[key] };
        if own("quick") == true {
            println!(
                "{title}: from a quick run, which proves nothing: cargo xtask bench {}",
                word(line, "row")
            );
        } else if let Some(problem) = line["problem"].as_str() {
            println!("{title}: not measured: {problem}");
        } else {
            new.insert(title, row(title, line, own("machine")));
        }
    }
    if new.is_empty() {
        bail!("no row was measured in full");
    }
    let old_row = |title: &str| old.lines().find(|line| line.starts_with(&format!("| {title} |")));
    let kept = |title: &&str| !new.contains_key(title) && old_row(title).is_some();
    let machine = hardware(&all["machine"]);
    if !old.starts_with(&machine) && titles().any(|title| kept(&title)) {
        let kept: Vec<&str> = titles().filter(kept).collect();
        bail!(
            "the page was measured on another machine, and not all of it here; left: {}: cargo xtask bench",
            kept.join(", ")
        );
    }
    let mut text = format!("{machine}; the newest rows with {}.\n\n", software(&all["machine"]));
    text += "| | measured | p10–p90 | medians | promised | held | commit, date, load |\n|---|---|---|---|---|---|---|\n";
    let mut unmeasured = Vec::new();
    for title in titles() {
        match new.get(title).map(String::as_str).or_else(|| old_row(title)) {
            Some(row) => text += &format!("{row}\n"),
            None => unmeasured.push(title),
        }
    }
    if !unmeasured.is_empty() {
        text += &format!("\n**Not measured yet**: {}.\n", unmeasured.join("; "));
    }
    Ok(text)
}

fn row(title: &str, line: &Value, machine: &Value) -> String {
    let number = |key: &str| short(line[key].as_f64().unwrap_or(0.0));
    let held = match line["held"].as_bool() {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "",
    };
    format!(
        "| {title} | {} {} | {}–{} | {} | {} | {held} | {} |",
        number("value"),
        word(line, "unit"),
        number("p10"),
        number("p90"),
        word(line, "medians"),
        word(line, "promise"),
        when(machine),
    )
}

/// The table of the last load.
pub fn load(path: &Path) -> Result<String> {
    let all = read(path)?;
    let of = &all["load"];
    let machine = &all["machine"];
    let mut text = format!("{}, {}; {}.\n\n", hardware(machine), software(machine), when(machine));
    text += &format!(
        "{} sessions, {} events a second, {} viewers, {} s. The middle third of the run, then the last.\n\n",
        of["sessions"], of["rate"], of["viewers"], of["seconds"]
    );
    text += "| | middle, then last third | flat |\n|---|---|---|\n";
    for verdict in all["verdicts"].as_array().into_iter().flatten() {
        let flat = if verdict["flat"].as_bool() == Some(true) { "yes" } else { "**no**" };
        text += &format!("| {} | {} | {flat} |\n", word(verdict, "name"), word(verdict, "figures"));
    }
    Ok(text)
}

/// The table of the scenarios.
pub fn scenarios() -> String {
    let row = |(name, about, slow): (&str, &str, bool)| {
        format!("| `{name}` | {about}{} |\n", if slow { " (not every day)" } else { "" })
    };
    format!("| scenario | what happens |\n|---|---|\n{}", e2e::about().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A page with two rows of an older commit.
    const PAGE: &str = "AMD, 2 cores; the newest rows with Linux 6.\n\n\
        | | measured |\n|---|---|\n\
        | hook / sh -c true | 3.37 × | abc, load 2.00 |\n\
        | durable hook / empty handler | 0.20 × | abc, load 2.00 |\n";

    fn measured(cpu: &str, quick: bool) -> Value {
        let machine = json!({"cpu": cpu, "cores": 2, "commit": "def", "date": "2026-11-16", "load": "0.10"});
        let line = json!({"row": "ingest", "title": "durable hook / empty handler", "value": 0.5, "unit": "×",
            "machine": machine, "quick": quick});
        json!({ "machine": machine, "lines": [line] })
    }

    #[test]
    fn one_row_measured_replaces_that_row_and_says_of_which_commit_it_is() -> Result<()> {
        let text = bench(&measured("AMD", false), PAGE)?;
        assert!(text.contains("| hook / sh -c true | 3.37 × | abc, load 2.00 |\n"), "{text}");
        let new = text.lines().find(|line| line.contains("durable hook")).unwrap_or_default();
        assert!(new.contains("| 0.50 × |") && new.ends_with("| def, 2026-11-16, load 0.10 |"), "{new}");
        let missing = text.lines().find(|line| line.starts_with("**Not measured yet**")).unwrap_or_default();
        assert!(
            missing.contains("; status line / sh -c true;") && !missing.contains("durable hook / empty"),
            "{missing}"
        );
        Ok(())
    }

    #[test]
    fn a_quick_run_and_a_part_from_another_machine_are_no_proof() {
        for (cpu, quick) in [("AMD", true), ("Intel", false)] {
            assert!(bench(&measured(cpu, quick), PAGE).is_err(), "{cpu} {quick}");
        }
    }
}
