//! `cargo run --release -p flightdeck-sim --example transcripts -- DIR MEGABYTES [SEED]`: writes `DIR/projects`.

use std::io::Write;
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(dir), Some(megabytes)) =
        (args.next().map(PathBuf::from), args.next().and_then(|m| m.parse::<u64>().ok()))
    else {
        writeln!(std::io::stderr(), "give a folder and how many megabytes")?;
        std::process::exit(2);
    };
    let seed = args.next().and_then(|s| s.parse().ok()).unwrap_or(1);
    let written = flightdeck_sim::transcripts::write(&dir.join("projects"), megabytes * 1_000_000, seed)?;
    writeln!(std::io::stdout(), "{written:?}")
}
