//! `cargo xtask gen`: writes the committed files that are generated from the code. `--check` only lists stale ones.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use flightdeck_core::events_doc;
use flightdeck_e2e::marked_parts::replace_part;
use flightdeck_e2e::workspace::root;
use flightdeck_protocol::typescript;

use crate::map;

const TYPES: &str = "web/src/generated";
const ARCHITECTURE: &str = "ARCHITECTURE.md";

#[derive(Parser, Debug)]
pub(crate) struct GenerateArgs {
    /// Write nothing; fail if anything is stale
    #[arg(long)]
    check: bool,
}

/// True if every generated file is (now) up to date.
pub(crate) fn run(args: &GenerateArgs) -> Result<bool> {
    let stale = stale_files()?;
    if stale.is_empty() {
        println!("everything generated is up to date");
        return Ok(true);
    }
    if args.check {
        println!("stale, run `cargo xtask gen` and commit:");
    }
    for file in &stale {
        match (&file.now, args.check) {
            (Some(_), true) => println!("  {}", file.path.display()),
            (None, true) => println!("  {} (no longer generated)", file.path.display()),
            (Some(text), false) => write(&file.path, text)?,
            (None, false) => remove(&file.path)?,
        }
    }
    Ok(!args.check)
}

struct Stale {
    /// From the root of the repository.
    path: PathBuf,
    /// The new text; `None` if the file is to be removed.
    now: Option<String>,
}

fn stale_files() -> Result<Vec<Stale>> {
    let mut wanted = vec![
        (PathBuf::from("docs/events.md"), events_doc::events_doc()),
        (PathBuf::from(ARCHITECTURE), architecture()?),
    ];
    let types = typescript::type_files().into_iter();
    wanted.extend(types.map(|file| (Path::new(TYPES).join(file.name), file.text)));
    let orphans = orphans(&wanted)?;
    let differs =
        |(path, text): &(PathBuf, String)| fs::read_to_string(root().join(path)).ok().as_ref() != Some(text);
    let changed = wanted.into_iter().filter(differs);
    Ok(changed.map(|(path, text)| Stale { path, now: Some(text) }).chain(orphans).collect())
}

/// The page with the map as the code is now.
fn architecture() -> Result<String> {
    let page = fs::read_to_string(root().join(ARCHITECTURE)).context("cannot read ARCHITECTURE.md")?;
    replace_part(&page, "map", &map::picture()?)
}

/// Files that have our header but are no longer generated.
fn orphans(wanted: &[(PathBuf, String)]) -> Result<Vec<Stale>> {
    let folder = root().join(TYPES);
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut orphans = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = Path::new(TYPES).join(entry?.file_name());
        let ours = fs::read_to_string(root().join(&path)).is_ok_and(|t| t.starts_with(typescript::HEADER));
        if ours && !wanted.iter().any(|(wanted, _)| *wanted == path) {
            orphans.push(Stale { path, now: None });
        }
    }
    orphans.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(orphans)
}

fn write(path: &Path, text: &str) -> Result<()> {
    let full = root().join(path);
    if let Some(folder) = full.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&full, text).with_context(|| format!("cannot write {}", full.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(root().join(path)).with_context(|| format!("cannot remove {}", path.display()))?;
    println!("removed {}", path.display());
    Ok(())
}
