//! `flightdeck hook` and `flightdeck statusline` come first and alone: they run inside somebody's turn. All else is the
//! command line.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.get(options_before_the_command(&args)) {
        Some(command) if command == "hook" => flightdeck::shim::run(args.into_iter()),
        Some(command) if command == "statusline" => flightdeck::shim::status_line::run(args.into_iter()),
        _ => flightdeck::cli::main(),
    }
}

/// `--home DIR` may stand before any command, and a hook must not be lost to it.
fn options_before_the_command(args: &[OsString]) -> usize {
    match args.first().and_then(|first| first.to_str()) {
        Some("--home") => 2,
        Some(first) if first.starts_with("--home=") => 1,
        _ => 0,
    }
}
