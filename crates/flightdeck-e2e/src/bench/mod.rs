//! `cargo xtask bench`: measures every promise about speed side by side with its reference, in one table.
//!
//! The program `crates/flightdeck/benches/promises`, for the page a Playwright run, and for the rows `client` and `forms` the
//! real client take the samples. This module builds and runs them and checks the promises.

mod client;
mod compared;
mod count;
mod hosts;
mod members;
mod page;
mod plot;
mod promises;
mod results;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde::Deserialize;

use crate::machine::Machine;
use crate::workspace::{build_for_tests, cargo, target};
use promises::ROWS;
use table::TableLine;
pub use table::short;

#[derive(Parser, Debug)]
pub struct BenchArgs {
    /// Rows to measure; all if none is named
    rows: Vec<String>,
    /// Fewer rounds: under three minutes
    #[arg(long)]
    quick: bool,
    /// How long the load of the row `members` lasts [default: 600; 60 in a quick run]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Count instructions of the hook and the reducer in a dev build instead, and fail if they exceed the record (needs valgrind)
    #[arg(long)]
    callgrind: bool,
    /// Write the counts as the new record instead
    #[arg(long, requires = "callgrind")]
    record: bool,
    /// Print the rows and end
    #[arg(long)]
    list: bool,
    /// Measure this binary instead of a fresh release build
    #[arg(long)]
    binary: Option<PathBuf>,
}

/// The raw samples of one row.
#[derive(Clone, Debug, Deserialize)]
struct Measured {
    row: String,
    series: Vec<Series>,
}

#[derive(Clone, Debug, Deserialize)]
struct Series {
    name: String,
    unit: String,
    samples: Vec<f64>,
}

/// The titles of the table's lines, in order. Without the forms of our hooks: they are compared in decision 0019.
pub fn titles() -> impl Iterator<Item = &'static str> {
    let rows = ROWS.iter().filter(|row| row.name != client::FORMS_ROW);
    rows.flat_map(|row| row.checks).map(|check| check.title.trim())
}

/// False if a row could not be measured. A broken promise is shown in the table, but is no failure: it depends on the machine.
pub fn run(args: &BenchArgs) -> Result<bool> {
    if args.list {
        let long = |row: &promises::PromiseRow| if row.long { " (not in a quick run)" } else { "" };
        ROWS.iter().for_each(|row| println!("{:<10} {}{}", row.name, row.about, long(row)));
        return Ok(true);
    }
    for name in &args.rows {
        if !ROWS.iter().any(|row| row.name == name) {
            bail!("no row {name}: see cargo xtask bench --list");
        }
    }
    let binary = match &args.binary {
        Some(binary) => binary.canonicalize().with_context(|| format!("no binary {}", binary.display()))?,
        None if args.callgrind => build_for_tests()?,
        None => build_binary()?,
    };
    if args.callgrind {
        return count::run(&binary, args.record);
    }
    if args.rows.iter().all(|row| measured_here(row)) && !args.rows.is_empty() {
        // The bench program is not needed.
        return measure(args, Path::new(""), &binary);
    }
    measure(args, &build_program()?, &binary)
}

fn measure(args: &BenchArgs, program: &Path, binary: &Path) -> Result<bool> {
    let machine = Machine::read(binary);
    println!("{machine}\n");
    let begun = Instant::now();
    let mut lines: Vec<TableLine> = Vec::new();
    let mut raw = Vec::new();
    let named = |row: &promises::PromiseRow| args.rows.iter().any(|name| name == row.name);
    let unnamed = |row: &promises::PromiseRow| args.rows.is_empty() && !(args.quick && row.long);
    for row in ROWS.iter().filter(|row| named(row) || unnamed(row)) {
        let row_begun = Instant::now();
        print!("measuring {}…", row.name);
        // Only affects the display.
        let _ = std::io::Write::flush(&mut std::io::stdout());
        match sample(program, binary, row.name, args) {
            Ok(measured) => {
                println!(" {:.0} s", row_begun.elapsed().as_secs_f32());
                lines.extend(table::judge(row, &measured));
                raw.push(measured);
            }
            Err(error) => {
                println!(" FAILED: {error:#}");
                lines.push(TableLine::failed(row, &format!("{error:#}")));
            }
        }
    }
    println!("\n{}", table::print(&lines));
    println!("measured in {:.0} s", begun.elapsed().as_secs_f32());
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    // A quick run does not replace the results of a full run, which may take an hour.
    let name = if args.quick { "quick" } else { "results" };
    let path = folder.join(name).with_extension("json");
    let run = results::Run {
        machine: serde_json::to_value(&machine)?,
        quick: args.quick,
        lines: &lines,
        raw: &raw,
    };
    let mut all = results::merge_into(&path, &run)?;
    all.retain(|line| line.row != client::FORMS_ROW);
    fs::write(path.with_extension("svg"), plot::svg(&machine, &all))?;
    println!("{} and {name}.svg beside it", path.display());
    Ok(lines.iter().all(|line| !line.is_failure()))
}

/// The binary as `cargo build --release` makes it.
fn build_binary() -> Result<PathBuf> {
    println!("building flightdeck");
    let status = cargo().args(["build", "--release", "--quiet", "--package", "flightdeck"]).status()?;
    if !status.success() {
        bail!("flightdeck does not build");
    }
    Ok(target().join("release/flightdeck").canonicalize()?)
}

/// Builds the bench program; cargo reports its path.
fn build_program() -> Result<PathBuf> {
    println!("building the benches");
    let program = ["bench", "--no-run", "--package", "flightdeck", "--bench", "promises"];
    let output = cargo().args(program).arg("--message-format=json").stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the benches do not build");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let of_ours = messages.filter(|message| message["target"]["name"] == "promises");
    let path = of_ours.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    path.context("cargo did not say where it put the benches")
}

/// Rows that another program than the bench program measures: a browser, several daemons, or the real client.
fn measured_here(row: &str) -> bool {
    [page::ROW, hosts::ROW, members::ROW, client::ROW, client::FORMS_ROW].contains(&row)
}

fn sample(program: &Path, binary: &Path, row: &str, args: &BenchArgs) -> Result<Measured> {
    let quick = args.quick;
    match row {
        page::ROW => return page::measure(binary),
        hosts::ROW => return hosts::measure(binary, quick),
        members::ROW => return members::measure(binary, members::lasts(quick, args.seconds)),
        client::ROW | client::FORMS_ROW => return client::measure(row, binary, quick),
        _ => {}
    }
    let mut command = Command::new(program);
    command.args([row, "--binary"]).arg(binary).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if quick {
        command.arg("--quick");
    }
    match row {
        "usage" => _ = command.arg("--anchor").arg(compared::ccusage()?),
        "idle" => compared::strace()?,
        _ => {}
    }
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the benches printed no JSON")
}
