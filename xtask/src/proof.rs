//! `cargo xtask proof`: puts what was measured last into `docs/proof.md`, between the marks that name each part, and its
//! pictures beside it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{short, titles};
use crate::e2e;
use crate::soak;
use crate::workspace::{root, target};

pub(crate) fn run() -> Result<bool> {
    let path = root().join("docs/proof.md");
    let mut page = fs::read_to_string(&path)?;
    let parts = [
        (
            "bench",
            read(&target().join("bench/results.json")).and_then(|all| bench(&all, part(&page, "bench")?)),
        ),
        ("load", load(&target().join("soak/load.json"))),
        ("scenarios", Ok(scenarios())),
    ];
    for (name, text) in parts {
        match text {
            Ok(text) => page = put(&page, name, &text)?,
            Err(error) => println!("{name} stays as it is: {error:#}"),
        }
    }
    fs::write(&path, page)?;
    println!("{}", path.display());
    let pictures = [
        ("bench.svg", fs::read_to_string(target().join("bench/results.svg")).map_err(Into::into)),
        ("load.svg", read(&target().join("soak/load.json")).and_then(|all| soak::picture(&all))),
    ];
    for (name, svg) in pictures {
        match svg {
            Ok(svg) => fs::write(root().join("docs/pictures").join(name), svg)?,
            Err(error) => println!("{name} stays as it is: {error:#}"),
        }
    }
    Ok(true)
}

fn put(page: &str, name: &str, text: &str) -> Result<String> {
    let old = part(page, name)?;
    let begin = page.find(&begin(name)).unwrap_or_default() + begin(name).len();
    Ok(format!("{}{text}{}", &page[..begin], &page[begin + old.len()..]))
}

fn begin(name: &str) -> String {
    format!("<!-- {name} -->\n")
}

/// What stands between the marks.
fn part<'a>(page: &'a str, name: &str) -> Result<&'a str> {
    let missing = || format!("docs/proof.md has no {}", begin(name).trim());
    let (_, rest) = page.split_once(&begin(name)).with_context(missing)?;
    let (old, _) = rest.split_once(&format!("<!-- /{name} -->")).with_context(missing)?;
    Ok(old)
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("nothing was measured yet: no {}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Without the machine's own name.
fn hardware(of: &Value) -> String {
    format!("{}, {} cores", word(of, "cpu"), of["cores"])
}

fn software(of: &Value) -> String {
    let kernel = word(of, "kernel").split('-').next().unwrap_or_default();
    format!("{kernel}, {}", word(of, "rustc"))
}

/// With the load: a busy machine widens every spread.
fn when(of: &Value) -> String {
    let words = ["commit", "date"].map(|key| word(of, key)).into_iter().filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{}, load {}", words.join(", "), word(of, "load"))
}

/// The table with what was measured here; what was not stays as it is in the page.
fn bench(all: &Value, old: &str) -> Result<String> {
    let mut new = BTreeMap::new();
    for line in all["lines"].as_array().into_iter().flatten() {
        let title = word(line, "title").trim();
        let own = |key: &str| if line[key].is_null() { &all[key] } else { &line[key] };
        if own("quick") == true {
            println!("{title}: of a quick run, which is no proof: cargo xtask bench {}", word(line, "row"));
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
    text += "| | measured | p10–p90 | medians | promised | held | of |\n|---|---|---|---|---|---|---|\n";
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

fn load(path: &Path) -> Result<String> {
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

fn scenarios() -> String {
    let row = |(name, about, slow): (&str, &str, bool)| {
        format!("| `{name}` | {about}{} |\n", if slow { " (not every day)" } else { "" })
    };
    format!("| scenario | what happens |\n|---|---|\n{}", e2e::about().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_is_replaced_between_its_marks_and_nothing_else_is() -> Result<()> {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        assert_eq!(put(page, "x", "new\n")?, "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n");
        assert!(put(page, "y", "").is_err());
        Ok(())
    }

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
            missing.contains("; status line / sh -c true;") && !missing.contains("durable hook /"),
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
