//! The command line. Each command is a file; what they share (asking the daemon, drawing) is here beside them.

mod answer;
mod ask;
mod demo;
mod doctor;
mod draw;
mod explain;
pub mod hooks;
mod line;
mod ls;
mod next;
mod out;
mod policy;
mod replay;
mod show;
mod status;
mod terminal;
mod up;
mod usage;
mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::paths::Paths;
use out::Out;

/// Mission control for people who run many Claude Code sessions at once
#[derive(Debug, Parser)]
#[command(name = "flightdeck", version, after_help = "Without a command the options of `up` are taken.")]
struct Cli {
    /// Where Flightdeck keeps its files [default: the XDG folders, or FLIGHTDECK_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the daemon and the board (this is what plain `flightdeck` does)
    Up(up::UpArgs),
    /// Deliver one hook event from standard input; Claude Code calls this
    Hook,
    /// Print a status line for Claude Code, or the one of your own command after `--`, and tell the daemon what it says
    Statusline,
    /// Register with Claude Code, or look after it
    Hooks(hooks::HooksArgs),
    /// List every session, what needs you first
    Ls(ls::LsArgs),
    /// Everything about one session
    Show(show::ShowArgs),
    /// Why a session is where it is: which event, which rule, since when
    Explain(explain::ExplainArgs),
    /// The session that needs you most
    Next(next::NextArgs),
    /// Decide what a session waits for: allow, deny, pick an option, approve a plan
    Answer(answer::AnswerArgs),
    /// Rules that answer by themselves: as they are understood, as a dry run, and what they answered
    Policy(policy::PolicyArgs),
    /// Type the next prompt into a session's tmux pane
    Send(terminal::SendArgs),
    /// Bring a session's terminal to the front
    Focus(terminal::FocusArgs),
    /// Press Esc in a session's tmux pane, or end its client
    Interrupt(terminal::InterruptArgs),
    /// How the daemon is doing
    Status(status::StatusArgs),
    /// What was spent: by day, project, model and session
    Usage(usage::UsageArgs),
    /// Play recorded hook events and print the state after each
    Replay(replay::ReplayArgs),
    /// Look for what is wrong, and say how to mend it
    Doctor(doctor::DoctorArgs),
    /// A lively simulated fleet on a real daemon, in a home of its own
    Demo(demo::DemoArgs),
    /// Print the completions of a shell
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// `--home DIR` may stand before any command, and a hook must not be lost to it.
pub fn options_before_the_command(args: &[OsString]) -> usize {
    match args.first().and_then(|first| first.to_str()) {
        Some("--home") => 2,
        Some(first) if first.starts_with("--home=") => 1,
        _ => 0,
    }
}

/// Where no command is named it is `up`, with all its options and variables.
fn with_a_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let place = options_before_the_command(&args).min(args.len());
    let named = args.get(place).and_then(|word| word.to_str());
    if named.is_none_or(|word| word.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&word))
    {
        args.insert(place, "up".into());
    }
    args
}

/// Exit codes: 0 done, 1 failed, 2 not understood.
pub fn main() -> ExitCode {
    let args = with_a_command(std::env::args_os().skip(1).collect());
    let cli = match Cli::try_parse_from(std::iter::once("flightdeck".into()).chain(args)) {
        Ok(cli) => cli,
        Err(error) => {
            // The terminal may be gone; there is nobody else to tell.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let mut out = Out::stdout();
    match run(cli, &mut out) {
        Ok(code) => ExitCode::from(code),
        Err(error) if out::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            Out::complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli, out: &mut Out) -> anyhow::Result<u8> {
    let env = |name: &str| std::env::var_os(name);
    if let Command::Completions { shell } = cli.command {
        // It panics where it cannot write, and a pipe may be closed.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "flightdeck", &mut script);
        out.write_all(&script)?;
        return Ok(0);
    }
    let paths = Paths::resolve(cli.home.as_deref(), env)?;
    match cli.command {
        Command::Up(args) => up::run(&args, paths, out),
        Command::Hooks(args) => {
            let cwd = std::env::current_dir()?;
            let code = hooks::run(&args, &paths, &env, &cwd, &std::env::current_exe()?, out)?;
            Ok(u8::try_from(code).unwrap_or(1))
        }
        Command::Ls(args) => ls::run(&args, &paths, out),
        Command::Show(args) => show::run(&args, &paths, out),
        Command::Explain(args) => explain::run(&args, &paths, out),
        Command::Next(args) => next::run(&args, &paths, out),
        Command::Answer(args) => answer::run(&args, &paths, out),
        Command::Policy(args) => policy::run(&args, &paths, out),
        Command::Send(args) => terminal::send(&args, &paths, out),
        Command::Focus(args) => terminal::focus(&args, &paths, out),
        Command::Interrupt(args) => terminal::interrupt(&args, &paths, out),
        Command::Status(args) => status::run(&args, &paths, out),
        Command::Usage(args) => usage::run(&args, &paths, out),
        Command::Replay(args) => replay::run(&args, out),
        Command::Doctor(args) => doctor::run(&args, &paths, out),
        Command::Demo(args) => demo::run(&args, out),
        // `main` takes the first two before this is reached.
        Command::Hook | Command::Statusline | Command::Completions { .. } => Ok(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_a_command_it_is_up_with_its_options() {
        let told = |line: &str| {
            let args = line.split_whitespace().map(OsString::from).collect();
            with_a_command(args).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(told(""), "up");
        assert_eq!(told("--port 4000 --no-hooks"), "up --port 4000 --no-hooks");
        assert_eq!(told("--home /h --open"), "--home /h up --open");
        for said in ["ls", "--home=/h ls", "--help", "-V", "up --open"] {
            assert_eq!(told(said), said);
        }
    }
}
