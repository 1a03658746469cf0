//! `flightdeck hook` and `flightdeck statusline` are dispatched before everything else: the client waits for them. So is
//! `status --line`, which tmux runs every few seconds. All other commands are the command line's.

use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let place = flightdeck::cli::options_before_the_command(&args);
    // Help is for a person, and only as the first word: after `--` it belongs to the person's own command.
    if args.get(place + 1).is_some_and(|word| word == "--help" || word == "-h") {
        return flightdeck::cli::main();
    }
    match args.get(place) {
        Some(command) if command == "hook" => flightdeck_hook::hook::run(args.into_iter()),
        Some(command) if command == "statusline" => {
            flightdeck_hook::status_line::run(args.into_iter(), flightdeck::default_status_line::draw)
        }
        Some(_) if flightdeck::cli::fleet_line::is_asked_for(&args) => {
            flightdeck::cli::fleet_line::run(&args)
        }
        _ => flightdeck::cli::main(),
    }
}
