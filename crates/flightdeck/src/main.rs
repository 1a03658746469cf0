//! `flightdeck hook` and `flightdeck statusline` come first and alone: they run inside somebody's turn. All else is the
//! command line.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let place = flightdeck::cli::options_before_the_command(&args);
    // Only a person asks that, and as the first word: behind `--` it is somebody else's.
    if args.get(place + 1).is_some_and(|word| word == "--help" || word == "-h") {
        return flightdeck::cli::main();
    }
    match args.get(place) {
        Some(command) if command == "hook" => flightdeck::shim::run(args.into_iter()),
        Some(command) if command == "statusline" => flightdeck::shim::status_line::run(args.into_iter()),
        _ => flightdeck::cli::main(),
    }
}
