//! `flightdeck fleet`: starts, stops and attaches the seats of a `fleet.yaml` in tmux.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use flightdeck_protocol::efforts::ClaimSeat;
use serde::Serialize;

use super::fleet_status::{self, FleetStatusArgs};
use super::out::Out;
use crate::client::BlockingClient;
use crate::fleet::{FleetFile, FleetTmux, SeatChange};
use crate::paths::Paths;

/// Where the file is looked for, from the working directory.
const USUAL_FILES: [&str; 2] = ["fleet.yaml", ".flightdeck/fleet.yaml"];

#[derive(Debug, clap::Args)]
pub(super) struct FleetArgs {
    #[command(subcommand)]
    action: FleetAction,
}

#[derive(Debug, clap::Subcommand)]
enum FleetAction {
    /// Show every seat: error, attention, working, checked or done
    Status(FleetStatusArgs),
    /// Start the seats that do not run, each in a tmux window of its own
    Up(FileArgs),
    /// End all seats of the file
    Down(FileArgs),
    /// Show the tmux session of the seats in this terminal
    Attach(FileArgs),
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The file [default: fleet.yaml, else .flightdeck/fleet.yaml]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What `up` and `down` print.
#[derive(Debug, Serialize)]
struct FleetReport {
    session: String,
    seats: Vec<SeatReport>,
}

#[derive(Debug, Serialize)]
struct SeatReport {
    name: String,
    change: SeatChange,
}

pub(super) fn run(args: &FleetArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let options = match &args.action {
        FleetAction::Status(args) => return fleet_status::run(args, paths, out),
        FleetAction::Up(options) | FleetAction::Down(options) | FleetAction::Attach(options) => options,
    };
    let file = FleetFile::read(&file_of(options.file.as_deref())?)?;
    let program = vec![std::env::current_exe()?.into(), OsString::from("--home"), paths.home.clone().into()];
    let tmux = FleetTmux::new(&file, program);
    match args.action {
        FleetAction::Up(_) => {
            claim_parents(&file, paths);
            report(&file, |seat| tmux.start(seat), options.json, out)
        }
        FleetAction::Down(_) => report(&file, |seat| tmux.stop(seat), options.json, out),
        FleetAction::Attach(_) => attach(&file, &tmux),
        FleetAction::Status(_) => Ok(0),
    }
}

/// Tells the daemon which seat each seat reports to. Without a daemon the seats start all the same.
fn claim_parents(file: &FleetFile, paths: &Paths) {
    let Ok(mut client) = BlockingClient::connect(paths) else { return };
    for seat in file.seats.iter().filter(|seat| seat.parent.is_some()) {
        let claim = ClaimSeat { name: seat.name.clone(), effort: None, parent: seat.parent.clone() };
        if let Err(error) = client.call(&claim) {
            Out::note(&format!("the parent of seat {} is not known to the daemon: {error}", seat.name));
        }
    }
}

fn file_of(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let usual = || USUAL_FILES.iter().map(PathBuf::from).find(|path| path.is_file());
    named
        .map(Path::to_owned)
        .or_else(usual)
        .ok_or_else(|| anyhow::anyhow!("there is no {} here: name the file", USUAL_FILES.join(" and no ")))
}

fn report(
    file: &FleetFile,
    change: impl Fn(&crate::fleet::SeatEntry) -> Result<SeatChange, crate::fleet::TmuxFailed>,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<u8> {
    let mut seats = Vec::new();
    for seat in &file.seats {
        let change = change(seat)?;
        if !json {
            writeln!(out, "{} {}", seat.name, sentence(change))?;
        }
        seats.push(SeatReport { name: seat.name.clone(), change });
    }
    if json {
        out.json(&FleetReport { session: file.session.clone(), seats })?;
    }
    Ok(0)
}

fn sentence(change: SeatChange) -> &'static str {
    match change {
        SeatChange::Started => "started",
        SeatChange::AlreadyRunning => "was running",
        SeatChange::Stopped => "stopped",
        SeatChange::NotRunning => "was not running",
    }
}

fn attach(file: &FleetFile, tmux: &FleetTmux<'_>) -> anyhow::Result<u8> {
    if !tmux.is_running()? {
        anyhow::bail!("there is no tmux session {}: run `flightdeck fleet up` first", file.session);
    }
    tmux.attach(std::env::var_os("TMUX").is_some_and(|tmux| !tmux.is_empty()))?;
    Ok(0)
}
