//! `cargo xtask proof`: writes the last measurements into `docs/proof.md`, between the marks of each part, and its pictures.

use std::fs;

use anyhow::Result;
use flightdeck_e2e::marked_parts::{marked_part, replace_part};
use flightdeck_e2e::proof::{bench, load, read, scenarios};
use flightdeck_e2e::soak;
use flightdeck_e2e::workspace::{root, target};

pub(crate) fn run() -> Result<bool> {
    let path = root().join("docs/proof.md");
    let mut page = fs::read_to_string(&path)?;
    let parts = [
        (
            "bench",
            read(&target().join("bench/results.json"))
                .and_then(|all| bench(&all, marked_part(&page, "bench")?)),
        ),
        ("load", load(&target().join("soak/load.json"))),
        ("scenarios", Ok(scenarios())),
    ];
    for (name, text) in parts {
        match text {
            Ok(text) => page = replace_part(&page, name, &text)?,
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
