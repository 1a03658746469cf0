//! `flightdeck hook` comes first and alone: it runs inside somebody's turn. All else is the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|command| command == "hook") {
        return flightdeck::shim::run(args);
    }
    flightdeck::cli::main()
}
