//! `flightdeck hook` and `flightdeck statusline` come first and alone: they run inside somebody's turn. All else is the
//! command line.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    match args.get(flightdeck::cli::options_before_the_command(&args)) {
        Some(command) if command == "hook" => flightdeck::shim::run(args.into_iter()),
        Some(command) if command == "statusline" => flightdeck::shim::status_line::run(args.into_iter()),
        _ => flightdeck::cli::main(),
    }
}
