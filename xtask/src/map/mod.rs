//! `cargo xtask test --only map`: the modules of every crate and what they import. Fails on a cycle between siblings and on
//! an import in the wrong direction. `cargo xtask gen` writes the picture into ARCHITECTURE.md.

mod arrows;
mod graph;
mod picture;
mod source;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use flightdeck_e2e::workspace::{cargo, root};
use serde_json::Value;

use graph::{Crates, Cycle, Imports, Target};

struct Map {
    crates: Crates,
    imports: Imports,
}

/// Prints the graph and what is wrong with it. True if nothing is.
pub(crate) fn check() -> Result<bool> {
    let map = Map::read(&root())?;
    println!("{}", picture::full(&map.crates, &map.imports));
    let cycles = graph::cycles(&map.crates, &map.imports);
    cycles.iter().for_each(|cycle| print!("{}", described(cycle)));
    let violations = arrows::violations(&graph::imports(&map.crates, Target::Written));
    violations.iter().for_each(|violation| println!("AGAINST THE ARROWS {violation}"));
    let modules: usize = map.crates.values().map(|modules| modules.len()).sum();
    println!(
        "{} crates, {modules} modules, {} imports: {} cycles, {} imports in the wrong direction",
        map.crates.len(),
        map.imports.len(),
        cycles.len(),
        violations.len()
    );
    Ok(cycles.is_empty() && violations.is_empty())
}

/// The picture for ARCHITECTURE.md.
pub(crate) fn picture() -> Result<String> {
    let map = Map::read(&root())?;
    Ok(picture::compact(&map.crates, &map.imports))
}

fn described(cycle: &Cycle) -> String {
    let path = cycle.parent.path.join("/");
    let names: Vec<&str> = cycle.members.iter().map(String::as_str).collect();
    let mut text = format!("CYCLE in {} {path}: {}\n", cycle.parent.krate, names.join(", "));
    for ((from, to), reason) in &cycle.reasons {
        text += &format!("  {from} → {to}    {reason}\n");
    }
    text
}

impl Map {
    fn read(root: &Path) -> Result<Self> {
        let mut crates = Crates::new();
        for (name, file) in crate_roots(root)? {
            let read = |file: &Path| fs::read_to_string(root.join(file)).ok();
            crates.insert(name, source::read_crate(&read, &file)?);
        }
        let imports = graph::imports(&crates, Target::Definition);
        Ok(Self { crates, imports })
    }
}

/// The library and the binary of every package of the workspace. A binary beside a library is named `flightdeck (main)`.
fn crate_roots(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1", "--offline"]).output()?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let metadata: Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata is not understood")?;
    let mut roots: Vec<(String, PathBuf)> = Vec::new();
    for target in list(&metadata["packages"]).flat_map(|package| list(&package["targets"])) {
        let kind = target["kind"][0].as_str().unwrap_or_default();
        let path = Path::new(target["src_path"].as_str().unwrap_or_default());
        let mut name = target["name"].as_str().unwrap_or_default().replace('-', "_");
        if !["lib", "bin"].contains(&kind) {
            continue;
        }
        if roots.iter().any(|(known, _)| *known == name) {
            name += " (main)";
        }
        roots.push((name, path.strip_prefix(root).unwrap_or(path).to_owned()));
    }
    Ok(roots)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
