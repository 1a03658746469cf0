//! `cargo xtask proof`: puts what was measured last into `docs/proof.md`, between the marks that name each part.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::e2e;
use crate::workspace::{root, target};

pub(crate) fn run() -> Result<bool> {
    let path = root().join("docs/proof.md");
    let mut page = fs::read_to_string(&path)?;
    let parts = [
        ("bench", bench(&target().join("bench/results.json"))),
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
    Ok(true)
}

fn put(page: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let missing = || format!("docs/proof.md has no {}", begin.trim());
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read(path).with_context(|| format!("nothing was measured yet: no {}", path.display()))?;
    Ok(serde_json::from_slice(&text)?)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Without the machine's own name, and with its load: a busy one widens every spread.
fn machine(of: &Value) -> String {
    let (cpu, kernel, load) = (word(of, "cpu"), word(of, "kernel"), word(of, "load"));
    let kernel = kernel.split('-').next().unwrap_or_default();
    let (rustc, commit) = (word(of, "rustc"), word(of, "commit"));
    format!(
        "{cpu}, {} cores, {kernel}, load {load} before it began; {rustc}, commit {commit}.\n\n",
        of["cores"]
    )
}

fn bench(path: &Path) -> Result<String> {
    let all = read(path)?;
    let mut text = machine(&all["machine"]);
    text += "| | measured | p10–p90 | medians | promised | held |\n|---|---|---|---|---|---|\n";
    for line in all["lines"].as_array().into_iter().flatten() {
        let number = |key: &str| short(line[key].as_f64().unwrap_or(0.0));
        let held = match line["held"].as_bool() {
            Some(true) => "yes",
            Some(false) => "**no**",
            None => "",
        };
        text += &format!(
            "| {} | {} {} | {}–{} | {} | {} | {held} |\n",
            word(line, "title").trim(),
            number("value"),
            word(line, "unit"),
            number("p10"),
            number("p90"),
            word(line, "medians"),
            word(line, "promise"),
        );
    }
    Ok(text)
}

fn short(value: f64) -> String {
    match value.abs() {
        big if big >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn load(path: &Path) -> Result<String> {
    let all = read(path)?;
    let of = &all["load"];
    let mut text = machine(&all["machine"]);
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
    let rows: String = e2e::about().map(|(name, about)| format!("| `{name}` | {about} |\n")).collect();
    format!("| scenario | what happens |\n|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_replaced_between_its_marks_and_nothing_else_is() -> Result<()> {
        let page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n";
        assert_eq!(put(page, "x", "new\n")?, "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n");
        assert!(put(page, "y", "").is_err());
        Ok(())
    }
}
