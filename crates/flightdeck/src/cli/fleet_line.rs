//! `flightdeck status --line`: the fleet in one line, for tmux. `main.rs` runs it before the command line is parsed.
//!
//! tmux runs it every few seconds, for each client: it reads no config, starts no runtime, and gives up early. It always
//! prints one line and exits 0, because tmux would show an error in the person's status bar.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use flightdeck_protocol::fleet::{FleetOverview, GetFleet};

use crate::client::{BlockingClient, ClientError};
use crate::paths::Paths;

/// Longest wait for the daemon. A daemon that is slower than this is stuck, and the next run says so again.
const WAIT_MAX: Duration = Duration::from_millis(500);

/// Whether the arguments after the program's name are `status --line`, with or without `--home`.
pub fn is_asked_for(args: &[OsString]) -> bool {
    let place = super::options_before_the_command(args);
    args.get(place).is_some_and(|word| word == "status") && args.iter().any(|word| word == "--line")
}

pub fn run(args: &[OsString]) -> ExitCode {
    let paths = Paths::resolve(home(args).as_deref(), |name| std::env::var_os(name));
    let line = paths.map_or_else(|_| OFF.to_owned(), |paths| read_fleet_line(&paths));
    // Fails if tmux has stopped reading.
    let _ = writeln!(std::io::stdout(), "{line}");
    ExitCode::SUCCESS
}

fn home(args: &[OsString]) -> Option<PathBuf> {
    let after = args.iter().position(|word| word == "--home").and_then(|at| args.get(at + 1));
    let joined = || args.iter().find_map(|word| word.to_str()?.strip_prefix("--home=").map(PathBuf::from));
    after.map(PathBuf::from).or_else(joined)
}

const OFF: &str = "flightdeck off";

pub(super) fn read_fleet_line(paths: &Paths) -> String {
    let fleet =
        BlockingClient::connect_within(paths, WAIT_MAX).and_then(|mut client| client.call(&GetFleet {}));
    match fleet {
        Ok(fleet) => text(&fleet),
        Err(ClientError::NotRunning { .. }) => OFF.to_owned(),
        Err(_) => "flightdeck does not answer".to_owned(),
    }
}

fn text(fleet: &FleetOverview) -> String {
    let need = match fleet.blocks_or_asks {
        // Sessions are open, but none of them blocks, asks or works.
        0 if fleet.running == 0 && fleet.needs_you > 0 => Some("0 need you".to_owned()),
        0 => None,
        1 => Some("● 1 needs you".to_owned()),
        n => Some(format!("● {n} need you")),
    };
    let running = (fleet.running > 0).then(|| format!("{} running", fleet.running));
    let parts: Vec<String> = need.into_iter().chain(running).collect();
    if parts.is_empty() { "no sessions".to_owned() } else { parts.join(" · ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_line_counts_what_needs_the_person_and_what_runs() {
        let text = |need, running| {
            text(&FleetOverview { blocks_or_asks: need, running, ..FleetOverview::default() })
        };
        assert_eq!(text(5, 34), "● 5 need you · 34 running");
        assert_eq!((text(1, 0), text(0, 2)), ("● 1 needs you".into(), "2 running".into()));
        assert_eq!(text(0, 0), "no sessions");
        let idle = FleetOverview { sessions: 2, needs_you: 2, ..FleetOverview::default() };
        assert_eq!(super::text(&idle), "0 need you");
    }

    #[test]
    fn only_status_with_the_option_takes_the_short_way() {
        assert!(is_asked_for(&args("status --line")) && is_asked_for(&args("--home /h status --line")));
        assert!(is_asked_for(&args("--home=/h status --line --home /x")));
        assert!(!is_asked_for(&args("status --json")) && !is_asked_for(&args("send x status --line")));
        assert_eq!(home(&args("--home /h status --line")), Some("/h".into()));
        assert_eq!(home(&args("status --line --home=/h")), Some("/h".into()));
    }
}
