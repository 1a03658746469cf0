//! `flightdeck fleet status`: every seat; the most urgent seat comes first.

use std::io::Write;

use flightdeck_core::view::lens::FleetStatus;
use flightdeck_protocol::efforts::{GetFleetStatus, SeatStatus};

use super::out::Out;
use crate::client::BlockingClient;
use crate::paths::Paths;

#[derive(Debug, clap::Args)]
pub(super) struct FleetStatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List seats that no session occupies too
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &FleetStatusArgs, paths: &Paths, out: &mut Out) -> anyhow::Result<u8> {
    let reply = BlockingClient::connect(paths)?.call_raw(&GetFleetStatus {})?;
    if args.json {
        out.json(&reply.json()?)?;
        return Ok(0);
    }
    let fleet = reply.decode()?;
    let shown: Vec<&SeatStatus> = fleet.seats.iter().filter(|seat| args.all || seat.seat.occupied).collect();
    if shown.is_empty() {
        writeln!(out, "No seat is occupied. `flightdeck ls` lists the sessions.")?;
        return Ok(0);
    }
    writeln!(out, "{}", status_word(fleet.status))?;
    for seat in shown {
        writeln!(out, "  {}", row(seat))?;
    }
    Ok(0)
}

fn row(of: &SeatStatus) -> String {
    let seat = &of.seat;
    let place = seat
        .name
        .clone()
        .map(String::from)
        .or_else(|| seat.pane.clone())
        .or_else(|| seat.pid.map(|pid| format!("pid {pid}")));
    let place = place.unwrap_or_else(|| seat.id.to_string());
    let effort = match (&of.skill, &of.phase) {
        (Some(skill), Some(phase)) => format!("  {skill}, {phase}"),
        (Some(skill), None) => format!("  {skill}"),
        (None, _) => String::new(),
    };
    let label = of.label.as_deref().map(|label| format!("  {label}")).unwrap_or_default();
    format!("{:<9} {place:<16}{label}{effort}", status_word(seat.status))
}

fn status_word(status: FleetStatus) -> &'static str {
    match status {
        FleetStatus::Error => "error",
        FleetStatus::Attention => "attention",
        FleetStatus::Working => "working",
        FleetStatus::Checked => "checked",
        FleetStatus::Done => "done",
    }
}
